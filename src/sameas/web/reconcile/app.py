"""The service over HTTP, as the Reconciliation Service API 0.2 has it.

https://www.w3.org/community/reports/reconciliation/CG-FINAL-specs-0.2-20230410/
"""

from __future__ import annotations

import json
import re
import secrets
from base64 import b64encode
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl

from jinja2 import Environment, PackageLoader
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from sameas.web.guard import MOST_REQUESTS, Guard, Workers, read_body, refuse_host
from sameas.web.reconcile import answers
from sameas.web.reconcile.answers import KINDS, Kind
from sameas.web.reconcile.matching import Service
from sameas.web.reconcile.queries import (
    LONGEST,
    parse_batch,
    parse_extension,
    require,
    whole_number,
)

MOST_BYTES = 2**20
"""The size of a request's body."""
CALLBACK = re.compile(r"[A-Za-z_$][\w$.]{0,100}", re.ASCII)
"""What a JSONP callback may be called."""
STYLE = (
    "body{font:14px/1.4 system-ui,sans-serif;margin:8px;color-scheme:light dark;"
    "overflow-wrap:anywhere}h1{font-size:16px;margin:0}dl{margin:8px 0}dt{opacity:.7}"
    "dd{margin:0 0 4px 12px}"
)
_HASH = b64encode(sha256(STYLE.encode()).digest()).decode()
POLICY = f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-{_HASH}'"
JSON = "application/json"
Parameters = dict[str, str]
Work = Callable[[Parameters, Request], Response]
_templates = Environment(loader=PackageLoader("sameas.web.reconcile", "."), autoescape=True)


def make_app(service: Service, *, token: str = "", most_requests: int = MOST_REQUESTS) -> Guard:
    """The application.

    Without a token, requests must name this machine as their host. With one, every path begins
    with it.
    """

    def root(given: Parameters, request: Request) -> Response:
        if "queries" in given:
            return _json(answers.reconcile(service, parse_batch(given["queries"])), given)
        if "extend" in given:
            return _json(answers.extend(service, *parse_extension(given["extend"])), given)
        require(request.method != "POST", "a form with `queries` or `extend` expected")
        return _json(answers.manifest(service, str(request.base_url).rstrip("/")), given)

    def suggest(kind: Kind, given: Parameters, request: Request) -> Response:
        cursor = whole_number(given.get("cursor") or "0", "`cursor`")
        return _json(
            answers.suggest(service, kind, given.get("prefix", "")[:LONGEST], cursor), given
        )

    def flyout(kind: Kind, given: Parameters, request: Request) -> Response:
        id = given.get("id", "")
        return _json({"id": id, "html": _page("flyout", answers.shown(service, kind, id))}, given)

    def properties(given: Parameters, request: Request) -> Response:
        limit = whole_number(given["limit"], "`limit`") if given.get("limit") else None
        return _json(answers.propose(service, given.get("type", ""), limit), given)

    def preview(given: Parameters, request: Request) -> Response:
        return HTMLResponse(_page("preview", answers.shown(service, "entity", given.get("id", ""))))

    workers = Workers(most_requests)

    async def answer(work: Work, request: Request) -> Response:
        given = await _parameters(request)
        return await workers.run(lambda: work(given, request))

    works: dict[str, Work] = {"/": root, "/properties": properties, "/preview": preview}
    for kind in KINDS:
        works[f"/suggest/{kind}"] = partial(suggest, kind)
        works[f"/flyout/{kind}"] = partial(flyout, kind)
    app = Starlette(
        routes=[
            Route(path, partial(answer, work), methods=["GET", "POST"] if path == "/" else ["GET"])
            for path, work in works.items()
        ],
        middleware=[Middleware(CORSMiddleware, allow_origins=["*"], allow_headers=["*"])],
        exception_handlers={HTTPException: _refused},
    )
    headers = {"content-security-policy": POLICY}
    if not token:
        return Guard(app, refuse_host, headers)
    return Guard(_below(app, f"/{token}"), partial(_refuse_path, token), headers)


async def _parameters(request: Request) -> Parameters:
    """The parameters of the query string and of the form, whose size is bounded."""
    body = await read_body(request, MOST_BYTES)
    try:
        form = parse_qsl(body.decode("utf8", "replace"), max_num_fields=100)
    except ValueError:
        raise HTTPException(400, "the form must have at most 100 fields") from None
    return {**request.query_params, **dict(form)}


def _refused(request: Request, error: Any) -> Response:
    """An error as clients know it."""
    text = json.dumps({"status": "error", "message": error.detail})
    return Response(text, error.status_code, error.headers, JSON)


def _json(value: Any, given: Parameters) -> Response:
    """A value as JSON, or as a call of the function that JSONP asks for."""
    text, kind = json.dumps(value, allow_nan=False), JSON
    if callback := given.get("callback"):
        require(CALLBACK.fullmatch(callback), "`callback` must be the name of a function")
        text, kind = f"/**/{callback}({text});", "application/javascript"
    return Response(text, media_type=kind)


def _page(template: str, shown: dict[str, Any] | None) -> str:
    require(shown, "there is nothing with this id in the graph", 404)
    return _templates.get_template(f"{template}.html.jinja").render(shown=shown, style=STYLE)


def _refuse_path(token: str, request: Request) -> Response | None:
    """The refusal of a path that does not begin with the token."""
    first = request["path"].split("/")[1]
    known = secrets.compare_digest(first.encode("utf8", "replace"), token.encode())
    return None if known else Response("not found\n", 404)


def _below(app: ASGIApp, root: str) -> ASGIApp:
    """The application at a path that is not the root of the server."""

    async def below(scope: Scope, receive: Receive, send: Send) -> None:
        path = root + (scope["path"][len(root) :] or "/")
        await app({**scope, "root_path": root, "path": path}, receive, send)

    return below

"""The service over HTTP, as the Reconciliation Service API 0.2 has it.

https://www.w3.org/community/reports/reconciliation/CG-FINAL-specs-0.2-20230410/
"""

from __future__ import annotations

import json
import re
import secrets
from asyncio import Semaphore
from base64 import b64encode
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl

from jinja2 import Environment, PackageLoader
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
MOST_REQUESTS = 32
"""Requests that are answered or wait at once."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")
CALLBACK = re.compile(r"[A-Za-z_$][\w$.]{0,100}", re.ASCII)
"""What a JSONP callback may be called."""
STYLE = (
    "body{font:14px/1.4 system-ui,sans-serif;margin:8px;color-scheme:light dark;"
    "overflow-wrap:anywhere}h1{font-size:16px;margin:0}dl{margin:8px 0}dt{opacity:.7}"
    "dd{margin:0 0 4px 12px}"
)
_HASH = b64encode(sha256(STYLE.encode()).digest()).decode()
POLICY = f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-{_HASH}'"
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)

JSON = "application/json"
Parameters = dict[str, str]
Work = Callable[[Parameters, Request], Response]
_templates = Environment(loader=PackageLoader("sameas.web.reconcile", "."), autoescape=True)


def make_app(service: Service, *, token: str = "") -> ASGIApp:
    """The application.

    Without a token, requests must name this machine as their host, so that no other site can pose
    as it (DNS rebinding). With one, every path begins with it.
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

    slots = Semaphore(MOST_REQUESTS)

    async def answer(work: Work, request: Request) -> Response:
        if slots.locked():
            problem = "too many requests at once; try again"
            raise HTTPException(429, problem, {"retry-after": "1"})
        async with slots:
            return await run_in_threadpool(work, await _parameters(request), request)

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
    return _guarded(app, token)


async def _parameters(request: Request) -> Parameters:
    """The parameters of the query string and of the form, whose size is bounded."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        problem = f"the body must have at most {MOST_BYTES:,} bytes"
        require(len(body) <= MOST_BYTES, problem, 413)
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


def _guarded(app: ASGIApp, token: str) -> ASGIApp:
    """The application behind the check of host and token; adds the headers of every response."""
    root = f"/{token}"

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *HEADERS]
            await send(message)

        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        answer = app
        if token:
            first = scope["path"].split("/")[1]
            if not secrets.compare_digest(first.encode("utf8", "replace"), token.encode()):
                answer = Response("not found\n", 404)
            path = root + (scope["path"][len(root) :] or "/")
            scope = {**scope, "root_path": root, "path": path}
        else:
            host = Headers(scope=scope).get("host", "")
            if re.sub(r":\d{1,5}$", "", host).strip("[]").lower() not in LOOPBACK:
                answer = Response("this host is not served here\n", 421)
        await answer(scope, receive, send_with_headers)

    return guarded

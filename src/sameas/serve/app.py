"""The service over HTTP, as the Reconciliation Service API 0.2 has it.

https://www.w3.org/community/reports/reconciliation/CG-FINAL-specs-0.2-20230410/
"""

from __future__ import annotations

import json
import re
import secrets
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl

from jinja2 import Environment, PackageLoader
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sameas.serve.queries import LONGEST, BadRequestError, parse_batch, parse_extension
from sameas.serve.service import KINDS, Kind, Service, Shown

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
_templates = Environment(loader=PackageLoader("sameas.serve", "."), autoescape=True)


def make_app(service: Service, *, token: str = "") -> ASGIApp:
    """The application.

    Without a token, requests must name this machine as their host, so that no other site can pose
    as it (DNS rebinding). With one, every path begins with it.
    """

    def root(given: Parameters, request: Request) -> Response:
        if "queries" in given:
            return _json(service.reconcile(parse_batch(given["queries"])), given)
        if "extend" in given:
            return _json(service.extend(parse_extension(given["extend"])), given)
        if request.method == "POST":
            raise BadRequestError("a form with `queries` or `extend` expected")
        return _json(service.manifest(str(request.base_url).rstrip("/")), given)

    def suggest(given: Parameters, request: Request) -> Response:
        prefix, cursor = given.get("prefix", "")[:LONGEST], _whole(given, "cursor") or 0
        return _json(service.suggest(_kind(request), prefix, cursor), given)

    def flyout(given: Parameters, request: Request) -> Response:
        id = given.get("id", "")
        html = _page("flyout.html.jinja", service.shown(_kind(request), id))
        return _json({"id": id, "html": html}, given)

    def properties(given: Parameters, request: Request) -> Response:
        return _json(service.propose(given.get("type", ""), _whole(given, "limit")), given)

    def preview(given: Parameters, request: Request) -> Response:
        page = _page("preview.html.jinja", service.shown("entity", given.get("id", "")))
        return Response(page, media_type="text/html")

    answering = _Answering()
    app = Starlette(
        routes=[
            Route("/", answering.by(root), methods=["GET", "POST"]),
            Route("/suggest/{kind}", answering.by(suggest)),
            Route("/flyout/{kind}", answering.by(flyout)),
            Route("/properties", answering.by(properties)),
            Route("/preview", answering.by(preview)),
        ],
        middleware=[Middleware(CORSMiddleware, allow_origins=["*"], allow_headers=["*"])],
    )
    return _guarded(app, token)


class _Answering:
    """Turns functions into endpoints; counts the requests that are under way."""

    def __init__(self) -> None:
        self.requests = 0

    def by(self, work: Work) -> Callable[[Request], Any]:
        """The endpoint that does some work in a thread."""

        async def endpoint(request: Request) -> Response:
            if self.requests >= MOST_REQUESTS:
                refused = _error("too many requests at once; try again", 429)
                refused.headers["retry-after"] = "1"
                return refused
            self.requests += 1
            try:
                given = await _parameters(request)
                return await run_in_threadpool(work, given, request)
            except BadRequestError as error:
                return _error(str(error), error.status)
            finally:
                self.requests -= 1

        return endpoint


async def _parameters(request: Request) -> Parameters:
    """The parameters of the query string and of the form, whose size is bounded."""
    given, body = dict(request.query_params), b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise BadRequestError(f"the body must have at most {MOST_BYTES:,} bytes", 413)
    try:
        return given | dict(parse_qsl(body.decode("utf8", "replace"), max_num_fields=100))
    except ValueError:
        raise BadRequestError("the form must have at most 100 fields") from None


def _kind(request: Request) -> Kind:
    """The part of the path that says what is asked about."""
    for kind in KINDS:
        if kind == request.path_params["kind"]:
            return kind
    raise BadRequestError(f"the path must end in one of {', '.join(KINDS)}", 404)


def _whole(given: Parameters, name: str) -> int | None:
    """A parameter that is a whole number, if it was given."""
    if not (text := given.get(name, "")):
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise BadRequestError(f"`{name}` must be a whole number of at least 0")
    return int(text)


def _error(message: str, status: int) -> Response:
    """An error as clients know it."""
    return Response(json.dumps({"status": "error", "message": message}), status, media_type=JSON)


def _json(value: Any, given: Parameters) -> Response:
    """A value as JSON, or as a call of the function that JSONP asks for."""
    text, kind = json.dumps(value, allow_nan=False), JSON
    if callback := given.get("callback"):
        if not CALLBACK.fullmatch(callback):
            raise BadRequestError("`callback` must be the name of a function")
        text, kind = f"/**/{callback}({text});", "application/javascript"
    return Response(text, media_type=kind)


def _page(template: str, shown: Shown | None) -> str:
    if shown is None:
        raise BadRequestError("there is nothing with this id in the graph", 404)
    return _templates.get_template(template).render(shown=shown, style=STYLE)


def _guarded(app: ASGIApp, token: str) -> ASGIApp:
    """The application behind the check of host and token; adds the headers of every response."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *HEADERS]
            await send(message)

        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        wrong = _wrong(scope, token)
        if wrong is None:
            await app(_below(scope, token), receive, send_with_headers)
        else:
            await Response(*wrong)(scope, receive, send_with_headers)

    return guarded


def _wrong(scope: Scope, token: str) -> tuple[str, int] | None:
    """The response to a request that is refused."""
    if token:
        first = scope["path"].split("/")[1]
        known = secrets.compare_digest(first.encode("utf8", "replace"), token.encode())
        return None if known else ("not found\n", 404)
    given = dict(scope["headers"]).get(b"host", b"").decode("latin1")
    host = re.sub(r":\d{1,5}$", "", given).strip("[]").lower()
    return None if host in LOOPBACK else ("this host is not served here\n", 421)


def _below(scope: Scope, token: str) -> Scope:
    """The scope with the token as the root of all paths."""
    if not token:
        return scope
    root = f"/{token}"
    return {**scope, "root_path": root, "path": root + (scope["path"][len(root) :] or "/")}

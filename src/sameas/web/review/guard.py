"""Who may ask what: every request passes here before it reaches a page.

Browsers send cookies with requests that other sites cause, and a name of another site may lead to
this machine. So the Host must be one of ours, what changes something must come from a page of
ours, and everything needs the token, which the first address carries and a cookie keeps.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass, field

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "::1")
LARGEST = 64 * 1024
"""Bytes that a request may send."""
WRITES = 500
"""Requests that may change something, and wrong tokens that may be tried, in a second."""
WRONG = 5
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


@dataclass
class Limit:
    """At most so many events in a second; as many may come at once."""

    rate: float
    used: float = 0.0
    seen: float = field(default_factory=time.monotonic)

    def allows(self) -> bool:
        """Whether one more event is allowed now; it counts."""
        now = time.monotonic()
        self.used, self.seen = max(0.0, self.used - (now - self.seen) * self.rate), now
        allowed = self.used + 1 <= self.rate
        self.used += allowed
        return allowed


@dataclass
class Guard:
    """The application behind the checks."""

    app: ASGIApp
    token: str
    hosts: tuple[str, ...] = ()
    """Names besides those of loopback, where other machines can ask; then also by any address."""
    writes: Limit = field(default_factory=lambda: Limit(WRITES))
    wrong: Limit = field(default_factory=lambda: Limit(WRONG))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it in one sentence."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
        else:
            app = self._refusal(Request(scope)) or self.app
            await app(scope, _limited(receive), _with_headers(send))

    def _refusal(self, request: Request) -> Response | None:
        """The answer to a request that is not let through."""
        host = request.headers.get("host", "")
        if not self._is_ours(re.sub(r":\d+$", "", host).strip("[]").lower()):
            return _refused("this address is not one of this server", 403)
        given, cookie = request.query_params.get("token"), f"sameas-review-{request['server'][1]}"
        if given is not None and request.method == "GET":
            if not self._is_token(given):
                return self._wrong("this token is not the one that sameas review printed")
            return self._enter(request, cookie)
        kind, _, bearer = request.headers.get("authorization", "").partition(" ")
        by_header = kind.lower() == "bearer" and self._is_token(bearer)
        if not by_header and not self._is_token(request.cookies.get(cookie, "")):
            return self._wrong("open the address that sameas review printed, with its token")
        if request.method in ("GET", "HEAD"):
            return None
        if not by_header and request.headers.get("origin") != f"{request['scheme']}://{host}":
            return _refused("decisions are taken from pages of this server alone", 403)
        return None if self.writes.allows() else _refused("too many requests; wait a second", 429)

    def _is_ours(self, name: str) -> bool:
        if self.hosts:
            with suppress(ValueError):
                ipaddress.ip_address(name)
                return True
        return name in (*LOOPBACK, *self.hosts)

    def _is_token(self, text: str) -> bool:
        return secrets.compare_digest(text.encode(errors="replace"), self.token.encode())

    def _enter(self, request: Request, cookie: str) -> Response:
        """Set the cookie, and lead to the same page without the token in its address."""
        rest = request.url.remove_query_params("token").query
        path = "/" + request["path"].lstrip("/")  # "//host" would lead elsewhere
        response = RedirectResponse(f"{path}?{rest}" if rest else path, status_code=303)
        response.set_cookie(cookie, self.token, httponly=True, samesite="lax", path="/")
        return response

    def _wrong(self, problem: str) -> Response:
        return _refused(problem, 401 if self.wrong.allows() else 429)


def _refused(problem: str, status: int) -> Response:
    return PlainTextResponse(f"Refused: {problem}.\n", status_code=status)


def _limited(receive: Receive) -> Receive:
    """The body of a request, cut off where it is too large, whatever its length was said to be."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        return message if seen <= LARGEST else {"type": "http.disconnect"}

    return counted


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(HEADERS)
        await send(message)

    return sent

"""Who may ask what: every request passes here before it reaches a page.

Browsers send cookies with requests that other sites cause, and a name of another site may lead to
this machine. So the Host must be one of ours, what changes something must come from a page of
ours, and everything needs the token, which the first address carries and a cookie keeps.
"""

from __future__ import annotations

import ipaddress
import secrets
import time
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "::1")
LARGEST = 64 * 1024
"""Bytes that a request may send."""
WRITES = 500
"""Requests that may change something, and wrong tokens that may be tried, in a second."""
WRONG = 5
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
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
    left: float = field(init=False)
    seen: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        """Begin with none used."""
        self.left = self.rate

    def allows(self) -> bool:
        """Whether one more event is allowed now; it counts."""
        now = time.monotonic()
        self.left = min(self.rate, self.left + (now - self.seen) * self.rate)
        self.seen = now
        if self.left < 1:
            return False
        self.left -= 1
        return True


@dataclass
class Guard:
    """The application behind the checks. ``hosts`` are names besides those of loopback."""

    app: ASGIApp
    token: str
    hosts: tuple[str, ...] = ()
    any_address: bool = False
    """Whether the Host may be any IP address, as it is where other machines can ask."""
    writes: Limit = field(default_factory=lambda: Limit(WRITES))
    wrong: Limit = field(default_factory=lambda: Limit(WRONG))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it in one sentence."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, _with_headers(send))
            return
        await self.app(scope, _limited(receive), _with_headers(send))

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """The answer to a request that is not let through."""
        host = headers.get("host", "")
        name, _, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
        name = (name if port.isdigit() else host).strip("[]").lower()
        if not self._is_ours(name):
            return _refused("this address is not one of this server", 403)
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = dict(query).get("token")
        cookie_name = f"sameas-review-{scope['server'][1]}"
        if given is not None and scope["method"] == "GET":
            return self._enter(scope, query, given, cookie_name)
        cookie = cookie_parser(headers.get("cookie", "")).get(cookie_name, "")
        kind, _, bearer = headers.get("authorization", "").partition(" ")
        by_header = kind.lower() == "bearer" and self._is_token(bearer)
        if not by_header and not self._is_token(cookie):
            return self._wrong("open the address that sameas review printed, with its token", 401)
        if scope["method"] in ("GET", "HEAD"):
            return None
        if not by_header and headers.get("origin") != f"{scope['scheme']}://{host}":
            return _refused("decisions are taken from pages of this server alone", 403)
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > LARGEST:
            return _refused(f"at most {LARGEST:,} bytes can be sent", 413)
        return None if self.writes.allows() else _refused("too many requests; wait a second", 429)

    def _is_ours(self, name: str) -> bool:
        if name in (*LOOPBACK, *self.hosts):
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return self.any_address

    def _is_token(self, text: str) -> bool:
        return secrets.compare_digest(text.encode(errors="replace"), self.token.encode())

    def _enter(
        self, scope: Scope, query: list[tuple[str, str]], given: str, cookie: str
    ) -> Response:
        """Set the cookie, and lead to the same page without the token in its address."""
        if not self._is_token(given):
            return self._wrong("this token is not the one that sameas review printed", 401)
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        path = "/" + scope["path"].lstrip("/")  # "//host" would lead elsewhere
        response = RedirectResponse(f"{path}?{rest}" if rest else path, status_code=303)
        response.set_cookie(cookie, self.token, httponly=True, samesite="lax", path="/")
        return response

    def _wrong(self, problem: str, status: int) -> Response:
        return _refused(problem, status if self.wrong.allows() else 429)


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

"""Who may ask what of a review: hosts, the token, and where changes come from.

Browsers send cookies with requests that other sites cause. So what changes something must come
from a page of this server, and everything needs the token, which the first address carries and a
cookie keeps.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sameas.web.guard import refuse_host, refused

WRITES = 500
"""Requests a second that may change something."""
WRONG = 5
"""Wrong tokens a second that may be tried."""


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
class Access:
    """The checks of a review."""

    token: str
    hosts: tuple[str, ...] = ()
    """Names besides those of loopback, where other machines can ask; then also by any address."""
    writes: Limit = field(default_factory=lambda: Limit(WRITES))
    wrong: Limit = field(default_factory=lambda: Limit(WRONG))

    def refusal(self, request: Request) -> Response | None:
        """The answer to a request that is not let through, or that brings the token."""
        if other_host := refuse_host(request, self.hosts):
            return other_host
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
        origin = f"{request['scheme']}://{request.headers.get('host', '')}"
        if not by_header and request.headers.get("origin") != origin:
            return refused("decisions are taken from pages of this server alone", 403)
        return None if self.writes.allows() else refused("too many requests; wait a second", 429)

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
        return refused(problem, 401 if self.wrong.allows() else 429)

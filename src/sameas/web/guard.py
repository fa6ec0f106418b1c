"""What both servers check of every request, and the headers that every answer carries."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Names of this machine that no other machine can use."""
MOST_REQUESTS = 100
"""Complete requests that are answered, or wait for a thread, at once."""
HEADERS = {"x-content-type-options": "nosniff", "referrer-policy": "no-referrer"}
"""Headers of every answer, besides the policy of its pages."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class Guard:
    """An application behind a check; ``check`` gives the answer to a request that is refused."""

    app: ASGIApp
    check: Callable[[Request], Response | None]
    headers: Mapping[str, str]
    """Headers of every answer."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it in one sentence."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
        else:
            app = self.check(Request(scope)) or self.app
            await app(scope, receive, self._with_headers(send))

    def _with_headers(self, send: Send) -> Send:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update({**HEADERS, **self.headers})
            await send(message)

        return send_with_headers


def refused(problem: str, status: int) -> Response:
    """The answer to a request that is not let through."""
    return PlainTextResponse(f"Refused: {problem}.\n", status_code=status)


def refuse_host(request: Request, names: tuple[str, ...] = ()) -> Response | None:
    """The refusal of a request whose Host is not this machine; None if it is.

    Otherwise a name of another site could lead to this machine (DNS rebinding). ``names`` are
    given where other machines can ask: these names and any address are served then, too.
    """
    host = re.sub(r":\d{1,5}$", "", request.headers.get("host", "")).strip("[]").lower()
    if names:
        with suppress(ValueError):
            ipaddress.ip_address(host)
            return None
    if host in (*LOOPBACK, *names):
        return None
    return refused("this host is not served here; use the address that was printed", 421)


async def read_body(request: Request, most: int) -> bytes:
    """The whole body of a request; status 413 if it has more than ``most`` bytes.

    The length that the client states is not relied on.
    """
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > most:
                raise HTTPException(413, f"the body must have at most {most:,} bytes")
    except ClientDisconnect:  # nobody reads the answer
        raise HTTPException(400, "the body is not complete") from None
    return bytes(body)


@dataclass
class Workers:
    """Threads that answer complete requests; with too many at once, a client is told to wait."""

    most: int = MOST_REQUESTS
    busy: int = 0

    async def run(self, work: Callable[[], Result]) -> Result:
        """What ``work`` returns; status 429 if too many others are answered or wait."""
        if self.busy >= self.most:
            raise HTTPException(429, "too many requests at once; try again", {"retry-after": "1"})
        self.busy += 1
        try:
            return await run_in_threadpool(work)
        finally:
            self.busy -= 1

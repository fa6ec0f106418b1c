"""The HTTP server of review and serve: uvicorn, with deadlines for slow clients."""

from __future__ import annotations

from asyncio import Transport
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, cast

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 200
TIMEOUT = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"

Phase = Literal["headers", "body", "answer"]


@dataclass(frozen=True)
class Deadlines:
    """Seconds that a server waits for a client before it closes the connection."""

    headers: float = 10.0
    """For the headers of the next request to be complete."""
    body: float = 30.0
    """For the body to be complete, from when the headers are."""
    answer: float = 30.0
    """For the client to read on."""


@dataclass(frozen=True)
class Waiting:
    """The connections of a server that wait for their clients, the longest first."""

    deadlines: Deadlines
    most: int
    cancel: dict[Connection, Callable[[], None]] = field(default_factory=dict)
    """How the deadline of each is cancelled."""


class Connection(H11Protocol):
    """A connection that is closed if its client is slow.

    With too many connections, the one that has waited longest for its client is closed. So silent
    clients, however many, do not keep others out. Requests that are being answered do not wait.

    A client that sends its next request before it has read the last answer (HTTP pipelining) gets
    that answer, and the connection is closed. Otherwise some of them, which always have a request
    waiting, would take every worker that becomes free.
    """

    def __init__(self, *given: Any, waiting: Waiting, **named: Any) -> None:
        """Make a connection of a server with these others."""
        super().__init__(*given, **named)
        self.waiting, self.phase = waiting, cast(Phase | None, None)

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._follow()
        if len(self.connections) > self.waiting.most:
            next(iter(self.waiting.cancel))._close()

    def handle_events(self) -> None:
        """Take in what the client has sent."""
        super().handle_events()
        if self.conn.their_state is h11.DONE and self.conn.trailing_data[0]:
            self.cycle.keep_alive = False
        self._follow()

    def on_response_complete(self) -> None:
        """Wait for the next request, or for the client to read the rest of the answer."""
        super().on_response_complete()
        self._follow()

    def pause_writing(self) -> None:
        """Wait for the client to read."""
        super().pause_writing()
        self._follow()

    def resume_writing(self) -> None:
        """The client has read."""
        super().resume_writing()
        self._follow()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        super().connection_lost(exc)
        self._wait(None)

    def _follow(self) -> None:
        """Start the deadline of what the client has to do next, unless it has begun already."""
        if (phase := self._awaited()) != self.phase:
            self._wait(phase)

    def _awaited(self) -> Phase | None:
        """What the client has to do; None if its request is being answered."""
        if self.flow.write_paused:
            return "answer"
        if self.conn.their_state is h11.SEND_BODY:
            return "body"
        answering = self.cycle is not None and not self.cycle.response_complete
        return None if answering else "headers"

    def _wait(self, phase: Phase | None) -> None:
        if cancel := self.waiting.cancel.pop(self, None):
            cancel()
        self.phase = phase
        if phase is not None:
            seconds = getattr(self.waiting.deadlines, phase)
            self.waiting.cancel[self] = self.loop.call_later(seconds, self._close).cancel

    def _close(self) -> None:
        """Close the connection, whatever is still to be sent; tell the client if it sends."""
        if self.phase == "body" and not self.cycle.response_started:
            self.transport.write(TIMEOUT)
        self._wait(None)
        self.transport.abort()


def make_server(
    app: ASGIApp, *, deadlines: Deadlines = Deadlines(), most: int = MOST_CONNECTIONS
) -> uvicorn.Server:
    """A server for an application; ``most`` connections are open at once."""
    config = uvicorn.Config(
        app,
        http=cast(Any, partial(Connection, waiting=Waiting(deadlines, most))),
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=3,
    )
    return uvicorn.Server(config)

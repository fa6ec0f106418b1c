"""Slow clients: they are given deadlines, and do not keep others out, however many they are."""

from __future__ import annotations

import http.client
import json
import socket
from asyncio import ensure_future, sleep
from contextlib import ExitStack, closing, suppress
from threading import Event
from urllib.parse import urlencode, urlsplit

import pytest

pytest.importorskip("uvicorn", reason="the extra web is not installed")

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from sameas import Graph
from sameas.graph.semantics.understanding import understand_alone
from sameas.web.guard import Workers, read_body
from sameas.web.reconcile.app import make_app
from sameas.web.reconcile.matching import make_service
from sameas.web.server import Deadlines
from serving import served

NEVER = Deadlines(headers=1e6, body=1e6, answer=1e6)
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
HEADERS = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n"
FORM = b"Content-Type: application/x-www-form-urlencoded\r\n\r\nqueries="


async def echo(request: Request) -> PlainTextResponse:
    """The length of the body, after a thread has seen it."""
    body = await read_body(request, 2000)
    return PlainTextResponse(str(await Workers().run(lambda: len(body))))


ECHO = Starlette(routes=[Route("/", echo, methods=["GET", "POST"])])


def connect(address: str, sent: bytes = b"") -> socket.socket:
    """A client that has sent this much and waits."""
    parts = urlsplit(address)
    client = socket.create_connection((parts.hostname, parts.port), timeout=60)
    client.sendall(sent)
    return client


def received(client: socket.socket) -> bytes:
    """What a client receives until its connection is closed."""
    answer = b""
    with suppress(ConnectionResetError):  # it had sent something that was not read
        while piece := client.recv(2**16):
            answer += piece
    return answer


def ask(address: str, body: bytes | None = None) -> tuple[int, bytes]:
    """Status and body of the answer to a client that is not slow."""
    with closing(http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)) as connection:
        headers = {"Host": "localhost", "Content-Type": "application/x-www-form-urlencoded"}
        connection.request("GET" if body is None else "POST", "/", body, headers)
        response = connection.getresponse()
        return response.status, response.read()


@pytest.mark.parametrize("sent", [b"", HEADERS, HEADERS + b"\r\n" + b"x" * 999])
def test_silent_clients_do_not_keep_others_out(sent: bytes):
    with served(ECHO, deadlines=NEVER) as address, ExitStack() as clients:
        for _ in range(250):
            clients.enter_context(connect(address, sent))
        assert ask(address) == (200, b"0")
        assert ask(address, b"x" * 1000) == (200, b"1000")


@pytest.mark.parametrize("count", [40, 200])
def test_unfinished_bodies_do_not_take_the_places_of_requests(count: int):
    triples = [("e:a", "e:r", "e:b")]
    graph = Graph.from_triples(triples, names={"e:a": "Ada Lovelace", "e:b": "London"})
    form = urlencode({"queries": json.dumps({"q": {"query": "Ada Lovelace"}})}).encode()
    app = make_app(make_service(understand_alone(graph), "people"))
    with served(app, deadlines=NEVER) as address, ExitStack() as clients:
        for _ in range(count):
            clients.enter_context(connect(address, HEADERS + FORM))
        status, answer = ask(address, form)
        assert status == 200, answer
        assert json.loads(answer)["q"]["result"][0]["id"] == "e:a"


def test_with_too_many_connections_the_one_that_waits_longest_is_closed():
    with served(ECHO, deadlines=NEVER, most=2) as address, ExitStack() as clients:
        first = clients.enter_context(connect(address, HEADERS))
        second = clients.enter_context(connect(address, HEADERS))
        clients.enter_context(connect(address))
        assert received(first) == b""
        second.sendall(b"\r\n" + b"x" * 1000)
        assert second.recv(100).startswith(b"HTTP/1.1 200 OK")


def test_a_request_that_is_answered_is_not_closed():
    arrived, finish = Event(), Event()

    async def slow(request: Request) -> PlainTextResponse:
        arrived.set()
        await Workers().run(lambda: finish.wait(60))
        return PlainTextResponse("done")

    app = Starlette(routes=[Route("/", slow)])
    soon = Deadlines(headers=30, body=0.01, answer=0.01)
    with served(app, deadlines=soon, most=1) as address, connect(address, GET) as working:
        assert arrived.wait(60)
        with connect(address) as other:
            assert received(other) == b""
        finish.set()
        assert working.recv(100).startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (b"", b""),
        (b"GET / HTTP/1.1\r\nHost: loc", b""),
        (HEADERS + b"\r\nx", b"HTTP/1.1 408 Request Timeout\r\n"),
        (HEADERS.replace(b"Content-Length: 1000", b"Transfer-Encoding: chunked") + b"\r\n5\r\nx",
         b"HTTP/1.1 408 Request Timeout\r\n"),
        (GET + b"GET / HT", b"HTTP/1.1 200 OK\r\n"),
    ],
)  # fmt: skip
def test_a_client_that_does_not_go_on_is_closed(sent: bytes, answer: bytes):
    soon = Deadlines(headers=0.05, body=0.05, answer=1e6)
    with served(ECHO, deadlines=soon) as address, connect(address, sent) as client:
        answered = received(client)
    assert answered.startswith(answer)
    assert answered.count(b"HTTP/1.1") == bool(answer)


def test_of_requests_sent_at_once_the_first_is_answered():
    with served(ECHO, deadlines=NEVER) as address, connect(address, GET * 20) as client:
        answered = received(client)
        assert answered.count(b"HTTP/1.1 200 OK\r\n") == 1
        other = http.client.HTTPConnection(urlsplit(address).netloc)
        with closing(other):  # one after the other is as before
            for _ in range(3):
                other.request("GET", "/")
                before = other.sock
                assert other.getresponse().read() == b"0"
                assert other.sock is before is not None


def test_a_client_that_does_not_read_is_closed():
    stopped = Event()

    async def without_end(scope: Scope, receive: Receive, send: Send) -> None:
        async def answer() -> None:
            await send({"type": "http.response.start", "status": 200})
            while not stopped.is_set():
                await send({"type": "http.response.body", "body": b"x" * 2**16, "more_body": True})
                await sleep(0)

        sending = ensure_future(answer())
        while (await receive())["type"] != "http.disconnect":
            pass
        stopped.set()
        await sending

    soon = Deadlines(headers=1e6, body=1e6, answer=0.05)
    with served(without_end, deadlines=soon) as address, connect(address, GET):
        assert stopped.wait(60)


def test_a_body_that_is_broken_off_is_no_fault(caplog: pytest.LogCaptureFixture):
    with served(ECHO, deadlines=NEVER) as address:
        for _ in range(20):
            connect(address, HEADERS + b"\r\nx").close()
        assert ask(address) == (200, b"0")
    assert not caplog.records

"""Clients of the two servers that are slow, or ask for what cannot be."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from .attempt import Attempt

TOKEN = "a-token-of-these-attempts"
POST = b"POST / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + TOKEN.encode()
SLOW = {
    "say nothing": b"",
    "say one letter": b"G",
    "do not finish their headers": POST,
    "do not finish their bodies": POST + b"\r\nContent-Length: 9000\r\n\r\nqueries=",
    "do not finish their chunks": POST + b"\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nq",
    "wait to be told to go on": POST + b"\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n",
    "ask twenty times and do not read": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20,
}
"""What slow clients have sent when they stop."""
SERVERS = {
    "serve": ("serve", "../good/l.tsv"),
    "review": ("review", "run", "--no-browser", "--token", TOKEN),
}
PAGES = {"serve": "/", "review": "/overview.json"}
PATIENCE = 10.0
"""Seconds in which others are answered."""


def clients(folder: Path) -> Iterator[Attempt]:
    """Slow clients of both servers, meanwhile another one; and requests that contradict."""
    for name in SERVERS:
        for how, sent in SLOW.items():
            for count in (40, 200, 250):
                slow = lambda port, sent=sent, count=count, name=name: _beside(  # noqa: E731
                    port, sent, count, PAGES[name]
                )
                yield _served(name, f"{count} clients {how}", slow)
        left = lambda port, name=name: _left(port, PAGES[name])  # noqa: E731
        yield _served(name, "300 clients leave in the middle", left)
    for verdicts in (("accept", "reject"), ("accept", "accept"), ("unsure", "open")):
        contradict = lambda port, verdicts=verdicts: _contradict(port, verdicts)  # noqa: E731
        yield _served("review", f"{' and '.join(verdicts)} in one request", contradict)


def databases(folder: Path) -> Iterator[Attempt]:
    """Databases in the run folder of a stranger, and run folders that cannot be written."""
    commands: list[tuple[str, ...]] = [
        ("report", "run", "-o", "out/r.html"),
        ("convert", "run", "out/k.tsv"),
        ("merge", "run", "-o", "out/m.nt"),
        ("align", "../good/l.tsv", "../good/r.tsv", "--seeds", "run", "-o", "out/k.tsv"),
        ("review", "run", "--port", "0", "--no-browser"),
    ]
    for command in commands:
        for file in ("decisions.sqlite", "queue.sqlite"):
            if file == "queue.sqlite" and command[0] not in ("report", "review"):
                continue
            for ending in ("", "-wal", "-shm", "-journal"):
                link = lambda name=file + ending: _link(name)  # noqa: E731
                promise = "either" if ending and command[0] in ("merge", "convert") else "refused"
                name = f"{file}{ending} is a link"
                yield Attempt("databases", name, command, promise, prepare=link)
        if command[0] != "review":
            view = lambda: _endless_view(Path("run"))  # noqa: E731
            yield Attempt("databases", "a view without end", command, "refused", prepare=view)
    yield Attempt("databases", "a run folder to be read", commands[0], "read",
                  prepare=lambda: _copy_run().chmod(0o555), inside=_ordinary)  # fmt: skip


def _ordinary() -> None:
    from .table import _ordinary_user

    _ordinary_user()


def _copy_run() -> Path:
    return Path(shutil.copytree("../good/run", "run"))


def _link(name: str) -> None:
    """Let a database of a run folder be a link to one that is not ours."""
    run = _copy_run()
    with contextlib.closing(sqlite3.connect("other.sqlite")) as connection:
        connection.execute("CREATE TABLE precious (x)")
    if not name.endswith("sqlite"):
        (run / name.rpartition("-")[0]).write_bytes(Path("other.sqlite").read_bytes())
    (run / name).symlink_to(Path("other.sqlite").absolute())


def _endless_view(run: Path) -> None:
    """A database of decisions in which reading never ends."""
    _copy_run()
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
    state = f"({endless} WHERE i < 0) AS state"
    with contextlib.closing(sqlite3.connect(run / "decisions.sqlite")) as connection:
        connection.executescript(
            "CREATE TABLE decisions (id, left, right, verdict, reviewer, time, undone_by);"
            f"CREATE VIEW states AS SELECT '' AS left, '' AS right, {state}"
        )


def _served(name: str, how: str, use: Callable[[int], str | None]) -> Attempt:
    """A server that is used, and then interrupted."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def meanwhile(process: int) -> str | None:
        try:
            _wait_for(process, port)
            return use(port)
        except OSError as error:
            return f"others are not answered: {error!r}"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGINT)

    return Attempt("clients", f"{name}: {how}", (*SERVERS[name], "--port", str(port)), "read",
                   prepare=_copy_run, meanwhile=meanwhile, seconds=120)  # fmt: skip


def _wait_for(process: int, port: int) -> None:
    """Wait until a process listens."""
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except ConnectionRefusedError:
            os.kill(process, 0)
            time.sleep(0.05)


def _ask(port: int, page: str, content: object = None) -> tuple[int, bytes]:
    """The answer to a client that is not slow."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    body = None if content is None else json.dumps(content)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    with contextlib.closing(connection):
        connection.request("GET" if body is None else "POST", page, body, headers)
        response = connection.getresponse()
        return response.status, response.read()


def _beside(port: int, sent: bytes, count: int, page: str) -> str | None:
    _ask(port, page)  # the first one may load something
    with contextlib.ExitStack() as slow:
        for _ in range(count):
            client = socket.create_connection(("127.0.0.1", port), timeout=60)
            slow.enter_context(client).sendall(sent)
        end = time.monotonic() + PATIENCE
        for _ in range(3):
            while (status := _ask(port, page)[0]) == 429 and time.monotonic() < end:
                time.sleep(0.2)  # those who do not read have asked, and are answered first
            if status != 200:
                return f"others get {status}"
    return "others wait" if time.monotonic() > end else None


def _left(port: int, page: str) -> str | None:
    for number in range(300):
        sent = list(SLOW.values())[number % len(SLOW)]
        with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
            client.sendall(sent)
    status, _ = _ask(port, page)
    return None if status == 200 else f"others get {status}"


def _contradict(port: int, verdicts: tuple[str, ...]) -> str | None:
    link = json.loads(_ask(port, "/links.json?status=all")[1])["links"][0]
    claims = [{"left": link["left"], "right": link["right"], "verdict": one} for one in verdicts]
    decision = {"request": "1", "reviewer": "Ada", "claims": claims}
    status, answer = _ask(port, "/decide", decision)
    stored = json.loads(_ask(port, "/decisions.json")[1])["decisions"]
    return None if status == 400 and not stored else f"stored: {status} {answer[:80]!r}"

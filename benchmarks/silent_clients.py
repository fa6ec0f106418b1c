"""How long ``sameas review`` and ``sameas serve`` take while many connections say nothing.

Run it from the root of the repository::

    python -m benchmarks.silent_clients --connections 250

Both servers run on the demo, each as a process of its own. So many connections are opened and
send nothing, or headers that they do not finish; those that the server closes are opened again
ten times a second. Meanwhile one client asks for pages, one after the other, each over a
connection of its own: how long the median, the slowest hundredth and the slowest of its requests
take.
"""

from __future__ import annotations

import argparse
import json
import re
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np

import sameas

TOKEN = "a-token-of-this-benchmark"
UNFINISHED = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Le"
SERVERS = {
    "review": (("review", "RUN", "--no-browser", "--token", TOKEN), "/overview.json"),
    "serve": (("serve", str(sameas.DEMO)), "/"),
}
"""Commands, and the page that is asked for."""
MOST_CONNECTIONS = 2000


@contextmanager
def served(command: Sequence[str]) -> Iterator[int]:
    """The port of a server, which ends with the block."""
    words = [sys.executable, "-u", "-m", "sameas", *command, "--port", "0"]
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(words, **both) as process:  # type: ignore[call-overload]
        try:
            for line in process.stdout:
                if port := re.search(r"http://127\.0\.0\.1:(\d+)/", line):
                    Thread(target=process.stdout.read, daemon=True).start()
                    yield int(port[1])
                    return
            raise SystemExit(f"`sameas {command[0]}` has ended with {process.wait()}")
        finally:
            process.terminate()


def keep_silent(port: int, connections: int, ready: Event, finished: Event) -> None:
    """Keep so many connections open, half of which have sent headers in part."""
    silent: list[socket.socket] = []
    while not finished.is_set():
        while len(silent) < connections:
            client = socket.create_connection(("127.0.0.1", port))
            if len(silent) % 2:
                client.sendall(UNFINISHED)
            silent.append(client)
        ready.set()
        poll = select.poll()
        for client in silent:
            poll.register(client, select.POLLIN)
        time.sleep(0.1)
        closed = {descriptor for descriptor, _ in poll.poll(0)}
        for client in [client for client in silent if client.fileno() in closed]:
            silent.remove(client)
            client.close()
    for client in silent:
        client.close()


def ask(port: int, page: str) -> tuple[float, int]:
    """Seconds until the answer is complete, and its status; 0 if there is none."""
    begin, headers = time.perf_counter(), {"Authorization": f"Bearer {TOKEN}"}
    with closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        try:
            connection.request("GET", page, headers=headers)
            response = connection.getresponse()
            response.read()
            status = response.status
        except (OSError, HTTPException):
            status = 0
    return time.perf_counter() - begin, status


def measure(server: str, run: Path, *, connections: int, seconds: float) -> dict[str, Any]:
    """What one client sees of a server beside silent connections."""
    command, page = SERVERS[server]
    ready, finished = Event(), Event()
    with served([str(run) if word == "RUN" else word for word in command]) as port:
        ask(port, page)  # the first one may load something
        silent = Thread(target=keep_silent, args=(port, connections, ready, finished))
        silent.start()
        try:
            ready.wait()
            end, answers = time.perf_counter() + seconds, list[tuple[float, int]]()
            while time.perf_counter() < end:
                answers.append(ask(port, page))
                time.sleep(0.01)
        finally:
            finished.set()
            silent.join()
    times = [1000 * each for each, _ in answers]
    return {
        "server": server,
        "silent_connections": connections,
        "requests": len(answers),
        "p50_milliseconds": round(float(np.median(times)), 1),
        "p99_milliseconds": round(float(np.quantile(times, 0.99)), 1),
        "slowest_milliseconds": round(max(times), 1),
        "errors": sum(status != 200 for _, status in answers),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure both servers and print."""
    example = "example: python -m benchmarks.silent_clients --connections 250"
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog=example)
    parser.add_argument("--connections", type=int, default=250, help="connections that are silent")
    parser.add_argument("--seconds", type=float, default=20.0, help="how long another one asks")
    parser.add_argument("--only", choices=SERVERS, help="only this server")
    chosen = parser.parse_args(arguments)
    count = min(chosen.connections, MOST_CONNECTIONS)
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        sameas.write(sameas.align(sameas.read_pair(sameas.DEMO)), run)
        for server in [chosen.only] if chosen.only else SERVERS:
            result = measure(server, run, connections=count, seconds=chosen.seconds)
            print(json.dumps(result, indent=2), flush=True)


if __name__ == "__main__":
    main()

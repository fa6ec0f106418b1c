"""Servers for tests: in a thread, and ``sameas review`` as a process of its own."""

import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TOKEN = "a-token-of-the-tests"


@contextmanager
def served(app: Any, **limits: Any) -> Iterator[str]:
    """The address of an application that runs in a thread."""
    from sameas.web.server import make_server

    listening = socket.create_server(("127.0.0.1", 0), backlog=300)
    server = make_server(app, **limits)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


class Server:
    """``sameas review`` of a run folder, as a process of its own."""

    def __init__(self, run: Path) -> None:
        self.run, self.port = run, 0
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "sameas", "review", str(self.run), "--no-browser"]
        command += ["--port", str(self.port), "--reviewer", "Ada", "--token", TOKEN]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        lines: list[str] = []
        assert self.process.stderr is not None
        for line in self.process.stderr:
            lines.append(line)
            if found := re.match(r"Open (http://\S+)", line):
                self.url = found[1]
                self.root = self.url.partition("/?")[0]
                self.port = int(self.root.rpartition(":")[2])
                return
        raise AssertionError("".join(lines))

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stderr is not None
        self.process.stderr.close()

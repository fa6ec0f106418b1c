"""Sockets and the web server of ``review`` and ``serve``."""

from __future__ import annotations

import ipaddress
import os
import socket
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING

from sameas.errors import OptionError, shortened

if TYPE_CHECKING:
    from starlette.types import ASGIApp

LAST_PORT = 65535
HERE = "127.0.0.1"
"""Where to listen for requests of this machine alone."""


def require_web() -> None:
    """Raise an OptionError if the extra is not installed."""
    if missing := [name for name in ("starlette", "uvicorn") if find_spec(name) is None]:
        raise OptionError(
            f'this needs {" and ".join(missing)}; install it with: pip install "sameas[web]"'
        )


def is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, *ports: int) -> socket.socket:
    """A socket that listens at the first of the ports that is free; 0 stands for any."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.getaddrinfo(host, ports[0], family, socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise OptionError(f'`host` "{shortened(host)}" is not an address of this machine') from None
    for port in ports:
        try:
            return socket.create_server((host, port), family=family)
        except OSError as error:  # whose own text shows the address as a tuple
            reason = os.strerror(error.errno) if error.errno else "no reason is known"
    raise OptionError(
        f"cannot listen at {host}, port {ports[0]} ({reason}); give another `port` or `host`"
    )


def address_of(listening: socket.socket) -> str:
    """The address that clients are given; the name of the machine if it listens everywhere."""
    host, port = listening.getsockname()[:2]
    if ipaddress.ip_address(host).is_unspecified:
        host = socket.gethostname()
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def answer(app: ASGIApp, listening: socket.socket) -> None:
    """Answer requests until the process is interrupted."""
    from sameas.web.server import make_server

    with suppress(KeyboardInterrupt):
        make_server(app).run(sockets=[listening])

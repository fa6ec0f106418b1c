"""Commands that answer in the browser: review, serve; their sockets, and their server."""

from __future__ import annotations

import getpass
import ipaddress
import re
import secrets
import socket
import webbrowser
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import click

from sameas.cli.command import Side, command, note, progress_display, run_argument, say
from sameas.errors import OptionError, system_reason
from sameas.rdf.rules import Reading

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from sameas.graph import Graph

Port = Annotated[int, "from 0 to 65535"]
HERE = "127.0.0.1"
"""Where to listen for requests of this machine alone."""
REVIEW_PORT = 8765
SHORTEST = 12
"""Characters of a token of `review` that others could try to guess."""
TOKEN = r"[A-Za-z0-9_-]{16,200}"
"""What a token of `serve` may be: 16 characters cannot be guessed."""


@command()
@run_argument
def review(
    run: Path,
    *,
    port: Port | None = None,
    host: str = HERE,
    token: str | None = None,
    reviewer: str | None = None,
    no_browser: bool = False,
) -> dict[str, Any]:
    """Review the links of RUN in the browser: accept, reject, choose another, undo.

    RUN is a run folder that sameas align wrote. Decisions are stored in it at once, with who
    decided and when. sameas convert honours them, and sameas align --seeds RUN --reject RUN
    learns from them. The page needs the extra sameas[web].

    Options:
      port N: The port of the page.  [8765, or any that is free]
      host ADDRESS: The address to listen on; others than this machine need --token.
      token TEXT: What opens the page, instead of a random text.
      reviewer NAME: Who decides, unless the page is told otherwise.  [your login]
      no_browser: Do not open the browser.

    Examples:
      sameas review run
      sameas review run --reviewer "Ada Lovelace" --port 9000
      sameas review run --host 0.0.0.0 --token "a long secret of your choice"
    """
    require_web()
    from sameas.review.app import make_app
    from sameas.review.folder import Review
    from sameas.writing import read_run

    read_run(run)  # which refuses what is no run folder
    local = is_loopback(host)
    if not local and (token is None or len(token) < SHORTEST):
        raise OptionError(
            f"`host` {host} lets other machines in, so `token` must be given, with at least "
            f"{SHORTEST} characters"
        )
    token = token or secrets.token_urlsafe(24)
    if not token.isascii() or not token.isprintable():
        raise OptionError("`token` must consist of ASCII letters, digits and signs")
    name = reviewer if reviewer is not None else getpass.getuser() if local else ""
    folder = Review(run, name)
    say("Preparing the queue ...", err=True)
    if not folder.is_large:
        folder.prepare()
    listener = listen(host, *((REVIEW_PORT, 0) if port is None else (port,)))
    names = () if local else (host.lower(), socket.gethostname().lower(), socket.getfqdn().lower())
    app = make_app(folder, token=token, hosts=names)
    url = f"{address_of(listener)}?token={quote(token, safe='')}"
    if not local:
        note(
            "everyone who can reach this machine and has the token can see both graphs and "
            "decide; the connection is not encrypted"
        )
    say(f"Open {url}\nPress Ctrl+C to end.", err=True, always=True)
    if not no_browser:
        Timer(0.5, webbrowser.open, [url]).start()
    answer(app, listener)
    say(f"Decisions are in {run}.", err=True)
    return {"url": url, "run": str(run)}


@command()
@click.argument("graph")
def serve(
    graph: str,
    *,
    side: Side = "right",
    names: str | None = None,
    host: str = HERE,
    port: Port = 8000,
    token: str | None = None,
    reading: Reading,
) -> dict[str, Any]:
    """Let OpenRefine and other tools ask which entity of a graph a name means.

    GRAPH is RDF or a table of triples, as sameas align takes them, or a run or benchmark folder,
    of which the right graph is served. The service speaks the Reconciliation Service API 0.2 and
    changes nothing. It ends with Ctrl-C.

    Options:
      side: Which graph of a run or benchmark folder.
      names FILE|uri: Names of entities: a file, or from the URIs.
      host ADDRESS: Where to listen; beyond this machine only with --token.
      port NUMBER: Where to listen; 0 for any that is free.
      token TEXT: A secret that the address begins with: 16 or more letters and digits.

    Examples:
      sameas serve things.ttl
      sameas serve run --side left --port 8080
      sameas serve things.nt.gz --host 0.0.0.0 --token "$TOKEN"
    """
    require_web()
    from sameas.serve.app import make_app
    from sameas.serve.matching import make_service

    if token is not None and not re.fullmatch(TOKEN, token):
        raise OptionError("`token` must be 16 to 200 letters, digits, - and _, got another text")
    if not is_loopback(host) and token is None:
        raise OptionError(
            f"`host` {host} lets other machines read the graph; give a secret with `token`, "
            "which the address of the service then begins with, or leave `host` out"
        )
    context = click.get_current_context()
    listening = context.with_resource(listen(host, port))
    with progress_display() as progress:
        progress("reading", 0.0)
        found = _read(graph, side, names, reading)
        progress("reading", 1.0)
        service = make_service(found, Path(graph).name, progress=progress)
    address = address_of(listening) + (f"{token}/" if token else "")
    # Called when the result has been printed.
    context.call_on_close(lambda: answer(make_app(service, token=token or ""), listening))
    entities, types = service.index.named, service.types.terms.ids
    say(
        f"{entities:,} entities with names, {len(types):,} types, "
        f"{len(service.facts.properties.ids):,} properties.\n"
        f"In OpenRefine: Reconcile, Start reconciling, Add standard service, and paste\n\n"
        f"  {address}\n\nCtrl-C ends the service."
    )
    return {"address": address, "entities": entities, "types": len(types)}


def _read(place: str, side: Side, names: str | None, reading: Reading) -> Graph:
    from sameas.reading import is_pair, read_pair, read_understood
    from sameas.writing.run import is_run, read_run

    if not is_pair(place):
        return read_understood(place, names=names, reading=reading)
    if is_run(Path(place)) and names is not None:
        raise OptionError("`names` has no effect on a run, which has names; leave it out")
    pair = read_run(place).pair if is_run(Path(place)) else read_pair(place, names=names)
    return pair.left if side == "left" else pair.right


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
    for port in ports:
        try:
            return socket.create_server((host, port), family=family)
        except (OSError, UnicodeError) as error:
            reason = system_reason(error) or "no such host"
    raise OptionError(
        f"cannot listen at {host}, port {port} ({reason}); give another `port` or `host`"
    )


def address_of(listening: socket.socket) -> str:
    """The address that clients are given; the name of the machine if it listens everywhere."""
    host, port = listening.getsockname()[:2]
    if ipaddress.ip_address(host).is_unspecified:
        host = socket.gethostname()
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def answer(app: ASGIApp, listening: socket.socket) -> None:
    """Answer requests until the process is interrupted."""
    import uvicorn

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        server_header=False,
        limit_concurrency=200,
        timeout_graceful_shutdown=3,
    )
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])

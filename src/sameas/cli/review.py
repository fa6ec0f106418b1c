"""``sameas review``: look at the links, decide, keep the decisions."""

from __future__ import annotations

import getpass
import secrets
import socket
import webbrowser
from pathlib import Path
from threading import Timer
from typing import Any
from urllib.parse import quote

import click

from sameas.cli.command import FILE, Command, flag, note, say
from sameas.cli.server import HERE, PORTS, address_of, answer, is_loopback, listen, require_web
from sameas.errors import InputError, OptionError

PORT = 8765
SHORTEST = 12
"""Characters of a token that others could try to guess."""


@click.command(cls=Command)
@click.argument("run", type=FILE)
@flag("--port", "N", f"The port of the page.  [{PORT}, or any that is free]", type=PORTS)
@flag(
    "--host",
    "ADDRESS",
    "The address to listen on; others than this machine need --token.",
    default=HERE,
)
@flag("--token", "TEXT", "What opens the page, instead of a random text.")
@flag("--reviewer", "NAME", "Who decides, unless the page is told otherwise.  [your login]")
@click.option("--no-browser", is_flag=True, help="Do not open the browser.")
def review(
    run: Path,
    port: int | None,
    host: str,
    token: str | None,
    reviewer: str | None,
    no_browser: bool,
) -> dict[str, Any]:
    """Review the links of RUN in the browser: accept, reject, choose another, undo.

    RUN is a run folder that sameas align wrote. Decisions are stored in it at once, with who
    decided and when. sameas convert honours them, and sameas align --seeds RUN --reject RUN
    learns from them. The page needs the extra sameas[web].

    Examples:
      sameas review run
      sameas review run --reviewer "Ada Lovelace" --port 9000
      sameas review run --host 0.0.0.0 --token "a long secret of your choice"
    """
    require_web()
    from sameas.review.app import make_app
    from sameas.review.folder import Review
    from sameas.writing import is_run

    if not is_run(run):
        raise InputError(
            run, "is not a run folder (no run.json in it); make one with: sameas align"
        )
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
    listener = listen(host, *((PORT, 0) if port is None else (port,)))
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

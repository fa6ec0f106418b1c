"""``sameas review``: decide about links in the browser."""

from __future__ import annotations

import getpass
import secrets
import socket
from pathlib import Path
from threading import Timer
from typing import Annotated, Any
from urllib.parse import quote

from sameas.cli.command import command, note, run_argument, say
from sameas.cli.server import HERE, LAST_PORT, address_of, answer, is_loopback, listen, require_web
from sameas.errors import OptionError
from sameas.options.declare import Option

REVIEW_PORT = 8765
SHORTEST = 12
"""Characters of a token of `review` that others could try to guess."""
TOKEN = r"[A-Za-z0-9_-]{16,200}"
"""What a token of `serve` may be: 16 characters cannot be guessed."""


@command(
    """Review the links or clusters of RUN in the browser: accept, reject, choose another, undo.

    RUN is a run folder that sameas align or sameas dedupe wrote. Clusters are split and joined,
    and members are taken out. Decisions are stored in RUN at once, with who decided and when.
    sameas convert and sameas merge honour them, and the next sameas align or sameas dedupe learns
    from them with --seeds RUN --reject RUN. The page needs the extra sameas[web].
    """,
    examples="""
    sameas review run
    sameas review run --reviewer "Ada Lovelace" --port 9000
    sameas review run --host 0.0.0.0 --token "a long secret of your choice"
    """,
)
@run_argument
def review(
    run: Path,
    *,
    port: Annotated[
        int | None,
        Option(
            "The port of the page.  [8765, or any that is free]",
            metavar="N",
            least=0,
            most=LAST_PORT,
        ),
    ] = None,
    host: Annotated[
        str,
        Option(
            "The address to listen on; others than this machine need --token.", metavar="ADDRESS"
        ),
    ] = HERE,
    token: Annotated[
        str | None, Option("What opens the page, instead of a random text.", metavar="TEXT")
    ] = None,
    reviewer: Annotated[
        str | None,
        Option("Who decides, unless the page is told otherwise.  [your login]", metavar="NAME"),
    ] = None,
    no_browser: Annotated[bool, Option("Do not open the browser.")] = False,
) -> dict[str, Any]:
    """Serve the page until it is interrupted; its address."""
    require_web()
    from sameas.result.run_folder import read_run
    from sameas.web.review.access import Access
    from sameas.web.review.app import make_app
    from sameas.web.review.folder import Review

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
    listener = listen(host, *((REVIEW_PORT, 0) if port is None else (port,)))
    folder = Review(run, name)
    folder.check()
    say("Preparing the queue ...", err=True)
    if not folder.is_large:
        folder.prepare()
    names = () if local else (host.lower(), socket.gethostname().lower(), socket.getfqdn().lower())
    app = make_app(folder, Access(token, names))
    url = f"{address_of(listener)}?token={quote(token, safe='')}"
    if not local:
        note(
            "everyone who can reach this machine and has the token can see both graphs and "
            "decide; the connection is not encrypted"
        )
    say(f"Open {url}\nPress Ctrl+C to end.", err=True, always=True)
    if not no_browser:
        import webbrowser

        Timer(0.5, webbrowser.open, [url]).start()
    answer(app, listener)
    say(f"Decisions are in {run}.", err=True)
    return {"url": url, "run": str(run)}

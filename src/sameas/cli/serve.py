"""``sameas serve``: a reconciliation service."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from sameas.cli.command import INPUT, command, progress_display, say
from sameas.cli.review import TOKEN
from sameas.cli.server import HERE, LAST_PORT, address_of, answer, is_loopback, listen, require_web
from sameas.errors import OptionError
from sameas.graph.rdf.reading import Reading
from sameas.options.declare import Option
from sameas.options.options import Side

if TYPE_CHECKING:
    from sameas.graph.matched import MatchedGraph


@command(
    """Let OpenRefine and other tools ask which entity of a graph a name means.

    GRAPH is RDF or a table of triples, as sameas align takes them, or a run or benchmark folder,
    of which the right graph is served. The service speaks the Reconciliation Service API 0.2 and
    changes nothing. It ends with Ctrl-C.
    """,
    examples="""
    sameas serve things.ttl
    sameas serve run --side left --port 8080
    sameas serve things.nt.gz --host 0.0.0.0 --token "$TOKEN"
    """,
)
@click.argument("graph", type=INPUT)
def serve(
    graph: str,
    *,
    side: Annotated[Side, Option("Which graph of a run or benchmark folder.")] = "right",
    names: Annotated[
        str | None, Option("Names of entities: a file, or from the URIs.", metavar="FILE|uri")
    ] = None,
    host: Annotated[
        str, Option("Where to listen; beyond this machine only with --token.", metavar="ADDRESS")
    ] = HERE,
    port: Annotated[
        int,
        Option(
            "Where to listen; 0 for any that is free.",
            metavar="NUMBER",
            least=0,
            most=LAST_PORT,
        ),
    ] = 8000,
    token: Annotated[
        str | None,
        Option(
            "A secret that the address begins with: 16 or more letters and digits.", metavar="TEXT"
        ),
    ] = None,
    reading: Reading,
) -> dict[str, Any]:
    """Serve the graph until it is interrupted; the address and what is served."""
    require_web()
    from sameas.web.reconcile.app import make_app
    from sameas.web.reconcile.matching import make_service

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
        graph_read = _read(graph, side, names, reading)
        progress("reading", 1.0)
        service = make_service(graph_read, Path(graph).name, progress=progress)
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


def _read(place: str, side: Side, names: str | None, reading: Reading) -> MatchedGraph:
    from sameas.formats.pair import is_pair, read_pair, read_understood
    from sameas.result.run_folder import is_run, read_run

    if not is_pair(place):
        return read_understood(place, names=names, reading=reading)
    if is_run(Path(place)) and names is not None:
        raise OptionError("`names` has no effect on a run, which has names; leave it out")
    pair = read_run(place).pair if is_run(Path(place)) else read_pair(place, names=names)
    return pair.left if side == "left" else pair.right

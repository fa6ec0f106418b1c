"""``sameas explain``: why an entity has this partner, or none."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import click

from sameas.cli.command import command, run_argument, say
from sameas.errors import OptionError
from sameas.options.declare import Option
from sameas.options.options import Side


@command(
    """Say why ENTITY has the partner it has, or none; with OTHER, why not that one.

    RUN is a run folder that sameas align wrote. Entities are given by URI, or by a name (or the
    last part of the URI) that only they have. The score is taken apart: the parts add up to it.
    """,
    examples="""
    sameas explain run http://fr.dbpedia.org/resource/Londres
    sameas explain run Londres
    sameas explain run Londres "London, Ontario"
    sameas explain run London --side right --json
    sameas explain run Londres --drawing londres.svg
    """,
)
@run_argument
@click.argument("entity")
@click.argument("other", required=False)
def explain(
    run: Path,
    entity: str,
    other: str | None,
    *,
    side: Annotated[
        Side | None, Option("The graph that ENTITY is from.  [left, else right]")
    ] = None,
    drawing: Annotated[
        Path | None,
        Option(
            "Also draw both neighbourhoods side by side: .svg, or .html with the text.",
            metavar="FILE",
        ),
    ] = None,
) -> dict[str, Any]:
    """Print the explanation, and draw it if that was asked for; its parts."""
    import sameas
    from sameas.compute.atomic import replacing_file
    from sameas.result.export import check_place
    from sameas.result.overwriting import refuse_inputs

    if drawing is not None and drawing.suffix not in (".svg", ".html"):
        raise OptionError(f"`drawing` must end in .svg or .html, got {str(drawing)!r} instead")
    if drawing is not None:
        check_place(drawing, drawing.suffix, (".svg", ".html"), remedy="for a drawing")
        refuse_inputs(drawing, [run])
    explanation = sameas.read_run(run).explain(entity, other, side=side)
    written = ""
    if drawing is not None:
        text = explanation.drawing() if drawing.suffix == ".svg" else explanation.page()
        with replacing_file(drawing) as draft:
            draft.write_text(text, encoding="utf8")
        written = f"\n\nDrawing written to {drawing}."
    say(f"{explanation}{written}")
    return explanation.asdict()

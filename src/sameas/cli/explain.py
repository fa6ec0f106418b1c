"""``sameas explain``: why this pair, why not that one, why none."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from sameas.cli.command import FILE, SIDE, Command, flag, say
from sameas.errors import OptionError


@click.command(cls=Command)
@click.argument("run", type=FILE)
@click.argument("entity")
@click.argument("other", required=False)
@flag("--side", SIDE, "The graph that ENTITY is from.  [left, else right]")
@flag(
    "--drawing", "FILE", "Also draw both neighbourhoods side by side: .svg, or .html with the text."
)
def explain(
    run: Path,
    entity: str,
    other: str | None,
    side: Literal["left", "right"] | None,
    drawing: Path | None,
) -> dict[str, Any]:
    """Say why ENTITY has the partner it has, or none; with OTHER, why not that one.

    RUN is a run folder that sameas align wrote. Entities are given by URI, or by a name (or the
    last part of the URI) that only they have. The score is taken apart: the parts add up to it.

    Examples:
      sameas explain run http://fr.dbpedia.org/resource/Londres
      sameas explain run Londres
      sameas explain run Londres "London, Ontario"
      sameas explain run London --side right --json
      sameas explain run Londres --drawing londres.svg
    """
    import sameas
    from sameas.atomic import replacing_file

    if drawing is not None and drawing.suffix not in (".svg", ".html"):
        raise OptionError(f"`drawing` must end in .svg or .html, got {str(drawing)!r} instead")
    explanation = sameas.read_run(run).explain(entity, other, side=side)
    if drawing is not None:
        text = explanation.drawing() if drawing.suffix == ".svg" else explanation.page()
        with replacing_file(drawing) as draft:
            draft.write_text(text, encoding="utf8")
    written = "" if drawing is None else f"\n\nDrawing written to {drawing}."
    say(f"{explanation}{written}")
    return explanation.asdict()

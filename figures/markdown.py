"""Tables and texts in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from experiments.rendering import Bold, Table

FENCE = "```"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |".replace("|  |", "| |") for cells in lines)


def shown(made: Table) -> str:
    """A table of a benchmark in Markdown, under its caption."""
    rows = [
        [f"**{cell}**" if isinstance(cell, Bold) else cell for cell in row]
        for group in made.groups
        for row in group
    ]
    return f"*{made.caption}*\n\n{table(made.header, rows)}"


def fenced(text: str) -> str:
    """Text as a command prints it."""
    return f"{FENCE}text\n{text.strip(chr(10))}\n{FENCE}"

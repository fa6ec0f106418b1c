"""Tables and plots as data, and a page of them as Markdown or HTML with the same content.

Text may hold `code` between backticks; everything else in it is literal.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup, escape

NOTHING = "–"
"""Shown where there is no figure."""


class Bold(str):
    """The text of a cell that stands out."""


class Table(NamedTuple):
    """Texts under a header. The first ``labels`` columns are words, the others numbers.

    Rows come in groups; HTML draws a line between them.
    """

    caption: str
    header: Sequence[str]
    groups: Sequence[Sequence[Sequence[str]]]
    labels: int = 1


class Plot(NamedTuple):
    """A picture: the name of its files without ending, its caption, and the SVG to inline."""

    name: str
    caption: str
    svg: str = ""


class Section(NamedTuple):
    """A heading, a paragraph, and the tables and plots below it."""

    title: str
    text: str
    parts: Sequence[Table | Plot] = ()


def table_of(
    caption: str, header: Sequence[str], rows: Iterable[Sequence[str]], *, labels: int = 1
) -> Table:
    """A table with one group of rows."""
    return Table(caption, header, [list(rows)], labels)


def figure_rows(
    figures: Mapping[str, Mapping[str, Any]],
    columns: Iterable[str],
    show: Callable[[Any], str],
    best: Callable[[Iterable[Any]], Any] | None = None,
) -> list[list[str]]:
    """Figures by label and column as rows of texts; what ``best`` chooses of a column is bold.

    Figures that look the same are marked alike.
    """
    rows = [[label] for label in figures]
    for column in columns:
        found = [row.get(column) for row in figures.values()]
        present = [value for value in found if value is not None]
        mark = show(best(present)) if best and len(present) > 1 else None
        for row, value in zip(rows, found, strict=True):
            text = NOTHING if value is None else show(value)
            row.append(Bold(text) if text == mark else text)
    return rows


def score(value: float | None) -> str:
    """A score as the paper prints it.

    >>> score(0.8712), score(1.0), score(-0.024), score(None)
    ('.871', '1.000', '−.024', '–')
    """
    if value is None or not math.isfinite(value):
        return NOTHING
    return re.sub(r"^(−?)0\.", r"\1.", f"{value + 0.0:.3f}".replace("-", "−"))


def signed(value: float) -> str:
    """A difference of scores.

    >>> signed(0.001), signed(-0.024), signed(0.0)
    ('+.001', '−.024', '.000')
    """
    return f"+{score(value)}" if value > 0 else score(value)


seconds = "{:,.1f}".format
"""Seconds with one decimal."""
count = "{:,.0f}".format
"""A whole number with separators."""


def gib(size: float | None) -> str:
    """Bytes as GiB with two decimals."""
    return NOTHING if size is None else f"{size / 2**30:.2f}"


def render(
    template: str, title: str, paragraphs: Sequence[str], sections: Sequence[Section]
) -> str:
    """A page in GitHub's Markdown (report.md), or as one HTML page (report.html).

    In Markdown, plots are links to their SVG files; the page loads nothing else.
    """
    html = template == "report.html"
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=html,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["inline"] = _inline if html else _literal
    environment.tests |= {
        "plot": lambda part: isinstance(part, Plot),
        "bold": lambda cell: isinstance(cell, Bold),
    }
    page = environment.get_template(template)
    return page.render(title=title, paragraphs=paragraphs, sections=sections)


def _inline(text: str) -> Markup:
    """Text as HTML in which nothing but `code` has a meaning.

    >>> _inline("a < b, `c`")
    Markup('a &lt; b, <code>c</code>')
    """
    escaped = str(escape(" ".join(text.split())))
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped))


def _literal(text: str) -> str:
    """One line of text in which nothing but `code` has a meaning in Markdown.

    >>> _literal("a_b | *c* `d_e`")
    'a\\\\_b \\\\| \\\\*c\\\\* `d_e`'
    """
    pieces = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(
        piece.replace("|", r"\|")
        if piece.startswith("`") and len(piece) > 1
        else re.sub(r"([\\|*_`<>\[\]])", r"\\\1", piece)
        for piece in pieces
    )

"""A report as data, and that data as Markdown and as one HTML page with the same content.

Text may hold `code` between backticks; everything else in it is literal.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader
from markupsafe import Markup, escape

NOTHING = "–"
"""Shown where there is no figure."""


class Cell(NamedTuple):
    """The text of one cell of a table."""

    text: str
    bold: bool = False


class Table(NamedTuple):
    """Figures under a header. The first ``labels`` columns are words, the others numbers.

    Rows come in groups; HTML draws a line between them.
    """

    caption: str
    header: Sequence[str]
    groups: Sequence[Sequence[Sequence[Cell]]]
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


class Document(NamedTuple):
    """The whole report."""

    title: str
    paragraphs: Sequence[str]
    sections: Sequence[Section]


class Block(NamedTuple):
    """Rows that are compared with each other: figures by label and column.

    ``show`` turns a figure into text. ``best`` chooses the figure of each column that is bold.
    """

    rows: dict[str, dict[str, Any]]
    show: Callable[[Any], str]
    best: Callable[[Iterable[Any]], Any] | None = None


def grid(
    caption: str, columns: Mapping[str, str], blocks: Sequence[Block], *, corner: str = ""
) -> Table:
    """A table of figures; bold marks the best figure of each column within its block.

    Figures that look the same are marked alike. ``columns`` maps keys of rows to headers.
    """
    groups = []
    for rows, show, best in blocks:
        marks = {}
        for column in columns:
            present = [row[column] for row in rows.values() if row.get(column) is not None]
            marks[column] = show(best(present)) if best and len(present) > 1 else None
        group = []
        for label, row in rows.items():
            texts = {c: NOTHING if row.get(c) is None else show(row[c]) for c in columns}
            cells = [Cell(text, text == marks[column]) for column, text in texts.items()]
            group.append([Cell(label), *cells])
        groups.append(group)
    return Table(caption, [corner, *columns.values()], [group for group in groups if group])


def table_of(
    caption: str, header: Sequence[str], rows: Iterable[Sequence[str]], *, labels: int = 1
) -> Table:
    """A table of texts, in one group."""
    return Table(caption, header, [[[Cell(text) for text in row] for row in rows]], labels)


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


def seconds(value: float | None) -> str:
    """Seconds with one decimal."""
    return NOTHING if value is None else f"{value:,.1f}"


def gib(size: float | None) -> str:
    """Bytes as GiB with two decimals."""
    return NOTHING if size is None else f"{size / 2**30:.2f}"


def count(value: float | None) -> str:
    """A whole number with separators."""
    return NOTHING if value is None else f"{value:,.0f}"


def render(document: Document, template: str) -> str:
    """The document in GitHub's Markdown (report.md), or as one HTML page (report.html).

    In Markdown, plots are links to their SVG files; the page loads nothing else.
    """
    environment = Environment(
        loader=PackageLoader("sameas.reproduction", "."),
        autoescape=template == "report.html",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["inline"] = _inline if template == "report.html" else _literal
    environment.tests["plot"] = lambda part: isinstance(part, Plot)
    return environment.get_template(template).render(document._asdict())


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

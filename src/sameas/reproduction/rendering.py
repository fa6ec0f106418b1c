"""A report as data, and that data as Markdown and as one HTML page: both say the same.

Text may hold `code` between backticks; all else in it is taken literally.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

NOTHING = "–"
"""Stands where there is no figure."""


class Cell(NamedTuple):
    """What a table shows in one place."""

    text: str
    bold: bool = False


@dataclass(frozen=True)
class Table:
    """Figures under a header. The first ``labels`` columns are words, the others numbers.

    Rows come in groups that belong together; HTML draws a line between them.
    """

    caption: str
    header: Sequence[str]
    groups: Sequence[Sequence[Sequence[Cell]]]
    labels: int = 1


@dataclass(frozen=True)
class Plot:
    """A picture: the name of its files without ending, what it shows, and the SVG to inline."""

    name: str
    caption: str
    svg: str


@dataclass(frozen=True)
class Section:
    """A heading, a paragraph and what belongs to it."""

    title: str
    text: str
    parts: Sequence[Table | Plot] = ()


@dataclass(frozen=True)
class Document:
    """The whole report."""

    title: str
    paragraphs: Sequence[str]
    sections: Sequence[Section]


def score(value: float | None) -> str:
    """A score as the paper prints it.

    >>> score(0.8712), score(1.0), score(None)
    ('.871', '1.000', '–')
    """
    if value is None or not math.isfinite(value):
        return NOTHING
    text = f"{value:.3f}"
    return text.removeprefix("0") if value >= 0 else text.replace("-0.", "−.").replace("-", "−")


def difference(ours: float | None, theirs: float | None) -> str:
    """Ours less theirs, of the figures as they are shown, so that readers can check it.

    >>> difference(0.8712, 0.87), difference(0.9, 0.924), difference(0.9, 0.9)
    ('+.001', '−.024', '.000')
    """
    if ours is None or theirs is None or not (math.isfinite(ours) and math.isfinite(theirs)):
        return NOTHING
    value = round(round(ours, 3) - round(theirs, 3), 3)
    return f"+{score(value)}" if value > 0 else score(value + 0.0)


def seconds(value: float | None) -> str:
    """Seconds with one decimal."""
    return NOTHING if value is None or not math.isfinite(value) else f"{value:,.1f}"


def gib(size: int | None) -> str:
    """Bytes as GiB with two decimals."""
    return NOTHING if size is None else f"{size / 2**30:.2f}"


def count(value: int | None) -> str:
    """A whole number with separators."""
    return NOTHING if value is None else f"{value:,}"


class Block(NamedTuple):
    """Rows that are compared with each other: figures by label and column."""

    rows: Mapping[str, Mapping[str, Any]]
    show: Callable[[Any], str] = score
    best: Callable[[Iterable[float]], float] | None = max
    """Which figure of a column is the best, if any is."""


def grid(
    caption: str, columns: Mapping[str, str], blocks: Sequence[Block], *, corner: str = ""
) -> Table:
    """A table of blocks; the best figure of each column of a block is bold."""
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


def markdown(document: Document) -> str:
    """The report as GitHub's Markdown; plots are links to their SVG files."""
    lines = [f"# {_literal(document.title)}", ""]
    for paragraph in document.paragraphs:
        lines += [_literal(paragraph), ""]
    for section in document.sections:
        lines += [f"## {_literal(section.title)}", "", _literal(section.text), ""]
        for part in section.parts:
            lines += _markdown_plot(part) if isinstance(part, Plot) else _markdown_table(part)
    return "\n".join(lines)


def _markdown_plot(plot: Plot) -> list[str]:
    return [f"![{_literal(plot.caption)}]({plot.name}.svg)", ""]


def _markdown_table(table: Table) -> list[str]:
    marks = [":--" if i < table.labels else "--:" for i in range(len(table.header))]
    lines = [f"*{_literal(table.caption)}*", ""]
    lines += [_markdown_row([_literal(name) for name in table.header]), _markdown_row(marks)]
    for group in table.groups:
        for row in group:
            texts = [_literal(cell.text) for cell in row]
            lines.append(
                _markdown_row(
                    [f"**{t}**" if c.bold else t for t, c in zip(texts, row, strict=True)]
                )
            )
    return [*lines, ""]


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _literal(text: str) -> str:
    """Text in which nothing but `code` means something to Markdown; never more than a line.

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


STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1b; --paper: #fff; --faint: #666; --line: #ccc; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --paper: #161616; --faint: #a0a0a0; --line: #444; }
  svg { filter: invert(1) hue-rotate(180deg); }
}
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 68rem; color: var(--ink);
  background: var(--paper); font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; }
h2 { margin: 3rem 0 .5rem; padding-top: .75rem; border-top: 1px solid var(--line);
  font-size: 1.3rem; }
p { max-width: 46rem; }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; }
a { color: inherit; }
code { font-size: .9em; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; margin: 1.5rem 0; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding-bottom: .4rem; color: var(--faint); }
th, td { padding: .2rem .55rem; text-align: right; vertical-align: baseline; }
th { font-weight: 600; }
tbody th { font-weight: 400; }
tbody .word, .whole { white-space: nowrap; }
th:first-child, td:first-child { padding-left: 0; }
.word { text-align: left; }
thead tr { border-bottom: 2px solid var(--ink); }
tbody { border-bottom: 1px solid var(--line); }
td b { font-weight: 700; }
figure { margin: 1.5rem 0; }
figcaption { font-size: .875rem; color: var(--faint); }
svg { max-width: 100%; height: auto; }
svg * { stroke-linejoin: round; stroke-linecap: butt; }
@media print { body { max-width: none; padding: 0; } h2, .scroll { break-inside: avoid; } }
"""


def page(document: Document) -> str:
    """The report as one HTML page that needs nothing besides itself."""
    names = [_anchor(section.title) for section in document.sections]
    text = "\n".join(f"<p>{_inline(paragraph)}</p>" for paragraph in document.paragraphs)
    links = "\n".join(
        f'<a href="#{name}">{_inline(section.title)}</a>'
        for name, section in zip(names, document.sections, strict=True)
    )
    sections = "\n".join(
        _html_section(section, name) for name, section in zip(names, document.sections, strict=True)
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<link rel="icon" href="data:,">
<title>{html.escape(document.title)}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<h1>{_inline(document.title)}</h1>
{text}
<nav aria-label="Sections">
{links}
</nav>
{sections}
</main>
</body>
</html>
"""


def _html_section(section: Section, name: str) -> str:
    parts = "\n".join(
        _html_plot(part) if isinstance(part, Plot) else _html_table(part) for part in section.parts
    )
    return (
        f'<section id="{name}">\n<h2>{_inline(section.title)}</h2>\n'
        f"<p>{_inline(section.text)}</p>\n{parts}\n</section>"
    )


def _html_plot(plot: Plot) -> str:
    caption = _inline(plot.caption)
    label = html.escape(plot.caption)
    svg = plot.svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
    return f'<figure id="plot-{plot.name}">\n{svg}\n<figcaption>{caption}</figcaption>\n</figure>'


def _html_table(table: Table) -> str:
    def mark(column: int) -> str:
        return ' class="word"' if column < table.labels else ""

    # Long headers may break between words, but not at the hyphen of "zh-en".
    names = [
        re.sub(r"\S+-\S+", r'<span class="whole">\g<0></span>', _inline(name))
        for name in table.header
    ]
    head = "".join(f'<th scope="col"{mark(i)}>{name}</th>' for i, name in enumerate(names))
    lines = [f"<caption>{_inline(table.caption)}</caption>", f"<thead><tr>{head}</tr></thead>"]
    for group in table.groups:
        lines.append("<tbody>")
        for row in group:
            first = f'<th scope="row"{mark(0)}>{_html_cell(row[0])}</th>'
            rest = "".join(f"<td{mark(i)}>{_html_cell(c)}</td>" for i, c in enumerate(row) if i)
            lines.append(f"<tr>{first}{rest}</tr>")
        lines.append("</tbody>")
    return '<div class="scroll"><table>\n' + "\n".join(lines) + "\n</table></div>"


def _html_cell(cell: Cell) -> str:
    return f"<b>{_inline(cell.text)}</b>" if cell.bold else _inline(cell.text)


def _inline(text: str) -> str:
    """Text as HTML: nothing but `code` means something.

    >>> _inline("a < b, `c`")
    'a &lt; b, <code>c</code>'
    """
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(" ".join(text.split())))


def _anchor(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")

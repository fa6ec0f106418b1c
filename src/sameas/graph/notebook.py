"""Small HTML for notebooks: tables and bars that need no script, in light and dark themes.

Colours are those of the page, lines and bars half transparent, so that both themes show them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import polars as pl

EXAMPLES = 5
"""Entities that are shown of a graph."""
LINE = "rgba(128,128,128,.35)"
CELL = f"padding:.15em .8em .15em 0;border-bottom:1px solid {LINE};vertical-align:top;"
BLUE, GREEN, RED = "rgba(70,120,220,.75)", "rgba(40,150,90,.75)", "rgba(210,70,60,.75)"


def html_card(title: str, *parts: str) -> str:
    """A heading with what follows it."""
    inside = "".join(f'<div style="margin:.4em 0">{part}</div>' for part in parts if part)
    return (
        '<div style="font-size:13px;line-height:1.4;max-width:60em;overflow-x:auto">'
        f'<div style="font-weight:600">{escape(title)}</div>{inside}</div>'
    )


def html_entities(title: str, names: pl.Series, entities: pl.Series) -> str:
    """A heading and the first entities of a graph, with their names."""
    some = zip(names.head(EXAMPLES), entities.head(EXAMPLES), strict=True)
    return html_card(title, html_table(some, header=("name", "entity")))


def html_table(rows: Iterable[Sequence[Any]], *, header: Sequence[str] = ()) -> str:
    """A table; numbers are aligned right, and texts are escaped."""
    lines = [_row(header, "th")] if header else []
    lines += [_row(row, "td") for row in rows]
    return f'<table style="border-collapse:collapse;margin:0">{"".join(lines)}</table>'


def _row(cells: Sequence[Any], tag: str) -> str:
    return f"<tr>{''.join(_cell(cell, tag) for cell in cells)}</tr>"


def _cell(value: Any, tag: str) -> str:
    is_number = isinstance(value, int | float)
    align = "right" if is_number and tag == "td" else "left"
    weight = "font-weight:normal;opacity:.7;" if tag == "th" else ""
    text = shown(value)
    return f'<{tag} style="{CELL}{weight}text-align:{align}">{text}</{tag}>'


def shown(value: Any) -> str:
    """A value as HTML; fractions have three decimals.

    >>> shown(1234), shown(0.5), shown(None), shown("<b>")
    ('1,234', '0.500', '–', '&lt;b&gt;')
    """
    if isinstance(value, HTML):
        return value
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.3f}"
    return escape(f"{value:,}" if isinstance(value, int) else str(value))


class HTML(str):
    """Text that is HTML already."""

    __slots__ = ()


def html_bar(start: float, width: float, colour: str = BLUE) -> HTML:
    """A bar in a cell, from ``start`` and as wide as ``width`` percent."""
    return HTML(
        '<div style="position:relative;width:14em;height:.9em">'
        f'<div style="position:absolute;left:{start:.1f}%;width:{max(width, 0.6):.1f}%;height:100%;'
        f'background:{colour};border-radius:2px"></div></div>'
    )


def html_columns(heights: Sequence[float], titles: Sequence[str]) -> str:
    """A row of columns, each as high as its share of the highest, with a title each."""
    most = max(heights, default=0.0) or 1.0
    columns = "".join(
        f'<div title="{escape(title)}" '
        f'style="flex:1;height:{max(100 * height / most, 2 * (height > 0)):.1f}%;'
        f'background:{BLUE};border-radius:1px 1px 0 0"></div>'
        for height, title in zip(heights, titles, strict=True)
    )
    return (
        '<div style="display:flex;align-items:flex-end;gap:1px;height:4em;width:22em;'
        f'border-bottom:1px solid {LINE}">{columns}</div>'
    )

"""How numbers, names and relations are said, and how text is laid out."""

from __future__ import annotations

import math
import textwrap
import unicodedata
from collections.abc import Sequence

from sameas.explanation.result import Comparison, Entity, Explanation, Relation, Scale
from sameas.iri import last_part

WIDTH = 100
LONGEST = 40
"""Columns of a name in a table."""


def label(entity: Entity) -> str:
    """The name of an entity, or the last part of its URI, fit to be shown."""
    return shown_text(entity.name) or shown_text(last_part(entity.uri))


def shown_text(text: str) -> str:
    """Text without what could upset a terminal or a page: control characters become spaces.

    >>> shown_text("a\\x1b[31m\\nb")
    'a [31m b'
    """
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(plain.split())


def relation_text(relations: Sequence[Relation]) -> str:
    """Relations as they are read from the entity outwards.

    >>> relation_text([Relation("http://x.org/capital"), Relation("http://x.org/in", True)])
    'capital, is in of'
    """
    names = [
        f"is {shown_text(last_part(one.uri))} of" if one.inverse else shown_text(last_part(one.uri))
        for one in relations
    ]
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return ", ".join(names[:2]) + more


def times(score: float) -> str:
    """How many times likelier something is, from its log-odds.

    >>> times(0.7), times(9.2), times(50.0)
    ('2.0', '9,900', 'more than a million million')
    """
    if score > 27.6:
        return "more than a million million"
    factor = math.exp(score)
    if factor < 10:
        return f"{factor:.1f}"
    return f"{float(f'{factor:.2g}'):,.0f}"


def meaning(score: float, scale: Scale) -> str:
    """What a score says."""
    if scale == "cosine":
        return (
            f"Score {score:.3f}: the mean of how alike their names, their neighbours and so on "
            "are (1 for the same, 0 for nothing in common)."
        )
    if score > 0:
        return (
            f"Score {signed(score)}: by all that is known of the two, it is {times(score)} times "
            "likelier that they are the same than that neither has a partner."
        )
    return (
        f"Score {signed(score)}: by all that is known of the two, it is {times(-score)} times "
        "likelier that neither has a partner than that they are the same."
    )


def far_of(told: Explanation, comparison: Comparison) -> Entity:
    """The entity of the other side."""
    return comparison.right if told.side == "left" else comparison.left


def neighbour_text(entity: Entity, relations: Sequence[Relation]) -> str:
    """A neighbour with the relations that lead to it."""
    name = cut(label(entity), 34)
    return f"{cut(relation_text(relations), 34)}: {name}" if relations else f"itself: {name}"


def signed_figure(score: float, scale: Scale) -> str:
    """A score with its sign, in as many digits as its scale has."""
    return signed(score, 2 if scale == "log-odds" else 3)


def plain_figure(score: float, scale: Scale) -> str:
    """A score as such, in as many digits as its scale has."""
    return f"{score:.2f}" if scale == "log-odds" else f"{score:.3f}"


def just_above(score: float, scale: Scale) -> str:
    """The next larger figure of two (or three) decimals."""
    digits = 2 if scale == "log-odds" else 3
    return f"{math.floor(score * 10**digits + 1) / 10**digits:.{digits}f}"


def lower_first(sentence: str) -> str:
    """A sentence that goes on from another one."""
    return sentence[:1].lower() + sentence[1:]


def signed(score: float, digits: int = 2) -> str:
    """A number with its sign."""
    return f"{round(score, digits) + 0.0:+.{digits}f}"  # adding zero makes -0 a plain one


def cut(text: str, longest: int = LONGEST) -> str:
    """Text of at most so many columns."""
    text = shown_text(text)
    return text if width_of(text) <= longest else text[: longest - 3].rstrip() + "..."


def width_of(text: str) -> int:
    """Columns of a terminal that a text takes up."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    marks = sum(unicodedata.combining(letter) > 0 for letter in text)
    return len(text) + wide - marks


def text_table(rows: Sequence[Sequence[str]], *, numeric: set[int]) -> str:
    """Rows as lines of text, their columns below each other."""
    widths = [max(width_of(row[place]) for row in rows) for place in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = []
        for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
            gap = " " * (width - width_of(cell))
            cells.append(gap + cell if place in numeric else cell + gap)
        lines.append("  " + "  ".join(cells).rstrip())
    return "\n".join(lines)


def wrapped(text: str, indent: str = "") -> str:
    """Text in lines of the width of a page."""
    lines = textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines)

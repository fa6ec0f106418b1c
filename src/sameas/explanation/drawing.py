"""The two neighbourhoods of a pair side by side, as SVG or as an HTML page with the text."""

from __future__ import annotations

from itertools import zip_longest

from jinja2 import Environment, PackageLoader

from sameas.explanation.result import Explanation, Neighbour
from sameas.explanation.words import label, printable, relation_text

ROWS = 12
"""Neighbours of each sort that are drawn; others are counted."""

_templates = Environment(
    loader=PackageLoader("sameas.explanation", "."),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
)


def draw(explanation: Explanation) -> str:
    """The drawing as SVG: shared neighbours on one line each, joined and highlighted."""
    around, pair = explanation.neighbourhood, explanation.shown
    rows: list[Neighbour] = []
    more: dict[str, int] = {}
    if around is not None:
        rows += around.shared[:ROWS]
        for left, right in zip_longest(around.left_only[:ROWS], around.right_only[:ROWS]):
            rows.append(
                Neighbour(
                    left=left.left if left else None,
                    left_relations=left.left_relations if left else (),
                    right=right.right if right else None,
                    right_relations=right.right_relations if right else (),
                )
            )
        more = {
            "shared": around.more_shared + len(around.shared) - ROWS,
            "left": around.more_left + len(around.left_only) - ROWS,
            "right": around.more_right + len(around.right_only) - ROWS,
        }
    return _templates.get_template("drawing.svg.jinja").render(
        entity=explanation.entity,
        pair=pair,
        linked=pair is not None and explanation.partner in (pair.left, pair.right),
        rows=list(enumerate(rows))[::-1],  # from below, so that highlighted edges lie on top
        shared=min(len(around.shared), ROWS) if around else 0,
        more=more,
        label=label,
        printable=printable,
        shorten=_shorten,
        relation_text=relation_text,
    )


def page(explanation: Explanation) -> str:
    """The drawing and the words as one HTML page."""
    return _templates.get_template("page.html.jinja").render(
        title=label(explanation.entity), drawing=draw(explanation), text=str(explanation)
    )


def _shorten(text: str) -> str:
    return text if len(text) <= 44 else f"{text[:43]}\u2026"

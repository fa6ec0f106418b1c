"""The two neighbourhoods of a pair side by side, as SVG or as an HTML page with the text."""

from __future__ import annotations

from itertools import zip_longest

from jinja2 import Environment, PackageLoader

from sameas.explanation.words import Explanation, label, printable, relation_text

ROWS = 12
"""Neighbours of each sort that are drawn; others are counted."""


def draw(explanation: Explanation) -> str:
    """The drawing as SVG: shared neighbours on one line each, joined and highlighted."""
    around, pair, rows = explanation.neighbourhood, explanation.shown, []
    if around is not None:
        rows = [(row, row) for row in around.shared[:ROWS]]
        rows += zip_longest(around.left_only[:ROWS], around.right_only[:ROWS])
    return _templates.get_template("drawing.svg.jinja").render(
        entity=explanation.entity,
        pair=pair,
        linked=pair is not None and explanation.partner in (pair.left, pair.right),
        around=around,
        rows=list(enumerate(rows))[::-1],  # from below, so that highlighted edges lie on top
        most=ROWS,
    )


def page(explanation: Explanation) -> str:
    """The drawing and the words as one HTML page."""
    return _templates.get_template("page.html.jinja").render(
        title=label(explanation.entity), drawing=draw(explanation), text=str(explanation)
    )


_templates = Environment(
    loader=PackageLoader("sameas.explanation", "."),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.filters |= {"label": label, "printable": printable, "relations": relation_text}

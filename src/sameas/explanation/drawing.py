"""The two neighbourhoods of a pair side by side, as a small drawing that needs nothing else."""

from __future__ import annotations

from html import escape

from sameas.explanation.phrases import label, relation_text, shown_text
from sameas.explanation.result import Entity, Explanation, Neighbour, Relation

ROWS = 12
"""Neighbours of each sort that are drawn; others are counted."""
WIDTH, BOX, STEP, TOP = 980, 340, 46, 120
LEFT, RIGHT = 40, WIDTH - 40 - BOX
"""Where the boxes of the left and of the right side begin."""
STYLE = """
text { font: 13px sans-serif; fill: #1a1a1a }
.small { font-size: 11px; fill: #555555 }
.title { font-size: 15px; font-weight: bold }
.box { fill: #ffffff; stroke: #999999 }
.met { fill: #e8f3ec; stroke: #1b7f4d; stroke-width: 1.5 }
.centre { fill: #e6eefb; stroke: #2457a6; stroke-width: 2 }
.edge { stroke: #bbbbbb; fill: none }
.met-edge { stroke: #1b7f4d; stroke-width: 2; fill: none }
.link { stroke: #2457a6; stroke-width: 3 }
.no-link { stroke: #b3423a; stroke-width: 2; stroke-dasharray: 6 5 }
"""


def draw(explanation: Explanation) -> str:
    """The drawing as SVG: shared neighbours on one line each, joined and highlighted."""
    around, pair = explanation.neighbourhood, explanation.other or explanation.comparison
    if around is None or pair is None:
        return _document(
            80, [_text(LEFT, 40, f"{label(explanation.entity)}: nobody to compare with", "title")]
        )
    linked = explanation.partner in (pair.left, pair.right)
    parts = [_text(LEFT, 28, _title(explanation, linked), "title")]
    rows = [*around.shared[:ROWS]]
    alone = [around.left_only[:ROWS], around.right_only[:ROWS]]
    for place in range(max(len(some) for some in alone)):
        ours, theirs = (some[place] if place < len(some) else None for some in alone)
        rows.append(_beside(ours, theirs))
    bottom = TOP + STEP * len(rows)
    # From below, so that the highlighted edges lie on top.
    for place, row in reversed(list(enumerate(rows))):
        parts += _row(row, TOP + STEP * place, met=place < min(len(around.shared), ROWS))
    parts.append(f'<path class="{"link" if linked else "no-link"}" d="M{LEFT + BOX} 65H{RIGHT}"/>')
    parts += [_box(LEFT, 45, pair.left, "centre"), _box(RIGHT, 45, pair.right, "centre")]
    more = [
        (around.more_shared + len(around.shared) - ROWS, "shared ones", LEFT + BOX / 2 + 90),
        (around.more_left + len(around.left_only) - ROWS, "only here", LEFT + 12),
        (around.more_right + len(around.right_only) - ROWS, "only here", RIGHT + 12),
    ]
    parts += [
        _text(x, bottom + 16, f"and {count:,} more {what}", "small")
        for count, what, x in more
        if count > 0
    ]
    return _document(bottom + 40, parts)


def page(explanation: Explanation) -> str:
    """The drawing and the words as one HTML page."""
    title = escape(shown_text(label(explanation.entity)))
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/><title>{title}</title>'
        "</head>\n<body>\n"
        f"{draw(explanation)}<pre>{escape(_printable(str(explanation)))}</pre>\n</body></html>\n"
    )


def _title(explanation: Explanation, linked: bool) -> str:
    score = (explanation.other or explanation.comparison).score  # type: ignore[union-attr]
    return f"{'Linked' if linked else 'Not linked'}, score {score:.2f}"


def _beside(ours: Neighbour | None, theirs: Neighbour | None) -> Neighbour:
    return Neighbour(
        left=ours.left if ours else None,
        left_relations=ours.left_relations if ours else (),
        right=theirs.right if theirs else None,
        right_relations=theirs.right_relations if theirs else (),
    )


def _row(row: Neighbour, y: int, *, met: bool) -> list[str]:
    """One line: a neighbour on each side, with the edges that lead to them."""
    kind, edge = ("met", "met-edge") if met else ("box", "edge")
    parts = []
    middle = y + 20
    if row.left is not None:
        parts.append(f'<path class="{edge}" d="M{LEFT + 12} 85V{middle}H{LEFT + 30}"/>')
        parts.append(_box(LEFT + 30, y, row.left, kind, relations=row.left_relations))
    if row.right is not None:
        end = RIGHT + BOX
        parts.append(f'<path class="{edge}" d="M{end - 12} 85V{middle}H{end - 30}"/>')
        parts.append(_box(RIGHT, y, row.right, kind, relations=row.right_relations))
    if met:
        parts.append(f'<path class="met-edge" d="M{LEFT + BOX} {middle}H{RIGHT}"/>')
    return parts


def _box(x: int, y: int, entity: Entity, kind: str, *, relations: tuple[Relation, ...] = ()) -> str:
    """An entity in its box, with the relations that lead to it; its URI is shown on pointing."""
    name, width = label(entity), BOX - 30 if kind != "centre" else BOX
    inside = _text(x + 10, y + 25, name, "title")
    if kind != "centre":
        inside = _text(x + 10, y + 17, name) + _text(
            x + 10, y + 33, relation_text(relations), "small"
        )
    return (
        f'<g><title>{_safe(entity.uri)}</title><rect class="{kind}" x="{x}" y="{y}" '
        f'width="{width}" height="40" rx="6"/>{inside}</g>'
    )


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    text = shown_text(text)
    text = text if len(text) <= 44 else text[:43] + "\u2026"
    mark = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}" y="{y:g}"{mark}>{_safe(text)}</text>'


def _document(height: int, parts: list[str]) -> str:
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}">\n<style>{STYLE}</style>\n'
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>\n{body}\n</svg>\n'
    )


def _safe(text: str) -> str:
    return escape(shown_text(text))


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() or letter == "\n" else " " for letter in text)

"""Draw docs/images/links.svg, the picture of README and home page, from a run on the demo.

``python scripts/draw_picture.py``, from the root of the repository. Belgium, its capital, its
languages and its currency in both graphs, the links that ``sameas.align`` makes between them, and
their confidence.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

import sameas

FILE = Path(__file__).parents[1] / "docs" / "images" / "links.svg"
CENTRE = "Belgique"
SHOWN = ("Bruxelles", "français", "néerlandais", "euro", "Nations Unies")
WIDTH, HEIGHT, ROW = 760, 370, 54
STYLE = """
text { font: 15px system-ui, sans-serif; fill: #1f2933; }
.relation { font-size: 12px; fill: #616e7c; }
.node { fill: #ffffff; stroke: #7b8794; }
.edge { stroke: #9aa5b1; stroke-width: 1.3; }
.link { stroke: #2b6cb0; stroke-width: 2; stroke-dasharray: 5 4; }
.confidence { font-size: 12px; fill: #2b6cb0; }
.alone { fill: #f5f7fa; stroke: #cbd2d9; stroke-dasharray: 3 3; }
"""


def node(x: float, y: float, name: str, *, alone: bool = False) -> str:
    """A box with a name."""
    return (
        f'<rect x="{x - 65}" y="{y - 17}" width="130" height="34" rx="8" '
        f'class="{"alone" if alone else "node"}"/>'
        f'<text x="{x}" y="{y + 5}" text-anchor="middle">{escape(name)}</text>'
    )


def relation_of(pair: sameas.MatchedPair, side: int, one: int, other: int) -> str:
    """The last part of the IRI of a relation between two entities; empty if there is none."""
    graph = pair.graphs[side]
    for head, relation, tail in graph.triples:
        if {head, tail} == {one, other}:
            return str(graph.relations[int(relation)]).rpartition("/")[2]
    return ""


def draw() -> str:
    """The picture as SVG."""
    alignment = sameas.align(sameas.read_pair(sameas.DEMO))
    pair = alignment.pair
    places = [{name: i for i, name in enumerate(graph.names)} for graph in pair.graphs]
    links = {row["left"]: row for row in alignment.links.iter_rows(named=True)}
    entities = [graph.entities for graph in pair.graphs]
    right_of = {str(entity): i for i, entity in enumerate(entities[1])}
    centre = places[0][CENTRE]
    home = right_of[links[entities[0][centre]]["right"]]
    parts, middle = [], 203.0
    for number, name in enumerate(SHOWN):
        y, left = 95 + number * ROW, places[0][name]
        link = links.get(entities[0][left])
        parts.append(f'<line x1="150" y1="{middle}" x2="230" y2="{y}" class="edge"/>')
        parts.append(node(295, y, name, alone=link is None))
        relation = relation_of(pair, 0, centre, left)
        parts.append(f'<text x="300" y="{y + 31}" class="relation" text-anchor="middle">'
                     f"{escape(relation)}</text>")  # fmt: skip
        if link is None:
            continue
        right = right_of[link["right"]]
        parts.append(f'<line x1="360" y1="{y}" x2="400" y2="{y}" class="link"/>')
        parts.append(f'<text x="380" y="{y - 8}" class="confidence" text-anchor="middle">'
                     f"{link['confidence']:.2f}</text>")  # fmt: skip
        relation = relation_of(pair, 1, home, right)
        if relation:
            parts.append(f'<line x1="530" y1="{y}" x2="610" y2="{middle}" class="edge"/>')
        parts.append(node(465, y, pair.right.names[right]))
        parts.append(f'<text x="465" y="{y + 31}" class="relation" text-anchor="middle">'
                     f"{escape(relation)}</text>")  # fmt: skip
    parts += [node(85, middle, CENTRE), node(675, middle, pair.right.names[home])]
    confidence = links[entities[0][centre]]["confidence"]
    parts.append(f'<path d="M85,{middle - 17} C85,5 675,5 675,{middle - 17}" fill="none" '
                 'class="link"/>')  # fmt: skip
    parts.append(f'<text x="380" y="34" class="confidence" text-anchor="middle">owl:sameAs '
                 f"{confidence:.2f}</text>")  # fmt: skip
    label = "Belgium in a French and in an English graph, with the links found between them"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{label}"><style>{STYLE}</style>'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>{"".join(parts)}</svg>\n'
    )


if __name__ == "__main__":
    FILE.write_text(draw(), encoding="utf8")

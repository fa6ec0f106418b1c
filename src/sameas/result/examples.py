"""Links to look at first: the surest ones, and the least certain ones."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from sameas.graph.iri import last_part
from sameas.graph.matched import MatchedGraph, MatchedPair

SHOWN = 5
"""Links of each sort."""


class Example(NamedTuple):
    """A link by the names of its two entities; by ids where there are no names."""

    left: str
    right: str
    confidence: float | None


class Examples(NamedTuple):
    """The surest links, best first, and the least certain ones, worst first; never the same."""

    surest: list[Example]
    doubtful: list[Example]


def example_links(
    links: pl.DataFrame, pair: MatchedPair, seeds: pl.DataFrame | None, count: int = SHOWN
) -> Examples:
    """Some of the surest links, and some of the least certain ones; ties are broken by id.

    Links that were given as seeds are left out: they tell nothing.
    """
    if seeds is not None:
        links = links.join(seeds, on=["left", "right"], how="anti")
    order = links.sort("confidence", "score", "left", "right")
    doubtful = order.head(min(count, len(order) // 2))
    surest = order.tail(min(count, len(order) - len(doubtful))).reverse()
    return Examples(*(_named(table, pair) for table in (surest, doubtful)))


def _named(links: pl.DataFrame, pair: MatchedPair) -> list[Example]:
    left, right = _names(pair.left, links["left"]), _names(pair.right, links["right"])
    return [Example(*each) for each in zip(left, right, links["confidence"], strict=True)]


def _names(graph: MatchedGraph, uris: pl.Series) -> list[str]:
    names = graph.names.gather(graph.positions(uris)) if len(uris) else uris
    return [name or last_part(uri) for name, uri in zip(names, uris, strict=True)]

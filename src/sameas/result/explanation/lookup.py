"""Which entity is meant: by URI, by name, or by the last part of its URI."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
from rapidfuzz import fuzz, process

from sameas.errors import OptionError
from sameas.graph.iri import last_part
from sameas.graph.matched import MatchedGraph, MatchedPair
from sameas.options.options import Side
from sameas.result.explanation.result import SIDES
from sameas.text.folding import folded

NEAREST = 5
"""Names suggested where none fits."""
ALIKE = 40
"""Percent of their letters in which suggested names and what was asked for agree at least."""


def find_entity(pair: MatchedPair, wanted: str, side: Side | None = None) -> tuple[int, int]:
    """The side (0 or 1) and the position of the entity that is meant.

    The left graph is searched first, unless ``side`` says which one.
    """
    graphs: dict[Side, MatchedGraph] = {
        name: getattr(pair, name) for name in SIDES if side in (None, name)
    }
    for levels in zip(*(_meant(graph, wanted) for graph in graphs.values()), strict=True):
        for (name, graph), which in zip(graphs.items(), levels, strict=True):
            positions = which.arg_true().to_list()
            if len(positions) == 1:
                return SIDES.index(name), positions[0]
            if positions:
                uris = graph.entities.gather(positions[:NEAREST]).to_list()
                raise OptionError(
                    f'"{wanted}" is the name of {len(positions)} {name} entities; give the URI of '
                    f"one: {', '.join(uris)}{' ...' if len(positions) > NEAREST else ''}"
                )
    where = f"the {side} graph" if side else "either graph"
    uris, names = (
        pl.concat([getattr(graph, each) for graph in graphs.values()]).to_list()
        for each in ("entities", "names")
    )
    text, *texts = (name or None for name in folded(pl.Series([last_part(wanted), *names])))
    alike = process.extract(text, texts, scorer=fuzz.ratio, limit=NEAREST, score_cutoff=ALIKE)
    nearest = ", ".join(f'"{names[place]}" ({uris[place]})' for *_, place in alike)
    hint = f"; nearest are {nearest}" if nearest else ""
    raise OptionError(f'no entity of {where} has the URI or name "{wanted}"{hint}')


def _meant(graph: MatchedGraph, wanted: str) -> Iterator[pl.Series]:
    """Whether each entity is meant: by URI; by name or last part of it; by these in any case."""
    if not wanted:
        return
    yield graph.entities == wanted
    last = graph.entities.str.strip_chars_end("/#").str.extract(r"([^/#]*)$")
    yield (graph.names == wanted) | (last == wanted)
    names, last, (loose,) = (
        texts.str.replace_all("_", " ", literal=True).str.strip_chars().str.to_lowercase()
        for texts in (graph.names, last, pl.Series([wanted]))
    )
    if loose:
        yield (names == loose) | (last == loose)

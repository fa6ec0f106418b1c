"""What a finished alignment recorded, in memory or in a run folder, and who is meant by a name."""

from __future__ import annotations

from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from sameas.alignment import Alignment
from sameas.errors import OptionError
from sameas.explanation.result import Entity, Side
from sameas.features import folded, ngram_rows
from sameas.graph import Graph, GraphPair
from sameas.iri import last_part
from sameas.options import Options

if TYPE_CHECKING:
    from sameas.writing.run import Run

NEAREST = 5
"""Names suggested where none fits."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Record:
    """The tables of an alignment and the graphs that it is about."""

    pair: GraphPair
    options: Options
    links: pl.DataFrame
    candidates: pl.DataFrame
    unmatched: pl.DataFrame
    anchors: pl.DataFrame | None
    prices: pl.DataFrame | None
    price: float | None
    """Of staying alone, after refinement."""

    def graph(self, side: Side) -> Graph:
        """One of the two graphs."""
        return self.pair.left if side == "left" else self.pair.right

    def entity(self, side: Side, position: int) -> Entity:
        """The entity at a position."""
        graph = self.graph(side)
        return Entity(graph.entities[position], graph.names[position] or "")


def record_of(source: Alignment | Run | str | PathLike[str]) -> Record:
    """The record of an alignment, of an opened run or of a run folder."""
    if isinstance(source, Alignment):
        tables: Alignment | Run = source
        facts = source.facts
        anchors, prices, pair, options = source.anchors, source.prices, source.pair, source.options
    else:
        from sameas.writing.run import Run, read_run

        run = source if isinstance(source, Run) else read_run(source)
        tables, facts = run, run.record.get("summary", {})
        anchors, prices = run.table("anchors"), run.table("prices")
        pair, options = run.pair(), _options(run.record.get("options", {}))
    if options.method != "seu":
        raise OptionError(
            f"explanations are there for method 'seu', got a run of {options.method!r} instead"
        )
    return Record(
        pair=pair,
        options=options,
        links=tables.links,
        candidates=tables.candidates,
        unmatched=tables.unmatched,
        anchors=anchors,
        prices=prices,
        price=facts.get("price"),
    )


def _options(values: dict[str, Any]) -> Options:
    """The options that a run folder recorded; unknown ones are those of later versions."""
    known = {field.name for field in fields(Options)}
    chosen = {name: value for name, value in values.items() if name in known}
    for name in ("word_vectors", "embeddings", "seeds", "reject", "among"):
        if chosen.get(name) not in (None, "gold"):
            chosen[name] = Path(chosen[name])
    return Options(**chosen)


def opposite(side: Side) -> Side:
    """The other side."""
    return "right" if side == "left" else "left"


def find_entity(record: Record, wanted: str, side: Side | None) -> tuple[Side, int]:
    """The side and position of the entity that is meant: by URI, or by a name that only it has.

    The last part of its URI will do for a name. The left graph is asked first.
    """
    sides: tuple[Side, ...] = ("left", "right") if side is None else (side,)
    for ask in (_by_uri, _by_name, _by_loose_name):
        for own in sides:
            found = ask(record.graph(own), wanted)
            if len(found) == 1:
                return own, int(found[0])
            if len(found) > 1:
                uris = record.graph(own).entities.gather(found[:NEAREST]).to_list()
                raise OptionError(
                    f'"{wanted}" is the name of {len(found)} {own} entities; give the URI of one: '
                    f"{', '.join(uris)}{' ...' if len(found) > NEAREST else ''}"
                )
    where = f"the {side} graph" if side else "either graph"
    nearest = [f'"{name}" ({uri})' for uri, name in _nearest(record, wanted, sides)]
    hint = f"; nearest are {', '.join(nearest)}" if nearest else ""
    raise OptionError(f'no entity of {where} has the URI or name "{wanted}"{hint}')


def _by_uri(graph: Graph, wanted: str) -> list[int]:
    return (graph.entities == wanted).arg_true().to_list()


def _by_name(graph: Graph, wanted: str) -> list[int]:
    return ((graph.names == wanted) | (_last_parts(graph) == wanted)).arg_true().to_list()


def _by_loose_name(graph: Graph, wanted: str) -> list[int]:
    """Whatever the case, and whether words are apart by spaces or underscores."""
    plain = wanted.replace("_", " ").strip().lower()
    texts = (
        text.str.replace_all("_", " ", literal=True).str.strip_chars().str.to_lowercase()
        for text in (graph.names, _last_parts(graph))
    )
    first, second = texts
    return ((first == plain) | (second == plain)).arg_true().to_list() if plain else []


def _last_parts(graph: Graph) -> pl.Series:
    return graph.entities.str.strip_chars_end("/#").str.extract(r"([^/#]*)$")


def _nearest(record: Record, wanted: str, sides: tuple[Side, ...]) -> list[tuple[str, str]]:
    """URI and name of the entities whose names look most like what was asked for."""
    uris = pl.concat([record.graph(side).entities for side in sides])
    names = pl.concat([record.graph(side).names.fill_null("") for side in sides])
    word = last_part(wanted)
    every = pl.concat([names, pl.Series(names.name, [word], dtype=pl.String)])
    rows = ngram_rows(folded(every), n=2, boundaries=True).sparse
    alike = (rows[:-1] @ rows[[-1]].T).toarray().ravel()
    best = np.argsort(-alike, kind="stable")[:NEAREST]
    return [(uris[int(place)], names[int(place)]) for place in best if alike[place] > 0]

"""Run folders: everything about one alignment, so that nothing has to be computed again.

Format 1:
  run.json            format, version of sameas, options and summary figures
  links.parquet       left, right, score, confidence
  candidates.parquet  left, right, rank, score
  unmatched.parquet   side, entity, reason, candidate, score (of the best candidate)
  relations.parquet   left, right, inverse, match, edges (which relation matches which)
  anchors.parquet     left, right, trust (links that refinement learned from)
  prices.parquet      side, entity, price (of the exact solver)
  gold.parquet        left, right (where gold links were known)
  gold_ranks.parquet  left, right, rank of the gold links between candidates
  left/, right/       entities.parquet (entity, name), triples.parquet (head, relation, tail),
                      attributes.parquet (entity, attribute, value); where there are further
                      names, alternatives.parquet (entity, name); where not all entities may
                      be linked, linkable.parquet (entity)
Nothing in it depends on the clock: the same input gives the same bytes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from sameas._version import __version__
from sameas.alignment import Alignment, known_ranks
from sameas.atomic import recover, replacing_folder
from sameas.errors import InputError
from sameas.graph import Graph, GraphPair
from sameas.links import LinkSet, described
from sameas.reading.tables import read_parquet

FORMAT = 1
COLUMNS = {
    "links": ("left", "right", "score", "confidence"),
    "candidates": ("left", "right", "rank", "score"),
    "unmatched": ("side", "entity", "reason", "candidate", "score"),
    "relations": ("left", "right", "inverse", "match", "edges"),
    "anchors": ("left", "right", "trust"),
    "prices": ("side", "entity", "price"),
    "gold": ("left", "right"),
    "gold_ranks": ("left", "right", "rank"),
    "entities": ("entity", "name"),
    "triples": ("head", "relation", "tail"),
    "attributes": ("entity", "attribute", "value"),
    "alternatives": ("entity", "name"),
    "linkable": ("entity",),
}
"""What each table of a run folder holds."""
NUMERIC = {"score", "confidence", "rank", "price", "match", "edges", "trust"}
"""Columns of numbers; others are text, but for ``inverse``."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Run:
    """What a run folder holds."""

    path: Path
    record: dict[str, Any]
    links: pl.DataFrame
    candidates: pl.DataFrame
    unmatched: pl.DataFrame
    gold_ranks: pl.DataFrame | None

    @property
    def ranked(self) -> pl.DataFrame:
        """Every pair whose rank is known (left, right, rank): candidates and gold links."""
        return known_ranks(self.candidates, self.gold_ranks)

    def link_set(self) -> LinkSet:
        """The links with the names of their entities and how they came about."""
        names = [_parquet(self.path / side / "entities.parquet") for side in ("left", "right")]
        return described(self.links, *names, version=str(self.record.get("sameas", "")))

    def table(self, name: str) -> pl.DataFrame | None:
        """A table that not every run has, such as "anchors" or "prices"; read when asked for."""
        return _optional(self.path / f"{name}.parquet")

    def pair(self) -> GraphPair:
        """Both graphs, and the gold links if there were any."""
        return GraphPair(
            left=_read_graph(self.path / "left"),
            right=_read_graph(self.path / "right"),
            gold=_optional(self.path / "gold.parquet"),
        )


def write_run(alignment: Alignment, path: Path) -> None:
    """Write a run folder, in place of an earlier run of that name."""
    record = {
        "format": FORMAT,
        "sameas": __version__,
        "options": alignment.options.asdict(),
        "summary": alignment.summary(),
    }
    with replacing_folder(path) as folder:
        for name in ("links", "candidates", "unmatched"):
            _write(getattr(alignment, name), folder / f"{name}.parquet")
        for name in ("relations", "anchors", "prices", "gold_ranks"):
            if getattr(alignment, name) is not None:
                _write(getattr(alignment, name), folder / f"{name}.parquet")
        if alignment.pair.gold is not None:
            _write(alignment.pair.gold, folder / "gold.parquet")
        _write_graph(alignment.pair.left, folder / "left")
        _write_graph(alignment.pair.right, folder / "right")
        text = json.dumps(record, indent=2, ensure_ascii=False)
        (folder / "run.json").write_text(text + "\n", encoding="utf8")


def is_run(path: Path) -> bool:
    """Whether a path is a run folder."""
    return (path / "run.json").is_file()


def read_run(path: str | PathLike[str]) -> Run:
    """Open a run folder; graphs are read only when they are asked for."""
    path = Path(path)
    recover(path)
    file = path / "run.json"
    if not file.is_file():
        raise InputError(
            path, "is not a run folder (no run.json in it); make one with: sameas align"
        )
    try:
        record = json.loads(file.read_text(encoding="utf8"))
        version = record["format"]
        if type(version) is not int or version < 1:
            raise ValueError("no format")
        if version <= FORMAT and not isinstance(record["options"], dict):
            raise ValueError("no options")
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(file, "is damaged; run sameas align again") from None
    except OSError as error:
        raise InputError(file, f"cannot be read ({error.strerror})") from None
    if version > FORMAT:
        raise InputError(
            file,
            f"has run format {version}, this version of sameas ({__version__}) reads {FORMAT}; "
            "upgrade sameas",
        )
    tables = {
        name: _parquet(path / f"{name}.parquet") for name in ("links", "candidates", "unmatched")
    }
    return Run(
        path=path, record=record, gold_ranks=_optional(path / "gold_ranks.parquet"), **tables
    )


def _optional(path: Path) -> pl.DataFrame | None:
    return _parquet(path) if path.exists() else None


def _parquet(path: Path) -> pl.DataFrame:
    try:
        table = read_parquet(path).select(COLUMNS[path.stem])
    except (InputError, pl.exceptions.PolarsError):
        raise InputError(path, "is missing or damaged; run sameas align again") from None
    for name in table.columns:
        kind = table[name].dtype
        numeric = name in NUMERIC
        fits = (
            kind.is_numeric()
            if numeric
            else kind == (pl.Boolean if name == "inverse" else pl.String)
        )
        may_lack = numeric or name == "candidate"
        if not fits or (not may_lack and table[name].has_nulls()):
            raise InputError(path, f'is damaged (column "{name}"); run sameas align again')
    return table


def _write_graph(graph: Graph, folder: Path) -> None:
    folder.mkdir()
    entities = pl.DataFrame({"entity": graph.entities, "name": graph.names})
    _write(entities, folder / "entities.parquet")
    head, relation, tail = graph.triples.T
    triples = pl.DataFrame(
        {
            "head": graph.entities.gather(head),
            "relation": graph.relations.gather(relation),
            "tail": graph.entities.gather(tail),
        }
    )
    _write(triples, folder / "triples.parquet")
    _write(graph.attributes, folder / "attributes.parquet")
    if len(graph.alternatives):
        _write(graph.alternatives, folder / "alternatives.parquet")
    if graph.linkable is not None:
        linkable = pl.DataFrame({"entity": graph.entities.gather(graph.linkable)})
        _write(linkable, folder / "linkable.parquet")


def _write(table: pl.DataFrame, path: Path) -> None:
    """Write a table in pieces, so that its encoded form is never in memory as a whole."""
    table.write_parquet(path, row_group_size=250_000)


def _read_graph(folder: Path) -> Graph:
    entities = _parquet(folder / "entities.parquet")
    try:
        graph = Graph.from_triples(
            _parquet(folder / "triples.parquet"),
            entities=entities["entity"],
            names=entities["name"],
            attributes=_parquet(folder / "attributes.parquet"),
        )
    except ValueError:  # an entity that stands twice, or a triple of one that is not there
        raise InputError(
            folder, "is damaged (entities and triples do not fit); run sameas align again"
        ) from None
    alternatives = _optional(folder / "alternatives.parquet")
    linkable = _optional(folder / "linkable.parquet")
    return replace(
        graph,
        alternatives=graph.alternatives if alternatives is None else alternatives,
        linkable=None if linkable is None else graph.positions(linkable["entity"]),
    )

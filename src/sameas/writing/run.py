"""Run folders: everything about one alignment, so that nothing has to be computed again.

Format 1:
  run.json              format, version of sameas, options and summary figures
  links.parquet         left, right, score, confidence
  candidates.parquet    left, right, rank, score
  unmatched.parquet     side, entity, reason (a code), candidate, score (of the best candidate)
  relations.parquet     left, right, inverse, match, edges (which relation matches which)
  anchors.parquet       left, right, trust (links that refinement learned from)
  prices.parquet        side, entity, price (of the exact solver)
  gold.parquet          left, right (where gold links were known)
  gold_ranks.parquet    left, right, rank of the gold links between candidates
  seeds.parquet, reject.parquet, among.parquet    left, right (where they were given)
  word_vectors.parquet  word, vector (of the words in names, where they were used)
  embeddings.npy        rows of all left, then all right entities, where they were given
  left/, right/         entities.parquet (entity, name), triples.parquet (head, relation, tail),
                        attributes.parquet (entity, attribute, value); where there are further
                        names, alternatives.parquet (entity, name); where not all entities may
                        be linked, linkable.parquet (entity)
Nothing in it depends on the clock: the same input gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sameas._version import __version__
from sameas.alignment import Alignment, Diagnostics
from sameas.atomic import recover, replacing_folder
from sameas.errors import InputError
from sameas.features.words import WordVectors
from sameas.graph import Graph, GraphPair
from sameas.inputs import Inputs, collect_inputs
from sameas.options import INPUTS, Options, recorded_options, without_effect
from sameas.reading.tables import read_parquet
from sameas.rows import as_rows

FORMAT = 1
TEXT, NUMBER, FLAG = "text", "number", "flag"
COLUMNS: dict[str, dict[str, str]] = {
    "links": {"left": TEXT, "right": TEXT, "score": NUMBER, "confidence": NUMBER},
    "candidates": {"left": TEXT, "right": TEXT, "rank": NUMBER, "score": NUMBER},
    "unmatched": {
        **dict.fromkeys(("side", "entity", "reason"), TEXT),
        **{"candidate": f"{TEXT} or null", "score": NUMBER},
    },
    "relations": {"left": TEXT, "right": TEXT, "inverse": FLAG, "match": NUMBER, "edges": NUMBER},
    "anchors": {"left": TEXT, "right": TEXT, "trust": NUMBER},
    "prices": {"side": TEXT, "entity": TEXT, "price": NUMBER},
    "gold_ranks": {"left": TEXT, "right": TEXT, "rank": NUMBER},
    **{name: {"left": TEXT, "right": TEXT} for name in ("gold", "seeds", "reject", "among")},
    "word_vectors": {"word": TEXT, "vector": "vector"},
    "entities": {"entity": TEXT, "name": TEXT},
    "triples": {"head": TEXT, "relation": TEXT, "tail": TEXT},
    "attributes": {"entity": TEXT, "attribute": TEXT, "value": TEXT},
    "alternatives": {"entity": TEXT, "name": TEXT},
    "linkable": {"entity": TEXT},
}
"""The columns that each table must have, and what they hold."""
TABLES = ("links", "candidates", "unmatched", "relations", "anchors", "gold_ranks", "prices")
PARTS = ("pair", "inputs", *TABLES)
REQUIRED = ("links", "candidates", "unmatched", "entities", "triples", "attributes")
LINK_INPUTS = ("seeds", "reject", "among")

EARLIER_REASONS = {
    "no candidate": "no-candidate",
    "no candidate above the price": "below-threshold",
    "lost to a better pair": "taken",
    "no partner was left, or none was found": "left-over",
}
"""The sentences that earlier versions wrote instead of codes; any other one says "unsure"."""
EARLIER_DIAGNOSTICS = {"price": "threshold", "rounds": "solver_rounds", "pairs": "solver_pairs"}


def write_run(alignment: Alignment, path: Path) -> None:
    """Write a run folder, in place of an earlier run of that name."""
    record = {
        "format": FORMAT,
        "sameas": __version__,
        "options": alignment.options.asdict(),
        "summary": alignment.summary(),
    }
    inputs = alignment.inputs
    tables = {name: alignment.parts.get(name) for name in TABLES}
    tables |= {name: getattr(inputs, name) for name in LINK_INPUTS}
    tables["gold"] = alignment.pair.gold
    if inputs.word_vectors is not None:
        vectors = pl.Series("vector", inputs.word_vectors.vectors).cast(pl.List(pl.Float32))
        tables["word_vectors"] = pl.DataFrame(
            {"word": inputs.word_vectors.words, "vector": vectors}
        )
    with replacing_folder(path) as folder:
        for name, table in tables.items():
            if table is not None:
                _write(table, folder / f"{name}.parquet")
        if inputs.embeddings is not None:
            np.save(folder / "embeddings.npy", inputs.embeddings.dense)
        _write_graph(alignment.pair.left, folder / "left")
        _write_graph(alignment.pair.right, folder / "right")
        text = json.dumps(record, indent=2, ensure_ascii=False)
        (folder / "run.json").write_text(text + "\n", encoding="utf8")


def is_run(path: Path) -> bool:
    """Whether a path is a run folder."""
    return (path / "run.json").is_file()


def read_run(path: str | PathLike[str]) -> Alignment:
    """The alignment in a run folder; its tables and graphs are loaded when they are asked for."""
    path = Path(path)
    recover(path)
    record = _read_record(path)
    summary = {
        EARLIER_DIAGNOSTICS.get(name, name): value
        for name, value in record.get("summary", {}).items()
    }
    known_figures = {field.name for field in fields(Diagnostics)}
    try:
        options = recorded_options(record["options"])
        diagnostics = Diagnostics(**{k: v for k, v in summary.items() if k in known_figures})
    except (TypeError, ValueError):
        raise InputError(path / "run.json", "is damaged; run sameas align again") from None
    parts = _Parts(path, options, record["options"], diagnostics, {})
    for name in ("links", "candidates", "unmatched"):
        if not (path / f"{name}.parquet").is_file():
            parts[name]  # raises the error about a missing table now
    return Alignment(options=options, diagnostics=diagnostics, parts=parts)


def _read_record(path: Path) -> dict[str, Any]:
    file = path / "run.json"
    if not file.is_file():
        raise InputError(
            path, "is not a run folder (no run.json in it); make one with: sameas align"
        )
    try:
        record: dict[str, Any] = json.loads(file.read_text(encoding="utf8"))
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
    return record


@dataclass(frozen=True, eq=False)
class _Parts(Mapping[str, Any]):
    """The parts of an alignment in a run folder, each read when it is first asked for."""

    path: Path
    options: Options
    recorded: dict[str, Any]
    """The options as run.json has them; earlier versions kept paths of inputs there."""
    diagnostics: Diagnostics
    loaded: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        if name not in PARTS:
            raise KeyError(name)
        if name not in self.loaded:
            self.loaded[name] = self._load(name)
        return self.loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(PARTS)

    def __len__(self) -> int:
        return len(PARTS)

    def _load(self, name: str) -> Any:
        if name == "pair":
            return GraphPair(
                left=_read_graph(self.path / "left"),
                right=_read_graph(self.path / "right"),
                gold=_read_table(self.path / "gold.parquet"),
            )
        if name == "inputs":
            return self._inputs()
        table = _read_table(self.path / f"{name}.parquet")
        if name == "unmatched" and table is not None:
            codes = set(EARLIER_REASONS.values()) | {"unsure"}
            reasons = {code: code for code in codes} | EARLIER_REASONS
            table = table.with_columns(
                pl.col("reason").replace_strict(reasons, default="unsure", return_dtype=pl.String)
            )
        return table

    def _inputs(self) -> Inputs:
        if "among" in self.recorded:  # an earlier version, which recorded paths
            given = {name: self.recorded.get(name) for name in INPUTS}
            unused = without_effect(self.options, embeddings=given["embeddings"] is not None)
            given = {name: value for name, value in given.items() if name not in unused}
            return collect_inputs(self["pair"], self.options, **given)
        links = {name: _read_table(self.path / f"{name}.parquet") for name in LINK_INPUTS}
        vectors = _read_table(self.path / "word_vectors.parquet")
        rows = self.path / "embeddings.npy"
        return Inputs(
            **links,
            embeddings=as_rows(np.load(rows, allow_pickle=False)) if rows.is_file() else None,
            word_vectors=None
            if vectors is None
            else WordVectors(
                vectors["word"],
                np.array(vectors["vector"].to_list(), dtype=np.float32),
                (self.diagnostics.word_vectors or "").rpartition(",")[0],
            ),
        )


def _read_table(path: Path) -> pl.DataFrame | None:
    """A table with its columns checked; None if it is not there and need not be."""
    if not path.exists() and path.stem not in REQUIRED:
        return None
    try:
        table = read_parquet(path)
        columns = table.select(list(COLUMNS[path.stem]))
    except (InputError, pl.exceptions.PolarsError):
        raise InputError(path, "is missing or damaged; run sameas align again") from None
    for name, kind in COLUMNS[path.stem].items():
        if not _holds(columns[name], kind):
            raise InputError(path, f'is damaged (column "{name}"); run sameas align again')
    return table


def _holds(column: pl.Series, kind: str) -> bool:
    """Whether a column has the type that it must have."""
    if kind == NUMBER:
        return column.dtype.is_numeric() or column.dtype == pl.Null
    if kind == "vector":
        return column.dtype == pl.List(pl.Float32)
    if column.has_nulls() and not kind.endswith("or null"):
        return False
    return column.dtype == (pl.Boolean if kind == FLAG else pl.String)


def _write_graph(graph: Graph, folder: Path) -> None:
    folder.mkdir()
    head, relation, tail = graph.triples.T
    tables = {
        "entities": pl.DataFrame({"entity": graph.entities, "name": graph.names}),
        "triples": pl.DataFrame(
            {
                "head": graph.entities.gather(head),
                "relation": graph.relations.gather(relation),
                "tail": graph.entities.gather(tail),
            }
        ),
        "attributes": graph.attributes,
    }
    if len(graph.alternatives):
        tables["alternatives"] = graph.alternatives
    if graph.linkable is not None:
        tables["linkable"] = pl.DataFrame({"entity": graph.entities.gather(graph.linkable)})
    for name, table in tables.items():
        _write(table, folder / f"{name}.parquet")


def _write(table: pl.DataFrame, path: Path) -> None:
    """Write a table in pieces, so that its encoded form is never in memory as a whole."""
    table.write_parquet(path, row_group_size=250_000)


def _read_graph(folder: Path) -> Graph:
    tables = {
        name: _read_table(folder / f"{name}.parquet")
        for name in ("entities", "triples", "attributes", "alternatives", "linkable")
    }
    entities, linkable = tables["entities"], tables["linkable"]
    assert entities is not None
    try:
        graph = Graph.from_triples(
            tables["triples"],
            entities=entities["entity"],
            names=entities["name"],
            attributes=tables["attributes"],
            alternatives=tables["alternatives"],
        )
    except ValueError:  # an entity that stands twice, or a triple of an unknown one
        raise InputError(
            folder, "is damaged (entities and triples do not fit); run sameas align again"
        ) from None
    if linkable is None:
        return graph
    return replace(graph, linkable=graph.positions(linkable["entity"]))

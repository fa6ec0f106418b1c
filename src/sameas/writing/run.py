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
from dataclasses import fields, replace
from os import PathLike
from pathlib import Path
from typing import Any, get_args

import numpy as np
import polars as pl

from sameas._version import __version__
from sameas.alignment import SCHEMAS, Alignment, Diagnostics
from sameas.atomic import recover, replacing_folder
from sameas.errors import InputError
from sameas.explanation import Reason
from sameas.features.words import WordVectors
from sameas.graph import Graph, GraphPair
from sameas.inputs import Inputs, collect_inputs
from sameas.options import INPUTS, Options, recorded_options, without_effect
from sameas.reading.tables import read_parquet
from sameas.rows import as_rows

FORMAT = 1
TABLES = (*SCHEMAS, "gold", "seeds", "reject", "among")
COLUMNS: dict[str, pl.Schema] = {
    **SCHEMAS,
    **{
        name: pl.Schema((column, pl.String) for column in columns)
        for name, columns in {
            **dict.fromkeys(TABLES[len(SCHEMAS) :], ("left", "right")),
            "entities": ("entity", "name"),
            "triples": ("head", "relation", "tail"),
            "attributes": ("entity", "attribute", "value"),
            "alternatives": ("entity", "name"),
            "linkable": ("entity",),
        }.items()
    },
    "word_vectors": pl.Schema([("word", pl.String), ("vector", pl.List(pl.Float32))]),
}
"""The columns that each table must have."""
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
    tables = {name: getattr(alignment, name) for name in SCHEMAS}
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
    for name in REQUIRED[:3]:
        if not (path / f"{name}.parquet").is_file():
            _read_table(path / f"{name}.parquet")  # raises the error about it now

    def load(name: str) -> Any:
        if name == "pair":
            return _read_pair(path)
        if name == "inputs":
            return _read_inputs(path, options, record["options"], diagnostics)
        return _read_table(path / f"{name}.parquet")

    return Alignment(options=options, diagnostics=diagnostics, load=load)


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


def _read_pair(path: Path) -> GraphPair:
    gold = _read_table(path / "gold.parquet")
    return GraphPair(left=_read_graph(path / "left"), right=_read_graph(path / "right"), gold=gold)


def _read_inputs(
    path: Path, options: Options, recorded: dict[str, Any], diagnostics: Diagnostics
) -> Inputs:
    """The inputs of a run; an earlier version recorded their paths among the options."""
    if "among" in recorded:
        given = {name: recorded.get(name) for name in INPUTS}
        unused = without_effect(options, embeddings=given["embeddings"] is not None)
        given = {name: value for name, value in given.items() if name not in unused}
        return collect_inputs(_read_pair(path), options, **given)
    links = {name: _read_table(path / f"{name}.parquet") for name in LINK_INPUTS}
    rows, vectors = path / "embeddings.npy", _read_table(path / "word_vectors.parquet")
    word_vectors = None
    if vectors is not None:
        matrix = np.array(vectors["vector"].to_list(), dtype=np.float32)
        source = (diagnostics.word_vectors or "").rpartition(",")[0]
        word_vectors = WordVectors(vectors["word"], matrix, source)
    return Inputs(
        **links,
        embeddings=as_rows(np.load(rows, allow_pickle=False)) if rows.is_file() else None,
        word_vectors=word_vectors,
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
        numeric, found = kind.is_numeric(), columns[name].dtype
        may_lack = numeric or name == "candidate"
        fits = (numeric and (found.is_numeric() or found == pl.Null)) or found == kind
        if not fits or (not may_lack and columns[name].has_nulls()):
            raise InputError(path, f'is damaged (column "{name}"); run sameas align again')
    if path.stem == "unmatched":  # earlier versions wrote sentences
        codes = {code: code for code in get_args(Reason)} | EARLIER_REASONS
        reason = pl.col("reason").replace_strict(codes, default="unsure", return_dtype=pl.String)
        table = table.with_columns(reason)
    return table


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

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
                        be linked, linkable.parquet (entity); where they were found in RDF,
                        kinds.parquet (entity, kind) and name_paths.parquet (path)
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
from numpy.typing import NDArray

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
from sameas.understanding import Kind

FORMAT = 1
GRAPH_TABLES = {
    "entities": "entity name",
    "triples": "head relation tail",
    "attributes": "entity attribute value",
    "alternatives": "entity name",
    "linkable": "entity",
    "kinds": "entity kind",
    "name_paths": "path",
}
LINK_INPUTS = ("seeds", "reject", "among")
COLUMNS: dict[str, pl.Schema] = {
    **SCHEMAS,
    **{
        name: pl.Schema(dict.fromkeys(columns.split(), pl.String))
        for name, columns in {
            **GRAPH_TABLES,
            **dict.fromkeys(("gold", *LINK_INPUTS), "left right"),
        }.items()
    },
    "word_vectors": pl.Schema([("word", pl.String), ("vector", pl.List(pl.Float32))]),
}
"""The columns that each table must have."""
REQUIRED = ("links", "candidates", "unmatched", "entities", "triples", "attributes")
AGAIN = "run sameas align again"

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
        "sameas": alignment.version,
        "options": alignment.options.asdict(),
        "summary": alignment.summary(),
    }
    pair, inputs = alignment.pair, alignment.inputs
    tables = {name: getattr(alignment, name) for name in SCHEMAS}
    tables |= {name: getattr(inputs, name) for name in LINK_INPUTS}
    tables["gold"] = pair.gold
    if inputs.word_vectors is not None:
        vectors = pl.Series("vector", inputs.word_vectors.vectors).cast(pl.List(pl.Float32))
        tables["word_vectors"] = inputs.word_vectors.words.to_frame("word").with_columns(vectors)
    for side, graph in (("left", pair.left), ("right", pair.right)):
        tables |= {f"{side}/{name}": table for name, table in _graph_tables(graph).items()}
    with replacing_folder(path) as folder:
        (folder / "left").mkdir()
        (folder / "right").mkdir()
        for name, table in tables.items():
            if table is not None:  # in pieces: the encoded form is never in memory as a whole
                table.write_parquet(folder / f"{name}.parquet", row_group_size=250_000)
        if inputs.embeddings is not None:
            np.save(folder / "embeddings.npy", inputs.embeddings.dense)
        text = json.dumps(record, indent=2, ensure_ascii=False)
        (folder / "run.json").write_text(text + "\n", encoding="utf8")


def _graph_tables(graph: Graph) -> dict[str, pl.DataFrame | None]:
    head, relation, tail = graph.triples.T
    triples = {
        "head": graph.entities.gather(head),
        "relation": graph.relations.gather(relation),
        "tail": graph.entities.gather(tail),
    }
    linkable = graph.linkable
    kinds = None
    if graph.kinds is not None:
        names = pl.Series("kind", [Kind(kind).name.lower() for kind in graph.kinds.tolist()])
        kinds = pl.DataFrame([graph.entities, names])
    paths = pl.DataFrame({"path": graph.name_paths}, schema={"path": pl.String})
    return {
        "entities": pl.DataFrame({"entity": graph.entities, "name": graph.names}),
        "triples": pl.DataFrame(triples),
        "attributes": graph.attributes,
        "alternatives": graph.alternatives if len(graph.alternatives) else None,
        "linkable": None
        if linkable is None
        else graph.entities.gather(linkable).to_frame("entity"),
        "kinds": kinds,
        "name_paths": paths if graph.name_paths else None,
    }


def is_run(path: Path) -> bool:
    """Whether a path is a run folder."""
    return (path / "run.json").is_file()


def read_run(path: str | PathLike[str]) -> Alignment:
    """The alignment in a run folder; its tables and graphs are loaded when they are asked for."""
    path = Path(path)
    recover(path)
    record, options, diagnostics = _read_record(path)
    for name in REQUIRED:
        if name in SCHEMAS and not (path / f"{name}.parquet").is_file():
            _read_table(path / f"{name}.parquet")  # raises the error about it now

    def load(name: str) -> Any:
        if name == "pair":
            left, right = _read_graph(path / "left"), _read_graph(path / "right")
            return GraphPair(left=left, right=right, gold=_read_table(path / "gold.parquet"))
        if name != "inputs":
            return _read_table(path / f"{name}.parquet")
        if "among" in record["options"]:  # an earlier version, which recorded paths
            given = {name: record["options"].get(name) for name in INPUTS}
            unused = without_effect(options, embeddings=given["embeddings"] is not None)
            given = {name: value for name, value in given.items() if name not in unused}
            return collect_inputs(load("pair"), options, **given)
        return _read_inputs(path, diagnostics)

    version = str(record.get("sameas", __version__))
    return Alignment(options=options, diagnostics=diagnostics, load=load, version=version)


def _read_record(path: Path) -> tuple[dict[str, Any], Options, Diagnostics]:
    """What run.json holds: all of it, the options and the figures."""
    file = path / "run.json"
    if not is_run(path):
        raise InputError(
            path, "is not a run folder (no run.json in it); make one with: sameas align"
        )
    try:
        record: dict[str, Any] = json.loads(file.read_text(encoding="utf8"))
        version = record["format"]
        if type(version) is not int or version < 1:
            raise ValueError("no format")
        if version > FORMAT:
            raise InputError(
                file,
                f"has run format {version}, this version of sameas ({__version__}) reads {FORMAT}; "
                "upgrade sameas",
            )
        options, summary = recorded_options(record["options"]), record.get("summary", {})
        figures = {EARLIER_DIAGNOSTICS.get(name, name): value for name, value in summary.items()}
        known = figures.keys() & {field.name for field in fields(Diagnostics)}
        return record, options, Diagnostics(**{name: figures[name] for name in known})
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(file, f"is damaged; {AGAIN}") from None
    except OSError as error:
        raise InputError(file, f"cannot be read ({error.strerror})") from None


def _read_inputs(path: Path, diagnostics: Diagnostics) -> Inputs:
    links = {name: _read_table(path / f"{name}.parquet") for name in LINK_INPUTS}
    rows, vectors = path / "embeddings.npy", _read_table(path / "word_vectors.parquet")
    word_vectors = None
    if vectors is not None:
        matrix = np.array(vectors["vector"].to_list(), dtype=np.float32)
        source = (diagnostics.word_vectors or "").rpartition(",")[0]
        word_vectors = WordVectors(vectors["word"], matrix, source)
    embeddings = as_rows(np.load(rows, allow_pickle=False)) if rows.is_file() else None
    return Inputs(**links, embeddings=embeddings, word_vectors=word_vectors)


def _read_graph(folder: Path) -> Graph:
    tables = {name: _read_table(folder / f"{name}.parquet") for name in GRAPH_TABLES}
    entities, linkable = tables.pop("entities"), tables.pop("linkable")
    kinds, paths = tables.pop("kinds"), tables.pop("name_paths")
    assert entities is not None
    try:
        graph = Graph.from_triples(
            tables.pop("triples"), entities=entities["entity"], names=entities["name"], **tables
        )
    except ValueError:  # an entity that stands twice, or a triple of an unknown one
        raise InputError(folder, f"is damaged (entities and triples do not fit); {AGAIN}") from None
    return replace(
        graph,
        linkable=None if linkable is None else graph.positions(linkable["entity"]),
        kinds=None if kinds is None else _kinds(kinds, graph, folder),
        name_paths=() if paths is None else tuple(paths["path"]),
    )


def _kinds(table: pl.DataFrame, graph: Graph, folder: Path) -> NDArray[np.int8]:
    """The kind of each entity of a graph, in its order."""
    kinds = np.zeros(len(graph.entities), dtype=np.int8)
    places = graph.positions(table["entity"])
    codes = {kind.name.lower(): int(kind) for kind in Kind}
    if len(np.unique(places[places >= 0])) < len(kinds) or not table["kind"].is_in(codes).all():
        raise InputError(folder / "kinds.parquet", f"is damaged; {AGAIN}")
    kinds[places] = [codes[kind] for kind in table["kind"]]
    return kinds


def _read_table(path: Path) -> pl.DataFrame | None:
    """A table with its columns checked; None if it is not there and need not be."""
    if not path.exists() and path.stem not in REQUIRED:
        return None
    schema = COLUMNS[path.stem]
    try:
        table = read_parquet(path)
        columns = table.select(list(schema))
    except (InputError, pl.exceptions.PolarsError):
        raise InputError(path, f"is missing or damaged; {AGAIN}") from None
    for column, (name, kind) in zip(columns, schema.items(), strict=True):
        fits = column.dtype == kind
        if kind.is_numeric():
            fits = column.dtype.is_numeric() or column.dtype == pl.Null
        elif name != "candidate":  # which not every unmatched entity has
            fits = fits and not column.has_nulls()
        if not fits:
            raise InputError(path, f'is damaged (column "{name}"); {AGAIN}')
    if path.stem == "unmatched":  # earlier versions wrote sentences
        codes = {code: code for code in get_args(Reason)} | EARLIER_REASONS
        reason = pl.col("reason").replace_strict(codes, default="unsure", return_dtype=pl.String)
        table = table.with_columns(reason)
    return table

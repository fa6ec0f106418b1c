"""Run folders: everything about one alignment, so that nothing has to be computed again.

docs/formats/run.md says what the files hold, and `COLUMNS` which columns each table must have.
Nothing in a folder depends on the clock but decisions: the same input gives the same bytes.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas import __version__
from sameas.compute.arrays import Matrix
from sameas.compute.atomic import recover, replacing_folder
from sameas.compute.rows import as_rows
from sameas.errors import InputError, refusing
from sameas.formats.files import read_bytes
from sameas.formats.tables import read_parquet
from sameas.formats.vectors import read_array
from sameas.graph.graph import Graph, Shape
from sameas.graph.kind import Kind
from sameas.graph.matched import NAMING_SCHEMA, MatchedGraph, MatchedPair
from sameas.graph.property_tables import EDGE_PROPERTIES, PropertyKeys
from sameas.graph.rdf.reading import Reading
from sameas.graph.task import EARLIER_ENTITIES, EARLIER_PAIRS, Earlier, Inputs
from sameas.options.options import Options, recorded_options
from sameas.result.alignment import SCHEMAS, Alignment, Diagnostics
from sameas.result.audit.record import recorded_audit
from sameas.result.clusters import CLUSTER_SCHEMAS, Clusters
from sameas.result.decision_log import add_log, read_log
from sameas.result.decisions import copy_decisions, read_decisions
from sameas.result.explanation.result import Reason
from sameas.text.encoders import EncodedNames, encode_each_once, find_encoder
from sameas.text.languages.support import LanguageSupport
from sameas.text.words import WordVectors

log = logging.getLogger(__name__)

FORMAT = 1
TEXT_COLUMNS = {
    "entities": "entity name",
    "triples": "head relation tail",
    "attributes": "entity attribute value",
    "alternatives": "entity name",
    "linkable": "entity",
    "name_paths": "path",
    **dict.fromkeys(("gold", "seeds", "reject", "among"), "left right"),
    "dictionary": "text gloss",
}
TABLE_INPUTS = ("seeds", "reject", "among", "dictionary")
COLUMNS: dict[str, pl.Schema] = {
    **SCHEMAS,
    **CLUSTER_SCHEMAS,
    **{
        name: pl.Schema(dict.fromkeys(columns.split(), pl.String))
        for name, columns in TEXT_COLUMNS.items()
    },
    "word_vectors": pl.Schema([("word", pl.String), ("vector", pl.List(pl.Float32))]),
    "encoded_names": pl.Schema([("name", pl.String), ("vector", pl.List(pl.Float32))]),
    "naming": NAMING_SCHEMA,
    "edge_properties": EDGE_PROPERTIES,
    "earlier": EARLIER_PAIRS,
    "changed_entities": EARLIER_ENTITIES,
}
"""The columns that each table must have."""
FITS: dict[str, Callable[[Any], bool]] = {
    "str": lambda value: isinstance(value, str),
    "bool": lambda value: isinstance(value, bool),
    "int": lambda value: type(value) is int,
    "float": lambda value: type(value) in (int, float),
    "None": lambda value: value is None,
    "LanguageSupport": lambda value: isinstance(value, LanguageSupport),
    "tuple[str, ...]": lambda value: (
        isinstance(value, tuple) and all(isinstance(each, str) for each in value)
    ),
    "dict[str, float]": lambda value: (
        isinstance(value, dict) and all(type(each) in (int, float) for each in value.values())
    ),
}
"""Whether a value that JSON held is of a type, by the annotation of its field."""
MISSING = ("candidate", "before", "weakest_left", "weakest_right", "split")
"""Columns of text in which cells may be empty."""
LATER = ("mean_rank",)
"""Columns that folders of earlier versions do not have."""
REQUIRED = ("links", "candidates", "unmatched")
RULES = ("id", "name", "label", "language", "include", "exclude", "blank_nodes", "link")
"""The options of reading by which a graph is understood, and written again in its shape."""
KINDS = pl.Series("kind", [kind.name.lower() for kind in Kind])
AGAIN = "run sameas align again"
DAMAGED = f"is missing or damaged; {AGAIN}"


def write_run(alignment: Alignment, path: Path) -> None:
    """Write a run folder, in place of an earlier run of that name."""
    record = {
        "format": FORMAT,
        "sameas": alignment.version,
        "options": alignment.options.asdict(),
        "summary": alignment.summary(),
        "audit": None if alignment.audit is None else alignment.audit.asdict(),
    }
    if other_numbers := alignment.tuning.differences():
        record["tuning"] = other_numbers
    pair, inputs = alignment.pair, alignment.inputs
    tables = {name: getattr(alignment, name) for name in SCHEMAS}
    tables |= {name: getattr(inputs, name) for name in TABLE_INPUTS}
    tables["gold"] = pair.gold
    if (clusters := alignment.clusters) is not None:
        tables |= clusters.tables
    if inputs.word_vectors is not None:
        words, vectors = inputs.word_vectors.words, inputs.word_vectors.vectors
        tables["word_vectors"] = _vector_table(words.rename("word"), vectors)
    if (encoded := _encoded_names(alignment)) is not None:
        tables["encoded_names"] = _vector_table(encoded.names.rename("name"), encoded.vectors)
    earlier = inputs.earlier
    if earlier is not None:
        tables |= {"earlier": earlier.pairs, "changed_entities": earlier.entities}
    with replacing_folder(path) as folder:
        copy_decisions(path, folder)
        if earlier is not None and earlier.decisions is not None:
            add_log(earlier.decisions, folder, alignment.options.single)
        _write_tables(tables, folder)
        for side, graph in (("left", pair.left), ("right", pair.right)):
            if side == "left" or not pair.is_one_graph:
                _write_graph(graph, folder / side)
        if inputs.embeddings is not None:
            np.save(folder / "embeddings.npy", inputs.embeddings.dense)
        text = json.dumps(record, indent=2, ensure_ascii=False)
        (folder / "run.json").write_text(text + "\n", encoding="utf8")


def _encoded_names(alignment: Alignment) -> EncodedNames | None:
    """The vectors of names by an encoder in a folder, which is not loaded again for this run."""
    languages, folder = alignment.diagnostics.languages, alignment.options.encoder
    if alignment.inputs.encoded_names is not None:
        return alignment.inputs.encoded_names
    if folder is None or languages is None or not languages.encoder:
        return None
    from sameas.similarity.several_names import (
        compared_names,  # with Numba, which others do not need
    )

    encoder = find_encoder(folder)
    assert encoder is not None
    names = compared_names(
        alignment.pair, alignment.options, alignment.inputs, tuning=alignment.tuning.search
    )
    return encode_each_once((names.left, names.right), encoder)


def _vector_table(texts: pl.Series, vectors: NDArray[Any]) -> pl.DataFrame:
    """A column of texts and one of vectors."""
    numbers = pl.Series("vector", vectors.astype(np.float32)).cast(pl.List(pl.Float32))
    return texts.to_frame().with_columns(numbers)


def _write_tables(tables: Mapping[str, pl.DataFrame | None], folder: Path) -> None:
    for name, table in tables.items():
        if table is not None:  # in pieces: the encoded form is never in memory as a whole
            table.write_parquet(folder / f"{name}.parquet", row_group_size=250_000)


def _write_graph(graph: MatchedGraph, folder: Path) -> None:
    """Write a graph as it was matched, and in the folder raw what was read, where it was RDF."""
    tables = _tables_of(graph)
    if len(graph.linkable) < len(graph.entities):
        tables["linkable"] = graph.entities.gather(graph.linkable).to_frame("entity")
    if graph.name_paths:
        tables["name_paths"] = pl.DataFrame({"path": graph.name_paths})
    if graph.is_rdf:
        kinds = KINDS.gather(graph.kinds)
        tables |= {"naming": graph.naming, "entities": tables["entities"].with_columns(kinds)}
    folder.mkdir()
    _write_tables(tables, folder)
    if graph.is_rdf:
        _write_source(graph.source, folder / "raw")


def _write_source(graph: Graph, folder: Path) -> None:
    """Write a graph as it was read."""
    tables = _tables_of(graph)
    if graph.triple_graphs is not None:
        tables["triples"] = tables["triples"].with_columns(graph=graph.triple_graphs)
    if graph.linkable is not None:
        tables["linkable"] = graph.entities.gather(graph.linkable).to_frame("entity")
    if graph.edge_properties is not None:
        tables["edge_properties"] = graph.edge_properties
    reading = graph.reading or Reading()
    origin = {
        "shape": graph.shape,
        "names_given": graph.given_names is not None,
        "reading": {name: getattr(reading, name) for name in RULES},
        "keys": None if graph.keys is None else asdict(graph.keys),
    }
    folder.mkdir()
    _write_tables(tables, folder)
    text = json.dumps(origin, indent=2, ensure_ascii=False)
    (folder / "origin.json").write_text(text + "\n", encoding="utf8")


def _tables_of(graph: Graph | MatchedGraph) -> dict[str, pl.DataFrame]:
    """The tables that every graph has, by the names of their files."""
    head, relation, tail = graph.triples.T
    triples = {
        "head": graph.entities.gather(head),
        "relation": graph.relations.gather(relation),
        "tail": graph.entities.gather(tail),
    }
    tables = {
        "entities": pl.DataFrame({"entity": graph.entities, "name": graph.names}),
        "triples": pl.DataFrame(triples),
        "attributes": graph.attributes,
    }
    return {**tables, "alternatives": graph.alternatives} if len(graph.alternatives) else tables


def is_run(path: Path) -> bool:
    """Whether a path is a run folder."""
    return (path / "run.json").is_file()


def read_run(path: str | PathLike[str]) -> Alignment:
    """The alignment in a run folder; its tables and graphs are loaded when they are asked for."""
    path = Path(path)
    recover(path)
    record, options, diagnostics = _read_record(path)
    if record.get("tuning"):  # numbers of strangers are not taken over
        log.warning(
            "%s was made with another tuning; explanations and audits of it use the usual one", path
        )
    for file in (path / f"{name}.parquet" for name in REQUIRED):
        if not file.is_file():
            raise InputError(file, DAMAGED)  # now, not when it is asked for

    def load(name: str) -> Any:
        if name == "pair":
            left = _read_graph(path / "left")
            right = left if diagnostics.clusters is not None else _read_graph(path / "right")
            return MatchedPair(left=left, right=right, gold=_read_if_there(path / "gold.parquet"))
        if name == "audit":
            with refusing(path / "run.json", "is damaged", AGAIN):
                return recorded_audit(record.get("audit"))
        if name == "decisions":
            return read_decisions(path)
        if name == "clusters":
            return None if diagnostics.clusters is None else _read_clusters(path)
        if name == "decision_log":
            return read_log(path)
        if name != "inputs":
            required = name in REQUIRED or (name == "anchors" and diagnostics.anchors is not None)
            table = (_read_table if required else _read_if_there)(path / f"{name}.parquet")
            if name == "candidates" and table is not None:
                return _with_counted_ranks(table)
            return table
        named = record["options"].get("encoder") is not None
        return _read_inputs(path, diagnostics, encoder_named=named)

    version = str(record.get("sameas", __version__))
    return Alignment(options=options, diagnostics=diagnostics, load=load, version=version)


def _read_clusters(path: Path) -> Clusters:
    """The clusters of a run in which duplicates were looked for."""
    return Clusters(*(_read_table(path / f"{name}.parquet") for name in CLUSTER_SCHEMAS))


def _read_record(path: Path) -> tuple[dict[str, Any], Options, Diagnostics]:
    """What run.json holds: all of it, the options and the figures."""
    file = path / "run.json"
    if not is_run(path):
        raise InputError(
            path, "is not a run folder (no run.json in it); make one with: sameas align"
        )
    with refusing(file, "is damaged", AGAIN):
        record: dict[str, Any] = json.loads(read_bytes(file))
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
        known = summary.keys() & {field.name for field in fields(Diagnostics)}
        figures = {name: summary[name] for name in known}
        if "languages" in figures:
            support = LanguageSupport.recorded(figures["languages"])
            _check_types(support)
            figures["languages"] = support
        diagnostics = Diagnostics(**figures)
        _check_types(diagnostics)
        return record, options, diagnostics


def _check_types(record: Diagnostics | LanguageSupport | PropertyKeys) -> None:
    """Raise an error if a field that was read from JSON holds a value of another type."""
    for field in fields(record):
        value = getattr(record, field.name)
        wanted = str(field.type).split(" | ")
        if not any(FITS[one](value) for one in wanted if one in FITS):
            raise ValueError(f'"{field.name}" must be {" or ".join(wanted)}')


def _read_inputs(path: Path, diagnostics: Diagnostics, *, encoder_named: bool) -> Inputs:
    """What was given besides the graphs; ``encoder_named`` if an encoder in a folder was."""
    tables = {name: _read_if_there(path / f"{name}.parquet") for name in TABLE_INPUTS}
    rows, vectors_file = path / "embeddings.npy", path / "word_vectors.parquet"
    encoded_file = path / "encoded_names.parquet"
    word_vectors = embeddings = encoded = None
    with refusing(path, "is damaged", AGAIN):
        if diagnostics.word_vectors is not None or vectors_file.exists():
            words, matrix = _read_vectors(vectors_file)
            source = (diagnostics.word_vectors or "").rpartition(",")[0]
            word_vectors = WordVectors(words, matrix, source)
        if rows.is_file():
            embeddings = as_rows(read_array(rows))
        if encoded_file.exists():
            names, matrix = _read_vectors(encoded_file)
            order = names.arg_sort()
            halves = matrix[order.to_numpy()].astype(np.float16)
            encoded = EncodedNames(names.gather(order), halves)
        elif encoder_named:  # by a version that loaded the encoder again
            none = np.zeros((0, 1), dtype=np.float16)
            encoded = EncodedNames(pl.Series("name", [], dtype=pl.String), none)
    return Inputs(
        **tables,
        embeddings=embeddings,
        word_vectors=word_vectors,
        encoded_names=encoded,
        earlier=_read_earlier(path),
    )


def _read_earlier(path: Path) -> Earlier | None:
    """What the run took over from an earlier one, if it did; its decisions are in the folder."""
    pairs = _read_if_there(path / "earlier.parquet")
    entities = _read_if_there(path / "changed_entities.parquet")
    if pairs is None or entities is None:
        return None
    return Earlier(pairs=pairs, entities=entities)


def _read_vectors(path: Path) -> tuple[pl.Series, Matrix]:
    """The texts of a table of vectors, and the vectors, shape (texts, dimension)."""
    table = _read_table(path)
    width = len(table["vector"][0]) if len(table) else 0
    matrix = np.array(table["vector"].to_list(), dtype=np.float32).reshape(len(table), width)
    if not np.isfinite(matrix).all():
        raise InputError(path, f'is damaged (column "vector"); {AGAIN}')
    return table[:, 0], matrix


def _read_graph(folder: Path) -> MatchedGraph:
    """A graph as it was matched, with the graph as it was read."""
    tables = _read_tables(folder)
    graph, kinds, paths = _graph_of(tables, folder), _kinds_of(tables, folder), tables["name_paths"]
    if (folder / "raw").is_dir():
        source = _read_source(folder / "raw")
    elif kinds is None:
        source = graph
    else:  # a part of RDF, of which the rest was not kept
        empty = {name: pl.lit("") for name in ("language", "datatype", "graph")}
        attributes = graph.attributes.with_columns(**empty)
        source = replace(graph, reading=Reading(), attributes=attributes)
    size, naming = len(graph.entities), tables["naming"]
    matched = MatchedGraph(
        entities=graph.entities,
        names=graph.names,
        names_given=graph.names_given,
        relations=graph.relations,
        triples=graph.triples,
        attributes=graph.attributes,
        alternatives=graph.alternatives,
        linkable=np.arange(size) if graph.linkable is None else graph.linkable,
        kinds=np.full(size, Kind.INDIVIDUAL, dtype=np.int8) if kinds is None else kinds,
        name_paths=() if paths is None else tuple(paths["path"]),
        naming=pl.DataFrame(schema=NAMING_SCHEMA) if naming is None else naming,
        source=source,
    )
    return matched.with_short_names()[0]


def _read_source(folder: Path) -> Graph:
    """A graph as it was read, in the shape that it had."""
    tables, file = _read_tables(folder), folder / "origin.json"
    triples, of_edges = tables["triples"], tables["edge_properties"]
    graphs = triples["graph"] if "graph" in triples.columns else None
    graph = replace(_graph_of(tables, folder), reading=Reading(), triple_graphs=graphs)
    if not file.exists():  # of a version that kept nothing about the shape
        return replace(graph, shape="rdf")
    if of_edges is not None and not of_edges["triple"].is_between(0, len(triples) - 1).all():
        raise InputError(folder / "edge_properties.parquet", DAMAGED)
    with refusing(file, "is damaged", AGAIN):
        origin = json.loads(read_bytes(file))
        shape, keys = origin["shape"], origin["keys"]
        if shape not in get_args(Shape):
            raise ValueError("no shape")
        rules = {name: _frozen(origin["reading"][name]) for name in RULES}
        return replace(
            graph,
            shape=shape,
            reading=Reading(**rules),
            given_names=graph.given_names if origin["names_given"] else None,
            edge_properties=of_edges,
            keys=None if keys is None else _property_keys(keys),
        )


def _property_keys(record: Mapping[str, Any]) -> PropertyKeys:
    keys = PropertyKeys(**{name: _frozen(value) for name, value in record.items()})
    _check_types(keys)
    return keys


def _frozen(value: Any) -> Any:
    """A value that JSON held, a tuple in place of a list."""
    return tuple(value) if isinstance(value, list) else value


def _read_tables(folder: Path) -> dict[str, Any]:
    """The tables of a graph by name, None for those that it has not."""
    required = {
        name: _read_table(folder / f"{name}.parquet")
        for name in ("entities", "triples", "attributes")
    }
    optional = {
        name: _read_if_there(folder / f"{name}.parquet")
        for name in ("alternatives", "linkable", "name_paths", "naming", "edge_properties")
    }
    return {**required, **optional}


def _graph_of(tables: Mapping[str, Any], folder: Path) -> Graph:
    """The graph that tables hold."""
    linkable = tables["linkable"]
    with refusing(folder, "is damaged", AGAIN):  # an entity may stand twice, or be unknown
        graph = Graph.from_triples(
            tables["triples"],
            entities=tables["entities"]["entity"],
            names=tables["entities"]["name"],
            attributes=tables["attributes"],
            alternatives=tables["alternatives"],
        )
        return replace(
            graph,
            attributes=tables["attributes"],
            linkable=None if linkable is None else graph.positions(linkable["entity"]),
        )


def _kinds_of(tables: Mapping[str, Any], folder: Path) -> NDArray[np.int8] | None:
    """The kind of each entity; None where the graph was not RDF."""
    if "kind" not in tables["entities"].columns:
        return None
    with refusing(folder, "is damaged", AGAIN):  # a kind may be unknown
        codes = range(len(KINDS))
        numbers = tables["entities"]["kind"].replace_strict(KINDS, codes, return_dtype=pl.Int8)
        kinds: NDArray[np.int8] = numbers.to_numpy()
        return kinds


def _read_if_there(path: Path) -> pl.DataFrame | None:
    return _read_table(path) if path.exists() else None


def _with_counted_ranks(candidates: pl.DataFrame) -> pl.DataFrame:
    """The candidates of a run, also of a version in which equals shared their mean rank."""
    if "mean_rank" in candidates.columns:
        return candidates
    counted = pl.int_range(1, pl.len() + 1).over("left")
    return candidates.with_columns(rank=counted, mean_rank="rank")


def _read_table(path: Path) -> pl.DataFrame:
    """A table with its columns checked."""
    schema = COLUMNS[path.stem]
    try:
        table = read_parquet(path)
        columns = table.select(name for name in schema if name not in LATER or name in table)
    except (InputError, pl.exceptions.PolarsError):
        raise InputError(path, DAMAGED) from None
    for name, column in columns.to_dict().items():
        kind = schema[name]
        fits = column.dtype == kind
        if kind.is_numeric():
            fits = column.dtype.is_numeric() or column.dtype == pl.Null
        elif name not in MISSING:
            fits = fits and not column.has_nulls()
        if not fits:
            raise InputError(path, f'is damaged (column "{name}"); {AGAIN}')
    if path.stem == "unmatched" and not table["reason"].is_in(get_args(Reason)).all():
        raise InputError(path, f'is damaged (column "reason"); {AGAIN}')
    return table

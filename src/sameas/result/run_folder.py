"""Run folders: everything about one alignment, so that nothing has to be computed again.

docs/formats/run.md says what the files hold, and `COLUMNS` which columns each table must have.
Nothing in a folder depends on the clock but decisions: the same input gives the same bytes.
"""

from __future__ import annotations

import json
import logging
from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas import __version__
from sameas.compute.arrays import Matrix
from sameas.compute.atomic import recover, replacing_folder
from sameas.compute.parallel import in_parallel_if
from sameas.compute.rows import as_rows
from sameas.errors import InputError, refusing
from sameas.formats.files import read_bytes
from sameas.formats.vectors import read_array
from sameas.graph.matched import MatchedPair
from sameas.graph.task import Earlier, Inputs
from sameas.options.options import Options, recorded_options
from sameas.result.alignment import SCHEMAS, Alignment, Diagnostics
from sameas.result.audit.record import recorded_audit
from sameas.result.clusters import CLUSTER_SCHEMAS, Clusters
from sameas.result.decision_log import add_log, read_log
from sameas.result.decisions import copy_decisions, read_decisions
from sameas.result.run_graphs import read_graph, write_graph
from sameas.result.run_tables import (
    AGAIN,
    DAMAGED,
    check_types,
    read_if_there,
    read_table,
    write_tables,
)
from sameas.text.encoders import EncodedNames, encode_each_once, find_encoder
from sameas.text.languages.support import LanguageSupport
from sameas.text.words import WordVectors

log = logging.getLogger(__name__)

FORMAT = 1
TABLE_INPUTS = ("seeds", "reject", "among", "dictionary")
PARTS = "pairs"
"""The folder with the run folders of each two graphs, where there are three or more."""
REQUIRED = ("links", "candidates", "unmatched")
AT_ONCE_UP_TO = 100_000
"""Entities of a graph up to which both are written at once; larger ones would take memory."""


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
        tables |= {**clusters.tables, "cluster_changes": clusters.changes}
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
            add_log(earlier.decisions, folder, alignment.single)
        write_tables(tables, folder)
        sides = ("left",) if pair.is_one_graph else ("left", "right")
        few = max(len(graph.entities) for graph in pair.graphs) <= AT_ONCE_UP_TO
        in_parallel_if(few, lambda side: write_graph(getattr(pair, side), folder / side), sides)
        for number, part in enumerate(alignment.parts or (), start=1):
            (folder / PARTS).mkdir(exist_ok=True)
            write_run(part, folder / PARTS / str(number))
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
            left = read_graph(path / "left")
            right = left if diagnostics.clusters is not None else read_graph(path / "right")
            return MatchedPair(left=left, right=right, gold=read_if_there(path / "gold.parquet"))
        if name == "audit":
            with refusing(path / "run.json", "is damaged", AGAIN):
                return recorded_audit(record.get("audit"))
        if name == "decisions":
            return read_decisions(path)
        if name == "clusters":
            return None if diagnostics.clusters is None else _read_clusters(path)
        if name == "parts":
            return _read_parts(path, len(diagnostics.graphs or ()))
        if name == "decision_log":
            return read_log(path)
        if name != "inputs":
            required = name in REQUIRED or (name == "anchors" and diagnostics.anchors is not None)
            table = (read_table if required else read_if_there)(path / f"{name}.parquet")
            if name == "candidates" and table is not None:
                return _with_counted_ranks(table)
            return table
        named = record["options"].get("encoder") is not None
        return _read_inputs(path, diagnostics, encoder_named=named)

    version = str(record.get("sameas", __version__))
    return Alignment(options=options, diagnostics=diagnostics, load=load, version=version)


def _read_parts(path: Path, graphs: int) -> tuple[Alignment, ...] | None:
    """The runs of each two of several graphs."""
    count = graphs * (graphs - 1) // 2
    return tuple(read_run(path / PARTS / str(number + 1)) for number in range(count)) or None


def _read_clusters(path: Path) -> Clusters:
    """The clusters of a run in which duplicates were looked for."""
    members, summary, links = (read_table(path / f"{name}.parquet") for name in CLUSTER_SCHEMAS)
    changes = read_if_there(path / "cluster_changes.parquet")
    return Clusters(members, summary, links, changes)


def _read_record(path: Path) -> tuple[dict[str, Any], Options, Diagnostics]:
    """What run.json holds: all of it, the options and the figures."""
    file = path / "run.json"
    if not is_run(path):
        raise InputError(
            path, "is not a run folder (no run.json in it); make one with sameas align or dedupe"
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
            check_types(support)
            figures["languages"] = support
        for name in {"graphs", "wording"} & figures.keys():
            figures[name] = tuple(figures[name])
        diagnostics = Diagnostics(**figures)
        check_types(diagnostics)
        return record, options, diagnostics


def _read_inputs(path: Path, diagnostics: Diagnostics, *, encoder_named: bool) -> Inputs:
    """What was given besides the graphs; ``encoder_named`` if an encoder in a folder was."""
    tables = {name: read_if_there(path / f"{name}.parquet") for name in TABLE_INPUTS}
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
    pairs = read_if_there(path / "earlier.parquet")
    entities = read_if_there(path / "changed_entities.parquet")
    if pairs is None or entities is None:
        return None
    return Earlier(pairs=pairs, entities=entities)


def _read_vectors(path: Path) -> tuple[pl.Series, Matrix]:
    """The texts of a table of vectors, and the vectors, shape (texts, dimension)."""
    table = read_table(path)
    width = len(table["vector"][0]) if len(table) else 0
    matrix = np.array(table["vector"].to_list(), dtype=np.float32).reshape(len(table), width)
    if not np.isfinite(matrix).all():
        raise InputError(path, f'is damaged (column "vector"); {AGAIN}')
    return table[:, 0], matrix


def _with_counted_ranks(candidates: pl.DataFrame) -> pl.DataFrame:
    """The candidates of a run, also of a version in which equals shared their mean rank."""
    if "strength" not in candidates.columns:
        candidates = candidates.with_columns(strength=pl.lit(None, dtype=pl.Float64))
    if "mean_rank" in candidates.columns:
        return candidates
    counted = pl.int_range(1, pl.len() + 1).over("left")
    return candidates.with_columns(rank=counted, mean_rank="rank")

"""The index of a run folder: links, entities and what they are filtered by, in an SQLite database.

It holds nothing that is not in the run's tables, and is made again when these change. Links are
numbered from the least certain one on, so that their number is the order of the queue.
"""

from __future__ import annotations

import json
import os
import sqlite3
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from rapidfuzz import fuzz, process

from sameas.alignment import Alignment
from sameas.atomic import replacing_file
from sameas.errors import SameasError
from sameas.features.folding import folded
from sameas.graph import Graph, GraphPair, positions_of
from sameas.rdf.assembly import TYPE
from sameas.writing import read_run

FILE = "queue.sqlite"
FORMAT = 3
LARGE = 2**22
"""Bytes of the table of links from which on the index is made by another process."""
BINS = 20
"""Bars of the histogram of confidences."""
RELATIONS = 30
"""Relation matches that the overview lists."""
TABLES = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE entities (id INTEGER PRIMARY KEY, side TEXT, uri TEXT, name TEXT, degree INTEGER);
CREATE TABLE links (
  id INTEGER PRIMARY KEY, left INTEGER, right INTEGER, score REAL, confidence REAL,
  name_order INTEGER, degree INTEGER, disagreement REAL
);
CREATE TABLE unmatched (
  id INTEGER PRIMARY KEY, side TEXT, entity INTEGER, reason TEXT, candidate INTEGER, score REAL
);
CREATE TABLE facets (id INTEGER PRIMARY KEY, kind TEXT, uri TEXT, links INTEGER);
CREATE TABLE link_facets (facet INTEGER, link INTEGER, PRIMARY KEY (facet, link)) WITHOUT ROWID;
CREATE VIRTUAL TABLE names USING fts5(  -- of entities
  name, content = '', tokenize = 'unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE link_names USING fts5(  -- both names of a link
  name, content = '', tokenize = 'unicode61 remove_diacritics 2'
);
"""
INDEXES = """
CREATE UNIQUE INDEX entities_by_uri ON entities (uri, side);
CREATE INDEX entities_by_name ON entities (name);
CREATE INDEX links_by_left ON links (left);
CREATE INDEX links_by_right ON links (right);
CREATE INDEX links_by_score ON links (score);
CREATE INDEX links_by_confidence ON links (confidence);
CREATE INDEX links_by_name ON links (name_order);
CREATE INDEX links_by_degree ON links (degree);
CREATE INDEX links_by_disagreement ON links (disagreement);
CREATE INDEX unmatched_by_side ON unmatched (side, id);
CREATE INDEX unmatched_by_entity ON unmatched (entity);
"""


def ensure_index(run: Path) -> None:
    """Make the index of a run folder, unless there is one of its present tables.

    For a large run another process does it, because its tables take much more memory than the
    pages, which read the index alone.
    """
    if _is_current(run):
        return
    if (run / "links.parquet").stat().st_size < LARGE:
        problem = _make_index(run)
    else:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            problem = pool.submit(_make_index, run).result()
    if problem is not None:
        raise SameasError(problem)


def _make_index(run: Path) -> str | None:
    """Make the index; what a user can mend comes back as a sentence."""
    try:
        with replacing_file(run / FILE) as draft:
            write_index(read_run(run), draft, stamp=stamp(run))
    except SameasError as error:
        return str(error)
    return None


def stamp(run: Path) -> str:
    """What changes when the run does."""
    found = [(run / f"{name}.parquet").stat() for name in ("links", "unmatched")]
    return json.dumps([FORMAT, *((one.st_size, one.st_mtime_ns) for one in found)])


def _is_current(run: Path) -> bool:
    if not (run / FILE).is_file():
        return False
    try:
        with closing(sqlite3.connect(run / FILE)) as connection:
            query = "SELECT value FROM about WHERE name = 'stamp'"
            return bool(connection.execute(query).fetchone() == (stamp(run),))
    except (sqlite3.Error, OSError):
        return False


def write_index(alignment: Alignment, path: str | os.PathLike[str], *, stamp: str = "") -> None:
    """Write the index of an alignment."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.executescript(TABLES)
        texts = _write_entities(connection, alignment)
        links = _write_links(connection, alignment, texts)
        _write_unmatched(connection, alignment)
        _write_facets(connection, alignment, links)
        values = {**_about(alignment), "stamp": stamp}
        connection.executemany("INSERT INTO about VALUES (?, ?)", values.items())
        connection.executescript(INDEXES)
        connection.commit()


def _insert(connection: sqlite3.Connection, table: str, rows: pl.DataFrame) -> None:
    marks = ", ".join("?" * rows.width)
    columns = ", ".join(rows.columns)
    connection.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows.iter_rows())


def _write_entities(connection: sqlite3.Connection, alignment: Alignment) -> list[pl.Series]:
    """Write all entities: the left ones, then the right ones; the texts that find them."""
    first, texts = 0, []
    for side, graph in (("left", alignment.pair.left), ("right", alignment.pair.right)):
        count, names = len(graph.entities), graph.names.cast(pl.String)
        numbers = pl.Series("id", np.arange(first, first + count))
        columns = [numbers, graph.entities.rename("uri"), names.rename("name"), _degrees(graph)]
        _insert(connection, "entities", pl.DataFrame(columns).with_columns(side=pl.lit(side)))
        plain = folded(names, numbers=False)  # so that Latin letters find names in any script
        text = names.zip_with(plain == names.str.to_lowercase(), names + " " + plain)
        _insert(connection, "names", pl.DataFrame([numbers.rename("rowid"), text.rename("name")]))
        texts.append(text)
        first += count
    return texts


def _degrees(graph: Graph) -> pl.Series:
    ends = graph.triples[:, [0, 2]].ravel()
    return pl.Series("degree", np.bincount(ends, minlength=len(graph.entities)))


def _write_links(
    connection: sqlite3.Connection, alignment: Alignment, texts: list[pl.Series]
) -> pl.DataFrame:
    """Write the links, the least certain first; returned by the positions of their entities."""
    pair = alignment.pair
    links = alignment.links.sort("confidence", "score", "left", "right")
    left, right = pair.left.positions(links["left"]), pair.right.positions(links["right"])
    names = pair.left.names.gather(left), pair.right.names.gather(right)
    degrees = _degrees(pair.left).gather(left) + _degrees(pair.right).gather(right)
    placed = pl.DataFrame({"left": left, "right": right}).with_row_index("id", offset=1)
    table = placed.with_columns(
        links["score"],
        links["confidence"],
        pl.col("right") + len(pair.left.entities),
        name_order=names[0].str.to_lowercase().rank("ordinal"),
        degree=degrees,
        disagreement=disagreement(pair, placed, names),
    )
    _insert(connection, "links", table)
    found = texts[0].gather(left) + " " + texts[1].gather(right)
    _insert(connection, "link_names", placed.select(rowid="id").with_columns(found.alias("name")))
    return placed


def disagreement(
    pair: GraphPair, placed: pl.DataFrame, names: tuple[pl.Series, pl.Series]
) -> pl.Series:
    """How far apart the likeness of the names and that of the linked neighbours are, 0 to 1.

    The latter is the share of linked neighbours that are linked with each other; names count
    alone where there are none, and agree with themselves.
    """
    texts = [folded(series.cast(pl.String)).to_list() for series in names]
    alike = process.cpdist(*texts, scorer=fuzz.token_sort_ratio) if len(placed) else np.zeros(0)
    ends = []
    for side, graph in (("left", pair.left), ("right", pair.right)):
        at = placed.select(entity=side, link="id")
        edges = pl.DataFrame({"entity": graph.triples[:, 0], "far": graph.triples[:, 2]})
        both = pl.concat([edges, edges.select(entity="far", far="entity")]).unique()
        linked = both.join(at, on="entity").join(
            at.rename({"entity": "far"}), on="far", suffix="_2"
        )
        ends.append(linked.select("link", other="link_2").unique())
    shared = ends[0].join(ends[1], on=["link", "other"])
    counts = [
        placed.select(link="id")
        .join(table.group_by("link").len(), on="link", how="left", maintain_order="left")["len"]
        .fill_null(0)
        for table in (shared, *ends)
    ]
    either = counts[1] + counts[2]
    share = (2.0 * counts[0] / either).to_frame("share").select(pl.col("share").fill_nan(None))
    likeness = pl.Series("likeness", alike / 100.0, dtype=pl.Float64)
    apart: pl.Series = (likeness - share.to_series().fill_null(likeness)).abs()
    return apart


def _write_unmatched(connection: sqlite3.Connection, alignment: Alignment) -> None:
    """Write the entities without a link, the nearest misses first."""
    shift, found = len(alignment.pair.left.entities), []
    graphs = {"left": (alignment.pair.left, 0), "right": (alignment.pair.right, shift)}
    for side, (near, far) in {"left": ("left", "right"), "right": ("right", "left")}.items():
        rows = alignment.unmatched.filter(pl.col("side") == side)
        places = []
        for column, (graph, first) in (("entity", graphs[near]), ("candidate", graphs[far])):
            place = graph.positions(rows[column])
            places.append(pl.Series(column, np.where(place < 0, -1, place + first)))
        found.append(rows.with_columns(places).sort("score", descending=True, nulls_last=True))
    _insert(connection, "unmatched", pl.concat(found))


def _write_facets(
    connection: sqlite3.Connection, alignment: Alignment, links: pl.DataFrame
) -> None:
    """Write what links can be filtered by: the relations and types of their entities."""
    graphs, found, first = {"left": alignment.pair.left, "right": alignment.pair.right}, [], 1
    for kind, triples_of in (("relation", _relation_ends), ("type", _types)):
        tables = {side: triples_of(graph) for side, graph in graphs.items()}
        uris = pl.concat([named for _, named in tables.values()]).unique(maintain_order=True)
        numbered = []
        for side, (table, named) in tables.items():
            numbers = pl.Series(positions_of(named, uris) + first)
            facet = numbers.gather(table["code"]).alias("facet")
            at = links.select(entity=side, link="id")
            numbered.append(table.with_columns(facet).join(at, on="entity").select("facet", "link"))
        pairs = pl.concat(numbered).unique().sort("facet", "link")
        found.append(pairs)
        counts = pairs.group_by("facet").agg(links=pl.len())
        facets = pl.DataFrame({"id": np.arange(first, first + len(uris)), "uri": uris})
        facets = facets.join(counts, left_on="id", right_on="facet")
        _insert(connection, "facets", facets.with_columns(kind=pl.lit(kind)))
        first += len(uris)
    for pairs in found:
        _insert(connection, "link_facets", pairs)


def _relation_ends(graph: Graph) -> tuple[pl.DataFrame, pl.Series]:
    """Entities with the codes of their relations, read either way; and what the codes mean."""
    head, relation, tail = graph.triples.T
    ends = {"entity": np.append(head, tail), "code": np.append(relation, relation)}
    return pl.DataFrame(ends).unique(), graph.relations.cast(pl.String)


def _types(graph: Graph) -> tuple[pl.DataFrame, pl.Series]:
    """Entities with the codes of their types; and what the codes mean."""
    head, relation, tail = graph.triples.T
    is_type = (graph.relations == TYPE).to_numpy()[relation]
    types, code = np.unique(tail[is_type], return_inverse=True)
    table = pl.DataFrame({"entity": head[is_type], "code": code}).unique()
    return table, graph.entities.gather(types).cast(pl.String)


def _about(alignment: Alignment) -> dict[str, str]:
    """What the overview shows, as JSON, so that no table is read for it."""
    confidence = alignment.links["confidence"].fill_null(0.0).to_numpy()
    unmatched = alignment.unmatched.group_by("side", "reason").len().sort("side", "reason")
    relations = alignment.relations
    matches: list[dict[str, Any]] = []
    if relations is not None:
        order = relations.sort(["edges", "left", "right"], descending=[True, False, False])
        matches = order.head(RELATIONS).to_dicts()
    values = {
        "links": len(alignment.links),
        "histogram": np.histogram(confidence, bins=BINS, range=(0.0, 1.0))[0].tolist(),
        "unmatched": unmatched.to_dicts(),
        "relations": matches,
    }
    return {name: json.dumps(value) for name, value in values.items()}

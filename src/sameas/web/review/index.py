"""The index of a run folder: links, entities and what they are filtered by, in an SQLite database.

It holds nothing that is not in the run's tables, and is made again when these change. Links are
numbered from the least certain one on, so that their number is the order of the queue.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import polars as pl
from rapidfuzz import fuzz, process

from sameas.compute.atomic import replacing_file
from sameas.graph.graph import positions_of
from sameas.graph.matched import MatchedPair
from sameas.result.alignment import Alignment
from sameas.result.decisions import require_own_file, schema_made_by, schema_of
from sameas.result.run_folder import read_run
from sameas.text.folding import folded
from sameas.web.review.cluster_index import CLUSTER_INDEXES, CLUSTER_TABLES, cluster_tables
from sameas.web.review.facts import facts_of, types_of

FILE = "queue.sqlite"
FORMAT = 5
LARGE = 2**22
"""Bytes of the table of links from which on the index is made by another process."""
BINS = 20
"""Bars of the histogram of confidences."""
RELATIONS = 30
"""Relation matches that the overview lists."""
TABLES = (
    """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE entities (
  id INTEGER PRIMARY KEY, side TEXT, uri TEXT, name TEXT, degree INTEGER, type TEXT, fact TEXT
);
CREATE TABLE links (
  id INTEGER PRIMARY KEY, left INTEGER, right INTEGER, score REAL, confidence REAL,
  name_order INTEGER, degree INTEGER, disagreement REAL, teaching REAL
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
    + CLUSTER_TABLES
)
INDEXES = (
    """
CREATE UNIQUE INDEX entities_by_uri ON entities (uri, side);
CREATE INDEX entities_by_name ON entities (name);
CREATE INDEX links_by_left ON links (left);
CREATE INDEX links_by_right ON links (right);
CREATE INDEX links_by_score ON links (score);
CREATE INDEX links_by_confidence ON links (confidence);
CREATE INDEX links_by_name ON links (name_order);
CREATE INDEX links_by_degree ON links (degree);
CREATE INDEX links_by_disagreement ON links (disagreement);
CREATE INDEX links_by_teaching ON links (teaching);
CREATE INDEX unmatched_by_side ON unmatched (side, id);
CREATE INDEX unmatched_by_entity ON unmatched (entity);
"""
    + CLUSTER_INDEXES
)


def ensure_index(run: Path, folder: Path) -> Path:
    """The index of a run as it is now: the one in the run folder, or else one in ``folder``.

    For a large run another process makes it, because its tables take much more memory than the
    pages, which read the index alone.
    """
    for place in (run, folder):
        if _is_current(place / FILE, stamp(run)):
            return place / FILE
    if (run / "links.parquet").stat().st_size < LARGE:
        _make_index(run, folder / FILE)
    else:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            pool.submit(_make_index, run, folder / FILE).result()
    return folder / FILE


def _make_index(run: Path, path: Path) -> None:
    with replacing_file(path) as draft:
        write_index(read_run(run), draft, stamp=stamp(run))


def stamp(run: Path) -> str:
    """What changes when the run does."""
    files = [(run / f"{name}.parquet").stat() for name in ("links", "unmatched")]
    return json.dumps([FORMAT, *((one.st_size, one.st_mtime_ns) for one in files)])


def _is_current(path: Path, stamp: str) -> bool:
    require_own_file(path)
    if not path.is_file():
        return False
    try:
        with closing(sqlite3.connect(path)) as connection:
            if schema_of(connection) != schema_made_by(TABLES + INDEXES):
                return False
            query = "SELECT value FROM about WHERE name = 'stamp'"
            return bool(connection.execute(query).fetchone() == (stamp,))
    except (sqlite3.Error, OSError):
        return False


def write_index(alignment: Alignment, path: str | os.PathLike[str], *, stamp: str = "") -> None:
    """Write the index of an alignment."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.executescript(TABLES)
        for table, rows in _tables(alignment, stamp):
            columns, marks = ", ".join(rows.columns), ", ".join("?" * rows.width)
            insert = f"INSERT INTO {table} ({columns}) VALUES ({marks})"
            connection.executemany(insert, rows.iter_rows())
        connection.executescript(INDEXES)
        connection.commit()


def _tables(alignment: Alignment, stamp: str) -> Iterator[tuple[str, pl.DataFrame]]:
    """The rows of each table, one table at a time. Entities are numbered, the left ones first."""
    pair, far = alignment.pair, {"left": "right", "right": "left"}
    edges = edges_of(pair)
    entities = _entities(pair, edges)

    def ids(side: str, uris: pl.Series) -> pl.Series:
        graph, first = (pair.left, 0) if side == "left" else (pair.right, len(pair.left.entities))
        place = graph.positions(uris)
        return pl.Series(uris.name, np.where(place < 0, -1, place + first))

    yield "entities", entities.drop("text")
    yield "names", entities.select(rowid="id", name="text")
    for side in far:
        rows = alignment.unmatched.filter(pl.col("side") == side)
        rows = rows.sort("score", descending=True, nulls_last=True)  # the nearest misses first
        placed = ids(side, rows["entity"]), ids(far[side], rows["candidate"])
        yield "unmatched", rows.with_columns(placed)
    links = alignment.links.sort("confidence", "score", "left", "right")
    links = links.with_columns(ids(side, links[side]) for side in far).with_row_index("id", 1)
    left, right = (entities[links[side]] for side in far)
    met = linked_neighbours(links, edges)
    yield "link_names", links.select(rowid="id", name=left["text"] + " " + right["text"])
    yield (
        "links",
        links.with_columns(
            name_order=left["name"].str.to_lowercase().rank("ordinal"),
            degree=left["degree"] + right["degree"],
            disagreement=disagreement(links, met, (left["name"], right["name"])),
            teaching=teaching(links, met[0]),
        ),
    )
    yield from _facets(pair, links, edges, entities["uri"])
    if alignment.clusters is not None:
        yield from cluster_tables(alignment, entities)
    yield "about", _about(alignment, stamp)


def edges_of(pair: MatchedPair) -> pl.DataFrame:
    """head, relation, tail of both graphs; the numbers of the right one follow the left ones."""
    shift = np.array([len(pair.left.entities), len(pair.left.relations), len(pair.left.entities)])
    triples = np.concatenate([pair.left.triples, pair.right.triples + shift])
    return pl.DataFrame(triples, schema=["head", "relation", "tail"], orient="row")


def _entities(pair: MatchedPair, edges: pl.DataFrame) -> pl.DataFrame:
    """What is shown of all entities, and the text that finds them."""
    tables = [
        pl.DataFrame({"uri": graph.entities, "name": graph.names}).with_columns(side=pl.lit(side))
        for side, graph in (("left", pair.left), ("right", pair.right))
    ]
    table = pl.concat(tables).with_columns(pl.col("uri", "name").cast(pl.String))
    names, ends = table["name"], edges.select("head", "tail").to_numpy().ravel()
    plain = folded(names, numbers=False)  # so that Latin letters find names in any script
    return table.with_columns(
        id=pl.Series(np.arange(len(table))),
        degree=pl.Series(np.bincount(ends, minlength=len(table))),
        type=pl.concat(map(types_of, (pair.left, pair.right))),
        fact=pl.concat(map(facts_of, (pair.left, pair.right))),
        text=names.zip_with(plain == names.str.to_lowercase(), names + " " + plain),
    )


Met = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]
"""link, other: the links whose entities are neighbours on both sides, on the left, on the right."""


def linked_neighbours(links: pl.DataFrame, edges: pl.DataFrame) -> Met:
    """Which links are neighbours of each link; links are numbered from 1 on."""
    ends = []
    for side in ("left", "right"):
        heads, tails = links.select(head=side, link="id"), links.select(tail=side, other="id")
        there = edges.join(heads, on="head").join(tails, on="tail").select("link", "other")
        back = there.select(link="other", other="link")
        ends.append(pl.concat([there, back]).unique())
    return ends[0].join(ends[1], on=["link", "other"]), ends[0], ends[1]


def disagreement(links: pl.DataFrame, met: Met, names: tuple[pl.Series, pl.Series]) -> pl.Series:
    """How far apart the likeness of the names and that of the linked neighbours are, 0 to 1.

    The latter is the share of linked neighbours that are linked with each other; names count
    alone where there are none, and agree with themselves.
    """
    texts = [folded(series).to_list() for series in names]
    alike = process.cpdist(*texts, scorer=fuzz.token_sort_ratio) if len(links) else np.zeros(0)
    likeness = np.asarray(alike / 100.0, dtype=np.float64)
    shared, left, right = (
        np.bincount(table["link"].to_numpy(), minlength=len(links) + 1)[1:] for table in met
    )
    share = 2.0 * shared / np.maximum(left + right, 1)
    return pl.Series(np.where(left + right > 0, np.abs(likeness - share), 0.0))


def teaching(links: pl.DataFrame, shared: pl.DataFrame) -> pl.Series:
    """How much a decision about each link would teach, in bits: its own doubt, and that of others.

    The doubt of a link is the entropy of its confidence. What is decided about it carries over to
    the links that lean on it: those whose entities are neighbours on both sides, each by the share
    that this neighbour has among all that it leans on.
    """
    confidence = np.clip(links["confidence"].fill_null(0.5).to_numpy(), 1e-6, 1 - 1e-6)
    doubt = -confidence * np.log2(confidence) - (1 - confidence) * np.log2(1 - confidence)
    link, other = (shared[name].to_numpy() - 1 for name in ("link", "other"))
    leans_on = np.bincount(link, minlength=len(links))
    carried = np.bincount(link, doubt[other] / leans_on[other], minlength=len(links))
    return pl.Series(doubt * (1.0 + carried))


def _facets(
    pair: MatchedPair, links: pl.DataFrame, edges: pl.DataFrame, entities: pl.Series
) -> Iterator[tuple[str, pl.DataFrame]]:
    """What links can be filtered by: the relations and types of their entities; and who has it."""
    relations = pl.concat([pair.left.relations, pair.right.relations]).cast(pl.String)
    ends = pl.concat(links.select(entity=side, link="id") for side in ("left", "right"))
    ways = [edges.select(entity=end, code="relation").unique() for end in ("head", "tail")]
    shifted = pair.right.types + len(pair.left.entities)
    held = np.concatenate([pair.left.types, shifted])
    types = pl.DataFrame(held, schema=["entity", "code"], orient="row")
    first = 1
    for kind, codes, uris in (("relation", pl.concat(ways), relations), ("type", types, entities)):
        distinct = uris.unique(maintain_order=True)
        numbers = pl.lit(pl.Series(positions_of(uris, distinct) + first))
        linked = codes.join(ends, on="entity").select("link", facet=numbers.gather("code"))
        pairs = linked.unique().sort("facet", "link")
        yield "link_facets", pairs
        counts = pairs.group_by(id="facet").agg(links=pl.len())
        uri = pl.lit(distinct).gather(pl.col("id") - first)
        yield "facets", counts.with_columns(kind=pl.lit(kind), uri=uri)
        first += len(distinct)


def _about(alignment: Alignment, stamp: str) -> pl.DataFrame:
    """What the overview shows, as JSON, so that no table is read for it: name, value."""
    confidence = alignment.links["confidence"].fill_null(0.0).to_numpy()
    unmatched = alignment.unmatched.group_by("side", "reason").len().sort("side", "reason")
    relations, matches = alignment.relations, []
    if relations is not None:
        order = relations.sort(["edges", "left", "right"], descending=[True, False, False])
        matches = order.head(RELATIONS).to_dicts()
    values = {
        "links": len(alignment.links),
        "correct": float(confidence.sum()),
        "histogram": np.histogram(confidence, bins=BINS, range=(0.0, 1.0))[0].tolist(),
        "unmatched": unmatched.to_dicts(),
        "relations": matches,
    }
    shown = {name: json.dumps(value) for name, value in values.items()} | {"stamp": stamp}
    return pl.DataFrame([*shown.items()], schema=["name", "value"], orient="row")

"""Links out: the suffix of a path decides the format."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from sameas.compute.arrays import Positions
from sameas.compute.atomic import replacing_file
from sameas.errors import OptionError, OutputError, writing_to
from sameas.formats.alignment_api import SOURCES, write_alignment_api
from sameas.formats.files import address_of, elsewhere, kind_of
from sameas.formats.same_as import write_same_as
from sameas.formats.sssom import check_meta, write_sssom
from sameas.graph.given_tables import NUMBERS, Table, as_links
from sameas.graph.graph import Graph
from sameas.graph.iri import SKOS, are_blank, are_iris, is_iri, to_iris
from sameas.graph.kind import Kind
from sameas.graph.link_set import (
    LINK_COLUMNS,
    PREDICATES,
    SAME_AS,
    LinkSet,
    predicate_iri,
    saying,
    with_numbers,
)
from sameas.graph.matched import MatchedGraph
from sameas.result.alignment import Alignment
from sameas.result.carried import carried_columns, check_carried
from sameas.result.clusters import Clusters
from sameas.result.curated import curated, manual_columns
from sameas.result.run_folder import is_run, write_run

TABLES: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    ".tsv": lambda table, path: table.write_csv(path, separator="\t", quote_style="never"),
    ".csv": lambda table, path: table.write_csv(path),
    ".parquet": lambda table, path: table.write_parquet(path),
}
"""How a table of any kind is written."""
BY_KIND = pl.Series(
    [PREDICATES[name] for name in ("sameAs", "equivalentClass", "equivalentProperty", "exactMatch")]
)
"""The predicates of individuals, classes, properties and SKOS concepts."""
CONCEPT = 3
OF_CONCEPTS = [f"{SKOS}{name}" for name in ("broader", "narrower", "inScheme")]
"""Properties that only SKOS concepts have."""


def write(
    alignment: Alignment,
    path: str | os.PathLike[str],
    *,
    predicate: str | None = None,
    meta: Mapping[str, str] | None = None,
    with_: Sequence[str] = (),
) -> tuple[str, ...]:
    """Write an alignment: its links as the suffix says, or a run folder if there is none.

    ``predicate`` (sameAs, exactMatch, schema:sameAs, equivalentClass, equivalentProperty or an
    IRI) is what RDF and SSSOM say of a link, by default what fits its entities: equivalentClass
    for two classes, equivalentProperty for two properties, exactMatch for SKOS concepts and for
    entities of different kinds, else sameAs.
    ``meta`` holds statements about all links for SSSOM, such as a license. ``with_`` are columns of
    the graphs that a table of links carries for its readers: attributes or relations of that name,
    and "name"; "left=city" and "right=town" are columns of one side. Returns what the format
    cannot hold, in words; a run folder holds everything.
    """
    return prepare(path, predicate=predicate, meta=meta, folder=True, with_=with_)(alignment)


def write_links(
    links: LinkSet | Table,
    path: str | os.PathLike[str],
    *,
    predicate: str | None = None,
    meta: Mapping[str, str] | None = None,
) -> tuple[str, ...]:
    """Write a table of links in the format of the path's suffix; returns what it cannot hold.

    The table (polars, pandas, Arrow, or an iterable of pairs) has columns left and right, and may
    have score, confidence and predicate (an IRI, else sameAs). ``predicate`` and ``meta`` are as
    in `write`.
    """
    return prepare(path, predicate=predicate, meta=meta)(links)


def prepare(
    path: str | os.PathLike[str],
    *,
    predicate: str | None = None,
    meta: Mapping[str, str] | None = None,
    folder: bool = False,
    with_: Sequence[str] = (),
) -> Callable[[Alignment | LinkSet | Table], tuple[str, ...]]:
    """The function that writes links or an alignment there; call this before long work.

    Raises an OutputError if nothing could be written there, or an OptionError if ``predicate``,
    ``meta`` or ``with_`` cannot be used. ``folder`` allows a path without suffix, for a run folder.
    """
    path = Path(path)
    suffix = kind_of(path) if path.suffix.lower() == ".tsv" else path.suffix.lower()
    address = address_of(path)
    folder = folder and not address  # a run folder is renamed into its place, which is local
    remedy = "or no suffix for a run folder" if folder else "plain"
    check_place(path, suffix, {**FORMATS, "": None} if folder else FORMATS, remedy=remedy)
    iri = None if predicate is None else predicate_iri(predicate)
    metadata = check_meta(meta or {})
    columns = _carried(with_, path, suffix)

    def write_there(content: Alignment | LinkSet | Table) -> tuple[str, ...]:
        if isinstance(content, Alignment) and not suffix:
            write_run(content, path)
            return ()
        with sent_to(address) if address else replacing_file(path) as draft:
            clusters = curated(content).clusters if isinstance(content, Alignment) else None
            if clusters is not None and suffix in CLUSTER_TABLES:
                write_members(clusters, draft)
                return ()
            write_format, holds = FORMATS[suffix]
            links = _links_of(content, holds, columns)
            if iri is not None:
                links = saying(links, iri)
            links = replace(links, metadata={**links.metadata, **metadata})
            lost: list[str] = []
            if "any id" not in holds:
                links, lost = _as_iris(links)
            write_format(links, draft)
        return (*lost, *_not_held(links, holds))

    return write_there


def _links_of(
    content: Alignment | LinkSet | Table, holds: set[str], columns: Sequence[str]
) -> LinkSet:
    """The links for a format that holds this, with the columns that are to be carried."""
    if not isinstance(content, Alignment):
        if columns:
            raise OptionError("`with_` needs a run folder or an alignment, got links alone")
        return content if isinstance(content, LinkSet) else _link_set(content)
    content = curated(content)
    if content.clusters is not None:
        links = cluster_links(content, described="columns" in holds)
    else:
        links = described(content) if "columns" in holds else _link_set(content.links)
        if columns:
            check_carried(content.pair, columns)
            carried = carried_columns(content.pair, links.links, columns)
            links = replace(links, carried=tuple(carried))
    if "predicate" in holds:
        links = saying(links, predicates_of(content, links.links))
    if content.clusters is not None and "any id" not in holds:
        links = _as_iris_of_one_graph(links)
    return links


def _carried(columns: Sequence[str], path: Path, suffix: str) -> tuple[str, ...]:
    """The columns to carry, refused where links do not go to a table."""
    columns = (columns,) if isinstance(columns, str) else tuple(columns)
    if columns and suffix not in (*TABLES, ".jsonl"):
        remedy = "convert the run with it afterwards" if not suffix else "leave it out"
        raise OptionError(
            f"`with_` is for tables of links (.csv, .tsv, .parquet, .jsonl), got {path}; {remedy}"
        )
    return columns


@contextmanager
def sent_to(address: str) -> Iterator[Path]:
    """A path to write to; if the block succeeds, the file there is sent to the address."""
    system, place = elsewhere(address)
    with TemporaryDirectory(prefix="sameas-") as folder, writing_to(address):
        draft = Path(folder) / Path(place).name
        yield draft
        system.put_file(str(draft), place)


def check_place(path: Path, suffix: str, known: Collection[str], *, remedy: str) -> None:
    """Raise an OutputError unless a file, or a run folder, can be made there.

    ``known`` has the suffixes that are allowed, "" for a run folder.
    """
    with writing_to(path, remedy="; choose another place"):
        parent, is_folder = path.absolute().parent, path.is_dir()
        there = path.exists() or path.is_symlink()  # a link may lead nowhere, or to itself
        taken = there and not is_run(path) and not (is_folder and not any(path.iterdir()))
    if path.name in ("", ".."):
        problem = "is the folder itself; give it a name"
    elif suffix not in known:
        known = ", ".join(filter(None, known))
        problem = f'suffix "{suffix}" is not known; use {known}, {remedy}'
    elif address := address_of(path):
        if not address.startswith("memory:"):
            return
        problem = "is kept nowhere once the process has ended; give a file"
    elif parent.exists() and not parent.is_dir():
        problem = f"{parent} is not a folder; choose another place"
    elif not parent.is_dir():
        problem = f"the folder {parent} does not exist; make it first"
    elif not os.access(parent, os.W_OK):
        problem = f"the folder {parent} cannot be written to; choose another place"
    elif path.suffix and is_folder:
        problem = "is a folder; choose another name"
    elif not suffix and taken:
        problem = "exists and is not a run folder; choose another name, or a suffix such as .tsv"
    else:
        return
    raise OutputError(f"{address_of(path) or path}: {problem}")


def write_table(links: LinkSet, path: Path) -> None:
    """Write left, right, score and confidence: .tsv (without quotes), .csv, .parquet or .jsonl.

    An id with a tab or line break in it is an error in .tsv, and in a column for readers a space;
    numbers that are not finite become null in JSON Lines.
    """
    table, suffix = links.links.select(LINK_COLUMNS), path.suffix.lower()
    carried = [
        texts.str.replace_all(r"[\t\r\n]+", " ") if suffix == ".tsv" else texts
        for texts in links.carried
    ]
    table = table.with_columns(carried)
    if suffix == ".jsonl":
        numbers = pl.col(NUMBERS)
        table.with_columns(pl.when(numbers.is_finite()).then(numbers)).write_ndjson(path)
        return
    refuse_breaks(pl.concat([table["left"], table["right"]]), path)
    TABLES[suffix](table, path)


def refuse_breaks(ids: pl.Series, path: Path) -> None:
    """Raise an OutputError if an id cannot be written to .tsv."""
    wrong = ids.filter(ids.str.contains(r"[\t\r\n]"))
    if path.suffix.lower() == ".tsv" and len(wrong):
        raise OutputError(
            f"{path.name}: the entity {wrong[0]!r} has a tab or line break in it, which .tsv "
            "cannot hold; write .parquet or .csv"
        )


ANY = {"any id", *NUMBERS, "infinity"}
FORMATS: dict[str, tuple[Callable[[LinkSet, Path], None], set[str]]] = {
    **dict.fromkeys(TABLES, (write_table, ANY)),
    ".jsonl": (write_table, {"any id", *NUMBERS}),
    ".sssom.tsv": (write_sssom, {*NUMBERS, "infinity", "predicate", "columns", "metadata"}),
    ".nt": (write_same_as, {"predicate"}),
    ".ttl": (write_same_as, {"predicate"}),
    ".rdf": (write_alignment_api, {*NUMBERS, "infinity", *SOURCES.values()}),
}
"""How each format is written, and what it holds besides pairs of IRIs."""


CLUSTER_TABLES = (*TABLES, ".jsonl")
"""Formats in which clusters are written as a table of their members."""


def write_members(clusters: Clusters, path: Path) -> None:
    """Write entity, graph, cluster and confidence of all members."""
    if path.suffix.lower() == ".jsonl":
        clusters.table.write_ndjson(path)
        return
    refuse_breaks(clusters.table["entity"], path)
    TABLES[path.suffix.lower()](clusters.table, path)


def cluster_links(alignment: Alignment, *, described: bool) -> LinkSet:
    """Each member of a cluster with the canonical one; ``described``, with the names of both."""
    assert alignment.clusters is not None
    graph = alignment.pair.left

    def label(side: str) -> pl.Expr:
        name = pl.col(side).replace_strict(graph.entities, graph.names, default=None)
        return pl.when(name != "").then(name)

    pairs = alignment.clusters.canonical_links.with_columns(score=pl.lit(None, dtype=pl.Float64))
    if not described:
        return LinkSet(links=pairs.select(LINK_COLUMNS))
    table = pairs.select(
        *LINK_COLUMNS,
        subject_label=label("left"),
        object_label=label("right"),
        mapping_justification=pl.lit("semapv:CompositeMatching"),
    )
    tool = {"mapping_tool": "sameas", "mapping_tool_version": alignment.version}
    return LinkSet(links=table, metadata=tool)


def _as_iris_of_one_graph(links: LinkSet) -> LinkSet:
    """The links with IRIs for the entities of one graph."""
    both = (to_iris(links.links[side], side="left") for side in ("left", "right"))
    left, right = both
    return replace(links, links=links.links.with_columns(left=left, right=right))


def predicates_of(alignment: Alignment, links: pl.DataFrame | None = None) -> pl.Series:
    """The IRI of each link's predicate, in the order of the links, or of these (left, right).

    It is what fits both entities; skos:exactMatch where one is a class and the other is not.
    """
    links = alignment.links if links is None else links
    left, right = (
        _codes(graph, links[side])
        for side, graph in zip(("left", "right"), alignment.pair.graphs, strict=True)
    )
    left, right = np.where(left < 0, right, left), np.where(right < 0, left, right)
    left, right = np.where(left == Kind.PUN, right, left), np.where(right == Kind.PUN, left, right)
    codes = np.where(left == right, left, CONCEPT)
    return BY_KIND.gather(np.where(codes == Kind.PUN, Kind.CLASS, np.maximum(codes, 0))).rename(
        "predicate"
    )


def _codes(graph: MatchedGraph, entities: pl.Series) -> Positions:
    """What each of these entities is: a place in ``BY_KIND``, a pun, or -1 if it is not there."""
    has_kind = np.isin(graph.kinds, (Kind.CLASS, Kind.PROPERTY, Kind.PUN))
    concepts = graph.entities.is_in(_concepts(graph.source).implode()).to_numpy()
    codes = np.where(has_kind, graph.kinds, np.where(concepts, CONCEPT, 0))
    # The last one is that of entities that are not there, whose position is -1.
    return np.append(codes, -1)[graph.positions(entities)].astype(np.int64)


def _concepts(graph: Graph) -> pl.Series:
    """The SKOS concepts of a graph, by their type or by properties that only concepts have."""
    telling = graph.relations.is_in(OF_CONCEPTS).to_numpy()[graph.triples[:, 1]]
    is_concept = (graph.entities == f"{SKOS}Concept").to_numpy()[graph.types[:, 1]]
    concepts = np.append(graph.triples[telling, 0], graph.types[is_concept, 0])
    return graph.entities.gather(np.unique(concepts))


def _link_set(table: Table) -> LinkSet:
    return LinkSet(links=with_numbers(as_links(table, "links")))


def _as_iris(links: LinkSet) -> tuple[LinkSet, list[str]]:
    """The links with IRIs for entities, and what is lost: blank nodes have no meaning elsewhere."""
    blank = are_blank(links.links["left"]) | are_blank(links.links["right"])
    lost = [f"{blank.sum()} links of blank nodes"] if blank.any() else []
    table = links.links.filter(~blank)
    words = sum(int((~are_iris(table[side].unique())).sum()) for side in ("left", "right"))
    if words:
        lost.append(
            f"{words} ids that are no IRIs, as they are (they are written as "
            "urn:sameas:..., which sameas reads back as the id)"
        )
    left, right = to_iris(table["left"], side="left"), to_iris(table["right"], side="right")
    return replace(links, links=table.with_columns(left=left, right=right)), lost


def _not_held(links: LinkSet, holds: set[str]) -> Iterator[str]:
    """What is known about links that a format leaves out, in words."""
    table, metadata = links.links, links.metadata
    numbers = [name for name in NUMBERS if table[name].is_not_null().any()]
    if numbers and not holds >= set(NUMBERS):
        yield f"{' and '.join(numbers)} of the links"
    others = (links.predicates != SAME_AS).sum()
    if others and "predicate" not in holds:
        yield f"the predicate of {others} links, which is not owl:sameAs"
    if links.further and "columns" not in holds:
        yield f"columns {', '.join(links.further)}"
    slots = [slot for slot in metadata if slot not in holds or not is_iri(str(metadata[slot]))]
    if slots and "metadata" not in holds:
        yield f"metadata {', '.join(slots)}"
    infinite = sum(int((~table[name].is_finite()).sum()) for name in NUMBERS)
    if infinite and holds >= set(NUMBERS) and "infinity" not in holds:
        yield f"{infinite} numbers that are not finite"


def described(alignment: Alignment) -> LinkSet:
    """The links of an alignment with the names of their entities and how they were found."""

    def label(side: str, graph: MatchedGraph) -> pl.Expr:
        name = pl.col(side).replace_strict(graph.entities, graph.names, default=None)
        return pl.when(name != "").then(name)

    table = alignment.links.select(
        *LINK_COLUMNS,
        subject_label=label("left", alignment.pair.left),
        object_label=label("right", alignment.pair.right),
        mapping_justification=pl.lit("semapv:CompositeMatching"),
    )
    table = manual_columns(alignment, table)
    tool = {"mapping_tool": "sameas", "mapping_tool_version": alignment.version}
    return LinkSet(links=table, metadata=tool)

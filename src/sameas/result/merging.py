"""Two graphs as one, in the form that people have them in: property graphs, records or RDF."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import IO

import polars as pl

from sameas.errors import OutputError, shortened
from sameas.formats.apoc import write_apoc
from sameas.formats.files import kind_of
from sameas.formats.graphml import write_graphml
from sameas.formats.graphrag import write_graphrag
from sameas.formats.neo4j_csv import write_neo4j
from sameas.formats.node_link import write_node_link
from sameas.graph.iri import are_blank, are_iris
from sameas.graph.property_graph import PropertyGraph
from sameas.graph.property_view import attributes_of, property_graph_of, short_names
from sameas.options.options import Side
from sameas.result.alignment import Alignment
from sameas.result.clusters import Clusters
from sameas.result.curated import curated
from sameas.result.export import TABLES
from sameas.result.merge import shared_iris, write_merged_rdf
from sameas.result.merge_target import Form, check_conflicts, choose_target, opened, writing
from sameas.result.merged_clusters import (
    cluster_records,
    unify_clusters,
    with_own_iris,
    write_cypher,
)
from sameas.result.merged_graph import unify
from sameas.result.merged_records import merge_records, write_records
from sameas.result.same_properties import same_properties

WRITERS: dict[str, Callable[..., list[str]]] = {
    "graphml": write_graphml,
    "node-link": write_node_link,
    "apoc": write_apoc,
    "neo4j": write_neo4j,
    "graphrag": write_graphrag,
}
"""How a property graph is written: to one file or two; returns what cannot be held."""


@dataclass(frozen=True, kw_only=True)
class Merged:
    """What was written."""

    form: Form
    files: tuple[Path, ...] = ()
    """The files, without that of the conflicts."""
    triples: dict[str, int] = field(default_factory=dict)
    """Of RDF: how many came from the left graph, the right one, and the links."""
    counts: dict[str, int] = field(default_factory=dict)
    """Of other forms: nodes and edges, or rows."""
    conflicts: int | None = None
    """How many values disagree; None where they were not compared."""
    conflicts_file: Path | None = None
    not_held: tuple[str, ...] = ()
    """What the format cannot hold, in words."""


@dataclass(frozen=True, kw_only=True)
class _Content:
    """What is to be written."""

    write: Callable[..., list[str]]
    """Writes to one or two files; returns what they cannot hold."""
    conflicts: pl.DataFrame | None
    merged: Merged


def merge(
    alignment: Alignment,
    path: str | PathLike[str],
    *,
    keep: Side = "left",
    as_: Form | None = None,
    conflicts: str | PathLike[str] | None = None,
    dry_run: bool = False,
) -> Merged:
    """Write both graphs as one, in which linked entities have the id of the side to keep.

    The suffix says the form, or ``as_``: RDF (.nt, .nq, .ttl), GraphML (.graphml), node-link
    JSON (.json), JSON lines of apoc (.jsonl), CSV of neo4j-admin (two .csv with a comma between
    them), GraphRAG's Parquet (two .parquet), or records (one .csv, .tsv, .parquet or .jsonl). A
    folder gets the two files of the form that the graphs had. With .gz or .zst text is compressed.

    Properties of linked entities that agree are kept once, both where they disagree. Those are
    listed in the table ``conflicts`` (.csv, .tsv or .parquet), by default one beside the output
    with the ending ``.conflicts.csv``. RDF keeps every statement as it was read, and conflicts
    are listed only if a file for them is given.

    Of ``dedupe``, every cluster becomes one node, its canonical member, which says what nodes it
    was made of (``merged_ids``; in RDF, owl:sameAs); there is also a Cypher script (.cypher) that
    does this in Neo4j. Of several graphs too; an id that several of them have is preceded by the
    name of its graph, unless it is an IRI, which means the same in all.

    A ``dry_run`` counts, and writes nothing.
    """
    alignment = _with_run_ids(curated(alignment))
    target = choose_target(path, [graph.source for graph in alignment.pair.graphs], as_)
    table = Path(conflicts) if conflicts is not None else None
    if table is None and target.form != "rdf":
        table = target.conflicts
    if table is not None:
        check_conflicts(table, target.files)
    content = _content(alignment, target.form, kind_of(target.files[0]), keep, table is not None)
    if dry_run:
        found = content.conflicts
        return replace(content.merged, conflicts=None if found is None else len(found))
    with writing(target, table) as (drafts, table_draft):
        with ExitStack() as stack:
            pairs = zip(drafts, target.files, strict=True)
            files = [stack.enter_context(opened(*pair)) for pair in pairs]
            lost = content.write(*files)
        if table is not None and table_draft is not None and content.conflicts is not None:
            TABLES[table.suffix.lower()](content.conflicts, table_draft)
    if any(alignment.links[name].is_not_null().any() for name in ("score", "confidence")):
        lost.append("score and confidence of the links")
    return replace(
        content.merged,
        files=target.files,
        conflicts=None if content.conflicts is None else len(content.conflicts),
        conflicts_file=table,
        not_held=tuple(dict.fromkeys([*content.merged.not_held, *lost])),
    )


def _content(alignment: Alignment, form: Form, kind: str, keep: Side, compared: bool) -> _Content:
    """What is to be written in a form; ``compared`` if conflicts are to be listed."""
    if alignment.clusters is not None:
        if form == "cypher":
            _refuse_shared_ids(alignment)
        return _one_graph(alignment, alignment.clusters, form, kind, compared)
    if form == "cypher":
        raise OutputError("a Cypher script merges duplicates of one graph; give a run of dedupe")
    if form == "rdf":
        return _rdf(alignment, kind, keep, compared)
    return _records(alignment, kind, keep) if form == "records" else _graph(alignment, form, keep)


def _with_run_ids(alignment: Alignment) -> Alignment:
    """The alignment with clusters of the ids of its one graph, in which no two are the same.

    In clusters of several graphs, entities have the ids of their own graphs.
    """
    clusters = alignment.clusters
    if clusters is None or alignment.diagnostics.graphs is None:
        return alignment
    ids = alignment.origins.select("id", "entity", "graph")
    members = clusters.members.join(
        ids, on=["entity", "graph"], how="left", maintain_order="left"
    ).with_columns(entity=pl.coalesce("id", "entity"))
    renamed = replace(clusters, members=members.drop("id"))
    return replace(
        alignment,
        load=lambda name: renamed if name == "clusters" else getattr(alignment, name),
    )


def _refuse_shared_ids(alignment: Alignment) -> None:
    """Raise an OutputError if several graphs have the same id: a database cannot tell which."""
    if alignment.diagnostics.graphs is None:
        return
    shared = alignment.origins.filter(pl.col("id") != pl.col("entity"))["entity"]
    if len(shared):
        raise OutputError(
            f'several graphs have the id "{shortened(shared[0])}", by which a Cypher script finds '
            "nodes; give each graph ids of its own, or merge to files"
        )


def _qualified_ids(alignment: Alignment) -> list[str]:
    """That ids which several graphs have are written with the name of their graph, if any are."""
    if alignment.diagnostics.graphs is None:
        return []
    shared = alignment.origins.filter(pl.col("id") != pl.col("entity"))["entity"].unique()
    count = int((~are_iris(shared) & ~are_blank(shared)).sum()) if len(shared) else 0
    if not count:
        return []
    return [f"{count} ids that several graphs have, as they are (the name of the graph precedes)"]


def _one_graph(
    alignment: Alignment, clusters: Clusters, form: Form, kind: str, compared: bool
) -> _Content:
    """One graph with one node for each cluster."""
    source = alignment.pair.left.source
    graph, lost = property_graph_of(source)
    columns = getattr(source.reading, "id", ())
    id_column = columns[0] if columns else "id"
    before = {"nodes_before": len(graph.nodes), "clusters": len(clusters)}
    lost += _qualified_ids(alignment)
    iris = shared_iris(alignment)
    if form == "records":
        table, conflicts = cluster_records(graph, clusters, id_column=id_column, iris=iris)
        merged = Merged(form=form, counts={"rows": len(table), **before}, not_held=tuple(lost))
        return _Content(
            write=lambda file: write_records(table, file, kind), conflicts=conflicts, merged=merged
        )
    unified = unify_clusters(graph, clusters, in_lists=form != "graphml")
    unified = with_own_iris(unified, iris)
    counts = {"nodes": len(unified.graph.nodes), "edges": len(unified.graph.edges), **before}
    if form == "cypher":
        return _Content(
            write=lambda file: write_cypher(clusters, file, key=id_column),
            conflicts=unified.conflicts,
            merged=Merged(form=form, counts=counts),
        )
    if form == "rdf":
        content = _rdf(alignment, kind, "left", compared=False)
        lost_ids = (*content.merged.not_held, *_qualified_ids(alignment))
        merged = replace(content.merged, counts=counts, not_held=lost_ids)
        return replace(content, conflicts=unified.conflicts if compared else None, merged=merged)
    return _Content(
        write=lambda *files: WRITERS[form](unified.graph, *files),
        conflicts=unified.conflicts,
        merged=Merged(form=form, counts=counts, not_held=tuple(lost)),
    )


def _rdf(alignment: Alignment, kind: str, keep: Side, compared: bool) -> _Content:
    triples: dict[str, int] = {}

    def write(file: IO[bytes]) -> list[str]:
        counts, lost = write_merged_rdf(alignment, file, kind, keep=keep)
        triples.update(counts)
        return lost

    conflicts = None
    if compared:
        graphs, _ = _property_graphs(alignment)
        same = _same_keys(alignment, graphs)
        conflicts = unify(*graphs, alignment.links, keep=keep, same_keys=same).conflicts
    sources = [graph.source.edge_properties for graph in alignment.pair.graphs]
    count = sum(len(table) for table in sources if table is not None)
    lost = (f"{count} properties of edges",) if count else ()
    merged = Merged(form="rdf", triples=triples, not_held=lost)
    return _Content(write=write, conflicts=conflicts, merged=merged)


def _records(alignment: Alignment, kind: str, keep: Side) -> _Content:
    graphs, lost = _property_graphs(alignment)
    same = _same_keys(alignment, graphs)
    columns = alignment.pair.left.source.reading.id
    table, conflicts = merge_records(
        *graphs,
        alignment.links,
        keep=keep,
        same_keys=same,
        id_column=columns[0] if columns else "id",
    )
    if count := sum(len(graph.edge_properties) for graph in graphs):
        lost.append(f"{count} properties of edges")
    merged = Merged(form="records", counts={"rows": len(table)}, not_held=tuple(lost))
    return _Content(
        write=lambda file: write_records(table, file, kind), conflicts=conflicts, merged=merged
    )


def _graph(alignment: Alignment, form: Form, keep: Side) -> _Content:
    graphs, lost = _property_graphs(alignment)
    unified = unify(
        *graphs,
        alignment.links,
        keep=keep,
        same_keys=_same_keys(alignment, graphs),
        in_lists=form != "graphml",
    )
    if graphs[0].is_directed != graphs[1].is_directed:
        lost.append("that the edges of one of the graphs have no direction")
    if unified.renamed:
        other = "right" if keep == "left" else "left"
        text = f"{unified.renamed} ids that both graphs have for different things"
        lost.append(f"{text} (those of the {other} graph begin with {other}:)")
    counts = {"nodes": len(unified.graph.nodes), "edges": len(unified.graph.edges)}
    return _Content(
        write=lambda *files: WRITERS[form](unified.graph, *files),
        conflicts=unified.conflicts,
        merged=Merged(form=form, counts=counts, not_held=tuple(lost)),
    )


def _property_graphs(
    alignment: Alignment,
) -> tuple[tuple[PropertyGraph, PropertyGraph], list[str]]:
    """Both graphs as they were read, as property graphs, and what is lost by that."""
    left, lost = property_graph_of(alignment.pair.left.source)
    right, also_lost = property_graph_of(alignment.pair.right.source)
    return (left, right), [*lost, *also_lost]


def _same_keys(alignment: Alignment, graphs: tuple[PropertyGraph, PropertyGraph]) -> dict[str, str]:
    """Right properties and the left ones that they are the same as, as they are written."""
    left, right = (
        short_names(attributes_of(graph.source)["attribute"].unique())
        for graph in alignment.pair.graphs
    )
    held = [set(graph.properties["key"].unique()) for graph in graphs]
    matches = {
        right.get(theirs, theirs): left.get(ours, ours)
        for theirs, ours in same_properties(alignment).items()
    }
    return {
        theirs: ours
        for theirs, ours in matches.items()
        if theirs not in held[0] and ours not in held[1]
    }

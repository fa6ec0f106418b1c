"""Two graphs as one in RDF: linked entities share an IRI, triples know where they came from."""

from __future__ import annotations

from typing import IO

import numpy as np
import polars as pl

from sameas.formats.same_as import write_statements
from sameas.graph.graph import Graph
from sameas.graph.iri import MINTED, are_blank, are_iris, bracketed, to_iris, to_property_iris
from sameas.graph.labels import LABELS, names_from_uris
from sameas.graph.property_graph import LIST
from sameas.graph.property_tables import ID_NAME
from sameas.options.options import Side
from sameas.result.alignment import Alignment
from sameas.result.export import predicates_of
from sameas.result.identity import kept_entities

ESCAPES = {
    **{"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"},
    **{c: f"\\u{ord(c):04X}" for c in "\v\f\x1c\x1d\x1e\x85\u2028\u2029"},
}
"""What a literal cannot hold as it is, and what some readers take for the end of a line."""


def write_merged_rdf(
    alignment: Alignment, file: IO[bytes], kind: str, *, keep: Side
) -> tuple[dict[str, int], list[str]]:
    """Write both graphs as one; the triples by where they came from, and what is not held.

    Of RDF, every statement is written as it was read, with language, datatype and named graph;
    only IRIs of linked entities are replaced, as predicates too. Of tables, names that were given
    are labels and attributes are plain literals. Entities that several links connect are one: of
    several IRIs that could be kept, that of the best link is.

    For each IRI that was replaced a triple leads from the kept one to it: owl:sameAs, or what
    fits a class, a property or a SKOS concept. In N-Quads (.nq) every triple without a named
    graph is in one that says where it came from; N-Triples (.nt) and Turtle (.ttl) have no named
    graphs, and hold a triple of several graphs once.
    """
    pair = alignment.pair
    graphs: dict[Side, Graph] = {"left": pair.left.source, "right": pair.right.source}
    links = alignment.links
    if alignment.clusters is not None:
        # All ends are of one graph; the canonical member comes first, and is kept.
        nothing = Graph.from_triples(pl.DataFrame(schema=["head", "relation", "tail"]))
        graphs["right"] = nothing
        pairs = alignment.clusters.canonical_links.select("confidence", left="right", right="left")
        links = pairs.with_columns(score=pl.col("confidence"))
    links = links.with_columns(predicate=bracketed(predicates_of(alignment, links)))
    several, iris = alignment.diagnostics.graphs is not None, shared_iris(alignment)
    as_read = {side: graph.shape == "rdf" and not several for side, graph in graphs.items()}
    terms, same_as = _identities(graphs, links, keep=keep, iris=iris, as_read=as_read)
    left, right = (
        _statements(graph, terms[side], side, as_read=as_read[side])
        for side, graph in graphs.items()
    )
    parts = {"left": left, "right": right, "links": same_as}
    not_held = []
    if kind == ".nq":
        for part, table in parts.items():
            origin = pl.col("graph").replace("", f"<{MINTED}graph:{part}>")
            parts[part] = table.with_columns(origin)
    else:
        not_held.append("which graph a triple came from (.nq can)")
        if named := sum(int((table["graph"] != "").sum()) for table in parts.values()):
            not_held.append(f"the named graphs of {named} triples (.nq can)")
        parts = {part: table.drop("graph") for part, table in parts.items()}
    parts = {part: table.unique(maintain_order=True) for part, table in parts.items()}
    parts["right"] = parts["right"].join(
        parts["left"], on=parts["left"].columns, how="anti", maintain_order="left"
    )
    for table in parts.values():
        write_statements(table, file)
    tables = [graph for side, graph in graphs.items() if not as_read[side]]
    own = [graph.entities.replace(iris["id"], iris["entity"]) for graph in tables]
    ids = [*own, *(graph.relations for graph in tables)]
    if words := sum(int((~are_iris(column) & ~are_blank(column)).sum()) for column in ids):
        not_held.append(
            f"{words} ids that are no IRIs, as they are (they are written as urn:sameas:...)"
        )
    triples = {part: len(table) for part, table in parts.items()}
    return triples, not_held


def shared_iris(alignment: Alignment) -> pl.DataFrame:
    """id, entity: of several graphs, the ids of the run that stand for an IRI of more than one."""
    if alignment.diagnostics.graphs is None:
        return pl.DataFrame(schema={"id": pl.String, "entity": pl.String})
    shared = alignment.origins.filter(pl.col("id") != pl.col("entity"))
    return shared.filter(are_iris(shared["entity"])).select("id", "entity")


def _identities(
    graphs: dict[Side, Graph],
    links: pl.DataFrame,
    *,
    keep: Side,
    iris: pl.DataFrame,
    as_read: dict[Side, bool],
) -> tuple[dict[Side, pl.Series], pl.DataFrame]:
    """How each entity of a side is written, and the triples of links.

    Of a blank node and an IRI the IRI is kept, whichever side it is of. ``iris`` has entities of
    several graphs whose ids are not the IRIs that they have there; ``as_read`` are the sides on
    which ids are written as they are, since they come from RDF alone.
    """
    shift = len(graphs["left"].entities)
    written = pl.concat(
        _terms(graph.entities.replace(iris["id"], iris["entity"]), side, rdf=as_read[side])
        for side, graph in graphs.items()
    )
    one_graph = not len(graphs["right"].entities)
    of_sides = [graphs["left" if one_graph else side] for side in graphs]
    ends = np.stack(
        [graph.positions(links[side]) for side, graph in zip(graphs, of_sides, strict=True)], axis=1
    )
    known = np.flatnonzero(ends.min(axis=1) >= 0)
    links, ends = links[known], ends[known] + np.array([0, 0 if one_graph else shift])
    blank = written.str.starts_with("_:").to_numpy()
    kept = kept_entities(ends, links["score"], len(written), keep=keep, avoided=blank)
    terms = written.gather(kept)
    said = pl.DataFrame(
        {
            "subject": terms.gather(ends.ravel()),
            "predicate": links["predicate"].gather(np.repeat(np.arange(len(ends)), 2)),
            "object": written.gather(ends.ravel()),
        }
    ).with_columns(graph=pl.lit(""))
    said = said.filter(
        pl.col("subject") != pl.col("object"),
        ~pl.any_horizontal(pl.col("subject", "object").str.starts_with("_:")),
    ).unique(["subject", "object"], keep="first", maintain_order=True)
    return {"left": terms[:shift], "right": terms[shift:]}, said


def _terms(ids: pl.Series, side: Side, *, rdf: bool) -> pl.Series:
    """How each entity is written: an IRI, or a blank node whose label says its side.

    In a label, every character but letters and digits of ASCII is replaced by its code.
    """
    blank, labels = are_blank(ids), ids.str.slice(2)
    others = labels.filter(blank).str.extract_all("[^A-Za-z0-9]").explode().drop_nulls().unique()
    codes = {character: f"_{ord(character):x}_" for character in ("_", *others)}
    iris = bracketed(ids if rdf else to_iris(ids, side=side))
    terms: pl.Series = (f"_:{side}" + labels.str.replace_many(codes)).zip_with(blank, iris)
    return terms


def _statements(graph: Graph, terms: pl.Series, side: Side, *, as_read: bool) -> pl.DataFrame:
    """All triples of a graph as text: subject, predicate, object, graph ("" where it has none).

    IRIs are made of predicates that are none, unless they are written ``as_read``.
    """
    rdf = graph.shape == "rdf"

    def predicates(ids: pl.Series) -> pl.Series:
        """How predicates are written: like the entities that they are, in RDF."""
        if not rdf:
            return bracketed(to_property_iris(ids, side=side))
        kinds_of_terms = terms.gather(np.maximum(graph.positions(ids), 0))
        linked = pl.Series(graph.positions(ids) >= 0) & ~kinds_of_terms.str.starts_with("_:")
        written = bracketed(ids if as_read else to_property_iris(ids, side=side))
        text: pl.Series = kinds_of_terms.zip_with(linked, written)
        return text

    head, relation, tail = graph.triples.T
    between = pl.DataFrame(
        {
            "subject": terms.gather(head),
            "predicate": predicates(graph.relations).gather(relation),
            "object": terms.gather(tail),
        }
    ).with_columns(graph=pl.lit("") if graph.triple_graphs is None else graph.triple_graphs)
    literals = graph.attributes if rdf else _literals(graph)
    properties = literals["attribute"].unique(maintain_order=True)
    tag = pl.when(pl.col("language") != "").then("@" + pl.col("language"))
    datatype = pl.when(pl.col("datatype") != "").then("^^<" + pl.col("datatype") + ">")
    text = '"' + pl.col("value").str.replace_many(ESCAPES) + '"'
    spoken = literals.select(
        subject=pl.col("entity").replace(graph.entities, terms),
        predicate=pl.col("attribute").replace(properties, predicates(properties)),
        object=pl.concat_str(text, pl.coalesce(tag, datatype, pl.lit(""))),
        graph="graph",
    )
    statements = pl.concat([between, spoken])
    graphs = statements["graph"].unique()
    ids = graphs.str.strip_prefix("<").str.strip_suffix(">")
    written = _terms(ids, side, rdf=True).set(graphs == "", "")
    return statements.with_columns(pl.col("graph").replace(graphs, written))


def _literals(graph: Graph) -> pl.DataFrame:
    """What tables, records and property graphs say of entities, and their names as labels."""
    empty = {name: pl.lit("") for name in ("language", "datatype", "graph")}
    said = graph.attributes.filter(pl.col("attribute") != ID_NAME)
    lacking = {name: text for name, text in empty.items() if name not in said.columns}
    said = said.with_columns(**lacking).with_columns(pl.col("datatype").str.strip_suffix(LIST))
    labels = _labels(graph).with_columns(**empty)
    return pl.concat([said.select(labels.columns), labels])


def _labels(graph: Graph) -> pl.DataFrame:
    """Names as labels, but those made from URIs and those that an attribute holds already."""
    given = (graph.names != "") & (graph.names != names_from_uris(graph.entities))
    named = pl.DataFrame({"entity": graph.entities, "value": graph.names}).filter(given)
    held = graph.attributes.filter(pl.col("attribute").is_in(LABELS))
    return named.join(held, on=["entity", "value"], how="anti", maintain_order="left").select(
        "entity", attribute=pl.lit(LABELS[0]), value="value"
    )

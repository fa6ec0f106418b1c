"""Kinds of resources: class, property, individual, mention, holder, vocabulary.

What OWL, RDFS and SKOS say of a resource, and how it is used, tells its kind. Only resources of
the same kind are linked. Anonymous OWL expressions are dissolved into plain triples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.graph import Graph, Positions, positions_of
from sameas.identifiers import are_identifiers, namespaces

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
XSD = "http://www.w3.org/2001/XMLSchema#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
SKOSXL = "http://www.w3.org/2008/05/skos-xl#"
OBO = "http://www.geneontology.org/formats/oboInOwl#"
VOCABULARIES = (RDF, RDFS, OWL, XSD, SKOS, SKOSXL, OBO, "http://www.w3.org/XML/1998/namespace")
"""Namespaces whose terms describe graphs and are not what graphs are about."""

CLASS_TYPES = [f"{OWL}Class", f"{RDFS}Class", f"{OWL}DeprecatedClass", f"{RDFS}Datatype"]
PROPERTY_TYPES = [
    f"{RDF}Property",
    *(
        f"{OWL}{kind}Property"
        for kind in (
            *("Object", "Datatype", "Annotation", "Ontology", "Functional", "Deprecated"),
            *("InverseFunctional", "Transitive", "Symmetric", "Asymmetric", "Reflexive"),
            "Irreflexive",
        )
    ),
]
APART_TYPES = [f"{OWL}{name}" for name in ("Ontology", "AllDifferent", "Axiom", "Annotation", "AllDisjointClasses")]
BETWEEN_CLASSES = [f"{RDFS}subClassOf", f"{OWL}equivalentClass", f"{OWL}disjointWith", f"{OWL}complementOf"]
TO_CLASSES = [f"{RDF}type", f"{RDFS}domain", f"{RDFS}range", f"{OWL}someValuesFrom", f"{OWL}allValuesFrom", f"{OWL}onClass"]
BETWEEN_PROPERTIES = [f"{RDFS}subPropertyOf", f"{OWL}inverseOf", f"{OWL}equivalentProperty"]
OF_PROPERTIES = [f"{RDFS}domain", f"{RDFS}range"]
FILLERS = [f"{OWL}{name}" for name in ("someValuesFrom", "allValuesFrom", "hasValue", "onClass", "hasSelf")]
LABEL_NODES = [
    *(f"{SKOSXL}{name}" for name in ("prefLabel", "altLabel", "hiddenLabel")),
    *(f"{OBO}has{kind}Synonym" for kind in ("Exact", "Related", "Narrow", "Broad")),
    *(f"{OBO}{name}" for name in ("hasDefinition", "hasDbXref", "hasAlternativeId")),
]
"""Properties that lead to a node which only holds a text."""


class Kind(IntEnum):
    """What a resource is."""

    INDIVIDUAL = 0
    CLASS = 1
    PROPERTY = 2
    MENTION = 3
    """An IRI of another place, of which nothing is said."""
    HOLDER = 4
    """A node without a life of its own: blank, a label node, a reified value."""
    VOCABULARY = 5
    """A term of RDF, OWL, SKOS, ..., an ontology header, a deprecated resource."""


Kinds = NDArray[np.int8]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class _Graph:
    """A graph with its relations by IRI."""

    graph: Graph

    def code(self, iris: list[str]) -> Positions:
        found = positions_of(pl.Series(iris, dtype=pl.String), self.graph.relations.cast(pl.String))
        return found[found >= 0]

    def edges(self, iris: list[str]) -> Positions:
        """The triples of these relations."""
        return self.graph.triples[np.isin(self.graph.triples[:, 1], self.code(iris))]

    def at(self, iris: list[str]) -> Positions:
        found = self.graph.positions(pl.Series(iris, dtype=pl.String))
        return found[found >= 0]


def kinds_of(graph: Graph) -> Kinds:
    """The kind of each entity."""
    size, view = len(graph.entities), _Graph(graph)
    triples, entities = graph.triples, graph.entities.cast(pl.String)
    types = view.edges([f"{RDF}type"])

    def of_type(names: list[str]) -> Positions:
        return types[np.isin(types[:, 2], view.at(names)), 0]

    is_property = _mask(size, of_type(PROPERTY_TYPES))
    is_property |= _mask(size, view.edges(BETWEEN_PROPERTIES)[:, [0, 2]].ravel())
    is_property |= _mask(size, view.edges(OF_PROPERTIES)[:, 0], view.edges([f"{OWL}onProperty"])[:, 2])
    used = pl.concat([graph.relations.cast(pl.String), graph.attributes["attribute"].unique()])
    is_property |= entities.is_in(used.implode()).to_numpy()
    is_class = _mask(size, of_type(CLASS_TYPES), view.edges(TO_CLASSES)[:, 2])
    is_class |= _mask(size, view.edges(BETWEEN_CLASSES)[:, [0, 2]].ravel())
    blank = entities.str.starts_with("_:").to_numpy()

    kinds = np.full(size, Kind.INDIVIDUAL, dtype=np.int8)
    spoken = _mask(size, triples[:, 0], graph.positions(graph.attributes["entity"].unique()))
    space = namespaces(entities)
    described = space.filter(pl.Series(spoken & ~blank & ~is_class & ~is_property)).unique()
    abroad = ~space.is_in(described.implode()).to_numpy()
    kinds[~spoken & abroad] = Kind.MENTION
    kinds[is_class] = Kind.CLASS
    kinds[is_property] = Kind.PROPERTY
    kinds[blank | holders(graph, is_class | is_property)] = Kind.HOLDER
    apart = _vocabulary(entities) | _mask(size, of_type(APART_TYPES)) | _deprecated(graph)
    kinds[apart & ~blank] = Kind.VOCABULARY
    return kinds


def holders(graph: Graph, schema: Mask) -> Mask:
    """Which nodes have one owner, no edges of their own (but a type), one text and no name in their IRI."""
    size, view = len(graph.entities), _Graph(graph)
    triples = graph.distinct_triples()
    types = np.isin(triples[:, 1], view.code([f"{RDF}type"]))
    plain = triples[~types & (triples[:, 0] != triples[:, 2])]
    pairs = np.unique(plain[:, [0, 2]], axis=0)
    owners = np.bincount(pairs[:, 1], minlength=size)
    own = np.bincount(pairs[:, 0], minlength=size)
    said = graph.positions(graph.attributes["entity"])
    texts = np.bincount(said[said >= 0], minlength=size)
    found = (owners == 1) & (own == 0) & (texts == 1) & ~schema
    places = np.flatnonzero(found)
    found[places] = are_identifiers(graph.entities.cast(pl.String).gather(places)).to_numpy()
    labels = view.edges(LABEL_NODES)
    return found | (_mask(size, labels[:, 2]) & (own == 0) & ~schema)


def dissolve(graph: Graph, kinds: Kinds) -> Graph:
    """The graph with anonymous OWL expressions turned into triples between named resources.

    ``A subClassOf [onProperty p, someValuesFrom B]`` becomes ``A p B``; members of unions,
    intersections and lists hang from what the expression hangs from.
    """
    view, size = _Graph(graph), len(graph.entities)
    blank = graph.entities.cast(pl.String).str.starts_with("_:").to_numpy()
    on = view.edges([f"{OWL}onProperty"])
    lists = view.edges([f"{RDF}rest", f"{RDF}first"])
    sets = view.edges([f"{OWL}{n}" for n in ("unionOf", "intersectionOf", "oneOf", "members", "distinctMembers")])
    expression = blank & _mask(size, on[:, 0], lists[:, 0], sets[:, 0], view.edges([f"{OWL}complementOf"])[:, 0])
    if not expression.any():
        return graph
    property_of = {int(head): int(tail) for head, _, tail in on}
    relations = graph.relations.cast(pl.String).to_list()
    number = {iri: place for place, iri in enumerate(relations)}
    uris = graph.entities.cast(pl.String).to_list()
    below: dict[int, list[tuple[int, int]]] = {}
    fillers = set(view.code(FILLERS).tolist())
    skipped = set(view.code([f"{RDF}type", f"{OWL}onProperty"]).tolist())
    for head, relation, tail in graph.triples.tolist():
        if expression[head] and relation not in skipped:
            below.setdefault(head, []).append((relation, tail))

    def ends(node: int, relation: int, depth: int) -> list[tuple[int, int]]:
        """(relation, named end) of all that an expression leads to."""
        found = []
        for through, tail in below.get(node, ()) if depth else ():
            here = relation
            if through in fillers and node in property_of:
                iri = uris[property_of[node]]
                here = number.setdefault(iri, len(relations))
                if here == len(relations):
                    relations.append(iri)
            if expression[tail]:
                found += ends(tail, here, depth - 1)
            else:
                found.append((here, tail))
        return found

    new = [
        (head, relation, tail)
        for head, through, node in graph.triples.tolist()
        if expression[node] and not expression[head]
        for relation, tail in ends(node, through, 30)
    ]
    kept = ~(expression[graph.triples[:, 0]] | expression[graph.triples[:, 2]])
    triples = np.concatenate([graph.triples[kept], np.array(new, dtype=np.int64).reshape(-1, 3)])
    return replace(graph, relations=pl.Series("relation", relations), triples=triples)


def _vocabulary(entities: pl.Series) -> Mask:
    found = np.zeros(len(entities), dtype=np.bool_)
    for space in VOCABULARIES:
        found |= entities.str.starts_with(space).to_numpy()
    return found


def _deprecated(graph: Graph) -> Mask:
    said = graph.attributes.filter(
        (pl.col("attribute") == f"{OWL}deprecated") & pl.col("value").is_in(["true", "1"])
    )
    return _mask(len(graph.entities), graph.positions(said["entity"]))


def _mask(size: int, *places: NDArray[np.integer]) -> Mask:
    mask = np.zeros(size, dtype=np.bool_)
    for some in places:
        mask[some[some >= 0]] = True
    return mask

"""Kinds of resources: what OWL, RDFS and SKOS say of each, and how it is used.

Only resources of the same kind are linked. Anonymous OWL expressions are dissolved into plain
triples between named resources.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.graph import Graph, Positions, positions_of
from sameas.iri import OWL, RDF, RDFS, SKOS, XML, XSD
from sameas.naming import LABELS
from sameas.rdf.assembly import TYPE
from sameas.understanding.identifiers import are_identifiers, namespaces

SKOSXL = "http://www.w3.org/2008/05/skos-xl#"
OBO = "http://www.geneontology.org/formats/oboInOwl#"
VOCABULARIES = (RDF, RDFS, OWL, XSD, SKOS, SKOSXL, OBO, XML)
"""Namespaces whose terms describe graphs and are not what graphs are about."""


def _terms(space: str, names: str, end: str = "") -> list[str]:
    return [f"{space}{name}{end}" for name in names.split()]


CLASS_TYPES = [*_terms(OWL, "Class DeprecatedClass"), *_terms(RDFS, "Class Datatype")]
PROPERTY_TYPES = [
    f"{RDF}Property",
    *_terms(OWL, "Object Datatype Annotation Ontology Functional Deprecated", "Property"),
    *_terms(OWL, "InverseFunctional Transitive Symmetric Asymmetric Reflexive", "Property"),
    f"{OWL}IrreflexiveProperty",
]
APART_TYPES = _terms(OWL, "Ontology AllDifferent Axiom Annotation AllDisjointClasses")
BETWEEN_CLASSES = [
    f"{RDFS}subClassOf",
    *_terms(OWL, "equivalentClass disjointWith complementOf"),
]
TO_CLASSES = [
    *(TYPE, f"{RDFS}domain", f"{RDFS}range"),
    *_terms(OWL, "someValuesFrom allValuesFrom onClass"),
]
BETWEEN_PROPERTIES = [f"{RDFS}subPropertyOf", *_terms(OWL, "inverseOf equivalentProperty")]
FILLERS = _terms(OWL, "someValuesFrom allValuesFrom hasValue onClass hasSelf")
COLLECTIONS = _terms(OWL, "unionOf intersectionOf oneOf members distinctMembers")
LABEL_NODES = [
    *_terms(SKOSXL, "prefLabel altLabel hiddenLabel"),
    *_terms(OBO, "hasExact hasRelated hasNarrow hasBroad", "Synonym"),
    *_terms(OBO, "hasDefinition hasDbXref hasAlternativeId"),
]
"""Properties that lead to a node which only holds a text."""
DEEPEST = 30
"""Expressions within each other that are followed."""


class Kind(IntEnum):
    """What a resource is."""

    INDIVIDUAL = 0
    CLASS = 1
    PROPERTY = 2
    MENTION = 3
    """An IRI of another place, of which nothing is said; a neighbour and no more."""
    HOLDER = 4
    """A node without a life of its own: blank, a label node, a reified value."""
    VOCABULARY = 5
    """A term of RDF, OWL, SKOS, ..., an ontology header, a deprecated resource."""


LINKED = (Kind.INDIVIDUAL, Kind.CLASS, Kind.PROPERTY)

Kinds = NDArray[np.int8]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class View:
    """A graph as read, asked by IRIs."""

    graph: Graph

    @cached_property
    def triples(self) -> Positions:
        """The triples, each once."""
        return self.graph.distinct_triples()

    @cached_property
    def types(self) -> Positions:
        """The triples that tell types."""
        return self.edges([TYPE])

    @cached_property
    def blank(self) -> Mask:
        """Which entities are blank nodes."""
        return self.graph.entities.str.starts_with("_:").to_numpy()

    def relations(self, iris: Sequence[str]) -> Positions:
        """The numbers of these relations, as far as they are used."""
        found = positions_of(pl.Series(iris, dtype=pl.String), self.graph.relations)
        return found[found >= 0]

    def edges(self, iris: Sequence[str]) -> Positions:
        """The triples of these relations."""
        found: Positions = self.triples[np.isin(self.triples[:, 1], self.relations(iris))]
        return found

    def between(self) -> Positions:
        """Distinct triples that tell no types, without loops."""
        other = ~np.isin(self.triples[:, 1], self.relations([TYPE]))
        found: Positions = self.triples[other & (self.triples[:, 0] != self.triples[:, 2])]
        return found

    def of_type(self, iris: Sequence[str]) -> Positions:
        """The entities of these types."""
        classes = self.graph.positions(pl.Series(iris, dtype=pl.String))
        found: Positions = self.types[np.isin(self.types[:, 2], classes[classes >= 0]), 0]
        return found

    def mask(self, *places: NDArray[np.integer]) -> Mask:
        """Which entities are at these places."""
        mask = np.zeros(len(self.graph.entities), dtype=np.bool_)
        for some in places:
            mask[some[some >= 0]] = True
        return mask


def kinds_of(view: View, *, blank_nodes: bool = False) -> Kinds:
    """The kind of each entity; with ``blank_nodes``, these are like others."""
    graph, mask, edges = view.graph, view.mask, view.edges
    of_properties = edges([f"{RDFS}domain", f"{RDFS}range"])[:, 0]
    is_property = mask(
        view.of_type(PROPERTY_TYPES),
        edges(BETWEEN_PROPERTIES)[:, [0, 2]].ravel(),
        of_properties,
        edges([f"{OWL}onProperty"])[:, 2],
        graph.positions(graph.relations),
        graph.positions(graph.attributes["attribute"].unique()),
    )
    is_class = mask(
        view.of_type(CLASS_TYPES),
        edges(TO_CLASSES)[:, 2],
        edges(BETWEEN_CLASSES)[:, [0, 2]].ravel(),
    )
    kinds = np.full(len(graph.entities), Kind.INDIVIDUAL, dtype=np.int8)
    said = graph.positions(graph.attributes["entity"])
    spoken = mask(view.triples[:, 0], said)
    space = namespaces(graph.entities)
    described = space.filter(pl.Series(spoken & ~view.blank & ~is_class & ~is_property)).unique()
    kinds[~spoken & ~space.is_in(described.implode()).to_numpy()] = Kind.MENTION
    kinds[is_class] = Kind.CLASS
    kinds[is_property] = Kind.PROPERTY
    kinds[_holders(view, is_class | is_property, said)] = Kind.HOLDER
    if not blank_nodes:
        kinds[view.blank] = Kind.HOLDER
    own = ~view.blank
    for vocabulary in VOCABULARIES:
        kinds[own & graph.entities.str.starts_with(vocabulary).to_numpy()] = Kind.VOCABULARY
    kinds[own & mask(view.of_type(APART_TYPES), _deprecated(graph))] = Kind.VOCABULARY
    return kinds


def _holders(view: View, schema: Mask, said: Positions) -> Mask:
    """Nodes with one owner, no edges but a type, one text, which is no label, and a bare IRI."""
    size, between = len(view.graph.entities), view.between()
    pairs = np.unique(between[:, [0, 2]], axis=0)
    owners, own = (np.bincount(pairs[:, end], minlength=size) for end in (1, 0))
    texts = np.bincount(said[said >= 0], minlength=size)
    labels = view.graph.attributes.filter(pl.col("attribute").is_in(LABELS))["entity"]
    found: Mask = (owners == 1) & (own == 0) & (texts == 1) & ~schema
    found &= ~view.mask(view.graph.positions(labels))  # what has a label is a thing
    places = np.flatnonzero(found)
    found[places] = are_identifiers(view.graph.entities.gather(places)).to_numpy()
    found |= view.mask(view.edges(LABEL_NODES)[:, 2]) & (own == 0) & ~schema
    return found


def _deprecated(graph: Graph) -> Positions:
    said = graph.attributes.filter(
        pl.col("attribute") == f"{OWL}deprecated", pl.col("value").is_in(["true", "1"])
    )
    return graph.positions(said["entity"])


def dissolve(view: View) -> Graph:
    """The graph with anonymous OWL expressions turned into triples between named resources.

    ``A subClassOf [onProperty p, someValuesFrom B]`` becomes ``A p B``; members of unions,
    intersections and lists hang from what the expression hangs from.
    """
    graph = view.graph
    on = view.edges([f"{OWL}onProperty"])
    parts = view.edges([f"{RDF}rest", f"{RDF}first", *COLLECTIONS, f"{OWL}complementOf"])
    expression = view.blank & view.mask(on[:, 0], parts[:, 0])
    if not expression.any():
        return graph
    property_of = dict(on[:, [0, 2]].tolist())
    relations = graph.relations.to_list()
    numbers = {iri: number for number, iri in enumerate(relations)}
    fillers = set(view.relations(FILLERS).tolist())
    skipped = set(view.relations([TYPE, f"{OWL}onProperty"]).tolist())
    inside = expression[view.triples[:, 0]]
    below: dict[int, list[tuple[int, int]]] = {}
    for head, relation, tail in view.triples[inside].tolist():
        if relation not in skipped:
            below.setdefault(head, []).append((relation, tail))

    def ends(node: int, relation: int, depth: int) -> list[tuple[int, int]]:
        """Relation and named end of all that an expression leads to."""
        found = []
        for through, tail in below.get(node, ()) if depth else ():
            here = relation
            if through in fillers and node in property_of:
                here = numbers.setdefault(graph.entities[property_of[node]], len(numbers))
            found += ends(tail, here, depth - 1) if expression[tail] else [(here, tail)]
        return found

    leading = view.triples[~inside & expression[view.triples[:, 2]]]
    new = [
        (head, relation, tail)
        for head, through, node in leading.tolist()
        for relation, tail in ends(node, through, DEEPEST)
    ]
    kept = view.triples[~inside & ~expression[view.triples[:, 2]]]
    triples = np.concatenate([kept, np.array(new, dtype=np.int64).reshape(-1, 3)])
    return replace(
        graph, relations=pl.Series("relation", list(numbers)), triples=triples, triple_graphs=None
    )

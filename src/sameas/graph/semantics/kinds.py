"""Kinds of resources: what OWL, RDFS and SKOS say of each, and how it is used.

Only resources of the same kind are linked. Anonymous OWL expressions are dissolved into plain
triples between named resources.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.compute.arrays import Mask, Positions
from sameas.graph.graph import Graph, positions_of
from sameas.graph.iri import OWL, RDF, RDFS, SKOS, XML, XSD
from sameas.graph.labels import LABELS, are_identifiers, namespaces
from sameas.graph.rdf.reading import Reading
from sameas.options.tuning import TUNING, Tuning

VOCABULARIES = {
    "rdf": RDF,
    "rdfs": RDFS,
    "owl": OWL,
    "xsd": XSD,
    "skos": SKOS,
    "skosxl": "http://www.w3.org/2008/05/skos-xl#",
    "obo": "http://www.geneontology.org/formats/oboInOwl#",
    "xml": XML,
}
"""Namespaces whose terms describe graphs and are not what graphs are about, by prefix."""


def iris(terms: str) -> list[str]:
    """The IRIs of terms of these vocabularies, such as "rdf:type rdfs:label"."""
    parts = (term.split(":") for term in terms.split())
    return [f"{VOCABULARIES[prefix]}{name}" for prefix, name in parts]


CLASS_TYPES = "owl:Class owl:DeprecatedClass rdfs:Class rdfs:Datatype"
PROPERTY_TYPES = (
    "rdf:Property owl:ObjectProperty owl:DatatypeProperty owl:AnnotationProperty "
    "owl:OntologyProperty owl:FunctionalProperty owl:InverseFunctionalProperty "
    "owl:TransitiveProperty owl:SymmetricProperty owl:AsymmetricProperty "
    "owl:ReflexiveProperty owl:IrreflexiveProperty owl:DeprecatedProperty"
)
APART_TYPES = "owl:Ontology owl:AllDifferent owl:Axiom owl:Annotation owl:AllDisjointClasses"
BETWEEN_CLASSES = "rdfs:subClassOf owl:equivalentClass owl:disjointWith owl:complementOf"
TO_CLASSES = "rdf:type rdfs:domain rdfs:range owl:someValuesFrom owl:allValuesFrom owl:onClass"
BETWEEN_PROPERTIES = "rdfs:subPropertyOf owl:inverseOf owl:equivalentProperty"
FILLERS = "owl:someValuesFrom owl:allValuesFrom owl:hasValue owl:onClass owl:hasSelf"
PARTS = (
    "rdf:rest rdf:first owl:unionOf owl:intersectionOf owl:oneOf owl:members "
    "owl:distinctMembers owl:complementOf"
)
SYNONYMS = "obo:hasExactSynonym obo:hasRelatedSynonym obo:hasNarrowSynonym obo:hasBroadSynonym"
LABEL_NODES = (
    f"skosxl:prefLabel skosxl:altLabel skosxl:hiddenLabel {SYNONYMS} "
    "obo:hasDefinition obo:hasDbXref obo:hasAlternativeId"
)
"""Properties that lead to a node which only holds a text."""


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


@dataclass(frozen=True, eq=False)
class View:
    """A graph as read, asked by terms of vocabularies."""

    graph: Graph
    kinds: Kinds = field(default_factory=lambda: np.zeros(0, dtype=np.int8))
    """What each entity is, once that is known."""
    tuning: Tuning = TUNING

    @cached_property
    def triples(self) -> Positions:
        """The triples, each once."""
        return self.graph.distinct_triples()

    @cached_property
    def types(self) -> Positions:
        """The triples that tell types."""
        return self.edges("rdf:type")

    @cached_property
    def between(self) -> Positions:
        """The triples that tell no types, without loops."""
        other = ~np.isin(self.triples[:, 1], self.relations("rdf:type"))
        return np.asarray(self.triples[other & (self.triples[:, 0] != self.triples[:, 2])])

    @cached_property
    def blank(self) -> Mask:
        """Which entities are blank nodes."""
        return self.graph.entities.str.starts_with("_:").to_numpy()

    def relations(self, terms: str) -> Positions:
        """The numbers of these relations, as far as they are used."""
        found = positions_of(pl.Series(iris(terms)), self.graph.relations)
        return found[found >= 0]

    def edges(self, terms: str) -> Positions:
        """The triples of these relations."""
        return np.asarray(self.triples[np.isin(self.triples[:, 1], self.relations(terms))])

    def of_type(self, terms: str) -> Positions:
        """The entities of these types."""
        classes = self.graph.positions(pl.Series(iris(terms)))
        return np.asarray(self.types[np.isin(self.types[:, 2], classes[classes >= 0]), 0])

    def mask(self, *places: NDArray[np.integer]) -> Mask:
        """Which entities are at these places."""
        mask = np.zeros(len(self.graph.entities), dtype=np.bool_)
        for some in places:
            mask[some[some >= 0]] = True
        return mask


def view_of(graph: Graph, *, tuning: Tuning = TUNING) -> View:
    """The graph with the kinds of its entities, and with plain triples for OWL expressions."""
    raw = View(graph, tuning=tuning)
    return View(_dissolved(raw), _kinds(raw), tuning)


def _kinds(view: View) -> Kinds:
    """The kind of each entity."""
    graph, mask, edges = view.graph, view.mask, view.edges
    is_property = mask(
        view.of_type(PROPERTY_TYPES),
        edges(BETWEEN_PROPERTIES)[:, [0, 2]].ravel(),
        edges("rdfs:domain rdfs:range")[:, 0],
        edges("owl:onProperty")[:, 2],
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
    reading = graph.reading or Reading()
    if not reading.blank_nodes and reading.link != "all":
        kinds[view.blank] = Kind.HOLDER
    deprecated = graph.attributes.filter(
        pl.col("attribute") == f"{OWL}deprecated", pl.col("value").is_in(["true", "1"])
    )
    apart = mask(view.of_type(APART_TYPES), graph.positions(deprecated["entity"]))
    for vocabulary in VOCABULARIES.values():
        apart |= graph.entities.str.starts_with(vocabulary).to_numpy()
    kinds[apart & ~view.blank] = Kind.VOCABULARY
    return kinds


def _holders(view: View, schema: Mask, said: Positions) -> Mask:
    """Nodes with one owner, no edges but a type, one text, which is no label, and a bare IRI."""
    size, pairs = len(view.graph.entities), np.unique(view.between[:, [0, 2]], axis=0)
    owners, own = (np.bincount(pairs[:, end], minlength=size) for end in (1, 0))
    texts = np.bincount(said[said >= 0], minlength=size)
    labels = view.graph.attributes.filter(pl.col("attribute").is_in(LABELS))["entity"]
    found: Mask = (owners == 1) & (own == 0) & (texts == 1) & ~schema
    found &= ~view.mask(view.graph.positions(labels))  # what has a label is a thing
    places = np.flatnonzero(found)
    uris = view.graph.entities.gather(places)
    found[places] = are_identifiers(uris, tuning=view.tuning.labels).to_numpy()
    found |= view.mask(view.edges(LABEL_NODES)[:, 2]) & (own == 0) & ~schema
    return found


def _dissolved(view: View) -> Graph:
    """The graph with anonymous OWL expressions turned into triples between named resources.

    ``A subClassOf [onProperty p, someValuesFrom B]`` becomes ``A p B``; members of unions,
    intersections and lists hang from what the expression hangs from.
    """
    graph = view.graph
    on = view.edges("owl:onProperty")
    expression = view.blank & view.mask(on[:, 0], view.edges(PARTS)[:, 0])
    if not expression.any():
        return graph
    property_of = dict(on[:, [0, 2]].tolist())
    numbers = {iri: number for number, iri in enumerate(graph.relations)}
    fillers = set(view.relations(FILLERS).tolist())
    skipped = set(view.relations("rdf:type owl:onProperty").tolist())
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
        for relation, tail in ends(node, through, view.tuning.semantics.deepest)
    ]
    kept = view.triples[~inside & ~expression[view.triples[:, 2]]]
    triples = np.concatenate([kept, np.array(new, dtype=np.int64).reshape(-1, 3)])
    return replace(
        graph, relations=pl.Series("relation", list(numbers)), triples=triples, triple_graphs=None
    )

"""Kinds of resources: what OWL, RDFS and SKOS say of each, and how it is used.

Only resources of the same kind are linked, unless the other graph has none of a kind. Anonymous
OWL expressions are dissolved into plain triples between named resources.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.compute.arrays import Mask, Positions
from sameas.graph.graph import Graph, sorted_distinct
from sameas.graph.iri import OWL, RDF, RDFS, SKOS, XML, XSD, are_iris
from sameas.graph.kind import Kind
from sameas.graph.labels import LABELS, are_identifiers, namespaces
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


LINKED = (Kind.INDIVIDUAL, Kind.CLASS, Kind.PROPERTY, Kind.PUN)

Kinds = NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class View:
    """A graph as read with triples of its own, asked by terms of vocabularies."""

    graph: Graph
    relations: pl.Series
    triples: Positions
    """Those of the graph, or plain ones in place of OWL expressions."""
    kinds: Kinds = field(default_factory=lambda: np.zeros(0, dtype=np.int8))
    """What each entity is, once that is known."""
    tuning: Tuning = TUNING

    @cached_property
    def distinct(self) -> Positions:
        """The triples without duplicates."""
        if self.triples is self.graph.triples:
            return self.graph.distinct_triples
        return sorted_distinct(self.triples, len(self.graph.entities), len(self.relations))

    @cached_property
    def types(self) -> Positions:
        """Entity and type of the triples of rdf:type; shape (k, 2).

        Other properties that say a type do not make a class of it: Wikidata's types are items.
        """
        return self.edges("rdf:type")[:, [0, 2]]

    @cached_property
    def between(self) -> Positions:
        """The triples that tell no types, without loops."""
        other = ~np.isin(self.distinct[:, 1], self.codes("rdf:type"))
        return np.asarray(self.distinct[other & (self.distinct[:, 0] != self.distinct[:, 2])])

    @cached_property
    def relation_codes(self) -> dict[str, int]:
        """The number of each relation."""
        return {iri: code for code, iri in enumerate(self.relations)}

    @cached_property
    def vocabulary(self) -> dict[str, int]:
        """The positions of the entities that are terms of ``VOCABULARIES``."""
        is_term = pl.any_horizontal(
            pl.col("entity").str.starts_with(namespace) for namespace in VOCABULARIES.values()
        )
        entities = pl.DataFrame({"entity": self.graph.entities}).with_row_index("position")
        terms = entities.filter(is_term)
        return dict(zip(terms["entity"], terms["position"], strict=True))

    @cached_property
    def blank(self) -> Mask:
        """Which entities are blank nodes."""
        return self.graph.entities.str.starts_with("_:").to_numpy()

    def codes(self, terms: str) -> Positions:
        """The numbers of these relations, as far as they are used."""
        codes = [self.relation_codes[iri] for iri in iris(terms) if iri in self.relation_codes]
        return np.array(codes, dtype=np.int64)

    def edges(self, terms: str) -> Positions:
        """The distinct triples of these relations."""
        return np.asarray(self.distinct[np.isin(self.distinct[:, 1], self.codes(terms))])

    def of_type(self, terms: str) -> Positions:
        """The entities of these types."""
        classes = [self.vocabulary[iri] for iri in iris(terms) if iri in self.vocabulary]
        return np.asarray(self.types[np.isin(self.types[:, 1], classes), 0])

    def with_attribute(self, condition: pl.Expr) -> Positions:
        """The entities of the attributes that fulfil a condition."""
        rows = self.graph.attributes.select(condition).to_series().to_numpy()
        return np.asarray(self.graph.attribute_entities[rows])

    def mask(self, *positions: NDArray[np.integer]) -> Mask:
        """Which entities are at these positions; those below zero are none."""
        mask = np.zeros(len(self.graph.entities), dtype=np.bool_)
        for each in positions:
            mask[each[each >= 0]] = True
        return mask


def view_of(graph: Graph, *, tuning: Tuning = TUNING) -> View:
    """The graph with the kinds of its entities, and with plain triples for OWL expressions."""
    as_read = View(graph, graph.relations, graph.triples, tuning=tuning)
    return replace(_dissolved(as_read), kinds=_kinds(as_read))


def _kinds(view: View) -> Kinds:
    """The kind of each entity."""
    graph, mask, edges = view.graph, view.mask, view.edges
    is_property = mask(
        view.of_type(PROPERTY_TYPES),
        edges(BETWEEN_PROPERTIES)[:, [0, 2]].ravel(),
        edges("rdfs:domain rdfs:range")[:, 0],
        edges("owl:onProperty")[:, 2],
        _used_as_properties(graph),
    )
    is_class = mask(
        view.of_type(CLASS_TYPES),
        edges(TO_CLASSES)[:, 2],
        edges(BETWEEN_CLASSES)[:, [0, 2]].ravel(),
    )
    kinds = np.full(len(graph.entities), Kind.INDIVIDUAL, dtype=np.int8)
    any_node = graph.shape == "rdf"  # in other shapes, what has a row or an edge is an entity
    if any_node:
        kinds[_mentions(view, is_class | is_property)] = Kind.MENTION
    kinds[is_class] = Kind.CLASS
    kinds[is_property] = Kind.PROPERTY
    kinds[mask(view.of_type(CLASS_TYPES)) & mask(view.of_type(PROPERTY_TYPES))] = Kind.PUN
    if any_node:
        kinds[_holders(view, is_class | is_property)] = Kind.HOLDER
        if not graph.reading.blank_nodes and graph.reading.link != "all":
            kinds[view.blank] = Kind.HOLDER
    deprecated = (pl.col("attribute") == f"{OWL}deprecated") & pl.col("value").is_in(["true", "1"])
    apart = mask(
        view.of_type(APART_TYPES),
        view.with_attribute(deprecated),
        np.fromiter(view.vocabulary.values(), dtype=np.int64),
    )
    kinds[apart & ~view.blank] = Kind.VOCABULARY
    return kinds


def _used_as_properties(graph: Graph) -> Positions:
    """The entities that are relations or attributes, too; of plain words that says nothing."""
    properties = pl.concat([graph.relations, graph.attributes["attribute"].unique()])
    entities = graph.positions(properties)
    entities = entities[entities >= 0]
    return np.asarray(entities[are_iris(graph.entities.gather(entities)).to_numpy()])


def _mentions(view: View, schema: Mask) -> Mask:
    """Nodes of which nothing is said, in namespaces without a thing of which something is."""
    graph = view.graph
    described = view.mask(view.distinct[:, 0], graph.attribute_entities)
    if graph.given_names is not None:
        described |= graph.given_names.is_not_null().to_numpy()
    if described.all():
        return ~described
    spaces = namespaces(graph.entities)
    things = pl.Series(described & ~view.blank & ~schema)
    inside = spaces.is_in(spaces.filter(things).unique().implode()).to_numpy()
    mentions: Mask = ~described & ~inside
    return mentions


def _holders(view: View, schema: Mask) -> Mask:
    """Nodes with one owner, no edges but a type, one text, which is no label, and a bare IRI."""
    size, pairs = len(view.graph.entities), np.unique(view.between[:, [0, 2]], axis=0)
    owners, children = (np.bincount(pairs[:, end], minlength=size) for end in (1, 0))
    subjects = view.graph.attribute_entities
    texts = np.bincount(subjects[subjects >= 0], minlength=size)
    holders: Mask = (owners == 1) & (children == 0) & (texts == 1) & ~schema
    # What has a label is a thing.
    holders &= ~view.mask(view.with_attribute(pl.col("attribute").is_in(LABELS)))
    positions = np.flatnonzero(holders)
    uris = view.graph.entities.gather(positions)
    holders[positions] = are_identifiers(uris, tuning=view.tuning.labels).to_numpy()
    holders |= view.mask(view.edges(LABEL_NODES)[:, 2]) & (children == 0) & ~schema
    return holders


def _dissolved(view: View) -> View:
    """The view with anonymous OWL expressions turned into triples between named resources.

    ``A subClassOf [onProperty p, someValuesFrom B]`` becomes ``A p B``; members of unions,
    intersections and lists hang from what the expression hangs from.
    """
    graph = view.graph
    on = view.edges("owl:onProperty")
    expression = view.blank & view.mask(on[:, 0], view.edges(PARTS)[:, 0])
    if not expression.any():
        return view
    property_of = dict(on[:, [0, 2]].tolist())
    codes = dict(view.relation_codes)
    fillers = set(view.codes(FILLERS).tolist())
    skipped = set(view.codes("rdf:type owl:onProperty").tolist())
    inside = expression[view.distinct[:, 0]]
    below: dict[int, list[tuple[int, int]]] = {}
    for head, relation, tail in view.distinct[inside].tolist():
        if relation not in skipped:
            below.setdefault(head, []).append((relation, tail))

    def ends(node: int, relation: int, depth: int) -> list[tuple[int, int]]:
        """Relation and named end of all that an expression leads to."""
        pairs = []
        for through, tail in below.get(node, ()) if depth else ():
            here = relation
            if through in fillers and node in property_of:
                here = codes.setdefault(graph.entities[property_of[node]], len(codes))
            pairs += ends(tail, here, depth - 1) if expression[tail] else [(here, tail)]
        return pairs

    leading = view.distinct[~inside & expression[view.distinct[:, 2]]]
    new = [
        (head, relation, tail)
        for head, through, node in leading.tolist()
        for relation, tail in ends(node, through, view.tuning.semantics.deepest)
    ]
    kept = view.distinct[~inside & ~expression[view.distinct[:, 2]]]
    triples = np.concatenate([kept, np.array(new, dtype=np.int64).reshape(-1, 3)])
    relations = pl.Series("relation", list(codes))
    return View(graph, relations, triples, tuning=view.tuning)

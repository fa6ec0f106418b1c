"""What is said of each link: the predicate that fits the kind of its left entity."""

from __future__ import annotations

import numpy as np
import polars as pl

from sameas.alignment import Alignment
from sameas.graph import Graph
from sameas.iri import SKOS
from sameas.links import PREDICATES, SAME_AS
from sameas.rdf.assembly import TYPE
from sameas.understanding import Kind

BY_KIND = pl.Series(
    [PREDICATES[name] for name in ("sameAs", "equivalentClass", "equivalentProperty", "exactMatch")]
)
"""The predicates of individuals, classes, properties and SKOS concepts."""
CONCEPT = 3
OF_CONCEPTS = [f"{SKOS}{name}" for name in ("broader", "narrower", "inScheme")]
"""Properties that only SKOS concepts have."""


def predicates_of(alignment: Alignment, left: pl.Series | None = None) -> pl.Series:
    """The IRI of each link's predicate, in the order of the links, or of these left entities."""
    graph = alignment.pair.left
    kinds = graph.kinds
    concepts = _concepts(graph.raw or graph)
    places = np.where(graph.entities.is_in(concepts.implode()), CONCEPT, 0)
    if kinds is not None:
        places = np.where(np.isin(kinds, (Kind.CLASS, Kind.PROPERTY)), kinds, places)
    left = alignment.links["left"] if left is None else left
    predicates: pl.Series = left.replace_strict(
        graph.entities, BY_KIND.gather(places), default=SAME_AS, return_dtype=pl.String
    )
    return predicates.rename("predicate")


def _concepts(graph: Graph) -> pl.Series:
    """The SKOS concepts of a graph, by their type or by properties that only concepts have."""
    head, relation, tail = graph.triples.T
    telling = graph.relations.is_in(OF_CONCEPTS).to_numpy()[relation]
    typed = (graph.relations == TYPE).to_numpy()[relation]
    typed &= (graph.entities == f"{SKOS}Concept").to_numpy()[tail]
    return graph.entities.gather(np.unique(head[telling | typed]))

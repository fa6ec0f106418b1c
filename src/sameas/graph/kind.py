"""Kind: what a resource is."""

from __future__ import annotations

from enum import IntEnum


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
    PUN = 6
    """A class and a property at once, which may be linked as either."""

"""Graph and GraphPair: what is to be aligned, as tables of text and arrays of positions."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
import pyoxigraph as ox
from numpy.typing import NDArray

from sameas.compute.arrays import Positions
from sameas.errors import OptionError, shortened
from sameas.graph.labels import MOST_LETTERS, beginnings, choose_names, names_from_attributes
from sameas.graph.rdf.assembly import assemble
from sameas.graph.rdf.reading import Reading
from sameas.graph.rdf.statements import statements_of
from sameas.graph.tables import Table, as_series, as_table

ATTRIBUTE_SCHEMA = pl.Schema({"entity": pl.String, "attribute": pl.String, "value": pl.String})
ALTERNATIVE_SCHEMA = pl.Schema({"entity": pl.String, "name": pl.String})


@dataclass(frozen=True, eq=False, kw_only=True)
class Graph:
    """One knowledge graph: n entities with names, and m triples between them.

    Make one with ``from_triples``, ``from_rdflib``, ``from_pyoxigraph`` or ``from_networkx``, or
    read one with ``sameas.read_graph``.

    ``triples`` has shape (m, 3): positions of head in ``entities``, relation in ``relations``
    and tail in ``entities``. Duplicates and loops are kept as they were found; the stages
    that must not count them twice leave them out themselves.
    """

    entities: pl.Series
    """URI (or the input's id) of each entity; distinct."""
    names: pl.Series
    """Text of each entity; empty where there is none."""
    names_given: int = 0
    """How many of the names were given; the others were made from URIs."""
    relations: pl.Series
    triples: Positions
    attributes: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=ATTRIBUTE_SCHEMA))
    """Literal-valued triples: entity, attribute, value."""
    alternatives: pl.DataFrame = field(
        default_factory=lambda: pl.DataFrame(schema=ALTERNATIVE_SCHEMA)
    )
    """Further names, where an entity has more than one: entity, name; the better first."""
    linkable: Positions | None = None
    """Positions of the entities that may be linked, ascending; None for all. The others (blank
    nodes, classes) are only neighbours."""
    kinds: NDArray[np.int8] | None = None
    """What each entity is (a ``sameas.graph.semantics.kinds.Kind``), where that is known."""
    name_paths: tuple[str, ...] = ()
    """The attributes that hold the names, where these were found among them."""
    naming: pl.DataFrame | None = None
    """The properties that hold names or could: path, entities, likeness, chosen; best first."""
    raw: Graph | None = None
    """All that was read, where names and kinds were found in it."""
    reading: Reading | None = None
    """The rules that RDF was read by, if names and kinds have not been found in it yet."""
    triple_graphs: pl.Series | None = None
    """The named graph of each triple as N-Quads write it, where there are any."""
    reading_counts: dict[str, int] = field(default_factory=dict)
    """Counters collected while reading: statements, malformed ones that were skipped, ..."""

    @classmethod
    def from_triples(
        cls,
        triples: Table,
        *,
        names: Table | None = None,
        attributes: Table | None = None,
        alternatives: Table | None = None,
        entities: Any = None,
    ) -> Graph:
        """The graph of a table with the columns head, relation and tail.

        A table is a polars, pandas or Arrow one, a mapping of columns or an iterable of tuples.
        ``attributes`` is a table of entity, attribute and value, ``alternatives`` one of entity
        and name (further names). ``names`` is a mapping, a table of entity and name, or a series
        in the order of ``entities``; names that are not given are the labels among the
        attributes, else made from URIs. ``entities`` are by default all heads, tails and
        entities of attributes, in order of first appearance.

        >>> graph = Graph.from_triples([("Paris", "capital of", "France")])
        >>> graph.names.to_list(), graph.triples.tolist()
        (['Paris', 'France'], [[0, 0, 1]])
        """
        table = as_table(triples, ("head", "relation", "tail"), argument="triples")
        said = as_table(
            () if attributes is None else attributes,
            tuple(ATTRIBUTE_SCHEMA),
            argument="attributes",
            may_be_empty=("value",),
        ).with_columns(pl.col("value").fill_null(""))
        further = () if alternatives is None else alternatives
        further = as_table(further, tuple(ALTERNATIVE_SCHEMA), argument="alternatives")
        ends = table.select(pl.concat_list("head", "tail").explode()).to_series()
        mentioned = pl.concat([ends, said["entity"], further["entity"]]).unique(maintain_order=True)
        if entities is None:
            uris = mentioned
        else:
            uris = as_series(entities, argument="entities")
            missing = mentioned.filter(positions_of(mentioned, uris) < 0)
            if len(missing):
                problem = f'of the triples and attributes, "{shortened(missing[0])}" is missing'
                raise OptionError(f"`entities` must hold all entities {problem}")
        relations = table["relation"].unique().sort()
        columns = (("head", uris), ("relation", relations), ("tail", uris))
        if names is None:
            names = names_from_attributes(said)
        chosen, given = _names(names, uris)
        return cls(
            entities=uris.rename("entity"),
            names=chosen,
            names_given=given,
            relations=relations,
            triples=np.stack([positions_of(table[name], among) for name, among in columns], axis=1),
            attributes=said,
            alternatives=further,
        )

    @classmethod
    def from_rdflib(cls, graph: Any, *, reading: Reading | None = None) -> Graph:
        """The graph of an rdflib ``Graph`` or ``Dataset``, by the rules for RDF files."""
        dataset = hasattr(graph, "quads")
        with warnings.catch_warnings():  # rdflib calls functions that it deprecates
            warnings.simplefilter("ignore", DeprecationWarning)
            content = graph.serialize(format="nquads" if dataset else "nt", encoding="utf-8")
        format = ox.RdfFormat.N_QUADS if dataset else ox.RdfFormat.N_TRIPLES
        try:
            return cls.from_pyoxigraph(ox.parse(input=content, format=format), reading=reading)
        except SyntaxError as error:
            raise OptionError(f"`graph` must be valid RDF: {shortened(error.msg, 200)}") from None

    @classmethod
    def from_pyoxigraph(cls, store: Iterable[ox.Quad], *, reading: Reading | None = None) -> Graph:
        """The graph of a pyoxigraph ``Store`` or ``Dataset``, by the rules for RDF files."""
        batches = statements_of(store)
        return cls.from_statements(batches, reading or Reading(), Counter(), "the graph")

    @classmethod
    def from_networkx(cls, graph: Any) -> Graph:
        """The graph of a networkx ``MultiDiGraph`` or ``DiGraph``.

        The relation of an edge is its attribute "relation", else its key. The node attributes
        "name" and "label" are names, the better first; all others are attributes.
        """
        if not graph.is_directed():
            raise OptionError("`graph` must be directed, got an undirected one instead")
        edges = (
            graph.edges(keys=True, data=True)
            if graph.is_multigraph()
            else ((head, tail, None, data) for head, tail, data in graph.edges(data=True))
        )
        triples, names, attributes = [], [], []
        for head, tail, key, data in edges:
            relation = data.get("relation", key)
            if relation is None:
                problem = f'(its key or "relation"), got none from {head!r} to {tail!r}'
                raise OptionError(f"`graph` must have a relation on each edge {problem}")
            triples.append((str(head), str(relation), str(tail)))
        for node, data in graph.nodes(data=True):
            labels = {name: data[name] for name in ("name", "label") if name in data}
            names += [(str(node), text) for text in _texts(labels.values())]
            for name in (name for name in data if name not in labels):
                attributes += [(str(node), str(name), text) for text in _texts([data[name]])]
        names = list(dict.fromkeys(names))
        first = dict(reversed(names))
        return cls.from_triples(
            triples,
            entities=[str(node) for node in graph.nodes],
            names=first,
            attributes=attributes,
            alternatives=[row for row in names if first[row[0]] != row[1]],
        )

    @classmethod
    def from_statements(
        cls, batches: Iterable[pl.DataFrame], reading: Reading, tally: Counter[str], place: str
    ) -> Graph:
        """The graph that tables of RDF statements make, as read (``sameas.graph.rdf.assembly``).

        Only the usual labels are names yet; ``sameas.align`` finds out what else names things,
        and what is a thing, when both graphs are known.
        """
        parts = assemble(batches, reading, tally, place)
        found = names_from_attributes(parts["attributes"], reading.label)
        names, given = choose_names(parts["entities"], found)
        return cls(**parts, names=names, names_given=given, reading=reading)

    def __post_init__(self) -> None:
        """Refuse parts that do not belong together."""
        if len(self.names) != len(self.entities):
            counts = f"{len(self.names)} for {len(self.entities)} entities"
            raise ValueError(f"names must have one row per entity, got {counts} instead")
        if self.entities.n_unique() != len(self.entities):
            raise ValueError("entities must be distinct, got duplicates instead")
        if self.triples.ndim != 2 or self.triples.shape[1] != 3:
            raise ValueError(f"triples must have shape (m, 3), got {self.triples.shape} instead")
        limits = np.array([len(self.entities), len(self.relations), len(self.entities)])
        if (self.triples < 0).any() or (self.triples >= limits).any():
            problem = "must hold positions in entities and relations, got one out of range"
            raise ValueError(f"triples {problem}")
        if self.linkable is not None:
            inside = (self.linkable >= 0) & (self.linkable < len(self.entities))
            if not inside.all() or not (np.diff(self.linkable) > 0).all():
                raise ValueError("linkable must hold ascending positions, got others instead")

    def __repr__(self) -> str:
        """Counts instead of contents."""
        return (
            f"Graph({len(self.entities)} entities, {len(self.relations)} relations, "
            f"{len(self.triples)} triples)"
        )

    @property
    def asks_for_all(self) -> bool:
        """Whether the user wants links of everything: of holders of values, of equal IRIs."""
        return self.reading is not None and self.reading.link == "all"

    def distinct_triples(self) -> Positions:
        """The triples without duplicates, sorted; shape (k, 3)."""
        if not len(self.triples):
            return self.triples
        head, relation, tail = self.triples.T
        key = (head * len(self.relations) + relation) * len(self.entities) + tail
        return self.triples[np.unique(key, return_index=True)[1]]

    def positions(self, entities: pl.Series) -> Positions:
        """The position of each of these entities, -1 where it is not in the graph."""
        return positions_of(entities, self.entities)

    def in_order(self) -> Graph:
        """The same graph with everything in an order that does not depend on that of the input.

        Entities and relations are sorted by URI, triples and attributes by what they say.
        """
        order, relation_order = self.entities.arg_sort(), self.relations.arg_sort()
        place, relation_place = (np.argsort(each) for each in (order, relation_order))
        head, relation, tail = self.triples.T
        triples = np.stack([place[head], relation_place[relation], place[tail]], axis=1)
        by_triple = np.lexsort(triples.T[::-1])
        graphs, linkable, kinds = self.triple_graphs, self.linkable, self.kinds
        return replace(
            self,
            entities=self.entities.gather(order),
            names=self.names.gather(order),
            relations=self.relations.gather(relation_order),
            triples=triples[by_triple],
            triple_graphs=None if graphs is None else graphs.gather(by_triple),
            attributes=self.attributes.sort(self.attributes.columns),
            alternatives=self.alternatives.sort("entity", maintain_order=True),
            linkable=None if linkable is None else np.sort(place[linkable]),
            kinds=None if kinds is None else kinds[order],
            raw=None if self.raw is None else self.raw.in_order(),
        )

    def with_short_names(self) -> tuple[Graph, int]:
        """The graph with the beginnings of its names, as they are compared; how many were cut."""
        further = self.alternatives["name"]
        lengths = pl.concat([self.names.str.len_chars(), further.str.len_chars()])
        cut = int((lengths > MOST_LETTERS).sum())
        if not cut:
            return self, 0
        alternatives = self.alternatives.with_columns(beginnings(further))
        return replace(self, names=beginnings(self.names), alternatives=alternatives), cut

    def without(self, entities: pl.Series) -> Graph:
        """The graph without these entities and all that is said of them; the others renumbered."""
        gone = self.entities.is_in(entities.implode())
        kept = ~gone.to_numpy()
        number = np.cumsum(kept) - 1
        head, relation, tail = self.triples.T
        inside = kept[head] & kept[tail]
        other = ~pl.col("entity").is_in(entities.implode())
        linkable = self.linkable
        return replace(
            self,
            entities=self.entities.filter(~gone),
            names=self.names.filter(~gone),
            names_given=min(self.names_given, int(kept.sum())),
            triples=np.stack([number[head], relation, number[tail]], axis=1)[inside],
            attributes=self.attributes.filter(other),
            alternatives=self.alternatives.filter(other),
            linkable=None if linkable is None else number[linkable[kept[linkable]]],
            kinds=None if self.kinds is None else self.kinds[kept],
            raw=None,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class GraphPair:
    """Two graphs about the same things, with gold links where they are known.

    ``gold`` has the columns left and right: entities, by URI.
    """

    left: Graph
    right: Graph
    gold: pl.DataFrame | None = None

    @property
    def kinds(self) -> tuple[NDArray[np.int8], NDArray[np.int8]] | None:
        """What the entities of both graphs are, where that is known of both."""
        left, right = self.left.kinds, self.right.kinds
        return None if left is None or right is None else (left, right)

    def __repr__(self) -> str:
        """Counts instead of contents."""
        gold = "no gold links" if self.gold is None else f"{len(self.gold)} gold links"
        return f"GraphPair({self.left}, {self.right}, {gold})"


def positions_of(wanted: pl.Series, among: pl.Series) -> Positions:
    """The position of each wanted value in a series of distinct values, -1 where it is missing.

    >>> positions_of(pl.Series(["b", "x"]), pl.Series(["a", "b"]))
    array([ 1, -1])
    """
    index = pl.DataFrame({"key": among, "position": np.arange(len(among), dtype=np.int64)})
    found = pl.DataFrame({"key": wanted.cast(among.dtype)}).join(
        index, on="key", how="left", maintain_order="left"
    )
    return found["position"].fill_null(-1).to_numpy()


def _names(given: Any, entities: pl.Series) -> tuple[pl.Series, int]:
    """The name of each entity, and how many of them were given."""
    if isinstance(given, Mapping):
        given = list(given.items())
    is_list = isinstance(given, list | tuple)
    has_pairs = is_list and (not given or isinstance(given[0], list | tuple))
    if not (has_pairs or hasattr(given, "columns") or hasattr(given, "column_names")):
        names = as_series(given, argument="names").rename("name")
        if len(names) != len(entities):
            counts = f"{len(names)} for {len(entities)} entities"
            raise OptionError(f"`names` must have one row per entity, got {counts} instead")
        return names, int((names != "").sum())
    table = as_table(given, tuple(ALTERNATIVE_SCHEMA), argument="names", may_be_empty=("name",))
    return choose_names(entities, table.drop_nulls())


def _texts(values: Iterable[Any]) -> list[str]:
    """Values of node attributes as text; collections hold several, None and "" hold none."""
    texts = []
    for value in values:
        several = isinstance(value, list | tuple | set | frozenset)
        found = [str(one) for one in (value if several else [value]) if one not in (None, "")]
        texts += sorted(found) if isinstance(value, set | frozenset) else found
    return texts

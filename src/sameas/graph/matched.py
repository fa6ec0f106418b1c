"""MatchedGraph and MatchedPair: graphs as they are matched, made of graphs as they were read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sameas.compute.arrays import Mask, Positions
from sameas.compute.in_files import put_in_file
from sameas.graph.graph import (
    TYPE_NODE,
    Graph,
    GraphTables,
    Rearranged,
    check_linkable,
    check_names,
    pair_html,
    tables_in_order,
    tables_without,
)
from sameas.graph.iri import TYPE
from sameas.graph.kind import Kind
from sameas.graph.labels import MOST_LETTERS, beginnings
from sameas.graph.notebook import html_entities
from sameas.options.tuning import TUNING

NAMING_SCHEMA = pl.Schema(
    {"path": pl.String, "entities": pl.Int64, "likeness": pl.Float64, "chosen": pl.Boolean}
)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class MatchedGraph(GraphTables):
    """One knowledge graph as it is matched: what may be linked, and what it is called.

    ``sameas.read_pair`` and ``sameas.align`` make it of a ``Graph``. Nodes that only hold
    something are left out, and what they hold is said of the entities they belong to.
    """

    names: pl.Series
    """Text of each entity; empty where there is none."""
    names_given: int
    """How many of the names the input brings; the others were made from URIs."""
    linkable: Positions
    """Positions of the entities that may be linked, ascending; the others (blank nodes, mentions
    of other places) are only neighbours."""
    kinds: NDArray[np.int8]
    """What each entity is (a ``sameas.graph.kind.Kind``): an individual where nothing
    says otherwise."""
    name_paths: tuple[str, ...] = ()
    """The attributes that hold the names, where these were found among them."""
    naming: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=NAMING_SCHEMA))
    """The properties that hold names or could: path, entities, likeness, chosen; best first."""
    source: Graph
    """The graph as it was read or given."""

    def __post_init__(self) -> None:
        """Refuse parts that do not belong together."""
        super().__post_init__()
        check_names(self.names, self.entities)
        check_linkable(self.linkable, self.entities)
        if len(self.kinds) != len(self.entities):
            counts = f"{len(self.kinds)} for {len(self.entities)} entities"
            raise ValueError(f"kinds must have one row per entity, got {counts} instead")

    def _repr_html_(self) -> str:
        """Counts and some entities, for notebooks."""
        return html_entities(repr(self), self.names, self.entities)

    @cached_property
    def undirected(self) -> Mask:
        """Which relations have no direction: where edges of the source have none, all but types.

        Such an edge is read in one direction, which says nothing.
        """
        keys = self.source.keys
        if keys is None or keys.is_directed:
            return np.zeros(len(self.relations), dtype=np.bool_)
        return np.asarray((self.relations != TYPE).to_numpy())

    @cached_property
    def type_shares(self) -> tuple[csr_array, pl.Series]:
        """The types of each entity, shape (entities, types + 1), and the IRIs of the types.

        Rows sum to one, shared equally by the types of an entity; the last column is for entities
        without a type.
        """
        entity, kind = self.types.T
        distinct, column = np.unique(kind, return_inverse=True)
        size = len(self.entities)
        untyped = np.flatnonzero(np.bincount(entity, minlength=size) == 0)
        rows = np.append(entity, untyped)
        columns = np.append(column, np.full(len(untyped), len(distinct)))
        share = 1.0 / np.bincount(rows, minlength=size)[rows]
        matrix = csr_array((share, (rows, columns)), shape=(size, len(distinct) + 1))
        return matrix, self.entities.gather(distinct)

    def in_order(self) -> MatchedGraph:
        """The same graph with everything in an order that does not depend on that of the input.

        Entities and relations are sorted by URI, triples and attributes by what they say.
        """
        new = tables_in_order(self)
        return self._rearranged(new, self._source_in_order(new))

    def _source_in_order(self, new: Rearranged) -> Graph:
        """The source in order; it shares the new entities and triples if it had the same ones.

        Records and nodes stay in the order in which people have them, and get them back.
        """
        source = self.source
        if source.shape in ("records", "property graph"):
            return source
        shared = source.entities is self.entities and source.triples is self.triples
        return source.in_order(new if shared else None)

    def without(self, entities: pl.Series) -> MatchedGraph:
        """The graph without these entities and all that is said of them; the others renumbered."""
        return self._rearranged(tables_without(self, entities), self.source.without(entities))

    def in_files(self) -> MatchedGraph:
        """The same graph, and its source, with triples and tables of text in files."""
        source, triples = self.source, put_in_file(self.triples)
        if source.triples is self.triples:
            source = source.with_tables_in_files(triples=triples)
        else:
            source = source.in_files()
        return self.with_tables_in_files(triples=triples, source=source)

    def with_short_names(self) -> tuple[MatchedGraph, int]:
        """The graph with the beginnings of its names, as they are compared; how many were cut."""
        further = self.alternatives["name"]
        lengths = pl.concat([self.names.str.len_chars(), further.str.len_chars()])
        cut = int((lengths > MOST_LETTERS).sum())
        if not cut:
            return self, 0
        alternatives = self.alternatives.with_columns(beginnings(further))
        return replace(self, names=beginnings(self.names), alternatives=alternatives), cut

    def _rearranged(self, new: Rearranged, source: Graph) -> MatchedGraph:
        """The graph with other tables, and with its source in the same order."""
        names = self.names.gather(new.entities)
        return replace(
            self,
            **new.tables,
            names=names,
            names_given=min(self.names_given, len(names)),
            linkable=new.renumbered(self.linkable),
            kinds=self.kinds[new.entities],
            source=source,
        )


def count_things(graph: MatchedGraph) -> int:
    """How many entities a graph is about, without the nodes that stand for tables and labels."""
    return len(graph.entities) - int(graph.entities.str.starts_with(TYPE_NODE).sum())


@dataclass(frozen=True, eq=False, kw_only=True)
class MatchedPair:
    """Two graphs about the same things as they are matched, with gold links where they are known.

    ``gold`` has the columns left and right: entities, by URI.
    """

    left: MatchedGraph
    right: MatchedGraph
    gold: pl.DataFrame | None = None

    @property
    def graphs(self) -> tuple[MatchedGraph, MatchedGraph]:
        """The left and the right graph."""
        return self.left, self.right

    @property
    def is_one_graph(self) -> bool:
        """Whether both sides are the same graph, in which duplicates are looked for."""
        return self.left is self.right

    @cached_property
    def compared_kinds(self) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """The kinds by which left and right entities are told apart.

        A class and an individual are told apart only if ``kinds_meet`` is False. What is class
        and property at once counts as a property; ``puns`` says what does.
        """
        left, right = (graph.kinds.copy() for graph in self.graphs)
        for kinds in (left, right):
            kinds[kinds == Kind.PUN] = Kind.PROPERTY
            if self.kinds_meet:
                kinds[kinds == Kind.CLASS] = Kind.INDIVIDUAL
        return left, right

    @cached_property
    def puns(self) -> tuple[Mask, Mask]:
        """Which left and right entities are classes and properties at once."""
        return self.left.kinds == Kind.PUN, self.right.kinds == Kind.PUN

    @cached_property
    def kinds_meet(self) -> bool:
        """Whether a class may be linked with an individual.

        That is so where most of a graph is classes, or individuals, and the other graph has next
        to none of that kind.
        """
        left, right = (
            np.bincount(graph.kinds[graph.linkable], minlength=2)[: Kind.CLASS + 1]
            for graph in self.graphs
        )
        share = TUNING.semantics.counterparts
        return any(
            bool((ours[kind] * 2 > ours.sum()) & (theirs[kind] < share * ours[kind]))
            for ours, theirs in ((left, right), (right, left))
            if theirs.any()
            for kind in (Kind.CLASS, Kind.INDIVIDUAL)
        )

    def in_files(self) -> MatchedPair:
        """The same pair with what few stages look at in files."""
        left = self.left.in_files()
        return replace(self, left=left, right=left if self.is_one_graph else self.right.in_files())

    def __repr__(self) -> str:
        """Counts instead of contents."""
        gold = "no gold links" if self.gold is None else f"{len(self.gold)} gold links"
        return f"MatchedPair({self.left}, {self.right}, {gold})"

    def _repr_html_(self) -> str:
        """Counts of both graphs, for notebooks."""
        return pair_html("MatchedPair", self.left, self.right, self.gold)

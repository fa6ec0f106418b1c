"""Graph and GraphPair: graphs as they were read or given, as tables of text and arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import polars as pl
import pyoxigraph as ox

from sameas.compute.arrays import Positions
from sameas.compute.in_files import put_in_file, table_in_file
from sameas.errors import OptionError, shortened
from sameas.graph.convert import parts_of_networkx, statements_of_rdflib
from sameas.graph.given_tables import Table, TableError, as_series, as_table
from sameas.graph.iri import TYPE, WIKIDATA_TYPE
from sameas.graph.labels import look_up_names, names_from_attributes, names_from_uris
from sameas.graph.notebook import html_card, html_entities, html_table
from sameas.graph.property_tables import (
    PropertyKeys,
    PropertyTables,
    reading_of,
    tables_of_parts,
    understood_tables,
)
from sameas.graph.rdf.assembly import assemble
from sameas.graph.rdf.reading import Reading
from sameas.graph.rdf.statements import statements_of
from sameas.graph.record_graph import name_attribute, record_tables
from sameas.graph.record_values import record_rows
from sameas.graph.records import Records, make_records

ATTRIBUTE_SCHEMA = pl.Schema({"entity": pl.String, "attribute": pl.String, "value": pl.String})
ALTERNATIVE_SCHEMA = pl.Schema({"entity": pl.String, "name": pl.String})
IN_FILES = ("attributes", "alternatives")
"""Tables of large graphs that are kept in files."""
MANY = 50_000
"""Entities beyond which a graph is large: tables that few stages look at are in files, and what was
read takes half the memory (measured). Those of fewer take less than the libraries."""
Shape = Literal["rdf", "triples", "records", "property graph"]
"""What a graph was made of, and so what people expect to get back."""
TYPE_NODE = "urn:type/"
"""Begins the id of the node that stands for a label of a property graph, or for a table."""
Tables = TypeVar("Tables", bound="GraphTables")


@dataclass(frozen=True, eq=False, kw_only=True)
class GraphTables:
    """The tables that a graph as read and a graph as matched have in common.

    ``triples`` has shape (m, 3): positions of head in ``entities``, relation in ``relations``
    and tail in ``entities``. Duplicates and loops are kept as they were read.
    """

    entities: pl.Series
    """URI (or the input's id) of each entity; distinct."""
    relations: pl.Series
    triples: Positions
    attributes: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=ATTRIBUTE_SCHEMA))
    """Literal-valued triples: entity, attribute, value."""
    alternatives: pl.DataFrame = field(
        default_factory=lambda: pl.DataFrame(schema=ALTERNATIVE_SCHEMA)
    )
    """Further names, where an entity has more than one: entity, name; the better first."""
    reading_counts: dict[str, int] = field(default_factory=dict)
    """Counters collected while reading: statements, malformed ones that were skipped, ..."""

    def __post_init__(self) -> None:
        """Refuse parts that do not belong together."""
        if self.entities.n_unique() != len(self.entities):
            raise ValueError("entities must be distinct, got duplicates instead")
        if self.triples.ndim != 2 or self.triples.shape[1] != 3:
            raise ValueError(f"triples must have shape (m, 3), got {self.triples.shape} instead")
        limits = np.array([len(self.entities), len(self.relations), len(self.entities)])
        if (self.triples < 0).any() or (self.triples >= limits).any():
            problem = "must hold positions in entities and relations, got one out of range"
            raise ValueError(f"triples {problem}")

    def __repr__(self) -> str:
        """Counts instead of contents."""
        return (
            f"{type(self).__name__}({len(self.entities)} entities, "
            f"{len(self.relations)} relations, {len(self.triples)} triples)"
        )

    @cached_property
    def distinct_triples(self) -> Positions:
        """The triples without duplicates, sorted; shape (k, 3)."""
        return sorted_distinct(self.triples, len(self.entities), len(self.relations))

    @cached_property
    def types(self) -> Positions:
        """The types of entities: positions of entity and type, sorted; shape (k, 2).

        They are said by rdf:type, or by what Wikidata has in its place.
        """
        says_type = self.relations.is_in([TYPE, WIKIDATA_TYPE]).to_numpy()
        types = self.distinct_triples[says_type[self.distinct_triples[:, 1]]][:, [0, 2]]
        return np.unique(types, axis=0) if says_type.sum() > 1 else np.asarray(types)

    @cached_property
    def attribute_entities(self) -> Positions:
        """The position of the entity of each attribute, -1 where it is not in the graph."""
        return self.positions(self.attributes["entity"])

    @cached_property
    def alternative_entities(self) -> Positions:
        """The position of the entity of each further name, -1 where it is not in the graph."""
        return self.positions(self.alternatives["entity"])

    def positions(self, entities: pl.Series) -> Positions:
        """The position of each of these entities, -1 where it is not in the graph."""
        return positions_of(entities, self.entities)

    @property
    def is_large(self) -> bool:
        """Whether tables in files are worth the time that it takes to read them again."""
        return len(self.entities) > MANY

    def with_tables_in_files(self: Tables, **others: Any) -> Tables:
        """The same graph with its tables of text in files, as far as these have room.

        Such a table is read anew whenever it is asked for. ``others`` are fields in place of its
        own, with the same content.
        """
        held = vars(self) | others
        if held.get("distinct_triples") is self.triples:
            held["distinct_triples"] = held["triples"]
        files = {name: table_in_file(held[name]) for name in IN_FILES if name in held}
        files = {name: file for name, file in files.items() if file is not None}
        graph = object.__new__(type(self))
        vars(graph).update({name: each for name, each in held.items() if name not in files})
        vars(graph)["_files"] = vars(self).get("_files", {}) | files
        return graph

    if not TYPE_CHECKING:  # or any name would be one of a graph

        def __getattr__(self, name: str) -> Any:
            """A table that is in a file."""
            file = vars(self).get("_files", {}).get(name)
            if file is None:
                kind = type(self).__name__
                raise AttributeError(f"{kind!r} object has no attribute {name!r}")
            return file.read()

    def __getstate__(self) -> dict[str, Any]:
        """Everything, in memory: for copies, which may be for other processes."""
        tables = {name: file.read() for name, file in vars(self).get("_files", {}).items()}
        return {name: value for name, value in vars(self).items() if name != "_files"} | tables


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Graph(GraphTables):
    """One knowledge graph as it was read or given: n entities, and m triples between them.

    Make one with ``from_triples``, ``from_rdflib``, ``from_pyoxigraph`` or ``from_networkx``, or
    read one with ``sameas.read_graph``. Everything is kept. What names an entity and what may be
    linked is found out when both graphs are known; that gives a ``MatchedGraph``.
    """

    given_names: pl.Series | None = None
    """The name that was given for each entity, null where none was; None: the usual labels among
    the attributes."""
    linkable: Positions | None = None
    """Positions of the entities that may be linked, ascending; None where all may."""
    reading: Reading = field(default_factory=Reading)
    """The rules by which the graph is understood."""
    triple_graphs: pl.Series | None = None
    """The named graph of each triple as N-Quads write it, where there are any."""
    shape: Shape = "triples"
    edge_properties: pl.DataFrame | None = None
    """Of a property graph: triple (a row of ``triples``), attribute, value, datatype; kept to be
    written again, and not compared."""
    keys: PropertyKeys | None = None
    """Of a property graph: under which properties labels and types of edges were written."""

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
        values = as_table(
            () if attributes is None else attributes,
            tuple(ATTRIBUTE_SCHEMA),
            argument="attributes",
            may_be_empty=("value",),
        ).with_columns(pl.col("value").fill_null(""))
        further = () if alternatives is None else alternatives
        further = as_table(further, tuple(ALTERNATIVE_SCHEMA), argument="alternatives")
        ends = table.select(pl.concat_list("head", "tail").explode()).to_series()
        mentioned = pl.concat([ends, values["entity"], further["entity"]])
        mentioned = mentioned.unique(maintain_order=True)
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
        return cls(
            entities=uris.rename("entity"),
            given_names=None if names is None else _given_names(names, uris),
            relations=relations,
            triples=np.stack([positions_of(table[name], among) for name, among in columns], axis=1),
            attributes=values,
            alternatives=further,
        )

    @classmethod
    def from_rdflib(cls, graph: Any, *, reading: Reading | None = None) -> Graph:
        """The graph of an rdflib ``Graph`` or ``Dataset``, by the rules for RDF files."""
        return cls.from_statements(statements_of_rdflib(graph), reading or Reading())

    @classmethod
    def from_pyoxigraph(cls, store: Iterable[ox.Quad], *, reading: Reading | None = None) -> Graph:
        """The graph of a pyoxigraph ``Store`` or ``Dataset``, by the rules for RDF files."""
        return cls.from_statements(statements_of(store), reading or Reading())

    @classmethod
    def from_networkx(
        cls, graph: Any, *, relation: str | None = None, reading: Reading | None = None
    ) -> Graph:
        """The graph of a networkx graph, directed or not, by the rules for property graphs.

        The relation of an edge is its attribute ``relation``, by default "relation", "type" or
        "label", else its key where that is a text. Types of nodes are the attribute "labels",
        "type" or "entity_type", names are "name", "title" or "label", else nodes that are words.
        """
        tables = tables_of_parts(parts_of_networkx(graph, relation))
        keys = replace(tables.keys, is_directed=graph.is_directed())
        return cls.from_properties(replace(tables, keys=keys), reading, relation=relation)

    @classmethod
    def from_properties(
        cls,
        tables: PropertyTables,
        reading: Reading | None = None,
        *,
        relation: str | None = None,
    ) -> Graph:
        """The graph of a property graph, whose edges lead to nodes that it has.

        ``relation`` is the property of edges that holds their type; by default it is found.
        """
        tables = understood_tables(tables, relation=relation)
        counts = {**tables.counts, "nodes": len(tables.nodes), "edges": len(tables.edges)}
        if many := len(tables.edge_properties):
            counts["properties_of_edges_not_compared"] = many
        graph = cls.from_tables(
            entities=tables.nodes["entity"],
            triples=tables.edges,
            attributes=tables.properties,
            types=tables.labels,
            reading=reading_of(tables, reading),
            shape="property graph",
            counts=counts,
        )
        return replace(graph, edge_properties=tables.edge_properties, keys=tables.keys)

    @classmethod
    def from_statements(
        cls,
        batches: Iterable[pl.DataFrame],
        reading: Reading,
        *,
        tally: Counter[str] | None = None,
        place: str = "the graph",
    ) -> Graph:
        """The graph that tables of RDF statements make (``sameas.graph.rdf.assembly``).

        What was met is counted in ``tally``; ``place`` is where the statements come from.
        """
        tally = Counter() if tally is None else tally
        return cls(**assemble(batches, reading, tally, place), reading=reading, shape="rdf")

    @classmethod
    def from_tables(
        cls,
        *,
        entities: pl.Series,
        triples: pl.DataFrame,
        attributes: pl.DataFrame,
        types: pl.DataFrame | None = None,
        reading: Reading,
        shape: Shape,
        counts: Mapping[str, int] | None = None,
    ) -> Graph:
        """The graph of checked tables of text, as readers of records and property graphs make it.

        ``triples`` has the columns head, relation and tail, ``attributes`` entity, attribute and
        value (and datatype, where that is known), ``types`` entity and type; they mention only
        ``entities``, which are distinct. The triples of types come after the others.
        ``reading.label`` names the attributes that hold names, the better first. A type becomes a
        node, ``TYPE_NODE`` and its text, which is never linked.
        """
        kinds = pl.DataFrame(schema={"entity": pl.String, "type": pl.String})
        kinds = (kinds if types is None else types.select(kinds.columns)).unique(
            maintain_order=True
        )
        nodes = TYPE_NODE + kinds["type"]
        uris = pl.concat(
            [entities.rename("entity"), nodes.unique(maintain_order=True).rename("entity")]
        )
        of_types = pl.DataFrame(
            {
                "head": kinds["entity"],
                "relation": pl.repeat(TYPE, len(kinds), dtype=pl.String, eager=True),
                "tail": nodes,
            }
        )
        every = pl.concat([triples.select("head", "relation", "tail"), of_types])
        relations = every["relation"].unique(maintain_order=True)
        columns = (("head", uris), ("relation", relations), ("tail", uris))
        columns_of_rdf = ("language", "datatype", "graph")
        held = [name for name in columns_of_rdf if name in attributes.columns]
        nothing = {name: pl.lit("") for name in columns_of_rdf if name not in held}
        return cls(
            entities=uris,
            relations=relations,
            triples=np.stack([positions_of(every[name], among) for name, among in columns], axis=1),
            attributes=attributes.select(*ATTRIBUTE_SCHEMA, *held)
            .with_columns(**nothing)
            .select(*ATTRIBUTE_SCHEMA, *columns_of_rdf),
            linkable=np.arange(len(entities)) if len(kinds) else None,
            reading=reading,
            reading_counts=dict(counts or {}),
            shape=shape,
        )

    @classmethod
    def from_records(
        cls, data: Any, *, id: str | None = None, name: str | None = None, table: str = "records"
    ) -> Graph:
        """The graph of a table in which a row is an entity.

        ``data`` is a polars, pandas or Arrow table, a mapping of columns or a list of
        dictionaries. ``id`` and ``name`` are the columns of ids and names, found if not given;
        without a column of ids, row numbers are the ids. A column whose values are ids of the
        table is a relation, any other an attribute.

        >>> people = [{"id": "p1", "name": "Ann Lee", "born": 1970}, {"id": "p2", "name": "Bo Ek"}]
        >>> graph = Graph.from_records(people)
        >>> graph.names.to_list(), graph.attributes.rows()[-1][:3]
        (['Ann Lee', 'Bo Ek'], ('p1', 'born', '1970'))
        """
        try:
            records = make_records(
                record_rows(data),
                table=table,
                id=() if id is None else (id,),
                name=() if name is None else (name,),
            )
        except TableError as error:
            place = "" if error.row is None else f" (row {error.row})"
            raise OptionError(f"`{table}` cannot be records: {error.message}{place}") from None
        return cls.of_records([records], Reading())

    @classmethod
    def of_records(cls, tables: Sequence[Records], reading: Reading) -> Graph:
        """The graph of tables of records; ``reading`` then has the columns of ids and names."""
        names = dict.fromkeys(name_attribute(one) for one in tables if one.name)
        ids = dict.fromkeys(one.id for one in tables if one.id is not None)
        label = tuple(dict.fromkeys([*names, *reading.label]))
        return cls.from_tables(
            **record_tables(tables),
            reading=replace(reading, label=label, id=tuple(ids), name=tuple(names)),
            shape="records",
        )

    def __post_init__(self) -> None:
        """Refuse parts that do not belong together."""
        super().__post_init__()
        if self.given_names is not None:
            check_names(self.given_names, self.entities)
        if self.linkable is not None:
            check_linkable(self.linkable, self.entities)

    @property
    def asks_for_all(self) -> bool:
        """Whether the user wants links of everything: of holders of values, of equal IRIs."""
        return self.reading.link == "all"

    @cached_property
    def labels(self) -> pl.Series:
        """The name that the input brings for each entity, null where it brings none."""
        if self.given_names is not None:
            return self.given_names
        labels = names_from_attributes(self.attributes, self.reading.label)
        return look_up_names(self.entities, labels)

    def _repr_html_(self) -> str:
        """Counts and some entities, for notebooks."""
        return html_entities(repr(self), self.names, self.entities)

    @cached_property
    def names(self) -> pl.Series:
        """The name of each entity: what the input brings, else made from its URI."""
        missing = self.labels.is_null()
        if not missing.any():
            return self.labels.rename("name")
        made = names_from_uris(self.entities.filter(missing))
        rows = (missing.cast(pl.Int64).cum_sum() - 1).clip(0)
        names: pl.Series = made.gather(rows).zip_with(missing, self.labels)
        return names.rename("name")

    @property
    def names_given(self) -> int:
        """How many of the names the input brings; the others are made from URIs."""
        return int((self.labels != "").sum())

    def in_files(self) -> Graph:
        """The same graph with triples and tables of text in files."""
        return self.with_tables_in_files(triples=put_in_file(self.triples))

    def in_order(self, shared: Rearranged | None = None) -> Graph:
        """The same graph with everything in an order that does not depend on that of the input.

        Entities and relations are sorted by URI, triples and attributes by what they say.
        ``shared`` are entities, relations and triples that were sorted before.
        """
        return self._rearranged(tables_in_order(self, shared))

    def without(self, entities: pl.Series) -> Graph:
        """The graph without these entities and all that is said of them; the others renumbered."""
        return self._rearranged(tables_without(self, entities))

    def _rearranged(self, new: Rearranged) -> Graph:
        given, graphs, linkable = self.given_names, self.triple_graphs, self.linkable
        of_edges = self.edge_properties
        return replace(
            self,
            **new.tables,
            edge_properties=None if of_edges is None else new.renumbered_rows(of_edges),
            given_names=None if given is None else given.gather(new.entities),
            triple_graphs=None if graphs is None else graphs.gather(new.triples),
            linkable=None if linkable is None else new.renumbered(linkable),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class GraphPair:
    """Two graphs about the same things as they were given, with gold links where they are known.

    ``gold`` has the columns left and right: entities, by URI.
    """

    left: Graph
    right: Graph
    gold: pl.DataFrame | None = None

    def __repr__(self) -> str:
        """Counts instead of contents."""
        gold = "no gold links" if self.gold is None else f"{len(self.gold)} gold links"
        return f"GraphPair({self.left}, {self.right}, {gold})"

    def _repr_html_(self) -> str:
        """Counts of both graphs, for notebooks."""
        return pair_html("GraphPair", self.left, self.right, self.gold)


def pair_html(title: str, left: GraphTables, right: GraphTables, gold: pl.DataFrame | None) -> str:
    """Counts of two graphs side by side, as HTML."""
    counts = {
        "entities": [len(graph.entities) for graph in (left, right)],
        "relations": [len(graph.relations) for graph in (left, right)],
        "triples": [len(graph.triples) for graph in (left, right)],
        "attribute values": [len(graph.attributes) for graph in (left, right)],
    }
    rows = [(name, *numbers) for name, numbers in counts.items()]
    known = "no gold links" if gold is None else f"{len(gold):,} gold links"
    return html_card(f"{title}: {known}", html_table(rows, header=("", "left", "right")))


@dataclass(frozen=True, eq=False, kw_only=True)
class Rearranged:
    """The tables of a graph with entities in another order, or without some of them."""

    tables: dict[str, Any]
    """The fields of ``GraphTables``, by name."""
    entities: Positions
    """The earlier position of each entity."""
    triples: Positions
    """The earlier row of each triple."""
    numbers: Positions
    """The new position of each earlier entity, -1 where it was left out."""

    def renumbered(self, positions: Positions) -> Positions:
        """The new positions of entities at earlier positions, ascending."""
        numbers = self.numbers[positions]
        return np.sort(numbers[numbers >= 0])

    def renumbered_rows(self, properties: pl.DataFrame) -> pl.DataFrame:
        """Properties of triples with the new rows of these, without those that were left out."""
        rows = pl.DataFrame({"triple": self.triples, "row": np.arange(len(self.triples))})
        return (
            properties.join(rows, on="triple", maintain_order="left")
            .with_columns(triple="row")
            .drop("row")
            .sort("triple", maintain_order=True)
        )


def tables_in_order(graph: GraphTables, shared: Rearranged | None = None) -> Rearranged:
    """The tables with entities and relations sorted by URI, and all rows by what they say.

    ``shared`` has entities, relations and triples that were sorted before.
    """
    texts = {
        "attributes": graph.attributes.sort(graph.attributes.columns),
        "alternatives": graph.alternatives.sort("entity", maintain_order=True),
    }
    if shared is not None:
        for name, table in texts.items():
            if not table.equals(shared.tables[name]):
                shared = replace(shared, tables={**shared.tables, name: table})
        return shared  # equal tables are there once
    order = graph.entities.arg_sort().to_numpy().astype(np.int64)
    relation_order = graph.relations.arg_sort()
    numbers, relation_numbers = np.argsort(order), np.argsort(relation_order)
    head, relation, tail = graph.triples.T
    triples = np.stack([numbers[head], relation_numbers[relation], numbers[tail]], axis=1)
    rows = np.lexsort(triples.T[::-1])
    tables = {
        "entities": graph.entities.gather(order),
        "relations": graph.relations.gather(relation_order),
        "triples": triples[rows],
        **texts,
    }
    return Rearranged(tables=tables, entities=order, triples=rows, numbers=numbers)


def tables_without(graph: GraphTables, entities: pl.Series) -> Rearranged:
    """The tables without these entities and all rows about them."""
    kept = ~graph.entities.is_in(entities.implode()).to_numpy()
    numbers = np.where(kept, np.cumsum(kept) - 1, -1)
    head, relation, tail = graph.triples.T
    rows = np.flatnonzero(kept[head] & kept[tail])
    triples = np.stack([numbers[head], relation, numbers[tail]], axis=1)[rows]
    others = ~pl.col("entity").is_in(entities.implode())
    tables = {
        "entities": graph.entities.filter(kept),
        "triples": triples,
        "attributes": graph.attributes.filter(others),
        "alternatives": graph.alternatives.filter(others),
    }
    return Rearranged(tables=tables, entities=np.flatnonzero(kept), triples=rows, numbers=numbers)


def positions_of(wanted: pl.Series, among: pl.Series) -> Positions:
    """The position of each wanted value in a series of distinct values, -1 where it is missing.

    >>> positions_of(pl.Series(["b", "x"]), pl.Series(["a", "b"]))
    array([ 1, -1])
    """
    index = pl.DataFrame({"key": among, "position": np.arange(len(among), dtype=np.int64)})
    joined = pl.DataFrame({"key": wanted.cast(among.dtype)}).join(
        index, on="key", how="left", maintain_order="left"
    )
    return joined["position"].fill_null(-1).to_numpy()


def sorted_distinct(triples: Positions, entities: int, relations: int) -> Positions:
    """The triples without duplicates, sorted; the triples themselves if they are so already.

    ``entities`` and ``relations`` are how many there are.
    """
    head, relation, tail = triples.T
    keys = (head * relations + relation) * entities + tail
    if (keys[1:] > keys[:-1]).all():
        return triples
    if (keys[1:] >= keys[:-1]).all():  # sorted: linear time
        return np.asarray(triples[np.append(True, keys[1:] > keys[:-1])])
    return np.asarray(triples[np.unique(keys, return_index=True)[1]])


def check_names(names: pl.Series, entities: pl.Series) -> None:
    """Refuse names that are not one per entity."""
    if len(names) != len(entities):
        counts = f"{len(names)} for {len(entities)} entities"
        raise ValueError(f"names must have one row per entity, got {counts} instead")


def check_linkable(linkable: Positions, entities: pl.Series) -> None:
    """Refuse positions that are not ascending positions of entities."""
    inside = (linkable >= 0) & (linkable < len(entities))
    if not inside.all() or not (np.diff(linkable) > 0).all():
        raise ValueError("linkable must hold ascending positions, got others instead")


def _given_names(given: Any, entities: pl.Series) -> pl.Series:
    """The name of each entity that was given, null where none was."""
    if isinstance(given, Mapping):
        given = list(given.items())
    is_list = isinstance(given, list | tuple)
    has_pairs = is_list and (not given or isinstance(given[0], list | tuple))
    if not (has_pairs or hasattr(given, "columns") or hasattr(given, "column_names")):
        names = as_series(given, argument="names").rename("name")
        if len(names) != len(entities):
            counts = f"{len(names)} for {len(entities)} entities"
            raise OptionError(f"`names` must have one row per entity, got {counts} instead")
        return names
    table = as_table(given, tuple(ALTERNATIVE_SCHEMA), argument="names", may_be_empty=("name",))
    return look_up_names(entities, table.drop_nulls())

"""Counts about graphs, and what looks suspicious about them, before they are aligned."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from sameas.graph.graph import TYPE_NODE, Graph, GraphPair
from sameas.graph.iri import TYPE, last_part
from sameas.graph.kind import Kind
from sameas.graph.matched import MatchedGraph, MatchedPair, count_things
from sameas.graph.semantics.understanding import understand, understand_alone

FEW = 5
"""Names of labels and relations that are listed."""
SHOWN = 10
"""Properties that may hold names, as far as they are listed."""


@dataclass(frozen=True, kw_only=True)
class GraphInspection:
    """Counts about one graph, and warnings about what looks suspicious."""

    read_as: str
    """What the input was taken for, in words: a row of records is an entity, ..."""
    entities: int
    """Without the nodes that stand for labels of a property graph, or for tables."""
    relations: int
    triples: int
    duplicate_triples: int
    self_loops: int
    isolated_entities: int
    attributes: int
    names_given: int
    """Entities whose name came with the input; the others were named after their URI."""
    empty_names: int
    names_without_letters: int
    shared_names: int
    """Entities whose name another entity of the graph has too."""
    alternatives: int
    """Names besides the first."""
    not_linkable: int
    """Entities that are neighbours and no more: mentions of other places."""
    kinds: dict[str, int]
    """How many individuals, classes and properties there are, where that is known."""
    naming: tuple[dict[str, Any], ...]
    """The properties that hold names or could: path, entities, likeness, chosen; best first."""
    mean_degree: float
    scripts: dict[str, float]
    """Share of the letters of all names by script, largest first."""
    namespaces: dict[str, int]
    """Entities by the beginning of their URI, most frequent first."""
    columns: tuple[dict[str, Any], ...]
    """Of records, each column: column, filled, distinct, role (id, name, relation, attribute)."""
    reading: dict[str, int]
    """Counters collected while reading RDF; empty for other input."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """Both graphs of a pair, and warnings about the two together."""

    left: GraphInspection
    right: GraphInspection
    gold_links: int | None
    warnings: tuple[str, ...]

    def asdict(self) -> dict[str, Any]:
        """The counts as plain values that JSON can hold."""
        return asdict(self)


def inspect(pair: GraphPair | MatchedPair) -> Inspection:
    """Counts, scripts and namespaces of both graphs, and warnings about what may go wrong."""
    if isinstance(pair, GraphPair):
        pair = understand(pair)
    left, right = inspect_graph(pair.left), inspect_graph(pair.right)
    gold_links = None if pair.gold is None else len(pair.gold)
    warnings = tuple(warnings_of_pair(left, right))
    return Inspection(left=left, right=right, gold_links=gold_links, warnings=warnings)


def inspect_graph(graph: Graph | MatchedGraph) -> GraphInspection:
    """Counts, scripts and namespaces of one graph, and warnings about what may go wrong.

    RDF that was read alone is understood alone: how well names meet is not known.
    """
    if isinstance(graph, Graph):
        graph = understand_alone(graph)
    distinct, names, size = graph.distinct_triples, graph.names, len(graph.entities)
    degrees = np.bincount(distinct[:, [0, 2]].ravel(), minlength=size)
    letters = Counter[str]()
    for letter, count in Counter("".join(names.to_list())).items():
        if letter.isalpha():  # the first word of a letter's Unicode name is its script
            letters[unicodedata.name(letter, "OTHER").split()[0].title()] += count
    begin = graph.entities.str.extract(r"^(\w+://[^/]+/(?:[^/#]+[/#])?)").fill_null("(no URI)")
    namespaces = begin.alias("begin").value_counts(name="count")
    kinds = np.bincount(graph.kinds)
    things = count_things(graph)
    counts = GraphInspection(
        read_as=_read_as(graph),
        entities=things,
        relations=len(graph.relations),
        triples=len(graph.triples),
        duplicate_triples=len(graph.triples) - len(distinct),
        self_loops=int((distinct[:, 0] == distinct[:, 2]).sum()),
        isolated_entities=int((degrees == 0).sum()),
        attributes=len(graph.attributes),
        names_given=graph.names_given,
        empty_names=int((names == "").sum()),
        names_without_letters=int(((names != "") & ~names.str.contains(r"[\p{L}\p{N}]")).sum()),
        shared_names=int(((names != "") & names.is_duplicated()).sum()),
        alternatives=len(graph.alternatives),
        not_linkable=things - len(graph.linkable),
        kinds={Kind(n).name.lower(): int(count) for n, count in enumerate(kinds) if count},
        naming=tuple(graph.naming.head(SHOWN).to_dicts()),
        mean_degree=float(degrees.mean()) if size else 0.0,
        scripts={name: count / letters.total() for name, count in letters.most_common(5)},
        namespaces=dict(namespaces.sort(-pl.col("count").cast(int), "begin").head(5).iter_rows()),
        columns=tuple(_columns(graph)),
        reading=graph.reading_counts,
    )
    return replace(counts, warnings=tuple(_warnings(counts)))


def _read_as(graph: MatchedGraph) -> str:
    """What the source of a graph was taken for, in words."""
    source = graph.source
    relations = [relation for relation in source.relations if relation != TYPE]
    related = f"; relations: {_listed(relations)}" if relations else "; no relations"
    if source.shape == "records":
        ids = _listed(source.reading.id if source.reading else ())
        names = _listed(graph.name_paths)
        told = f"ids in {ids}" if ids else "row numbers as ids"
        return f"records (a row is an entity): {told}, names in {names or 'no column'}{related}"
    if source.shape == "property graph":
        labels = graph.entities.filter(graph.entities.str.starts_with(TYPE_NODE))
        kinds = _listed(labels.str.strip_prefix(TYPE_NODE).to_list())
        direction = "" if source.keys is None or source.keys.is_directed else ", without direction"
        return f"property graph: labels: {kinds or 'none'}{related}{direction}"
    if source.shape == "rdf":
        return "RDF"
    return f"triples (a row is a statement){related}"


def _listed(names: Sequence[str]) -> str:
    """The first few of some names."""
    more = f" and {len(names) - FEW:,} more" if len(names) > FEW else ""
    return ", ".join(map(last_part, names[:FEW])) + more


def _columns(graph: MatchedGraph) -> Iterator[dict[str, Any]]:
    """The columns of records, with what each is taken for; of other graphs none."""
    source = graph.source
    if source.shape != "records":
        return
    for id in source.reading.id:
        size = count_things(graph)
        yield {"column": id, "filled": size, "distinct": size, "role": "id"}
    cells = source.attributes.group_by("attribute", maintain_order=True).agg(
        filled=pl.col("entity").n_unique(), distinct=pl.col("value").n_unique()
    )
    for column, filled, distinct in cells.iter_rows():
        role = "name" if column in graph.name_paths else "attribute"
        yield {"column": column, "filled": filled, "distinct": distinct, "role": role}
    for number, relation in enumerate(source.relations):
        if relation != TYPE:
            edges = source.triples[source.triples[:, 1] == number]
            filled, distinct = (len(np.unique(edges[:, end])) for end in (0, 2))
            yield {"column": relation, "filled": filled, "distinct": distinct, "role": "relation"}


def _warnings(counts: GraphInspection) -> Iterator[str]:
    size = max(counts.entities, 1)
    if counts.reading and not any(one["chosen"] for one in counts.naming):
        named = "IRIs alone name them" if counts.empty_names < size else "they have no names at all"
        yield f"no property names the entities: {named}; if one does, give it with `label`"
    for count, share, text in (
        (counts.isolated_entities, 0.1, "have no triple: only their names can tell"),
        (counts.empty_names, 0.05, "have an empty name: only their neighbours can tell"),
        (counts.names_without_letters, 0.05, "have a name without letters or digits"),
        (counts.shared_names, 0.3, "share their name with another entity"),
    ):
        of_records = counts.columns and count == counts.isolated_entities  # their columns tell, too
        if count > share * size and not of_records:
            yield f"{count:,} of {size:,} entities {text}"
    if counts.duplicate_triples:
        yield f"{counts.duplicate_triples:,} triples stand twice; each counts once"
    if counts.reading.get("malformed"):
        yield f"{counts.reading['malformed']:,} malformed statements were left out"
    if counts.relations == 1:
        yield "there is only one relation: neighbours cannot be told apart by it"


def warnings_of_pair(left: GraphInspection, right: GraphInspection) -> Iterator[str]:
    """What looks suspicious about two graphs together."""
    if left.scripts and right.scripts and next(iter(left.scripts)) not in right.scripts:
        yield (
            f"names are written in different scripts ({next(iter(left.scripts))} and "
            f"{next(iter(right.scripts))}); translate one side and give it with `names`, "
            "or only neighbours can tell"
        )
    small, large = sorted([left.entities, right.entities])
    if large > 5 * small:
        yield (
            f"one graph has {large / max(small, 1):.0f} times the entities of the other; "
            "most of them will stay unmatched"
        )

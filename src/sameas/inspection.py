"""What there is to know about a graph before aligning it."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from sameas.graph import Graph, GraphPair


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """Counts about one graph, and in words what looks suspicious."""

    entities: int
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
    """Entities that are neighbours and no more: blank nodes, classes."""
    mean_degree: float
    scripts: dict[str, float]
    """Share of the letters of all names by script, largest first."""
    namespaces: dict[str, int]
    """Entities by the beginning of their URI, most frequent first."""
    reading: dict[str, int]
    """What reading counted; empty where all there is to read is triples."""
    warnings: tuple[str, ...]

    def asdict(self) -> dict[str, Any]:
        """The counts as plain values that JSON can hold."""
        return asdict(self)


def inspect_graph(graph: Graph) -> Inspection:
    """Counts, scripts and namespaces of a graph, and warnings about what may go wrong."""
    distinct = graph.distinct_triples()
    size = len(graph.entities)
    degrees = np.bincount(distinct[:, [0, 2]].ravel(), minlength=size)
    letters = graph.names.str.contains(r"[\p{L}\p{N}]")
    shared = int((graph.names.is_duplicated() & (graph.names != "")).sum())
    counts: dict[str, Any] = {
        "entities": size,
        "relations": len(graph.relations),
        "triples": len(graph.triples),
        "duplicate_triples": len(graph.triples) - len(distinct),
        "self_loops": int((distinct[:, 0] == distinct[:, 2]).sum()),
        "isolated_entities": int((degrees == 0).sum()),
        "attributes": len(graph.attributes),
        "names_given": graph.names_given,
        "empty_names": int((graph.names == "").sum()),
        "names_without_letters": int((~letters & (graph.names != "")).sum()),
        "shared_names": shared,
        "alternatives": len(graph.alternatives),
        "not_linkable": 0 if graph.linkable is None else size - len(graph.linkable),
        "mean_degree": float(degrees.mean()) if size else 0.0,
        "scripts": _scripts(graph.names),
        "namespaces": _namespaces(graph.entities),
        "reading": graph.reading_counts,
    }
    return Inspection(**counts, warnings=tuple(_warnings(counts)))


def compare(pair: GraphPair) -> tuple[str, ...]:
    """What looks suspicious about two graphs together."""
    left, right = _scripts(pair.left.names), _scripts(pair.right.names)
    found = []
    if left and right and not set(list(left)[:1]) & set(right):
        found.append(
            f"names are written in different scripts ({next(iter(left))} and "
            f"{next(iter(right))}); translate one side and give it with --names, "
            "or only neighbours can tell"
        )
    sizes = sorted([len(pair.left.entities), len(pair.right.entities)])
    if sizes[1] > 5 * sizes[0]:
        found.append(
            f"one graph has {sizes[1] / sizes[0]:.0f} times the entities of the other; "
            "most of them will stay unmatched"
        )
    return tuple(found)


def _warnings(counts: dict[str, Any]) -> list[str]:
    size = max(counts["entities"], 1)
    found = []
    for key, share, text in (
        ("isolated_entities", 0.1, "have no triple: only their names can tell"),
        ("empty_names", 0.05, "have an empty name: only their neighbours can tell"),
        ("names_without_letters", 0.05, "have a name without letters or digits"),
        ("shared_names", 0.3, "share their name with another entity"),
    ):
        if counts[key] > share * size:
            found.append(f"{counts[key]:,} of {size:,} entities {text}")
    if counts["duplicate_triples"]:
        found.append(f"{counts['duplicate_triples']:,} triples stand twice; each counts once")
    if counts["reading"].get("malformed"):
        found.append(f"{counts['reading']['malformed']:,} malformed statements were skipped")
    if counts["relations"] == 1:
        found.append("there is only one relation: neighbours cannot be told apart by it")
    return found


def _scripts(names: pl.Series) -> dict[str, float]:
    """The share of letters by script, from the first word of each letter's Unicode name."""
    letters = Counter[str]()
    for letter, count in Counter("".join(names.to_list())).items():
        if letter.isalpha():
            letters[unicodedata.name(letter, "OTHER").split()[0].title()] += count
    total = sum(letters.values())
    return {script: count / total for script, count in letters.most_common(5)}


def _namespaces(entities: pl.Series) -> dict[str, int]:
    """How many entities start with the same scheme, host and path."""
    prefixes = entities.str.extract(r"^(\w+://[^/]+/(?:[^/#]+[/#])?)").fill_null("(no URI)")
    counts = prefixes.value_counts(sort=True, name="count")
    ordered = counts.sort(["count", counts.columns[0]], descending=[True, False])
    return dict(ordered.head(5).iter_rows())

"""The service: a graph with its index, and the answers of the API as JSON values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from sameas._version import __version__
from sameas.graph import Graph, Positions
from sameas.iri import is_iri
from sameas.serve.chance import learn_chance
from sameas.serve.facts import Terms, read_facts, read_types
from sameas.serve.index import index_names
from sameas.serve.matching import Candidate, Matcher
from sameas.serve.queries import MOST_QUERIES, Query

SUGGESTIONS = 20
"""Suggestions that are given at once."""
SHORT, MOST_SHOWN = 3, 100
"""Statements in the description of an entity, and on its page."""
WIDTH, HEIGHT = 430, 300
"""Pixels of a preview."""
ENTITIES, PROPERTIES = "urn:sameas:entities", "urn:sameas:properties"
"""What ids are of, where they are no IRIs with a common beginning."""
LIMIT = {
    "name": "limit",
    "label": "Limit",
    "type": "number",
    "default": 0,
    "help_text": "The most values of an entity; 0 for all.",
}


Values = dict[str, Any]
Kind = Literal["entity", "type", "property"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, eq=False)
class Service:
    """What is served."""

    name: str
    matcher: Matcher

    @property
    def graph(self) -> Graph:
        """The graph that is served."""
        return self.matcher.graph

    def manifest(self, base: str) -> Values:
        """What the service can do; ``base`` is its address."""
        suggest = {
            kind: {
                "service_url": base,
                "service_path": f"/suggest/{kind}",
                "flyout_service_url": base,
                "flyout_service_path": f"/flyout/{kind}?id=${{id}}",
            }
            for kind in KINDS
        }
        types = self.matcher.types.terms
        return {
            "versions": ["0.2"],
            "name": f"sameas: {self.name}",
            "identifierSpace": _namespace(self.graph.entities) or ENTITIES,
            "schemaSpace": _namespace(self.matcher.facts.properties.ids) or PROPERTIES,
            "serviceVersion": __version__,
            "defaultTypes": _named(types, np.arange(min(len(types.ids), 10))),
            "view": {"url": f"{base}/preview?id={{{{id}}}}"},
            "preview": {"url": f"{base}/preview?id={{{{id}}}}", "width": WIDTH, "height": HEIGHT},
            "suggest": suggest,
            "extend": {
                "propose_properties": {"service_url": base, "service_path": "/properties"},
                "property_settings": [LIMIT],
            },
            "batchSize": MOST_QUERIES,
        }

    def reconcile(self, queries: Mapping[str, Query]) -> Values:
        """The candidates of each query, by its key."""
        found = self.matcher.match(list(queries.values()))
        flat = np.array([one.entity for each in found for one in each], dtype=np.int64)
        labels = iter(self._labels(flat))
        return {
            key: {"result": [next(labels) | _judgement(one) for one in each]}
            for key, each in zip(queries, found, strict=True)
        }

    def extend(self, ids: Sequence[str], properties: Sequence[tuple[str, int]]) -> Values:
        """The values of properties of entities; of each property at most so many, 0 for all."""
        facts, pids = self.matcher.facts, [pid for pid, _ in properties]
        numbers = facts.properties.positions(pl.Series(pids, dtype=pl.String)).tolist()
        names = [facts.properties.names[number] if number >= 0 else None for number in numbers]
        rows: dict[str, dict[str, list[dict[str, str]]]] = {}
        positions = self.graph.positions(pl.Series(ids, dtype=pl.String))
        for id, entity in zip(ids, positions.tolist(), strict=True):
            row = rows[id] = {}
            for (pid, limit), number in zip(properties, numbers, strict=True):
                known = entity >= 0 and number >= 0
                values = self._values(facts.of(entity, number)) if known else []
                row[pid] = values[: limit or None]
        return {"meta": _with_ids(pids, names), "rows": rows}

    def propose(self, type_id: str, limit: int | None) -> Values:
        """The properties that entities of a type have, the most frequent first."""
        facts = self.matcher.facts
        entities = np.repeat(np.arange(len(facts.starts) - 1), np.diff(facts.starts))
        of_type = self.matcher.types.members([type_id])[entities] if type_id else slice(None)
        pairs = np.unique(np.stack([facts.property[of_type], entities[of_type]]), axis=1)
        counts = np.bincount(pairs[0], minlength=len(facts.properties.ids))
        order = np.argsort(-counts, kind="stable")[: limit or None]
        properties = _named(facts.properties, order[counts[order] > 0])
        answer = {"type": type_id, "properties": properties}
        return answer if limit is None else {**answer, "limit": limit}

    def suggest(self, kind: Kind, prefix: str, cursor: int) -> Values:
        """Entities, types or properties by the beginning of a name, or by id."""
        part = slice(cursor, cursor + SUGGESTIONS)
        if kind != "entity":
            terms = self._terms(kind)
            return {"result": _named(terms, terms.suggested(prefix)[part])}
        found, result = self._suggested(prefix)[part], []
        for entity, label in zip(found.tolist(), self._labels(found), strict=True):
            said = "; ".join(map(": ".join, self._statements(entity, SHORT)))
            label["notable"], label["description"] = label.pop("type"), said[:200]
            result.append(label)
        return {"result": result}

    def _suggested(self, prefix: str) -> Positions:
        """Entities of this id, with a name that begins so, and with a name like it."""
        index, asked = self.matcher.index, pl.Series([prefix])
        alike = index.best(index.rows(asked), SUGGESTIONS)[1][0]
        every = np.concatenate([self.graph.positions(asked), index.starting(prefix, 1000), alike])
        every = every[every >= 0]
        return every[np.sort(np.unique(every, return_index=True)[1])]

    def shown(self, kind: Kind, id: str) -> Values | None:
        """What a page shows: name, id, link, facts; None if the graph does not have the id."""
        of = self.graph if kind == "entity" else self._terms(kind)
        place = int(of.positions(pl.Series([id]))[0])
        if place < 0:
            return None
        if isinstance(of, Terms):
            facts = [("entities that have it", f"{of.counts[place]:,}")]
        else:
            facts = self._statements(place, MOST_SHOWN)
        link = id if re.match(r"https?://", id) and is_iri(id) else None
        return {"name": of.names[place] or id, "id": id, "link": link, "facts": facts}

    def _terms(self, kind: Kind) -> Terms:
        """The types or the properties."""
        return self.matcher.types.terms if kind == "type" else self.matcher.facts.properties

    def _statements(self, entity: int, most: int) -> list[tuple[str, str]]:
        """What is said of an entity: properties and values."""
        facts = self.matcher.facts
        places = facts.of(entity)[:most]
        names = facts.properties.names.gather(facts.property[places])
        values = (value.get("str") or value.get("name", "") for value in self._values(places))
        return list(zip(names, values, strict=True))

    def _values(self, places: Positions) -> list[dict[str, str]]:
        """Statements as values: a text, or an entity with its name."""
        facts = self.matcher.facts
        tails, texts = facts.tail[places], facts.text.gather(places)
        entities = _with_ids(self.graph.entities.gather(np.maximum(tails, 0)), texts)
        return [
            {"str": text} if tail < 0 else entity
            for tail, text, entity in zip(tails.tolist(), texts, entities, strict=True)
        ]

    def _labels(self, entities: Positions) -> list[Values]:
        """Entities with ids, names and types."""
        types = self.matcher.types
        return [
            {**label, "type": _named(types.terms, types.of(entity))}
            for label, entity in zip(_named(self.graph, entities), entities.tolist(), strict=True)
        ]


def make_service(
    graph: Graph, name: str, *, progress: Callable[[str, float], None] = lambda phase, share: None
) -> Service:
    """The service of a graph; names are indexed and what chance gives is learned."""
    progress("names", 0.0)
    index = index_names(graph)
    progress("names", 0.7)
    chance = learn_chance(graph, index)
    progress("names", 1.0)
    progress("statements", 0.0)
    matcher = Matcher(graph, index, read_facts(graph), read_types(graph), chance)
    progress("statements", 1.0)
    return Service(name, matcher)


def _named(of: Terms | Graph, which: Positions) -> list[dict[str, str]]:
    """Some types, properties or entities: ids with names."""
    ids = of.ids if isinstance(of, Terms) else of.entities
    return _with_ids(ids.gather(which), of.names.gather(which))


def _with_ids(ids: Iterable[str], names: Iterable[str | None]) -> list[dict[str, str]]:
    return [{"id": id, "name": name or id} for id, name in zip(ids, names, strict=True)]


def _judgement(one: Candidate) -> Values:
    features = {"confidence": round(one.confidence, 6), "name": round(one.cosine, 6)}
    features |= {f"property {pid}": value for pid, value in one.properties.items()}
    if one.typed is not None:
        features["type"] = one.typed
    return {
        "score": round(100 * one.confidence, 4),
        "match": one.match,
        "features": [{"id": id, "value": value} for id, value in features.items()],
    }


def _namespace(ids: pl.Series) -> str | None:
    """The beginning that most IRIs have in common; None if most are no IRIs."""
    spaces = ids.str.extract(r"^\^?(.*[/#:])[^/#:]*$").drop_nulls().value_counts(sort=True)
    if not len(spaces) or spaces["count"][0] * 2 < len(ids):
        return None
    return spaces.to_series(0)[0] if is_iri(f"{spaces.to_series(0)[0]}x") else None

"""The service: a graph with its index, and the answers of the API as JSON values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from sameas._version import __version__
from sameas.graph import Graph, Positions, positions_of
from sameas.iri import is_iri
from sameas.serve.chance import SAMPLE, learn_chance
from sameas.serve.facts import Terms, read_facts, read_types
from sameas.serve.index import index_names
from sameas.serve.matching import Candidate, Matcher
from sameas.serve.queries import MOST_QUERIES, Extension, Query

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


Kind = Literal["entity", "type", "property"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Shown:
    """What a page shows of an entity, a type or a property."""

    name: str
    id: str
    facts: list[tuple[str, str]]
    """Properties and values, as text."""

    @property
    def link(self) -> str | None:
        """The address that the id is, if it is one of the web."""
        return self.id if re.match(r"https?://", self.id) and is_iri(self.id) else None


@dataclass(frozen=True, eq=False)
class Service:
    """What is served."""

    name: str
    matcher: Matcher

    @property
    def graph(self) -> Graph:
        """The graph that is served."""
        return self.matcher.graph

    def manifest(self, base: str) -> dict[str, Any]:
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
            "defaultTypes": self._terms(types, np.arange(min(len(types.ids), 10))),
            "view": {"url": f"{base}/preview?id={{{{id}}}}"},
            "preview": {"url": f"{base}/preview?id={{{{id}}}}", "width": WIDTH, "height": HEIGHT},
            "suggest": suggest,
            "extend": {
                "propose_properties": {"service_url": base, "service_path": "/properties"},
                "property_settings": [LIMIT],
            },
            "batchSize": MOST_QUERIES,
        }

    def reconcile(self, queries: Mapping[str, Query]) -> dict[str, Any]:
        """The candidates of each query, by its key."""
        found = self.matcher.match(list(queries.values()))
        flat = np.array([one.entity for each in found for one in each], dtype=np.int64)
        labels = iter(self._labels(flat))
        return {
            key: {"result": [_candidate(one, next(labels)) for one in each]}
            for key, each in zip(queries, found, strict=True)
        }

    def extend(self, request: Extension) -> dict[str, Any]:
        """The values of the properties of entities."""
        facts = self.matcher.facts
        ids = pl.Series([pid for pid, _ in request.properties], dtype=pl.String)
        numbers = positions_of(ids, facts.properties.ids).tolist()
        meta = []
        for pid, number in zip(ids, numbers, strict=True):
            meta.append({"id": pid, "name": pid if number < 0 else facts.properties.names[number]})
        rows: dict[str, dict[str, list[dict[str, str]]]] = {}
        positions = self.graph.positions(pl.Series(request.ids, dtype=pl.String))
        for id, entity in zip(request.ids, positions.tolist(), strict=True):
            row = rows[id] = {}
            for (pid, limit), number in zip(request.properties, numbers, strict=True):
                known = entity >= 0 and number >= 0
                values = self._values(facts.of(entity, number)) if known else []
                row[pid] = values[: limit or None]
        return {"meta": meta, "rows": rows}

    def propose(self, type_id: str, limit: int | None) -> dict[str, Any]:
        """The properties that entities of a type have, the most frequent first."""
        facts = self.matcher.facts
        entities = np.repeat(np.arange(len(facts.starts) - 1), np.diff(facts.starts))
        of_type = self.matcher.types.members([type_id])[entities] if type_id else slice(None)
        pairs = np.unique(np.stack([facts.property[of_type], entities[of_type]]), axis=1)
        counts = np.bincount(pairs[0], minlength=len(facts.properties.ids))
        order = np.argsort(-counts, kind="stable")[: limit or None]
        order = order[counts[order] > 0]
        answer = {"type": type_id, "properties": self._terms(facts.properties, order)}
        return answer if limit is None else {**answer, "limit": limit}

    def suggest(self, kind: Kind, prefix: str, cursor: int) -> dict[str, Any]:
        """Entities, types or properties by the beginning of a name, or by id."""
        part = slice(cursor, cursor + SUGGESTIONS)
        if kind != "entity":
            terms = self.terms(kind)
            return {"result": self._terms(terms, terms.suggested(prefix)[part])}
        found, result = self._suggested(prefix)[part], []
        for entity, label in zip(found.tolist(), self._labels(found), strict=True):
            said = "; ".join(map(": ".join, self.statements(entity, SHORT)))
            notable = {"notable": label.pop("type"), "description": said[:200]}
            result.append({**label, **notable})
        return {"result": result}

    def _suggested(self, prefix: str) -> Positions:
        """Entities of this id, with a name that begins so, and with a name like it."""
        index, asked = self.matcher.index, pl.Series([prefix])
        alike = index.best(index.rows(asked), SUGGESTIONS)[1][0]
        every = np.concatenate([self.graph.positions(asked), index.starting(prefix, 1000), alike])
        every = every[every >= 0]
        return every[np.sort(np.unique(every, return_index=True)[1])]

    def shown(self, kind: Kind, id: str) -> Shown | None:
        """What a page shows; None if the graph does not have it."""
        if kind == "entity":
            entity = int(self.graph.positions(pl.Series([id]))[0])
            if entity < 0:
                return None
            return Shown(self.graph.names[entity] or id, id, self.statements(entity, MOST_SHOWN))
        terms = self.terms(kind)
        number = int(positions_of(pl.Series([id]), terms.ids)[0])
        if number < 0:
            return None
        count = f"{terms.counts[number]:,}"
        return Shown(terms.names[number] or id, id, [("entities that have it", count)])

    def terms(self, kind: Kind) -> Terms:
        """The types or the properties."""
        return self.matcher.types.terms if kind == "type" else self.matcher.facts.properties

    def statements(self, entity: int, most: int) -> list[tuple[str, str]]:
        """What is said of an entity: properties and values."""
        facts = self.matcher.facts
        places = facts.of(entity)[:most]
        names = facts.properties.names.gather(facts.property[places])
        values = (value.get("str") or value.get("name", "") for value in self._values(places))
        return list(zip(names, values, strict=True))

    def _values(self, places: Positions) -> list[dict[str, str]]:
        """Statements as values: a text, or an entity with its name."""
        facts = self.matcher.facts
        tails, texts = facts.tail[places], facts.text.gather(places).to_list()
        ids = self.graph.entities.gather(np.maximum(tails, 0)).to_list() if len(tails) else []
        return [
            {"str": text} if tail < 0 else {"id": id, "name": text or id}
            for tail, text, id in zip(tails.tolist(), texts, ids, strict=True)
        ]

    def _labels(self, entities: Positions) -> list[dict[str, Any]]:
        """Entities with ids, names and types."""
        types, names = self.matcher.types, self.graph.names.gather(entities).to_list()
        ids = self.graph.entities.gather(entities).to_list()
        return [
            {"id": id, "name": name or id, "type": self._terms(types.terms, types.of(entity))}
            for id, name, entity in zip(ids, names, entities.tolist(), strict=True)
        ]

    @staticmethod
    def _terms(terms: Terms, which: Positions) -> list[dict[str, str]]:
        if not len(which):
            return []
        ids, names = terms.ids.gather(which), terms.names.gather(which)
        return [{"id": id, "name": name or id} for id, name in zip(ids, names, strict=True)]


def make_service(
    graph: Graph, name: str, *, progress: Callable[[str, float], None] = lambda phase, share: None
) -> Service:
    """The service of a graph; names are indexed and what chance gives is learned."""
    progress("names", 0.0)
    index = index_names(graph)
    progress("names", 0.7)
    named = np.unique(index.owners)
    sample = named[np.linspace(0, len(named) - 1, min(SAMPLE, len(named))).astype(np.int64)]
    chance = learn_chance(index, index.rows(graph.names.gather(sample)), sample)
    progress("names", 1.0)
    progress("statements", 0.0)
    matcher = Matcher(graph, index, read_facts(graph), read_types(graph), chance)
    progress("statements", 1.0)
    return Service(name, matcher)


def _candidate(one: Candidate, label: dict[str, Any]) -> dict[str, Any]:
    features: list[dict[str, Any]] = [
        {"id": "confidence", "value": round(one.confidence, 6)},
        {"id": "name", "value": round(one.cosine, 6)},
    ]
    features += [
        {"id": f"property {pid}", "value": round(value, 6)} for pid, value in one.properties.items()
    ]
    if one.typed is not None:
        features.append({"id": "type", "value": one.typed})
    score = round(100 * one.confidence, 4)
    return {**label, "score": score, "match": one.match, "features": features}


def _namespace(ids: pl.Series) -> str | None:
    """The beginning that most IRIs have in common; None if most are no IRIs."""
    spaces = ids.str.extract(r"^\^?(.*[/#:])[^/#:]*$").drop_nulls().value_counts(sort=True)
    if not len(spaces) or spaces["count"][0] * 2 < len(ids):
        return None
    return spaces.to_series(0)[0] if is_iri(f"{spaces.to_series(0)[0]}x") else None

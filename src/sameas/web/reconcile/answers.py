"""The answers of the API as JSON values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from sameas import __version__
from sameas.compute.arrays import Positions
from sameas.graph.iri import is_iri
from sameas.graph.matched import MatchedGraph
from sameas.web.reconcile.facts import Terms
from sameas.web.reconcile.matching import Service
from sameas.web.reconcile.queries import MOST_QUERIES, Query

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


def manifest(service: Service, base: str) -> Values:
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
    types, page = service.types.terms, {"url": f"{base}/preview?id={{{{id}}}}"}
    entities, properties = service.namespaces
    return {
        "versions": ["0.2"],
        "name": f"sameas: {service.name}",
        "identifierSpace": entities or ENTITIES,
        "schemaSpace": properties or PROPERTIES,
        "serviceVersion": __version__,
        "defaultTypes": _named(types, np.arange(min(len(types.ids), 10))),
        "view": page,
        "preview": {**page, "width": WIDTH, "height": HEIGHT},
        "suggest": suggest,
        "extend": {
            "propose_properties": {"service_url": base, "service_path": "/properties"},
            "property_settings": [LIMIT],
        },
        "batchSize": MOST_QUERIES,
    }


def reconcile(service: Service, queries: Mapping[str, Query]) -> Values:
    """The candidates of each query, by its key."""
    matches = service.match(list(queries.values()))
    every = [one for each in matches for one in each]
    labels = _labels(service, np.array([one.entity for one in every], dtype=np.int64))
    for one, label in zip(every, labels, strict=True):
        label["score"], label["match"] = round(100 * one.confidence, 4), one.match
        label["features"] = [{"id": id, "value": value} for id, value in one.features.items()]
    answers = iter(labels)
    return {
        key: {"result": list(islice(answers, len(each)))}
        for key, each in zip(queries, matches, strict=True)
    }


def extend(service: Service, ids: Sequence[str], properties: Sequence[tuple[str, int]]) -> Values:
    """The values of properties of entities; of each property at most so many, 0 for all."""
    facts, pids = service.facts, [pid for pid, _ in properties]
    numbers = facts.properties.positions(pl.Series(pids, dtype=pl.String)).tolist()
    names = [facts.properties.names[number] if number >= 0 else None for number in numbers]
    rows: dict[str, dict[str, list[dict[str, str]]]] = {}
    positions = service.ids.positions(ids)
    for id, entity in zip(ids, positions.tolist(), strict=True):
        row = rows[id] = {}
        for (pid, limit), number in zip(properties, numbers, strict=True):
            known = entity >= 0 and number >= 0
            values = _values(service, facts.of(entity, number)) if known else []
            row[pid] = values[: limit or None]
    return {"meta": _with_ids(pids, names), "rows": rows}


def propose(service: Service, type_id: str, limit: int | None) -> Values:
    """The properties that entities of a type have, the most frequent first."""
    facts = service.facts
    entities = np.repeat(np.arange(len(facts.starts) - 1), np.diff(facts.starts))
    of_type = service.types.members([type_id])[entities] if type_id else slice(None)
    pairs = np.unique(np.stack([facts.property[of_type], entities[of_type]]), axis=1)
    counts = np.bincount(pairs[0], minlength=len(facts.properties.ids))
    order = np.argsort(-counts, kind="stable")[: limit or None]
    properties = _named(facts.properties, order[counts[order] > 0])
    answer = {"type": type_id, "properties": properties}
    return answer if limit is None else {**answer, "limit": limit}


def suggest(service: Service, kind: Kind, prefix: str, cursor: int) -> Values:
    """Entities, types or properties by the beginning of a name, or by id."""
    part = slice(cursor, cursor + SUGGESTIONS)
    if kind != "entity":
        terms = _terms(service, kind)
        return {"result": _named(terms, terms.suggested(prefix)[part])}
    suggestions, result = _suggested(service, prefix)[part], []
    for entity, label in zip(suggestions.tolist(), _labels(service, suggestions), strict=True):
        said = "; ".join(map(": ".join, _statements(service, entity, SHORT)))
        label["notable"], label["description"] = label.pop("type"), said[:200]
        result.append(label)
    return {"result": result}


def _suggested(service: Service, prefix: str) -> Positions:
    """Entities of this id, with a name that begins so, and with a name like it."""
    index, asked = service.index, pl.Series([prefix])
    alike = index.best(index.rows(asked), SUGGESTIONS)[1][0]
    every = np.concatenate([service.ids.positions([prefix]), index.starting(prefix, 1000), alike])
    every = every[every >= 0]
    return every[np.sort(np.unique(every, return_index=True)[1])]


def shown(service: Service, kind: Kind, id: str) -> Values | None:
    """What a page shows: name, id, link, facts; None if the graph does not have the id."""
    of = service.graph if kind == "entity" else _terms(service, kind)
    if isinstance(of, Terms):
        place = int(of.positions(pl.Series([id]))[0])
        facts = [("entities that have it", f"{of.counts[place]:,}")]
    else:
        place = int(service.ids.positions([id])[0])
        facts = _statements(service, place, MOST_SHOWN) if place >= 0 else []
    if place < 0:
        return None
    link = id if re.match(r"https?://", id) and is_iri(id) else None
    return {"name": of.names[place] or id, "id": id, "link": link, "facts": facts}


def _terms(service: Service, kind: Kind) -> Terms:
    """The types or the properties."""
    return service.types.terms if kind == "type" else service.facts.properties


def _statements(service: Service, entity: int, most: int) -> list[tuple[str, str]]:
    """What is said of an entity: properties and values."""
    facts = service.facts
    indices = facts.of(entity)[:most]
    names = facts.properties.names.gather(facts.property[indices])
    values = (value.get("str") or value.get("name", "") for value in _values(service, indices))
    return list(zip(names, values, strict=True))


def _values(service: Service, indices: Positions) -> list[dict[str, str]]:
    """Statements as values: a text, or an entity with its name."""
    facts = service.facts
    tails, texts = facts.tail[indices], facts.text.gather(indices)
    entities = _with_ids(service.graph.entities.gather(np.maximum(tails, 0)), texts)
    return [
        {"str": text} if tail < 0 else entity
        for tail, text, entity in zip(tails.tolist(), texts, entities, strict=True)
    ]


def _labels(service: Service, entities: Positions) -> list[Values]:
    """Entities with ids, names and types."""
    types = service.types
    return [
        {**label, "type": _named(types.terms, types.of(entity))}
        for label, entity in zip(_named(service.graph, entities), entities.tolist(), strict=True)
    ]


def _named(of: Terms | MatchedGraph, which: Positions) -> list[dict[str, str]]:
    """Some types, properties or entities: ids with names."""
    if isinstance(of, Terms):
        return [dict(of.labels[place]) for place in which.tolist()]
    indices = which.tolist()  # one by one, since they are few
    return _with_ids(
        (of.entities[place] for place in indices), (of.names[place] for place in indices)
    )


def _with_ids(ids: Iterable[str], names: Iterable[str | None]) -> list[dict[str, str]]:
    return [{"id": id, "name": name or id} for id, name in zip(ids, names, strict=True)]

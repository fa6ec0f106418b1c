"""Which entities a query may mean, and how certain each is.

Names, properties and types each add log-odds, as in record linkage (Fellegi and Sunter). At most
one candidate is the right one, so that a rival which is as good halves the confidence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.compute.arrays import Mask, Matrix, Positions, Sparse
from sameas.graph.graph import positions_of
from sameas.graph.matched import MatchedGraph
from sameas.options.tuning import TUNING, Tuning
from sameas.similarity.values import EQUAL, FAR, MISSING, UNLIKE, Values, canonical
from sameas.web.reconcile.facts import (
    Facts,
    SortedIds,
    Types,
    common_namespace,
    read_facts,
    read_types,
    sort_ids,
)
from sameas.web.reconcile.index import NameIndex, index_names
from sameas.web.reconcile.null_model import NullModel, learn_null_model
from sameas.web.reconcile.queries import Query


class Candidate(NamedTuple):
    """An entity that a query may mean."""

    entity: int
    confidence: float
    match: bool
    features: dict[str, float]
    """Confidence; how alike names, the best values of properties, and types are."""


class Known(NamedTuple):
    """A value that was asked for, looked up in the graph."""

    form: str
    """Its canonical form; of an entity, that of its name."""
    place: int
    """The number of that form in the graph, -1 if no value has it."""
    entity: int
    """The entity that it is, -1 for a text."""


Properties = list[tuple[str, int, list[Known]]]
"""The properties of a query that the graph has: ids, numbers and the values asked for."""


@dataclass(frozen=True, eq=False)
class Service:
    """A graph that queries are matched with, and what is known of it."""

    name: str
    graph: MatchedGraph
    ids: SortedIds
    """Of the entities."""
    index: NameIndex
    facts: Facts
    types: Types
    null_model: NullModel
    tuning: Tuning = TUNING

    @cached_property
    def namespaces(self) -> tuple[str | None, str | None]:
        """The beginnings that most ids of entities, and of properties, have in common."""
        return common_namespace(self.graph.entities), common_namespace(self.facts.properties.ids)

    def match(self, queries: Sequence[Query]) -> list[list[Candidate]]:
        """The candidates of each query, the best first."""
        texts = [query.text for query in queries]
        rows = self.index.rows(pl.Series(texts, dtype=pl.String))
        asked = self.ids.positions(texts)
        members = cache(self.types.members)  # queries of a batch often have the same types
        plain = [n for n, query in enumerate(queries) if not (query.types or query.properties)]
        k = max([self.tuning.reconcile.pool // 10, *(queries[place].limit for place in plain)])
        asked_alone = rows if len(plain) == len(queries) else rows[plain]
        nearest = dict(zip(plain, zip(*self.index.best(asked_alone, k), strict=True), strict=True))
        answers = []
        for place, (query, properties) in enumerate(
            zip(queries, self._properties(queries), strict=True)
        ):
            allowed = None
            if query.types and query.strict != "should":
                allowed = members(query.types, all=query.strict == "all")
            cosines, entities = (
                nearest[place]
                if place in nearest
                else self._pool(properties, rows[[place]], allowed)
            )
            position = int(asked[place])
            if position >= 0 and position not in entities:
                cosines, entities = np.append(cosines, np.float32(0)), np.append(entities, position)
            there = entities >= 0
            typed = members(query.types) if query.types else None
            answers.append(
                self._judged(query, properties, entities[there], cosines[there], position, typed)
            )
        return answers

    def _properties(self, queries: Sequence[Query]) -> list[Properties]:
        """The properties of each query, all looked up at once."""
        asked = [one for query in queries for one in query.properties]
        if not asked:
            return [[] for _ in queries]
        values = list(dict.fromkeys(value for _, wanted in asked for value in wanted))
        entities = self.ids.positions([one.id for one in values])
        texts = [
            value.text if entity < 0 else self.graph.names[entity]
            for value, entity in zip(values, entities.tolist(), strict=True)
        ]
        forms = canonical(pl.Series(texts, dtype=pl.String))
        indices = positions_of(forms, self.facts.forms)
        known_values = map(Known, forms, indices.tolist(), entities.tolist())
        known = dict(zip(values, known_values, strict=True))
        pids = pl.Series(list(dict.fromkeys(pid for pid, _ in asked)), dtype=pl.String)
        numbers = dict(zip(pids, self.facts.properties.positions(pids).tolist(), strict=True))
        return [
            [
                (pid, numbers[pid], [known[value] for value in wanted])
                for pid, wanted in query.properties
                if wanted and numbers[pid] >= 0
            ]
            for query in queries
        ]

    def _pool(
        self, properties: Properties, row: Sparse, allowed: Mask | None
    ) -> tuple[Matrix, Positions]:
        """Cosines and entities worth a look: by name, and by the values of properties."""
        tuning = self.tuning.reconcile
        cosines, entities = (each[0] for each in self.index.best(row, tuning.pool, allowed))
        if not properties:
            return cosines, entities
        worth = np.zeros(len(self.graph.entities), dtype=np.float32)
        for _, number, values in properties:
            for value in values:
                having = self.facts.entities_with(number, value.place)
                if len(having) <= tuning.frequent:
                    worth[having] += np.log(1 + len(worth) / max(len(having), 1))
        if allowed is not None:
            worth[~allowed] = 0
        worth[np.delete(np.arange(len(worth)), self.graph.linkable)] = 0
        near, named = (each[0] for each in self.index.best(row, tuning.pool, worth > 0))
        best = np.flatnonzero(worth)
        best = best[np.argsort(-worth[best], kind="stable")[: tuning.pool]]
        every = np.concatenate([entities, named, best])
        alike = np.concatenate([cosines, near, np.zeros(len(best), dtype=np.float32)])
        distinct, first = np.unique(every, return_index=True)  # the first has the cosine, if any
        return alike[first], distinct

    def _judged(
        self,
        query: Query,
        properties: Properties,
        entities: Positions,
        cosines: Matrix,
        asked: int,
        members: Mask | None,
    ) -> list[Candidate]:
        """The candidates with their confidences, the best first, as many as were asked for."""
        if not len(entities):
            return []
        tuning, values, most = self.tuning.reconcile, self.tuning.values, self.tuning.types.most
        likeness = 1.0, values.close, values.near, 0.0  # the least of each level
        if query.text:
            log_odds = self.null_model.log_odds(cosines)
        else:
            log_odds = np.full(len(entities), -np.log(len(self.graph.entities)))
        levels: dict[str, NDArray[np.uint8]] = {}
        for pid, number, asked_for in properties:
            levels[pid], worth = self._compared(entities, number, asked_for)
            log_odds = log_odds + worth
        typed = None if members is None else members[entities]
        if members is not None and typed is not None and query.strict == "should":
            rare = np.clip(-np.log(members.mean()) if members.any() else 0, 0, most)
            other = ~typed & (np.diff(self.types.starts)[entities] > 0)
            log_odds = log_odds + np.where(typed, rare, np.where(other, -most, 0))
        log_odds = np.where(entities == asked, tuning.given, log_odds)
        odds = np.exp(np.minimum(log_odds, tuning.given))
        confidence = odds / (odds.sum() + 1)
        answer = list[Candidate]()
        for place in np.lexsort((entities, -cosines, -log_odds))[: query.limit].tolist():
            confidence_here = float(confidence[place])
            features = {
                "confidence": round(confidence_here, 6),
                "name": round(float(cosines[place]), 6),
            }
            for pid, each in levels.items():
                if each[place] != MISSING:
                    features[f"property {pid}"] = likeness[each[place]]
            if typed is not None:
                features["type"] = bool(typed[place])
            match = not answer and confidence_here >= tuning.match
            answer.append(Candidate(int(entities[place]), confidence_here, match, features))
        return answer

    def _compared(
        self, entities: Positions, number: int, values: Sequence[Known]
    ) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
        """How alike the best of each entity's values of a property is, and what that is worth."""
        facts, tuning = self.facts, self.tuning.attributes
        linked, unlinked = (np.array(each[:FAR]) for each in tuning.expected("text"))
        worths = np.log(linked / unlinked)  # equal values by how rare they are
        line, indices = facts.about(entities, number)
        forms, form = np.unique(facts.form[indices], return_inverse=True)
        ours = pl.Series([value.form for value in values], dtype=pl.String)
        texts = pl.concat([facts.forms.gather(forms), ours])
        compared, theirs = Values(texts, self.tuning.values), np.arange(len(forms))
        share = facts.many[indices] / max(int(facts.properties.counts[number]), 1)
        equal = np.log(linked[EQUAL]) - np.log(np.minimum(share, 1))
        best = np.full(len(entities), MISSING, dtype=np.uint8)
        worth = np.full(len(entities), -np.inf)
        for place, value in enumerate(values, start=len(forms)):
            levels = compared.levels(np.full(len(forms), place), theirs)
            levels[forms == value.place] = EQUAL
            # Without a text there may still be the id of an entity.
            level = levels[form] if value.form else np.full(len(form), UNLIKE, dtype=np.uint8)
            if value.entity >= 0:
                level[facts.tail[indices] == value.entity] = EQUAL
            said = np.where(level == EQUAL, equal, worths[level])
            said = np.clip(said, -tuning.cap, 2 * tuning.cap)
            np.minimum.at(best, line, level)
            np.maximum.at(worth, line, said)
        return best, np.where(np.isfinite(worth), worth, 0.0)


def make_service(
    graph: MatchedGraph,
    name: str,
    *,
    tuning: Tuning = TUNING,
    progress: Callable[[str, float], None] = lambda phase, share: None,
) -> Service:
    """The service of a graph; names are indexed and the null model is learned."""
    progress("names", 0.0)
    index = index_names(graph, tuning=tuning.search)
    progress("names", 0.7)
    null_model = learn_null_model(graph, index, tuning=tuning.reconcile)
    progress("names", 1.0)
    progress("statements", 0.0)
    facts = read_facts(graph, tuning=tuning)
    ids, types = sort_ids(graph.entities), read_types(graph)
    service = Service(name, graph, ids, index, facts, types, null_model, tuning)
    progress("statements", 1.0)
    return service

"""Which entities a query may mean, and how certain each is.

Names, properties and types each add log-odds, as in record linkage (Fellegi and Sunter). At most
one candidate is the right one, so that a rival which is as good halves the confidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.graph import Graph, Positions, positions_of
from sameas.likeness.attributes import CAP, CHANCE, FIRST
from sameas.likeness.types import MOST
from sameas.likeness.values import CLOSE_AT, EQUAL, MISSING, NEAR_AT, UNLIKE, Values, canonical
from sameas.rows import Matrix, Sparse
from sameas.serve.chance import Chance
from sameas.serve.facts import Facts, Types
from sameas.serve.index import Mask, NameIndex
from sameas.serve.queries import Query, Value

POOL = 100
"""Candidates by name whose properties and types are compared."""
MANY = 10_000
"""Entities that are found by one value; a more frequent one finds none."""
SURE = 0.8
"""The confidence from which the best candidate is called a match."""
GIVEN = 20.0
"""Log-odds of the entity whose id was asked for."""
LIKENESS = (1.0, CLOSE_AT, NEAR_AT, 0.0)
"""The least likeness of values that are equal, close, near and unlike."""
WORTHS = np.log(FIRST / CHANCE)
"""What each of these is worth; equal values by how rare they are."""


@dataclass(frozen=True)
class Candidate:
    """An entity that a query may mean."""

    entity: int
    confidence: float
    cosine: float
    """How alike the query and the best of the entity's names are."""
    match: bool
    properties: dict[str, float] = field(default_factory=dict)
    """How alike the best values are, for each property of the query that the entity has."""
    typed: bool | None = None
    """Whether the entity has a type that was asked for."""


@dataclass(frozen=True, eq=False)
class Asked:
    """What the queries of a batch ask for, looked up in the graph."""

    forms: dict[Value, str]
    """The canonical form of each value; of an entity, that of its name."""
    places: dict[Value, int]
    """The number of that form in the graph, -1 if no value has it."""
    positions: dict[Value, int]
    """The entity that each value is, -1 for a text."""
    numbers: dict[str, int]
    """The number of each property, -1 for one that the graph has not."""
    members: dict[tuple[tuple[str, ...], bool], Mask]
    """Which entities have one of some types, or all of them."""


@dataclass(frozen=True, eq=False)
class Matcher:
    """A graph that queries are matched with."""

    graph: Graph
    index: NameIndex
    facts: Facts
    types: Types
    chance: Chance

    def match(self, queries: Sequence[Query]) -> list[list[Candidate]]:
        """The candidates of each query, the best first."""
        texts = pl.Series([query.text for query in queries], dtype=pl.String)
        rows, asked = self.index.rows(texts), self.graph.positions(texts)
        batch = self._looked_up(queries)
        plain = [n for n, query in enumerate(queries) if not (query.types or query.properties)]
        k = max([POOL // 10, *(queries[place].limit for place in plain)])
        found = dict(zip(plain, zip(*self.index.best(rows[plain], k), strict=True), strict=True))
        answers = []
        for place, (query, position) in enumerate(zip(queries, asked.tolist(), strict=True)):
            allowed = None
            if query.types and query.strict != "should":
                allowed = batch.members[query.types, query.strict == "all"]
            cosines, entities = (
                found[place] if place in found else self._pool(query, rows[[place]], allowed, batch)
            )
            if position >= 0 and position not in entities:
                cosines, entities = np.append(cosines, np.float32(0)), np.append(entities, position)
            there = entities >= 0
            answers.append(self._judged(query, entities[there], cosines[there], position, batch))
        return answers

    def _looked_up(self, queries: Sequence[Query]) -> Asked:
        asked = [one for query in queries for one in query.properties]
        values = list(dict.fromkeys(value for _, own in asked for value in own))
        known = self.graph.positions(pl.Series([one.id for one in values], dtype=pl.String))
        texts = [
            value.text if place < 0 else self.graph.names[place]
            for value, place in zip(values, known.tolist(), strict=True)
        ]
        forms = canonical(pl.Series(texts, dtype=pl.String))
        pids = pl.Series(list(dict.fromkeys(pid for pid, _ in asked)), dtype=pl.String)
        numbers = self.facts.properties.positions(pids)
        types = {(query.types, all) for query in queries for all in (False, query.strict == "all")}
        return Asked(
            dict(zip(values, forms, strict=True)),
            dict(zip(values, positions_of(forms, self.facts.forms).tolist(), strict=True)),
            dict(zip(values, known.tolist(), strict=True)),
            dict(zip(pids, numbers.tolist(), strict=True)),
            {(ids, all): self.types.members(ids, all=all) for ids, all in types if ids},
        )

    def _pool(
        self, query: Query, row: Sparse, allowed: Mask | None, batch: Asked
    ) -> tuple[Matrix, Positions]:
        """Cosines and entities worth a look: by name, and by the values of properties."""
        cosines, entities = (each[0] for each in self.index.best(row, POOL, allowed))
        if not query.properties:
            return cosines, entities
        worth = np.zeros(len(self.graph.entities), dtype=np.float32)
        for pid, values in query.properties:
            for value in values if batch.numbers[pid] >= 0 else ():
                having = self.facts.entities_with(batch.numbers[pid], batch.places[value])
                if len(having) <= MANY:
                    worth[having] += np.log(1 + len(worth) / max(len(having), 1))
        if allowed is not None:
            worth[~allowed] = 0
        if self.graph.linkable is not None:
            worth[np.delete(np.arange(len(worth)), self.graph.linkable)] = 0
        near, named = (each[0] for each in self.index.best(row, POOL, worth > 0))
        best = np.flatnonzero(worth)
        best = best[np.argsort(-worth[best], kind="stable")[:POOL]]
        every = np.concatenate([entities, named, best])
        alike = np.concatenate([cosines, near, np.zeros(len(best), dtype=np.float32)])
        distinct, first = np.unique(every, return_index=True)  # the first has the cosine, if any
        return alike[first], distinct

    def _judged(
        self, query: Query, entities: Positions, cosines: Matrix, asked: int, batch: Asked
    ) -> list[Candidate]:
        """The candidates with their confidences, the best first, as many as were asked for."""
        if not len(entities):
            return []
        if query.text:
            log_odds = self.chance.log_odds(cosines)
        else:
            log_odds = np.full(len(entities), -np.log(len(self.graph.entities)))
        levels: dict[str, NDArray[np.uint8]] = {}
        for pid, values in query.properties:
            if batch.numbers[pid] >= 0 and values:
                levels[pid], worth = self._compared(entities, batch.numbers[pid], values, batch)
                log_odds = log_odds + worth
        typed = None
        if query.types:
            members = batch.members[query.types, False]
            typed = members[entities]
            if query.strict == "should":
                rare = np.clip(-np.log(members.mean()) if members.any() else 0, 0, MOST)
                other = ~typed & (np.diff(self.types.starts)[entities] > 0)
                log_odds = log_odds + np.where(typed, rare, np.where(other, -MOST, 0))
        log_odds = np.where(entities == asked, GIVEN, log_odds)
        odds = np.exp(np.minimum(log_odds, GIVEN))
        confidence = odds / (odds.sum() + 1)
        order = np.lexsort((entities, -cosines, -log_odds))[: query.limit]
        return [
            Candidate(
                entity=int(entities[place]),
                confidence=float(confidence[place]),
                cosine=float(cosines[place]),
                match=bool(rank == 0 and confidence[place] >= SURE),
                properties={
                    pid: LIKENESS[each[place]]
                    for pid, each in levels.items()
                    if each[place] != MISSING
                },
                typed=None if typed is None else bool(typed[place]),
            )
            for rank, place in enumerate(order.tolist())
        ]

    def _compared(
        self, entities: Positions, number: int, values: Sequence[Value], batch: Asked
    ) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
        """How alike the best of each entity's values of a property is, and what that is worth."""
        facts = self.facts
        line, places = facts.about(entities, number)
        forms, form = np.unique(facts.form[places], return_inverse=True)
        ours = [batch.forms[value] for value in values]
        texts = pl.concat([facts.forms.gather(forms), pl.Series(ours, dtype=pl.String)])
        compared, theirs = Values(texts), np.arange(len(forms))
        share = facts.many[places] / max(int(facts.properties.counts[number]), 1)
        equal = np.log(FIRST[EQUAL]) - np.log(np.minimum(share, 1))
        best = np.full(len(entities), MISSING, dtype=np.uint8)
        worth = np.full(len(entities), -np.inf)
        for place, (value, text) in enumerate(zip(values, ours, strict=True)):
            levels = compared.levels(np.full(len(forms), len(forms) + place), theirs)
            levels[(texts[: len(forms)] == text).to_numpy()] = EQUAL
            # Without a text there may still be the id of an entity.
            level = levels[form] if text else np.full(len(form), UNLIKE, dtype=np.uint8)
            if batch.positions[value] >= 0:
                level[facts.tail[places] == batch.positions[value]] = EQUAL
            said = np.clip(np.where(level == EQUAL, equal, WORTHS[level]), -CAP, 2 * CAP)
            np.minimum.at(best, line, level)
            np.maximum.at(worth, line, said)
        return best, np.where(np.isfinite(worth), worth, 0.0)

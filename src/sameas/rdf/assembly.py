"""From statements to the parts of a graph: entities, triples between them, attributes."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.naming import ALTERNATIVES, LABELS
from sameas.rdf.rules import Reading
from sameas.rdf.statements import LITERAL_SCHEMA, Codes, Statements, Terms

log = logging.getLogger(__name__)

Mask = NDArray[np.bool_]

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
UNMET = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False, kw_only=True)
class Parts:
    """What a graph is made of; see ``sameas.Graph``."""

    entities: pl.Series
    relations: pl.Series
    triples: NDArray[np.int64]
    triple_graphs: pl.Series | None
    attributes: pl.DataFrame
    linkable: NDArray[np.int64] | None
    reading_counts: dict[str, int]


def assemble(
    batches: Iterable[Statements],
    terms: Terms,
    reading: Reading,
    tally: Counter[str],
    place: str = "the graph",
) -> Parts:
    """The parts of the graph that statements make; what was met is counted in ``tally``."""
    found = _Assembly(terms, reading, tally, place)
    for batch in batches:
        found.add(batch)
    return found.parts()


@dataclass
class _Assembly:
    """The statements of a graph as they are collected and sorted out."""

    terms: Terms
    reading: Reading
    tally: Counter[str]
    place: str
    """Where the statements come from, for warnings."""
    triple_batches: list[Codes] = field(default_factory=list)
    literal_batches: list[pl.DataFrame] = field(default_factory=list)
    excluded: dict[int, bool] = field(default_factory=dict)
    """Whether each predicate that was met is left out."""
    ranks: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """When each resource was met first, by number; UNMET where it was not."""
    met: int = 0

    def add(self, batch: Statements) -> None:
        """Keep the statements whose predicate is not excluded."""
        self.tally["statements"] += len(batch.triples) + len(batch.literals) + batch.quoted
        self.tally["quoted"] += batch.quoted
        self._rank(batch)
        dropped = self._excluded(batch.triples[:, 1])
        self.triple_batches.append(batch.triples[~dropped] if dropped.any() else batch.triples)
        wrong = self._excluded(batch.literals["relation"].to_numpy())
        self.literal_batches.append(
            batch.literals.filter(~wrong) if wrong.any() else batch.literals
        )
        self.tally["excluded"] += int(dropped.sum() + wrong.sum())

    def _rank(self, batch: Statements) -> None:
        """Remember the order in which resources are met: by statement, the head before the tail."""
        grown = len(self.terms) - len(self.ranks)
        self.ranks = np.pad(self.ranks, (0, grown), constant_values=UNMET)
        ends, times = batch.triples[:, [0, 2]].ravel(), np.add.outer(2 * batch.rows, [0, 1])
        codes = np.concatenate([ends, batch.literals["head"].to_numpy()])
        times = np.concatenate([times.ravel(), 2 * batch.literal_rows])
        new = np.flatnonzero(self.ranks[codes] == UNMET)
        new = new[np.argsort(times[new], kind="stable")]
        fresh, first = np.unique(codes[new], return_index=True)
        self.ranks[fresh[np.argsort(first)]] = self.met + np.arange(len(fresh))
        self.met += len(fresh)

    def _excluded(self, relations: Codes) -> Mask:
        if not self.reading.exclude or not len(relations):
            return np.zeros(len(relations), dtype=np.bool_)
        distinct, place = np.unique(relations, return_inverse=True)
        new = [code for code in distinct.tolist() if code not in self.excluded]
        if new:
            fits = _matching(self.terms.iris(np.array(new)), self.reading.exclude)
            self.excluded.update(zip(new, fits.tolist(), strict=True))
        return np.array([self.excluded[code] for code in distinct.tolist()])[place]

    def parts(self) -> Parts:
        """The parts of the graph."""
        self.triples = np.concatenate([np.zeros((0, 4), np.uint32), *self.triple_batches])
        self.literals = pl.concat([pl.DataFrame(schema=LITERAL_SCHEMA), *self.literal_batches])
        self.triple_batches.clear()
        self.literal_batches.clear()
        self.type_code = self.terms.code(f"<{TYPE}>")
        types = self.triples[self.triples[:, 1] == self.type_code]
        self.members, self.classes = types[:, 0], types[:, 2]
        self._drop_excluded_classes()
        self._keep_included()
        entities = self._entities()
        return self._parts(entities, self._linkable(entities))

    def _marked(self, *codes: NDArray[Any]) -> Mask:
        """Which numbers are among these."""
        mask = np.zeros(len(self.terms), dtype=np.bool_)
        for some in codes:
            mask[some] = True
        return mask

    def _drop_excluded_classes(self) -> None:
        """Leave out excluded classes, their members and what is said of them."""
        if not self.reading.exclude:
            return
        wrong = self._matching_classes(self.reading.exclude)
        tested = np.concatenate([np.unique(self.classes), np.array([*self.excluded], np.uint32)])
        self._warn_unused(self.reading.exclude, self.terms.iris(tested), "exclude")
        out = self._marked(wrong, self.members[np.isin(self.classes, wrong)])
        gone = out[self.triples[:, 0]] | out[self.triples[:, 2]]
        gone_literals = out[self.literals["head"].to_numpy()]
        self.tally["excluded"] += int(gone.sum() + gone_literals.sum())
        self.triples, self.literals = self.triples[~gone], self.literals.filter(~gone_literals)

    def _keep_included(self) -> None:
        """Keep the predicates asked for; all if none was, or if only classes were."""
        if not self.reading.include:
            return
        used = self.literals["relation"].to_numpy()
        distinct = np.unique(np.concatenate([self.triples[:, 1], used]))
        texts = self.terms.iris(distinct)
        classes = self.terms.iris(np.unique(self.classes))
        self._warn_unused(self.reading.include, pl.concat([texts, classes]), "include")
        wanted = distinct[_matching(texts, self.reading.include)]
        if not len(wanted):
            return
        names = texts.is_in([*self.reading.label, *LABELS, *ALTERNATIVES]).to_numpy()
        wanted = np.union1d(wanted, distinct[names])
        kept, kept_literals = np.isin(self.triples[:, 1], wanted), np.isin(used, wanted)
        self.tally["excluded"] += int((~kept).sum() + (~kept_literals).sum())
        self.triples, self.literals = self.triples[kept], self.literals.filter(kept_literals)

    def _warn_unused(self, patterns: Sequence[str], texts: pl.Series, option: str) -> None:
        for pattern in patterns:
            if not _fits(texts, pattern).any():
                log.warning("%s: `%s` %s fits no predicate or class", self.place, option, pattern)

    def _matching_classes(self, patterns: Sequence[str]) -> Codes:
        distinct = np.unique(self.classes)
        return distinct[_matching(self.terms.iris(distinct), patterns)]

    def _entities(self) -> Codes:
        """The entities, in the order in which they were met."""
        heads = self.literals["head"].to_numpy()
        used = self._marked(self.triples[:, 0], self.triples[:, 2], heads)
        entities = np.flatnonzero(used).astype(np.uint32)
        return entities[np.argsort(self.ranks[entities])]

    def _linkable(self, entities: Codes) -> NDArray[np.int64] | None:
        """The positions of the members of the classes that were asked for; None if none was."""
        wanted = self._matching_classes(self.reading.include)
        if not len(wanted):
            return None
        member = self._marked(self.members[np.isin(self.classes, wanted)])[entities]
        self.tally["other_classes_not_linked"] += int((~member).sum())
        return np.flatnonzero(member)

    def _parts(self, entities: Codes, linkable: NDArray[np.int64] | None) -> Parts:
        uris = self.terms.iris(entities).rename("entity")
        position = np.full(len(self.terms), -1, dtype=np.int64)
        position[entities] = np.arange(len(entities))
        relations = _in_order(self.triples[:, 1])
        number = np.zeros(len(self.terms), dtype=np.int64)
        number[relations] = np.arange(len(relations))
        head, relation, tail, graph = self.triples.T
        named = graph != self.terms.code("")
        kinds, kind = np.unique(self.literals["relation"].to_numpy(), return_inverse=True)
        return Parts(
            entities=uris,
            relations=self.terms.iris(relations).rename("relation"),
            triples=np.stack([position[head], number[relation], position[tail]], axis=1),
            triple_graphs=self.terms.texts(graph) if named.any() else None,
            attributes=self.literals.select(
                pl.Series("entity", uris.gather(position[self.literals["head"].to_numpy()])),
                pl.Series("attribute", self.terms.iris(kinds).gather(kind)),
                *("value", "language", "datatype", "graph"),
            ),
            linkable=linkable,
            reading_counts={"statements": 0, "malformed": 0} | dict(+self.tally),
        )


def _in_order(codes: Codes) -> Codes:
    """The distinct numbers, in order of first appearance."""
    distinct, first = np.unique(codes, return_index=True)
    return distinct[np.argsort(first)]


def _matching(texts: pl.Series, patterns: Sequence[str]) -> Mask:
    """Which texts fit one of the patterns."""
    found = np.zeros(len(texts), dtype=np.bool_)
    for pattern in patterns:
        found |= _fits(texts, pattern)
    return found


def _fits(texts: pl.Series, pattern: str) -> Mask:
    """Which texts are the pattern, or begin like one that ends in an asterisk."""
    if pattern.endswith("*"):
        return texts.str.starts_with(pattern[:-1]).to_numpy()
    return (texts == pattern).to_numpy()

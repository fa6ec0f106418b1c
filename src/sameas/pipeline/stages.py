"""The stages that both forms of the method share: rows, proposals, candidates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sameas.candidates.clues import make_clues, propose_by_clues
from sameas.candidates.pairs import Candidates
from sameas.candidates.search import find_candidates
from sameas.compute.arrays import Positions
from sameas.compute.topk import COMPARE_ALL_UP_TO, top_k_dense, top_k_sparse
from sameas.graph.task import Sides, Task
from sameas.pipeline.phases import Phases
from sameas.refinement.evidence import Anchors
from sameas.similarity.crosslingual import LanguageSupport, choose_support
from sameas.similarity.features import SAME_NAME, name_features, neighbourhood_rows, sketched_hops
from sameas.similarity.hops import HopMean
from sameas.similarity.matrix import RowProduct, make_profit
from sameas.similarity.names import MaxOverNames
from sameas.similarity.sketch import Sketch
from sameas.similarity.traits import Traits, make_traits
from sameas.text.learned_dictionary import dictionary_rows

FIRST = 60
"""Partners kept for each entity however far below the best, where the plan ranks by profit."""
SAME_VALUES = 10
"""Partners that each entity gets for like values."""
CLUES_BEYOND = 5000
"""Entities a side beyond which clues propose where they are enough."""
EACH, EACH_OF_MANY = 0.4, 0.2
"""The share of an entity's candidates that each kind of clue proposes; less, to save memory, among
many entities."""


@dataclass(frozen=True, eq=False)
class Counts:
    """Figures about features and candidates, for the diagnostics."""

    entities_without_features: int
    words: int | None = None
    words_without_vector: int | None = None
    candidate_pairs: int | None = None
    search_recall: float | None = None
    languages: LanguageSupport | None = None

    @property
    def figures(self) -> dict[str, Any]:
        """All of them, by name."""
        return dict(vars(self))


@dataclass(frozen=True, eq=False)
class Material:
    """What links are chosen from: the profits of pairs, and which pairs are candidates."""

    name_rows: RowProduct
    """The profit of names alone: of entities, or of all their names."""
    counts: Counts
    exact: RowProduct | None = None
    """The profit of all hops (as published), or of all but the names (with ``exact_hops``)."""
    sketch: Sketch | None = None
    """None for the method as published."""
    left_starts: Positions | None = None
    """Where the names of each left entity start, where there may be several."""
    right_starts: Positions | None = None
    candidates: Candidates | None = None
    """None if all pairs are candidates."""
    traits: Traits | None = None
    embedding: RowProduct | None = None
    """The profit of encoded names, where an encoder is used."""
    dictionary: RowProduct | None = None
    """The profit of names translated by a learnt dictionary, of entities."""

    @cached_property
    def names(self) -> RowProduct | MaxOverNames:
        """The cosine of the names of entities as spelled, of those that fit best."""
        return self._best(self.name_rows)

    @cached_property
    def blocks(self) -> dict[str, RowProduct | MaxOverNames]:
        """The cosine of names by each block, under the name of its weight."""
        found = {"names": self.names}
        if self.embedding is not None:
            found["embedding"] = self._best(self.embedding)
        if self.dictionary is not None:
            found["dictionary"] = self.dictionary
        return found

    def _best(self, rows: RowProduct) -> RowProduct | MaxOverNames:
        if self.left_starts is None or self.right_starts is None:
            return rows
        return MaxOverNames(rows, self.left_starts, self.right_starts)

    @property
    def profit(self) -> RowProduct | HopMean:
        """The mean over the hops."""
        if self.sketch is None:
            assert self.exact is not None
            return self.exact
        blocks = [block for name, block in self.blocks.items() if name != "dictionary"]
        hops = self.exact or self.sketch
        return HopMean(tuple(blocks), hops, self.sketch.depth, self.sketch)


def prepare(task: Task, sides: Sides, phases: Phases, *, complete: bool = False) -> Material:
    """The profits between these entities, and their candidates unless all pairs count."""
    aids = choose_support(task.pair, task.options, task.inputs)
    if complete:
        return _make_profits(task, sides, aids, phases)
    # Proposals come before the rows, which take most of the memory.
    proposed = _propose(task, sides, aids, phases)
    material = _make_profits(task, sides, aids, phases)
    if task.options.rounds:
        with phases.timed("features"):
            names = material.names
            traits = make_traits(task.pair, names if isinstance(names, MaxOverNames) else None)
        material = replace(material, traits=traits)
    found = _choose_candidates(task, material, proposed, phases)
    counts = replace(material.counts, candidate_pairs=len(found), search_recall=found.recall)
    sketch = material.sketch and material.sketch.without_names()
    return replace(material, candidates=found, counts=counts, sketch=sketch)


def _propose(task: Task, sides: Sides, aids: LanguageSupport, phases: Phases) -> Positions | None:
    """Pairs proposed by clues; None where every left entity is to be compared with every right one.

    Clues are as good and faster where refinement adds what they miss. They know only how names are
    spelled, and only the first names of entities that have several.
    """
    options, size = task.options, max(map(len, sides))
    enough = options.rounds > 0 and not task.pair.both_rdf and not aids.used
    limit = min(CLUES_BEYOND, COMPARE_ALL_UP_TO) if enough else COMPARE_ALL_UP_TO
    if task.inputs.embeddings is not None or size <= limit:
        return None
    many = size > COMPARE_ALL_UP_TO
    # Names and neighbours propose partners separately; refinement finds more by itself.
    k = max(int(options.candidates * (EACH_OF_MANY if many else EACH)), 1)

    def make() -> Positions:
        with phases.timed("proposals") as report:
            return propose_by_clues(make_clues(task.pair, options, sides), k, progress=report)

    return phases.kept("proposals", np.ndarray, make)


def _make_profits(task: Task, sides: Sides, aids: LanguageSupport, phases: Phases) -> Material:
    pair, options = task.pair, task.options

    def make() -> Material:
        with phases.timed("features") as report:
            features = name_features(pair, options, task.inputs, aids, report)
        with phases.timed("neighbours"):
            exact = sketch = None
            if options.rounds:
                sketch = sketched_hops(pair, features.rows, options, sides)
            if (options.exact_hops and options.depth) or not options.rounds:
                hops = neighbourhood_rows(
                    pair, features.rows, options, sides, first=int(options.rounds > 0)
                )
                exact = make_profit(*hops)
        empty = sum(int((rows.norms() == 0).sum()) for rows in features.rows)
        counts = Counts(empty, features.words, features.words_without_vector)
        counts = replace(counts, languages=aids if aids.matter else None)
        blocks = features.profits
        left_starts, right_starts = features.starts or (None, None)
        return Material(
            blocks["names"],
            counts,
            exact,
            sketch,
            left_starts,
            right_starts,
            embedding=blocks.get("embedding"),
        )

    return phases.kept("neighbours", Material, make)


def _choose_candidates(
    task: Task, material: Material, proposed: Positions | None, phases: Phases
) -> Candidates:
    """The partners worth considering of every entity, with their profits."""
    options = task.options
    further = options.rounds and max(material.profit.shape) <= COMPARE_ALL_UP_TO

    def make() -> Candidates:
        with phases.timed("candidates") as report:
            return find_candidates(
                material.profit,
                options.candidates,
                first=max(options.top, 10 if options.rounds else FIRST),
                proposed=proposed,
                also=_alike(task, material, names=proposed is None) if further else None,
                progress=report,
            )

    return phases.kept("candidates", Candidates, make)


def _alike(task: Task, material: Material, *, names: bool) -> Positions:
    """Pairs that are alike in their names alone (as spelled, too), or in their values alone."""
    found, spelled, traits = np.zeros(0, dtype=np.int64), material.names, material.traits
    if "namesakes" not in task.options.without:
        if names and isinstance(spelled, RowProduct):
            found = top_k_sparse(spelled.left.sparse, spelled.right.sparse, SAME_NAME)
        elif isinstance(spelled, MaxOverNames):
            spelling = None if traits is None else traits.spelling
            found = spelled.alike(SAME_NAME) if spelling is None else spelling.rivals
        if material.embedding is not None:
            found = np.union1d(found, nearest_names(material.embedding, material, SAME_NAME))
    if traits is not None and traits.attributes is not None:
        found = np.union1d(found, traits.attributes.alike(SAME_VALUES))
    return found


def with_dictionary(task: Task, material: Material, anchors: Anchors) -> Material:
    """The material with a dictionary learnt from anchors, and the pairs that it makes alike."""
    pair, found = task.pair, material.candidates
    assert found is not None
    links = anchors.left, anchors.right
    left, right = dictionary_rows(pair.left.names, pair.right.names, links)
    if max(found.shape) <= COMPARE_ALL_UP_TO:
        also = np.setdiff1d(top_k_sparse(left.sparse, right.sparse, SAME_NAME), found.keys)
        new = np.divmod(also, max(found.shape[1], 1))
        found = found.joined(*new, material.profit.of(*new))
    return replace(material, dictionary=make_profit(left, right), candidates=found)


def nearest_names(block: RowProduct, material: Material, k: int) -> Positions:
    """Pairs of entities one of whose names is among the k nearest of another's in a dense block."""
    numbers = top_k_dense(block.left, block.right, k, first=k, progress=lambda share: None)
    if material.left_starts is None or material.right_starts is None:
        return numbers
    return MaxOverNames(block, material.left_starts, material.right_starts).entities(numbers)

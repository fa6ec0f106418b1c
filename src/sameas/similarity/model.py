"""The Model: what the score of a pair is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial

import numpy as np
import polars as pl

from sameas.compute.arrays import Mask, Matrix, Numbers, Positions, Vector
from sameas.compute.parallel import in_parallel, slices
from sameas.graph.matched import MatchedPair
from sameas.graph.task import Constraints, Task
from sameas.options.tuning import TUNING, Tuning, Weights
from sameas.similarity.attributes import Attributes
from sameas.similarity.edges import Edges, edges_of
from sameas.similarity.features import TextRows
from sameas.similarity.hops import HopMean
from sameas.similarity.matrix import make_profit
from sameas.similarity.protocol import Similarity
from sameas.similarity.several_names import ComparedNames
from sameas.similarity.traits import Traits, make_traits
from sameas.similarity.weights import evidence_worth, weights_of
from sameas.text.learned_dictionary import dictionary_rows

PART = 100_000
"""Pairs that are scored at once."""
PROFIT = "profit"
"""The similarity that is the mean over the hops; the others are blocks of names."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Model:
    """What the score of a pair is made of.

    As published, the score is the profit. With refinement it is in log-odds: the similarities of
    names and neighbourhoods, the evidence of linked neighbours, each times its weight, and what
    types, attributes and spelling were learned to be worth.
    """

    constraints: Constraints
    tuning: Tuning = TUNING
    weights: Weights
    """Those of the run, which may have learned its own."""
    make_edges: Callable[[], tuple[Edges, Edges]]
    """Gives the edges, always the same; they are made when first asked for, since the search for
    candidates needs the room and not the edges."""
    similarities: Mapping[str, Similarity] = field(default_factory=dict)
    """By the name of their weight: the profit first, then each block of names. Empty where the
    scores of all pairs are known already."""
    traits: Traits | None = None
    """Types, attributes and spelling; the method as published has none."""

    @property
    def edges(self) -> tuple[Edges, Edges]:
        """What evidence is gathered from; the method as published has none."""
        return self.make_edges()

    @property
    def profit(self) -> Similarity:
        """The mean over the hops."""
        return self.similarities[PROFIT]

    @property
    def in_twos(self) -> bool:
        """Whether duplicates of one graph come in twos, and are found as between two graphs."""
        return self.traits is not None and self.traits.in_twos

    @property
    def columns(self) -> Attributes | None:
        """The columns of one table, which names are among; None of two graphs, or of a graph."""
        attributes = None if self.traits is None else self.traits.attributes
        return attributes if attributes is not None and attributes.names else None

    @property
    def names(self) -> dict[str, Similarity]:
        """The cosines of names by each block, under the name of its weight."""
        return {name: each for name, each in self.similarities.items() if name != PROFIT}

    @property
    def name_weights(self) -> Vector:
        """What a cosine of one is worth in each block of names."""
        return np.array([getattr(self.weights, name) for name in self.names])

    def compares(self, left: Numbers, right: Numbers) -> Mask:
        """Which pairs are scored: no constraint and no types exclude them.

        Pairs at odds with seeds are, although they cannot be linked: they show what chance gives.
        """
        compared: Mask = self.constraints.comparable(left, right)
        if (exclusions := self.constraints.exclusions) is not None:
            compared &= ~exclusions.contradict(left, right)
        return compared

    def learn_traits(
        self, left: Positions, right: Positions, trust: Vector, *, taught: bool = True
    ) -> Callable[[Numbers, Numbers], Vector]:
        """What gives the log-odds of pairs by their traits, learned from anchors.

        Where these may be chance, attributes are not ``taught``: what they say is guessed.
        """
        if self.traits is None:
            return lambda left, right: np.zeros(len(left))
        return self.traits.learn(left, right, trust, taught=taught).score

    def evidence(self, left: Numbers, evidence: Matrix) -> Vector:
        """The log-odds of pairs by their evidence, shape (3, pairs); ``left`` are their ends."""
        return evidence_worth(self.weights, evidence, self.constraints.crowd[left])

    def score(self, left: Numbers, numbers: Matrix, evidence: Matrix, traits: Matrix) -> Matrix:
        """The log-odds of pairs, up to a constant.

        ``numbers`` are those of each of the similarities, shape (similarities, pairs); ``traits``
        the log-odds by types, attributes and spelling.
        """
        worths = [getattr(self.weights, name) for name in self.similarities]
        total = np.empty(len(left), dtype=np.float32)

        def part(which: slice) -> None:
            text: Matrix = worths[0] * numbers[0, which]
            for worth, each in zip(worths[1:], numbers[1:], strict=True):
                text += worth * each[which]
            total[which] = text + self.evidence(left[which], evidence[:, which]) + traits[which]

        in_parallel(part, slices(len(left), PART))
        return total

    def with_dictionary(
        self, names: tuple[pl.Series, pl.Series], links: tuple[Positions, Positions]
    ) -> Model:
        """The model with one more block: names translated by a dictionary learnt from links."""
        rows = dictionary_rows(*names, links, tuning=self.tuning.dictionary)
        dictionary = make_profit(*rows)
        return replace(self, similarities={**self.similarities, "dictionary": dictionary})


def make_model(task: Task, *, weights: Weights | None = None) -> Model:
    """The model of a task: constraints, weights and edges; ``with_text`` adds what compares texts.

    ``weights`` are those of the options unless given.
    """
    options, pair, tuning = task.options, task.pair, task.tuning
    weights = weights or weights_of(options, tuning=tuning.weights)
    if pair.is_one_graph:
        own = tuning.duplicates
        names = own.record_names if pair.left.source.shape == "records" else own.names
        weights = replace(weights, names=names, shared=own.shared, profit=0.0, lacking=0.0)
    if options.rounds:
        relations = "relations" not in options.without
        make = partial(edges_of, pair, hub=tuning.evidence.hub, relations=relations)
    else:
        make = partial(_no_edges, pair)
    return Model(constraints=task.known, tuning=tuning, weights=weights, make_edges=cache(make))


def _no_edges(pair: MatchedPair) -> tuple[Edges, Edges]:
    """No edges of either graph."""
    return Edges.none(len(pair.left.entities)), Edges.none(len(pair.right.entities))


def with_text(
    model: Model,
    task: Task,
    names: ComparedNames,
    text: TextRows,
    *,
    hops: Similarity | None = None,
) -> Model:
    """The model with the similarities of names and neighbourhoods, and with traits.

    ``hops`` is the mean over all hops but the names, if it is not that of the rows of ``text``.
    """
    blocks: dict[str, Similarity] = {"names": names.best_fitting(text.names)}
    if text.embedding is not None:
        blocks["embedding"] = names.best_fitting(text.embedding)
    depth, means = task.options.depth, tuple(blocks.values())
    profit: Similarity
    if hops is not None:
        profit = HopMean(means, hops, depth)
    elif text.sketch is not None:
        profit = HopMean(means, text.hops or text.sketch, depth, text.sketch)
    else:
        assert text.hops is not None
        profit = text.hops
    traits = None
    if task.options.rounds:
        traits = make_traits(task.pair, names, blocks["names"], tuning=task.tuning)
    weights = model.weights
    if traits is not None and traits.in_twos:
        # Names are compared as between two tables; without neighbours, profits are cosines, too.
        usual = task.tuning.weights
        weights = replace(weights, names=usual.names + usual.profit)
    similarities = {PROFIT: profit, **blocks}
    return replace(model, weights=weights, similarities=similarities, traits=traits)

"""Scores taken apart, by the functions that made them; the parts add up to the score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.adjacency import adjacency_matrices
from sameas.candidates import Candidates, from_pairs
from sameas.evidence import (
    Anchors,
    Edges,
    Evidence,
    Relations,
    attributes_of,
    common_values,
    edges_of,
    gather_evidence,
    match_relations,
)
from sameas.explanation.result import Comparison, Detail, Entity, Kind, Missing, Part, Relation
from sameas.features import ngrams_of, words_of
from sameas.graph import Graph, GraphPair, Positions
from sameas.inputs import Inputs
from sameas.options import Options
from sameas.profit import Profit
from sameas.propagation import hop
from sameas.refinement import SURE, Weights
from sameas.rows import Rows, Sparse
from sameas.scoring import by_side, name_features, spellings, weights_of

Vector = NDArray[np.float64]
Numbers = NDArray[np.integer]
Mask = NDArray[np.bool_]
Pair = tuple[int, int]
"""The positions of a left and a right entity."""

SIDES = ("left", "right")
"""Sides are numbered 0 and 1 here."""
SHOWN = 12
"""Details of a part that are listed; the others are summed up."""
TRIED = 50
"""Neighbours that one side lacks that are tried out as what would have to change."""


@dataclass(frozen=True, eq=False)
class NeighbourTerms:
    """What each anchored neighbour of one pair says; edges are numbers in ``Edges``."""

    shared: tuple[Positions, Positions]
    """The left and the right edge to each shared neighbour, those that say most."""
    votes: Vector
    lacks: tuple[Positions, Positions]
    """The edges of the right entity that the left one lacks, and vice versa."""
    weights: tuple[Vector, Vector]
    """The weight of each of these."""

    @property
    def evidence(self) -> Evidence:
        """The sums, as the score is made from them."""
        return Evidence(*(np.array([part.sum()]) for part in (self.votes, *self.weights)))


@dataclass(frozen=True, eq=False, kw_only=True)
class Scores:
    """All that the scores of a run were made from; each thing is computed when first needed."""

    pair: GraphPair
    options: Options
    inputs: Inputs
    kept: Candidates
    """The pairs that the run recorded, with their scores."""
    anchors: pl.DataFrame | None
    threshold: float | None

    @property
    def graphs(self) -> tuple[Graph, Graph]:
        """Both graphs, by the number of their side."""
        return self.pair.left, self.pair.right

    @cached_property
    def weights(self) -> Weights | None:
        """None without refinement: the score is then the mean cosine over the hops."""
        return weights_of(self.options) if self.options.rounds else None

    @cached_property
    def features(self) -> tuple[Rows, Rows]:
        """The unit feature rows of all entities."""
        return by_side(self.pair, name_features(self.pair, self.options, self.inputs).rows)

    @cached_property
    def adjacency(self) -> tuple[Sparse, Sparse]:
        """The adjacency matrix of each graph."""
        return adjacency_matrices(*self.graphs, self.options.adjacency)

    @cached_property
    def edges(self) -> tuple[Edges, Edges]:
        """The edges that evidence is gathered from."""
        hub = (self.weights or Weights()).hub
        return edges_of(self.pair, hub=hub, relations="relations" not in self.options.without)

    @cached_property
    def sure_links(self) -> Anchors:
        """The links that refinement learned from."""
        assert self.anchors is not None
        left, right = (
            graph.positions(self.anchors[side])
            for graph, side in zip(self.graphs, SIDES, strict=True)
        )
        return Anchors(left, right, self.anchors["trust"].to_numpy())

    @cached_property
    def relations(self) -> Relations:
        """Which relation matches which."""
        return match_relations(*self.edges, self.sure_links)

    @cached_property
    def _values(self) -> pl.Series:
        return common_values(self.pair)

    @cached_property
    def _relation_names(self) -> tuple[list[Relation], list[Relation]]:
        """The relations of each side in the order of their numbers in ``edges``."""
        merged = "relations" in self.options.without
        left, right = (
            [
                Relation("any relation") if merged else Relation(uri, inverse)
                for inverse in (False, True)
                for uri in graph.relations
            ]
            + [Relation(uri) for uri in attributes]
            for graph, attributes in zip(self.graphs, attributes_of(self.pair), strict=True)
        )
        return left, right

    @cached_property
    def _partners(self) -> tuple[Positions, Positions]:
        """The counterpart of each far node of each side; -1 where none is known."""
        sizes = [len(graph.entities) for graph in self.graphs]
        anchors = self.sure_links.left, self.sure_links.right
        left, right = (np.full(edges.nodes, -1, dtype=np.int64) for edges in self.edges)
        for side, partner in enumerate((left, right)):
            partner[anchors[side]] = anchors[1 - side]
            partner[sizes[side] :] = sizes[1 - side] + np.arange(len(partner) - sizes[side])
        return left, right

    @cached_property
    def _fan_keys(self) -> tuple[Positions, Positions]:
        """Far node and relation of every edge as one number, sorted; to count fans by."""
        left, right = (
            np.sort(edges.far * np.int64(edges.relations) + edges.relation) for edges in self.edges
        )
        return left, right

    @cached_property
    def _incident(self) -> tuple[tuple[Positions, Positions], tuple[Positions, Positions]]:
        """The triples of each graph from both ends, by entity, and where each entity's start."""
        left, right = (_both_ways(graph) for graph in self.graphs)
        return left, right

    def entity(self, side: int, position: int) -> Entity:
        """The entity at a position."""
        graph = self.graphs[side]
        return Entity(graph.entities[position], graph.names[position] or "")

    def around(self, side: int, entity: int) -> dict[int, tuple[Relation, ...]]:
        """The neighbours of an entity, with all relations that lead to each."""
        triples, starts = self._incident[side]
        kinds, names = len(self.graphs[side].relations), self.graphs[side].relations
        found: dict[int, tuple[Relation, ...]] = {}
        for _, relation, far in triples[starts[entity] : starts[entity + 1]].tolist():
            step = Relation(names[relation % kinds], relation >= kinds)
            found[far] = (*found.get(far, ()), step)
        return found

    def compare(self, pairs: Sequence[Pair], *, details: bool = False) -> list[Comparison]:
        """The score of each pair in parts, with or without the terms of each part."""
        if not pairs:
            return []
        left, right = np.array(pairs, dtype=np.int64).T
        listed = [
            float(self.kept.values[place]) if place >= 0 else None
            for place in self.kept.find(left, right)
        ]
        cosines = self._cosines(left, right)
        terms = self._neighbour_terms(pairs) if self.weights else []
        found = []
        for number, pair in enumerate(pairs):
            parts = self._text_parts(pair, cosines[:, number], details)
            if self.weights is not None:
                parts += self._evidence_parts(self.weights, terms[number], details)
                parts += self._fixed_parts(parts, listed[number])
            found.append(
                Comparison(
                    left=self.entity(0, pair[0]),
                    right=self.entity(1, pair[1]),
                    score=sum(part.score for part in parts),
                    parts=tuple(parts),
                    listed=listed[number],
                )
            )
        return found

    def _fixed_parts(self, parts: list[Part], listed: float | None) -> list[Part]:
        """What a known link is given, and the threshold."""
        threshold = self.threshold or 0.0
        fixed = [Part(kind="threshold", score=-threshold, amount=threshold)]
        score = sum(part.score for part in parts) - threshold
        # Nothing else is as large as what a known link is given, so the recorded score tells.
        if listed is not None and listed - score > SURE / 2:
            fixed.insert(0, Part(kind="known", score=SURE))
        return fixed

    # --- names and neighbours' names ---

    def _rows(self, side: int, number: int, entities: Positions) -> Rows:
        """The feature rows of these entities after a number of hops."""
        if not number:
            return self.features[side].take(entities)
        matrix = self.adjacency[side][entities]
        before = np.unique(matrix.indices).astype(np.int64)
        return hop(matrix[:, before], self._rows(side, number - 1, before))

    def _cosines(self, left: Positions, right: Positions) -> Vector:
        """The cosine of each pair after each number of hops; shape (hops, pairs)."""
        (lefts, at), (rights, to) = (np.unique(side, return_inverse=True) for side in (left, right))
        rows = [
            Profit(self._rows(0, number, lefts), self._rows(1, number, rights)).of(at, to)
            for number in range(self.options.depth + 1)
        ]
        return np.array(rows, dtype=np.float64)

    def _text_parts(self, pair: Pair, cosines: Vector, details: bool) -> list[Part]:
        parts = []
        for number, cosine in enumerate(cosines.tolist()):
            worth = (self.weights.profit if self.weights else 1.0) / len(cosines)
            if self.weights and not number:
                worth += self.weights.names
            found: tuple[Detail, ...] = ()
            if details:
                found = (
                    self._hop_details(pair, number, worth)
                    if number
                    else self._name_details(pair, worth)
                )
            kind: Kind = ("name", "neighbours", "further")[min(number, 2)]
            parts.append(
                Part(kind=kind, hop=number, score=worth * cosine, amount=cosine, details=found)
            )
        return parts

    def _name_details(self, pair: Pair, worth: float) -> tuple[Detail, ...]:
        """What n-grams (or words) in common add, if a cosine of one is worth so much."""
        rows = [self.features[side].take(np.array([place])) for side, place in enumerate(pair)]
        dense = float(_products(*(replace(row, sparse=row.sparse[:, :0]) for row in rows))[0, 0])
        if self.inputs.embeddings is not None:
            return (Detail(score=worth * dense, text="given feature rows", amount=dense),)
        names = [graph.names[place] or "" for graph, place in zip(self.graphs, pair, strict=True)]
        cosines = self._word_cosines(names, dense) if self.options.features != "char" else {}
        if self.options.features != "word":
            left, right = (
                self._ngram_weights(name, row) for name, row in zip(names, rows, strict=True)
            )
            cosines |= {ngram: left[ngram] * right[ngram] for ngram in left.keys() & right.keys()}
        texts = sorted(cosines)
        values = np.array([cosines[text] for text in texts])
        return _leading(
            worth * values,
            lambda place: {"text": texts[place], "amount": float(values[place])},
        )

    def _ngram_weights(self, name: str, row: Rows) -> dict[str, float]:
        """The weight of each n-gram in a name's row; those of the spelling by sound have a ~."""
        plain = self.options.text == "plain"
        boundaries = not plain and "boundaries" not in self.options.without
        ngrams = [
            f"~{ngram}" if number else ngram
            for number, text in enumerate(spellings(pl.Series([name]), self.options))
            for ngram in ngrams_of(text[0], n=2 if plain else 3, boundaries=boundaries)
        ]
        weights = row.sparse.data[np.argsort(row.sparse.indices)].astype(np.float64)
        return dict(zip(ngrams, weights.tolist(), strict=True))

    def _word_cosines(self, names: list[str], dense: float) -> dict[str, float]:
        """What each pair of words adds to a cosine: a name's row is the scaled sum of its words'."""
        assert self.inputs.word_vectors is not None
        vectors = self.inputs.word_vectors
        numbers = {word: place for place, word in enumerate(vectors.words.to_list())}
        words = [
            [word for word in words_of(pl.Series([name]))["word"] if word in numbers]
            for name in names
        ]
        rows = [vectors.vectors[[numbers[w] for w in side]].astype(np.float64) for side in words]
        products = rows[0] @ rows[1].T
        total = float(products.sum())
        found: dict[str, float] = {}
        for (a, left), (b, right) in (
            (one, other) for one in enumerate(words[0]) for other in enumerate(words[1])
        ):
            text = left if left == right else f"{left} ~ {right}"
            share = float(products[a, b]) / total if total else 0.0
            found[text] = found.get(text, 0.0) + dense * share
        return found

    def _hop_details(self, pair: Pair, number: int, worth: float) -> tuple[Detail, ...]:
        """What each pair of neighbours adds to the cosine of a hop.

        A hop's row is the sum of the neighbours' rows of the hop before, weighted by the adjacency
        and scaled to length one; the cosine of two such rows is a sum over pairs of neighbours.
        """
        neighbours, weights, rows = [], [], []
        for side, place in enumerate(pair):
            row = self.adjacency[side][[place]]
            near = row.indices.astype(np.int64)
            rows.append(self._rows(side, number - 1, near))
            reached = self._rows(side, number, np.array([place]))
            spread = row.data.astype(np.float64)
            # The product of a sum of rows with its own direction is its length.
            length = float(spread @ _products(rows[side], reached)[:, 0])
            weights.append(spread / length if length > 0 else np.zeros(len(spread)))
            neighbours.append(near)
        alike = _products(*rows)
        shares = weights[0][:, None] * alike * weights[1][None, :]
        around = [self.around(side, place) for side, place in enumerate(pair)]

        def neighbour(place: int) -> dict[str, Any]:
            at = np.unravel_index(place, shares.shape)
            found: dict[str, Any] = {"amount": float(alike[at])}
            for side, name in enumerate(SIDES):
                far = int(neighbours[side][at[side]])
                found[name] = self.entity(side, far)
                found[f"{name}_relations"] = around[side].get(far, ())
            return found

        return _leading(worth * shares.ravel(), neighbour, least=worth * 1e-12)

    # --- shared and lacking neighbours ---

    def _neighbour_terms(self, pairs: Sequence[Pair]) -> list[NeighbourTerms]:
        """What each neighbour says about each pair."""
        edges, chosen = self.edges, []
        for side, entities in enumerate(zip(*pairs, strict=True)):
            starts = edges[side].starts
            ranges = [np.arange(starts[i], starts[i + 1]) for i in sorted(set(entities))]
            chosen.append(np.concatenate(ranges))
        single = [
            _single_edges(side, side.relation[some], side.far[some], side.fans[some])
            for side, some in zip(edges, chosen, strict=True)
        ]
        (met_left, met_right, votes), weights = self._edge_evidence(single[0], single[1])
        owner, far = (
            [getattr(side, name)[some] for side, some in zip(edges, chosen, strict=True)]
            for name in ("entity", "far")
        )
        found = []
        for pair in pairs:
            here = (owner[0][met_left] == pair[0]) & (owner[1][met_right] == pair[1])
            met = met_left[here], met_right[here]
            best = _best_of_each(far[0][met[0]], votes[here])
            lacks = []
            for side in (1, 0):  # the left entity lacks edges of the right one
                open_ = (owner[side] == pair[side]) & (weights[side] > 0)
                open_ &= ~np.isin(far[side], far[side][met[side]])
                places = np.flatnonzero(open_)
                lacks.append(places[_best_of_each(far[side][places], weights[side][places])])
            found.append(
                NeighbourTerms(
                    (chosen[0][met[0][best]], chosen[1][met[1][best]]),
                    votes[here][best],
                    (chosen[1][lacks[0]], chosen[0][lacks[1]]),
                    (weights[1][lacks[0]], weights[0][lacks[1]]),
                )
            )
        return found

    def _edge_evidence(
        self, left: Edges, right: Edges
    ) -> tuple[tuple[Positions, Positions, Vector], tuple[Vector, Vector]]:
        """The votes of every two edges that meet, and the weight of each edge that meets none.

        Both are ``_single_edges``, so that evidence about pairs is evidence about pairs of edges.
        """
        counts = len(left), len(right)
        shape = len(left.starts) - 1, len(right.starts) - 1
        lone = (
            np.append(np.arange(counts[0]), np.full(counts[1], shape[0] - 1)),
            np.append(np.full(counts[0], shape[1] - 1), np.arange(counts[1])),
        )
        candidates = from_pairs(shape, *lone, np.zeros(sum(counts), dtype=np.float32))
        alone, met = gather_evidence(
            left, right, self.sure_links, self.relations, candidates, enter=0.0
        )
        weights = alone.right_lacks[: counts[0]], alone.left_lacks[counts[0] :]
        return (met.left, met.right, met.evidence.votes), weights

    def _evidence_parts(self, weights: Weights, terms: NeighbourTerms, details: bool) -> list[Part]:
        total, none = terms.evidence, np.zeros(1)
        worth = float(weights.evidence(Evidence(total.votes, none, none))[0])
        costs = (
            float(weights.evidence(Evidence(none, total.left_lacks, none))[0]),
            float(weights.evidence(Evidence(none, none, total.right_lacks))[0]),
        )
        literal = self.edges[0].far[terms.shared[0]] >= len(self.pair.left.entities)
        each = worth / (float(total.votes[0]) or 1.0)
        return [
            self._shared_part("shared", terms, ~literal, each, details),
            self._shared_part("values", terms, literal, each, details),
            self._lacking_part("left lacks", 0, terms, costs[0], details),
            self._lacking_part("right lacks", 1, terms, costs[1], details),
        ]

    def _shared_part(
        self, kind: Kind, terms: NeighbourTerms, which: Mask, each: float, details: bool
    ) -> Part:
        """The part of shared neighbours or of shared values, if a vote is worth ``each``."""
        votes, edges = terms.votes[which], [side[which] for side in terms.shared]

        def shared(place: int) -> dict[str, Any]:
            found = self._edge(0, edges[0][place]) | self._edge(1, edges[1][place])
            return found | {"amount": -float(np.expm1(-votes[place]))}

        scores = each * votes
        found = _leading(scores, shared) if details else ()
        return Part(kind=kind, score=float(scores.sum()), amount=float(votes.sum()), details=found)

    def _lacking_part(
        self, kind: Kind, side: int, terms: NeighbourTerms, cost: float, details: bool
    ) -> Part:
        """The part of what one side lacks."""
        edges, weights = terms.lacks[side], terms.weights[side]
        total = float(weights.sum())
        found = ()
        if details:
            scores = weights * (cost / (total or 1.0))
            found = _leading(scores, lambda place: self._lacked(side, edges[place], weights[place]))
        return Part(kind=kind, score=cost, amount=total, details=found)

    def _edge(self, side: int, edge: int) -> dict[str, Any]:
        """The fields of a Detail that say where an edge of one side leads to, and how."""
        edges, name = self.edges[side], SIDES[side]
        return self._far(side, int(edges.far[edge])) | {
            f"{name}_relations": (self._relation_names[side][edges.relation[edge]],),
            f"{name}_fans": int(edges.fans[edge]),
        }

    def _lacked(self, side: int, edge: int, weight: float) -> dict[str, Any]:
        """The fields of a Detail about an edge that one side lacks and the other one has."""
        far = int(self._partners[1 - side][self.edges[1 - side].far[edge]])
        return self._edge(1 - side, edge) | self._far(side, far) | {"amount": float(weight)}

    def _far(self, side: int, far: int) -> dict[str, Any]:
        """A far node as the fields of a Detail: an entity, or the text of a value."""
        size = len(self.graphs[side].entities)
        if far < size:
            return {SIDES[side]: self.entity(side, far)}
        return {"text": str(self._values[far - size])}

    # --- what is missing ---

    def missing(self, pair: Pair, score: float) -> Missing:
        """What a pair with too low a score needs, and a neighbour that would do."""
        assert self.weights is not None
        (terms,) = self._neighbour_terms([pair])
        tried = [
            detail
            for side in (0, 1)
            if (detail := self._best_addition(self.weights, terms, side)) is not None
        ]
        best = max(tried, key=lambda detail: detail.score, default=None)
        does = best is not None and best.score > -score
        return Missing(
            score=-score, would_do=best if does else None, would_help=None if does else best
        )

    def _best_addition(self, weights: Weights, terms: NeighbourTerms, side: int) -> Detail | None:
        """The neighbour that one side lacks and that would add most if it had it.

        It is taken to have it through the relation that says most, besides the entities that have
        it already; all else being equal.
        """
        heaviest = np.argsort(-terms.weights[side], kind="stable")[:TRIED]
        lacked, weight = terms.lacks[side][heaviest], terms.weights[side][heaviest]
        edges, others = self.edges[1 - side], self.edges[side]
        matches = self.relations.left, self.relations.right
        place, match = np.nonzero(edges.relation[lacked][:, None] == matches[1 - side][None, :])
        relation = matches[side][match]
        far = self._partners[1 - side][edges.far[lacked[place]]]
        key = far * others.relations + relation
        fans = 1 + sum(
            sign * np.searchsorted(self._fan_keys[side], key, side=where)
            for where, sign in (("left", -1), ("right", 1))
        )
        sides = [
            _single_edges(edges, edges.relation[lacked], edges.far[lacked], edges.fans[lacked]),
            _single_edges(others, relation, far, fans),
        ]
        found, _ = self._edge_evidence(*(sides if side else sides[::-1]))
        had, added, votes = found if side else (found[1], found[0], found[2])
        if not len(votes):
            return None
        total = terms.evidence
        lacks = [total.left_lacks, total.right_lacks]
        lacks[side] = np.maximum(lacks[side] - weight[had], 0.0)
        gains = weights.evidence(Evidence(total.votes + votes, *lacks)) - weights.evidence(total)
        best = int(np.argmax(gains))
        fields = self._lacked(side, lacked[had[best]], 0.0)
        fields[f"{SIDES[side]}_relations"] = (self._relation_names[side][relation[added[best]]],)
        fields["amount"] = -float(np.expm1(-votes[best]))
        return Detail(score=float(gains[best]), **fields)


def _single_edges(edges: Edges, relation: Numbers, far: Positions, fans: Numbers) -> Edges:
    """Edges of which each belongs to an entity of its own; the last entity has none.

    Far nodes are those of ``edges``; values come after the last entity, as they do there.
    """
    size, count = len(edges.starts) - 1, len(relation)
    grown = max(size, count + 1)
    return Edges(
        np.minimum(np.arange(grown + 1), count),
        np.arange(count, dtype=np.int32),
        relation.astype(np.int32),
        np.where(far < size, far, far + grown - size).astype(np.int32),
        fans.astype(np.int32),
        edges.relations,
        edges.nodes + grown - size,
    )


def _best_of_each(groups: Numbers, values: Vector) -> Positions:
    """The place of the largest value of each group, by group."""
    order = np.lexsort((-values, groups))
    return order[np.unique(groups[order], return_index=True)[1]]


def _leading(
    scores: Vector, describe: Callable[[int], dict[str, Any]], *, least: float = 0.0
) -> tuple[Detail, ...]:
    """The largest scores as details, described by their places, and the others as one."""
    order = np.argsort(-np.abs(scores).round(9), kind="stable")  # equal scores: the first
    order = order[np.abs(scores[order]) > least]
    shown = order if len(order) <= SHOWN + 1 else order[:SHOWN]
    details = [Detail(score=float(scores[place]), **describe(int(place))) for place in shown]
    rest = order[len(shown) :]
    if len(rest):
        details.append(Detail(score=float(scores[rest].sum()), count=len(rest)))
    return tuple(details)


def _products(left: Rows, right: Rows) -> Vector:
    """All dot products of two sets of rows, in double precision."""
    dense = left.dense.astype(np.float64) @ right.dense.astype(np.float64).T
    sparse = left.sparse.astype(np.float64) @ right.sparse.astype(np.float64).T
    products: Vector = dense + sparse.toarray()
    return products


def _both_ways(graph: Graph) -> tuple[Positions, Positions]:
    """All triples and their inverses without loops, by entity; and where each entity's start."""
    triples = graph.distinct_triples()
    triples = triples[triples[:, 0] != triples[:, 2]]
    inverse = triples[:, ::-1] + np.array([0, len(graph.relations), 0])
    both = np.concatenate([triples, inverse])
    both = both[np.lexsort((both[:, 1], both[:, 2], both[:, 0]))]
    return both, np.searchsorted(both[:, 0], np.arange(len(graph.entities) + 1))

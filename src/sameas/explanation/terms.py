"""Scores taken apart, by the functions that made them; the parts add up to the score."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas import evidence
from sameas.adjacency import adjacency_matrices
from sameas.candidates import Candidates, from_pairs
from sameas.evidence import Anchors, Edges, Relations
from sameas.explanation.result import (
    Comparison,
    Detail,
    Entity,
    Kind,
    Missing,
    Part,
    Relation,
    Side,
)
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
Pair = tuple[int, int]
"""The positions of a left and a right entity."""
Fields = dict[str, Any]
"""Fields of a Detail, other than its score."""

SIDES: tuple[Side, Side] = ("left", "right")
"""Sides are numbered 0 and 1 here."""
SHOWN = 12
"""Details of a part that are listed; the others are summed up."""
TRIED = 50
"""How many neighbours that one side lacks are tried out as what would have to change."""


@dataclass(frozen=True, eq=False)
class NeighbourTerms:
    """What each anchored neighbour says about one pair; edges are places in ``Edges``."""

    shared: tuple[Positions, Positions]
    """The left and the right edge to each shared neighbour, those that say most."""
    votes: Vector
    lacks: tuple[Positions, Positions]
    """The edges of the right entity that the left one lacks, and vice versa."""
    weights: tuple[Vector, Vector]
    """The weight of each of these."""

    @property
    def sums(self) -> Vector:
        """Votes, left and right lacks, as the score is made from them."""
        return np.array([terms.sum() for terms in (self.votes, *self.weights)])


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
        merged = "relations" in self.options.without
        return evidence.edges_of(self.pair, hub=weights_of(self.options).hub, relations=not merged)

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
        return evidence.match_relations(*self.edges, self.sure_links)

    @cached_property
    def _values(self) -> pl.Series:
        return evidence.common_values(*evidence.literal_values(self.pair))

    @cached_property
    def _relation_names(self) -> list[list[Relation]]:
        """The relations of each side in the order of their numbers in ``edges``."""
        found = []
        for graph, attributes in zip(self.graphs, evidence.attributes_of(self.pair), strict=True):
            names = [Relation(uri, inverse) for inverse in (False, True) for uri in graph.relations]
            if "relations" in self.options.without:
                names = [Relation("any relation")] * len(names)
            found.append(names + [Relation(uri) for uri in attributes])
        return found

    @cached_property
    def _counterparts(self) -> list[Positions]:
        """The counterpart of each far node of each side; -1 where none is known."""
        anchors, found = (self.sure_links.left, self.sure_links.right), []
        sizes = [len(graph.entities) for graph in self.graphs]
        for side, edges in enumerate(self.edges):
            other = np.full(edges.nodes, -1, dtype=np.int64)
            other[anchors[side]] = anchors[1 - side]
            other[sizes[side] :] = sizes[1 - side] + np.arange(edges.nodes - sizes[side])
            found.append(other)
        return found

    @cached_property
    def _every_edge(self) -> tuple[Edges, Edges]:
        """All edges, those to hubs included."""
        return evidence.edges_of(self.pair, hub=sys.maxsize)

    def entity(self, side: int, position: int) -> Entity:
        """The entity at a position."""
        graph = self.graphs[side]
        return Entity(graph.entities[position], graph.names[position] or "")

    def around(self, side: int, entity: int) -> dict[int, tuple[Relation, ...]]:
        """The neighbours of an entity, with all relations that lead to each."""
        edges, graph = self._every_edge[side], self.graphs[side]
        part, kinds = slice(*edges.starts[entity : entity + 2]), len(graph.relations)
        found: dict[int, tuple[Relation, ...]] = {}
        for number, far in zip(
            edges.relation[part].tolist(), edges.far[part].tolist(), strict=True
        ):
            if far < len(graph.entities):
                relation = Relation(graph.relations[number % kinds], number >= kinds)
                found[far] = (*found.get(far, ()), relation)
        return found

    def compare(self, pairs: Sequence[Pair], *, details: bool = False) -> list[Comparison]:
        """The score of each pair in parts, with or without the terms of each part."""
        if not pairs:
            return []
        left, right = np.array(pairs, dtype=np.int64).T
        places = self.kept.find(left, right).tolist()
        cosines = self._cosines(left, right)
        terms = self._neighbour_terms(pairs) if self.weights else []
        found = []
        for number, pair in enumerate(pairs):
            listed = float(self.kept.values[places[number]]) if places[number] >= 0 else None
            parts = self._text_parts(pair, cosines[:, number], details)
            if self.weights is not None:
                parts += self._evidence_parts(self.weights, terms[number], details)
                parts += self._fixed_parts(sum(part.score for part in parts), listed)
            left_one, right_one = self.entity(0, pair[0]), self.entity(1, pair[1])
            total = sum(part.score for part in parts)
            found.append(Comparison(left_one, right_one, total, tuple(parts), listed))
        return found

    def _fixed_parts(self, score: float, listed: float | None) -> list[Part]:
        """What a known link is given, and the threshold that is taken off."""
        threshold = self.threshold or 0.0
        parts = [Part(kind="threshold", score=-threshold, amount=threshold)]
        # Nothing else is as large as what a known link is given, so the recorded score tells.
        if listed is not None and listed - (score - threshold) > SURE / 2:
            parts.insert(0, Part(kind="known", score=SURE))
        return parts

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
        kinds: tuple[Kind, ...] = ("name", "neighbours", "further")
        for number, cosine in enumerate(cosines.tolist()):
            worth = (self.weights.profit if self.weights else 1.0) / len(cosines)
            if self.weights and not number:
                worth += self.weights.names
            found: tuple[Detail, ...] = ()
            if details:
                terms = self._hop_terms(pair, number) if number else self._name_terms(pair)
                found = _leading(worth * terms[0], terms[1])
            kind, score = kinds[min(number, 2)], worth * cosine
            parts.append(Part(kind=kind, hop=number, score=score, amount=cosine, details=found))
        return parts

    def _name_terms(self, pair: Pair) -> tuple[Vector, Callable[[int], Fields]]:
        """What n-grams and words in common add to the cosine of two names."""
        rows = [self.features[side].take(np.array([place])) for side, place in enumerate(pair)]
        dense = float(rows[0].dense[0].astype(np.float64) @ rows[1].dense[0].astype(np.float64))
        names = [graph.names[place] or "" for graph, place in zip(self.graphs, pair, strict=True)]
        cosines: dict[str, float] = {}
        if self.inputs.embeddings is not None:
            cosines = {"given feature rows": dense}
        elif self.options.features != "char":
            cosines = self._word_cosines(names, dense)
        if self.inputs.embeddings is None and self.options.features != "word":
            left, right = self._ngram_weights(names, rows)
            cosines |= {ngram: left[ngram] * right[ngram] for ngram in left.keys() & right.keys()}
        texts = sorted(cosines)
        values = np.array([cosines[text] for text in texts])
        return values, lambda place: {"text": texts[place], "amount": float(values[place])}

    def _ngram_weights(self, names: list[str], rows: list[Rows]) -> list[dict[str, float]]:
        """The weight of each n-gram in each row; those of the spelling by sound have a ~."""
        plain = self.options.text == "plain"
        boundaries = not plain and "boundaries" not in self.options.without
        spelled, found = spellings(pl.Series(names), self.options), []
        for number, row in enumerate(rows):
            ngrams = [
                f"~{ngram}" if by_sound else ngram
                for by_sound, texts in enumerate(spelled)
                for ngram in ngrams_of(texts[number], n=2 if plain else 3, boundaries=boundaries)
            ]
            weights = row.sparse.data[np.argsort(row.sparse.indices)].astype(np.float64)
            found.append(dict(zip(ngrams, weights.tolist(), strict=True)))
        return found

    def _word_cosines(self, names: list[str], dense: float) -> dict[str, float]:
        """What each pair of words adds to the cosine of two scaled sums of word vectors."""
        assert self.inputs.word_vectors is not None
        table = self.inputs.word_vectors
        number = {word: place for place, word in enumerate(table.words.to_list())}
        left, right = (
            [word for word in words_of(pl.Series([name]))["word"] if word in number]
            for name in names
        )
        vectors = table.vectors.astype(np.float64)
        products = [
            (
                one if one == other else f"{one} ~ {other}",
                vectors[number[one]] @ vectors[number[other]],
            )
            for one in left
            for other in right
        ]
        total = sum(product for _, product in products)
        found: dict[str, float] = {}
        for text, product in products if total else ():
            found[text] = found.get(text, 0.0) + dense * float(product / total)
        return found

    def _hop_terms(self, pair: Pair, number: int) -> tuple[Vector, Callable[[int], Fields]]:
        """What each pair of neighbours adds to the cosine of a hop.

        A hop's row is the sum of the neighbours' rows of the hop before, weighted by the adjacency
        and scaled to length one; the cosine of two such rows is a sum over pairs of neighbours.
        """
        neighbours, weights, rows = [], [], []
        for side, place in enumerate(pair):
            row = self.adjacency[side][[place]]
            neighbours.append(row.indices.astype(np.int64))
            rows.append(self._rows(side, number - 1, neighbours[side]))
            # The product of a sum of rows with its own direction is its length.
            reached = self._rows(side, number, np.array([place]))
            length = float(row.data @ _products(rows[side], reached)[:, 0])
            weights.append(row.data / length if length > 0 else 0.0 * row.data)
        alike = _products(*rows)
        shares = weights[0][:, None] * alike * weights[1][None, :]
        around = [self.around(side, place) for side, place in enumerate(pair)]

        def describe(place: int) -> Fields:
            at = np.unravel_index(place, shares.shape)
            fields: Fields = {"amount": float(alike[at])}
            for side, name in enumerate(SIDES):
                far = int(neighbours[side][at[side]])
                fields[name] = self.entity(side, far)
                fields[f"{name}_relations"] = around[side].get(far, ())
            return fields

        return shares.ravel(), describe

    # --- shared and lacking neighbours ---

    def _neighbour_terms(self, pairs: Sequence[Pair]) -> list[NeighbourTerms]:
        """What each neighbour says about each pair."""
        chosen, single = [], []
        for edges, entities in zip(self.edges, zip(*pairs, strict=True), strict=True):
            ends = [edges.starts[entity : entity + 2] for entity in sorted(set(entities))]
            places = np.concatenate([np.arange(*start_stop) for start_stop in ends])
            columns = edges.relation[places], edges.far[places], edges.fans[places]
            chosen.append(places)
            single.append(_single_edges(edges, *columns))
        (met_left, met_right, votes), weights = self._edge_evidence(*single)
        owner = [edges.entity[places] for edges, places in zip(self.edges, chosen, strict=True)]
        far = [edges.far[places] for edges, places in zip(self.edges, chosen, strict=True)]
        found = []
        for pair in pairs:
            here = (owner[0][met_left] == pair[0]) & (owner[1][met_right] == pair[1])
            met = met_left[here], met_right[here]
            best = _best_of_each(far[0][met[0]], votes[here])
            lacks = []
            for side in (1, 0):  # the left entity lacks edges of the right one
                unmet = (owner[side] == pair[side]) & (weights[side] > 0)
                places = np.flatnonzero(unmet & ~np.isin(far[side], far[side][met[side]]))
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
        n, m = len(left), len(right)
        empty = len(left.starts) - 2, len(right.starts) - 2
        alone = from_pairs(
            (empty[0] + 1, empty[1] + 1),
            np.append(np.arange(n), np.full(m, empty[0])),
            np.append(np.full(n, empty[1]), np.arange(m)),
            np.zeros(n + m, dtype=np.float32),
        )
        sides = left, right, self.sure_links, self.relations
        (_, left_lacks, right_lacks), met, (votes, *_) = evidence.gather_evidence(
            *sides, alone, enter=0.0
        )
        return (met[0], met[1], votes), (right_lacks[:n], left_lacks[n:])

    def _evidence_parts(self, weights: Weights, terms: NeighbourTerms, details: bool) -> list[Part]:
        sums = terms.sums
        worth = weights.evidence(np.diag(sums))  # of each of the three sums alone
        each = np.divide(worth, sums, out=np.zeros(3), where=sums > 0)

        def part(kind: Kind, each: float, terms: Vector, describe: Callable[[int], Fields]) -> Part:
            found = _leading(each * terms, describe) if details else ()
            total = float(terms.sum())
            return Part(kind=kind, score=float(each) * total, amount=total, details=found)

        def shared(place: int) -> Fields:
            both = [self._edge(side, terms.shared[side][place]) for side in (0, 1)]
            return both[0] | both[1] | {"amount": -float(np.expm1(-terms.votes[place]))}

        def lacked(side: int) -> Callable[[int], Fields]:
            edges, weight = terms.lacks[side], terms.weights[side]
            return lambda place: self._lacked(side, edges[place]) | {"amount": float(weight[place])}

        literal = self.edges[0].far[terms.shared[0]] >= len(self.pair.left.entities)
        return [
            part("shared", each[0], np.where(literal, 0.0, terms.votes), shared),
            part("values", each[0], np.where(literal, terms.votes, 0.0), shared),
            part("left lacks", each[1], terms.weights[0], lacked(0)),
            part("right lacks", each[2], terms.weights[1], lacked(1)),
        ]

    def _edge(self, side: int, edge: int) -> Fields:
        """Where an edge of one side leads to, and how."""
        edges, name = self.edges[side], SIDES[side]
        return self._far(side, int(edges.far[edge])) | {
            f"{name}_relations": (self._relation_names[side][edges.relation[edge]],),
            f"{name}_fans": int(edges.fans[edge]),
        }

    def _lacked(self, side: int, edge: int) -> Fields:
        """An edge that one side lacks and the other has, and its counterpart."""
        far = self._counterparts[1 - side][self.edges[1 - side].far[edge]]
        return self._edge(1 - side, edge) | self._far(side, int(far))

    def _far(self, side: int, far: int) -> Fields:
        """A far node: an entity, or the text of a value."""
        size = len(self.graphs[side].entities)
        if far < size:
            return {SIDES[side]: self.entity(side, far)}
        return {"text": str(self._values[far - size])}

    # --- what is missing ---

    def missing(self, pair: Pair, score: float) -> Missing:
        """What a pair with too low a score needs, and a neighbour that would do."""
        assert self.weights is not None
        (terms,) = self._neighbour_terms([pair])
        tried = [self._best_addition(self.weights, terms, side) for side in (0, 1)]
        found = [detail for detail in tried if detail is not None]
        best = max(found, key=lambda detail: detail.score, default=None)
        if best is not None and best.score > -score:
            return Missing(score=-score, would_do=best, would_help=None)
        return Missing(score=-score, would_do=None, would_help=best)

    def _best_addition(self, weights: Weights, terms: NeighbourTerms, side: int) -> Detail | None:
        """The neighbour that one side lacks and that would add most if it had it.

        It is taken to have it through the relation that says most, besides the entities that have
        it already; all else being equal.
        """
        heaviest = np.argsort(-terms.weights[side], kind="stable")[:TRIED]
        lacked, weight = terms.lacks[side][heaviest], terms.weights[side][heaviest]
        theirs, ours = self.edges[1 - side], self.edges[side]
        matches = self.relations.left, self.relations.right
        place, match = np.nonzero(theirs.relation[lacked][:, None] == matches[1 - side])
        relation = matches[side][match]
        far = self._counterparts[1 - side][theirs.far[lacked[place]]]
        every = np.sort(ours.far * np.int64(ours.relations) + ours.relation)
        first, last = (
            np.searchsorted(every, far * ours.relations + relation, side=where) for where in SIDES
        )
        columns = theirs.relation[lacked], theirs.far[lacked], theirs.fans[lacked]
        sides = (
            _single_edges(theirs, *columns),
            _single_edges(ours, relation, far, last - first + 1),
        )
        found, _ = self._edge_evidence(*(sides if side else sides[::-1]))
        had, added, votes = found[1 - side], found[side], found[2]
        if not len(votes):
            return None
        before = np.repeat(terms.sums[:, None], len(votes), axis=1)
        after = before.copy()
        after[0] += votes
        after[1 + side] = np.maximum(after[1 + side] - weight[had], 0.0)
        gains = weights.evidence(after) - weights.evidence(before)
        best = int(np.argmax(gains))
        fields = self._lacked(side, lacked[had[best]])
        fields[f"{SIDES[side]}_relations"] = (self._relation_names[side][relation[added[best]]],)
        fields["amount"] = -float(np.expm1(-votes[best]))
        return Detail(score=float(gains[best]), **fields)


def _single_edges(edges: Edges, relation: Numbers, far: Numbers, fans: Numbers) -> Edges:
    """Edges of which each belongs to an entity of its own; the last entity has none.

    Far nodes are those of ``edges``; values come after the last entity, as they do there.
    """
    size, count = len(edges.starts) - 1, len(relation)
    grown = max(size, count + 1)
    far = np.where(far < size, far, far + grown - size)
    return Edges(
        starts=np.minimum(np.arange(grown + 1), count),
        entity=np.arange(count, dtype=np.int32),
        relation=relation.astype(np.int32),
        far=far.astype(np.int32),
        fans=fans.astype(np.int32),
        relations=edges.relations,
        nodes=edges.nodes + grown - size,
    )


def _best_of_each(groups: Numbers, values: Vector) -> Positions:
    """The place of the largest value of each group, by group."""
    order = np.lexsort((-values, groups))
    return order[np.unique(groups[order], return_index=True)[1]]


def _leading(scores: Vector, describe: Callable[[int], Fields]) -> tuple[Detail, ...]:
    """The largest scores as details, described by their places, and the others as one."""
    order = np.argsort(-np.abs(scores).round(9), kind="stable")  # of equals, the first
    order = order[np.abs(scores[order]) > 1e-12]
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

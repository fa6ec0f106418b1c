"""Scores taken apart, by the functions that made them; the parts add up to the score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from sameas.candidates.pairs import from_pairs
from sameas.compute.arrays import Numbers, Positions, Sparse, Vector
from sameas.compute.rows import Rows
from sameas.graph.task import Task
from sameas.refinement import evidence
from sameas.refinement.evidence import Anchors, Relations
from sameas.result.explanation.result import SIDES, Comparison, Detail, Entity, Kind, Part, Relation
from sameas.result.explanation.tables import RunTables
from sameas.similarity.adjacency import adjacency_matrices
from sameas.similarity.attributes import Attributes
from sameas.similarity.edges import NAME, Edges, common_values, names_as_values
from sameas.similarity.features import NameFeatures, name_features, spellings, text_rows
from sameas.similarity.hops import ExactHops
from sameas.similarity.make_task import make_task
from sameas.similarity.matrix import RowProduct
from sameas.similarity.model import Model, make_model, with_text
from sameas.similarity.several_names import MaxOverNames
from sameas.similarity.spelling import Spelling
from sameas.similarity.traits import Worths
from sameas.similarity.weights import evidence_worth, weights_of
from sameas.text.folding import folded
from sameas.text.ngrams import ngrams_of
from sameas.text.words import words_of

Pair = tuple[int, int]
"""The positions of a left and a right entity."""
Describe = Callable[[int], dict[str, Any]]
"""Gives the fields of the Detail of a term, other than its score, by the term's place."""
Terms = tuple[Vector, Describe]

SHOWN = 12
"""Details of a part that are listed; the others are summed up."""
ROUNDED = 1.0
"""More than sketches ever change a score by."""
TRIED = 50
"""How many neighbours that one side lacks are tried out as what would have to change."""


class EdgeTerms(NamedTuple):
    """What single neighbours say about a pair."""

    amounts: Vector
    """The votes of shared neighbours, or the weights of lacking ones."""
    edges: tuple[Positions, Positions]
    """The left and the right edge that lead to each (places in ``Edges``); -1 where it lacks."""


@dataclass(frozen=True, eq=False)
class Decomposition:
    """The scores of a run taken apart by its model, which is made again when first needed."""

    tables: RunTables

    # --- the model, as the run made it ---

    @cached_property
    def task(self) -> Task:
        """What the run started from."""
        tables = self.tables
        return make_task(tables.pair, tables.options, tables.inputs, tuning=tables.tuning)

    @cached_property
    def features(self) -> NameFeatures:
        """The unit feature rows of all entities, and of all their names."""
        task = self.task
        given = task.pair, task.options, task.inputs, self.tables.support
        return name_features(*given, tuning=task.tuning)

    @cached_property
    def hops(self) -> ExactHops:
        """The neighbourhoods, compared exactly and for a few pairs."""
        pair, options = self.task.pair, self.task.options
        adjacency = adjacency_matrices(pair.left, pair.right, options.adjacency)
        return ExactHops(adjacency, self.features.rows, options.depth)

    @cached_property
    def model(self) -> Model:
        """What the scores are made of."""
        tables, features, pair = self.tables, self.features, self.task.pair
        weights = weights_of(tables.options, tables.weights, tuning=tables.tuning.weights)
        model = make_model(self.task, weights=weights)
        model = with_text(model, self.task, features.names, text_rows(features), hops=self.hops)
        if model.traits is not None and tables.wording is not None:
            model = replace(model, traits=model.traits.with_wording(tables.wording))
        if tables.dictionary_anchors is None:
            return model
        links = tables.positions(tables.dictionary_anchors)
        return model.with_dictionary((pair.left.names, pair.right.names), links)

    @cached_property
    def worths(self) -> Worths | None:
        """What types, attributes and spelling were learned to be worth."""
        traits, anchors = self.model.traits, self.anchors
        if traits is None:
            return None
        taught = not self.tables.by_chance
        return traits.learn(anchors.left, anchors.right, anchors.trust, taught=taught)

    @cached_property
    def anchors(self) -> Anchors:
        """The links that refinement learned from."""
        table = self.tables.anchors
        assert table is not None
        return Anchors(*self.tables.positions(table), table["trust"].to_numpy())

    @cached_property
    def relations(self) -> Relations:
        """Which relation matches which."""
        return evidence.match_relations(*self.model.edges, self.anchors)

    @cached_property
    def _counterparts(self) -> list[Positions]:
        """The counterpart of each far node of each side; -1 where none is known."""
        anchored, counterparts = (self.anchors.left, self.anchors.right), []
        for side, edges in enumerate(self.model.edges):
            literal = self.model.edges[1 - side].entities + edges.literals
            pairs = anchored[side], anchored[1 - side]
            counterparts.append(evidence.of_nodes(edges, *pairs, literal, -1))
        return counterparts

    @cached_property
    def _values(self) -> pl.Series:
        return common_values(*names_as_values(self.task.pair))

    @cached_property
    def _relations(self) -> list[list[Relation]]:
        """The relations of each side in the order of their numbers in ``edges``."""
        relations = []
        for graph in self.task.pair.graphs:
            names = [Relation(uri, inverse) for inverse in (False, True) for uri in graph.relations]
            if "relations" in self.tables.options.without:
                names = [Relation("any relation")] * len(names)
            relations.append([*names, Relation(NAME)])
        return relations

    @property
    def _several(self) -> MaxOverNames | None:
        """All names as they are spelled, where entities may have several."""
        names = self.model.names["names"]
        return names if isinstance(names, MaxOverNames) else None

    @property
    def _names(self) -> tuple[pl.Series, pl.Series]:
        """All names of each side, in the order of their rows."""
        return self.features.names.left, self.features.names.right

    # --- the parts of a score ---

    def compare(self, pairs: Sequence[Pair], *, details: bool = False) -> list[Comparison]:
        """The score of each pair in parts, with or without the terms of each part."""
        if not pairs:
            return []
        left, right = np.array(pairs, dtype=np.int64).T
        kept = self.tables.kept
        indices = kept.find(left, right).tolist()
        cosines = self.hops.of_each(left, right).astype(np.float64)
        alike = {name: block.of(left, right) for name, block in self.model.names.items()}
        terms = self._neighbour_terms(pairs) if self.tables.refined else []
        seed = self.tables.tuning.refinement.seed
        comparisons = []
        for number, pair in enumerate(pairs):
            listed = float(kept.values[indices[number]]) if indices[number] >= 0 else None
            named = {name: float(each[number]) for name, each in alike.items()}
            parts = self._name_parts(pair, named, details)
            for hop, cosine in enumerate(cosines[:, number], start=1):
                hop_terms = self._hop_terms(pair, hop) if details else None
                kind = "neighbours" if hop == 1 else "further"
                parts.append(_part(kind, self._hop_worth, cosine, hop_terms, hop=hop))
            if self.tables.refined:
                threshold = self.tables.threshold(pair[0])
                parts += self._evidence_parts(pair, terms[number], details)
                parts += self._learned_parts(pair, details)
                parts.append(Part(kind="threshold", score=-threshold, amount=threshold))
                # Nothing else is as large as what a known link is given: the recorded score tells.
                if listed is not None and listed - _sum(parts) > seed / 2:
                    parts.insert(-1, Part(kind="known", score=seed))
                # The run compared hops by their sketches; what that made of the exact score.
                rounded = 0.0 if listed is None else listed - _sum(parts)
                if not self.tables.options.exact_hops and 1e-6 < abs(rounded) < ROUNDED:
                    parts.insert(-1, Part(kind="sketch", score=rounded))
            one, other = self.tables.entity(0, pair[0]), self.tables.entity(1, pair[1])
            comparisons.append(Comparison(one, other, _sum(parts), tuple(parts), listed))
        return comparisons

    # --- names and neighbours' names ---

    @property
    def _hop_worth(self) -> float:
        """What a cosine of one is worth in a hop."""
        return (self.model.weights.profit if self.tables.refined else 1) / (
            self.tables.options.depth + 1
        )

    def _name_parts(self, pair: Pair, cosines: dict[str, float], details: bool) -> list[Part]:
        """What the names say, by each block; of several names, the two that fit best."""
        parts, best_names = [], self._best_names(pair)
        mean = [block for block in cosines if block != "dictionary"]  # the blocks of hop 0
        for block, cosine in cosines.items():
            worth = getattr(self.model.weights, block) if self.tables.refined else 0.0
            worth += self._hop_worth / len(mean) if block in mean else 0.0
            if block == "names":
                meant = self._meaning_terms(best_names)
                total = float(meant[0].sum())
                terms = self._spelling_terms(best_names, cosine - total) if details else None
                parts.append(_part("name", worth, cosine - total, terms, hop=0))
                if best_names and self._several:
                    best = self._names[0][best_names[0]], self._names[1][best_names[1]]
                    parts[-1] = replace(parts[-1], names=best)
                if self.features.meanings is not None:
                    parts.append(_part("meaning", worth, total, meant if details else None, hop=0))
            else:
                terms = self._block_terms(pair, block, cosine) if details else None
                parts.append(_part(block, worth, cosine, terms, hop=0))
        return parts

    def _best_names(self, pair: Pair) -> Pair | None:
        """The indices in ``_names`` of the two names that fit best; None if one has no name."""
        if self._several is None:
            return pair
        _, left, right = self._several.best(*(np.array([place]) for place in pair))
        return (int(left[0]), int(right[0])) if left[0] >= 0 else None

    def _block_terms(self, pair: Pair, block: str, cosine: float) -> Terms:
        """What n-grams add to the cosine of a translated name; or the cosine of encoded ones."""
        profit = self.model.names[block]
        if block != "dictionary" or not isinstance(profit, RowProduct):
            return _texts([("encoded names", cosine)])
        name = folded(self.tables.pair.right.names[[pair[1]]])[0]
        rows = profit.left.sparse[[pair[0]]], profit.right.sparse[[pair[1]]]
        return _texts(_by_ngram(*rows, ngrams_of(name, n=3, boundaries=True)))

    def _meaning_terms(self, best_names: Pair | None) -> Terms:
        """What each gloss of a name adds to the cosine of two names."""
        meanings = self.features.meanings
        if meanings is None or best_names is None:
            return _texts([])
        near, far = best_names[0], best_names[1] + len(self._names[0])
        if "left" not in self.tables.support.glossed:
            near, far = far, near
        table = meanings.table.filter(pl.col("name_index") == near)
        glosses = meanings.glosses.take(table["number"].to_numpy())
        products = _products(glosses, meanings.rows.take(np.array([far])))[:, 0]
        shares = meanings.factors[near] * table["weight"].to_numpy() * products
        texts = (f"{piece} = {gloss}" for piece, gloss in table["piece", "gloss"].iter_rows())
        return _texts(zip(texts, shares.tolist(), strict=True))

    def _spelling_terms(self, best_names: Pair | None, cosine: float) -> Terms:
        """What n-grams and words in common add to the cosine of two names."""
        if best_names is None:
            return _texts([])
        if self.features.meanings is not None:
            return _texts([("spelling", cosine)])
        every = self.features.blocks["names"]
        rows = [side.take(np.array([place])) for side, place in zip(every, best_names, strict=True)]
        names = [side[place] for side, place in zip(self._names, best_names, strict=True)]
        left, right = (row.dense[0].astype(np.float64) for row in rows)
        if self.tables.inputs.embeddings is not None:
            return _texts([("given feature rows", float(left @ right))])
        by_text, features = [], self.tables.options.features
        if features in ("word", "hybrid"):
            by_text += self._by_words(names, float(left @ right))
        if features != "word":
            left, right = (row.sparse.astype(np.float64) for row in rows)
            by_text += _by_ngram(left, right, self._ngrams(names[1]))
        return _texts(sorted(by_text))

    def _ngrams(self, name: str) -> list[str]:
        """The n-grams of a name in the order of their columns; those by sound have a ~."""
        options = self.tables.options
        n = 2 if options.text == "plain" else 3
        boundaries = n == 3 and "boundaries" not in options.without
        return [
            "~" * by_sound + ngram
            for by_sound, (text,) in enumerate(spellings(pl.Series([name]), options))
            for ngram in ngrams_of(text, n=n, boundaries=boundaries)
        ]

    def _by_words(self, names: list[str], dense: float) -> list[tuple[str, float]]:
        """What each pair of words adds to the cosine of two scaled sums of word vectors."""
        table = self.tables.inputs.word_vectors
        assert table is not None
        vectors = dict(zip(table.words, table.vectors.astype(np.float64), strict=True))
        left, right = (
            [word for word in words_of(pl.Series([name]))["word"] if word in vectors]
            for name in names
        )
        products: dict[str, float] = {}
        for one, other in product(left, right):
            text = one if one == other else f"{one} ~ {other}"
            products[text] = products.get(text, 0.0) + vectors[one] @ vectors[other]
        total = sum(products.values())
        return [(text, dense * float(each / total)) for text, each in products.items() if total]

    def _hop_terms(self, pair: Pair, number: int) -> Terms:
        """What each pair of neighbours adds to the cosine of a hop.

        A hop's row is the sum of the neighbours' rows of the hop before, weighted by the adjacency
        and scaled to length one; the cosine of two such rows is a sum over pairs of neighbours.
        """
        neighbours, weights, rows = [], [], []
        for side, place in enumerate(pair):
            row = self.hops.adjacency[side][[place]]
            neighbours.append(row.indices.astype(np.int64))
            rows.append(self.hops.rows(side, number - 1, neighbours[side]))
            # The product of a sum of rows with its own direction is its length.
            reached = self.hops.rows(side, number, np.array([place]))
            length = float(row.data @ _products(rows[side], reached)[:, 0])
            weights.append(row.data / length if length > 0 else 0.0 * row.data)
        alike = _products(*rows)
        shares = weights[0][:, None] * alike * weights[1][None, :]
        around = [self.tables.around(side, place) for side, place in enumerate(pair)]

        def describe(place: int) -> dict[str, Any]:
            at = np.unravel_index(place, shares.shape)
            fields: dict[str, Any] = {"amount": float(alike[at])}
            for side, name in enumerate(SIDES):
                far = int(neighbours[side][at[side]])
                fields[name] = self.tables.entity(side, far)
                fields[f"{name}_relations"] = around[side].get(far, ())
            return fields

        return shares.ravel(), describe

    # --- shared and lacking neighbours ---

    def _neighbour_terms(self, pairs: Sequence[Pair]) -> list[tuple[EdgeTerms, ...]]:
        """For each pair its shared neighbours, those the left lacks, and those the right lacks."""
        chosen, single = [], []
        for edges, entities in zip(self.model.edges, zip(*pairs, strict=True), strict=True):
            ends = [edges.starts[entity : entity + 2] for entity in sorted(set(entities))]
            chosen.append(np.concatenate([np.arange(*start_stop) for start_stop in ends]))
            single.append(_single_edges(edges, *_columns(edges, chosen[-1])))
        *met, votes, weights = self._edge_evidence(*single)
        near = [
            edges.entity[indices] for edges, indices in zip(self.model.edges, chosen, strict=True)
        ]
        far = [edges.far[indices] for edges, indices in zip(self.model.edges, chosen, strict=True)]
        of_pairs = []
        for pair in pairs:
            here = np.flatnonzero((near[0][met[0]] == pair[0]) & (near[1][met[1]] == pair[1]))
            best = here[_best_of_each(far[0][met[0][here]], votes[here])]
            both = chosen[0][met[0][best]], chosen[1][met[1][best]]
            terms = [EdgeTerms(votes[best], both)]
            for side in (1, 0):  # the left entity lacks edges of the right one
                shared = np.isin(far[side], far[side][met[side][here]])
                lone = np.flatnonzero((near[side] == pair[side]) & (weights[side] > 0) & ~shared)
                lone = lone[_best_of_each(far[side][lone], weights[side][lone])]
                both = chosen[side][lone], np.full(len(lone), -1)
                terms.append(EdgeTerms(weights[side][lone], both[::-1] if side else both))
            of_pairs.append(tuple(terms))
        return of_pairs

    def _edge_evidence(
        self, left: Edges, right: Edges
    ) -> tuple[Positions, Positions, Vector, tuple[Vector, Vector]]:
        """Every two edges that meet, their votes, and the weight of each edge that meets none.

        Both are ``_single_edges``, so that evidence about pairs is evidence about pairs of edges.
        """
        n, m = len(left), len(right)
        shape = left.entities, right.entities
        alone = from_pairs(
            shape,
            np.append(np.arange(n), np.full(m, shape[0] - 1)),
            np.append(np.full(n, shape[1] - 1), np.arange(m)),
            np.zeros(n + m, dtype=np.float32),
        )
        sides = left, right, self.anchors, self.relations
        (_, left_lacks, right_lacks), met, (votes, *_) = evidence.gather_evidence(
            *sides, alone, enter=0.0
        )
        return met[0], met[1], votes, (right_lacks[:n], left_lacks[n:])

    def _evidence_parts(
        self, pair: Pair, terms: tuple[EdgeTerms, ...], details: bool
    ) -> list[Part]:
        sums = np.array([each.amounts.sum() for each in terms])
        # What each of the three sums alone is worth.
        worth = evidence_worth(
            self.model.weights, np.diag(sums), float(self.model.constraints.crowd[pair[0]])
        )
        shared, left, right = np.divide(worth, sums, out=np.zeros(3), where=sums > 0)
        literal = self.model.edges[0].far[terms[0].edges[0]] >= len(self.tables.pair.left.entities)
        kinds = (
            ("shared", shared, terms[0], np.where(literal, 0.0, terms[0].amounts)),
            ("values", shared, terms[0], np.where(literal, terms[0].amounts, 0.0)),
            ("left lacks", left, terms[1], terms[1].amounts),
            ("right lacks", right, terms[2], terms[2].amounts),
        )
        parts = []
        for kind, each, edge_terms, amounts in kinds:
            described = (amounts, partial(self._describe, edge_terms)) if details else None
            parts.append(_part(kind, each, amounts.sum(), described))
        return parts

    def _describe(self, terms: EdgeTerms, place: int) -> dict[str, Any]:
        """Where the edges of the two sides lead to, and how; one of them may be lacking."""
        edges = [int(side[place]) for side in terms.edges]
        amount = float(terms.amounts[place])
        fields: dict[str, Any] = {"amount": amount if -1 in edges else -float(np.expm1(-amount))}
        for side, (edge, name) in enumerate(zip(edges, SIDES, strict=True)):
            if edge >= 0:
                far = self.model.edges[side].far[edge]
                relation = self._relations[side][self.model.edges[side].relation[edge]]
                fields[f"{name}_relations"] = (relation,)
                fields[f"{name}_fans"] = int(self.model.edges[side].fans[edge])
            else:
                far = self._counterparts[1 - side][self.model.edges[1 - side].far[edges[1 - side]]]
            size = len(self.tables.graphs[side].entities)
            if far < size:
                fields[name] = self.tables.entity(side, int(far))
            else:
                fields["text"] = str(self._values[int(far) - size])
        return fields

    # --- types, attributes, spelling ---

    def _learned_parts(self, pair: Pair, details: bool) -> list[Part]:
        if self.worths is None:
            return []
        ends = np.array([pair[0]]), np.array([pair[1]])
        said = {trait: terms(*ends)[0] for trait, terms in self.worths.terms.items()}
        parts = []
        if "types" in said:
            parts.append(Part(kind="types", score=float(said["types"][0])))
        if (attributes := self.worths.traits.attributes) is not None:
            described = said["attributes"], partial(_attribute, attributes, pair)
            amount = said["attributes"].sum()
            parts.append(_part("attributes", 1.0, amount, described if details else None))
        if (spelling := self.worths.traits.spelling) is not None:
            parts.append(self._spelling_part(pair, spelling, said["spelling"], details))
        within = [trait for trait in ("wording", "roles", "conflicts") if trait in said]
        return [*parts, *(Part(kind=trait, score=float(said[trait].sum())) for trait in within)]

    def _spelling_part(self, pair: Pair, spelling: Spelling, said: Vector, details: bool) -> Part:
        """What numbers, misspellings and main names say, and which names these are of."""
        terms = None
        if details:
            texts = spelling.shown(*pair)
            terms = said, lambda place: {"text": texts[place]}
        part, best = _part("spelling", 1.0, said.sum(), terms), self._best_names(pair)
        if best is None:
            return part
        return replace(part, names=(self._names[0][best[0]], self._names[1][best[1]]))

    # --- what is missing ---

    def best_addition(self, pair: Pair) -> Detail | None:
        """The neighbour that one of the two lacks and that would add most if it had it.

        It is taken to have it through the relation that says most, besides the entities that have
        it already; all else being equal.
        """
        (terms,) = self._neighbour_terms([pair])
        crowd = float(self.model.constraints.crowd[pair[0]])
        details = [detail for side in (0, 1) for detail in self._addition(terms, side, crowd)]
        return max(details, key=lambda detail: detail.score, default=None)

    def _addition(self, terms: tuple[EdgeTerms, ...], side: int, crowd: float) -> list[Detail]:
        lacks = terms[1 + side]
        heaviest = np.argsort(-lacks.amounts, kind="stable")[:TRIED]
        weight, lacked = lacks.amounts[heaviest], lacks.edges[1 - side][heaviest]
        theirs, ours = self.model.edges[1 - side], self.model.edges[side]
        matches = self.relations.left, self.relations.right
        place, match = np.nonzero(theirs.relation[lacked][:, None] == matches[1 - side])
        relation = matches[side][match]
        far = self._counterparts[1 - side][theirs.far[lacked[place]]]
        every = np.sort(ours.far * np.int64(ours.relations) + ours.relation)
        first, last = (
            np.searchsorted(every, far * ours.relations + relation, side=where) for where in SIDES
        )
        had = _single_edges(theirs, *_columns(theirs, lacked))
        added = _single_edges(ours, relation, far, last - first + 1)
        *met, votes, _ = self._edge_evidence(*((had, added) if side else (added, had)))
        if not len(votes):
            return []
        before = np.array([[each.amounts.sum()] * len(votes) for each in terms])
        after = before.copy()
        after[0] += votes
        after[1 + side] = np.maximum(after[1 + side] - weight[met[1 - side]], 0.0)
        weights = self.model.weights
        gains = evidence_worth(weights, after, crowd) - evidence_worth(weights, before, crowd)
        best = int(np.argmax(gains))
        fields = self._describe(lacks, int(heaviest[met[1 - side][best]]))
        relation_added = self._relations[side][relation[met[side][best]]]
        fields |= {
            f"{SIDES[side]}_relations": (relation_added,),
            "amount": -float(np.expm1(-votes[best])),
        }
        return [Detail(score=float(gains[best]), **fields)]


def _attribute(attributes: Attributes, pair: Pair, place: int) -> dict[str, Any]:
    """The values of two entities in corresponding attributes."""
    left, right, apart = attributes.shown(place, *pair)
    names = attributes.pairs[place]
    return {
        "text": apart,
        "left": Entity("", left),
        "left_relations": (Relation(names[0]),),
        "right": Entity("", right),
        "right_relations": (Relation(names[1]),),
    }


def _columns(edges: Edges, indices: Positions) -> tuple[Numbers, Numbers, Numbers]:
    return edges.relation[indices], edges.far[indices], edges.fans[indices]


def _single_edges(edges: Edges, relation: Numbers, far: Numbers, fans: Numbers) -> Edges:
    """Edges of which each belongs to an entity of its own; the last entity has none.

    Far nodes are those of ``edges``; values come after the last entity, as they do there.
    """
    size, count = edges.entities, len(relation)
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
        hubs=np.where(edges.hubs < size, edges.hubs, edges.hubs + grown - size),
    )


def _by_ngram(left: Sparse, right: Sparse, ngrams: list[str]) -> list[tuple[str, float]]:
    """What each n-gram of the right row, by column, adds to the product of two rows."""
    columns = np.sort(right.indices)
    shares = (left[:, columns].toarray() * right[:, columns].toarray()).ravel()
    return list(zip(ngrams, shares.tolist(), strict=True))


def _texts(amounts_of_texts: Iterable[tuple[str, float]]) -> Terms:
    """The terms that are told by a text and an amount."""
    each = list(amounts_of_texts)
    amounts = np.array([amount for _, amount in each], dtype=np.float64)
    return amounts, lambda place: dict(zip(("text", "amount"), each[place], strict=True))


def _sum(parts: list[Part]) -> float:
    return sum(part.score for part in parts)


def _best_of_each(groups: Numbers, values: Vector) -> Positions:
    """The place of the largest value of each group, by group."""
    order = np.lexsort((-values, groups))
    return order[np.unique(groups[order], return_index=True)[1]]


def _part(
    kind: Kind, each: float, amount: float, terms: Terms | None, hop: int | None = None
) -> Part:
    """A part, a unit of which is worth ``each``: its largest terms, and the others as one."""
    details: list[Detail] = []
    if terms is not None:
        scores, describe = each * terms[0], terms[1]
        order = np.argsort(-np.abs(scores).round(9), kind="stable")  # of equals, the first
        order = order[np.abs(scores[order]) > 1e-12]
        shown = order if len(order) <= SHOWN + 1 else order[:SHOWN]
        details = [Detail(score=float(scores[place]), **describe(int(place))) for place in shown]
        rest = order[len(shown) :]
        if len(rest):
            details.append(Detail(score=float(scores[rest].sum()), count=len(rest)))
    score, amount = float(each * amount), float(amount)
    return Part(kind=kind, hop=hop, score=score, amount=amount, details=tuple(details))


def _products(left: Rows, right: Rows) -> Vector:
    """All dot products of two sets of rows, in double precision."""
    dense = left.dense.astype(np.float64) @ right.dense.astype(np.float64).T
    sparse = left.sparse.astype(np.float64) @ right.sparse.astype(np.float64).T
    products: Vector = dense + sparse.toarray()
    return products

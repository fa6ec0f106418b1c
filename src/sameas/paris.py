"""PARIS: probabilities that entities, and relations, of two graphs are the same.

Suchanek, Abiteboul and Senellart, PVLDB 5(3), 2011. No training and no similarity of names:
equal literals start it, functional relations carry it on. It works out

    P(x = x') = 1 - product over r(x, y), r'(x', y') of
                (1 - P(r' in r) fun-1(r) P(y = y')) (1 - P(r in r') fun-1(r') P(y = y'))

    P(r in r') = sum over r(x, y) of 1 - product over r'(x', y') of (1 - P(x = x') P(y = y'))
               / sum over r(x, y) of 1 - product over all x', y' of (1 - P(x = x') P(y = y'))

in turn, until the best counterparts stay the same. What is done where the paper leaves room:

- Every relation has an inverse. fun(r) = distinct heads / facts and fun-1(r) = distinct tails /
  facts, the paper's global functionalities (harmonic means of the local ones), over distinct
  triples. They belong to the relation: one tail shared by many counts no less than its siblings.
- A name is a literal reached through a separate relation, whose functionality is distinct names /
  named entities; an attribute is a relation to literals. Two names are equal with probability 1
  if casefolding and collapsing white space makes them the same text, else 0; of values of
  attributes, only letters and digits count. An empty name is no literal.
- In the first round P(r in r') is THETA for all relations; as only literals are equal by then,
  only names and attributes count.
- Maximal assignment: a round builds only on those equivalences of the round before that are the
  best of both their entities, with no other as good: at most one an entity. (The authors' program
  takes the best of each left entity, any one of a tie. This way neither the order of the entities
  nor that of the graphs matters, and the rounds settle.)
- What is below THETA counts as 0: inverse functionalities, equivalences (but for the first round)
  and relations of which neither is in the other.
- Negative evidence (x has a y that x' lacks) is left out: the paper found that it costs recall.
- Instead of the paper's dampening, rounds end when few best counterparts change.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sameas.errors import MemoryCeilingError
from sameas.graph import Graph, Positions, positions_of
from sameas.understanding import SEPARATOR

Values: TypeAlias = NDArray[np.float64]

THETA = 0.1
"""The first round's P(r in r'), and the value below which evidence counts as none."""
PAIR_BYTES = 250
"""Memory for each pair of facts, or of entities, that a round compares."""
SETTLED = 0.01
"""Rounds end when at most this share of the entities gets other best counterparts."""
ROUNDING = 1e-9
"""Evidence that differs by less, relatively, is the same: sums depend on the order of terms."""


class Pairs(NamedTuple):
    """Distinct pairs of nodes, and the evidence that they are the same."""

    left: Positions
    right: Positions
    evidence: Values
    """-log(1 - probability), which still tells pairs apart whose probability rounds to one."""

    @property
    def probability(self) -> Values:
        """P(left = right) of each pair, in (0, 1]."""
        return _probability(self.evidence)

    def where(self, kept: NDArray[np.bool_] | Positions) -> Pairs:
        """These of the pairs."""
        return Pairs(self.left[kept], self.right[kept], self.evidence[kept])


@dataclass(frozen=True, eq=False)
class Equivalences:
    """Which entities are the same, and how relations correspond."""

    pairs: Pairs
    """Sorted by left, then descending evidence, then right."""
    relations: pl.DataFrame
    """left, right, inverse, left_in_right, right_in_left: two relations (URIs), whether the right
    one is meant with head and tail swapped, and the probabilities that facts of one are facts of
    the other. Attributes are among them, names are not; one probability is THETA at least."""
    iterations: int
    converged: bool


def paris(
    left: Graph,
    right: Graph,
    *,
    iterations: int = 10,
    memory: float = math.inf,
    progress: Callable[[float], None] | None = None,
) -> Equivalences:
    """The pairs of entities and of relations that PARIS finds in at most this many rounds.

    A round that needs more than ``memory`` bytes is a MemoryCeilingError. ``progress`` gets the
    finished share of the rounds.
    """
    if iterations < 1:
        raise ValueError(f"iterations must be at least 1, got {iterations} instead")
    facts = _facts_of_both(left, right)
    matches: _Matches | None = None
    none = np.zeros(0, dtype=np.int64)
    best = Pairs(none, none, np.zeros(0))
    converged = False
    for done in range(1, iterations + 1):
        pairs = _equivalences(*facts, _with_literals(best, *facts), matches, memory)
        if done > 1:
            pairs = pairs.where(pairs.evidence >= -np.log1p(-THETA) * (1 - ROUNDING))
        before, best = best, _maximal(pairs)
        matches = _relation_matches(*facts, _with_literals(best, *facts), memory)
        if progress is not None:
            progress(done / iterations)
        changed = _changed_entities(before, best)
        converged = changed <= SETTLED * (len(left.entities) + len(right.entities))
        if converged:
            break
    pairs = pairs.where(np.lexsort((pairs.right, -pairs.evidence, pairs.left)))
    assert matches is not None
    relations = _relation_table(left, right, matches)
    return Equivalences(pairs, relations, done, converged)


def maximal_links(pairs: Pairs) -> Pairs:
    """The pairs that are each other's best; one-to-one.

    Of equally good counterparts the one at the lowest position counts as best.
    """
    chosen = np.ones(len(pairs.left), dtype=np.bool_)
    for here, there in ((pairs.left, pairs.right), (pairs.right, pairs.left)):
        tied = _best_of(here, pairs.evidence)
        order = np.lexsort((there, ~tied, here))
        first = np.zeros(len(here), dtype=np.bool_)
        first[order[np.unique(here[order], return_index=True)[1]]] = True
        chosen &= first
    return pairs.where(chosen)


# --- the graphs as facts


@dataclass(frozen=True, eq=False)
class _Facts:
    """One graph as facts between nodes: first its entities, then the literals of both graphs.

    Relations are numbered as in ``_relation_names``, and as many more for the inverse. Facts
    without inverses come first, m of 2m.
    """

    entities: int
    nodes: int
    relations: int
    head: Positions
    relation: Positions
    tail: Positions
    inverse_functionality: Values
    """Of each relation, inverses included; 0 where it is below THETA."""
    door_relation: Positions
    door_tail: Positions
    """Doors: the distinct (relation, tail) of facts about entities."""
    through: csr_array[np.float64]
    """Which entities stand at which door; shape (entities, doors), zeros and ones."""

    def inverse(self, relation: Positions) -> Positions:
        return (relation + self.relations) % (2 * self.relations)


def _facts_of_both(left: Graph, right: Graph) -> tuple[_Facts, _Facts]:
    """The facts of both graphs, with the same numbers for the same literals."""
    tables = [_literals(graph) for graph in (left, right)]
    literals = pl.concat([table["value"] for table in tables]).unique().sort()
    sides = []
    for graph, table in zip((left, right), tables, strict=True):
        found = literals.search_sorted(table["value"]).to_numpy().astype(np.int64)
        (head, relation, tail), n = graph.distinct_triples().T, len(graph.entities)
        head = np.concatenate([head, table["entity"].to_numpy()])
        relation = np.concatenate([relation, table["relation"].to_numpy()])
        count = len(_relation_names(graph))
        tail = np.concatenate([tail, n + found])
        sides.append(_facts(head, relation, tail, n, n + len(literals), count))
    return sides[0], sides[1]


def _relation_names(graph: Graph) -> pl.Series:
    """The relations of a graph, an empty text for names, and the attributes of entities."""
    names = pl.Series("relation", [""])
    attributes = _attributes(graph).rename("relation")
    every: pl.Series = pl.concat([graph.relations.rename("relation"), names, attributes])
    return every


def _attributes(graph: Graph) -> pl.Series:
    """The attributes that entities have themselves; one may also be a relation."""
    attributes = graph.attributes["attribute"].unique().sort()
    direct: pl.Series = attributes.filter(~attributes.str.contains(SEPARATOR, literal=True))
    return direct


def _literals(graph: Graph) -> pl.DataFrame:
    """entity (position), relation (number), value: all names, and the values of attributes."""
    names = pl.concat(
        [
            pl.DataFrame({"entity": graph.entities, "name": graph.names}),
            graph.alternatives.select("entity", "name"),
        ]
    )
    first = len(graph.relations) + 1
    number = positions_of(graph.attributes["attribute"], _attributes(graph))
    values = graph.attributes.select(
        "entity",
        relation=pl.Series(np.where(number < 0, -1, number + first), dtype=pl.Int64),
        value=_normalised(graph.attributes["value"]).str.replace_all(r"[^\p{L}\p{N}]+", ""),
    )
    named = names.select(
        "entity", relation=pl.lit(len(graph.relations), pl.Int64), value=_normalised(names["name"])
    )
    every = pl.concat([named, values])
    every = every.with_columns(entity=pl.Series(graph.positions(every["entity"]), dtype=pl.Int64))
    known = pl.col("entity") >= 0, pl.col("relation") >= 0, pl.col("value") != ""
    return every.filter(*known).unique(maintain_order=True)


def _facts(
    head: Positions, relation: Positions, tail: Positions, entities: int, nodes: int, relations: int
) -> _Facts:
    """The facts with their inverses, functionalities and doors."""
    both = np.concatenate([relation, relation + relations])
    heads, tails = np.concatenate([head, tail]), np.concatenate([tail, head])
    ends = np.unique(both * nodes + tails) // nodes
    count = np.bincount(both, minlength=2 * relations)
    inverse_functionality = np.bincount(ends, minlength=2 * relations) / np.maximum(count, 1)
    inverse_functionality[inverse_functionality < THETA * (1 - ROUNDING)] = 0.0
    about = heads < entities
    doors, door = np.unique(both[about] * nodes + tails[about], return_inverse=True)
    through = csr_array((np.ones(len(door)), (heads[about], door)), shape=(entities, len(doors)))
    facts = entities, nodes, relations, heads, both, tails
    return _Facts(*facts, inverse_functionality, doors // nodes, doors % nodes, through)


def _normalised(names: pl.Series) -> pl.Series:
    """Each name casefolded, with single spaces; a loop, as polars has no casefold."""
    folded = [" ".join((name or "").casefold().split()) for name in names]
    return pl.Series("name", folded, dtype=pl.String)


# --- equivalent entities


def _with_literals(pairs: Pairs, left: _Facts, right: _Facts) -> Pairs:
    """The pairs of entities, and each literal with itself, for certain."""
    literals = np.arange(left.nodes - left.entities)
    return Pairs(
        np.concatenate([pairs.left, left.entities + literals]),
        np.concatenate([pairs.right, right.entities + literals]),
        np.concatenate([pairs.evidence, np.full(len(literals), np.inf)]),
    )


def _equivalences(
    left: _Facts, right: _Facts, equal: Pairs, matches: _Matches | None, memory: float
) -> Pairs:
    """The evidence for every pair of entities with a fact in common.

    Without ``matches``, in the first round, only literals are equal, and all relations that lead
    to them match with THETA.

    The two facts r(x, y) and r'(x', y') add the same evidence for all x at the door (r, y) and
    all x' at the door (r', y'), so it is computed once for the two doors, and a product of
    sparse matrices sums it up for the entities.
    """
    doors = [np.bincount(side.door_tail, minlength=side.nodes) for side in (left, right)]
    joined = float((doors[0][equal.left] * doors[1][equal.right].astype(np.float64)).sum())
    _check_memory("facts", joined, memory)
    pair, door = _join(equal.left, left.door_tail)
    again, other_door = _join(equal.right[pair], right.door_tail)
    pair, door = pair[again], door[again]
    relation, other = left.door_relation[door], right.door_relation[other_door]
    found = np.arange(len(relation))
    right_in_left: Values | float = THETA
    left_in_right: Values | float = THETA
    if matches is not None:
        found, match = _join(matches.key(relation, other), matches.key(matches.left, matches.right))
        right_in_left, left_in_right = matches.right_in_left[match], matches.left_in_right[match]
    equality = _probability(equal.evidence[pair[found]])
    via_left = left.inverse_functionality[relation[found]] * right_in_left
    via_right = right.inverse_functionality[other[found]] * left_in_right
    evidence = _evidence(via_left * equality) + _evidence(via_right * equality)
    known = evidence > 0
    door, other_door = door[found][known], other_door[found][known]
    crowds = [np.diff(side.through.tocsc().indptr).astype(np.float64) for side in (left, right)]
    _check_memory("entities", float((crowds[0][door] * crowds[1][other_door]).sum()), memory)
    between = csr_array(
        (evidence[known], (door, other_door)),
        shape=(len(left.door_tail), len(right.door_tail)),
    )
    total = (left.through @ between @ right.through.T).tocoo()
    return Pairs(total.row.astype(np.int64), total.col.astype(np.int64), total.data)


def _check_memory(what: str, pairs: float, memory: float) -> None:
    if (needed := PAIR_BYTES * pairs) > memory:
        more = math.ceil((needed - memory) / 2**28) / 4
        raise MemoryCeilingError(
            f"PARIS compares {pairs:,.0f} pairs of {what}, which need about "
            f"{needed / 2**30:.2f} GiB, but {memory / 2**30:.2f} GiB are left under the ceiling; "
            f"raise `memory` by {more:.10g}G, or use `method` seu"
        )


def _maximal(pairs: Pairs) -> Pairs:
    """The pairs that are the best of both their entities, with no other as good."""
    sole = np.ones(len(pairs.left), dtype=np.bool_)
    for entity in (pairs.left, pairs.right):
        best = _best_of(entity, pairs.evidence)
        sole &= best & (np.bincount(entity[best])[entity] == 1)
    return pairs.where(sole)


def _best_of(entity: Positions, evidence: Values) -> NDArray[np.bool_]:
    """Which pairs have the most evidence among those of the same entity, ties included."""
    most = np.zeros(entity.max(initial=-1) + 1)
    np.maximum.at(most, entity, evidence)
    return evidence >= most[entity] * (1 - ROUNDING)


def _changed_entities(before: Pairs, after: Pairs) -> int:
    """How many entities of both sides are in a pair that only one of the two has."""
    width = max(before.right.max(initial=0), after.right.max(initial=0)) + 1
    changed = np.setxor1d(before.left * width + before.right, after.left * width + after.right)
    return len(np.unique(changed // width)) + len(np.unique(changed % width))


# --- relations within relations


@dataclass(frozen=True, eq=False)
class _Matches:
    """Pairs of relations, inverses included, with the probabilities that one is in the other."""

    left: Positions
    right: Positions
    left_in_right: Values
    right_in_left: Values
    width: int
    """How many relations the right side has, inverses included."""

    def key(self, left: Positions, right: Positions) -> Positions:
        return left * self.width + right


def _relation_matches(left: _Facts, right: _Facts, equal: Pairs, memory: float) -> _Matches:
    """The pairs of relations of which one is in the other with a probability of THETA or more."""
    width = 2 * right.relations
    inner, outer, forth = _shares(left, right, equal, memory)
    turned = Pairs(equal.right, equal.left, equal.evidence)
    other_inner, other_outer, back = _shares(right, left, turned, memory)
    # r' in r is r'^-1 in r^-1: count it where the left relation is not an inverse.
    inverse = other_outer >= left.relations
    first = np.where(inverse, left.inverse(other_outer), other_outer)
    second = np.where(inverse, right.inverse(other_inner), other_inner)
    keys, place = np.unique(
        np.concatenate([inner * width + outer, first * width + second]), return_inverse=True
    )
    left_in_right, right_in_left = np.zeros(len(keys)), np.zeros(len(keys))
    left_in_right[place[: len(inner)]] = forth
    right_in_left[place[len(inner) :]] = back
    kept = np.maximum(left_in_right, right_in_left) >= THETA * (1 - ROUNDING)
    relation, other = keys[kept] // width, keys[kept] % width
    relations = np.append(relation, left.inverse(relation)), np.append(other, right.inverse(other))
    shares = np.tile(left_in_right[kept], 2), np.tile(right_in_left[kept], 2)
    return _Matches(*relations, *shares, width)


def _shares(
    inner: _Facts, outer: _Facts, equal: Pairs, memory: float
) -> tuple[Positions, Positions, Values]:
    """Relations r (no inverses) and r' (inverses too) and P(r in r'), where it is above 0.

    A node is equal to at most one other here, so a fact r(x, y) can be one (x', y') only, and
    the products over x' and y' have one factor: P(x = x') P(y = y').
    """
    facts = len(inner.head) // 2
    fact, of_head = _join(inner.head[:facts], equal.left)
    again, of_tail = _join(inner.tail[fact], equal.left)
    relation, of_head = inner.relation[fact[again]], of_head[again]
    known = _probability(equal.evidence[of_head]) * _probability(equal.evidence[of_tail])
    total = np.bincount(relation, known, minlength=inner.relations)
    expected = equal.right[of_head] * outer.nodes + equal.right[of_tail]
    ends = np.sort(outer.head * outer.nodes + outer.tail)
    counts = [np.searchsorted(ends, expected, side) for side in ("left", "right")]
    _check_memory("facts", float((counts[1] - counts[0]).sum()), memory)
    which, there = _join(expected, outer.head * outer.nodes + outer.tail)
    width = 2 * outer.relations
    keys, place = np.unique(relation[which] * width + outer.relation[there], return_inverse=True)
    shared = np.bincount(place, known[which], minlength=len(keys))
    return keys // width, keys % width, np.minimum(shared / total[keys // width], 1.0)


def _relation_table(left: Graph, right: Graph, matches: _Matches) -> pl.DataFrame:
    """The matches as ``Equivalences.relations`` has them."""
    ours, theirs = _relation_names(left), _relation_names(right)
    turned, other = np.divmod(matches.right, len(theirs))
    kept = (matches.left < len(ours)) & (matches.left != len(left.relations))
    kept &= other != len(right.relations)
    return pl.DataFrame(
        {
            "left": ours.gather(matches.left[kept]),
            "right": theirs.gather(other[kept]),
            "inverse": turned[kept] == 1,
            "left_in_right": matches.left_in_right[kept],
            "right_in_left": matches.right_in_left[kept],
        }
    ).sort("left", "right", "inverse")


# --- arithmetic


def _join(left: Positions, right: Positions) -> tuple[Positions, Positions]:
    """All i and j with left[i] == right[j], ordered by i.

    >>> _join(np.array([7, 8, 9]), np.array([9, 7, 9]))
    (array([0, 2, 2]), array([1, 0, 2]))
    """
    order = np.argsort(right, kind="stable")
    first = np.searchsorted(right, left, side="left", sorter=order)
    count = np.searchsorted(right, left, side="right", sorter=order) - first
    i = np.repeat(np.arange(len(left)), count)
    nth = np.arange(len(i)) - np.repeat(np.cumsum(count) - count, count)
    return i, order[first[i] + nth]


def _evidence(probability: Values) -> Values:
    """-log(1 - P): where independent chances multiply, evidence adds up."""
    with np.errstate(divide="ignore"):  # certainty is infinite evidence
        return -np.log1p(-probability)


def _probability(evidence: Values) -> Values:
    return -np.expm1(-evidence)

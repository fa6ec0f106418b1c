"""Clusters of entities from scores of pairs, by average linkage; everything is sparse.

Two clusters are joined while the mean score of all pairs between them is above zero, the best two
first. Pairs without a score count against that, so that a chain of similar pairs does not make a
cluster; or for nothing, where clusters cannot grow because they have one member of each group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array

from sameas.compute.arrays import Positions, Vector


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """Pairs of so many entities, each once, with a score: above zero if likely the same."""

    size: int
    left: Positions
    right: Positions
    scores: Vector

    def likely(self) -> ScoredPairs:
        """Those with a score above zero."""
        good = self.scores > 0
        return ScoredPairs(self.size, self.left[good], self.right[good], self.scores[good])

    def apart(self, pairs: Positions, score: float) -> ScoredPairs:
        """These, and pairs that are two whatever else speaks for them; shape (k, 2)."""
        return ScoredPairs(
            self.size,
            np.append(self.left, pairs[:, 0]),
            np.append(self.right, pairs[:, 1]),
            np.append(self.scores, np.full(len(pairs), -score * self.size)),
        )


def less_for_rivals(pairs: ScoredPairs, together: Positions | None = None) -> ScoredPairs:
    """Likely pairs with less for each end that has a better partner, if duplicates are two each.

    If duplicates come in clusters of several, the surer half of the likely pairs meets at its ends
    a quarter as often as all do. If they come in twos, sure pairs hardly meet, and those that meet
    are chance. The ratio, with one meeting more, is what the odds of a further partner are
    multiplied with; it never raises them. Pairs that are ``together`` whatever their score, shape
    (k, 2), are no rivals of others.
    """
    keys = pairs.left * pairs.size + pairs.right
    given = np.isin(keys, [] if together is None else together @ [pairs.size, 1])
    likely = np.flatnonzero((pairs.scores > 0) & ~given)
    likely = likely[np.argsort(-pairs.scores[likely], kind="stable")]
    half = len(likely) // 2
    met, expected = _meetings(pairs, likely[:half]), _meetings(pairs, likely) / 4
    odds = min((met + 1) / (expected + 1), 1.0)
    best = np.full(pairs.size, -np.inf)
    for side in (pairs.left, pairs.right):
        np.maximum.at(best, side[~given], pairs.scores[~given])
    rivals = sum((pairs.scores < best[side]).astype(int) for side in (pairs.left, pairs.right))
    less = np.where(pairs.scores > 0, float(np.log(odds)) * rivals, 0.0)
    return ScoredPairs(pairs.size, pairs.left, pairs.right, pairs.scores + less)


def _meetings(pairs: ScoredPairs, places: Positions) -> float:
    """How many pairs of these pairs have an end in common."""
    ends = np.concatenate([pairs.left[places], pairs.right[places]])
    counts = np.bincount(ends, minlength=pairs.size).astype(np.float64)
    return float((counts * (counts - 1) / 2).sum())


@dataclass(frozen=True, eq=False)
class Join:
    """Two clusters that were joined, by their members, and the mean score between them."""

    one: tuple[int, ...]
    other: tuple[int, ...]
    score: float


@dataclass(frozen=True, eq=False)
class Clustering:
    """The cluster of each entity, numbered by its first member; and how each was joined last."""

    labels: Positions
    last_joins: dict[int, Join]
    """By label: the last join of each cluster of two or more, which is its weakest."""


def average_linkage(
    pairs: ScoredPairs,
    *,
    absent: float,
    together: Positions | None = None,
    groups: Positions | None = None,
) -> Clustering:
    """The clusters whose mean scores are above zero.

    ``absent`` is the score of a pair that is not listed, zero or below. ``together``, shape (k, 2),
    are pairs that are in one cluster whatever their score. Where the group of each entity is given
    (``groups``), a cluster has one member of each group at most, but for those pairs.
    """
    given = np.zeros((0, 2), dtype=np.int64) if together is None else together
    labels = np.arange(pairs.size)
    joins: dict[int, Join] = {}
    good = pairs.scores > 0
    ends = [
        np.concatenate([side[good], column])
        for side, column in zip((pairs.left, pairs.right), given.T, strict=True)
    ]
    order = np.argsort(given[:, 0], kind="stable")
    firsts = given[order, 0]
    for members, listed in _components(pairs, ends[0], ends[1]):
        linkage = _Linkage(members, absent, None if groups is None else groups[members])
        for place in listed:
            linkage.add(int(pairs.left[place]), int(pairs.right[place]), float(pairs.scores[place]))
        begin, end = (np.searchsorted(firsts, members, side) for side in ("left", "right"))
        inside = np.concatenate([order[b:e] for b, e in zip(begin, end, strict=True)])
        for cluster in linkage.joined(given[np.sort(inside)]):
            if len(cluster.members) > 1:
                first = min(cluster.members)
                labels[list(cluster.members)] = first
                if cluster.last is not None:
                    joins[first] = cluster.last
    return Clustering(labels, joins)


def _components(
    pairs: ScoredPairs, left: Positions, right: Positions
) -> list[tuple[Positions, Positions]]:
    """The members of each component of two or more, and the places of the pairs between them.

    Pairs (left, right) connect; no cluster reaches beyond a component.
    """
    from scipy.sparse.csgraph import connected_components  # slow to import

    ones = np.ones(len(left), dtype=np.int8)
    graph = coo_array((ones, (left, right)), shape=(pairs.size, pairs.size))
    count, component = connected_components(graph.tocsr(), directed=False)
    sizes = np.bincount(component, minlength=count)
    order = np.argsort(component, kind="stable")
    starts = np.append(0, np.cumsum(sizes))
    inside = np.flatnonzero(component[pairs.left] == component[pairs.right])
    of_pairs = component[pairs.left[inside]]
    inside = inside[np.argsort(of_pairs, kind="stable")]
    pair_starts = np.append(0, np.cumsum(np.bincount(of_pairs, minlength=count)))
    return [
        (order[starts[c] : starts[c + 1]], inside[pair_starts[c] : pair_starts[c + 1]])
        for c in np.flatnonzero(sizes > 1)
    ]


@dataclass(eq=False)
class _Cluster:
    members: tuple[int, ...]
    sums: dict[int, tuple[float, int]]
    """By other cluster: the sum of the listed scores between the two, and how many there are."""
    last: Join | None = None
    groups: frozenset[int] = frozenset()


class _Linkage:
    """Average linkage by chains of nearest neighbours (Benzecri), over listed pairs alone."""

    def __init__(self, members: Positions, absent: float, groups: Positions | None) -> None:
        self.clusters = {int(one): _Cluster((int(one),), {}) for one in members}
        if groups is not None:
            for one, group in zip(members.tolist(), groups.tolist(), strict=True):
                self.clusters[one].groups = frozenset([group])
        self.absent = absent
        self.holder = {one: one for one in self.clusters}
        """The cluster of each entity."""

    def add(self, left: int, right: int, score: float) -> None:
        """List a pair."""
        self.clusters[left].sums[right] = self.clusters[right].sums[left] = (score, 1)

    def joined(self, together: Positions) -> list[_Cluster]:
        """The clusters once all are joined whose mean score is above zero."""
        for one, other in together.tolist():
            first, second = self.holder[one], self.holder[other]
            if first != second:
                self._join(first, second)
        chain: list[int] = []
        waiting = sorted(self.clusters, reverse=True)
        while waiting or chain:
            if not chain:
                chain.append(waiting.pop())
                if chain[-1] not in self.clusters:
                    chain.pop()
                continue
            best, score = self._nearest(chain[-1], chain[-2] if len(chain) > 1 else None)
            if score <= 0:
                chain.pop()  # nothing is joined with it any more
            elif len(chain) > 1 and best == chain[-2]:
                one, other = sorted((chain.pop(), chain.pop()))
                waiting.append(self._join(one, other))
            else:
                chain.append(best)
        return list(self.clusters.values())

    def _nearest(self, key: int, before: int | None) -> tuple[int, float]:
        """The cluster of the largest mean score; of equals the one before, else the first."""
        cluster, best, most = self.clusters[key], -1, -np.inf
        for other, (total, count) in cluster.sums.items():
            if cluster.groups & self.clusters[other].groups:
                continue
            score = self._mean(cluster, self.clusters[other], total, count)
            better = score > most or (score == most and best != before and other < best)
            if better or (score == most and other == before):
                best, most = other, score
        return best, most

    def _mean(self, one: _Cluster, other: _Cluster, total: float, count: int) -> float:
        every = len(one.members) * len(other.members)
        return (total + self.absent * (every - count)) / every

    def _join(self, one: int, other: int) -> int:
        """Join two clusters under the name of the first."""
        ours, theirs = self.clusters.pop(one), self.clusters.pop(other)
        total, count = ours.sums.pop(other, (0.0, 0))
        theirs.sums.pop(one, None)
        score = self._mean(ours, theirs, total, count)
        sums = ours.sums
        for key, (more, extra) in theirs.sums.items():
            before, number = sums.get(key, (0.0, 0))
            sums[key] = (before + more, number + extra)
            self.clusters[key].sums.pop(other)
        for key, value in sums.items():
            self.clusters[key].sums[one] = value
        self.holder.update(dict.fromkeys(theirs.members, one))
        members = tuple(sorted(ours.members + theirs.members))
        last, groups = Join(ours.members, theirs.members, score), ours.groups | theirs.groups
        self.clusters[one] = _Cluster(members, sums, last, groups)
        return one

"""Slow, obvious twins of the package's routines, in plain Python and float64.

They share no code with the package: loops instead of sparse products, sets instead of joins,
counting instead of partitions. Only fit for a handful of entities.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import logsumexp

WHITE_SPACE = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    "\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""The characters that Unicode calls white space."""


# --- features ---------------------------------------------------------------------------------


def words(name):
    """The pieces of a name between white space."""
    return "".join(" " if letter in WHITE_SPACE else letter for letter in name).split(" ")


def ngram_counts(names, n=2):
    """How often each n-gram occurs in each name, as a list of counters."""
    counts = []
    for name in names:
        counter = Counter()
        for word in words(name):
            word = word.lower()
            for k in range(len(word) - n + 1):
                counter[word[k : k + n]] += 1
        counts.append(counter)
    return counts


def ngram_rows(names, n=2):
    """Unit rows of n-gram counts, columns in order of code points; and the n-grams."""
    counts = ngram_counts(names, n)
    vocabulary = sorted(set().union(*counts)) if counts else []
    rows = np.zeros((len(names), len(vocabulary)))
    for i, counter in enumerate(counts):
        for j, ngram in enumerate(vocabulary):
            rows[i, j] = counter[ngram]
    return unit(rows), vocabulary


def weighted_ngram_rows(names, n, *, boundaries, rarity):
    """Unit rows of n-grams, perhaps with the ends of words, perhaps weighted; and the n-grams.

    A word with its ends is written with a space before and after it; what is nothing but
    spaces is no n-gram.
    """
    counts = [spaced_counts(name, n, boundaries=boundaries) for name in names]
    vocabulary = sorted(set().union(*counts)) if counts else []
    rows = np.zeros((len(names), len(vocabulary)))
    for j, ngram in enumerate(vocabulary):
        holders = sum(1 for counter in counts if ngram in counter)
        weight = math.log(max(len(names), 2) / holders) if rarity else 1.0
        for i, counter in enumerate(counts):
            rows[i, j] = counter[ngram] * weight
    return unit(rows), vocabulary


def spaced_counts(name, n, *, boundaries):
    """How often each n-gram occurs in a name, perhaps with the ends of words."""
    counter = Counter()
    for word in words(name):
        spaced = f" {word.lower()} " if boundaries and word else word.lower()
        for k in range(len(spaced) - n + 1):
            if spaced[k : k + n].strip(" "):
                counter[spaced[k : k + n]] += 1
    return counter


def trigram_cosine(text, name, names):
    """The cosine of the trigrams of a text and a name; rare ones among the names weigh more."""
    holders = Counter(ngram for each in names for ngram in spaced_counts(each, 3, boundaries=True))

    def weighed(each):
        counts = spaced_counts(each, 3, boundaries=True)
        weights = {ngram: math.log((len(names) + 1) / (holders[ngram] or 1)) for ngram in counts}
        return {ngram: count * weights[ngram] for ngram, count in counts.items()}

    ours, theirs = weighed(text), weighed(name)
    lengths = [math.sqrt(sum(value**2 for value in row.values())) for row in (ours, theirs)]
    product = sum(value * theirs.get(ngram, 0) for ngram, value in ours.items())
    return product / math.prod(lengths) if all(lengths) else 0.0


def unit(rows):
    """Rows of length one; rows of zeros stay zero."""
    result = np.zeros(rows.shape)
    for i, row in enumerate(np.asarray(rows, dtype=np.float64)):
        length = math.sqrt(sum(value * value for value in row))
        if length > 0:
            result[i] = row / length
    return result


# --- adjacency --------------------------------------------------------------------------------


def distinct(graph):
    """The triples of a graph, each once, as tuples."""
    return {tuple(int(value) for value in triple) for triple in graph.triples}


def relational(left, right):
    """Both relational adjacency matrices, from explicit lists of triples and their inverses."""
    triples = {}
    for side, graph in (("left", left), ("right", right)):
        forward = {(h, (side, r, "forward"), t) for h, r, t in distinct(graph)}
        inverse = {(t, (side, r, "inverse"), h) for h, r, t in distinct(graph)}
        triples[side] = forward | inverse
    everything = triples["left"] | triples["right"]
    per_relation = Counter(r for _, r, _ in everything)
    entities = len(left.entities) + len(right.entities)
    loop = math.log(2)
    if everything:
        loop = max(loop, math.log(len(everything) / entities))
    matrices = []
    for side, graph in (("left", left), ("right", right)):
        matrix = np.zeros((len(graph.entities), len(graph.entities)))
        for h, r, t in triples[side]:
            matrix[h, t] += math.log(len(everything) / per_relation[r])
        for entity in range(len(matrix)):
            matrix[entity, entity] += loop
        matrices.append(matrix)
    return tuple(matrices)


def plain(graph):
    """One for entities that share a triple, and on the diagonal."""
    matrix = np.zeros((len(graph.entities), len(graph.entities)))
    for h, _, t in distinct(graph):
        matrix[h, t] = matrix[t, h] = 1
    for entity in range(len(matrix)):
        matrix[entity, entity] = 1
    return matrix


def random_walk(graph):
    """The plain adjacency with each row divided by its sum."""
    return np.array([row / sum(row) for row in plain(graph)]).reshape(plain(graph).shape)


def laplacian(graph):
    """I - D^-1/2 A D^-1/2, entry by entry, where A has no loops."""
    matrix = plain(graph)
    size = len(matrix)
    for i in range(size):
        matrix[i, i] = 0
    degrees = [sum(row) for row in matrix]
    result = np.zeros((size, size))
    for i in range(size):
        for j in range(size):
            if matrix[i, j]:
                result[i, j] = -1 / math.sqrt(degrees[i] * degrees[j])
        result[i, i] += 1
    return result


# --- propagation ------------------------------------------------------------------------------


def hops(adjacency, features, depth):
    """The unit features after 0, 1, ..., depth multiplications."""
    rows = [unit(features)]
    for _ in range(depth):
        rows.append(unit(adjacency @ rows[-1]))
    return rows


def cosine(a, b):
    """The cosine of two vectors; zero if one of them is zero."""
    lengths = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / lengths if lengths > 0 else 0.0


def similarity(left_hops, right_hops):
    """The mean over hops of the cosine, for each pair of entities."""
    result = np.zeros((len(left_hops[0]), len(right_hops[0])))
    for i in range(result.shape[0]):
        for j in range(result.shape[1]):
            cosines = [cosine(a[i], b[j]) for a, b in zip(left_hops, right_hops, strict=True)]
            result[i, j] = sum(cosines) / len(cosines)
    return result


# --- assignment -------------------------------------------------------------------------------


def sinkhorn(profit, temperature, iterations):
    """The plan from the matrix padded to a square with zeros, in logarithms."""
    n, m = profit.shape
    logs = np.zeros((max(n, m), max(n, m)))
    logs[:n, :m] = profit
    logs /= temperature
    for _ in range(iterations):
        logs -= logsumexp(logs, axis=1, keepdims=True)
        logs -= logsumexp(logs, axis=0, keepdims=True)
    return np.exp(logs[:n, :m])


def ranks(row):
    """One plus how many are better plus half of how many others are equal, for each value."""
    return [
        1 + sum(other > value for other in row) + (sum(other == value for other in row) - 1) / 2
        for value in row
    ]


def best(row, k):
    """The positions of the k largest values, best first, ties by position."""
    return sorted(range(len(row)), key=lambda j: (-row[j], j))[:k]


def best_total(profit):
    """The largest total profit of a one-to-one assignment, by trying all."""
    profit = np.asarray(profit, dtype=np.float64)
    if profit.shape[0] > profit.shape[1]:
        profit = profit.T
    n, m = profit.shape
    return max(
        sum(profit[i, j] for i, j in enumerate(columns)) for columns in permutations(range(m), n)
    )


# --- evaluation -------------------------------------------------------------------------------


def scores(links, gold, no_match=()):
    """Counts and ratios from sets of pairs; gold is partial, and each side is its own."""
    links, gold, no_match = set(links), set(gold), set(no_match)
    known_left = {a for a, _ in gold} | no_match
    known_right = {b for _, b in gold} | no_match
    right = len(links & gold)
    judged = len({(a, b) for a, b in links if a in known_left or b in known_right})
    precision = right / judged if judged else None
    recall = right / len(gold) if gold else 0.0
    strict_precision = right / len(links) if links else None
    return {
        "links": len(links),
        "links_judged": judged,
        "links_correct": right,
        "gold_links": len(gold),
        "precision": precision,
        "recall": recall,
        "f1": _f1(precision, recall),
        "strict_precision": strict_precision,
        "strict_f1": _f1(strict_precision, recall),
        "unmatched_recall": _left_alone(links, no_match),
    }


def _f1(precision, recall):
    if precision is None:
        return None
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _left_alone(links, no_match):
    linked = {a for a, _ in links} | {b for _, b in links}
    return len(no_match - linked) / len(no_match) if no_match else None


def calibration_error(confidence, gold, no_match=()):
    """The expected calibration error of links (a dict from pair to confidence), link by link."""
    known_left = {a for a, _ in gold} | set(no_match)
    known_right = {b for _, b in gold} | set(no_match)
    bins = {}
    for (a, b), sure in confidence.items():
        if a in known_left or b in known_right:
            bins.setdefault(min(int(sure * 10), 9), []).append((sure, (a, b) in gold))
    judged = sum(len(links) for links in bins.values())
    if not judged:
        return None
    away = 0.0
    for links in bins.values():
        mean = sum(sure for sure, _ in links) / len(links)
        right = sum(right for _, right in links) / len(links)
        away += abs(mean - right) * len(links)
    return away / judged


# --- assignment where entities may stay alone, or lack candidates -------------------------------


def best_with_nobody(profit, left_alone=None, right_alone=None):
    """The largest total where staying alone is worth something, from one padded square matrix.

    Every entity has a "nobody" of its own, who is worth what it is worth alone; a nobody that is
    not needed goes to one of the other side, for nothing. Without a worth, everyone of the
    smaller side must have a partner, and the others may stay alone for nothing.
    """
    profit = np.asarray(profit, dtype=np.float64)
    n, m = profit.shape
    if left_alone is None:
        left_alone = -np.inf if n <= m else 0.0
    if right_alone is None:
        right_alone = -np.inf if m <= n else 0.0
    padded = np.full((n + m, n + m), -np.inf)
    padded[:n, :m] = profit
    padded[n:, m:] = 0.0
    for i in range(n):
        padded[i, m + i] = np.broadcast_to(left_alone, n)[i]
    for j in range(m):
        padded[n + j, j] = np.broadcast_to(right_alone, m)[j]
    rows, columns = linear_sum_assignment(padded, maximize=True)
    return sum(padded[i, j] for i, j in zip(rows, columns, strict=True))


def sparse_sinkhorn(profit, temperature, iterations):
    """The plan of a matrix in which a missing pair is minus infinity, and its row sums.

    The matrix is padded to a square with zeros. A line in which all is missing stays as it is.
    """
    n, m = profit.shape
    logs = np.zeros((max(n, m), max(n, m)))
    logs[:n, :m] = profit
    logs /= temperature
    for _ in range(iterations):
        for axis in (1, 0):
            sums = logsumexp(logs, axis=axis, keepdims=True)
            logs -= np.where(np.isneginf(sums), 0.0, sums)
    return np.exp(logs[:n, :m]), np.exp(logs[:n]).sum(axis=1)


# --- evidence ---------------------------------------------------------------------------------


def names_as_values(graph, other):
    """(entity, name) of a graph, by position, names trimmed and in lower case.

    There are none unless an entity of either graph has several names.
    """
    if not len(graph.alternatives) + len(other.alternatives):
        return set()
    position = {uri: place for place, uri in enumerate(graph.entities)}
    further = [(position[entity], name) for entity, name in graph.alternatives.iter_rows()]
    return {
        (entity, name.strip(WHITE_SPACE).lower())
        for entity, name in [*enumerate(graph.names), *further]
        if name
    }


def edges(graph, other, *, hub, relations=True):
    """What each entity has: {(entity, relation, far node): how many have that in common}.

    A relation is ("forward" or "inverse", its position), or ("name",). A far node is ("entity",
    its position), or ("value", its text) where the other graph has that name too.
    """
    found = set()
    for h, r, t in distinct(graph):
        if h != t:
            kind = r if relations else 0
            found.add((h, ("forward", kind), ("entity", t)))
            found.add((t, ("inverse", kind), ("entity", h)))
    theirs = {name for _, name in names_as_values(other, graph)}
    for entity, name in names_as_values(graph, other):
        if name in theirs:
            found.add((entity, ("name",), ("value", name)))
    fans = Counter((relation, far) for _, relation, far in found)
    listed = Edges((edge, fans[edge[1:]]) for edge in found if fans[edge[1:]] <= hub)
    listed.hubs = {far for (_, far), many in fans.items() if many > hub}
    return listed


class Edges(dict):
    """Edges with their fans; ``hubs`` are the far nodes that were left out for having too many."""

    hubs: set


def partner_of(far, anchors):
    """The right far node that a left one is: its anchor's, or the same value; None if neither."""
    if far[0] == "value":
        return far
    return ("entity", anchors[far[1]]) if far[1] in anchors else None


def relation_matches(left, right, anchors):
    """Which relation matches which, from edges between anchors ({left: right}).

    Returns {(r, r'): (match, edges seen)} and, for each relation of each side that has edges
    between anchors, the share of them that the other side has too.
    """
    back = {b: a for a, b in anchors.items()}
    ours = [
        (anchors[x], r, partner_of(far, anchors))
        for x, r, far in left
        if x in anchors and partner_of(far, anchors) is not None
    ]
    theirs = [(x, r, far) for x, r, far in right if x in back and partner_of(far, back) is not None]
    totals = Counter(r for _, r, _ in ours), Counter(r for _, r, _ in theirs)
    seen = Counter(
        (r, other)
        for x, r, far in ours
        for y, other, far_too in theirs
        if x == y and far == far_too
    )
    matches = {}
    for (r, other), count in seen.items():
        match = count / math.sqrt((totals[0][r] + 3) * (totals[1][other] + 3))
        if match >= 0.05:
            matches[r, other] = match, count
    covers = ({}, {})
    for cover, own, others, total, turned in (
        (covers[0], ours, theirs, totals[0], False),
        (covers[1], theirs, ours, totals[1], True),
    ):
        for relation, count in total.items():
            shared = sum(
                1
                for x, r, far in own
                if r == relation
                and any(
                    (x, far) == (y, far_too) and ((other, r) if turned else (r, other)) in matches
                    for y, other, far_too in others
                )
            )
            cover[relation] = (shared + 1) / (count + 4)
    return matches, covers


def evidence(left, right, anchors, trust, matches, covers, sizes):
    """{(x, x'): (votes, left lacks, right lacks)} for all pairs; ``trust`` goes by left anchor."""
    back = {b: a for a, b in anchors.items()}

    def has(edges):
        """{entity: {far node: {relation: fans}}}"""
        table = {}
        for (entity, relation, far), fans in edges.items():
            table.setdefault(entity, {}).setdefault(far, {})[relation] = fans
        return table

    def sure(far):
        """How far a left node is trusted to be its partner."""
        return 1.0 if far[0] == "value" else trust[far[1]]

    def worth(relations, cover):
        """What sharing a far node with these relations means; 1 in 4 where nothing is known."""
        return max(-math.log(1 - cover.get(relation, 1 / 4)) for relation in relations)

    ours, theirs = has(left), has(right)
    result = {}
    for x in range(sizes[0]):
        for y in range(sizes[1]):
            votes = left_lacks = right_lacks = 0.0
            met = set()
            for far, relations in ours.get(x, {}).items():
                partner = partner_of(far, anchors)
                if partner is None:
                    continue
                others = theirs.get(y, {}).get(partner, {})
                shares = [
                    min(0.95, matches[r, other][0] / math.sqrt(fans * fans_too)) * sure(far)
                    for r, fans in relations.items()
                    for other, fans_too in others.items()
                    if (r, other) in matches
                ]
                if shares:
                    votes -= math.log(1 - max(shares))
                    met.add(partner)
                elif partner not in right.hubs:
                    right_lacks += worth(relations, covers[0]) * sure(far)
            for far, relations in theirs.get(y, {}).items():
                own = partner_of(far, back)
                if own is not None and far not in met and own not in left.hubs:
                    left_lacks += worth(relations, covers[1]) * sure(own)
            result[x, y] = votes, left_lacks, right_lacks
    return result


def combined(found, crowd, *, shared=2.6, unit_votes=0.03, lacking=2.1, many=15_000):
    """What the evidence about one pair, found among so many (``crowd``), is worth in log-odds."""
    votes, left_lacks, right_lacks = found
    if crowd < many:
        unit_votes *= (many / max(crowd, 1)) ** (1 / shared)
    lacks = math.log(1 + left_lacks) + math.log(1 + right_lacks)
    return shared * math.log(1 + votes / unit_votes) - lacking * lacks


# --- audit ------------------------------------------------------------------------------------


def like_decoys(everyone, decoys, weights):
    """How many entities have a best candidate like that of a decoy, by comparing each with each."""

    def unlike(best):
        pairs = zip(decoys, weights, strict=True)
        worse = sum(w * ((d < best) + (d == best) / 2) for d, w in pairs)
        return (1 - worse / sum(weights)) ** 2

    usual = sum(w * unlike(d) for d, w in zip(decoys, weights, strict=True)) / sum(weights)
    return min(sum(unlike(best) for best in everyone) / usual, len(everyone))


def calibration_loss(a, b, links, wrong, weights):
    """What the curve of a calibration makes least: a logistic loss, and a prior."""

    def log_odds(p):
        return math.log(p) + a - b * math.log(1 - p)

    loss = sum(math.log1p(math.exp(-log_odds(p))) for p in links)
    loss += sum(w * (a - b * math.log(1 - p)) for p, w in zip(wrong, weights, strict=True))
    return loss + a**2 / 2 + (b - 1) ** 2 / 2


def most_links(confidence, max_error):
    """The largest set of links above some confidence of which so few are expected to be wrong."""
    best = []
    for level in confidence:
        kept = [c for c in confidence if c >= level]
        if sum(1 - c for c in kept) <= max_error * len(kept) and len(kept) > len(best):
            best = kept
    return best


def exclude(one, other, single):
    """Whether two claims about different pairs cannot both hold."""
    (a, b, verdict), (c, d, other_verdict) = one, other
    if {verdict, other_verdict} <= {"accept", "no-match"} and (a, b) != (c, d):
        anyway = verdict != other_verdict
        if a == c != "" and (single[0] or anyway):
            return True
        return b == d != "" and (single[1] or anyway)
    return False


def can_hold_together(claims, single):
    """Whether claims name each pair once and none excludes another."""
    ends = [(left, right) for left, right, _ in claims]
    firm = not any(exclude(one, other, single) for one in claims for other in claims)
    return firm and len(set(ends)) == len(ends)


def states_of_decisions(requests, single):
    """The state of every pair, by the definition.

    ``requests`` are (reviewer, claims, undone) in the order of their time; claims are (left,
    right, verdict). A reviewer's later claim replaces an earlier one about the same pair and
    those that cannot hold beside it.
    """
    said, pairs = {}, set()

    for reviewer, claims, undone in requests:
        pairs |= {(left, right) for left, right, _ in claims}
        if undone:
            continue
        mine = {key: verdict for key, verdict in said.items() if key[0] == reviewer}
        named = {(left, right) for left, right, _ in claims}
        for (_, left, right), verdict in mine.items():
            old = (left, right, verdict)
            if (left, right) not in named and any(exclude(claim, old, single) for claim in claims):
                del said[reviewer, left, right]
        for left, right, verdict in claims:
            said[reviewer, left, right] = verdict
    found = {}
    for pair in pairs:
        verdicts = {verdict for (_, *other), verdict in said.items() if tuple(other) == pair}
        firm = verdicts - {"open", "unsure"}
        if len(firm) > 1:
            found[pair] = "conflict"
        elif firm:
            (verdict,) = firm
            claims = [(left, right, other) for (_, left, right), other in said.items()]
            clash = any(exclude((*pair, verdict), claim, single) for claim in claims)
            found[pair] = "conflict" if clash else verdict
        else:
            found[pair] = "unsure" if "unsure" in verdicts else "open"
    return found


def segmentation_cost(text, known, *, unknown):
    """The least cost of all ways to cut a text: 1 for a known piece, ``unknown`` for a letter."""
    if not text:
        return 0
    costs = [unknown + segmentation_cost(text[1:], known, unknown=unknown)]
    for end in range(1, len(text) + 1):
        if text[:end] in known:
            costs.append(1 + segmentation_cost(text[end:], known, unknown=unknown))
    return min(costs)


# --- learning from links ------------------------------------------------------------------------


def choice_fit(weights, defaults, choices, *, prior):
    """How well weights explain choices: each is a list of (terms, offset), the true one first."""
    fit = 0.0
    for choice in choices:
        scores = [
            sum(w * t for w, t in zip(weights, terms, strict=True)) + offset
            for terms, offset in choice
        ]
        fit += scores[0] - math.log(sum(math.exp(score) for score in scores))
    strain = sum((w / d - 1) ** 2 for w, d in zip(weights, defaults, strict=True))
    return fit - prior / 2 * strain


def translations(pairs, *, steps, seen):
    """IBM model 1: how likely each left item is written as each right one.

    ``pairs`` are (left items, right items); left items in fewer than ``seen`` pairs do not count.
    """
    often = Counter(item for left, _ in pairs for item in set(left))
    pairs = [([item for item in left if often[item] >= seen], right) for left, right in pairs]
    likely = {(a, b): 1.0 for left, right in pairs for a in left for b in right}

    def normal(table):
        totals = Counter()
        for (a, _), value in table.items():
            totals[a] += value
        return {(a, b): value / totals[a] for (a, b), value in table.items()}

    likely = normal(likely)
    for _ in range(steps):
        counts = Counter()
        for left, right in pairs:
            for b in right:
                total = sum(likely[a, b] for a in left)
                for a in left:
                    counts[a, b] += likely[a, b] / total
        likely = normal(counts)
    return likely

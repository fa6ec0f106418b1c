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

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from sameas.errors import MemoryCeilingError
from sameas.graph.graph import positions_of
from sameas.graph.matched import MatchedGraph
from sameas.graph.semantics.paths import SEPARATOR
from sameas.graph.task import Task
from sameas.options.tuning import TUNING, ParisTuning
from sameas.pipeline.memory import plan_paris
from sameas.pipeline.outcome import Outcome
from sameas.pipeline.phases import Phases
from sameas.result.alignment import SCHEMAS, Diagnostics

PAIR_BYTES = 250
"""Memory for each pair of facts, or of entities, that a round compares."""
PAIRS = pl.Schema({"left": pl.Int64, "right": pl.Int64, "evidence": pl.Float64})


@dataclass(frozen=True, eq=False)
class Equivalences:
    """Which entities are the same, and how relations correspond."""

    pairs: pl.DataFrame
    """left, right (positions), evidence, probability: which entities are the same, sorted by left,
    then descending evidence, then right. The evidence is -log(1 - probability), which still tells
    pairs apart whose probability rounds to one."""
    relations: pl.DataFrame
    """left, right, inverse, left_in_right, right_in_left: two relations (URIs), whether the right
    one is meant with head and tail swapped, and the probabilities that facts of one are facts of
    the other. Attributes are among them, names are not; one probability is THETA at least."""
    iterations: int
    converged: bool


def paris(
    left: MatchedGraph,
    right: MatchedGraph,
    *,
    iterations: int = 10,
    memory: float = math.inf,
    progress: Callable[[float], None] | None = None,
    tuning: ParisTuning = TUNING.paris,
) -> Equivalences:
    """The pairs of entities and of relations that PARIS finds in at most this many rounds.

    A round that needs more than ``memory`` bytes is a MemoryCeilingError. ``progress`` gets the
    finished share of the rounds.
    """
    if iterations < 1:
        raise ValueError(f"iterations must be at least 1, got {iterations} instead")
    tables = [_literals(graph) for graph in (left, right)]
    literals = pl.concat([table["value"] for table in tables]).unique().sort()
    facts = (
        _facts(left, tables[0], literals, tuning),
        _facts(right, tables[1], literals, tuning),
    )
    least = -np.log1p(-tuning.theta) * (1 - tuning.rounding)
    matches: pl.DataFrame | None = None
    best = pl.DataFrame(schema=PAIRS)
    equal = _with_literals(best, *facts)
    for done in range(1, iterations + 1):
        pairs = _equivalences(*facts, equal, matches, memory)
        if done > 1:
            pairs = pairs.filter(pl.col("evidence") >= least)
        before, best = best, _maximal(pairs, tuning.rounding)
        equal = _with_literals(best, *facts)
        matches = _relation_matches(*facts, equal, memory)
        if progress is not None:
            progress(done / iterations)
        changed = pl.concat([before, best]).filter(pl.struct("left", "right").is_unique())
        entities = changed["left"].n_unique() + changed["right"].n_unique()
        converged = entities <= tuning.settled * (len(left.entities) + len(right.entities))
        if converged:
            break
    pairs = pairs.sort("left", "evidence", "right", descending=[False, True, False])
    assert matches is not None
    return Equivalences(_probable(pairs), _relation_table(*facts, matches), done, converged)


def maximal_links(pairs: pl.DataFrame, *, tuning: ParisTuning = TUNING.paris) -> pl.DataFrame:
    """The pairs that are each other's best; one-to-one.

    Of equally good counterparts the one at the lowest position counts as best.
    """
    return (
        _with_best(pairs, tuning.rounding)
        .filter(
            pl.col("right") == pl.col("right").filter("best_left").min().over("left"),
            pl.col("left") == pl.col("left").filter("best_right").min().over("right"),
        )
        .select(pairs.columns)
    )


@dataclass(frozen=True, eq=False)
class _Facts:
    """One graph as facts between nodes: first its entities, then the literals of both graphs."""

    entities: int
    nodes: int
    relations: pl.Series
    """By number: the relations, an empty text for names, and the attributes (one may be a relation
    too). As many numbers more stand for the inverses."""
    table: pl.DataFrame
    """head, relation, tail: all facts, then their inverses."""
    doors: pl.DataFrame
    """Doors are the distinct (relation, tail) of facts about entities: door (number), relation,
    tail, weight (the inverse functionality, 0 below THETA), crowd (how many stand at it)."""
    through: csr_array[np.float64]
    """Which entities stand at which door; shape (entities, doors), zeros and ones."""
    tuning: ParisTuning


def _literals(graph: MatchedGraph) -> pl.DataFrame:
    """entity (position), relation, value: all names, and what attributes say of entities."""
    first = pl.DataFrame({"entity": graph.entities, "name": graph.names})
    names = pl.concat([first, graph.alternatives.select("entity", "name")])
    # Not what is said through holders.
    said = graph.attributes.filter(~pl.col("attribute").str.contains(SEPARATOR, literal=True))
    values = _normalised(said["value"]).str.replace_all(r"[^\p{L}\p{N}]+", "")
    every = pl.concat(
        [
            names.select("entity", relation=pl.lit(""), value=_normalised(names["name"])),
            said.select("entity", relation="attribute", value=values),
        ]
    )
    every = every.with_columns(entity=pl.Series(graph.positions(every["entity"]), dtype=pl.Int64))
    return every.filter(pl.col("entity") >= 0, pl.col("value") != "").unique(maintain_order=True)


def _normalised(names: pl.Series) -> pl.Series:
    """Each name casefolded, with single spaces; a loop, as polars has no casefold."""
    folded = [" ".join((name or "").casefold().split()) for name in names]
    return pl.Series("name", folded, dtype=pl.String)


def _facts(
    graph: MatchedGraph, table: pl.DataFrame, literals: pl.Series, tuning: ParisTuning
) -> _Facts:
    """The facts of a graph, their inverses and their doors.

    ``table`` holds those about literals, which have their numbers in ``literals``.
    """
    entities, nodes = len(graph.entities), len(graph.entities) + len(literals)
    attributes = table["relation"].unique().sort()
    relations = pl.concat([graph.relations.rename("relation"), attributes])
    number = len(graph.relations) + positions_of(table["relation"], attributes)
    literal = entities + positions_of(table["value"], literals)
    said = np.stack([table["entity"].to_numpy(), number, literal], axis=1)
    head, relation, tail = np.concatenate([graph.distinct_triples, said]).T
    both = np.concatenate([relation, relation + len(relations)])
    heads, tails = np.concatenate([head, tail]), np.concatenate([tail, head])
    count = np.bincount(both, minlength=2 * len(relations))
    ends = np.unique(both * nodes + tails) // nodes
    weight = np.bincount(ends, minlength=2 * len(relations)) / np.maximum(count, 1)
    weight[weight < tuning.theta * (1 - tuning.rounding)] = 0.0
    about = heads < entities
    doors, door, crowd = np.unique(
        both[about] * nodes + tails[about], return_inverse=True, return_counts=True
    )
    return _Facts(
        entities,
        nodes,
        relations,
        pl.DataFrame({"head": heads, "relation": both, "tail": tails}),
        pl.DataFrame(
            {
                "door": np.arange(len(doors)),
                "relation": doors // nodes,
                "tail": doors % nodes,
                "weight": weight[doors // nodes],
                "crowd": crowd.astype(np.float64),
            }
        ),
        csr_array((np.ones(len(door)), (heads[about], door)), shape=(entities, len(doors))),
        tuning,
    )


def _with_literals(pairs: pl.DataFrame, left: _Facts, right: _Facts) -> pl.DataFrame:
    """The pairs of entities, and each literal with itself, for certain."""
    literals = np.arange(left.nodes - left.entities)
    same = {
        "left": left.entities + literals,
        "right": right.entities + literals,
        "evidence": np.full(len(literals), np.inf),
    }
    return _probable(pl.concat([pairs, pl.DataFrame(same)]))


def _probable(pairs: pl.DataFrame) -> pl.DataFrame:
    """The pairs with P(left = right), in (0, 1]."""
    return pairs.with_columns(probability=-np.expm1(-pairs["evidence"].to_numpy()))


def _equivalences(
    left: _Facts,
    right: _Facts,
    equal: pl.DataFrame,
    matches: pl.DataFrame | None,
    memory: float,
) -> pl.DataFrame:
    """The evidence for every pair of entities with a fact in common.

    Without ``matches``, in the first round, only literals are equal, and all relations that lead
    to them match with THETA.

    The two facts r(x, y) and r'(x', y') add the same evidence for all x at the door (r, y) and
    all x' at the door (r', y'), so it is computed once for the two doors, and a product of
    sparse matrices sums it up for the entities.
    """
    ours, theirs = (
        np.bincount(side.doors["tail"], minlength=side.nodes).astype(np.float64)
        for side in (left, right)
    )
    _check_memory("facts", float(ours[equal["left"]] @ theirs[equal["right"]]), memory)
    met = equal.join(left.doors, left_on="left", right_on="tail").join(
        right.doors, left_on="right", right_on="tail", suffix="_right"
    )
    if matches is None:
        theta = left.tuning.theta
        met = met.with_columns(left_in_right=theta, right_in_left=theta)
    else:
        met = met.join(matches, on=["relation", "relation_right"])
    evidence = np.zeros(len(met))
    for weight, share in (("weight", "right_in_left"), ("weight_right", "left_in_right")):
        probability = (met[weight] * met[share] * met["probability"]).to_numpy()
        with np.errstate(divide="ignore"):  # certainty is infinite evidence
            evidence -= np.log1p(-probability)
    met = met.with_columns(evidence=evidence).filter(pl.col("evidence") > 0)
    _check_memory("entities", float((met["crowd"] * met["crowd_right"]).sum()), memory)
    between = csr_array(
        (met["evidence"].to_numpy(), (met["door"].to_numpy(), met["door_right"].to_numpy())),
        shape=(len(left.doors), len(right.doors)),
    )
    total = (left.through @ between @ right.through.T).tocoo()
    columns = {"left": total.row, "right": total.col, "evidence": total.data}
    return pl.DataFrame(columns, schema=PAIRS)


def _check_memory(what: str, pairs: float, memory: float) -> None:
    if (needed := PAIR_BYTES * pairs) > memory:
        more = math.ceil((needed - memory) / 2**28) / 4
        raise MemoryCeilingError(
            f"PARIS compares {pairs:,.0f} pairs of {what}, which need about "
            f"{needed / 2**30:.2f} GiB, but {memory / 2**30:.2f} GiB are left under the ceiling; "
            f"raise `memory` by {more:.10g}G, or use `method` seu"
        )


def _maximal(pairs: pl.DataFrame, rounding: float) -> pl.DataFrame:
    """The pairs that are the best of both their entities, with no other as good."""
    sole = (
        pl.col(f"best_{side}") & (pl.col(f"best_{side}").sum().over(side) == 1)
        for side in ("left", "right")
    )
    return _with_best(pairs, rounding).filter(*sole).select(pairs.columns)


def _with_best(pairs: pl.DataFrame, rounding: float) -> pl.DataFrame:
    """With best_left, best_right: which have the most evidence of those of an entity, or a tie."""
    evidence = pl.col("evidence")
    return pairs.with_columns(
        (evidence >= evidence.max().over(side) * (1 - rounding)).alias(f"best_{side}")
        for side in ("left", "right")
    )


def _relation_matches(
    left: _Facts, right: _Facts, equal: pl.DataFrame, memory: float
) -> pl.DataFrame:
    """The pairs of relations of which one is in the other with a probability of THETA or more.

    relation, relation_right (numbers, inverses included), left_in_right, right_in_left. A node is
    equal to at most one other here, so a fact r(x, y) can be one (x', y') only, and the products
    over x' and y' have one factor: P(x = x') P(y = y').
    """
    ours, theirs = len(left.relations), len(right.relations)
    known = _known_facts(left, equal)
    others = _known_facts(right, equal.rename({"left": "right", "right": "left"}))
    totals = [
        np.bincount(table["relation"], table["known"], minlength=count)
        for table, count in ((known, ours), (others, theirs))
    ]
    facts = known.join(right.table.group_by("head", "tail").len(), on=["head", "tail"])
    _check_memory("facts", float(facts["len"].sum()), memory)
    table = right.table.with_row_index("fact")
    met = known.join(table, on=["head", "tail"], maintain_order="left")
    met = met.with_columns(match=pl.col("relation") * 2 * theirs + pl.col("relation_right"))
    # r in r' and r' in r share their facts. Each side's are summed in its own order, so that
    # nothing depends on which graph is the left one.
    sums = []
    for table in (met, met.sort(pl.col("fact") % (len(right.table) // 2))):
        keys, place = np.unique(table["match"], return_inverse=True)
        sums.append(np.bincount(place, table["known"], minlength=len(keys)))
    relation, other = np.divmod(keys, 2 * theirs)
    shares = {
        "left_in_right": np.minimum(sums[0] / totals[0][relation], 1.0),
        "right_in_left": np.minimum(sums[1] / totals[1][other % theirs], 1.0),
    }
    least = left.tuning.theta * (1 - left.tuning.rounding)
    matches = pl.DataFrame({"relation": relation, "relation_right": other, **shares}).filter(
        pl.max_horizontal(*shares) >= least
    )
    inverses = matches.with_columns(
        pl.col("relation") + ours, (pl.col("relation_right") + theirs) % (2 * theirs)
    )
    return pl.concat([matches, inverses])


def _known_facts(facts: _Facts, equal: pl.DataFrame) -> pl.DataFrame:
    """relation, head, tail, known: the facts, without inverses, between nodes that have equals.

    Heads and tails are those equals, in the other graph; ``known`` is how likely both are equal.
    """
    heads = equal.select(head="left", other_head="right", first="probability")
    tails = equal.select(tail="left", other_tail="right", second="probability")
    known = pl.col("first") * pl.col("second")
    return (
        facts.table.head(len(facts.table) // 2)
        .join(heads, on="head", maintain_order="left")
        .join(tails, on="tail", maintain_order="left")
        .select("relation", head="other_head", tail="other_tail", known=known)
    )


def _relation_table(left: _Facts, right: _Facts, matches: pl.DataFrame) -> pl.DataFrame:
    """The matches as ``Equivalences.relations`` has them."""
    ours, theirs = len(left.relations), len(right.relations)
    matches = matches.filter(pl.col("relation") < ours)
    other = matches["relation_right"]
    return (
        matches.select(
            left=left.relations.gather(matches["relation"]),
            right=right.relations.gather(other % theirs),
            inverse=other >= theirs,
            left_in_right="left_in_right",
            right_in_left="right_in_left",
        )
        .filter(pl.col("left") != "", pl.col("right") != "")
        .sort("left", "right", "inverse")
    )


def align_by_paris(task: Task, phases: Phases) -> Outcome:
    """The links that PARIS's probabilities give."""
    pair, options = task.pair, task.options
    expected = plan_paris(task)
    with phases.timed("paris") as report:
        equivalences = paris(
            pair.left,
            pair.right,
            iterations=max(options.iterations, 1),
            memory=options.memory - expected,
            progress=report,
            tuning=task.tuning.paris,
        )

    with phases.timed("links"):
        known, sides = task.known, ("left", "right")
        left, right = (equivalences.pairs[side].to_numpy() for side in sides)
        allowed = known.inside[0][left] & known.inside[1][right] & known.allows(left, right)
        pairs = equivalences.pairs.with_columns(
            left=np.searchsorted(task.sides[0], left),
            right=np.searchsorted(task.sides[1], right),
            score="probability",
        ).filter(pl.Series(allowed))
        links = maximal_links(pairs, tuning=task.tuning.paris)
        rank = pl.col("evidence").rank("average", descending=True).over("left")
        return Outcome(
            links=links.with_columns(confidence="score"),
            ranked=pairs.with_columns(rank=rank).filter(pl.col("rank") <= options.top),
            relations=equivalences.relations.with_columns(
                match=pl.max_horizontal("left_in_right", "right_in_left"),
                edges=pl.lit(None, dtype=pl.Int64),
            ).select(*SCHEMAS["relations"], "left_in_right", "right_in_left"),
            diagnostics=Diagnostics(
                solver="paris",
                objective=float(links["score"].to_numpy().sum()),
                iterations=equivalences.iterations,
                converged=equivalences.converged,
                relation_matches=len(equivalences.relations),
                memory_expected_bytes=expected,
            ),
        )

"""The method with refinement, in the open world: the preset ``best``."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from sameas.alignment import Alignment
from sameas.attributes import Attributes, learn_attributes, read_attributes
from sameas.assignment import Assignment, Certificate, assign, bounded, sparse
from sameas.assignment.open import OpenPlan, gap_to_bound, open_links, open_plan
from sameas.budget import plan_memory
from sameas.candidates import Candidates, SparseProfit, from_pairs
from sameas.checkpoint import Checkpoint, refinement_from_arrays, refinement_to_arrays
from sameas.evidence import Relations, attributes_of, edges_of
from sameas.graph import Graph, GraphPair, Positions
from sameas.options import Options
from sameas.many_names import BestNames
from sameas.name_details import learn_marks, name_marks
from sameas.pipeline.clock import Clock, Report
from sameas.pipeline.entities import Sides, candidate_positions, known_pairs
from sameas.pipeline.stages import candidates, profits, proposals
from sameas.pipeline.tables import UNMATCHED, gold_ranks, price_table, prices_of
from sameas.profit import Profit
from sameas.refinement import Anchors, Extra, Refinement, Weights, refine
from sameas.type_evidence import contradictory, learn_types, types_of

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class _Scored:
    """The pairs in question among those who may be linked, and all that is said about them."""

    some: Sides
    candidates: Candidates
    """Positions are among ``some``; their profit is the score beyond the price."""
    plan: OpenPlan
    refinement: Refinement


def align_refined(pair: GraphPair, options: Options, clock: Clock) -> Alignment:
    """The links that are likelier than not."""
    return _aligned(pair, _scored(pair, options, clock), options, clock)


def align_prepared(
    pair: GraphPair, material: Material, options: Options, *, weights: Weights | None = None
) -> Alignment:
    """The alignment that starts from material made before.

    For those who compare settings of refinement: what all of them share is made once.
    ``options`` must agree with those that the material was prepared with in features,
    neighbours and candidates.
    """
    clock = _silent()
    refinement = refined(pair, material, options, weights=weights)
    weights = weights or weights_of(options)
    return _aligned(pair, _priced(pair, refinement, options, weights, clock), options, clock)


def _aligned(pair: GraphPair, scored: _Scored, options: Options, clock: Clock) -> Alignment:
    with clock.phase("assignment") as report:
        exact = _exact(scored, options, report) if options.solver == "hungarian" else None
        if exact is None:
            places = open_links(scored.candidates, scored.plan, options.single)
        else:
            places = scored.candidates.find(exact.left, exact.right)
    with clock.phase("confidence"):
        return _alignment(pair, scored, places, exact, options, clock)


def verify_refined(alignment: Alignment) -> Certificate:
    """What the prices of an exact alignment prove, about all its candidates."""
    scored = _scored(alignment.pair, alignment.options, _silent())
    # To stay alone is worth nothing, not less: a price below that would prove too much.
    left, right = (np.maximum(prices, 0.0) for prices in prices_of(alignment))
    return bounded(SparseProfit(scored.candidates), left, right, objective=alignment.objective)


@dataclass(frozen=True, eq=False)
class Material:
    """What refinement starts from: all entities of both graphs, and the first candidates."""

    profit: Profit
    names: Profit
    """The profit of names alone."""
    candidates: Candidates
    attributes: Attributes | None = None


def prepare(pair: GraphPair, options: Options, clock: Clock | None = None) -> Material:
    """Everything up to refinement."""
    clock = clock or _silent()
    everyone = _everyone(pair)
    proposed = proposals(pair, everyone, options, clock)
    profit, names = profits(pair, everyone, options, clock)
    found = candidates(profit, names, proposed, options, clock)
    attributes = read_attributes(pair) if pair.left.kinds is not None else None
    if attributes is not None:
        numbers = attributes.candidates(SAME_VALUES)
        width = np.int64(profit.shape[1])
        left, right = numbers // width, numbers % width
        new = found.find(left, right) < 0
        left, right = left[new], right[new]
        found = found.joined(left, right, profit.of(left, right))
    return Material(profit, names, found, attributes)


SAME_VALUES = 10
"""Partners that each entity gets for like values."""


def refined(
    pair: GraphPair,
    material: Material,
    options: Options,
    *,
    weights: Weights | None = None,
    progress: Report | None = None,
) -> Refinement:
    """The refinement that the options ask for; ``weights`` are for those who compare them."""
    weights = weights or weights_of(options)
    some = candidate_positions(pair, options)
    return refine(
        edges_of(pair, hub=weights.hub, relations="relations" not in options.without),
        material.candidates,
        material.profit,
        material.names,
        known_pairs(pair, some, options),
        temperature=options.temperature,
        iterations=options.iterations,
        rounds=options.rounds,
        weights=weights,
        single=options.single,
        learn=learner(pair, material),
        progress=progress,
    )


def learner(
    pair: GraphPair, material: Material
) -> Callable[[Anchors], Extra] | None:
    """What learns from anchors, besides relations: types, attributes."""
    if pair.left.kinds is None or pair.right.kinds is None:
        return None
    types, attributes = types_of(pair), material.attributes
    marks = name_marks(material.names) if isinstance(material.names, BestNames) else None
    first = material.candidates
    kinds = pair.left.kinds.astype(np.int64), pair.right.kinds.astype(np.int64)

    def learn(anchors: Anchors) -> Extra:
        found = anchors.left, anchors.right, anchors.trust
        models = [learn_types(types, *found, kinds)]
        if attributes is not None:
            models.append(learn_attributes(attributes, *found))
        if marks is not None:
            partner = np.full(first.shape[0], -1, dtype=np.int64)
            partner[anchors.left] = anchors.right
            rival = (partner[first.left] >= 0) & (partner[first.left] != first.right)
            models.append(learn_marks(marks, found, (first.left[rival], first.right[rival])))

        def extra(left: Positions, right: Positions) -> Any:
            return sum(model.score(left, right) for model in models)

        return extra

    return learn


def _scored(pair: GraphPair, options: Options, clock: Clock) -> _Scored:
    some = candidate_positions(pair, options)
    known_pairs(pair, some, options)  # what is wrong with it is told before the work starts
    budget = plan_memory(pair, *_everyone(pair), options)
    clock.facts.update(budget.facts(*some))
    log.info("%s: %s", budget.form, budget.reason)
    if True:
        material = prepare(pair, options, clock)
        with clock.phase("refinement") as report:
            refinement = refined(pair, material, options, progress=report)
        del material
    return _priced(pair, refinement, options, weights_of(options), clock)


def _priced(
    pair: GraphPair, refinement: Refinement, options: Options, weights: Weights, clock: Clock
) -> _Scored:
    """The pairs of a refinement between those who may be linked, and the plan over them."""
    some = candidate_positions(pair, options)
    clock.facts["refinement_rounds"] = len(refinement.changes)
    clock.facts["anchors"] = len(refinement.anchors.left)
    clock.facts["relation_matches"] = len(refinement.relations.left)
    chosen = _among(refinement.pairs.candidates, some)
    null = refinement.null.among(*some) if refinement.null else None
    plan = open_plan(chosen, base=weights.base, null=null, single=options.single, most=2000, tolerance=1e-5)
    clock.facts["price"], clock.facts["plan_sweeps"] = float(plan.by_group[0]), plan.sweeps
    clock.facts["prices"] = plan.by_group.tolist()
    clock.facts["plan_deviation"] = plan.deviation
    chosen = replace(chosen, profit=(chosen.profit - plan.prices[chosen.left].astype(np.float32)))
    return _Scored(some, chosen, plan, refinement)


def _silent() -> Clock:
    """A clock that tells nobody and keeps nothing."""
    return Clock(None, Checkpoint(None, ""))


def _everyone(pair: GraphPair) -> Sides:
    return np.arange(len(pair.left.entities)), np.arange(len(pair.right.entities))


def weights_of(options: Options) -> Weights:
    """What each kind of evidence is worth, without what is to be left out."""
    weights = Weights()
    if "votes" in options.without:
        weights = replace(weights, shared=0.0, enter=math.inf)
    if "lacking" in options.without:
        weights = replace(weights, lacking=0.0)
    return weights


def _among(every: Candidates, some: Sides) -> Candidates:
    """The candidates between these entities, by their positions among them."""
    new = [np.full(size, -1, dtype=np.int64) for size in every.shape]
    for numbers, positions in zip(new, some, strict=True):
        numbers[positions] = np.arange(len(positions))
    left, right = new[0][every.left], new[1][every.right]
    inside = (left >= 0) & (right >= 0)
    shape = len(some[0]), len(some[1])
    return from_pairs(shape, left[inside], right[inside], every.profit[inside])


def _exact(scored: _Scored, options: Options, report: Any) -> Assignment:
    return assign(
        SparseProfit(scored.candidates),
        scored.candidates,
        prices=scored.plan.ranking.right,
        left_alone=0.0,
        right_alone=0.0,
        gap=options.gap,
        seconds=options.time_limit or math.inf,
        progress=report,
    )


def _alignment(
    pair: GraphPair,
    scored: _Scored,
    places: Positions,
    exact: Assignment | None,
    options: Options,
    clock: Clock,
) -> Alignment:
    chosen, plan = scored.candidates, scored.plan
    left = pair.left.entities.gather(scored.some[0])
    right = pair.right.entities.gather(scored.some[1])
    rows, columns = chosen.left[places], chosen.right[places]
    order = np.argsort(rows, kind="stable")
    links = pl.DataFrame(
        {
            "left": left.gather(rows[order]),
            "right": right.gather(columns[order]),
            "score": chosen.profit[places[order]].astype(np.float64),
            "confidence": plan.probability[places[order]],
        }
    )
    kept = links.filter(pl.col("confidence") >= options.min_confidence)
    if pair.left.kinds is not None:
        clash = contradictory(
            types_of(pair), pair.left.positions(kept["left"]), pair.right.positions(kept["right"])
        )
        kept = kept.filter(pl.Series(~clash))
        kept = kept.filter((pl.col("left") != pl.col("right")) | pl.col("left").is_in(described_twice(pair).implode()))
    partner = np.full(len(left), -1, dtype=np.int64)
    partner[rows] = columns
    ranking = plan.ranking
    ranked = sparse.ranked(chosen, ranking.right, options.top, partner=partner)
    objective = float(chosen.profit[places].sum(dtype=np.float64))
    gap = exact.gap if exact is not None else gap_to_bound(chosen, ranking.right, objective)
    return Alignment(
        pair=pair,
        options=options,
        links=kept,
        candidates=pl.DataFrame(
            {
                "left": left.gather(ranked.left),
                "right": right.gather(ranked.right),
                "rank": ranked.rank,
                "score": ranked.profit.astype(np.float64),
            }
        ),
        unmatched=_unmatched(left, right, scored, kept, options),
        relations=relation_table(pair, scored.refinement.relations),
        anchors=_anchor_table(pair, scored.refinement),
        gold_ranks=gold_ranks(
            pair,
            left,
            right,
            lambda own, other: sparse.ranks_of(chosen, ranking.right, own, other, partner=partner),
        ),
        prices=price_table(left, right, exact),
        solver=options.solver,
        objective=objective,
        optimality_gap=gap,
        facts=clock.facts,
        seconds=clock.seconds,
        resumed=tuple(clock.from_before),
    )


def described_twice(pair: GraphPair) -> pl.Series:
    """The IRIs that both graphs describe, and not alike: a link of one says something."""
    tables = []
    for graph in (pair.left, pair.right):
        entities, relations = graph.entities, graph.relations
        head, relation, tail = graph.distinct_triples().T
        said = pl.DataFrame(
            {
                "entity": entities.gather(head).cast(pl.String),
                "attribute": relations.gather(relation).cast(pl.String),
                "value": entities.gather(tail).cast(pl.String),
            }
        )
        named = pl.DataFrame({"entity": entities, "name": graph.names}).vstack(
            graph.alternatives.select(pl.col("entity").cast(pl.String), "name")
        )
        tables.append(
            pl.concat(
                [
                    said,
                    graph.attributes.select("entity", "attribute", "value"),
                    named.filter(pl.col("name") != "").select(
                        "entity", attribute=pl.lit("name"), value="name"
                    ),
                ]
            ).unique()
        )
    left, right = tables
    both = left.select("entity").unique().join(right.select("entity").unique(), on="entity")
    differ = [
        one.join(other, on=["entity", "attribute", "value"], how="anti")["entity"]
        for one, other in ((left, right), (right, left))
    ]
    return both["entity"].filter(both["entity"].is_in(pl.concat(differ).implode()))


def _unmatched(
    left: pl.Series, right: pl.Series, scored: _Scored, kept: pl.DataFrame, options: Options
) -> pl.DataFrame:
    """Who has no link, why, and who came closest."""
    chosen, plan = scored.candidates, scored.plan
    starts, order = chosen.by_right
    best = (
        sparse.first_best(chosen.starts, plan.probability),
        sparse.first_best(starts, plan.probability[order]),
    )
    best[1][best[1] >= 0] = order[best[1][best[1] >= 0]]
    linked = {side: pl.Series(kept[side]).implode() for side in ("left", "right")}
    tables = []
    for side, other, uris, others, place, positions in (
        ("left", "right", left, right, best[0], chosen.right),
        ("right", "left", right, left, best[1], chosen.left),
    ):
        found = place >= 0
        candidate = others.gather(positions[place[found]])
        table = pl.DataFrame({"side": pl.repeat(side, len(uris), eager=True), "entity": uris})
        near = pl.DataFrame(
            {
                "entity": uris.filter(pl.Series(found)),
                "candidate": candidate,
                "score": chosen.profit[place[found]].astype(np.float64),
            }
        )
        reason = (
            pl.when(pl.col("candidate").is_null())
            .then(pl.lit("no candidate"))
            .when(pl.col("score") <= 0)
            .then(pl.lit("no candidate above the price"))
            .when(pl.col("candidate").is_in(linked[other]))
            .then(pl.lit("lost to a better pair"))
            .otherwise(pl.lit(f"confidence below {options.min_confidence:g}"))
        )
        tables.append(
            table.filter(~pl.col("entity").is_in(linked[side]))
            .join(near, on="entity", how="left", maintain_order="left")
            .with_columns(reason=reason)
            .select(list(UNMATCHED))
        )
    return pl.concat(tables).cast(UNMATCHED)


def relation_table(pair: GraphPair, relations: Relations) -> pl.DataFrame:
    """Which relation (or attribute) of the left matches which of the right, best first.

    ``inverse`` says that one is the other read backwards; ``edges`` on how many edges between
    anchors both were seen. Each match is also one between the inverses; that is told once.
    """
    left, right = (
        _relation_names(graph, attributes)
        for graph, attributes in zip((pair.left, pair.right), attributes_of(pair), strict=True)
    )
    kinds = len(pair.left.relations), len(pair.right.relations)
    backwards = [
        (own >= count) & (own < 2 * count)
        for own, count in zip((relations.left, relations.right), kinds, strict=True)
    ]
    table = pl.DataFrame(
        {
            "left": left.gather(relations.left),
            "right": right.gather(relations.right),
            "inverse": backwards[0] != backwards[1],
            "match": relations.match,
            "edges": relations.seen,
        }
    )
    return table.filter(pl.Series(~backwards[0])).sort(
        ["match", "edges", "left", "right"], descending=[True, True, False, False]
    )


def _relation_names(graph: Graph, attributes: pl.Series) -> pl.Series:
    """The relations forwards, then backwards, then the attributes."""
    return pl.concat([graph.relations, graph.relations, attributes.alias(graph.relations.name)])


def _anchor_table(pair: GraphPair, refinement: Refinement) -> pl.DataFrame:
    anchors = refinement.anchors
    return pl.DataFrame(
        {
            "left": pair.left.entities.gather(anchors.left),
            "right": pair.right.entities.gather(anchors.right),
            "trust": anchors.trust,
        }
    )

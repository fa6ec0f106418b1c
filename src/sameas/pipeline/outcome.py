"""From what a method found, by position, to the tables of an Alignment, by URI."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace

import polars as pl

from sameas.compute.arrays import Positions, Vector
from sameas.graph.graph import positions_of
from sameas.graph.iri import are_iris
from sameas.graph.kind import Kind
from sameas.graph.matched import MatchedGraph, count_things
from sameas.graph.task import Task
from sameas.pipeline.no_links import why_no_links
from sameas.pipeline.phases import Phases
from sameas.result.alignment import SCHEMAS, Alignment, Diagnostics
from sameas.result.audit.record import Audit
from sameas.result.changes import link_changes, staying_links
from sameas.result.run_tables import LATER

log = logging.getLogger(__name__)

BY_CHANCE = (
    "the %d links may all be wrong: the best pairs are ahead of the next ones by no more than "
    "chance gives, as where two graphs have nothing in common (or each thing several times, which "
    "`dedupe` finds); known links (`seeds`) would tell, and `review` shows the links"
)
"""The warning about links that chance explains."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome:
    """What a method found; ``left`` and ``right`` are positions among ``task.entities``."""

    links: pl.DataFrame
    """left, right, score, confidence."""
    ranked: pl.DataFrame
    """left, right, rank, score: the best candidates of each left entity; equals share their mean
    rank. Where the plan links are weighed against chance, also their strength."""
    nearest: pl.DataFrame | None = None
    """left, right, score, confidence: all pairs among which the most confident of an unmatched
    entity is its best candidate. None: it is the one of the ranked pairs with the best score."""
    diagnostics: Diagnostics
    gold_ranks: Callable[[Positions, Positions], Vector] | None = None
    """The rank of given pairs, NaN where it is not known."""
    prices: tuple[Vector, Vector] | None = None
    relations: pl.DataFrame | None = None
    anchors: pl.DataFrame | None = None
    audit: Audit | None = None
    level: float | None = None
    """The confidence that a link needs, if it is not ``min_confidence``."""
    dictionary_anchors: pl.DataFrame | None = None


def make_alignment(task: Task, outcome: Outcome, phases: Phases) -> Alignment:
    """The result: links that are confident enough, and everything known about the others."""
    with phases.timed("confidence"):
        links = _named(task, outcome.links)
        level = task.options.min_confidence if outcome.level is None else outcome.level
        kept = links.filter(pl.col("confidence") >= level)
        earlier = task.inputs.earlier
        if earlier is not None and outcome.nearest is not None:
            pairs, single = _named(task, outcome.nearest), task.options.single
            stay = staying_links(earlier, kept, pairs, least=level, single=single)
            kept = pl.concat([kept, stay.cast(kept.schema)]).sort("left", "right")
        same = (pl.col("left") == pl.col("right")) & pl.col("left").is_in(_same_iri(task).implode())
        telling = kept.filter(~same)
        tables = {
            "links": as_listed("links", telling),
            "candidates": as_listed("candidates", _named(task, counted_ranks(outcome.ranked))),
            "unmatched": _unmatched(task, outcome, links, kept),
            "gold_ranks": _gold_ranks(task, outcome),
            "prices": _prices(task, outcome),
            "relations": outcome.relations,
            "anchors": outcome.anchors,
            "audit": outcome.audit,
            "taught": outcome.dictionary_anchors,
            "changes": _changes(task, telling),
        }
    vectors = task.inputs.word_vectors
    same_iri, no_links = len(kept) - len(telling), None
    if not len(telling):
        no_links = why_no_links(
            task,
            links,
            _best_first(task, outcome),
            level=level,
            same_iri=same_iri,
            languages=outcome.diagnostics.languages,
        )
        log.warning("%s", no_links)
    elif outcome.diagnostics.by_chance and len(telling) >= task.tuning.audit.fewest:
        log.warning(BY_CHANCE, len(telling))
    diagnostics = replace(
        outcome.diagnostics,
        left_entities=count_things(task.pair.left),
        right_entities=count_things(task.pair.right),
        left_candidates=len(task.sides[0]),
        right_candidates=len(task.sides[1]),
        same_iri=same_iri or None,
        no_links=no_links,
        kinds_meet=task.pair.kinds_meet or None,
        long_names=task.long_names or None,
        word_vectors=None if vectors is None else vectors.description,
    )
    return Alignment(
        options=task.options,
        tuning=task.tuning,
        diagnostics=diagnostics,
        load={"pair": task.pair, "inputs": task.inputs, **tables}.get,
        seconds=phases.seconds,
        resumed=tuple(phases.resumed),
    )


def _changes(task: Task, links: pl.DataFrame) -> pl.DataFrame | None:
    """What became of the links of an earlier run, if there was one."""
    earlier = task.inputs.earlier
    if earlier is None:
        return None
    return as_listed("changes", link_changes(earlier, links, task.inputs))


def _same_iri(task: Task) -> pl.Series:
    """The entities that both graphs call by the same IRI: to link them would say nothing.

    But an individual that both describe, and not alike, is worth a link.
    """
    pair, seeds = task.pair, task.known.seeds
    iris = pair.left.entities.gather(seeds[:, 0])
    same = (iris == pair.right.entities.gather(seeds[:, 1])) & are_iris(iris)
    asked = any(graph.source.asks_for_all for graph in pair.graphs)
    if asked or not same.any():
        return iris[:0]
    iris = iris.filter(same)
    individual = pl.Series(pair.left.kinds[seeds[same.to_numpy(), 0]] == Kind.INDIVIDUAL)
    left, right = (_descriptions(graph, iris) for graph in (pair.left, pair.right))
    differ = pl.concat(
        [
            one.join(other, on=one.columns, how="anti")["entity"]
            for one, other in ((left, right), (right, left))
        ]
    )
    worth = [iris.is_in(one.implode()) for one in (left["entity"], right["entity"], differ)]
    same_iri: pl.Series = iris.filter(~(individual & worth[0] & worth[1] & worth[2]))
    return same_iri


def _descriptions(graph: MatchedGraph, iris: pl.Series) -> pl.DataFrame:
    """entity, attribute, value: all that a graph says of some entities, names included."""
    head, relation, tail = graph.triples.T
    names = pl.DataFrame({"entity": graph.entities, "name": graph.names})
    tables = [
        pl.DataFrame(
            {
                "entity": graph.entities.gather(head),
                "attribute": graph.relations.gather(relation),
                "value": graph.entities.gather(tail),
            }
        ),
        graph.attributes.select("entity", "attribute", "value"),
        pl.concat([names, graph.alternatives.select("entity", "name")])
        .filter(pl.col("name") != "")
        .select("entity", attribute=pl.lit("name"), value="name"),
    ]
    return pl.concat(tables).filter(pl.col("entity").is_in(iris.implode())).unique()


def _best_first(task: Task, outcome: Outcome) -> pl.DataFrame:
    """The candidates by score, the best first."""
    pairs = outcome.ranked if outcome.nearest is None else outcome.nearest
    return _named(task, pairs.sort("score", descending=True, maintain_order=True).head(1))


def _named(task: Task, pairs: pl.DataFrame) -> pl.DataFrame:
    """The pairs with URIs instead of positions."""
    left, right = task.entities
    return pairs.with_columns(left=left.gather(pairs["left"]), right=right.gather(pairs["right"]))


def counted_ranks(ranked: pl.DataFrame) -> pl.DataFrame:
    """Candidates with ``rank`` from 1 for each left entity, and the rank they had as mean_rank."""
    listed = ranked.sort("left", "rank", maintain_order=True).rename({"rank": "mean_rank"})
    return listed.with_columns(rank=pl.int_range(1, pl.len() + 1).over("left"))


def as_listed(name: str, table: pl.DataFrame) -> pl.DataFrame:
    """The table with the columns and types of its schema; those that are not there are null."""
    absent = [pl.lit(None).alias(column) for column in LATER if column not in table]
    return table.with_columns(absent).select(list(SCHEMAS[name])).cast(SCHEMAS[name])


def _unmatched(
    task: Task, outcome: Outcome, links: pl.DataFrame, kept: pl.DataFrame
) -> pl.DataFrame:
    """The entities without a link, each with the reason and its best candidate."""
    refined = outcome.nearest is not None
    nearest = outcome.ranked if outcome.nearest is None else outcome.nearest
    nearest = nearest.sort(
        "confidence" if refined else "score", descending=True, maintain_order=True
    )
    tables = []
    for side, other, entities in zip(
        ("left", "right"), ("right", "left"), task.entities, strict=True
    ):
        best = _named(task, nearest.unique(side, keep="first")).select(
            "score", entity=side, candidate=other
        )
        reason = (
            pl.when(pl.col("candidate").is_null())
            .then(pl.lit("no-candidate"))
            .when((pl.col("score") <= 0) & refined)
            .then(pl.lit("below-threshold"))
            .when(pl.col("entity").is_in(links[side].implode()) & (not refined))
            .then(pl.lit("unsure"))
            .when(pl.col("candidate").is_in(kept[other].implode()))
            .then(pl.lit("taken"))
            .otherwise(pl.lit("unsure" if refined else "left-over"))
        )
        tables.append(
            pl.DataFrame({"entity": entities})
            .filter(~pl.col("entity").is_in(kept[side].implode()))
            .join(best, on="entity", how="left", maintain_order="left")
            .select(
                pl.lit(side).alias("side"), "entity", reason.alias("reason"), "candidate", "score"
            )
        )
    return as_listed("unmatched", pl.concat(tables))


def _gold_ranks(task: Task, outcome: Outcome) -> pl.DataFrame | None:
    """The rank of each gold link between entities that may be linked, where it is known."""
    gold = task.pair.gold
    if gold is None or outcome.gold_ranks is None:
        return None
    left, right = (
        positions_of(gold[side], entities)
        for side, entities in zip(("left", "right"), task.entities, strict=True)
    )
    inside = (left >= 0) & (right >= 0)
    ranks = outcome.gold_ranks(left[inside], right[inside])
    return (
        gold.select("left", "right")
        .filter(pl.Series(inside))
        .with_columns(rank=pl.Series(ranks, dtype=pl.Float64))
        .filter(pl.col("rank").is_not_nan())
    )


def _prices(task: Task, outcome: Outcome) -> pl.DataFrame | None:
    if outcome.prices is None:
        return None
    sides = zip(("left", "right"), task.entities, outcome.prices, strict=True)
    tables = [
        pl.DataFrame({"entity": entities, "price": prices}).with_columns(side=pl.lit(side))
        for side, entities, prices in sides
    ]
    return as_listed("prices", pl.concat(tables))


def prices_of(alignment: Alignment) -> tuple[Vector, Vector]:
    """The exact solver's left and right prices."""
    assert alignment.prices is not None
    left, right = (
        alignment.prices.filter(pl.col("side") == side)["price"].to_numpy()
        for side in ("left", "right")
    )
    return left, right

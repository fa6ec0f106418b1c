"""Scores of links against gold links, by entity."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

import numpy as np
import polars as pl

from sameas.errors import OptionError, shortened
from sameas.graph.given_tables import Table, as_links
from sameas.graph.matched import MatchedPair
from sameas.graph.records import words_of
from sameas.result.alignment import Alignment
from sameas.result.shown import metrics_html

log = logging.getLogger(__name__)

PAIR = ["left", "right"]
HEADER = frozenset({"id", "uri", "iri", "key", "entity", "left", "right", "source", "target"})
"""Words of the header of a table of links."""
BINS = 10
"""Intervals of confidence, all of the same width, within which calibration is measured."""


@dataclass(frozen=True, kw_only=True)
class Metrics:
    """Scores of an alignment.

    Gold links are taken as partial: ``precision`` and ``f1`` are over the links that touch an
    entity which gold mentions (``links_judged`` of them), ``strict_precision`` and ``strict_f1``
    over all links. Hits and MRR are over the gold links, from the ranks that were kept (those of
    the best candidates and, where gold was known when aligning, of every gold link); any other
    counts as not found. ``unmatched_recall`` is the share of the entities known to have no
    counterpart that have no link, ``calibration_error`` that of ``calibration``. None where a
    measure does not apply.
    """

    precision: float | None
    strict_precision: float | None
    recall: float
    f1: float | None
    strict_f1: float | None
    hits_at_1: float | None
    hits_at_10: float | None
    mrr: float | None
    unmatched_recall: float | None
    calibration_error: float | None
    gold_links: int
    links: int
    links_judged: int
    links_correct: int
    warnings: tuple[str, ...] = ()
    """Why the scores may say little: gold and graphs name entities differently, ..."""

    def asdict(self) -> dict[str, float | int | None]:
        """The scores, without the warnings, under the names that reports use."""
        scores = {name.replace("_at_", "@"): value for name, value in asdict(self).items()}
        del scores["warnings"]
        return scores

    def _repr_html_(self) -> str:
        """The scores as a table, for notebooks."""
        return metrics_html(self.asdict(), self.warnings)

    def __str__(self) -> str:
        """One line for a terminal."""
        shown = {k: v for k, v in self.asdict().items() if isinstance(v, float)}
        return "  ".join(f"{name} {value:.3f}" for name, value in shown.items())


def evaluate(
    found: Alignment | Table,
    gold: Table,
    *,
    ranked: pl.DataFrame | None = None,
    no_match: pl.Series | None = None,
    complete: bool = False,
) -> Metrics:
    """The scores of an alignment, or of a table of links (left, right), against gold links.

    Tables are polars, pandas, Arrow or iterables of pairs; that of links may have a column
    ``confidence``. ``ranked`` (left, right, rank) is that of the alignment unless given.
    ``no_match`` names entities known to have no counterpart, any link of which is wrong.
    ``complete`` says that gold has all links of the kinds of entities (individuals, classes,
    properties) that it mentions: any other link of these kinds is wrong. Where kinds are not
    known, that is any other link. Warnings are logged, too.
    """
    pair = found.pair if isinstance(found, Alignment) else None
    if isinstance(found, Alignment) and ranked is None:
        ranked = found.ranked
    gold = as_links(gold, "gold")
    links, judged = _links(found, gold, no_match, complete=complete)
    right = len(links.join(gold, on=PAIR, how="semi"))
    precision = right / len(judged) if len(judged) else None
    strict_precision = right / len(links) if len(links) else None
    recall = right / len(gold) if len(gold) else 0.0
    ranks = None
    if ranked is not None and len(gold):
        found_ranks = ranked.select(*PAIR, pl.col("rank").cast(pl.Float64))
        joined = gold.join(found_ranks, on=PAIR, how="left", maintain_order="left")
        ranks = joined["rank"].fill_null(float("inf")).to_numpy()
    unmatched_recall = None
    if no_match is not None and len(no_match):
        linked = pl.concat([links["left"], links["right"].rename("left")])
        wrong = no_match.unique().is_in(linked.implode())
        unmatched_recall = 1 - int(wrong.sum()) / len(wrong)
    warnings = tuple(_warnings(links, gold, pair))
    for warning in warnings:
        log.warning(warning)
    return Metrics(
        precision=precision,
        strict_precision=strict_precision,
        recall=recall,
        f1=_f1(precision, recall),
        strict_f1=_f1(strict_precision, recall),
        hits_at_1=None if ranks is None else float((ranks <= 1).mean()),
        hits_at_10=None if ranks is None else float((ranks <= 10).mean()),
        mrr=None if ranks is None else float((1 / ranks).mean()),
        unmatched_recall=unmatched_recall,
        calibration_error=_calibration(judged, gold).error,
        gold_links=len(gold),
        links=len(links),
        links_judged=len(judged),
        links_correct=right,
        warnings=warnings,
    )


def without_header(gold: pl.DataFrame, found: Alignment | pl.DataFrame, place: str) -> pl.DataFrame:
    """Gold links without a first row that is a header; that is logged.

    A run knows all entities: a header names none of them, unlike the other rows. Where only links
    are known, a header must also be called ids or sides.
    """
    if len(gold) < 2:
        return gold
    if isinstance(found, Alignment):
        known = [found.pair.left.entities, found.pair.right.entities]
    else:
        known = [found["left"], found["right"]]
    names = [gold[side].is_in(one.implode()) for side, one in zip(PAIR, known, strict=True)]
    is_known = names[0] & names[1]
    if names[0][0] or names[1][0] or not is_known[1:].any():
        return gold
    cells = [str(gold[side][0]) for side in PAIR]
    if not isinstance(found, Alignment) and not all(HEADER & set(words_of(c)) for c in cells):
        return gold
    text = '%s: the first row was read as a header, since it names no entities: "%s", "%s"'
    log.warning(text, place, *map(shortened, cells))
    return gold[1:]


@dataclass(frozen=True)
class Bin:
    """Links of nearly the same confidence: the mean of it, and the share that is correct."""

    low: float
    """Where the interval of confidence begins."""
    confidence: float
    accuracy: float
    count: int


@dataclass(frozen=True)
class Calibration:
    """Confidence against accuracy, in bins of confidence."""

    bins: tuple[Bin, ...]
    """By confidence; intervals without links are left out."""

    @property
    def count(self) -> int:
        """How many links were judged."""
        return sum(each.count for each in self.bins)

    @property
    def error(self) -> float | None:
        """The expected calibration error: how far confidence is from accuracy, link by link.

        The mean over the bins, each by the number of its links; None where there is none.
        """
        if not self.bins:
            return None
        away = sum(each.count * abs(each.confidence - each.accuracy) for each in self.bins)
        return away / self.count


def calibration(
    found: Alignment | Table,
    gold: Table,
    no_match: pl.Series | None = None,
    *,
    complete: bool = False,
) -> Calibration:
    """How well the confidence of links tells whether they are correct.

    Over the links that gold can judge: those that touch an entity which gold or ``no_match``
    mentions; with ``complete``, all links of the kinds of entities that gold mentions. Links
    without a confidence are left out.
    """
    gold = as_links(gold, "gold")
    return _calibration(_links(found, gold, no_match, complete=complete)[1], gold)


def _calibration(judged: pl.DataFrame, gold: pl.DataFrame) -> Calibration:
    if "confidence" not in judged.columns:
        return Calibration(())
    agreeing = gold.select(PAIR).unique().with_columns(agrees=True)
    place = (pl.col("confidence") * BINS).floor().clip(0, BINS - 1).cast(pl.Int64)
    table = (
        judged.with_columns(pl.col("confidence").fill_nan(None))
        .drop_nulls("confidence")
        .join(agreeing, on=PAIR, how="left")
        .select("confidence", pl.col("agrees").fill_null(False), place=place)
        .sort("confidence", "agrees")
        .group_by("place", maintain_order=True)
        .agg(pl.col("confidence").mean(), pl.col("agrees").mean(), count=pl.len())
        .sort("place")
    )
    return Calibration(tuple(Bin(place / BINS, *row) for place, *row in table.iter_rows()))


def hide_half(pair: MatchedPair, *, seed: int) -> tuple[MatchedPair, pl.Series]:
    """The hidden-half test: a pair in which many left entities have no counterpart, and which.

    A random half of the right entities that gold mentions is taken out of the right graph, with
    everything said of them; gold keeps the links of the others. The second value names the left
    entities whose partners are gone, to be given to ``evaluate`` as ``no_match``: any link of
    them is wrong. The same seed hides the same half.
    """
    if pair.gold is None:
        raise OptionError("`pair` must have gold links to hide half of them, got none")
    known = pair.gold["right"].unique(maintain_order=True)
    order = np.random.default_rng(seed).permutation(len(known))
    hidden = known.gather(order[: len(known) // 2])
    lost = pl.col("right").is_in(hidden.implode())
    gold = pair.gold.filter(~lost)
    alone = pair.gold.filter(lost, ~pl.col("left").is_in(gold["left"].implode()))
    smaller = replace(pair, right=pair.right.without(hidden), gold=gold)
    return smaller, alone["left"].unique(maintain_order=True)


def _links(
    found: Alignment | Table, gold: pl.DataFrame, no_match: pl.Series | None, *, complete: bool
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The links, each once, and those of them of whose left or right entity something is known."""
    table = found.links if isinstance(found, Alignment) else found
    links = as_links(table, "found").unique(PAIR, keep="first", maintain_order=True)
    known = []
    for side in PAIR:
        columns = [gold[side]] if no_match is None else [gold[side], no_match.rename(side)]
        if complete:
            graph = getattr(found.pair, side) if isinstance(found, Alignment) else None
            if graph is None:
                return links, links
            positions = graph.positions(gold[side])
            gold_kinds = graph.kinds[positions[positions >= 0]]
            alike = graph.entities.filter(np.isin(graph.kinds, gold_kinds))
            columns.append(alike.rename(side))
        known.append(pl.col(side).is_in(pl.concat(columns).implode()))
    return links, links.filter(pl.any_horizontal(known))


def _warnings(links: pl.DataFrame, gold: pl.DataFrame, pair: MatchedPair | None) -> Iterator[str]:
    """Signs that gold is not about the graphs or, where they are not known, about the links.

    A gold link meets graphs that have both of its entities, and links that have one of them.
    """
    sides = [links[side] if pair is None else getattr(pair, side).entities for side in PAIR]
    if not len(gold) or not all(map(len, sides)):
        return
    what, count = "links" if pair is None else "graphs", len(gold)
    join = pl.any_horizontal if pair is None else pl.all_horizontal

    def meeting(left: pl.Series, right: pl.Series) -> pl.Series:
        known = pl.col("left").is_in(left.implode()), pl.col("right").is_in(right.implode())
        return gold.select(join(*known)).to_series()

    met, exchanged = meeting(*sides), int(meeting(*sides[::-1]).sum())
    fitting = int(met.sum())
    if exchanged > 2 * fitting:
        yield (
            f"left and right seem to be swapped: {exchanged:,} of {count:,} gold links fit the "
            f"{what} with their sides exchanged, {fitting:,} as they are; exchange the columns of "
            "gold, or align the graphs in the other order"
        )
        return
    if fitting == count or (fitting and pair is None):
        return
    link = gold.filter(~met).row(0)
    place = int((sides[0] == link[0]).any())  # the side whose entity is not known
    name, other = shortened(link[place]), shortened(sides[place][0])
    if fitting:
        yield (
            f"{count - fitting:,} of {count:,} gold links name an entity that is not in the "
            f'graphs, such as "{name}" on the {PAIR[place]}; they count as not found'
        )
        return
    missing = (
        "no link touches an entity that gold mentions"
        if pair is None
        else "gold and graphs do not meet: no gold link has both of its entities in them"
    )
    yield (
        f'{missing}; on the {PAIR[place]}, gold has "{name}" and the {what} have "{other}": '
        "both must name entities in the same way"
    )


def _f1(precision: float | None, recall: float) -> float | None:
    if precision is None:
        return None
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0

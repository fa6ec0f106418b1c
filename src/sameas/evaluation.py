"""How good links are, measured against gold links; by entity, never by position."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.alignment import Alignment

PAIR = ["left", "right"]


@dataclass(frozen=True, kw_only=True)
class Metrics:
    """Scores of an alignment.

    Gold links are taken as partial: ``precision`` is over the links that touch an entity which
    gold mentions (``links_judged`` of them) and ``strict_precision`` over all links. Hits and
    MRR are over the gold links, from the ranks that were kept (those of the best candidates and,
    where gold was known when aligning, of every gold link); any other counts as not found. None
    where a measure does not apply.
    """

    precision: float | None
    recall: float
    f1: float | None
    strict_precision: float | None
    hits_at_1: float | None
    hits_at_10: float | None
    mrr: float | None
    gold_links: int
    links: int
    links_judged: int
    links_correct: int

    def asdict(self) -> dict[str, float | int | None]:
        """The scores under the names that reports use."""
        return {
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "hits@1": self.hits_at_1,
            "hits@10": self.hits_at_10,
            "mrr": self.mrr,
            "gold_links": self.gold_links,
            "links": self.links,
            "links_judged": self.links_judged,
            "links_correct": self.links_correct,
            "strict_precision": self.strict_precision,
        }

    def __str__(self) -> str:
        """One line for a terminal."""
        shown = {k: v for k, v in self.asdict().items() if isinstance(v, float)}
        return "  ".join(f"{name} {value:.3f}" for name, value in shown.items())


def evaluate(
    found: Alignment | pl.DataFrame,
    gold: pl.DataFrame,
    *,
    ranked: pl.DataFrame | None = None,
    no_match: pl.Series | None = None,
) -> Metrics:
    """The scores of an alignment, or of a table of links (left, right), against gold links.

    ``ranked`` (left, right, rank) is that of the alignment unless given. ``no_match`` names
    entities known to have no counterpart, any link of which is wrong.
    """
    if isinstance(found, Alignment):
        ranked = found.ranked if ranked is None else ranked
        found = found.links
    links = found.select(PAIR).unique(maintain_order=True)
    right = len(links.join(gold, on=PAIR, how="semi"))
    judged = len(links.filter(pl.any_horizontal(_mentioned(gold, no_match))))
    precision = right / judged if judged else None
    recall = right / len(gold) if len(gold) else 0.0
    ranks = gold_ranks(ranked, gold) if ranked is not None and len(gold) else None
    return Metrics(
        precision=precision,
        recall=recall,
        f1=_f1(precision, recall),
        strict_precision=right / len(links) if len(links) else None,
        hits_at_1=None if ranks is None else float((ranks <= 1).mean()),
        hits_at_10=None if ranks is None else float((ranks <= 10).mean()),
        mrr=None if ranks is None else float((1 / ranks).mean()),
        gold_links=len(gold),
        links=len(links),
        links_judged=judged,
        links_correct=right,
    )


def _mentioned(gold: pl.DataFrame, no_match: pl.Series | None) -> list[pl.Expr]:
    """Whether a link's left, and its right entity, is one that something is known about."""
    known = [gold[side] for side in PAIR]
    if no_match is not None:
        known = [pl.concat([some, no_match.rename(some.name)]) for some in known]
    return [
        pl.col(side).is_in(some.unique().implode()) for side, some in zip(PAIR, known, strict=True)
    ]


def gold_ranks(ranked: pl.DataFrame, gold: pl.DataFrame) -> NDArray[np.float64]:
    """The rank of each gold link's right entity as seen from its left one, else infinity."""
    found = gold.select(PAIR).join(
        ranked.select([*PAIR, "rank"]), on=PAIR, how="left", maintain_order="left"
    )
    ranks: NDArray[np.float64] = found["rank"].cast(pl.Float64).fill_null(float("inf")).to_numpy()
    return ranks


def _f1(precision: float | None, recall: float) -> float | None:
    if precision is None:
        return None
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0

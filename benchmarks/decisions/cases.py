"""Cases that a decision must hold in: seeds, next week's rows, several partners, none at all.

python -m benchmarks.decisions.cases DATA
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

import sameas
from benchmarks.decisions.tasks import SEEDED, TABLES, BenchTask, frames, named

SHARES = (0.0, 0.1, 0.25, 0.5, 1.0)
FIRST = 499
"""Rows of fodors-zagats that were there last week."""
Links = set[tuple[str, str]]


@dataclass(frozen=True)
class Score:
    """How good links are."""

    links: int
    correct: int
    gold: int

    @property
    def precision(self) -> float:
        """The share of links that are correct; none is wrong among none."""
        return self.correct / self.links if self.links else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.correct / max(self.links + self.gold, 1)


def main() -> None:
    """Print a table for each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data
    for table in (seeds(data), next_week(data), several_partners(data), nothing_in_common(data)):
        for line in table:
            print(line, flush=True)
        print(flush=True)


def seeds(data: Path) -> Iterator[str]:
    """Whether links beside seeds are as good as the same links without seeds."""
    yield "| task | seeds | F1 | precision of the other links | the same without seeds |"
    yield "|---|---|---|---|---|"
    for name in SEEDED:
        task = named(data, name)
        gold = task.gold.unique("left", keep="first", maintain_order=True)
        gold = gold.unique("right", keep="first", maintain_order=True).sort("left", "right")
        order = np.random.default_rng(0).permutation(len(gold))
        without: Links = set()
        for share in SHARES:
            given = gold[np.sort(order[: round(share * len(gold))])]
            links = _links(sameas.align(task.pair, seeds=given if share else None, no_audit=True))
            without = without or links
            taken = set(given["left"]), set(given["right"])
            with_seeds, before = (
                _score(task, {pair for pair in each if not _touches(pair, taken)})
                for each in (links, without)
            )
            yield (
                f"| {name} | {share:.0%} | {_score(task, links).f1:.4f} | {_shown(with_seeds)} "
                f"| {_shown(before)} |"
            )


def next_week(data: Path) -> Iterator[str]:
    """Links of the first rows of a table are seeds when the rows of next week come."""
    left, right, gold = frames(data / "records" / "fodors-zagats")
    before = sameas.align(left.head(FIRST), right, no_audit=True)
    after = sameas.align(left, right, seeds=before.links.select("left", "right"), no_audit=True)
    new, correct = _links(after) - _links(before), set(gold.iter_rows())
    old = set(left.head(FIRST)["id"])
    yield "| new rows | new links | correct | new links of rows that were there | correct |"
    yield "|---|---|---|---|---|"
    again = {pair for pair in new if pair[0] in old}
    yield (
        f"| {len(left) - FIRST} | {len(new)} | {len(new & correct)} | {len(again)} "
        f"| {len(again & correct)} |"
    )


def several_partners(data: Path) -> Iterator[str]:
    """F1 of links, strict, where entities may have several partners."""
    choices = ("one-to-one", "one-to-many", "many-to-many")
    yield f"| task | {' | '.join(choices)} |"
    yield "|---|---|---|---|"
    for name in ("records/abt-buy", "records/amazon-google", "real/person2"):
        task = named(data, name)
        f1 = [
            _score(task, _links(sameas.align(task.pair, cardinality=each, no_audit=True))).f1
            for each in choices
        ]
        yield f"| {name} | {' | '.join(f'{each:.4f}' for each in f1)} |"


def nothing_in_common(data: Path) -> Iterator[str]:
    """How many links, all of them wrong, two tables get that have no thing in common."""
    yield "| tables | left | right | links, all wrong |"
    yield "|---|---|---|---|"
    for name in TABLES:
        left, right, gold = frames(data / "records" / name)
        order = np.random.default_rng(0).permutation(len(left))
        left = left[np.sort(order[: len(left) // 2])]
        partners = gold.filter(pl.col("left").is_in(left["id"].implode()))["right"]
        right = right.filter(~pl.col("id").is_in(partners.implode()))
        links = len(sameas.align(left, right, no_audit=True).links)
        yield f"| {name} | {len(left):,} | {len(right):,} | {links:,} |"


def _links(alignment: sameas.Alignment) -> Links:
    return set(alignment.links.select("left", "right").iter_rows())


def _touches(pair: tuple[str, str], taken: tuple[set[str], set[str]]) -> bool:
    return pair[0] in taken[0] or pair[1] in taken[1]


def _score(task: BenchTask, links: Links) -> Score:
    """The score of links over those that are judged."""
    sides = set(task.judged_left), set(task.judged_right)
    judged = {pair for pair in links if _touches(pair, sides)}
    return Score(len(judged), len(judged & set(task.gold.iter_rows())), task.total)


def _shown(score: Score) -> str:
    return f"{score.precision:.4f} of {score.links:,}"


if __name__ == "__main__":
    main()

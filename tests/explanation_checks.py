"""Checks of explanations, for several test files."""

import numpy as np
import polars as pl
import pytest


def assert_adds_up(comparison):
    assert comparison.score == pytest.approx(sum(part.score for part in comparison.parts))
    for part in comparison.parts:
        if part.kind == "sketch":  # what is left over; small, or something else is amiss
            assert abs(part.score) < 0.5
        elif part.kind not in ("threshold", "known", "types", "spelling"):
            total = sum(detail.score for detail in part.details)
            assert total == pytest.approx(part.score, abs=1e-5)


def assert_explains(alignment, most=None, every=1):
    """Every n-th listed score is found anew, its parts add up to it; details of ``most`` pairs."""
    table = pl.concat(
        [each.select("left", "right", "score") for each in (alignment.candidates, alignment.links)]
    )
    table = table.unique(["left", "right"], maintain_order=True).gather_every(every)
    left, right = (
        graph.positions(table[side]).tolist()
        for graph, side in ((alignment.pair.left, "left"), (alignment.pair.right, "right"))
    )
    pairs, scores = list(zip(left, right, strict=True)), alignment._decomposition
    found = scores.compare(pairs)
    assert [comparison.listed for comparison in found] == table["score"].to_list()
    assert [comparison.score for comparison in found] == pytest.approx(
        table["score"].to_list(), abs=2e-4
    )
    chosen = np.random.default_rng(7).permutation(len(pairs))[:most].tolist()
    for place, comparison in zip(
        chosen, scores.compare([pairs[place] for place in chosen], details=True), strict=True
    ):
        assert comparison.score == pytest.approx(found[place].score, abs=1e-6)
        assert_adds_up(comparison)

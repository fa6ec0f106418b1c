"""Pairs of a pattern make so many links likely at most."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sameas.assignment.patterns import lowered_by_pattern, most_links

SCORES = st.lists(st.tuples(st.floats(-5, 40), st.integers(0, 2)), min_size=1, max_size=30)


@given(SCORES, st.lists(st.floats(0.01, 20), min_size=3, max_size=3))
def test_scores_are_lowered_alike_until_no_more_links_are_likely(pairs, most):
    scores, patterns = (np.array(side) for side in zip(*pairs, strict=True))
    most = np.array(most)
    lowered = lowered_by_pattern(scores, patterns, most)
    for pattern in range(3):
        here = patterns == pattern
        before, after = (1 / (1 + np.exp(-values[here])) for values in (scores, lowered))
        shift = lowered[here] - scores[here]
        assert np.ptp(shift) < 1e-9 if here.any() else True
        assert (shift <= 0).all()
        if before.sum() <= most[pattern]:
            assert (shift == 0).all()
        else:
            assert after.sum() == pytest.approx(most[pattern], rel=1e-6)


def test_three_deviations_are_allowed():
    assert most_links(np.array([0.0, 100.0])).tolist() == [3.0, 133.0]

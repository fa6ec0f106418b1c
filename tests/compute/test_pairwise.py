"""Values of pairs, in any blocks and tiles."""

from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from sameas.compute import pairwise
from sameas.compute.pairwise import NamedRows, values_of_partners
from sameas.compute.parallel import Threads, using
from sameas.compute.rows import as_rows
from sameas.similarity.matrix import products


class Narrow(Threads):
    """Threads that share so many bytes at once."""

    def __init__(self, room):
        self.room = room


def named_rows(rng, sizes):
    """Rows of small whole numbers, so that all sums are exact, for entities with so many rows."""
    rows = rng.integers(-2, 3, (sum(sizes), 4)).astype(np.float32)
    return NamedRows(as_rows(rows), np.append(0, np.cumsum(sizes)).astype(np.int64))


def slow_values(left, right, starts, partners):
    """One pair after the other."""
    ours, theirs = left.rows.toarray(), right.rows.toarray()
    values = []
    for i in range(len(left)):
        for j in partners[starts[i] : starts[i + 1]]:
            a, b = left.starts[i : i + 2], right.starts[j : j + 2]
            found = ours[a[0] : a[1]] @ theirs[b[0] : b[1]].T
            values.append(found.max() if found.size else 0)
    return np.array(values, dtype=np.float32)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32), st.data())
def test_values_are_those_of_each_pair_in_any_blocks_and_tiles(seed, data):
    rng = np.random.default_rng(seed)
    sizes = st.lists(st.integers(0, 3), max_size=6)
    left, right = (named_rows(rng, data.draw(sizes)) for _ in range(2))
    chosen = [np.flatnonzero(rng.random(len(right)) < 0.6) for _ in range(len(left))]
    starts = np.append(0, np.cumsum([len(row) for row in chosen])).astype(np.int64)
    partners = np.concatenate([*chosen, np.zeros(0, int)]).astype(np.int32)
    expected = slow_values(left, right, starts, partners)
    narrow = Narrow(data.draw(st.sampled_from([40, 150, 600, 10**9])))
    with using(narrow), patch.object(pairwise, "PAIRS", data.draw(st.integers(1, 20))):
        assert_array_equal(values_of_partners(products, left, right, starts, partners), expected)


def test_a_side_that_is_too_large_comes_in_tiles():
    side = named_rows(np.random.default_rng(0), [1] * 100)
    seen = []

    def work(block, left, right):
        seen.append((left.nbytes, right.nbytes))
        return products(block, left, right)

    starts, partners = np.arange(101) * 3, np.tile(np.array([0, 50, 99]), 100)
    room = side.nbytes // 2
    with using(Narrow(room)):
        found = values_of_partners(work, side, side, starts, partners)
    assert_array_equal(found, slow_values(side, side, starts, partners))
    assert len(seen) == 16
    assert max(ours + theirs for ours, theirs in seen) <= 1.1 * room

"""Profit in blocks against the product of the whole matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, random_array

from sameas import profit as module
from sameas.profit import make_profit, row_blocks
from sameas.rows import Rows, as_rows, unit


@st.composite
def sides(draw):
    """Left and right rows with the same columns: some filled often, some seldom, some never."""
    n, m, d, s = (draw(st.integers(low, 6)) for low in (1, 1, 0, 0))
    dense, sparse = st.sampled_from([-1, 0.5, 2]), st.sampled_from([0, 0, 0, 1, -2])
    return tuple(
        Rows(
            draw(hnp.arrays(np.float32, (size, d), elements=dense)),
            csr_array(draw(hnp.arrays(np.float32, (size, s), elements=sparse))),
        )
        for size in (n, m)
    )


def whole(left, right):
    return left.toarray().astype(np.float64) @ right.toarray().astype(np.float64).T


@pytest.mark.parametrize("busy", [0.0, 0.3, 2.0])
@settings(deadline=None, max_examples=40)
@given(drawn=sides())
def test_the_product_does_not_depend_on_which_columns_are_busy(busy, drawn):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BUSY", busy)
        profit = make_profit(*drawn)
    assert profit.shape == (len(drawn[0]), len(drawn[1]))
    assert_allclose(profit.toarray(), whole(*drawn), rtol=1e-5, atol=1e-5)


@settings(deadline=None, max_examples=40)
@given(sides(), st.integers(1, 60))
def test_many_blocks_equal_one(drawn, size):
    profit = make_profit(*drawn)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK_BYTES", size)
        blocks = list(profit.blocks())
    assert [rows.start for rows, _ in blocks[1:]] == [rows.stop for rows, _ in blocks[:-1]]
    assert_allclose(np.vstack([values for _, values in blocks]), profit.toarray(), atol=1e-6)


@settings(deadline=None, max_examples=40)
@given(sides(), st.data())
def test_given_pairs_equal_the_entries(drawn, data):
    profit = make_profit(*drawn)
    count = data.draw(st.integers(0, 8))
    left, right = (
        data.draw(hnp.arrays(np.int64, count, elements=st.integers(0, size - 1)))
        for size in profit.shape
    )
    assert_allclose(profit.of(left, right), whole(*drawn)[left, right], rtol=1e-5, atol=1e-5)


def test_a_split_of_busy_and_quiet_columns_at_its_real_threshold():
    rng = np.random.default_rng(4)
    filled = np.repeat([0.5, 0.01], [10, 300])
    left, right = (
        as_rows(csr_array((rng.random((n, 310)) < filled) * rng.random((n, 310))))
        for n in (150, 130)
    )
    profit = make_profit(left, right)
    assert profit.left.dense.shape[1] == 10
    assert 0 < profit.left.sparse.shape[1] < 300
    assert_allclose(profit.toarray(), whole(left, right), rtol=1e-4, atol=1e-5)


def test_unit_rows_give_cosines():
    left = as_rows(random_array((20, 30), density=0.2, format="csr", rng=np.random.default_rng(0)))
    values = make_profit(unit(left), unit(left)).toarray()
    assert (values <= 1 + 1e-6).all()
    assert_allclose(np.diag(values)[left.norms() > 0], 1, rtol=1e-5)


def test_sides_with_different_columns_are_refused():
    with pytest.raises(ValueError, match="same columns"):
        make_profit(as_rows(np.ones((2, 3))), as_rows(np.ones((2, 4))))


@pytest.mark.parametrize(("n", "m"), [(0, 3), (3, 0), (0, 0)])
def test_an_empty_side_gives_an_empty_matrix(n, m):
    for make in (lambda k: np.ones((k, 2)), lambda k: csr_array(np.ones((k, 2)))):
        assert make_profit(as_rows(make(n)), as_rows(make(m))).toarray().shape == (n, m)


def test_row_blocks_cover_every_row_once():
    slices = list(row_blocks((10, 3), 4 * 3 * 4))
    assert slices == [slice(0, 4), slice(4, 8), slice(8, 10)]
    assert list(row_blocks((2, 10**9), 1)) == [slice(0, 1), slice(1, 2)]
    assert list(row_blocks((0, 5), 100)) == []


def test_progress_reaches_the_end():
    told = []
    make_profit(as_rows(np.ones((3, 1))), as_rows(np.ones((2, 1)))).toarray(progress=told.append)
    assert told[-1] == 1

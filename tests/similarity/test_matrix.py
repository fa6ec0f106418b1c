"""Profit in blocks, pair by pair and beyond prices, against the product of the whole matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, random_array

from sameas.compute.rows import Rows, as_rows, unit
from sameas.similarity import matrix as module
from sameas.similarity.matrix import ROUNDING, DenseMatrix, make_profit, row_blocks

EMPTY = [(0, 3), (3, 0), (0, 0)]


@st.composite
def sides(draw, least=1):
    """Left and right rows with the same columns: some filled often, some seldom, some never."""
    n, m, d, s = (draw(st.integers(low, 6)) for low in (least, least, 0, 0))
    dense, sparse = st.sampled_from([-1, 0.5, 2]), st.sampled_from([0, 0, 0, 1, -2])
    return tuple(
        Rows(
            draw(hnp.arrays(np.float32, (size, d), elements=dense)),
            csr_array(draw(hnp.arrays(np.float32, (size, s), elements=sparse))),
        )
        for size in (n, m)
    )


def random_sides(seed, *, n=150, m=130, d=12, s=900):
    """Unit rows, dense and sparse, longer than the rows that profits are bounded with."""
    rng = np.random.default_rng(seed)
    return tuple(
        unit(
            Rows(
                0.3 * rng.standard_normal((size, d), dtype=np.float32),
                csr_array(random_array((size, s), density=0.03, format="csr", rng=rng)).astype(
                    np.float32
                ),
            )
        )
        for size in (n, m)
    )


def whole(left, right):
    return left.toarray().astype(np.float64) @ right.toarray().astype(np.float64).T


def every(shape):
    """The positions of all pairs, row by row."""
    left, right = np.indices(shape)
    return left.ravel(), right.ravel()


def kept_in_each_way(left, right):
    """The same profit computed where it is asked for, and stored."""
    profit = make_profit(left, right)
    return {
        "bounds": profit,
        "stored": DenseMatrix(profit.of(*every(profit.shape)).reshape(profit.shape)),
    }


@pytest.mark.parametrize("busy", [0.0, 0.3, 2.0])
@settings(deadline=None, max_examples=20)
@given(drawn=sides())
def test_the_product_does_not_depend_on_which_columns_are_busy(busy, drawn):
    profit = make_profit(*drawn)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BUSY", busy)
        matrix = profit.toarray()
    assert profit.shape == matrix.shape == (len(drawn[0]), len(drawn[1]))
    assert_allclose(matrix, whole(*drawn), rtol=1e-5, atol=1e-5)


@settings(deadline=None, max_examples=30)
@given(sides(), st.integers(1, 60))
def test_many_blocks_equal_one(drawn, size):
    profit = make_profit(*drawn)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK_BYTES", size)
        matrix = profit.toarray()
    assert_allclose(matrix, profit.toarray(), atol=1e-6)


@settings(deadline=None, max_examples=30)
@given(sides(), st.data())
def test_given_pairs_equal_the_entries(drawn, data):
    profit = make_profit(*drawn)
    count = data.draw(st.integers(0, 8))
    left, right = (
        data.draw(hnp.arrays(np.int64, count, elements=st.integers(0, size - 1)))
        for size in profit.shape
    )
    expected = whole(*drawn)[left, right]
    assert_allclose(profit.of(left, right), expected, rtol=1e-6, atol=1e-6)
    stored = DenseMatrix(whole(*drawn).astype(np.float32))
    assert_allclose(stored.of(left, right), expected, rtol=1e-6, atol=1e-6)


@settings(deadline=None, max_examples=30)
@given(sides(), st.data())
def test_partners_are_given_by_left_entity(drawn, data):
    profit = make_profit(*drawn)
    n, m = profit.shape
    lists = [data.draw(st.lists(st.integers(0, m - 1), max_size=4)) for _ in range(n)]
    starts = np.concatenate([[0], np.cumsum([len(some) for some in lists])]).astype(np.int64)
    right = np.array([j for some in lists for j in some], dtype=np.int32)
    left = np.repeat(np.arange(n), np.diff(starts))
    told, tile = [], data.draw(st.sampled_from([1, 16, 2**20]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sameas.similarity.matrix.TILE_BYTES", tile)
        values = profit.partners(starts, right, told.append)
    assert_allclose(values, whole(*drawn)[left, right], rtol=1e-6, atol=1e-6)
    assert all(0 <= share <= 1 for share in told)
    assert not len(right) or max(told) == 1


def test_the_profit_of_a_pair_is_the_same_to_the_digit_wherever_it_is_asked_for():
    left, right = random_sides(1)
    profit = make_profit(left, right)
    pairs = every(profit.shape)
    all_at_once = profit.of(*pairs)
    assert_allclose(all_at_once, whole(left, right).ravel(), rtol=1e-6, atol=1e-7)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(all_at_once))[:5000]
    assert_array_equal(profit.of(pairs[0][order], pairs[1][order]), all_at_once[order])
    some, few = np.array([7, 3, 140]), np.array([129, 0])
    part = make_profit(left.take(some), right.take(few))
    matrix = all_at_once.reshape(profit.shape)
    assert_array_equal(part.of(*every((3, 2))), matrix[np.ix_(some, few)].ravel())


def test_a_split_of_busy_and_quiet_columns_at_its_real_threshold():
    rng = np.random.default_rng(4)
    filled = np.repeat([0.5, 0.01], [10, 300])
    left, right = (
        as_rows(csr_array((rng.random((n, 310)) < filled) * rng.random((n, 310))))
        for n in (150, 130)
    )
    profit = make_profit(left, right)
    split, _ = module._split(left, right)
    assert split.dense.shape[1] == 10
    assert 0 < split.sparse.shape[1] < 300
    assert_allclose(profit.toarray(), whole(left, right), rtol=1e-4, atol=1e-5)


def test_unit_rows_give_cosines():
    left = as_rows(random_array((20, 30), density=0.2, format="csr", rng=np.random.default_rng(0)))
    profit = make_profit(unit(left), unit(left))
    values = profit.toarray()
    assert (values <= 1 + 1e-6).all()
    assert profit.ceiling == pytest.approx(1)
    assert_allclose(np.diag(values)[left.norms() > 0], 1, rtol=1e-5)


@settings(deadline=None, max_examples=30)
@given(sides())
def test_no_profit_exceeds_the_ceiling_in_size(drawn):
    most = np.abs(whole(*drawn)).max()
    for profit in kept_in_each_way(*drawn).values():
        assert profit.ceiling >= most * (1 - 1e-6)


# --- Beyond prices ----------------------------------------------------------------------------


def assert_all_above(profit, exact, left, right):
    """Every pair beyond its prices is found, and none that is clearly not."""
    found = np.zeros(profit.shape, dtype=np.int64)
    last = 0
    for rows, some, partners in profit.exceeding_prices(left, right):
        assert rows.start == last
        last = rows.stop
        assert ((rows.start <= some) & (some < rows.stop)).all()
        np.add.at(found, (some, partners), 1)
    assert last == profit.shape[0]
    assert found.max(initial=0) <= 1
    over = exact - left[:, None] - right
    assert (found[over > 0] == 1).all()
    scale = np.abs(exact).max(initial=0.0) + profit.ceiling
    scale += np.abs(left).max(initial=0.0) + np.abs(right).max(initial=0.0)
    assert (over[found == 1] > -3 * ROUNDING * scale).all()


def as_asked(profit):
    """The profits to the digit that ``of`` gives them."""
    return profit.of(*every(profit.shape)).reshape(profit.shape).astype(np.float64)


@pytest.mark.parametrize("way", ["bounds", "stored"])
@settings(deadline=None, max_examples=30)
@given(drawn=sides(least=0), columns=st.integers(0, 8), size=st.integers(1, 200), data=st.data())
def test_every_pair_beyond_its_prices_is_found(way, drawn, columns, size, data):
    # Prices that single precision cannot tell from zero are zero.
    price = st.floats(-9, 9).map(lambda drawn: drawn if abs(drawn) > 1e-30 else 0.0)
    prices = [data.draw(hnp.arrays(np.float64, len(side), elements=price)) for side in drawn]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BOUND_COLUMNS", columns)
        patch.setattr(module, "BLOCK_BYTES", size)
        profit = kept_in_each_way(*drawn)[way]
        assert_all_above(profit, as_asked(profit), *prices)


@pytest.mark.parametrize("way", ["bounds", "stored"])
@pytest.mark.parametrize("quantile", [0.5, 0.95, 1.0])
def test_every_pair_beyond_its_prices_is_found_among_many(way, quantile):
    """Prices of which many pairs are within rounding, as they are in a solved market."""
    profit = kept_in_each_way(*random_sides(2))[way]
    exact = as_asked(profit)
    rng = np.random.default_rng(5)
    right = rng.uniform(0, 0.1, profit.shape[1])
    left = np.quantile(exact - right, quantile, axis=1)
    for nudge in (0.0, 1e-9, -1e-9, 1e-7, -1e-7, 1e-5, -1e-5):
        assert_all_above(profit, exact, left + nudge, right)


def test_bounds_spare_the_look_at_most_pairs(monkeypatch):
    """Where rows have a common core, few pairs remain to be computed one by one."""
    rng = np.random.default_rng(6)
    core, noise = rng.standard_normal((40, 900)), 0.02
    left, right = (
        unit(as_rows(csr_array(core[rng.integers(0, 40, n)] + noise * rng.standard_normal(900))))
        for n in (300, 200)
    )
    profit = make_profit(left, right)
    exact = as_asked(profit)
    looked = []
    of = type(profit).of

    def counted(self, left, right):
        looked.append(len(left))
        return of(self, left, right)

    monkeypatch.setattr(type(profit), "of", counted)
    assert_all_above(profit, exact, np.full(300, 0.9), np.zeros(200))
    assert sum(looked) < 0.1 * exact.size


# --- Edges ------------------------------------------------------------------------------------


def test_sides_with_different_columns_are_refused():
    with pytest.raises(ValueError, match="same columns"):
        make_profit(as_rows(np.ones((2, 3))), as_rows(np.ones((2, 4))))
    with pytest.raises(ValueError, match="same columns"):
        make_profit(as_rows(np.ones((2, 3))), as_rows(csr_array(np.ones((2, 3)))))


@pytest.mark.parametrize(("n", "m"), EMPTY)
@pytest.mark.parametrize("make", [np.asarray, csr_array])
@pytest.mark.parametrize("width", [2, 1000])
def test_an_empty_side_has_no_profits(n, m, make, width):
    ways = kept_in_each_way(*(as_rows(make(np.ones((k, width)))) for k in (n, m)))
    assert ways["bounds"].toarray().shape == (n, m)
    none = np.empty(0, dtype=np.int64)
    for profit in ways.values():
        assert profit.shape == (n, m)
        assert profit.of(none, none).shape == (0,)
        found = list(profit.exceeding_prices(np.full(n, -9.0), np.full(m, -9.0)))
        assert sum(len(some) + len(partners) for _, some, partners in found) == 0
        assert np.isfinite(profit.ceiling)


def test_row_blocks_cover_every_row_once():
    slices = list(row_blocks((10, 3), 4 * 3 * 4))
    assert slices == [slice(0, 4), slice(4, 8), slice(8, 10)]
    assert list(row_blocks((2, 10**9), 1)) == [slice(0, 1), slice(1, 2)]
    assert list(row_blocks((0, 5), 100)) == []


def test_progress_reaches_the_end():
    told = []
    make_profit(as_rows(np.ones((3, 1))), as_rows(np.ones((2, 1)))).toarray(progress=told.append)
    assert told[-1] == 1

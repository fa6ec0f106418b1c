"""Short rows: what their products promise about the products of the long ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, random_array

from sameas.compute.projection import compress, multiply, times
from sameas.compute.rows import Rows, as_rows, unit
from sameas.options.tuning import TUNING

ROUNDING = 1e-5


def random_rows(rng, n, dense, sparse, *, density=0.05):
    """Unit rows, a few of them zero."""
    values = csr_array(random_array((n, sparse), density=density, format="csr", rng=rng))
    rows = Rows(0.2 * rng.standard_normal((n, dense), dtype=np.float32), values.astype(np.float32))
    return unit(rows.scaled((rng.random(n) > 0.05).astype(np.float32)))


def clustered_rows(rng, sizes, *, width=500, clusters=30, noise=0.3, dense=0):
    """Unit rows around common centres, which principal directions can find."""
    centres = rng.standard_normal((clusters, width))
    sides = []
    for size in sizes:
        values = centres[rng.integers(0, clusters, size)]
        values = (values + noise * rng.standard_normal(values.shape)).astype(np.float32)
        sides.append(unit(Rows(values[:, :dense], csr_array(values[:, dense:]))))
    return sides


def exact(left, right):
    return left.toarray().astype(np.float64) @ right.toarray().astype(np.float64).T


def bounds(short):
    """What no product exceeds, by Cauchy and Schwarz."""
    left, right = (
        side[:, : short.principal].astype(np.float64) for side in (short.left, short.right)
    )
    rests = np.outer(short.left_rest.astype(np.float64), short.right_rest)
    return left @ right.T, rests


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 2**32),
    n=st.integers(0, 40),
    m=st.integers(0, 40),
    dense=st.integers(0, 6),
    sparse=st.integers(0, 80),
    principal=st.integers(0, 24),
    random=st.integers(0, 12),
    spare=st.integers(0, 2),
)
def test_the_rests_bound_the_error(seed, n, m, dense, sparse, principal, random, spare):
    """Also with fewer rows than directions, rows of zeros, and no rows at all."""
    rng = np.random.default_rng(seed)
    left, right = (random_rows(rng, size, dense, sparse) for size in (n, m))
    short = compress(left, right, principal=principal, random=random, spare=spare)
    width = min(principal + random, dense + sparse)
    assert short.left.shape == (n, width + spare)
    assert short.right.shape == (m, width + spare)
    assert short.left.dtype == short.right.dtype == short.left_rest.dtype == np.float32
    product, rests = bounds(short)
    assert (np.abs(exact(left, right) - product) <= rests + ROUNDING).all()
    assert_no_more_than_there_was(short, left, right)


@pytest.mark.parametrize("noise", [1.0, 0.1, 1e-3, 1e-5, 0.0])
@pytest.mark.parametrize("principal", [8, 64, 384])
def test_the_rests_bound_the_error_of_rows_that_are_nearly_alike(noise, principal):
    """Directions beyond the rows' own are made of rounding errors, and must do no harm."""
    rng = np.random.default_rng(3)
    left, right = clustered_rows(rng, (120, 90), clusters=3, noise=noise, dense=5)
    short = compress(left, right, principal=principal, random=0)
    product, rests = bounds(short)
    assert (np.abs(exact(left, right) - product) <= rests + ROUNDING).all()
    assert_no_more_than_there_was(short, left, right)


def assert_no_more_than_there_was(short, left, right):
    """The principal columns are at most as long as the rows: directions are orthonormal."""
    for rows, values, rest in (
        (left, short.left, short.left_rest),
        (right, short.right, short.right_rest),
    ):
        assert np.isfinite(values).all()
        energy = (values[:, : short.principal].astype(np.float64) ** 2).sum(axis=1)
        assert (energy <= rows.norms() ** 2 + ROUNDING).all()
        assert_allclose(energy + rest.astype(np.float64) ** 2, rows.norms() ** 2, atol=ROUNDING)


def test_short_rows_stay_as_they_are():
    rng = np.random.default_rng(1)
    left, right = (random_rows(rng, size, 4, 20, density=0.3) for size in (15, 12))
    short = compress(left, right, principal=16, random=8, spare=2)
    assert short.principal == 24
    assert_array_equal(short.left[:, :24], left.toarray())
    assert_array_equal(short.right[:, :24], right.toarray())
    assert not short.left_rest.any()
    assert not short.right_rest.any()


@pytest.mark.parametrize("width", [20, 300])
@pytest.mark.parametrize("spare", [0, 1, 3])
def test_spare_columns_are_zero_and_change_nothing(width, spare):
    rng = np.random.default_rng(2)
    left, right = (random_rows(rng, size, 3, width) for size in (30, 25))
    plain = compress(left, right, principal=20, random=10)
    short = compress(left, right, principal=20, random=10, spare=spare)
    columns = plain.left.shape[1]
    for with_spare, without in ((short.left, plain.left), (short.right, plain.right)):
        assert with_spare.shape[1] == columns + spare
        assert with_spare.flags.c_contiguous
        assert not with_spare[:, columns:].any()
        assert_array_equal(with_spare[:, :columns], without)


def test_the_same_rows_give_the_same_short_ones():
    one, other = (
        compress(
            *clustered_rows(np.random.default_rng(4), (200, 150), dense=20),
            principal=30,
            random=20,
        )
        for _ in range(2)
    )
    for name in ("left", "right", "left_rest", "right_rest"):
        assert_array_equal(getattr(one, name), getattr(other, name))


def test_many_rows_are_learnt_from_a_sample_of_them():
    tuning = replace(TUNING.search, projection_sample=60)
    left, right = clustered_rows(np.random.default_rng(5), (400, 300), clusters=6, noise=0.05)
    short = compress(left, right, principal=16, random=0, tuning=tuning)
    product, rests = bounds(short)
    assert (np.abs(exact(left, right) - product) <= rests + ROUNDING).all()


def test_random_columns_keep_what_principal_ones_leave_out():
    """Signs give the product of the rests without bias, the better the more there are."""
    left, right = clustered_rows(np.random.default_rng(6), (150, 120), noise=1.0, width=900)
    product = exact(left, right)
    errors = []
    for random in (8, 64, 512):
        short = compress(left, right, principal=16, random=random)
        error = short.left.astype(np.float64) @ short.right.T - product
        errors.append(np.sqrt((error**2).mean()))
        assert abs(error.mean()) < 0.1 * np.abs(error).mean() + 1e-3
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.05


@pytest.mark.parametrize(("principal", "decay"), [(8, 0.8), (40, 0.95)])
def test_principal_columns_hold_nearly_as_much_as_any_could(principal, decay):
    """Rows in which each direction weighs less than the one before it."""
    rng = np.random.default_rng(7)
    turn = np.linalg.qr(rng.standard_normal((300, 300)))[0] * decay ** np.arange(300)
    left, right = (
        unit(as_rows(csr_array(rng.standard_normal((size, 300)) @ turn.T))) for size in (300, 200)
    )
    short = compress(left, right, principal=principal, random=0)
    rows = np.vstack([left.toarray(), right.toarray()]).astype(np.float64)
    least = (np.linalg.svd(rows, compute_uv=False)[principal:] ** 2).sum()
    rests = np.concatenate([short.left_rest, short.right_rest]).astype(np.float64)
    assert (rests**2).sum() < 1.1 * least


@pytest.mark.parametrize("spare", [0, 2])
@pytest.mark.parametrize(("dense", "sparse"), [(3, 0), (0, 7), (3, 7)])
def test_rows_times_a_matrix_in_parts(dense, sparse, spare):
    rng = np.random.default_rng(8)
    rows = random_rows(rng, 4500, dense, sparse, density=0.4)
    matrix = rng.standard_normal((dense + sparse, 5), dtype=np.float32)
    product = times(rows, matrix, spare)
    assert_allclose(product[:, :5], rows.toarray() @ matrix, atol=1e-5)
    assert not product[:, 5:].any()
    assert product.shape == (4500, 5 + spare)


@pytest.mark.parametrize(("n", "m"), [(0, 4), (4, 0), (0, 0)])
def test_an_empty_side_is_compressed_to_an_empty_side(n, m):
    short = compress(
        *(as_rows(csr_array(np.ones((size, 300)))) for size in (n, m)), principal=8, random=4
    )
    assert short.left.shape == (n, 12)
    assert short.right.shape == (m, 12)
    assert len(short.left_rest) == n
    assert len(short.right_rest) == m


@pytest.mark.parametrize("dense", [0, 3])
@pytest.mark.parametrize("width", [1, 17, 70])
def test_rows_times_a_matrix_are_what_scipy_gives(dense, width):
    rng = np.random.default_rng(width)
    sparse = csr_array(rng.integers(-1, 2, (40, 30)) * rng.random((40, 30)), dtype=np.float32)
    rows = Rows(rng.random((40, dense), dtype=np.float32), sparse)
    matrix = rng.standard_normal((dense + 30, width), dtype=np.float32)
    found = multiply(rows, matrix)
    assert_allclose(found, rows.toarray() @ matrix, rtol=1e-4, atol=1e-5)
    if not dense:
        assert_array_equal(found, sparse @ matrix)

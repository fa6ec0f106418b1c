"""Dense work on a device of JAX (its CPU backend) equals that of this processor."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import sameas
from sameas.assignment.ranking import ranked, ranks_of
from sameas.assignment.sinkhorn import sinkhorn
from sameas.compute import device as devices
from sameas.compute.device import device_in_use, using_device
from sameas.compute.rows import as_rows
from sameas.compute.topk import top_k_dense
from sameas.similarity.matrix import make_profit

jax = pytest.importorskip("jax")
on_device = pytest.importorskip("sameas.compute.on_device")
CPU = jax.devices("cpu")[0]


@pytest.fixture(params=["roomy", "small"])
def room(request, monkeypatch):
    """A device with room for everything, and one on which nothing can stay."""
    if request.param == "small":
        monkeypatch.setattr(on_device, "DEFAULT_ROOM", 20_000)
        monkeypatch.setattr(on_device, "TILE_ROWS", 16)


def with_ties(n, m, seed=0):
    """Values that float32 holds exactly, many of them equal."""
    return np.random.default_rng(seed).integers(0, 6, (n, m)).astype(np.float32) / 8


@pytest.mark.parametrize(("n", "m"), [(60, 45), (33, 70)])
def test_the_nearest_are_the_same_with_ties_by_position(n, m, room):
    left, right = (as_rows(with_ties(size, 5, seed)) for seed, size in enumerate((n, m)))
    nearest = partial(top_k_dense, left, right, 7, first=3, progress=lambda share: None)
    with using_device(CPU):
        found = nearest()
    assert_array_equal(found, nearest())


def test_profits_are_the_same_but_for_rounding():
    rng = np.random.default_rng(1)
    left, right = (as_rows(rng.random((size, 20), dtype=np.float32)) for size in (40, 30))
    with using_device(CPU):
        found = make_profit(left, right).toarray()
    assert_allclose(found, left.dense @ right.dense.T, rtol=1e-6)


@pytest.mark.parametrize(("n", "m"), [(60, 45), (45, 60)])
@pytest.mark.parametrize("temperature", [0.01, 1.0])
def test_plans_are_the_same_but_for_rounding(n, m, temperature, room):
    make = partial(sinkhorn, with_ties(n, m), temperature=temperature, iterations=5)
    with using_device(CPU):
        found = make()
    expected = make()
    for name in ("left", "right", "left_mass", "right_mass"):
        assert_allclose(getattr(found, name), getattr(expected, name), atol=3e-6)
    assert_allclose(found.deviation, expected.deviation, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("has_partners", [False, True])
@pytest.mark.parametrize("k", [1, 5, 90])
def test_ranks_are_the_same_to_the_digit(k, has_partners, room):
    matrix, rng = with_ties(50, 40), np.random.default_rng(2)
    prices = rng.integers(0, 3, 40) / 8
    partner = np.append(rng.permutation(40), np.full(10, -1)) if has_partners else None
    left, right = rng.integers(0, 50, 130), rng.integers(0, 40, 130)
    with using_device(CPU):
        found = ranked(matrix, prices, k, partner=partner)
        asked = ranks_of(matrix, prices, left, right, partner=partner)
    expected = ranked(matrix, prices, k, partner=partner)
    for name in ("left", "right", "rank", "values"):
        assert_array_equal(getattr(found, name), getattr(expected, name))
    assert_array_equal(asked, ranks_of(matrix, prices, left, right, partner=partner))


@pytest.mark.parametrize("preset", ["paper", "best"])
def test_a_run_finds_the_same_links(small, preset):
    here, there = (sameas.align(small, preset=preset, device=each) for each in ("cpu", CPU))
    assert device_in_use() is None
    assert here.links.select("left", "right").equals(there.links.select("left", "right"))
    assert_allclose(here.links["score"], there.links["score"], rtol=1e-5, atol=1e-5)
    assert_allclose(here.links["confidence"], there.links["confidence"], rtol=1e-3, atol=1e-4)


# --- where there is none


@pytest.mark.skipif(jax.devices()[0].platform != "cpu", reason="there is a GPU")
def test_where_there_is_no_gpu_the_remedy_is_named(small):
    with pytest.raises(sameas.OptionError, match=r"neither a GPU nor a TPU.*pip install"):
        sameas.align(small, device="gpu")


def test_a_device_that_cannot_be_used_is_an_error_of_the_user(monkeypatch):
    def fail():
        raise RuntimeError("Unable to initialize backend 'cuda'\nmore")

    monkeypatch.setattr(jax, "devices", fail)
    with pytest.raises(sameas.OptionError, match=r"initialize backend 'cuda'.*pip install"):
        devices._device_at("gpu")


def test_without_jax_the_extra_is_named(monkeypatch):
    def fail(name):
        raise ImportError(name)

    monkeypatch.setattr("importlib.import_module", fail)
    with pytest.raises(sameas.OptionError, match=r"sameas\[gpu\]"):
        devices._device_at("gpu")


def test_other_devices_are_refused(small):
    with pytest.raises(sameas.OptionError, match="`device` must be cpu, gpu or a device of JAX"):
        sameas.align(small, device="abacus")
    with pytest.raises(sameas.OptionError, match="`device` gpu has no effect"):
        sameas.Where(engine="dask", device="gpu")
    with pytest.raises(sameas.OptionError, match="`device` has no effect"):
        sameas.align(small, method="paris", device=CPU)

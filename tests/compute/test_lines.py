"""Pairs by row, against pairs as numbers."""

import numpy as np
import pytest

import sameas.compute.lines
from sameas.compute.lines import lines_of, union_of


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("part", [3, 1000])
def test_a_union_is_that_of_the_numbers_whatever_the_parts(seed, part, monkeypatch):
    monkeypatch.setattr(sameas.compute.lines, "PART", part)
    rng = np.random.default_rng(seed)
    shape = 20, 11
    numbers = [np.unique(rng.integers(0, 220, count)) for count in (0, 30, 90)]
    found = union_of([lines_of(each, shape) for each in numbers], shape[1])
    expected = np.unique(np.concatenate(numbers))
    assert found.numbers(shape[1]).tolist() == expected.tolist()
    assert found.columns.dtype == np.int32
    assert np.diff(found.starts).tolist() == np.bincount(expected // 11, minlength=20).tolist()


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_there_may_be_no_rows_or_no_columns(shape):
    nothing = lines_of(np.zeros(0, dtype=np.int64), shape)
    found = union_of([nothing, nothing], shape[1])
    assert len(found.starts) == shape[0] + 1
    assert not len(found.columns)

"""A few hundred damaged inputs for every reader; tests/fuzz.py reads as many as are asked for."""

from __future__ import annotations

import pytest

from fuzz import fuzz


@pytest.mark.parametrize("seed", [1, 2])
def test_damaged_input_ends_in_our_own_errors(tmp_path, seed):
    found = fuzz(200, seed, tmp_path)
    assert not found["faults"], "\n".join(found["first_faults"])
    assert found["read"]
    assert found["refused"]

"""A part of the attempts to break the command line; ``python -m tests.hostile`` makes all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import sameas
from hostile.fuzz import fuzz

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(sys.platform != "linux", reason="needs fork, limits and /proc")
def test_a_sample_of_all_attempts_is_held():
    # Not forked from here: Polars has threads by now.
    result = subprocess.run(
        [sys.executable, "-m", "tests.hostile", "--sample", "0.002"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(Path(sameas.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "| all |" in result.stdout


@pytest.mark.parametrize("seed", [1, 2])
def test_damaged_input_ends_in_our_own_errors(tmp_path, seed):
    found = fuzz(120, seed, tmp_path)
    assert not found["faults"], "\n".join(found["first_faults"])
    assert found["read"]
    assert found["refused"]

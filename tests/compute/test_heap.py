"""Freed memory goes back to the system."""

import sys
from pathlib import Path

import numpy as np
import pytest

from sameas.compute import heap
from sameas.compute.heap import release_freed_memory


def resident():
    with Path("/proc/self/statm").open() as file:
        return int(file.read().split()[1]) * 4096


@pytest.mark.skipif(sys.platform != "linux", reason="glibc")
def test_what_small_arrays_took_is_given_back(monkeypatch):
    monkeypatch.setattr(heap, "SMALL", 0)
    release_freed_memory()
    held = [np.ones(1000) for _ in range(40_000)]  # too small to be mapped one by one
    last = np.ones(1000)  # keeps the heap from shrinking by itself
    before = resident()
    held.clear()
    release_freed_memory()
    assert resident() < before - 200 * 2**20
    assert last.sum() == 1000


@pytest.mark.parametrize(("small", "asked"), [(0, 1), (sys.maxsize, 0)])
def test_only_a_small_process_keeps_what_is_free(monkeypatch, small, asked):
    calls = []
    monkeypatch.setattr(heap, "SMALL", small)
    monkeypatch.setattr(heap, "_trim", lambda: calls.append)
    release_freed_memory()
    assert len(calls) == asked


def test_a_system_that_tells_no_size_counts_as_large(monkeypatch):
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: "")
    assert heap._resident_bytes() > heap.SMALL


def test_another_system_is_left_alone(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    heap._trim.cache_clear()
    release_freed_memory()
    heap._trim.cache_clear()

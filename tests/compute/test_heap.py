"""Freed memory goes back to the system."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sameas.compute import heap
from sameas.compute.heap import (
    keep_freed_memory,
    keep_large_arrays_apart,
    release_freed_memory,
)


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
    monkeypatch.setattr(heap, "_glibc", lambda name: calls.append)
    release_freed_memory()
    assert len(calls) == asked


def test_a_system_that_tells_no_size_counts_as_large(monkeypatch):
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: "")
    assert heap._resident_bytes() > heap.SMALL


ALTERNATING = """
from pathlib import Path
import numpy as np
from sameas.compute.heap import LARGE, keep_large_arrays_apart
keep_large_arrays_apart()
np.ones(2**22)  # 32 MiB: freeing it would raise the limit
held = [(np.ones(LARGE // 8), np.ones(100)) for _ in range(200)]
small = [each for _, each in held]
resident = lambda: int(Path("/proc/self/statm").read_text().split()[1]) * 4096
before = resident()
held.clear()
print((before - resident()) // LARGE)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc")
def test_large_arrays_go_back_at_once_whatever_lies_between_them():
    """In a process whose heap has no gaps yet, into which they would fit."""
    line = [sys.executable, "-c", ALTERNATING]
    done = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=True)
    assert int(done.stdout) > 150


ONE_HEAP = """
import threading
from pathlib import Path
import numpy as np
from sameas.compute.heap import keep_freed_memory
keep_freed_memory()
resident = lambda: int(Path("/proc/self/statm").read_text().split()[1]) * 4096
blocks = lambda: [np.ones(2**16) for _ in range(200)]  # 100 MiB, each in the heap
held = blocks()
del held
thread = threading.Thread(target=blocks)
before = resident()
thread.start()
thread.join()
print((resident() - before) // 2**20)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc")
def test_what_one_thread_has_freed_another_gets_without_asking_the_system():
    done = subprocess.run(
        [sys.executable, "-c", ONE_HEAP],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert int(done.stdout) < 5


def test_another_system_is_left_alone(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    heap._glibc.cache_clear()
    release_freed_memory()
    keep_freed_memory()
    keep_large_arrays_apart()
    heap._glibc.cache_clear()

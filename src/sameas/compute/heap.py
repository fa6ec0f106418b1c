"""Freed memory goes back to the system.

Allocators keep what was freed, to give it out again. After a phase with large arrays that can be
more than the next phase needs in all, so that the peak of a run would be that of two phases. Small
runs keep it: to take it from the system anew costs a twentieth of their time.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

SMALL = 512 * 2**20
"""Bytes in memory up to which a process is small; Python and libraries take half of it."""

LARGE = 2**20
"""Bytes from which on an array has pages of its own, where these are asked for."""
LARGEST, AT_THE_END = 2**25, 2**28
"""The same where freed memory is kept, which is the most that glibc takes; and how many bytes that
are free at the end of the heap it keeps then."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""What glibc calls these limits, and the number of its heaps."""


def release_freed_memory() -> None:
    """Give back what the C library's allocator has free; nothing where it cannot be asked to.

    A process that is small keeps it.
    """
    if _resident_bytes() > SMALL:
        _glibc("malloc_trim")(0)


def _resident_bytes() -> int:
    """What this process has in memory now; where the system does not tell, it is never small."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return sys.maxsize


def keep_freed_memory() -> None:
    """From now on, all threads allocate from one heap, which is cut only if much is free.

    Each thread has its own otherwise, so that what one has freed another takes from the system
    anew: a run of DBP15K zh-en takes a tenth less time and a tenth less memory so (measured).
    To be called before there are threads.
    """
    limits = {_ARENA_MAX: 1, _TRIM_THRESHOLD: AT_THE_END, _MMAP_THRESHOLD: LARGEST}
    for limit, value in limits.items():
        _glibc("mallopt")(limit, value)


def keep_large_arrays_apart(least: int = LARGE) -> None:
    """From now on, large arrays have pages of their own, which go back as soon as they are freed.

    ``least`` is how many bytes a large one has.

    glibc raises the limit by itself, to 32 MiB, once a large array was freed. What many threads
    then allocate in between keeps freed arrays from going back: the client of a cluster took
    nearly twice what was alive in it (measured). New pages cost some processor time.
    """
    _glibc("mallopt")(_MMAP_THRESHOLD, least)
    _glibc("mallopt")(_TRIM_THRESHOLD, least)


@lru_cache
def _glibc(name: str) -> Callable[..., int]:
    """A function of glibc, or what does nothing."""
    if sys.platform == "linux":
        try:
            function: Callable[..., int] = getattr(ctypes.CDLL(None), name)
            return function
        except (OSError, AttributeError):  # another C library
            pass
    return lambda *given: 0

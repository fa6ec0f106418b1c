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


def release_freed_memory() -> None:
    """Give back what the C library's allocator has free; nothing where it cannot be asked to.

    A process that is small keeps it.
    """
    if _resident_bytes() > SMALL:
        _trim()(0)


def _resident_bytes() -> int:
    """What this process has in memory now; where the system does not tell, it is never small."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return sys.maxsize


@lru_cache(maxsize=1)
def _trim() -> Callable[[int], int]:
    """glibc's ``malloc_trim``, or what does nothing."""
    if sys.platform == "linux":
        try:
            trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
            return trim
        except (OSError, AttributeError):  # another C library
            pass
    return lambda pad: 0

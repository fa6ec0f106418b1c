"""Freed memory goes back to the system.

Allocators keep what was freed, to give it out again. After a phase with large arrays that can be
more than the next phase needs in all, so that the peak of a run would be that of two phases.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import lru_cache


def release_freed_memory() -> None:
    """Give back what the C library's allocator has free; nothing where it cannot be asked to."""
    _trim()(0)


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

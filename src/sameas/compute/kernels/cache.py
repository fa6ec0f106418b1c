"""Compile Numba kernels when they are first used, and cache them on disk."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar, cast

from numba import njit
from numba.core.caching import FunctionCache

log = logging.getLogger(__name__)
Array = Any
"""A NumPy array; Numba infers the rest."""
Kernel = TypeVar("Kernel", bound=Callable[..., Any])
_NumbaCache: Any = FunctionCache


class _Cache(_NumbaCache):  # type: ignore[misc]
    """Numba's cache; one that is damaged, or on a full disk, is as good as none."""

    def load_overload(self, *call: Any) -> Any:
        try:
            return super().load_overload(*call)
        except Exception:  # pickled, so that damage can raise nearly anything
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, *call: Any) -> None:
        with suppress(Exception):
            super().save_overload(*call)


def kernel(function: Kernel, *, summing: bool = False) -> Kernel:
    """The function, compiled; for fast ``summing``, sums may be taken in another order."""
    fast = {"reassoc", "contract", "nsz"} if summing else set()
    compiled: Any = njit(nogil=True, fastmath=fast)(function)
    try:
        compiled._cache = _Cache(function)
    except RuntimeError:  # no folder for it can be written
        _note_no_cache()
    return cast(Kernel, compiled)


@cache
def _note_no_cache() -> None:
    log.warning("no folder for compiled code can be written; set NUMBA_CACHE_DIR to start faster")

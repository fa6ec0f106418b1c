"""Compile Numba kernels when they are first used, and cache them on disk.

The annotations of a kernel say what it is compiled for. In kernels there are neither slices of
arrays nor arrays made by NumPy's functions: each such expression costs a fraction of a second of
compilation. Callers bring the room that a kernel needs.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Annotated, Any, TypeAlias, TypeVar, cast, get_type_hints

from numba import njit, types
from numba.core.caching import FunctionCache

log = logging.getLogger(__name__)
# Arrays as Numba sees them; mypy takes them for anything.
Int64s: TypeAlias = Annotated[Any, types.int64[::1]]
Int32s: TypeAlias = Annotated[Any, types.int32[::1]]
Float64s: TypeAlias = Annotated[Any, types.float64[::1]]
Float32s: TypeAlias = Annotated[Any, types.float32[::1]]
Booleans: TypeAlias = Annotated[Any, types.boolean[::1]]
Int64Rows: TypeAlias = Annotated[Any, types.int64[:, ::1]]
Int32Rows: TypeAlias = Annotated[Any, types.int32[:, ::1]]
Float64Rows: TypeAlias = Annotated[Any, types.float64[:, ::1]]
Float32Rows: TypeAlias = Annotated[Any, types.float32[:, ::1]]
Float32Columns: TypeAlias = Annotated[Any, types.float32[:, :]]
"""Some columns of rows."""
Float32Cube: TypeAlias = Annotated[Any, types.float32[:, :, ::1]]
Int8Cube: TypeAlias = Annotated[Any, types.int8[:, :, ::1]]
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
    compiled: Any = _compiled(function, fastmath=fast)
    try:
        compiled._cache = _Cache(function)
    except RuntimeError:  # no folder for it can be written
        _note_no_cache()
    return cast(Kernel, compiled)


def part_of_kernel(function: Kernel) -> Kernel:
    """A function that only kernels call; it becomes part of what is compiled for them."""
    return cast(Kernel, _compiled(function, no_cpython_wrapper=True))


def _compiled(function: Kernel, **more: Any) -> Any:
    make: Any = njit
    return make(nogil=True, error_model="numpy", no_cfunc_wrapper=True, **more)(function)


def compile_kernel(compiled: Any) -> None:
    """Load the kernel from the cache, or compile it, for the types of its annotations."""
    hints = get_type_hints(compiled.py_func, include_extras=True)
    hints.pop("return", None)
    compiled.compile(tuple(map(_type, hints.values())))


def is_cached(compiled: Any) -> bool:
    """Whether the kernel is on disk, compiled for this processor; or cannot be on disk."""
    if not isinstance(compiled._cache, _Cache):
        return True
    processor = compiled.targetctx.codegen().magic_tuple()
    try:
        return any(key[1] == processor for key in compiled._cache._cache_file._load_index())
    except Exception:  # damaged
        return False


def _type(hint: Any) -> Any:
    """Numba's type for an annotation."""
    kinds: Any = types
    if hint in (int, float):
        return kinds.int64 if hint is int else kinds.float64
    if hasattr(hint, "__metadata__"):
        return hint.__metadata__[0]
    fields = list(map(_type, get_type_hints(hint, include_extras=True).values()))
    if len(set(fields)) == 1:
        return kinds.NamedUniTuple(fields[0], len(fields), hint)
    return kinds.NamedTuple(fields, hint)


@cache
def _note_no_cache() -> None:
    log.warning("no folder for compiled code can be written; set NUMBA_CACHE_DIR to start faster")

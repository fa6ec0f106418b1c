"""Kernels compiled by Numba, which is imported for nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import RLock
from types import FunctionType
from typing import Any

from numba import from_dtype, njit, types
from numba.core.registry import cpu_target

from sameas.compute.kernels.code import Code
from sameas.compute.kernels.kinds import ArrayOf, Kind, TupleOf

FAST_SUMS = {"reassoc", "contract", "nsz"}
"""What the compiler may do where sums may be taken in another order."""
LIBRARY = ("exp", "log", "log1p", "expm1", "pow", "sin", "cos")
"""Functions that LLVM's own ones of these names become calls of."""
_compiling = RLock()


def compile_code(
    function: Callable[..., Any],
    parts: dict[str, Callable[..., Any]],
    kinds: Sequence[Kind],
    results: int,
    *,
    summing: bool,
) -> Code:
    """The machine code of a function for these kinds of arguments.

    ``parts`` are the functions that it, or one of them, calls by these names. It returns so many
    whole numbers.
    """
    fast = FAST_SUMS if summing else set()
    with _compiling:
        names = {**vars_of(function), **parts}
        for name, part in parts.items():
            names[name] = _compiled(part, names)
        compiled = _compiled(function, names, fastmath=fast)
        signature = tuple(map(_type, kinds))
        compiled.compile(signature)
        (result,) = compiled.overloads.values()
        returned = _returned(results)
        if result.signature.return_type != returned:
            found = result.signature.return_type
            raise TypeError(f"{function.__name__} must return {returned}, got {found} instead")
        library = result.library
        machine_code = library.serialize_using_object_code()[2][0]
        needs = (
            _name(each.name) for each in library._final_module.functions if each.is_declaration
        )
        return Code(result.fndesc.llvm_func_name, tuple(filter(None, needs)), machine_code)


def provide_symbols() -> None:
    """Make known to LLVM the functions that Numba has for systems whose libraries lack them."""
    cpu_target.target_context.refresh()


def vars_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The names that a function knows."""
    names: dict[str, Any] = getattr(function, "__globals__")  # noqa: B009
    return names


def _compiled(function: Callable[..., Any], names: dict[str, Any], **more: Any) -> Any:
    """What compiles a function in which names mean what is given.

    Nothing in it is counted as owned, there is no way from Python to it, and dividing by zero is
    no error: all that would be compiled, too.
    """
    make: Any = njit
    assert isinstance(function, FunctionType)
    renamed = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
    renamed.__module__, renamed.__qualname__ = function.__module__, function.__qualname__
    return make(
        nogil=True,
        error_model="numpy",
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        _nrt=False,
        **more,
    )(renamed)


def _type(kind: Kind) -> Any:
    """Numba's type."""
    every: Any = types
    if isinstance(kind, ArrayOf):
        return every.Array(from_dtype(kind.dtype), kind.axes, "C" if kind.whole else "A")
    if isinstance(kind, TupleOf):
        fields = list(map(_type, kind.fields))
        if len(set(fields)) == 1:
            return every.NamedUniTuple(fields[0], len(fields), kind.kind)
        return every.NamedTuple(fields, kind.kind)
    return every.int64 if kind is int else every.float64


def _returned(results: int) -> Any:
    """Numba's type of so many whole numbers."""
    every: Any = types
    if results < 2:
        return every.int64 if results else every.none
    return every.UniTuple(every.int64, results)


def _name(declared: str) -> str | None:
    """The function of a library that is called; None if the processor does it itself."""
    if not declared.startswith("llvm."):
        return declared
    name = declared.split(".")[1]
    return name if name in LIBRARY else None

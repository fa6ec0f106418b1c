"""Compile kernels when they are first used, and keep their machine code on disk.

The annotations of a kernel say what it is compiled for. In kernels there are neither slices of
arrays nor arrays made by NumPy's functions: each such expression costs a fraction of a second of
compilation. Callers bring the room that a kernel needs.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

from sameas.compute.kernels.code import Code, Place
from sameas.compute.kernels.kinds import (
    Kind,
    declared_kinds,
    flat_kinds,
    flatten,
    kind_of,
    results_of,
)

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, eq=False)
class Part:
    """A function that only kernels call; it becomes part of what is compiled for them."""

    py_func: Callable[..., Any]

    def __call__(self, *arguments: Any) -> Any:
        """What the function gives as it is written, not compiled."""
        return self.py_func(*arguments)


@dataclass(eq=False)
class Kernel:
    """A compiled function; of each kind of arguments, there is one version."""

    py_func: Callable[..., Any]
    summing: bool
    """Whether sums may be taken in another order."""
    versions: dict[tuple[Kind, ...], Any] = field(default_factory=dict)
    """Loaded machine code, by kinds of arguments."""

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """What it takes, as its annotations say."""
        return declared_kinds(self.py_func)

    @cached_property
    def results(self) -> int:
        """How many whole numbers it returns."""
        return results_of(self.py_func)

    @cached_property
    def usual(self) -> Any:
        """The version that its annotations ask for."""
        return self.versions.get(self.kinds) or self.load(self.kinds)

    def __call__(self, *arguments: Any) -> Any:
        """Run it, without the GIL."""
        flat: list[Any] = []
        if flatten(self.kinds, arguments, flat):
            run = self.usual
        else:
            kinds, flat = tuple(map(kind_of, arguments)), []
            if not flatten(kinds, arguments, flat):
                raise TypeError(f"{self.py_func.__name__} cannot take {kinds}")
            run = self.versions.get(kinds) or self.load(kinds)
        results, error = (ctypes.c_int64 * max(self.results, 1))(), ctypes.c_void_p()
        if run(ctypes.addressof(results), ctypes.addressof(error), *flat) not in DONE:
            raise RuntimeError(f"{self.py_func.__name__} failed")
        if self.results < 2:
            return results[0] if self.results else None
        return tuple(results)

    def load(self, kinds: tuple[Kind, ...] | None = None) -> Any:
        """Its machine code for these kinds of arguments, from disk or compiled."""
        kinds = kinds or self.kinds
        place = self.place(kinds)
        code = place.read() or self._compile(kinds, place)
        floats = [kind is float for kind in flat_kinds(kinds)]
        self.versions[kinds] = loaded = code.load(floats)
        return loaded

    def place(self, kinds: tuple[Kind, ...] | None = None) -> Place:
        """Where the machine code for these kinds of arguments is kept."""
        function: Any = self.py_func
        shown = repr((kinds or self.kinds, self.summing))
        return Place(function.__name__, Path(function.__code__.co_filename), shown)

    def _compile(self, kinds: tuple[Kind, ...], place: Place) -> Code:
        """Compile it, and keep the code."""
        make: Any = import_module("sameas.compute.kernels.compiling")
        code: Code = make.compile_code(
            self.py_func, _parts(self.py_func), kinds, self.results, summing=self.summing
        )
        place.write(code)
        return code


DONE = (0, -2)
"""What machine code of Numba returns: done, or done without a result."""


def kernel(function: Function, *, summing: bool = False) -> Function:
    """The function, compiled; for fast ``summing``, sums may be taken in another order."""
    return cast(Function, Kernel(function, summing))


def part_of_kernel(function: Function) -> Function:
    """A function that only kernels call; it becomes part of what is compiled for them."""
    return cast(Function, Part(function))


def compile_kernel(compiled: Any) -> None:
    """Load the kernel from disk, or compile it, for the kinds of its annotations."""
    compiled.load()


def is_cached(compiled: Any) -> bool:
    """Whether the kernel is on disk, compiled for this processor; or cannot be on disk."""
    place = compiled.place()
    return place.read() is not None or not place.is_writable


def _parts(function: Any) -> dict[str, Callable[..., Any]]:
    """The parts that a function calls by name, and those that they call, these first."""
    parts: dict[str, Callable[..., Any]] = {}
    for name in function.__code__.co_names:
        part = function.__globals__.get(name)
        if isinstance(part, Part):
            parts |= {**_parts(part.py_func), name: part.py_func}
    return parts

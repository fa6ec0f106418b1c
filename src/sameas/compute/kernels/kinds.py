"""What kernels take: arrays of a type and number of axes, numbers, and named tuples of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias, get_args, get_type_hints

import numpy as np


@dataclass(frozen=True)
class ArrayOf:
    """Arrays of a type of number; ``whole`` if rows follow each other without gaps."""

    dtype: np.dtype[Any]
    axes: int
    whole: bool = True


@dataclass(frozen=True)
class TupleOf:
    """Named tuples of a class."""

    kind: type
    fields: tuple[Kind, ...]


Kind: TypeAlias = ArrayOf | TupleOf | type
"""What an argument is; numbers are ``int`` (64 bits) or ``float``."""


def _arrays(dtype: str, axes: int, *, whole: bool = True) -> ArrayOf:
    return ArrayOf(np.dtype(dtype), axes, whole)


# mypy takes these for anything.
Int64s: TypeAlias = Annotated[Any, _arrays("int64", 1)]
Int32s: TypeAlias = Annotated[Any, _arrays("int32", 1)]
Float64s: TypeAlias = Annotated[Any, _arrays("float64", 1)]
Float32s: TypeAlias = Annotated[Any, _arrays("float32", 1)]
Booleans: TypeAlias = Annotated[Any, _arrays("bool", 1)]
Int64Rows: TypeAlias = Annotated[Any, _arrays("int64", 2)]
Int32Rows: TypeAlias = Annotated[Any, _arrays("int32", 2)]
Float64Rows: TypeAlias = Annotated[Any, _arrays("float64", 2)]
Float32Rows: TypeAlias = Annotated[Any, _arrays("float32", 2)]
Float32Columns: TypeAlias = Annotated[Any, _arrays("float32", 2, whole=False)]
"""Some columns of rows."""
Float32Cube: TypeAlias = Annotated[Any, _arrays("float32", 3)]
Int8Cube: TypeAlias = Annotated[Any, _arrays("int8", 3)]


def declared_kinds(function: Callable[..., Any]) -> tuple[Kind, ...]:
    """What the annotations of a function say that it takes."""
    hints = get_type_hints(function, include_extras=True)
    hints.pop("return", None)
    return tuple(map(_declared, hints.values()))


def _declared(hint: Any) -> Kind:
    if hint in (int, float):
        return hint  # type: ignore[no-any-return]
    if hasattr(hint, "__metadata__"):
        return hint.__metadata__[0]  # type: ignore[no-any-return]
    return TupleOf(hint, tuple(map(_declared, get_type_hints(hint, include_extras=True).values())))


def results_of(function: Callable[..., Any]) -> int:
    """How many whole numbers a function returns, as its annotation says."""
    result = get_type_hints(function).get("return", type(None))
    return 0 if result is type(None) else len(get_args(result)) or 1


def kind_of(value: Any) -> Kind:
    """What a value is."""
    if isinstance(value, np.ndarray):
        return ArrayOf(value.dtype, value.ndim, value.flags.c_contiguous)
    if isinstance(value, tuple):
        return TupleOf(type(value), tuple(map(kind_of, value)))
    return int if isinstance(value, int | np.integer) else float


def flatten(kinds: Sequence[Kind], values: Sequence[Any], out: list[Any]) -> bool:
    """Whether the values are of these kinds; what machine code takes for them is put to ``out``.

    That is for an array: no owner, no parent, sizes, address, shape and strides.
    """
    for kind, value in zip(kinds, values, strict=True):
        if isinstance(kind, ArrayOf):
            if not (
                isinstance(value, np.ndarray)
                and value.dtype == kind.dtype
                and value.ndim == kind.axes
                and (value.flags.c_contiguous or not kind.whole)
                and value.flags.aligned
            ):
                return False
            address = value.__array_interface__["data"][0]
            out += (0, 0, value.size, value.itemsize, address, *value.shape, *value.strides)
        elif isinstance(kind, TupleOf):
            if not flatten(kind.fields, value, out):
                return False
        elif kind is int:
            if not isinstance(value, int | np.integer):
                return False
            out.append(int(value))
        else:
            out.append(float(value))
    return True


def flat_kinds(kinds: Sequence[Kind]) -> list[type]:
    """Whether each of the numbers that ``flatten`` gives is an int or a float."""
    flat: list[type] = []
    for kind in kinds:
        if isinstance(kind, ArrayOf):
            flat += [int] * (5 + 2 * kind.axes)
        elif isinstance(kind, TupleOf):
            flat += flat_kinds(kind.fields)
        else:
            flat.append(kind)
    return flat

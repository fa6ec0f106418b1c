"""Options as dataclass fields: each is declared once, with its help, choices and limits.

Checks (`check`) and the flags of the command line (`declared`) are made from the declaration.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from sameas.errors import OptionError

LIMITS: dict[str, tuple[str, Callable[[float, float], bool]]] = {
    "least": ("from", operator.ge),
    "above": ("above", operator.gt),
    "most": ("to", operator.le),
    "below": ("below", operator.lt),
}
"""The limits that numbers can have: how they are told, and how a value is compared with them."""
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


@dataclass(frozen=True, kw_only=True)
class Declared:
    """One option, as its field declares it."""

    default: Any
    help: str
    limits: Mapping[str, float] = field(default_factory=dict)
    """By the names of LIMITS."""
    metavar: str | None = None
    name: str = ""
    type: type = str
    """bool, int, float, str or Path; for a tuple, the type of its items."""
    choices: tuple[str, ...] = ()
    """What a value must be one of, where the type is a ``Literal``."""
    several: bool = False
    """Whether the value is a tuple of any length."""
    optional: bool = False
    """Whether the value can be None."""


def option(default: Any, *, help: str, metavar: str | None = None, **limits: float) -> Any:
    """A dataclass field that declares an option; ``limits`` are least, above, most and below."""
    one = Declared(default=default, help=help, metavar=metavar, limits=limits)
    return field(default=default, metadata={"option": one})


def declared(cls: type) -> list[Declared]:
    """The options of a dataclass, in the order of its fields."""
    hints = get_type_hints(cls)
    options = {each.name: each.metadata.get("option") for each in fields(cls)}
    return [typed(one, name, hints[name]) for name, one in options.items() if one is not None]


def typed(one: Declared, name: str, hint: Any) -> Declared:
    """The option with its name, and what its type says."""
    optional = NoneType in get_args(hint)
    if optional:
        hint = next(kind for kind in get_args(hint) if kind is not NoneType)
    several = get_origin(hint) is tuple
    if several:
        hint = get_args(hint)[0]
    choices = get_args(hint) if get_origin(hint) is Literal else ()
    kind = str if choices else hint
    return replace(one, name=name, type=kind, choices=choices, several=several, optional=optional)


def check(instance: Any) -> None:
    """Raise an OptionError for the first option with a value that cannot be used.

    The fields of a frozen dataclass are set to the declared type where that loses nothing: a
    single value or a list where several are allowed becomes a tuple, a text where a path is
    expected becomes a Path, and a size such as "4G" a number of bytes.
    """
    for one in declared(type(instance)):
        value = getattr(instance, one.name)
        if value is None and one.optional:
            continue
        if one.several:
            single = isinstance(value, str | PathLike) or not hasattr(value, "__iter__")
            value = tuple(_checked(one, item) for item in ((value,) if single else value))
        else:
            value = _checked(one, value)
        object.__setattr__(instance, one.name, value)


def wrong(name: str, expected: str, found: object) -> OptionError:
    """The error about an option with a value that cannot be used."""
    return OptionError(f"`{name}` must be {expected}, got {found!r} instead")


def _checked(one: Declared, value: Any) -> Any:
    if one.type is Path and isinstance(value, str | PathLike):
        return Path(value)
    if one.metavar == "SIZE" and isinstance(value, str):
        return parse_size(value, one.name)
    if one.choices:
        fits = isinstance(value, str) and value in one.choices
        which = "among" if one.several else "one of"
        expected = f"{which} {', '.join(one.choices)}"
    else:
        fits = isinstance(value, int | float if one.type is float else one.type)
        fits &= one.type is bool or not isinstance(value, bool)
        if fits and one.type in (int, float):
            within = (LIMITS[name][1](value, limit) for name, limit in one.limits.items())
            fits = math.isfinite(value) and all(within)
        expected = _expected(one)
    if not fits:
        raise wrong(one.name, expected, value)
    return value


def _expected(one: Declared) -> str:
    """What a value must be, in words: "a whole number from 0 to 20"."""
    kinds = {bool: "True or False", int: "a whole number", float: "a number", str: "a text"}
    words = [f"{LIMITS[name][0]} {one.limits[name]}" for name in LIMITS if name in one.limits]
    if list(one.limits) == ["least"]:
        words = [f"of at least {one.limits['least']}"]
    return " ".join([kinds.get(one.type, "a path"), *words])


def parse_size(text: str, name: str = "memory") -> int:
    """A number of bytes from text such as "4G", "512M" or "1.5GiB".

    >>> parse_size("1.5G") == 3 * 2**29
    True
    """
    match = re.fullmatch(r"\s*(\d{1,12}(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    if not match or not (size := int(float(match[1]) * UNITS[match[2].upper()])):
        raise wrong(name, "a size such as 4G or 512M", text)
    return size

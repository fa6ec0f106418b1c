"""Options as dataclass fields: each is declared once, with its help, choices and limits.

Checks (`check`) and the flags of the command line (`declared`) are made from the declaration.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from sameas.errors import OptionError


@dataclass(frozen=True, kw_only=True)
class Declared:
    """One option, as its field declares it."""

    default: Any
    help: str
    choices: tuple[str, ...] | None = None
    """What a value must be one of; by default those of the field's ``Literal`` type."""
    least: float | None = None
    most: float | None = None
    above: float | None = None
    """Like ``least``, without the limit itself."""
    below: float | None = None
    metavar: str | None = None
    name: str = ""
    type: type = str
    """bool, int, float, str or Path; for a tuple, the type of its items."""
    several: bool = False
    """Whether the value is a tuple of any length."""
    optional: bool = False
    """Whether the value can be None."""


def option(default: Any, **rules: Any) -> Any:
    """A dataclass field that declares an option; ``rules`` are help to metavar of Declared."""
    return field(default=default, metadata={"option": Declared(default=default, **rules)})


def declared(cls: type) -> list[Declared]:
    """The options of a dataclass, in the order of its fields."""
    hints, found = get_type_hints(cls), []
    for each in fields(cls):
        if "option" not in each.metadata:
            continue
        one, hint = each.metadata["option"], hints[each.name]
        optional = NoneType in get_args(hint)
        if optional:
            hint = next(kind for kind in get_args(hint) if kind is not NoneType)
        several = get_origin(hint) is tuple
        if several:
            hint = get_args(hint)[0]
        if get_origin(hint) is Literal:
            one = replace(one, choices=one.choices or get_args(hint))
            hint = str
        found.append(replace(one, name=each.name, type=hint, several=several, optional=optional))
    return found


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
    if one.choices is not None:
        if not isinstance(value, str) or value not in one.choices:
            which = "among" if one.several else "one of"
            raise wrong(one.name, f"{which} {', '.join(one.choices)}", value)
        return value
    fits = isinstance(value, int | float if one.type is float else one.type)
    if isinstance(value, bool) and one.type is not bool:
        fits = False
    if not fits or (one.type in (int, float) and not _within(one, value)):
        raise wrong(one.name, _expected(one), value)
    return value


def _within(one: Declared, value: float) -> bool:
    return (
        math.isfinite(value)
        and (one.least is None or value >= one.least)
        and (one.most is None or value <= one.most)
        and (one.above is None or value > one.above)
        and (one.below is None or value < one.below)
    )


def _expected(one: Declared) -> str:
    """What a value must be, in words: "a whole number from 0 to 20"."""
    kinds = {bool: "True or False", int: "a whole number", float: "a number", str: "a text"}
    limits = {"from": one.least, "above": one.above, "to": one.most, "below": one.below}
    words = [f"{word} {limit}" for word, limit in limits.items() if limit is not None]
    if words == [f"from {one.least}"]:
        words = [f"of at least {one.least}"]
    return " ".join([kinds.get(one.type, "a path"), *words])


_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def parse_size(text: str, name: str = "memory") -> int:
    """A number of bytes from text such as "4G", "512M" or "1.5GiB".

    >>> parse_size("1.5G") == 3 * 2**29
    True
    """
    match = re.fullmatch(r"\s*(\d{1,12}(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    if not match or not (size := int(float(match[1]) * _UNITS[match[2].upper()])):
        raise wrong(name, "a size such as 4G or 512M", text)
    return size

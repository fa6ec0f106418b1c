"""Options as dataclass fields: each is declared once, with its help, choices and limits.

Checks (`check`) and the flags of the command line (`declared`) are made from the declaration.
"""

from __future__ import annotations

import dataclasses
import math
import re
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from sameas.errors import OptionError


@dataclass(frozen=True)
class Declared:
    """One option, as its field declares it."""

    name: str
    type: type
    """bool, int, float, str or Path; for a tuple, the type of its items."""
    default: Any
    help: str
    several: bool
    """Whether the value is a tuple of any length."""
    optional: bool
    """Whether the value can be None."""
    choices: tuple[str, ...] | None
    least: float | None
    most: float | None
    above: float | None
    below: float | None
    metavar: str | None


def option(
    default: Any,
    *,
    help: str,
    choices: tuple[str, ...] | None = None,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    below: float | None = None,
    metavar: str | None = None,
) -> Any:
    """A dataclass field that declares an option.

    A value must be one of ``choices`` (by default those of the field's ``Literal`` type) and lie
    within the limits; ``above`` and ``below`` leave the limit itself out.
    """
    metadata = {
        "help": help,
        "choices": choices,
        "least": least,
        "most": most,
        "above": above,
        "below": below,
        "metavar": metavar,
    }
    return dataclasses.field(default=default, metadata=metadata)


def declared(cls: type) -> list[Declared]:
    """The options of a dataclass, in the order of its fields."""
    hints = get_type_hints(cls)
    return [
        _declared(field, hints[field.name])
        for field in dataclasses.fields(cls)
        if "help" in field.metadata
    ]


def _declared(field: dataclasses.Field[Any], hint: Any) -> Declared:
    alternatives = get_args(hint) if NoneType in get_args(hint) else ()
    if alternatives:
        hint = next(kind for kind in alternatives if kind is not NoneType)
    several = get_origin(hint) is tuple
    if several:
        hint = get_args(hint)[0]
    metadata = dict(field.metadata)
    if get_origin(hint) is Literal:
        metadata["choices"] = metadata["choices"] or get_args(hint)
        hint = str
    return Declared(
        name=field.name,
        type=hint,
        default=field.default,
        several=several,
        optional=bool(alternatives),
        **metadata,
    )


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
    elif words == [f"to {one.most}"]:
        words = [f"of at most {one.most}"]
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

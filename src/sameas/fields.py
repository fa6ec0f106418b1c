"""Options: each is declared once, with its type, default, limits and help.

The fields of a dataclass are options, and so are the keyword-only parameters of a function. The
docstring explains them under "Options:", as ``name METAVAR: help``. Checks (`check`) and the flags
of the command line (`declared`) are made from that.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from functools import cache
from os import PathLike
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from sameas.errors import OptionError

EXPLAINED = r"(?m)^  ([a-z_]+) ?(\S*): (.+(?:\n    .+)*)"
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


@dataclass(frozen=True, kw_only=True, eq=False)
class Limits:
    """What a number must be, as part of its type: ``Annotated[int, Limits(least=1)]``."""

    least: float | None = None
    above: float | None = None
    """Like ``least``, without the limit itself."""
    most: float | None = None
    below: float | None = None
    is_size: bool = False
    """Whether it is a number of bytes, which can be given as a text such as "4G"."""

    def allow(self, value: float) -> bool:
        """Whether a number is within the limits."""
        return (
            math.isfinite(value)
            and (self.least is None or value >= self.least)
            and (self.above is None or value > self.above)
            and (self.most is None or value <= self.most)
            and (self.below is None or value < self.below)
        )

    def __str__(self) -> str:
        """In words: " from 0 to 20"."""
        limits = {"from": self.least, "above": self.above, "to": self.most, "below": self.below}
        words = [f" {word} {limit}" for word, limit in limits.items() if limit is not None]
        return f" of at least {self.least}" if words == [f" from {self.least}"] else "".join(words)


Share = Annotated[float, Limits(least=0.0, most=1.0)]
Size = Annotated[int, Limits(least=1, is_size=True)]


@dataclass(frozen=True)
class Declared:
    """One option."""

    name: str
    default: Any
    """``Parameter.empty`` of inspect, if a value must be given."""
    metavar: str | None
    help: str
    type: type
    """bool, int, float, str or Path; for a tuple, the type of its items."""
    limits: Limits
    choices: tuple[str, ...]
    """What a value must be one of, where the type is a ``Literal``."""
    several: bool
    """Whether the value is a tuple of any length."""
    optional: bool
    """Whether the value can be None."""


@cache
def declared(owner: Callable[..., Any]) -> tuple[Declared, ...]:
    """The options of a dataclass or a function, in their order.

    One that is only explained, and has no parameter, is a text that can be None.
    """
    hints = get_type_hints(owner, include_extras=True)
    text = inspect.cleandoc(owner.__doc__ or "").partition("Options:\n")[2]
    explained = {name: rest for name, *rest in re.findall(EXPLAINED, text.partition("\n\n")[0])}
    parameters = inspect.signature(owner).parameters.values()
    defaults = {
        each.name: each.default
        for each in parameters
        if each.kind is each.KEYWORD_ONLY and not is_dataclass(hints[each.name])
    }
    found = []
    for name in dict.fromkeys([*defaults, *explained]):
        metavar, help = explained.get(name, ("", ""))
        hint = hints.get(name, str)
        optional = NoneType in get_args(hint)
        if optional:
            hint = next(kind for kind in get_args(hint) if kind is not NoneType)
        several = get_origin(hint) is tuple
        if several:
            hint = get_args(hint)[0]
        limits = Limits()
        if get_origin(hint) is Annotated:
            hint, limits = get_args(hint)
        choices = get_args(hint) if get_origin(hint) is Literal else ()
        kind, told = str if choices else hint, " ".join(help.split())
        default = defaults.get(name)
        found.append(
            Declared(name, default, metavar or None, told, kind, limits, choices, several, optional)
        )
    return tuple(found)


def check(instance: object) -> None:
    """Set the fields of a frozen dataclass to what `checked` makes of them."""
    for one in declared(type(instance)):  # type: ignore[arg-type]
        object.__setattr__(instance, one.name, checked(one, getattr(instance, one.name)))


def checked(one: Declared, value: Any) -> Any:
    """The value of an option, of the declared type; an OptionError if it cannot be used.

    A single value or a list where several are allowed becomes a tuple, a text where a path is
    expected becomes a Path, and a size such as "4G" a number of bytes.
    """
    if value is None and one.optional:
        return None
    if not one.several:
        return _checked(one, value)
    single = isinstance(value, str | PathLike) or not hasattr(value, "__iter__")
    return tuple(_checked(one, item) for item in ((value,) if single else value))


def _checked(one: Declared, value: Any) -> Any:
    """One value, or one of several."""
    if one.type is Path and isinstance(value, str | PathLike):
        return Path(value)
    if one.limits.is_size and isinstance(value, str):
        return parse_size(value, one.name)
    if one.choices:
        fits = isinstance(value, str) and value in one.choices
        expected = f"{'among' if one.several else 'one of'} {', '.join(one.choices)}"
    else:
        kinds = {bool: "True or False", int: "a whole number", float: "a number", str: "a text"}
        expected = f"{kinds.get(one.type, 'a path')}{one.limits}"
        fits = isinstance(value, int | float if one.type is float else one.type)
        fits &= one.type is bool or not isinstance(value, bool)
        if fits and one.type in (int, float):
            fits = one.limits.allow(value)
    if not fits:
        raise wrong(one.name, expected, value)
    return value


def wrong(name: str, expected: str, found: object) -> OptionError:
    """The error about an option with a value that cannot be used."""
    return OptionError(f"`{name}` must be {expected}, got {found!r} instead")


def parse_size(text: str, name: str = "memory") -> int:
    """A number of bytes from text such as "4G", "512M" or "1.5GiB".

    >>> parse_size("1.5G") == 3 * 2**29
    True
    """
    match = re.fullmatch(r"\s*(\d{1,12}(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    if not match or not (size := int(float(match[1]) * UNITS[match[2].upper()])):
        raise wrong(name, "a size such as 4G or 512M", text)
    return size

"""Options: each is declared once, with its type, default, limits and help.

A field of a dataclass, or a keyword-only parameter of a function, is an option if its type is
annotated with an `Option`: ``depth: Annotated[int, Option("How many hops.", least=0)] = 2``. The
checks, the flags of the command line and the parameters of the web page's requests are made from
that.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import cache
from os import PathLike
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from sameas.errors import OptionError, shortened

REQUIRED = inspect.Parameter.empty
"""The default of an option that must be given."""
KINDS = {
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    str: "a text",
    Path: "a path",
    dict: "an object",
}
"""What the values of a type are called."""
LONGEST_VALUE = 200
"""Characters of a wrong value that an error message quotes."""
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


@dataclass(frozen=True)
class Option:
    """One option: what its annotation says; `declared` adds the rest."""

    help: str
    _: KW_ONLY
    metavar: str | None = None
    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None
    is_size: bool = False
    """Whether it is a number of bytes, which can be given as a text such as "4G"."""
    choices: tuple[str, ...] = ()
    """What a value must be one of; of a ``Literal``, its values."""
    items: tuple[Option, ...] = ()
    """What each value holds, if it is an object of JSON; whoever reads it checks them."""
    most_items: int | None = None
    """How many values there may be where several are allowed; then there must be one."""
    name: str = ""
    type: type = str
    """bool, int, float, str, Path or dict; for a tuple, the type of its items."""
    default: Any = REQUIRED
    several: bool = False
    """Whether the value is a tuple of any length."""
    optional: bool = False
    """Whether the value can be None."""

    @property
    def is_required(self) -> bool:
        """Whether a value must be given."""
        return self.default is REQUIRED

    @property
    def limits(self) -> str:
        """What a number must be, in words; "" if it can be any.

        >>> Option("", least=0, below=1).limits, Option("", least=1).limits
        ('from 0 below 1', 'of at least 1')
        """
        unbounded = self.most is None and self.below is None
        bounds = {
            "of at least" if unbounded else "from": self.least,
            "above": self.above,
            "to": self.most,
            "below": self.below,
        }
        return " ".join(f"{word} {bound}" for word, bound in bounds.items() if bound is not None)

    def allows(self, number: float) -> bool:
        """Whether a number is finite and within the limits."""
        return (
            -math.inf < number < math.inf
            and (self.least is None or number >= self.least)
            and (self.above is None or number > self.above)
            and (self.most is None or number <= self.most)
            and (self.below is None or number < self.below)
        )


@cache
def declared(owner: Callable[..., Any]) -> tuple[Option, ...]:
    """The options of a dataclass or a function, in their order."""
    hints = get_type_hints(owner, include_extras=True)
    parameters = inspect.signature(owner).parameters
    options = []
    for name, hint in hints.items():
        notes = [note for note in getattr(hint, "__metadata__", ()) if isinstance(note, Option)]
        if notes and name in parameters:
            default = parameters[name].default
            options.append(_typed(replace(notes[0], name=name, default=default), get_args(hint)[0]))
    return tuple(options)


def _typed(option: Option, hint: Any) -> Option:
    """The option with what its type says."""
    optional = NoneType in get_args(hint)
    if optional:
        (hint,) = (each for each in get_args(hint) if each is not NoneType)
    several = get_origin(hint) is tuple
    if several:
        hint = get_args(hint)[0]
    choices = get_args(hint) if get_origin(hint) is Literal else option.choices
    kind = str if choices else hint
    return replace(option, type=kind, choices=choices, several=several, optional=optional)


def check(instance: object) -> None:
    """Set the fields of a frozen dataclass to what `checked` makes of them."""
    for option in declared(type(instance)):  # type: ignore[arg-type]
        value = checked(option, getattr(instance, option.name))
        object.__setattr__(instance, option.name, value)


def checked(option: Option, value: Any) -> Any:
    """The value of an option, of the declared type; an OptionError if it cannot be used.

    A single value or a list where several are allowed becomes a tuple, a text where a path is
    expected becomes a Path, and a size such as "4G" a number of bytes.
    """
    if value is None and option.optional:
        return None
    if not option.several:
        return _checked_item(option, value)
    single = isinstance(value, str | PathLike | dict) or not hasattr(value, "__iter__")
    values = (value,) if single else tuple(value)
    if option.most_items is not None and not 0 < len(values) <= option.most_items:
        raise wrong(option.name, f"a list of 1 to {option.most_items}", len(values))
    return tuple(_checked_item(option, item) for item in values)


def _checked_item(option: Option, value: Any) -> Any:
    """One value, or one of several."""
    if option.type is Path and isinstance(value, str | PathLike):
        return Path(value)
    if option.is_size and isinstance(value, str):
        return parse_size(value, option.name)
    if option.choices:
        fits = isinstance(value, str) and value in option.choices
        among = ", ".join(filter(None, option.choices))
        expected = f"{'among' if option.several else 'one of'} {among}"
    else:
        expected = f"{KINDS[option.type]} {option.limits}".rstrip()
        fits = isinstance(value, int | float if option.type is float else option.type)
        fits &= option.type is bool or not isinstance(value, bool)
        fits = fits and (option.type not in (int, float) or option.allows(value))
    if not fits:
        raise wrong(option.name, expected, value)
    return value


def wrong(name: str, expected: str, value: object) -> OptionError:
    """The error about an option with a value that cannot be used."""
    quoted = shortened(repr(value), LONGEST_VALUE)
    return OptionError(f"`{name}` must be {expected}, got {quoted} instead")


def parse_size(text: str, name: str = "memory") -> int:
    """A number of bytes from text such as "4G", "512M" or "1.5GiB".

    >>> parse_size("1.5G") == 3 * 2**29
    True
    """
    match = re.fullmatch(r"\s*(\d{1,12}(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    if not match or not (size := int(float(match[1]) * UNITS[match[2].upper()])):
        raise wrong(name, "a size such as 4G or 512M", text)
    return size

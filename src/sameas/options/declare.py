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
from operator import ge, gt, le, lt
from os import PathLike
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from sameas.errors import OptionError

EXPLAINED = r"(?m)^  ([a-z_]+) ?(\S*): (.+(?:\n    .+)*)"
COMPARISONS = {"of at least": ge, "from": ge, "above": gt, "to": le, "below": lt}
"""What the words of limits mean, such as those of ``Annotated[int, "from 0 to 20"]``."""
BYTES = "bytes"
"""Part of the type of a number of bytes, which can be given as a text such as "4G"."""
Size = Annotated[int, "of at least 1", BYTES]
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


@dataclass(frozen=True, kw_only=True)
class Declared:
    """One option."""

    name: str
    default: Any
    """``Parameter.empty`` of inspect, if a value must be given."""
    metavar: str | None
    help: str
    type: type
    """bool, int, float, str or Path; for a tuple, the type of its items."""
    limits: str
    """What a number must be, in words; "" if it can be any."""
    is_size: bool
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
        hint, *limits = get_args(hint) if get_origin(hint) is Annotated else [hint]
        choices = get_args(hint) if get_origin(hint) is Literal else ()
        found.append(
            Declared(
                name=name,
                default=defaults.get(name),
                metavar=metavar or None,
                help=" ".join(help.split()),
                type=str if choices else hint,
                limits=limits[0] if limits else "",
                is_size=BYTES in limits,
                choices=choices,
                several=several,
                optional=optional,
            )
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
    if one.is_size and isinstance(value, str):
        return parse_size(value, one.name)
    if one.choices:
        fits = isinstance(value, str) and value in one.choices
        expected = f"{'among' if one.several else 'one of'} {', '.join(one.choices)}"
    else:
        kinds = {bool: "True or False", int: "a whole number", float: "a number", str: "a text"}
        expected = f"{kinds.get(one.type, 'a path')} {one.limits}".rstrip()
        fits = isinstance(value, int | float if one.type is float else one.type)
        fits &= one.type is bool or not isinstance(value, bool)
        if fits and one.type in (int, float):
            limits = re.findall(r"([a-z ]*[a-z]) (\S+)", one.limits)
            within = (COMPARISONS[words.strip()](value, float(limit)) for words, limit in limits)
            fits = -math.inf < value < math.inf and all(within)
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

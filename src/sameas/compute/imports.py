"""Modules that are not needed are not imported: that takes a part of each short run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType


@contextmanager
def standing_in(package: ModuleType, *names: str) -> Iterator[None]:
    """A context in which None stands in for those modules of a package that are not loaded yet.

    It is for packages that load them when they are first asked for, and will do so afterwards.
    """
    known = vars(package)
    absent = [name for name in names if name not in known]
    known.update(dict.fromkeys(absent))
    try:
        yield
    finally:
        for name in absent:
            if known[name] is None:  # or else it was imported meanwhile
                del known[name]

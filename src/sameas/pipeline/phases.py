"""Phases of a run: timed, reported, and kept if they took long."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from sameas.compute.arrays import Progress
from sameas.compute.heap import release_freed_memory
from sameas.compute.in_files import let_go_of_pages
from sameas.pipeline.checkpoint import Checkpoint

T = TypeVar("T")
PhaseProgress = Callable[[str, float], None]
"""Called with the phase and the share of it that is done."""


@dataclass
class Phases:
    """Times the phases of one run, reports them, and keeps the results of the long ones."""

    progress: PhaseProgress | None = None
    checkpoint: Checkpoint = field(default_factory=Checkpoint)
    seconds: dict[str, float] = field(default_factory=dict)
    resumed: list[str] = field(default_factory=list)
    """Phases that an interrupted run had finished."""
    _unkept: float = 0.0
    """Seconds since the last result that was kept."""

    @contextmanager
    def timed(self, name: str) -> Iterator[Progress]:
        """Time the block; yields a function to report the share done."""

        def report(share: float) -> None:
            if self.progress:
                self.progress(name, share)

        start = time.perf_counter()
        _let_go()
        report(0.0)
        yield report
        _let_go()
        report(1.0)
        seconds = time.perf_counter() - start
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds
        self._unkept += seconds

    def kept(self, name: str, kind: type[T], make: Callable[[], T]) -> T:
        """What ``make`` returns (of type ``kind``), or an interrupted run's result of that name."""
        loaded = self.checkpoint.load(name, kind)
        if loaded is not None:
            result, self.seconds[name] = loaded
            self.resumed.append(name)
            return result
        result = make()
        _let_go()  # what only ``make`` needed is gone now
        self.checkpoint.save(name, result, self._unkept)
        self._unkept = 0.0
        return result


def _let_go() -> None:
    """Give memory back that is not needed now."""
    let_go_of_pages()
    release_freed_memory()

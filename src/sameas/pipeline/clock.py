"""The phases of a run: timed, told about, and kept if they were long."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sameas.checkpoint import Arrays, Checkpoint

Progress = Callable[[str, float], None]
"""Told the phase and the share of it that is done."""
Report = Callable[[float], None]
"""Told the share of a phase that is done."""


@dataclass
class Clock:
    """Times the phases, tells about them, and keeps what the long ones have made."""

    progress: Progress | None
    checkpoint: Checkpoint
    facts: dict[str, Any] = field(default_factory=dict)
    """What is worth knowing about the run; kept with the phases."""
    seconds: dict[str, float] = field(default_factory=dict)
    from_before: list[str] = field(default_factory=list)
    """Phases that an interrupted run had finished."""
    unkept: list[str] = field(default_factory=list)
    """Phases since the last one that was kept."""

    @contextmanager
    def phase(self, name: str) -> Iterator[Report]:
        """Time what happens inside; yields a function to report the share done."""

        def report(share: float) -> None:
            if self.progress:
                self.progress(name, share)

        start = time.perf_counter()
        report(0.0)
        yield report
        report(1.0)
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
        self.unkept.append(name)

    def kept(self, name: str, make: Callable[[Report], Arrays]) -> Arrays:
        """What a phase makes: done now, or taken over from before the run was interrupted."""
        if (arrays := self.resumed(name)) is not None:
            return arrays
        with self.phase(name) as report:
            arrays = make(report)
        self.keep(name, arrays)
        return arrays

    def resumed(self, name: str) -> Arrays | None:
        """What a phase had made before the run was interrupted."""
        found = self.checkpoint.load(name)
        if found is None:
            return None
        arrays, earlier, self.seconds[name] = found
        self.facts.update(earlier)
        self.from_before.append(name)
        return arrays

    def keep(self, name: str, arrays: Arrays) -> None:
        """Keep what a phase, or the last ones together, have made, if that took long."""
        seconds = sum(self.seconds[phase] for phase in self.unkept)
        self.checkpoint.save(name, arrays, self.facts, seconds)
        self.unkept.clear()

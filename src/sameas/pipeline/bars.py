"""Progress as bars: in a notebook as HTML that is brought up to date, elsewhere as lines."""

from __future__ import annotations

import sys
import time
from importlib import import_module
from typing import Any

from sameas.graph.notebook import html_bar, html_table
from sameas.pipeline.meanings import meaning
from sameas.pipeline.phases import PhaseProgress

PAUSE = 0.2
"""Seconds between two drawings."""


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


def progress_bars() -> PhaseProgress:
    """What shows the phases of a run as they go on."""
    return _in_notebook() if in_notebook() else _in_lines


def _in_lines(phase: str, share: float) -> None:
    if share == 0.0:
        print(meaning(phase), file=sys.stderr, flush=True)


def _in_notebook() -> PhaseProgress:
    shown: Any = import_module("IPython.display")
    handle = shown.display(shown.HTML(""), display_id=True)
    shares: dict[str, float] = {}
    drawn = 0.0

    def report(phase: str, share: float) -> None:
        nonlocal drawn
        shares[phase] = share
        now = time.monotonic()
        if now - drawn < PAUSE and share not in (0.0, 1.0):
            return
        drawn = now
        rows = [
            (meaning(each), html_bar(0.0, 100.0 * done), f"{done:.0%}")
            for each, done in shares.items()
        ]
        handle.update(shown.HTML(html_table(rows)))

    return report

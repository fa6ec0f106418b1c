"""Find which entity in one knowledge graph is which entity in another.

>>> import sameas
>>> pair = sameas.read_pair(sameas.DEMO)
>>> alignment = sameas.align(pair)
>>> metrics = sameas.evaluate(alignment, pair.gold)
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sameas._version import __version__

if TYPE_CHECKING:
    from sameas.alignment import Alignment, Diagnostics
    from sameas.errors import (
        InputError,
        MemoryCeilingError,
        OptionError,
        OutputError,
        SameasError,
    )
    from sameas.evaluation import Calibration, Metrics, calibration, evaluate, hide_half
    from sameas.explanation import Explanation
    from sameas.graph import Graph, GraphPair
    from sameas.inspection import inspect
    from sameas.options import PRESETS, Options
    from sameas.pipeline import align, verify
    from sameas.reading import Reading, read_gold, read_graph, read_links, read_pair
    from sameas.writing import merge, read_run, write, write_links

DEMO = Path(__file__).parent / "demo" / "world"
"""The benchmark folder that ships with the package."""

# Names are imported when they are first used: ``import sameas`` itself takes no time.
_HOMES = {
    "alignment": ("Alignment", "Diagnostics"),
    "errors": ("InputError", "MemoryCeilingError", "OptionError", "OutputError", "SameasError"),
    "evaluation": ("Calibration", "Metrics", "calibration", "evaluate", "hide_half"),
    "explanation": ("Explanation",),
    "graph": ("Graph", "GraphPair"),
    "inspection": ("inspect",),
    "options": ("PRESETS", "Options"),
    "pipeline": ("align", "verify"),
    "reading": ("Reading", "read_gold", "read_graph", "read_links", "read_pair"),
    "writing": ("merge", "read_run", "write", "write_links"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "DEMO",
    "PRESETS",
    "Alignment",
    "Calibration",
    "Diagnostics",
    "Explanation",
    "Graph",
    "GraphPair",
    "InputError",
    "MemoryCeilingError",
    "Metrics",
    "OptionError",
    "Options",
    "OutputError",
    "Reading",
    "SameasError",
    "__version__",
    "align",
    "calibration",
    "evaluate",
    "hide_half",
    "inspect",
    "merge",
    "read_gold",
    "read_graph",
    "read_links",
    "read_pair",
    "read_run",
    "verify",
    "write",
    "write_links",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its module."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'sameas' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"sameas.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names."""
    return __all__

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
    from sameas.audit.record import Audit
    from sameas.errors import (
        ClusterError,
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
    from sameas.languages import translate
    from sameas.options import PRESETS, Options, Where
    from sameas.pipeline import align, audit_alignment, verify
    from sameas.reading import Reading, read_gold, read_graph, read_links, read_pair
    from sameas.writing import merge, read_run, write, write_links, write_names

DEMO = Path(__file__).parent / "demo" / "world"
"""The benchmark folder that ships with the package."""

__all__ = ["DEMO", "PRESETS", "Options", "Where", "__version__"]
__all__ += [
    "ClusterError",
    "InputError",
    "MemoryCeilingError",
    "OptionError",
    "OutputError",
    "SameasError",
]
__all__ += ["Graph", "GraphPair", "Reading", "read_gold", "read_graph", "read_links", "read_pair"]
__all__ += ["Alignment", "Audit", "Diagnostics", "Explanation"]
__all__ += ["align", "audit_alignment", "inspect", "verify"]
__all__ += ["Calibration", "Metrics", "calibration", "evaluate", "hide_half"]
__all__ += ["merge", "read_run", "translate", "write", "write_links", "write_names"]

_HOMES = "errors options graph reading inspection explanation alignment evaluation writing pipeline"
_HOMES += " languages"
"""Where public names are looked up, what is quickly imported first."""


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: ``import sameas`` itself takes no time."""
    if name in __all__:
        for home in _HOMES.split():
            module = importlib.import_module(f"sameas.{home}")
            if name in getattr(module, "__all__", vars(module)):
                globals()[name] = value = getattr(module, name)
                return value
    raise AttributeError(f"module 'sameas' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names."""
    return __all__

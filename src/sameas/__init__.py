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

if TYPE_CHECKING:
    from sameas.errors import (
        ClusterError,
        InputError,
        MemoryCeilingError,
        OptionError,
        OutputError,
        SameasError,
    )
    from sameas.formats.links import read_links
    from sameas.formats.pair import read_gold, read_graph, read_pair
    from sameas.graph.graph import Graph, GraphPair
    from sameas.graph.inspection import inspect
    from sameas.graph.matched import MatchedGraph, MatchedPair
    from sameas.graph.rdf.reading import Reading
    from sameas.options.options import PRESETS, Options, Where
    from sameas.pipeline.align import align, audit_alignment, verify
    from sameas.pipeline.dedupe import dedupe
    from sameas.result.alignment import Alignment, Diagnostics
    from sameas.result.audit.record import Audit
    from sameas.result.cluster_evaluation import ClusterMetrics, evaluate_clusters
    from sameas.result.clusters import Clusters
    from sameas.result.evaluation import Calibration, Metrics, calibration, evaluate, hide_half
    from sameas.result.explanation.sentences import Explanation
    from sameas.result.export import write, write_links
    from sameas.result.merging import merge
    from sameas.result.name_export import write_names
    from sameas.result.run_folder import read_run
    from sameas.text.languages.service import translate

__version__ = "0.1.0"

DEMO = Path(__file__).parent / "demo" / "world"
"""The benchmark folder that ships with the package."""

_PUBLIC = {
    "errors": "ClusterError InputError MemoryCeilingError OptionError OutputError SameasError",
    "formats.links": "read_links",
    "formats.pair": "read_gold read_graph read_pair",
    "graph.graph": "Graph GraphPair",
    "graph.inspection": "inspect",
    "graph.matched": "MatchedGraph MatchedPair",
    "graph.rdf.reading": "Reading",
    "options.options": "Options PRESETS Where",
    "pipeline.align": "align audit_alignment verify",
    "pipeline.dedupe": "dedupe",
    "result.alignment": "Alignment Diagnostics",
    "result.audit.record": "Audit",
    "result.cluster_evaluation": "ClusterMetrics evaluate_clusters",
    "result.clusters": "Clusters",
    "result.evaluation": "Calibration Metrics calibration evaluate hide_half",
    "result.explanation.sentences": "Explanation",
    "result.export": "write write_links",
    "result.merging": "merge",
    "result.name_export": "write_names",
    "result.run_folder": "read_run",
    "text.languages.service": "translate",
}
"""The modules of the public names; each is imported when one of its names is first used."""
_MODULES = {name: module for module, names in _PUBLIC.items() for name in names.split()}

__all__ = ["DEMO", "__version__"]
__all__ += [
    "PRESETS",
    "Alignment",
    "Audit",
    "Calibration",
    "ClusterError",
    "ClusterMetrics",
    "Clusters",
    "Diagnostics",
    "Explanation",
    "Graph",
    "GraphPair",
    "InputError",
    "MatchedGraph",
    "MatchedPair",
    "MemoryCeilingError",
    "Metrics",
    "OptionError",
    "Options",
    "OutputError",
    "Reading",
    "SameasError",
    "Where",
    "align",
    "audit_alignment",
    "calibration",
    "dedupe",
    "evaluate",
    "evaluate_clusters",
    "hide_half",
    "inspect",
    "merge",
    "read_gold",
    "read_graph",
    "read_links",
    "read_pair",
    "read_run",
    "translate",
    "verify",
    "write",
    "write_links",
    "write_names",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: ``import sameas`` itself takes no time."""
    if name not in _MODULES:
        raise AttributeError(f"module 'sameas' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"sameas.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names."""
    return __all__

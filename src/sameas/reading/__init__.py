"""Files and folders in; graphs, links and vectors out."""

from sameas.rdf.rules import Reading
from sameas.reading.benchmark import detect_layout
from sameas.reading.links import read_links
from sameas.reading.pair import is_pair, read_gold, read_graph, read_pair, read_understood

__all__ = [
    "Reading",
    "detect_layout",
    "is_pair",
    "read_gold",
    "read_graph",
    "read_links",
    "read_pair",
    "read_understood",
]

"""Files and folders in, a GraphPair out."""

from sameas.reading.links import read_links
from sameas.reading.options import Reading
from sameas.reading.pair import detect_layout, is_pair, read_gold, read_graph, read_pair

__all__ = [
    "Reading",
    "detect_layout",
    "is_pair",
    "read_gold",
    "read_graph",
    "read_links",
    "read_pair",
]

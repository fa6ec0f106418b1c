"""Files and folders in, a GraphPair out."""

from sameas.reading.links import read_links
from sameas.reading.pair import detect_layout, is_pair, read_gold, read_graph, read_pair
from sameas.reading_options import Reading

__all__ = [
    "Reading",
    "detect_layout",
    "is_pair",
    "read_gold",
    "read_graph",
    "read_links",
    "read_pair",
]

"""Files and folders in, a GraphPair out."""

from sameas.reading.links import read_links
from sameas.reading.pair import detect_layout, read_gold, read_graph, read_pair

__all__ = ["detect_layout", "read_gold", "read_graph", "read_links", "read_pair"]

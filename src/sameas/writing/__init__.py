"""Alignments out: links in many formats, merged graphs, and run folders that keep everything."""

from sameas.writing.merged import Merged, write_merged
from sameas.writing.run import Run, is_run, read_run, write_run
from sameas.writing.target import check_target, write, write_link_set, write_links

__all__ = [
    "Merged",
    "Run",
    "check_target",
    "is_run",
    "read_run",
    "write",
    "write_link_set",
    "write_links",
    "write_merged",
    "write_run",
]

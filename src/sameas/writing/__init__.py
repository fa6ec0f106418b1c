"""Alignments out: links in many formats, merged graphs, and run folders that keep everything."""

from sameas.writing.links import prepare, write, write_links
from sameas.writing.merged import Merged, merge
from sameas.writing.names import write_names
from sameas.writing.run import is_run, read_run, write_run

__all__ = ["Merged", "is_run", "merge", "prepare", "read_run"]
__all__ += ["write", "write_links", "write_names", "write_run"]

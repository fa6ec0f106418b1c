"""Alignments out: tables of links, and run folders that keep everything."""

from sameas.writing.run import Run, is_run, read_run, write_run
from sameas.writing.target import check_target, write, write_links

__all__ = ["Run", "check_target", "is_run", "read_run", "write", "write_links", "write_run"]

"""The command line: the only part that prints.

Modules that compute are imported inside the commands, so that ``sameas --help`` is instant.
"""

import os

# The allocator of polars gives freed memory back at once, instead of after ten seconds. It reads
# this when it is loaded.
os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:0,muzzy_decay_ms:0")

from sameas.cli.main import main

__all__ = ["main"]

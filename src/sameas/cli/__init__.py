"""The command line: the only part that prints.

Modules that compute are imported inside the commands, so that ``sameas --help`` is instant.
"""

import gc
import os

# Nearly all that a command makes is freed without the collector, which would look through all
# modules again and again while they are loaded.
gc.set_threshold(300_000, 20, 100)

# The allocator of polars gives freed memory back in a twentieth of a second, instead of after ten
# seconds; at once, a run would take a third more pages from the system. It reads this when it is
# loaded.
os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:50,muzzy_decay_ms:0")

from sameas.cli.main import main  # noqa: E402

__all__ = ["main"]

"""Have the kernels of every run ready: loaded, or compiled by two processes at once.

After the installation, nothing is compiled. A second process then starts at the other end of the
list of kernels, and what one has compiled the other finds in the cache. Run as a module, this is
that second process.
"""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from threading import Lock
from typing import Any

from sameas.compute.kernels.assignment import (
    augment,
    best_of_lines,
    best_places,
    count_ranks,
    log_sums,
)
from sameas.compute.kernels.kernel import compile_kernel, is_cached
from sameas.compute.kernels.products import (
    add_products,
    pair_products,
    sketch_products,
    sparse_products,
    weighted_sums,
)
from sameas.compute.kernels.topk import (
    best_meetings,
    best_of_tile,
    cut_lines,
    find_places,
    merge_best,
    places_above,
)
from sameas.compute.kernels.votes import gather_votes

log = logging.getLogger(__name__)
KERNELS: Sequence[Any] = (
    *(gather_votes, pair_products, best_meetings, best_of_lines, best_places, weighted_sums),
    *(find_places, add_products, sketch_products, places_above, count_ranks, log_sums),
    *(merge_best, sparse_products, augment, best_of_tile, cut_lines),
)
"""Those that most runs use; the first and the last ones take longest to compile."""
FEW = 4
"""Kernels that are compiled without a word, in a second or two."""
_making = Lock()


def make_ready() -> None:
    """Compile the kernels that are not in the cache, and say so if that takes long."""
    with _making:
        _make_ready_once()


@cache
def _make_ready_once() -> None:
    if sum(not is_cached(each) for each in KERNELS) <= FEW:
        return  # each is loaded when it is used
    log.warning("compiling numerical code for this computer, once after installation ...")
    helper = _start_helper()
    for each in KERNELS:
        compile_kernel(each)
    if helper:
        helper.wait()


def _start_helper() -> subprocess.Popen[bytes] | None:
    """A process that compiles from the other end; None where none can be started."""
    quiet = subprocess.DEVNULL
    if not sys.executable or getattr(sys, "frozen", False):
        return None
    with suppress(OSError):
        command = [sys.executable, "-m", __name__]
        return subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet)
    return None


if __name__ == "__main__":
    for each in reversed(KERNELS):
        compile_kernel(each)

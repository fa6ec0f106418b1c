"""Limits of the system on this process, which are checked before anything large is loaded.

Under a limit that is too low, libraries fail in ways that blame the input, or end the process.
"""

from __future__ import annotations

import os

from sameas.errors import MemoryCeilingError

GIB = 2**30
NEEDED = {
    "RLIMIT_AS": ("address space", "ulimit -v", 2 * GIB),
    "RLIMIT_DATA": ("data", "ulimit -d", GIB // 2),
}
"""The limits: what they are on, how a shell sets them, and how many bytes the smallest `align`
needs; on two cores it was seen to take 1.8 and 0.5 GiB."""
NEEDED_PER_CORE = 2**26
"""Bytes for the threads of each core: stacks and heaps of their own."""


def check_limits() -> None:
    """Raise a MemoryCeilingError if the system allows this process too little memory to work."""
    try:
        import resource
    except ImportError:  # on Windows, which has no such limits
        return
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    for name, (what, shell, base) in NEEDED.items():
        limit = resource.getrlimit(getattr(resource, name))[0]
        needed = base + NEEDED_PER_CORE * (cores or 1)
        if limit != resource.RLIM_INFINITY and limit < needed:
            raise MemoryCeilingError(
                f"this process may have {limit / GIB:.2f} GiB of {what} ({shell} "
                f"{limit // 1024}), and sameas needs {needed / GIB:.2f} GiB for the smallest "
                f"graphs; raise the limit with: {shell} unlimited"
            )

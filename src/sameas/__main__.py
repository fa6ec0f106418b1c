"""The command ``sameas``, also as ``python -m sameas``."""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress
from typing import NoReturn

from sameas.cli import main
from sameas.compute.heap import keep_freed_memory


def run() -> NoReturn:
    """Run a command, then end the process at once.

    The interpreter would free every object first, which takes a tenth of a second after a short
    run; the system frees them all together.
    """
    keep_freed_memory()
    code: object = 0
    try:
        main(prog_name="sameas")
    except SystemExit as done:
        code = done.code
    atexit._run_exitfuncs()  # temporary folders, processes of a cluster, coverage
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed, or nobody reads it
            stream.flush()
    os._exit(code if isinstance(code, int) else bool(code))


if __name__ == "__main__":
    run()

"""The command line: the only part that prints.

Modules that compute are imported inside the commands, so that ``sameas --help`` is instant.
"""

from sameas.cli.main import main

__all__ = ["main"]

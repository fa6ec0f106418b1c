"""An extension of Griffe for the reference: examples in docstrings are shown as code."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

EXAMPLE = re.compile(r"^([ \t]*)>>> .*(?:\n[ \t]*\S.*)*", re.MULTILINE)


def fenced(text: str) -> str:
    """The text with each run of lines that begins with ``>>>`` as a block of code.

    >>> fenced("Half.").count("pycon")
    0
    """
    return EXAMPLE.sub(lambda match: f"{match[1]}```pycon\n{match[0]}\n{match[1]}```", text)


class DoctestBlocks(Extension):
    """Turn examples of every docstring into blocks of code."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Change the docstring of an object, once."""
        if obj.docstring is not None and "```" not in obj.docstring.value:
            obj.docstring.value = fenced(obj.docstring.value)

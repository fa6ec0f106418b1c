"""JSON files, and files with an object a line, as Python values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sameas.errors import InputError, refusing, shortened
from sameas.formats.files import StrPath, decoded, open_stream
from sameas.formats.guards import Guarded


def read_json(path: StrPath) -> Any:
    """The value in a JSON file."""
    text = decoded(_guarded_bytes(path), path)
    with refusing(path, "not valid JSON", "mend it; is the file whole?"):
        return json.loads(text)


def read_json_lines(path: StrPath) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file with one a line, each with its line; blank lines are passed over."""
    text = decoded(_guarded_bytes(path), path)
    for line, content in enumerate(text.split("\n"), start=1):
        if not content.strip():
            continue
        try:
            value = json.loads(content)
        except (ValueError, RecursionError) as error:
            why = getattr(error, "msg", None) or "malformed"
            problem = f"not valid JSON ({shortened(why)}); an object a line is expected"
            raise InputError(path, problem, line=line) from None
        if not isinstance(value, dict):
            problem = f"an object is expected, found {shortened(content)}"
            raise InputError(path, problem, line=line)
        yield line, value


def _guarded_bytes(path: StrPath) -> bytes:
    """The whole content of a file that is not nested too deeply."""
    with open_stream(path) as stream:
        guarded = Guarded(stream, "json")
        return b"".join(iter(guarded.read, b""))

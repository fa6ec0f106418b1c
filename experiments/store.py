"""results.json: every figure with its origin; and what figures depend on."""

from __future__ import annotations

import ast
import hashlib
import io
import json
import os
import platform
import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from functools import cache, lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

import sameas
from sameas.compute.atomic import replacing_file
from sameas.errors import InputError

FORMAT = 2
SOURCES = {
    "sameas": Path(sameas.__file__).parent,
    **{name: Path(__file__).parents[1] / name for name in ("experiments", "benchmarks")},
}
PRESENTATION = (
    *("sameas/cli/*", "sameas/web/*", "sameas/result/explanation/*", "sameas/result/export.py"),
    *(f"experiments/{name}.py" for name in ("__main__", "figures", "plots", "rendering", "report")),
)
"""Code that shows figures but does not make them."""
Entry = dict[str, Any]
PACKAGES = ("sameas", "numpy", "scipy", "numba", "polars", "lapx", "pyoxigraph")


def read_results(path: Path) -> dict[str, Entry]:
    """The results in a file by their keys; none if there is no such file."""
    if not path.exists():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf8"))
        if content["format"] != FORMAT:
            fault = f"has format {content['format']}, this version writes {FORMAT}"
        elif content["checksum"] != _checksum(content):
            fault = "was changed or damaged (its checksum is wrong)"
        else:
            return {key_of(entry): entry for entry in content["results"]}
    except (ValueError, KeyError, TypeError, AttributeError):
        fault = "is damaged: not the JSON that was written"
    raise InputError(path, f"{fault}; remove it to start afresh")


def write_results(path: Path, entries: Mapping[str, Entry]) -> None:
    """Write results; the file is always complete."""
    content: Entry = {"format": FORMAT, "results": list(entries.values())}
    content["checksum"] = _checksum(content)
    with replacing_file(path) as draft:
        draft.write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf8")


def key_of(entry: Entry) -> str:
    """A name for a result, unique in a report: experiment, dataset and settings."""
    settings = json.dumps(entry["settings"], sort_keys=True)
    return f"{entry['experiment']} {entry['dataset']} {settings}"


def _checksum(content: Entry) -> str:
    rest = {key: value for key, value in content.items() if key != "checksum"}
    return sha256_of(json.dumps(rest, sort_keys=True, ensure_ascii=False))


def machine() -> dict[str, Any]:
    """What figures depend on besides data and code: processor, memory, versions."""
    pages = getattr(os, "sysconf", None)  # not on Windows
    known = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    named = re.search(r"^model name\s*:\s*(.+)$", known, re.M)
    return {
        "processor": named[1] if named else platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "memory_bytes": pages("SC_PAGE_SIZE") * pages("SC_PHYS_PAGES") if pages else None,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "packages": {
            found.name: found.version
            for name in PACKAGES
            for found in list(metadata.distributions(name=name))[:1]
        },
    }


@lru_cache
def code_version() -> str:
    """A hash of the version and of the code that makes figures."""
    return code_checksum(["sameas/*", "experiments/*"], PRESENTATION)


def code_checksum(of: Sequence[str], without: Sequence[str] = ()) -> str:
    """A hash of the version and of the code in files that match a pattern and none of the others.

    Comments, docstrings and layout do not count: they change no figure.
    """
    parts = [sameas.__version__]
    for name, root in SOURCES.items():
        for path in sorted(root.rglob("*.py")):
            file = f"{name}/{path.relative_to(root).as_posix()}"
            if _matches(file, of) and not _matches(file, without):
                parts += [file, code_of(path.read_text(encoding="utf8"))]
    return sha256_of(*parts)


def _matches(file: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch(file, pattern) for pattern in patterns)


@cache  # parts share most files
def code_of(source: str) -> str:
    """Python code without comments, docstrings and layout.

    >>> code_of('def f():\\n    "Of no use."\\n    return  1  # one\\n')
    'def f():\\n    return 1'
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and len(body) > 1:
            kept = [each for each in body if not _is_text(each)]
            node.body = kept or body  # type: ignore[attr-defined]
    return ast.unparse(tree)


def _is_text(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring, or the description of a constant."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def sha256_of(*parts: str | Path) -> str:
    """A hash of texts and of the contents of files, one after the other."""
    digest = hashlib.sha256()
    for part in parts:
        with part.open("rb") if isinstance(part, Path) else io.BytesIO(part.encode()) as file:
            while block := file.read(2**20):
                digest.update(block)
    return digest.hexdigest()

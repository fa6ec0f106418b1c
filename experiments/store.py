"""results.json: every figure with its origin; and what figures depend on."""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

import sameas
from sameas.compute.atomic import replacing_file
from sameas.errors import InputError

FORMAT = 2
PRESENTATION = {
    *("cli", "explanation", "__pycache__"),
    *("report.py", "figures.py", "rendering.py", "plots.py"),
}
"""Parts of the package that show figures but do not make them."""
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
    """The version and a hash of the code that makes figures."""
    root = Path(sameas.__file__).parent
    every = sorted(root.rglob("*.py"))
    code = [path for path in every if not PRESENTATION & set(path.relative_to(root).parts)]
    return sha256_of(sameas.__version__, *code)


def sha256_of(*parts: str | Path) -> str:
    """A hash of texts and of the contents of files, one after the other."""
    digest = hashlib.sha256()
    for part in parts:
        with part.open("rb") if isinstance(part, Path) else io.BytesIO(part.encode()) as file:
            while block := file.read(2**20):
                digest.update(block)
    return digest.hexdigest()

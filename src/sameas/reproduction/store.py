"""results.json: every figure with its origin, written after each experiment."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

import sameas
from sameas.atomic import replacing_file
from sameas.errors import InputError

FORMAT = 2
PRESENTATION = {
    *("cli", "explanation", "__pycache__"),
    *("report.py", "figures.py", "rendering.py", "plots.py"),
}
"""Parts of the package that show figures but do not make them."""
PACKAGES = ("sameas", "numpy", "scipy", "numba", "polars", "lapx", "pyoxigraph")


@dataclass(frozen=True, eq=False)
class Task:
    """One experiment on one dataset, with the settings that tell it from its siblings."""

    experiment: str
    dataset: str
    settings: dict[str, Any]
    inputs: tuple[str, ...]
    """Hashes of the files it reads."""

    @property
    def key(self) -> str:
        """A name for the task, unique in a report."""
        return f"{self.experiment} {self.dataset} {json.dumps(self.settings, sort_keys=True)}"

    @property
    def fingerprint(self) -> str:
        """A hash of all that its figures depend on: inputs, settings and code."""
        return sha256_of(json.dumps([self.key, self.inputs, code_version()]))


class Store:
    """The results of a report, kept in a file that is always complete."""

    def __init__(self, path: Path) -> None:
        """Open the results in a file, or start with none if there is no such file."""
        self.path = path
        self._entries: dict[str, dict[str, Any]] = {}
        if path.exists():
            for entry in _read(path):
                task = Task(entry["experiment"], entry["dataset"], entry["settings"], ())
                self._entries[task.key] = entry

    def get(self, task: Task) -> dict[str, Any] | None:
        """The entry of a task, unless it is missing or something it depends on has changed."""
        entry = self._entries.get(task.key)
        return entry if entry and entry["fingerprint"] == task.fingerprint else None

    def put(
        self, task: Task, figures: Mapping[str, Any], seconds: float, origin: dict[str, Any]
    ) -> None:
        """Add a task's figures with what they came from, and write the file."""
        entry = {
            "experiment": task.experiment,
            "dataset": task.dataset,
            "settings": task.settings,
            "figures": figures,
            "seconds": round(seconds, 3),
            "fingerprint": task.fingerprint,
            "dataset_sha256": task.inputs[0],
            "sameas": sameas.__version__,
            **origin,
        }
        # What is given back is what the next run will read: no tuples, no whole-number keys.
        self._entries[task.key] = json.loads(json.dumps(entry))
        content = {"format": FORMAT, "results": list(self._entries.values())}
        content["checksum"] = _checksum(content)
        with replacing_file(self.path) as draft:
            draft.write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf8")


def machine() -> dict[str, Any]:
    """What figures depend on besides data and code: processor, memory, versions."""
    pages = getattr(os, "sysconf", None)  # not on Windows
    return {
        "processor": _processor(),
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
        if isinstance(part, str):
            digest.update(part.encode())
            continue
        with part.open("rb") as file:
            while block := file.read(2**20):
                digest.update(block)
    return digest.hexdigest()


def _read(path: Path) -> Any:
    """The results in a file."""
    try:
        content = json.loads(path.read_text(encoding="utf8"))
        if content["format"] != FORMAT:
            fault = f"has format {content['format']}, this version writes {FORMAT}"
        elif content["checksum"] != _checksum(content):
            fault = "was changed or damaged (its checksum is wrong)"
        else:
            return content["results"]
    except (ValueError, KeyError, TypeError, AttributeError):
        fault = "is damaged: not the JSON that was written"
    raise InputError(path, f"{fault}; remove it to start afresh")


def _checksum(content: dict[str, Any]) -> str:
    rest = {key: value for key, value in content.items() if key != "checksum"}
    return sha256_of(json.dumps(rest, sort_keys=True, ensure_ascii=False))


def _processor() -> str:
    file = Path("/proc/cpuinfo")
    named = re.search(r"^model name\s*:\s*(.+)$", file.read_text() if file.exists() else "", re.M)
    return named[1] if named else platform.processor() or platform.machine()

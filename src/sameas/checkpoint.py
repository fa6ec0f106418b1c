"""Results of finished phases of a long run, kept so that an interrupted run can go on.

A checkpoint is a folder with one folder per phase: its arrays (.npy) and phase.json with their
checksums and the fingerprint of the run they belong to. A phase is there whole or not at all,
and what belongs to another input, other options or another version is never used.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import zlib
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sameas._version import __version__
from sameas.errors import writing_to
from sameas.inputs import Task

T = TypeVar("T")
Arrays = dict[str, NDArray[Any]]

WORTH_SECONDS = 3.0
"""Phases that took less are computed again rather than kept."""
OF_SPARSE = ("data", "indices", "indptr", "shape")
"""The arrays of a sparse one."""


@dataclass(frozen=True)
class Checkpoint:
    """Where phases are kept, and the fingerprint of the run they belong to; None keeps nothing."""

    folder: Path | None = None
    fingerprint: str = ""

    def save(self, phase: str, result: Any, seconds: float) -> None:
        """Keep the result of a phase (a dataclass of arrays), if it took long enough."""
        if self.folder is None or seconds < WORTH_SECONDS:
            return
        draft = self.folder / f"{phase}.draft"
        arrays = to_arrays(result)
        with writing_to(self.folder, f"cannot keep the phase {phase}"):
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir(parents=True)
            for name, array in arrays.items():
                np.save(draft / f"{name}.npy", array, allow_pickle=False)
            record = {
                "fingerprint": self.fingerprint,
                "seconds": seconds,
                "arrays": {name: _checksum(array) for name, array in arrays.items()},
            }
            (draft / "phase.json").write_text(json.dumps(record), encoding="utf8")
            shutil.rmtree(self.folder / phase, ignore_errors=True)
            draft.rename(self.folder / phase)

    def load(self, phase: str, kind: type[T]) -> tuple[T, float] | None:
        """The result of a phase of the same run, and its seconds; None if it was not kept."""
        if self.folder is None or not (self.folder / phase / "phase.json").is_file():
            return None
        try:
            record = json.loads((self.folder / phase / "phase.json").read_text(encoding="utf8"))
            if record["fingerprint"] != self.fingerprint:
                return None
            arrays = {}
            for name, checksum in record["arrays"].items():
                arrays[name] = np.load(self.folder / phase / f"{name}.npy", allow_pickle=False)
                if _checksum(arrays[name]) != checksum:
                    return None
            return from_arrays(kind, arrays), record["seconds"]
        except Exception:  # a damaged file can make NumPy raise nearly anything
            return None


def to_arrays(value: Any, name: str = "") -> Arrays:
    """A dataclass of arrays, numbers, texts, sparse arrays and such dataclasses, as flat arrays."""
    if value is None:
        return {}
    parts = _parts(value)
    if parts is None:
        return {name: np.asarray(value)}
    arrays: Arrays = {}
    for part, content in parts.items():
        arrays |= to_arrays(content, f"{name}.{part}" if name else part)
    return arrays


def _parts(value: Any) -> dict[str, Any] | None:
    """The parts of a sparse array, a dataclass or a tuple of these, by name."""
    if isinstance(value, csr_array):
        return {part: getattr(value, part) for part in OF_SPARSE}
    if is_dataclass(value):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    if isinstance(value, tuple) and any(map(is_dataclass, value)):
        return {str(number): part for number, part in enumerate(value)}
    return None


def from_arrays(kind: Any, arrays: Arrays, name: str = "") -> Any:
    """The value that ``to_arrays`` was given, from its type."""
    inner = f"{name}." if name else ""
    if NoneType in get_args(kind):
        if name not in arrays and not any(key.startswith(inner) for key in arrays):
            return None
        kind = next(each for each in get_args(kind) if each is not NoneType)
    if kind is csr_array:
        data, indices, indptr, shape = (arrays[f"{inner}{part}"] for part in OF_SPARSE)
        return csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        names = [each.name for each in fields(kind)]
        return kind(**{part: from_arrays(hints[part], arrays, f"{inner}{part}") for part in names})
    if get_origin(kind) is tuple and any(map(is_dataclass, get_args(kind))):
        parts = enumerate(get_args(kind))
        return tuple(from_arrays(each, arrays, f"{inner}{number}") for number, each in parts)
    array = arrays[name]
    if get_origin(kind) is tuple:
        return tuple(array.tolist())
    return array.item() if kind in (int, float, bool, str) else array


def fingerprint(task: Task) -> str:
    """A hash of everything that the result depends on."""
    digest = hashlib.sha256(__version__.encode())
    digest.update(json.dumps(task.options.asdict(), sort_keys=True).encode())
    _update(digest, task.inputs)
    _update(digest, task.pair)
    return digest.hexdigest()


def _update(digest: Any, content: Any) -> None:
    """Add a table, an array or a dataclass of these to a hash."""
    if isinstance(content, pl.DataFrame):
        digest.update(f"{content.shape} {content.columns} ".encode())
        digest.update(content.hash_rows(0).to_numpy().tobytes() if len(content) else b"")
    elif isinstance(content, pl.Series):
        digest.update(f"{len(content)} ".encode())
        digest.update(np.ascontiguousarray(content.hash(0).to_numpy()))
    elif isinstance(content, np.ndarray):
        digest.update(f"{content.dtype.str} {content.shape} ".encode())
        digest.update(np.ascontiguousarray(content))
    elif (parts := _parts(content)) is not None:
        for part in parts.values():
            _update(digest, part)
    else:
        digest.update(repr(content).encode())


def _checksum(array: NDArray[Any]) -> str:
    content = zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return f"{array.dtype.str} {array.shape} {content}"

"""Results of finished phases of a long run, kept so that an interrupted run can go on.

A checkpoint is a folder with one file of arrays per phase (.npz, which has checksums), among them
the fingerprint of the run it belongs to. A phase is there whole or not at all, and what belongs
to another input, other options or another version is never used.
"""

from __future__ import annotations

import hashlib
import json
import logging
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sameas import __version__
from sameas.errors import system_reason
from sameas.graph.task import Task

T = TypeVar("T")
Arrays = dict[str, NDArray[Any]]

log = logging.getLogger(__name__)

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
        """Keep the result of a phase (a dataclass of arrays), if it took long enough.

        A full disk is a warning: the run goes on, and the draft is removed.
        """
        if self.folder is None or seconds < WORTH_SECONDS:
            return
        arrays = to_arrays(result, "result")
        arrays |= to_arrays(self.fingerprint, "fingerprint") | to_arrays(seconds, "seconds")
        draft = self.folder / f"{phase}.draft.npz"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            np.savez(draft, **arrays)  # type: ignore[arg-type]
            draft.replace(self.folder / f"{phase}.npz")
        except OSError as error:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
            with suppress(OSError):  # it may hold earlier phases
                self.folder.rmdir()
            text = "%s: the phase %s is not kept for an interrupted run (%s)"
            log.warning(text, self.folder, phase, system_reason(error))

    def load(self, phase: str, kind: type[T]) -> tuple[T, float] | None:
        """The result of a phase of the same run, and its seconds; None if it was not kept."""
        if self.folder is None:
            return None
        try:
            file = self.folder / f"{phase}.npz"
            with file.open("rb") as stream, np.load(stream, allow_pickle=False) as kept:
                if kept["fingerprint"].item() != self.fingerprint:
                    return None
                arrays = dict(kept)
            return from_arrays(kind, arrays, "result"), arrays["seconds"].item()
        except Exception:  # a damaged file can make NumPy raise nearly anything
            return None


def to_arrays(value: Any, name: str) -> Arrays:
    """A dataclass of arrays, numbers, texts, sparse arrays and such dataclasses, as flat arrays."""
    if value is None:
        return {}
    if (parts := _parts(value)) is None:
        return {name: np.asarray(value)}
    inner = (to_arrays(content, f"{name}.{part}") for part, content in parts.items())
    return {key: array for arrays in inner for key, array in arrays.items()}


def _parts(value: Any) -> dict[str, Any] | None:
    """The parts of a sparse array, a dataclass or a tuple of these, by name."""
    if isinstance(value, csr_array):
        return {part: getattr(value, part) for part in OF_SPARSE}
    if is_dataclass(value):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    if isinstance(value, tuple) and any(map(is_dataclass, value)):
        return {str(number): part for number, part in enumerate(value)}
    return None


def from_arrays(kind: Any, arrays: Arrays, name: str) -> Any:
    """The value that ``to_arrays`` was given, from its type."""
    if NoneType in get_args(kind):
        if not any(key == name or key.startswith(f"{name}.") for key in arrays):
            return None
        kind = next(each for each in get_args(kind) if each is not NoneType)
    if kind is csr_array:
        data, indices, indptr, shape = (arrays[f"{name}.{part}"] for part in OF_SPARSE)
        return csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        names = [each.name for each in fields(kind)]
        return kind(**{part: from_arrays(hints[part], arrays, f"{name}.{part}") for part in names})
    if get_origin(kind) is tuple and any(map(is_dataclass, get_args(kind))):
        parts = enumerate(get_args(kind))
        return tuple(from_arrays(each, arrays, f"{name}.{number}") for number, each in parts)
    array = arrays[name]
    if get_origin(kind) is tuple:
        return tuple(array.tolist())
    return array.item() if kind in (int, float, bool, str) else array


def fingerprint(task: Task) -> str:
    """A hash of everything that the result depends on."""
    digest = hashlib.sha256(__version__.encode())
    digest.update(json.dumps(task.options.asdict(), sort_keys=True).encode())
    digest.update(json.dumps(task.tuning.differences(), sort_keys=True).encode())
    _update(digest, task.inputs)
    _update(digest, task.pair)
    return digest.hexdigest()


def _update(digest: Any, content: Any) -> None:
    """Add a table, an array or a dataclass of these to a hash."""
    if isinstance(content, pl.Series):
        content = content.to_frame()
    if isinstance(content, pl.DataFrame):
        digest.update(f"{content.shape} {content.columns} ".encode())
        digest.update(content.hash_rows(0).to_numpy().tobytes() if len(content) else b"")
    elif isinstance(content, np.ndarray):
        digest.update(f"{content.dtype.str} {content.shape} ".encode())
        digest.update(np.ascontiguousarray(content))
    elif (parts := _parts(content)) is not None:
        for part in parts.values():
            _update(digest, part)
    else:
        digest.update(repr(content).encode())

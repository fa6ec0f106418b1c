"""What finished phases of a long run have made, kept so that an interrupted run can go on.

A checkpoint is a folder with one folder per phase: its arrays (.npy) and phase.json with their
checksums and the fingerprint of the run they belong to. A phase is there whole or not at all,
and what belongs to another input, other options or another version is never used.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import zlib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sameas._version import __version__
from sameas.assignment import Assignment, Plan, Solution
from sameas.candidates import Candidates
from sameas.errors import OutputError
from sameas.evidence import Anchors, Evidence, Relations
from sameas.graph import Graph, GraphPair
from sameas.options import Options
from sameas.refinement import Pairs, Refinement
from sameas.rows import Rows

Arrays = dict[str, NDArray[Any]]

WORTH_SECONDS = 3.0
"""Phases that took less are done again rather than kept."""


@dataclass(frozen=True)
class Checkpoint:
    """Where phases are kept, and the fingerprint of the run they belong to; None keeps nothing."""

    folder: Path | None
    fingerprint: str

    def save(self, phase: str, arrays: Arrays, facts: dict[str, Any], seconds: float) -> None:
        """Keep what a phase has made, if it took long enough."""
        if self.folder is None or seconds < WORTH_SECONDS:
            return
        draft = self.folder / f"{phase}.draft"
        try:
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir(parents=True)
            for name, array in arrays.items():
                np.save(draft / f"{name}.npy", array, allow_pickle=False)
            record = {
                "fingerprint": self.fingerprint,
                "facts": facts,
                "seconds": seconds,
                "arrays": {name: _checksum(array) for name, array in arrays.items()},
            }
            (draft / "phase.json").write_text(json.dumps(record), encoding="utf8")
            shutil.rmtree(self.folder / phase, ignore_errors=True)
            draft.rename(self.folder / phase)
        except OSError as error:
            reason = error.strerror or error
            raise OutputError(f"{self.folder}: cannot keep the phase {phase} ({reason})") from None

    def load(self, phase: str) -> tuple[Arrays, dict[str, Any], float] | None:
        """What a phase had made in a run of the same fingerprint, its facts and its seconds."""
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
            return arrays, record["facts"], record["seconds"]
        except Exception:  # a damaged file can make NumPy raise nearly anything
            return None


def rows_to_arrays(rows: Rows, side: str) -> Arrays:
    """Rows as arrays."""
    sparse = rows.sparse
    return {
        f"{side}_dense": rows.dense,
        f"{side}_values": sparse.data,
        f"{side}_columns": sparse.indices,
        f"{side}_starts": sparse.indptr,
        f"{side}_width": np.array(sparse.shape[1]),
    }


def rows_from_arrays(arrays: Arrays, side: str) -> Rows:
    """What ``rows_to_arrays`` was given."""
    parts = tuple(arrays[f"{side}_{name}"] for name in ("values", "columns", "starts"))
    shape = (len(parts[2]) - 1, int(arrays[f"{side}_width"]))
    return Rows(arrays[f"{side}_dense"], csr_array(parts, shape=shape))


def candidates_to_arrays(candidates: Candidates) -> Arrays:
    """Candidates as arrays."""
    recall = np.nan if candidates.recall is None else candidates.recall
    return {
        "shape": np.array(candidates.shape),
        "starts": candidates.starts,
        "right": candidates.right,
        "values": candidates.values,
        "recall": np.array(recall),
    }


def candidates_from_arrays(arrays: Arrays) -> Candidates:
    """What ``candidates_to_arrays`` was given."""
    shape, recall = arrays["shape"].tolist(), float(arrays["recall"])
    return Candidates(
        (shape[0], shape[1]),
        arrays["starts"],
        arrays["right"],
        arrays["values"],
        None if np.isnan(recall) else recall,
    )


def solution_to_arrays(solution: Solution) -> Arrays:
    """A solution as arrays."""
    arrays = {name: np.asarray(getattr(solution, name)) for name in ("left", "right", "objective")}
    arrays["gap"] = np.array(np.nan if solution.gap is None else solution.gap)
    for part, kind in (("plan", Plan), ("exact", Assignment)):
        value = getattr(solution, part)
        if value is not None:
            for entry in fields(kind):
                arrays[f"{part}.{entry.name}"] = np.asarray(getattr(value, entry.name))
    return arrays


def solution_from_arrays(arrays: Arrays) -> Solution:
    """What ``solution_to_arrays`` was given."""
    parts: dict[str, dict[str, Any]] = {"": {}, "plan": {}, "exact": {}}
    for name, array in arrays.items():
        part, _, entry = name.rpartition(".")
        parts[part][entry] = array if array.ndim else array.item()
    gap = parts[""].pop("gap")
    return Solution(
        **parts[""],
        gap=None if np.isnan(gap) else gap,
        plan=Plan(**parts["plan"]),
        exact=Assignment(**parts["exact"]) if parts["exact"] else None,
    )


def refinement_to_arrays(refinement: Refinement) -> Arrays:
    """A refinement as arrays."""
    pairs = refinement.pairs
    arrays = {f"pairs.{name}": getattr(pairs, name) for name in ("names", "profit")}
    arrays["changes"] = np.array(refinement.changes)
    for part, value in (
        ("candidates", pairs.candidates),
        ("evidence", pairs.evidence),
        ("anchors", refinement.anchors),
        ("relations", refinement.relations),
    ):
        content = candidates_to_arrays(value) if isinstance(value, Candidates) else vars(value)
        arrays.update({f"{part}.{name}": np.asarray(array) for name, array in content.items()})
    return arrays


def refinement_from_arrays(arrays: Arrays) -> Refinement:
    """What ``refinement_to_arrays`` was given."""
    parts: dict[str, Arrays] = {}
    for name, array in arrays.items():
        part, _, entry = name.partition(".")
        parts.setdefault(part, {})[entry] = array
    pairs = Pairs(
        candidates_from_arrays(parts["candidates"]),
        evidence=Evidence(**parts["evidence"]),
        **parts["pairs"],
    )
    changes = tuple(arrays["changes"].tolist())
    return Refinement(pairs, Anchors(**parts["anchors"]), Relations(**parts["relations"]), changes)


def fingerprint(pair: GraphPair, options: Options) -> str:
    """A hash of all that the result depends on."""
    digest = hashlib.sha256(__version__.encode())
    digest.update(json.dumps(options.asdict(), sort_keys=True).encode())
    for path in (
        options.word_vectors,
        options.embeddings,
        options.seeds,
        options.reject,
        options.among,
    ):
        if isinstance(path, Path) and path.exists():
            digest.update(f"{path.stat().st_size} {path.stat().st_mtime_ns} ".encode())
    for graph in (pair.left, pair.right):
        _update(digest, graph)
    if pair.gold is not None:
        for side in ("left", "right"):
            digest.update(pair.gold[side].hash(0).to_numpy().tobytes())
    return digest.hexdigest()


def _update(digest: Any, graph: Graph) -> None:
    for texts in (graph.entities, graph.names, graph.relations):
        digest.update(f"{len(texts)} ".encode())
        digest.update(np.ascontiguousarray(texts.hash(0).to_numpy()))
    digest.update(np.ascontiguousarray(graph.triples))
    for table in (graph.attributes, graph.alternatives):
        if len(table):
            digest.update(table.hash_rows(0).to_numpy().tobytes())
    if graph.linkable is not None:
        digest.update(f"{len(graph.linkable)} linkable ".encode())
        digest.update(np.ascontiguousarray(graph.linkable))


def _checksum(array: NDArray[Any]) -> str:
    content = zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return f"{array.dtype.str} {array.shape} {content}"

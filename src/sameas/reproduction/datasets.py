"""The benchmark datasets in a folder, recognised by their content, not by their names."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from sameas.errors import InputError
from sameas.graph import GraphPair, Positions
from sameas.reading import read_pair
from sameas.reading.benchmark import MARKS
from sameas.reproduction.figures import DATASETS, by_dataset, published

TOLERANCE = 0.02
"""How far sizes may be from the paper's, as a sum of logarithms: about two percent in all."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """One dataset. ``key`` is one of ``DATASETS`` if the paper has it, else its path."""

    key: str
    folder: Path
    swapped: bool
    """Whether the folder's left graph is the paper's right one."""
    sha256: str

    @cached_property
    def pair(self) -> GraphPair:
        """The graphs, read when they are first needed."""
        return read_pair(self.folder)

    @property
    def gold(self) -> pl.DataFrame:
        """The gold links."""
        assert self.pair.gold is not None
        return self.pair.gold

    @cached_property
    def gold_sides(self) -> tuple[Positions, Positions]:
        """The positions of the entities of gold links, ascending."""
        left, right = (np.unique(places) for places in self._gold_positions)
        return left, right

    @cached_property
    def gold_places(self) -> tuple[Positions, Positions]:
        """The places of the gold links' entities among ``gold_sides``."""
        left, right = map(np.searchsorted, self.gold_sides, self._gold_positions)
        return left, right

    @property
    def _gold_positions(self) -> tuple[Positions, Positions]:
        pair = self.pair
        return pair.left.positions(self.gold["left"]), pair.right.positions(self.gold["right"])


def find_datasets(data: Path) -> list[Dataset]:
    """All datasets with gold links below a folder; the paper's in its order, then the others."""
    if not data.is_dir():
        raise InputError(data, "no such folder; give one that holds dataset folders")
    folders = sorted(
        folder
        for folder in [data, *(path for path in data.rglob("*") if path.is_dir())]
        if any((folder / mark).is_file() for mark in MARKS.values())
    )
    found = [_dataset(folder, data) for folder in folders]
    datasets = [dataset for dataset in found if dataset is not None]
    if not datasets:
        raise InputError(
            data,
            "holds no dataset with gold links; expected folders with triples_1 and "
            "ref_ent_ids (DBP15K) or rel_triples_1 and ent_links (OpenEA)",
        )
    by_key = {dataset.key: dataset for dataset in datasets}
    if len(by_key) < len(datasets):
        keys = [dataset.key for dataset in datasets]
        twice = next(key for key in sorted(keys) if keys.count(key) > 1)
        raise InputError(data, f"holds the dataset {twice} twice; leave one out")
    return [by_key[key] for key in by_dataset(by_key)]


def _dataset(folder: Path, data: Path) -> Dataset | None:
    pair = read_pair(folder)
    if pair.gold is None:
        return None
    known, swapped = _recognise(pair)
    return Dataset(known or folder.relative_to(data).as_posix(), folder, swapped, _sha256(folder))


def _recognise(pair: GraphPair) -> tuple[str | None, bool]:
    """Which of the paper's datasets has these sizes, and whether its sides are the other way."""
    sizes = published().filter(experiment="datasets")
    sizes = sizes.pivot("metric", index=["dataset", "variant"], values="value")
    for key in DATASETS:
        theirs = {row["variant"]: row for row in sizes.filter(dataset=key).to_dicts()}
        for graphs in ((pair.left, pair.right), (pair.right, pair.left)):
            away = [
                abs(math.log(max(len(getattr(graph, kind)), 1) / theirs[side][kind]))
                for side, graph in zip(("left", "right"), graphs, strict=True)
                for kind in ("entities", "triples")
            ]
            if sum(away) < TOLERANCE:
                return key, graphs[0] is pair.right
    return None, False


def _sha256(folder: Path) -> str:
    """A hash of the names and contents of all files directly in a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.is_file():
            digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()

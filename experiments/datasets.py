"""The benchmark datasets in a folder, recognised by their content, not by their names."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from experiments.figures import DATASETS, by_dataset, published
from experiments.store import sha256_of
from sameas.errors import InputError
from sameas.formats.benchmark import MARKS
from sameas.formats.pair import read_pair
from sameas.graph.matched import MatchedPair

TOLERANCE = 0.02
"""How far sizes may be from the paper's, as a sum of logarithms: about two percent in all."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """One dataset. ``key`` is one of ``DATASETS`` if the paper has it, else its path.

    That of a pair with its gold links in gold.tsv is ``real/`` and the name of its folder.
    """

    key: str
    folder: Path
    real: bool = False
    """Whether it is a pair of RDF files, or a folder of tables, whose gold links are apart."""
    swapped: bool = False
    """Whether the folder's left graph is the paper's right one."""

    @cached_property
    def pair(self) -> MatchedPair:
        """The graphs, read when they are first needed."""
        if self.real and not _is_benchmark(self.folder):
            return read_pair(*(min(self.folder.glob(f"{side}.*")) for side in ("left", "right")))
        return read_pair(self.folder)

    @cached_property
    def sha256(self) -> str:
        """A hash of the names and contents of all files directly in the folder."""
        files = sorted(path for path in self.folder.iterdir() if path.is_file())
        named = [(f"{path.name}\0{path.stat().st_size}\0", path) for path in files]
        return sha256_of(*(part for both in named for part in both))


def find_datasets(data: Path) -> list[Dataset]:
    """All datasets with gold links below a folder: the paper's in its order, others, RDF pairs."""
    if not data.is_dir():
        raise InputError(data, "no such folder; give one that holds dataset folders")
    found: dict[str, Dataset] = {}
    for folder in sorted({data, *data.rglob("*"), *data.glob("real/*")}):  # real may be a symlink
        files = all(any(folder.glob(name)) for name in ("left.*", "right.*"))
        if (folder / "gold.tsv").is_file() and (files or _is_benchmark(folder)):
            dataset = Dataset(f"real/{folder.absolute().name}", folder, real=True)
        elif _is_benchmark(folder):
            pair = read_pair(folder)
            if pair.gold is None:
                continue
            known, swapped = _recognise(pair)
            key = known or folder.relative_to(data).as_posix()
            dataset = Dataset(key, folder, swapped=swapped)
        else:
            continue
        if dataset.key in found:
            raise InputError(data, f"holds the dataset {dataset.key} twice; leave one out")
        found[dataset.key] = dataset
    if not found:
        raise InputError(
            data,
            "holds no dataset with gold links; expected folders with triples_1 and ref_ent_ids "
            "(DBP15K), rel_triples_1 and ent_links (OpenEA), or left.*, right.* and gold.tsv (RDF)",
        )
    return sorted((found[key] for key in by_dataset(found)), key=lambda dataset: dataset.real)


def _is_benchmark(folder: Path) -> bool:
    """Whether a folder is in one of the layouts of benchmarks."""
    return any((folder / mark).is_file() for mark in MARKS.values())


def _recognise(pair: MatchedPair) -> tuple[str | None, bool]:
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

"""The benchmark datasets in a folder: found by looking at what folders hold, not at their names."""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sameas.errors import InputError
from sameas.graph import Graph, GraphPair
from sameas.reading import read_pair
from sameas.reading.benchmark import MARKS
from sameas.reproduction.published import DATASETS

TOLERANCE = 0.2
"""How far the sizes may be from the paper's, as a sum of logarithms: about a fifth in all."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """One dataset: ``key`` is the paper's where it is one of the paper's, else its path."""

    key: str
    folder: Path
    published: str | None
    swapped: bool
    """Whether the folder's left graph is the paper's right one."""
    sha256: str

    @cached_property
    def pair(self) -> GraphPair:
        """The graphs, read when they are first needed."""
        return read_pair(self.folder)


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
    twice = {d.key for d in datasets if [other.key for other in datasets].count(d.key) > 1}
    if twice:
        raise InputError(data, f"holds the dataset {sorted(twice)[0]} twice; leave one out")
    order = list(DATASETS)
    return sorted(datasets, key=lambda d: (order.index(d.published) if d.published else 99, d.key))


def _dataset(folder: Path, data: Path) -> Dataset | None:
    pair = read_pair(folder)
    if pair.gold is None:
        return None
    published, swapped = _recognised(pair)
    key = published or folder.relative_to(data).as_posix()
    return Dataset(key, folder, published, swapped, _sha256(folder))


def _recognised(pair: GraphPair) -> tuple[str | None, bool]:
    """Which of the paper's datasets this is, by the languages of its URIs and by its sizes."""
    languages = _language(pair.left), _language(pair.right)
    best, distance, turned = None, TOLERANCE, False
    for key, facts in DATASETS.items():
        theirs = tuple(key.rsplit("/", 1)[-1].split("_"))
        if languages not in (theirs, theirs[::-1]):
            continue
        swapped = languages != theirs
        sides = (pair.right, pair.left) if swapped else (pair.left, pair.right)
        away = sum(
            abs(math.log(len(graph.entities) / side.entities))
            + abs(math.log(len(graph.triples) / side.triples))
            for graph, side in zip(sides, (facts.left, facts.right), strict=True)
        )
        if away < distance:
            best, distance, turned = key, away, swapped
    return best, turned


def _language(graph: Graph) -> str | None:
    """The language that DBpedia's host names give away: "zh" for zh.dbpedia.org."""
    hosts = graph.entities.str.extract(r"^https?://([^/]+)/").value_counts(sort=True)
    host = hosts.row(0)[0] if len(hosts) else None
    match = re.fullmatch(r"(?:(\w{2,3})\.)?dbpedia\.org", host or "")
    return (match[1] or "en") if match else None


def _sha256(folder: Path) -> str:
    """A hash of all the files that are directly in a folder, names and contents."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.is_file():
            digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()

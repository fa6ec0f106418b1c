"""The tasks of the bench: datasets, real pairs, tables; halves hidden, seeds, duplicates."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import sameas
from sameas.formats.pair import read_gold, read_pair
from sameas.graph.matched import MatchedPair
from sameas.result.evaluation import hide_half

DATASETS = ("dbp15k/zh_en", "dbp15k/ja_en", "dbp15k/fr_en", "srprs/fr_en", "srprs/de_en")
TABLES = ("abt-buy", "amazon-google", "febrl4", "fodors-zagats")
SELF = ("fake_1000", "cora")
SEEDED = ("records/fodors-zagats", "real/anatomy", "demo", "dbp15k/zh_en")
SHARES = (0.1, 0.5, 1.0)
COMMON = (0.0, 0.1, 0.3)
"""The shares of left rows that have a partner, where few have."""
DUPLICATED = ("abt-buy", "febrl4", "fodors-zagats")
HALVED = ("real/anatomy", "real/yago-wikidata-small", "records/abt-buy", "records/febrl4")
PARTIAL = (
    *("schema-dbpedia-schemaorg", "anatomy-ehdaa2-zfa", "beam-books", "phenotype-hpzh-mp"),
    "chemicals-chebi-mesh",
)
"""Real pairs whose gold is partial: what is judged are the entities in it, so none of them is
without a counterpart."""
COMPLETE = 0.9
"""The share of entities that gold mentions below which it is taken to be partial."""
SEVERAL = 0.8
"""The share of gold links whose left entities are distinct below which one may have several."""


@dataclass(frozen=True, eq=False)
class BenchTask:
    """A pair to align, and what is known about it.

    A link is judged if its left or its right entity is. ``total`` is how many links can be found.
    """

    name: str
    pair: MatchedPair
    gold: pl.DataFrame
    judged_left: pl.Series
    judged_right: pl.Series
    total: int
    options: dict[str, Any]
    partial: bool = False
    """Whether entities with a counterpart alone are judged."""


Made = Callable[[], BenchTask]


def bench_tasks(data: Path) -> Iterator[tuple[str, Made]]:
    """The name of each task, and what reads it."""
    for folder in sorted((data / "real").iterdir()):
        if folder.is_dir():
            yield f"real {folder.name}", partial(real, folder)
    for name in TABLES:
        yield f"records {name}", partial(table, data / "records" / name)
    for name in DATASETS:
        short, folder = name.replace("/", " ").replace("_", "-"), data / name
        yield f"open {short}", partial(dataset, folder)
        yield f"paper {short}", partial(dataset, folder, among="gold")
        yield f"raw {short}", partial(dataset, folder, names="uri")
        yield f"hidden {short}", partial(halved, partial(dataset, folder))
    for name in TABLES:
        for share in COMMON:
            yield f"few {share:.0%} {name}", partial(few, data / "records" / name, share)
    for name in HALVED:
        yield f"hidden {name}", partial(halved, partial(named, data, name))
    for name in SEEDED:
        for share in SHARES:
            yield f"seeds {share:.0%} {name}", partial(seeded, partial(named, data, name), share)
    for name in DUPLICATED:
        yield f"duplicates {name}", partial(duplicated, data / "records" / name)
    for name in SELF:
        yield f"itself {name}", partial(itself, data / "records" / name)


def named(data: Path, name: str) -> BenchTask:
    """The task of a folder, or the demo, whose gold is complete."""
    if name == "demo":
        task = mentioned("demo", read_pair(sameas.DEMO))
        left, right = (graph.entities for graph in (task.pair.left, task.pair.right))
        return replace(task, judged_left=left, judged_right=right, partial=False)
    kind = {"real": real, "records": table}.get(name.split("/")[0], dataset)
    return kind(data / name)


def dataset(folder: Path, *, names: str | None = None, **options: Any) -> BenchTask:
    """A benchmark dataset; a link is judged if gold mentions one of its entities."""
    pair = read_pair(folder, names=names) if names else read_pair(folder)
    return mentioned(folder.name, pair, **options)


def mentioned(name: str, pair: MatchedPair, **options: Any) -> BenchTask:
    """The task of a pair whose gold judges the entities that it mentions."""
    gold = pair.gold
    assert gold is not None
    gold = gold.select("left", "right")
    entities = min(len(graph.entities) for graph in (pair.left, pair.right))
    partial = len(gold) < COMPLETE * entities and "among" not in options
    judged = gold["left"], gold["right"]
    return BenchTask(name, pair, gold, *judged, len(gold), options, partial)


def real(folder: Path) -> BenchTask:
    """A real pair; the left entities of judged.txt are judged."""
    ends = [sorted(folder.glob(f"{side}.*")) for side in ("left", "right")]
    pair = read_pair(*(end[0] for end in ends)) if all(ends) else read_pair(folder)
    gold = read_gold(folder / "gold.tsv").select("left", "right")
    judged = pl.Series((folder / "judged.txt").read_text(encoding="utf8").splitlines())
    nobody = pl.Series([], dtype=pl.String)
    several = gold["left"].n_unique() < SEVERAL * len(gold)
    options = {"cardinality": "one-to-many"} if several else {}
    partial = folder.name in PARTIAL
    return BenchTask(folder.name, pair, gold, judged, nobody, len(gold), options, partial)


def table(folder: Path) -> BenchTask:
    """Two tables of records, whose gold is complete."""
    return _of_frames(folder.name, *frames(folder))


def frames(folder: Path) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """The left table, the right one, and the gold links of a folder of records."""
    left, right, gold = (
        pl.read_csv(folder / f"{name}.csv", infer_schema=False)
        for name in ("left", "right", "gold")
    )
    return left, right, gold.select("left", "right")


def _of_frames(
    name: str, left: pl.DataFrame, right: pl.DataFrame, gold: pl.DataFrame, **options: Any
) -> BenchTask:
    with tempfile.TemporaryDirectory() as place:
        files = Path(place) / "left.csv", Path(place) / "right.csv"
        left.write_csv(files[0])
        right.write_csv(files[1])
        pair = read_pair(*files)
    return BenchTask(name, pair, gold, left["id"], right["id"], len(gold), options)


def few(folder: Path, share: float) -> BenchTask:
    """Half of the left rows and all right ones, but for the partners of most of these rows.

    A share of the left rows keep theirs.
    """
    left, right, gold = frames(folder)
    order = np.random.default_rng(0).permutation(len(left))[: len(left) // 2]
    chosen, kept = (left[np.sort(order[:count])] for count in (None, round(share * len(order))))
    gold = gold.filter(pl.col("left").is_in(chosen["id"].implode()))
    lost = gold.filter(~pl.col("left").is_in(kept["id"].implode()))["right"]
    gold = gold.filter(~pl.col("right").is_in(lost.implode()))
    return _of_frames(folder.name, chosen, right.filter(~pl.col("id").is_in(lost.implode())), gold)


def duplicated(folder: Path) -> BenchTask:
    """Two tables, the right one with a second, misspelled copy of every third row.

    Both copies are correct; one of them is found where entities have one partner.
    """
    left, right, gold = frames(folder)
    chosen = right.gather_every(3)
    rng = np.random.default_rng(0)
    columns = [
        pl.Series(column.name, [misspelled(text, rng) for text in column])
        for column in chosen.drop("id")
    ]
    copies = pl.DataFrame([(chosen["id"] + "-copy").alias("id"), *columns])
    more = gold.filter(pl.col("right").is_in(chosen["id"].implode()))
    more = more.with_columns(right=pl.col("right") + "-copy")
    task = _of_frames(folder.name, left, pl.concat([right, copies]), pl.concat([gold, more]))
    return replace(task, total=len(gold))


def misspelled(text: str | None, rng: np.random.Generator) -> str | None:
    """The text with two letters exchanged, or as it is."""
    if text is None or len(text) < 4 or rng.random() < 0.5:
        return text
    place = int(rng.integers(0, len(text) - 1))
    return text[:place] + text[place + 1] + text[place] + text[place + 2 :]


def itself(folder: Path) -> BenchTask:
    """A table with itself: no row is its own partner, those of its cluster are correct."""
    rows = pl.read_csv(folder / "table.csv", infer_schema=False)
    clusters = pl.read_csv(folder / "gold.csv", infer_schema=False)
    gold = clusters.join(clusters, on="cluster").filter(pl.col("id") != pl.col("id_right"))
    gold = gold.select(left="id", right="id_right")
    same = pl.DataFrame({"left": rows["id"], "right": rows["id"]})
    task = _of_frames(folder.name, rows, rows, gold, reject=same)
    return replace(task, total=gold["left"].n_unique())


def halved(make: Made) -> BenchTask:
    """The task without half of the right entities of gold; links of their partners are wrong."""
    task = make()
    pair = replace(task.pair, gold=task.gold)
    smaller, alone = hide_half(pair, seed=0)
    gold = smaller.gold
    assert gold is not None
    judged = pl.concat([task.judged_left, alone]).unique()
    return replace(
        task, pair=smaller, gold=gold, judged_left=judged, total=len(gold), partial=False
    )


def seeded(make: Made, share: float) -> BenchTask:
    """The task with a random share of its gold links given."""
    task = make()
    gold = task.gold.unique("left", keep="first", maintain_order=True)
    gold = gold.unique("right", keep="first", maintain_order=True).sort("left", "right")
    rng = np.random.default_rng(0)
    rows = np.sort(rng.permutation(len(gold))[: round(share * len(gold))])
    return replace(task, options={**task.options, "seeds": gold[rows]})

"""All figures of a report in one table: those measured, those published, and their differences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

Figures = Mapping[str, Mapping[str, float | str | None]]
"""What an experiment gives: by variant (solver, temperature, ...; "" for the run), by metric.

Text is the sentence of an error, in place of figures.
"""

FEATURES = {"word": "word", "char": "char", "hybrid": "w+c"}
"""Our names of the features, and the paper's."""
PRESETS = ("paper", "best", "plain")
KEYS = ("experiment", "dataset", "preset", "features", "variant", "metric")
SCHEMA = {**dict.fromkeys(KEYS, pl.String), "value": pl.Float64}


@lru_cache
def published() -> pl.DataFrame:
    """The figures of published.csv, in the columns of ``SCHEMA``; the preset is "published"."""
    wide = pl.read_csv(Path(__file__).with_name("published.csv"), comment_prefix="#")
    long = wide.unpivot(index=["experiment", "variant", "metric"], variable_name="dataset")
    long = long.with_columns(preset=pl.lit("published"), features=pl.lit(""))
    return long.select(list(SCHEMA)).cast(SCHEMA).drop_nulls("value")  # type: ignore[arg-type]


DATASETS = tuple(published().filter(experiment="datasets")["dataset"].unique(maintain_order=True))
"""The paper's datasets, in its order."""


def title(dataset: str) -> str:
    """A dataset as tables call it: "DBP15K zh-en"; one that is not the paper's by its path."""
    if dataset not in (*DATASETS, "dbp15k", "srprs"):
        return dataset
    collection, _, languages = dataset.partition("/")
    return f"{collection.upper()} {languages.replace('_', '-')}".strip()


def by_dataset(datasets: Iterable[str]) -> list[str]:
    """The paper's datasets in its order, then the others by name."""
    return sorted(set(datasets), key=lambda d: ((*DATASETS, d).index(d), d))


@dataclass(frozen=True)
class Rows:
    """Rows of a table, chosen from all figures by these columns; None and () choose all.

    ``features`` may be "richest": those that come last in ``FEATURES``. ``label`` is the text of a
    row, in which the names of columns stand for their values, with ``words`` instead of some of
    them. Columns are the values of ``across``. If ``sort``, rows are in the order of variants. How
    a figure is shown ("spread": all figures of a cell together), and which is the best of a column,
    are names that the report knows.
    """

    experiment: str
    metric: str | None = None
    label: str = "{variant}"
    preset: str | None = None
    features: str | None = None
    variants: Sequence[str] = ()
    words: Mapping[str, str] = field(default_factory=dict)
    across: str = "dataset"
    sort: bool = False
    show: str = "score"
    best: str | None = None


def all_figures(results: Iterable[dict[str, Any]]) -> pl.DataFrame:
    """What was measured, what was published and what follows, in the columns of ``SCHEMA``."""
    rows = []
    for entry in sorted(results, key=_order):
        settings = entry["settings"]
        kind = settings.get("preset", "paper"), settings.get("features", "")
        place = entry["experiment"], entry["dataset"], *kind
        for variant, values in entry["figures"].items():
            # The sentence of an error is no figure.
            numbers = {name: value for name, value in values.items() if not isinstance(value, str)}
            rows += [(*place, variant, metric, value) for metric, value in numbers.items()]
    ours = pl.DataFrame(rows, SCHEMA, orient="row", strict=False).drop_nulls("value")
    further = [more.select(list(SCHEMA)) for more in _derived(ours)]
    return pl.concat([ours, published(), *further])


def pivot(
    table: pl.DataFrame, rows: Rows, *, each: bool = False
) -> dict[str, dict[str, dict[str, Any]]]:
    """Figures by label and column: those of each dataset apart, or (under "") those of all."""
    every = {"experiment": rows.experiment, "preset": rows.preset, "metric": rows.metric}
    table = table.filter(**{name: text for name, text in every.items() if text})
    if rows.preset is None:
        table = table.filter(~pl.col("preset").is_in(["published", "difference"]))
    if rows.features is not None:
        used = [name for name in FEATURES if name in set(table["features"])]
        chosen = used[-1:] if rows.features == "richest" else [rows.features]
        table = table.filter(pl.col("features").is_in(chosen))
    if rows.variants:
        table = table.filter(pl.col("variant").is_in(rows.variants))
    if rows.sort:
        table = table.sort("variant", maintain_order=True)
    cells: dict[str, dict[str, dict[str, Any]]] = {}
    for figure in table.iter_rows(named=True):
        words = {name: rows.words.get(text, text) for name, text in figure.items()}
        words["features"] = FEATURES.get(figure["features"], "")
        words["dataset"] = title(figure["dataset"])
        labels = cells.setdefault(words["dataset"] if each else "", {})
        row, column = labels.setdefault(rows.label.format(**words), {}), figure[rows.across]
        several = rows.show == "spread"
        row[column] = [*row.get(column, []), figure["value"]] if several else figure["value"]
    return cells


def _order(entry: dict[str, Any]) -> tuple[Any, ...]:
    settings, dataset = entry["settings"], entry["dataset"]
    features = (*FEATURES, None).index(settings.get("features"))
    preset = PRESETS.index(settings.get("preset", "paper"))
    return (*DATASETS, dataset).index(dataset), dataset, preset, features


def _derived(ours: pl.DataFrame) -> Iterable[pl.DataFrame]:
    """Figures that follow from others."""
    theirs = published()
    main, best, sensitivity, sizes = (
        ours.filter(experiment=name) for name in ("main", "best", "sensitivity", "datasets")
    )
    yield _differences(sizes, theirs.filter(experiment="datasets"), "variant")
    own_row = pl.concat_str(pl.lit("SEU "), pl.col("features").replace(FEATURES))
    seu = main.filter(variant="")
    yield _differences(
        seu.with_columns(variant=own_row), theirs.filter(experiment="main"), "variant"
    )
    peers = (pl.col("variant") == "SEU w+c") | (pl.col("experiment") == "best")
    yield _differences(best.drop("variant"), theirs.filter(peers))
    usual = pl.col("variant") == "as it is"
    yield _differences(sensitivity.filter(~usual), sensitivity.filter(usual).drop("variant"))
    # Runs that are measured once and shown in two sections.
    compared = ours.filter(experiment="runtime").select("dataset").unique()
    yield best.join(compared, on="dataset").with_columns(experiment=pl.lit("runtime"))
    paris = ours.filter(experiment="paris").select("dataset", "features").unique()
    linking = pl.col("metric").is_in(["precision", "recall", "f1", "links"])
    seu = seu.filter(linking).join(paris, on=["dataset", "features"])
    yield seu.with_columns(experiment=pl.lit("paris"), variant=pl.lit("seu"))
    collections = (
        main.filter(pl.col("dataset").is_in(DATASETS), metric="total_seconds")
        .with_columns(pl.col("dataset").str.split("/").list.first())
        .group_by(KEYS, maintain_order=True)
    )
    yield collections.agg(pl.col("value").mean()).with_columns(experiment=pl.lit("collections"))


def _differences(ours: pl.DataFrame, theirs: pl.DataFrame, *on: str) -> pl.DataFrame:
    """Ours less theirs, of the figures as shown, so that readers can check it."""
    keys = ["dataset", "metric", *on]
    other = theirs.rename({"value": "other"}).drop("experiment", "preset", "features")
    both = ours.join(other, on=keys, maintain_order="left")
    value = (pl.col("value").round(3) - pl.col("other").round(3)).round(3)
    return both.with_columns(preset=pl.lit("difference"), value=value)

"""All figures of a report in one table: those measured and those published."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from sameas.reproduction.rendering import score

Figures = dict[str, dict[str, float | None]]
"""What an experiment gives: by variant (solver, temperature, ...; "" for the run), by metric."""

SOURCE = (
    "Mao, Wang, Wu, Lan: From Alignment to Assignment: Frustratingly Simple Unsupervised "
    "Entity Alignment. EMNLP 2021"
)
VECTORS = "glove.6B.300d"
"""The word vectors of the paper's word and hybrid rows."""
FEATURES = {"word": "word", "char": "char", "hybrid": "w+c"}
"""Our names of the features, and the paper's."""
PRESETS = ("paper", "best", "plain")
SCHEMA = {
    **dict.fromkeys(
        ("experiment", "dataset", "preset", "features", "variant", "metric"), pl.String
    ),
    "value": pl.Float64,
}
RICHEST = "richest"
"""Stands for the features of an experiment that come last: hybrid, if there are word vectors."""


@lru_cache
def published() -> pl.DataFrame:
    """The figures of published.csv, in the columns of ``SCHEMA``; the preset is "published"."""
    wide = pl.read_csv(Path(__file__).with_name("published.csv"), comment_prefix="#")
    long = wide.unpivot(index=["experiment", "variant", "metric"], variable_name="dataset")
    return (
        long.with_columns(pl.col("value").cast(pl.Float64), preset=pl.lit("published"))
        .with_columns(features=pl.lit(""))
        .drop_nulls("value")
        .select(list(SCHEMA))
    )


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
    return sorted(set(datasets), key=lambda d: (d not in DATASETS, (*DATASETS, d).index(d), d))


@dataclass(frozen=True)
class Rows:
    """Rows of a table, chosen from all figures by these columns; None and () choose all.

    ``label`` is the text of a row, in which the names of columns stand for their values, with
    ``words`` instead of some of them. Columns are the values of ``across``. Several figures of one
    cell are given as a list if ``many``.
    """

    experiment: str
    metric: str | None = None
    label: str = "{variant}"
    preset: str | None = None
    features: str | None = None
    variants: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)
    across: str = "dataset"
    many: bool = False
    sort: bool = False
    show: Callable[[Any], str] = score
    best: Callable[[Iterable[Any]], Any] | None = max


@dataclass(frozen=True)
class Results:
    """The content of results.json, and a table of all its figures beside the published ones."""

    content: dict[str, Any]

    @cached_property
    def table(self) -> pl.DataFrame:
        """All figures, in the columns of ``SCHEMA``."""
        rows = []
        for entry in sorted(self.content["results"], key=_order):
            settings = entry["settings"]
            kind = settings.get("preset", "paper"), settings.get("features", "")
            place = entry["experiment"], entry["dataset"], *kind
            for variant, values in entry["figures"].items():
                rows += [(*place, variant, metric, value) for metric, value in values.items()]
        ours = pl.DataFrame(rows, SCHEMA, orient="row", strict=False).drop_nulls("value")
        both = pl.concat([ours, published()])
        return pl.concat([both, *(derived.select(list(SCHEMA)) for derived in _derived(both))])

    def select(self, rows: Rows) -> pl.DataFrame:
        """The figures of these rows."""
        measured = ~pl.col("preset").is_in(["published", "difference"])
        chosen = [pl.col("experiment") == rows.experiment]
        chosen.append(measured if rows.preset is None else pl.col("preset") == rows.preset)
        if rows.metric is not None:
            chosen.append(pl.col("metric") == rows.metric)
        if rows.features is not None:
            used = self.features(rows.experiment)
            wanted = used[-1:] if rows.features == RICHEST else [rows.features]
            chosen.append(pl.col("features").is_in(wanted))
        if rows.variants:
            chosen.append(pl.col("variant").is_in(rows.variants))
        return self.table.filter(chosen)

    def pivot(self, rows: Rows) -> dict[str, dict[str, Any]]:
        """The figures of these rows: by label, by column."""
        cells: dict[str, dict[str, Any]] = {}
        for figure in self.select(rows).iter_rows(named=True):
            words = {name: rows.words.get(text, text) for name, text in figure.items()}
            words["features"] = FEATURES.get(figure["features"], "")
            words["dataset"] = title(figure["dataset"])
            row = cells.setdefault(rows.label.format(**words), {})
            if rows.many:
                row.setdefault(figure[rows.across], []).append(figure["value"])
            else:
                row[figure[rows.across]] = figure["value"]
        return dict(sorted(cells.items())) if rows.sort else cells

    def features(self, experiment: str) -> list[str]:
        """The features that an experiment was run with."""
        used = {
            entry["settings"].get("features")
            for entry in self.content["results"]
            if entry["experiment"] == experiment
        }
        return [name for name in FEATURES if name in used]

    @property
    def vectors(self) -> str:
        """The word vectors in a few words."""
        vectors = self.content["word_vectors"]
        if vectors is None:
            return "no word vectors"
        return f"word vectors {vectors['file']}, {vectors['dimensions']} dimensions"

    @property
    def comparability(self) -> str:
        """How the word and hybrid rows relate to the published ones, as a sentence."""
        vectors = self.content["word_vectors"]
        if vectors is None:
            return "No word vectors were used, so that there are only char rows."
        if vectors["file"].startswith(VECTORS):
            return f"Word and w+c rows use {self.vectors}, like the paper."
        return (
            f"Word and w+c rows use {self.vectors}; the paper's use {VECTORS}, so these "
            "rows are not comparable one to one"
            + (", and lie below the paper's." if vectors["dimensions"] < 300 else ".")
        )


def _order(entry: dict[str, Any]) -> tuple[Any, ...]:
    settings, dataset = entry["settings"], entry["dataset"]
    return (
        (*DATASETS, dataset).index(dataset),
        dataset,
        PRESETS.index(settings.get("preset", "paper")),
        (*FEATURES, None).index(settings.get("features")),
    )


def _derived(table: pl.DataFrame) -> Iterable[pl.DataFrame]:
    """Figures that follow from others."""
    ours = table.filter(~pl.col("preset").is_in(["published"]))
    theirs = table.filter(preset="published")
    main, best = ours.filter(experiment="main"), ours.filter(experiment="best")
    same_features = pl.concat_str(pl.lit("SEU "), pl.col("features").replace(FEATURES))
    yield _differences(main.with_columns(variant=same_features), theirs.filter(experiment="main"))
    peers = (pl.col("variant") == "SEU w+c") | (pl.col("experiment") == "best")
    yield _differences(best.drop("variant"), theirs.filter(peers))
    # The whole command with the preset best is measured once, for two sections.
    compared = ours.filter(experiment="runtime")["dataset"].unique()
    yield best.filter(pl.col("dataset").is_in(compared.implode())).with_columns(
        experiment=pl.lit("runtime")
    )
    known = pl.col("dataset").is_in(DATASETS)
    yield (
        main.filter(known, metric="total_seconds")
        .with_columns(pl.col("dataset").str.split("/").list.first())
        .group_by([name for name in SCHEMA if name != "value"], maintain_order=True)
        .agg(pl.col("value").mean())
        .with_columns(experiment=pl.lit("collections"))
    )


def _differences(ours: pl.DataFrame, theirs: pl.DataFrame) -> pl.DataFrame:
    """Ours less theirs, of the figures as shown, so that readers can check it."""
    on = [name for name in ("dataset", "metric", "variant") if name in ours.columns]
    other = theirs.select([*{*on, "variant"}, "value"]).rename({"value": "other"})
    value = (pl.col("value").round(3) - pl.col("other").round(3)).round(3)
    return ours.join(other, on=on, maintain_order="left").with_columns(
        preset=pl.lit("difference"), value=value + 0.0
    )

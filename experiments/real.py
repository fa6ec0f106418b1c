"""Pairs of RDF files with gold links: sameas, PARIS and equal labels, judged alike."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import polars as pl

from experiments.datasets import Dataset
from experiments.figures import Figures
from experiments.runs import Setup
from sameas.errors import SameasError, first_line
from sameas.formats.pair import read_gold
from sameas.graph.matched import MatchedGraph, MatchedPair
from sameas.pipeline.align import align

MOSTLY_ONE = 0.8
"""The share of gold links whose left entities are distinct below which one may have several."""


def real_rdf(dataset: Dataset, setup: Setup) -> Figures:
    """F1, precision and recall of each method, or the sentence of its error."""
    figures: dict[str, dict[str, Any]] = {}
    for method in ("best", "PARIS", "equal labels"):
        try:
            gold = read_gold(dataset.folder / "gold.tsv")
            figures[""] = {"links": len(gold)}
            links = links_of(method, dataset.pair, gold)
            figures[method] = scores_of_judged(links, gold, dataset.folder / "judged.txt")
        except SameasError as error:  # a pair that cannot be read does not stop the report
            figures[method] = {"error": first_line(error).replace(f"{dataset.folder}{os.sep}", "")}
    return figures


def scores_of_judged(links: pl.DataFrame, gold: pl.DataFrame, file: Path) -> dict[str, float]:
    """F1, precision and recall over the links of judged left entities.

    These are the lines of the file or, without it, the left entities of gold. Gold is complete
    for them, so that any other link of theirs is wrong.
    """
    judged = file.read_text(encoding="utf8").splitlines() if file.is_file() else gold["left"]
    found = set(links.filter(pl.col("left").is_in(list(judged))).select("left", "right").rows())
    correct = len(found & set(gold.rows()))
    precision, recall = correct / max(len(found), 1), correct / len(gold)
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    return {"f1": f1, "precision": precision, "recall": recall}


def links_of(method: str, pair: MatchedPair, gold: pl.DataFrame) -> pl.DataFrame:
    """The links of PARIS, of equal labels, or (best) those that sameas makes by default.

    The last are several of a left entity if gold has many such. Labels are equal if two entities
    share a name which no other entity of either graph has.
    """
    if method == "PARIS":
        return align(pair, method="paris").links
    if method == "equal labels":
        left, right = unambiguous_names(pair.left), unambiguous_names(pair.right)
        return left.join(right, on="name").select(left="entity", right="entity_right").unique()
    several = gold["left"].n_unique() < MOSTLY_ONE * len(gold)
    return align(pair, cardinality="one-to-many" if several else "one-to-one").links


def unambiguous_names(graph: MatchedGraph) -> pl.DataFrame:
    """The names (entity, name) that one linkable entity has, in lower case.

    White space and underscores are one space.
    """
    named = pl.DataFrame({"entity": graph.entities, "name": graph.names})
    named = pl.concat([named, graph.alternatives.select("entity", "name")])
    linkable = graph.entities.gather(graph.linkable)
    named = named.filter(pl.col("entity").is_in(linkable.implode()))
    text = pl.col("name").str.to_lowercase().str.replace_all(r"[\s_]+", " ").str.strip_chars()
    named = named.with_columns(name=text).filter(pl.col("name") != "").unique()
    return named.filter(pl.len().over("name") == 1)

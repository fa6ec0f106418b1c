"""Experiments on the preset ``best``: what it reaches, in which worlds, and what that hangs on.

Features and candidates of a dataset are made once, and serve all refinements that start from the
same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, get_args

import polars as pl

from sameas.alignment import Alignment
from sameas.evaluation import Bin, Calibration, Metrics, calibration, evaluate, hide_half
from sameas.graph import GraphPair
from sameas.options import Options, Part
from sameas.pipeline import align
from sameas.pipeline.refined import Material, align_prepared, prepare
from sameas.refinement import Weights
from sameas.reproduction.datasets import Dataset
from sameas.reproduction.runs import Figures, linking, measured_command

SEEDS = (1, 2, 3)
"""The random halves of the hidden-half test."""
PARTS: tuple[Part, ...] = get_args(Part)
"""What is left out in turn."""
IN_REFINEMENT: tuple[Part, ...] = ("votes", "lacking", "relations")
"""The parts of ``best`` that features and candidates have nothing to do with."""
ROUNDS = (2, 1)
"""Fewer rounds of refinement than usual."""
SHIFTED = ("base",)
"""Weights that are logarithms: half and double are a shift by ln 2."""
OF_OPTIONS = ("temperature", "candidates", "rounds")
"""Options that refinement depends on, besides its weights."""


def whole_command(dataset: Dataset, options: Options) -> Figures:
    """Hits and MRR of the whole command, its time and its memory, in a process of its own."""
    return measured_command(dataset, "best")


def open_protocol(dataset: Dataset, options: Options) -> Figures:
    """The whole graphs: the links that are made, and how far their confidence can be believed."""
    everyone = replace(options, among=None)
    if options.rounds:
        found = align_prepared(dataset.pair, _material(dataset, everyone), _all_links(everyone))
    else:
        found = align(dataset.pair, _all_links(everyone))
    return _judged(found, dataset.pair, options.min_confidence)


def hidden_half(dataset: Dataset, options: Options) -> Figures:
    """The whole graphs after random halves of the right gold entities have been taken away."""
    halves, calibrations = [], []
    for seed in SEEDS:
        pair, alone = hide_half(dataset.pair, seed=seed)
        found = align(pair, _all_links(replace(options, among=None)))
        figures = _judged(found, pair, options.min_confidence, alone)
        calibrations.append(Calibration(tuple(Bin(**each) for each in figures.pop("bins"))))
        halves.append({"seed": seed, **figures})
    return {"halves": halves, "bins": _bins(_pooled(calibrations))}


def ablation(dataset: Dataset, options: Options) -> Figures:
    """Hits@1 in the paper protocol and F1 in the open one, with one part left out at a time."""
    usual = _material(dataset, replace(options, among=None))
    figures = {"best": _both(dataset.pair, usual, options)}
    for part in PARTS:
        less = replace(options, without=(part,))
        material = usual if part in IN_REFINEMENT else prepare(dataset.pair, less)
        figures[f"without {part}"] = _both(dataset.pair, material, less)
        del material
    for rounds in ROUNDS:
        figures[f"rounds {rounds}"] = _both(dataset.pair, usual, replace(options, rounds=rounds))
    figures["rounds 0"] = _both(dataset.pair, None, replace(options, rounds=0))
    return figures


def sensitivity(dataset: Dataset, options: Options) -> Figures:
    """Hits@1 in the paper protocol while each setting in turn is halved and doubled.

    Of those that decide who stays unmatched also F1 in the open protocol.
    """
    pair, usual = dataset.pair, _material(dataset, replace(options, among=None))
    settings: dict[str, Figures] = {}
    for variant in _variants(options):
        name, changed = variant.name, variant.options
        material = prepare(pair, changed) if name == "candidates" else usual
        found = align_prepared(pair, material, changed, weights=variant.weights)
        own = {"value": variant.value, "hits@1": _metrics(found).hits_at_1}
        if name in SHIFTED:
            everyone = replace(changed, among=None)
            found = align_prepared(pair, usual, everyone, weights=variant.weights)
            own["f1"] = _metrics(found).f1
        settings.setdefault(name, {"value": variant.usual})[variant.size] = own
        del material
    return {"usual": _both(pair, usual, options), "settings": settings}


@dataclass(frozen=True)
class _Variant:
    """One setting with another value."""

    name: str
    usual: float
    size: str
    value: float
    options: Options
    weights: Weights


def _variants(options: Options) -> Iterator[_Variant]:
    """Each setting halved and doubled."""
    weights = Weights()
    for name in (field.name for field in fields(Weights)):
        usual = getattr(weights, name)
        for size, value in _half_and_double(name, usual).items():
            changed: Any = {name: value}
            yield _Variant(name, usual, size, value, options, replace(weights, **changed))
    for name in OF_OPTIONS:
        usual = getattr(options, name)
        for size, value in _half_and_double(name, usual).items():
            changed = {name: value}
            yield _Variant(name, usual, size, value, replace(options, **changed), weights)


def _half_and_double(name: str, value: float) -> dict[str, float]:
    if name in SHIFTED:
        return {"half": value - math.log(2), "double": value + math.log(2)}
    half = max(value // 2, 1) if isinstance(value, int) else value / 2
    return {"half": half, "double": 2 * value}


@lru_cache(maxsize=1)
def _material(dataset: Dataset, options: Options) -> Material:
    """What refinement starts from; that of the last dataset is kept."""
    return prepare(dataset.pair, options)


def _all_links(options: Options) -> Options:
    """The same, with the links that are too unsure to be made."""
    return replace(options, min_confidence=0.0)


def _judged(
    found: Alignment, pair: GraphPair, level: float, alone: pl.Series | None = None
) -> Figures:
    """The scores of the links that are sure enough, and the reliability of all."""
    assert pair.gold is not None
    made = found.links.filter(pl.col("confidence") >= level)
    metrics = evaluate(made, pair.gold, no_match=alone)
    figures = {**linking(metrics), "calibration_error": metrics.calibration_error}
    if alone is not None:
        figures["unmatched_recall"] = metrics.unmatched_recall
    return {**figures, "bins": _bins(calibration(found, pair.gold, alone))}


def _bins(found: Calibration) -> list[Figures]:
    return [vars(each) for each in found.bins]


def _pooled(parts: Sequence[Calibration]) -> Calibration:
    """The calibration of all links of some together."""
    lows = sorted({each.low for part in parts for each in part.bins})
    bins = []
    for low in lows:
        own = [each for part in parts for each in part.bins if each.low == low]
        count = sum(each.count for each in own)
        bins.append(
            Bin(
                low,
                sum(each.confidence * each.count for each in own) / count,
                sum(each.accuracy * each.count for each in own) / count,
                count,
            )
        )
    return Calibration(tuple(bins))


def _both(pair: GraphPair, material: Material | None, options: Options) -> Figures:
    """Hits@1 in the paper protocol and F1 in the open one; without material, of a whole run."""
    closed, whole = (
        align(pair, own) if material is None else align_prepared(pair, material, own)
        for own in (options, replace(options, among=None))
    )
    return {"hits@1": _metrics(closed).hits_at_1, "f1": _metrics(whole).f1}


def _metrics(found: Alignment) -> Metrics:
    assert found.pair.gold is not None
    return evaluate(found, found.pair.gold)

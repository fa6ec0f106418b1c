"""The experiments, the paper's and those on the preset ``best``: functions of a dataset."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, get_args

import polars as pl

from experiments.datasets import Dataset
from experiments.figures import Figures
from experiments.real import real_rdf
from experiments.runs import Setup, aligned, encoded_afresh, judge, printed_by, run
from sameas.formats.pair import read_pair
from sameas.graph.matched import MatchedPair
from sameas.graph.task import Inputs
from sameas.options.options import Adjacency, GraphPart, LanguagePart, Part, Solver, TextPart
from sameas.options.tuning import TUNING
from sameas.pipeline.align import align
from sameas.result.alignment import Alignment
from sameas.result.audit.calibration import level_for
from sameas.result.evaluation import BINS, Bin, calibration, evaluate, hide_half
from sameas.similarity.crosslingual import choose_support
from sameas.text.languages.support import LanguageSupport

VARIED: dict[str, Sequence[Any]] = {
    "temperature": (0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5),
    "iterations": (1, 2, 3, 5, 7, 10, 15, 20, 30, 50),
    "depth": range(6),
    "adjacency": get_args(Adjacency),
}
"""Options of the published method, and the values at which it is measured."""
ERRORS = (0.01, 0.02, 0.05)
"""The shares of wrong links that are asked for."""
SEEDS = (1, 2, 3)
"""The random halves of the hidden-half test."""
PARTS: tuple[Part, ...] = (*get_args(TextPart), *get_args(GraphPart))
SHIFTED = "base"
"""The weight that is a logarithm: half and double are a shift by ln 2."""
VARIED_OPTIONS = ("temperature", "candidates", "rounds")
VARIED_NUMBERS = (
    *(f"weights.{name}" for name in ("names", "embedding", "dictionary", "profit", "shared")),
    *("weights.unit", "weights.crowd", "weights.lacking", "evidence.hub", "anchors.share"),
    *("refinement.spread", "refinement.settled", "open.base"),
)
"""Numbers of the tuning that are halved and doubled, by stage and name."""
"""Options that refinement depends on, besides its weights."""

Half = tuple[str, MatchedPair, pl.Series | None]
"""A name, a pair, and its left entities that have no counterpart, where that is known."""


def count_entities(dataset: Dataset, setup: Setup) -> Figures:
    """Entities, relations, triples and links; left and right are the paper's."""
    graphs = [dataset.pair.left, dataset.pair.right]
    sides = zip(("left", "right"), graphs[::-1] if dataset.swapped else graphs, strict=True)
    kinds = ("entities", "relations", "triples")
    sizes = {side: {kind: len(getattr(graph, kind)) for kind in kinds} for side, graph in sides}
    assert dataset.pair.gold is not None
    return {"": {"links": len(dataset.pair.gold)}, **sizes}


def main_results(dataset: Dataset, setup: Setup) -> Figures:
    """Scores of the method as published, and its time by phase."""
    alignment = run(dataset.pair, setup)
    found = alignment.diagnostics
    return {
        "": {
            **evaluate(alignment, dataset.pair.gold).asdict(),
            "total_seconds": sum(alignment.seconds.values()),
            "words": found.words,
            "words_without_vector": found.words_without_vector,
        },
        "phases": {**alignment.seconds},
    }


def whole_command(dataset: Dataset, setup: Setup) -> Figures:
    """Scores of the command as a user runs it, its time by phase and its memory."""
    preset, data = "best" if setup.options.rounds else "paper", str(dataset.folder)
    with TemporaryDirectory() as place:
        out = str(Path(place) / "run")
        words = (data, "--preset", preset, "--among", "gold", "-o", out, "--json")
        taken = printed_by("sameas", "align", *words)
        return _of_process({**printed_by("sameas", "evaluate", out, data, "--json"), **taken})


def plain_procedure(dataset: Dataset, setup: Setup) -> Figures:
    """The same of the paper's procedure written plainly."""
    return _of_process(printed_by("experiments.plain", str(dataset.folder)))


def _of_process(found: dict[str, Any]) -> Figures:
    names = ("hits@1", "hits@10", "mrr", "total_seconds", "peak_memory_bytes")
    rest = max(found["total_seconds"] - sum(found["seconds"].values()), 0.0)
    return {"": {name: found[name] for name in names}, "phases": {**found["seconds"], "rest": rest}}


def solvers(dataset: Dataset, setup: Setup) -> Figures:
    """The soft and the exact assignment of the same profit."""
    figures = {}
    for solver in get_args(Solver):
        found = run(dataset.pair, setup.changed(solver=solver))
        figures[solver] = {
            "hits@1": evaluate(found, dataset.pair.gold).hits_at_1,
            "objective": found.diagnostics.objective,
            "seconds": found.seconds["assignment"],
        }
    return figures


def varied(dataset: Dataset, setup: Setup, name: str) -> Figures:
    """Scores against the values of one option."""
    figures = {}
    for value in VARIED[name]:
        scores = judge(dataset.pair, setup.changed(**{name: value}))
        figures[str(value)] = {"hits@1": scores.hits_at_1, "mrr": scores.mrr}
    return figures


def paris(dataset: Dataset, setup: Setup) -> Figures:
    """PARIS over the whole graphs."""
    alignment = align(dataset.pair, method="paris", min_confidence=0.0)
    rounds, taken = alignment.diagnostics.iterations, sum(alignment.seconds.values())
    scores = evaluate(alignment, dataset.pair.gold).asdict()
    return {"": {**scores, "iterations": rounds, "total_seconds": taken}}


def open_protocol(dataset: Dataset, setup: Setup) -> Figures:
    """The whole graphs: scores of the links, and their reliability by confidence."""
    return _judged([("", dataset.pair, None)], setup)


def hidden_half(dataset: Dataset, setup: Setup) -> Figures:
    """The same after random halves of the right gold entities have been taken away."""
    return _judged(_halves(dataset), setup)


def _halves(dataset: Dataset) -> Iterable[Half]:
    for seed in SEEDS:
        yield f"half {seed}", *hide_half(dataset.pair, seed=seed)


def _judged(halves: Iterable[Half], setup: Setup) -> Figures:
    figures, bins = dict[str, dict[str, float | None]](), list[Bin]()
    for name, pair, alone in halves:
        links = aligned(pair, setup.whole.changed(min_confidence=0.0)).links
        assert pair.gold is not None
        made = links.filter(pl.col("confidence") >= setup.options.min_confidence)
        figures[name] = evaluate(made, pair.gold, no_match=alone).asdict()
        bins += calibration(links, pair.gold, alone).bins
    return {**figures, **_by_confidence(bins)}


def raw_names(dataset: Dataset, setup: Setup) -> Figures:
    """Names from the URIs, not translated: spelling with each ingredient alone, and with all.

    Names are encoded before, and the seconds of that are apart. What a dataset cannot use, such
    as glosses of names in Latin letters, changes nothing and is not run.
    """
    pair = read_pair(dataset.folder, names="uri")
    every: tuple[Part, ...] = get_args(LanguagePart)
    left_out: dict[str, tuple[Part, ...]] = {
        "spelling": every,
        **{part: tuple(other for other in every if other != part) for part in every},
        "all": (),
    }
    seen = dict[LanguageSupport, dict[str, float | None]]()
    figures = dict[str, dict[str, float | None]]()
    with encoded_afresh(pair) as encoding:
        for name, without in left_out.items():
            changed = setup.changed(without=without, no_audit=True)
            aids = choose_support(pair, changed.options, Inputs())
            if aids not in seen:
                begin = time.perf_counter()
                ranked = evaluate(aligned(pair, changed), pair.gold)
                taken = time.perf_counter() - begin
                whole = evaluate(aligned(pair, changed.whole), pair.gold)
                seen[aids] = {
                    **{"hits@1": ranked.hits_at_1, "mrr": ranked.mrr, "seconds": taken},
                    **{"precision": whole.precision, "recall": whole.recall, "f1": whole.f1},
                    "encoding_seconds": encoding * aids.encoder,
                }
            figures[name] = seen[aids]
    return figures


def audit(dataset: Dataset, setup: Setup) -> Figures:
    """What the audit estimates of hidden halves, beside the truth, and reliability by confidence.

    ``judged`` is the mean confidence of the links that gold can judge, which the true precision
    is about; the estimate is of all links. Figures named "before" are those without the audit.
    """
    figures, bins = dict[str, dict[str, float | None]](), dict[str, list[Bin]]()
    beyond_gold = _links_beyond_gold(dataset, setup)
    for half, pair, alone in _halves(dataset):
        before = aligned(pair, setup.whole.changed(no_audit=True))
        found = aligned(pair, setup.whole)
        if found.audit is None:  # too few links
            continue
        assert alone is not None
        assert pair.gold is not None
        figures[half] = _audited(found, before, alone)
        with_partner = len(pair.gold) + beyond_gold
        figures[half]["left_without_true"] = 1 - with_partner / len(pair.left.entities)
        for name, each in (("", found), ("_before", before)):
            bins.setdefault(name, []).extend(calibration(each.links, pair.gold, alone).bins)
    for name, several in bins.items():
        for middle, pooled in _by_confidence(several).items():
            row = figures.setdefault(middle, {})
            row |= {f"{metric}{name}": value for metric, value in pooled.items()}
    return figures


def _links_beyond_gold(dataset: Dataset, setup: Setup) -> int:
    """How many links a run on the whole graphs has between entities that gold does not mention.

    They are taken to be correct where the share of entities without counterpart is asked for.
    """
    gold, links = dataset.pair.gold, aligned(dataset.pair, setup.whole).links
    assert gold is not None
    mentioned = pl.col("left").is_in([*gold["left"]]) | pl.col("right").is_in([*gold["right"]])
    return len(links.filter(~mentioned))


def _audited(found: Alignment, before: Alignment, alone: pl.Series) -> dict[str, float | None]:
    """What the audit says of a run, and the truth."""
    audit, gold, links = found.audit, found.pair.gold, found.links
    assert audit is not None
    assert gold is not None
    judged = pl.col("left").is_in([*gold["left"], *alone])
    judged |= pl.col("right").is_in([*gold["right"]])
    true = evaluate(links, gold, no_match=alone)
    values = {
        "estimate": audit.precision,
        "low": audit.precision_low,
        "high": audit.precision_high,
        "judged": links.filter(judged).select(pl.col("confidence").mean()).item(),
        "precision": true.precision,
        "recall_estimate": audit.recall,
        "recall": true.recall,
        "left_without": audit.left_without,
        "right_without": audit.right_without,
        "f1": true.f1,
        "f1_before": evaluate(before.links, gold, no_match=alone).f1,
    }
    for share in ERRORS:
        level = level_for(links["confidence"].to_numpy(), share)
        kept = links.filter(pl.col("confidence") >= level)
        precision = evaluate(kept, gold, no_match=alone).precision
        values[f"error {share:g}"] = None if precision is None else 1 - precision
        values[f"links {share:g}"] = len(kept)
    return values


def ablation(dataset: Dataset, setup: Setup) -> Figures:
    """Hits@1 in the paper protocol and F1 in the open one, with one part left out at a time."""
    variants = {"best": setup}
    variants |= {f"without {part}": setup.changed(without=(part,)) for part in PARTS}
    variants |= {f"rounds {rounds}": setup.changed(rounds=rounds) for rounds in (2, 1, 0)}
    return {name: _both(dataset, changed) for name, changed in variants.items()}


def sensitivity(dataset: Dataset, setup: Setup) -> Figures:
    """Hits@1 in the paper protocol while each setting in turn is halved and doubled.

    Of the one that decides which entities stay unmatched also F1 in the open protocol.
    """
    figures = {"as it is": _both(dataset, setup)}
    for path in (*VARIED_NUMBERS, *VARIED_OPTIONS):
        stage, _, name = path.rpartition(".")
        usual = getattr(getattr(TUNING, stage) if stage else setup.options, name)
        values = half_and_double(name, usual)
        figures[name] = {"as it is": usual, **values}
        for size, value in values.items():
            change: dict[str, Any] = {name: value}
            changed = setup if stage else setup.changed(**change)
            tuning = TUNING.changed(**{stage: change}) if stage else TUNING
            scores = {"hits@1": judge(dataset.pair, changed, tuning).hits_at_1}
            if name == SHIFTED:
                scores["f1"] = judge(dataset.pair, changed.whole, tuning).f1
            figures[f"{name}, {size}"] = scores
    return figures


def half_and_double(name: str, value: float) -> dict[str, float | None]:
    """The two values that a setting is changed to."""
    if name == SHIFTED:
        return {"half": value - math.log(2), "double": value + math.log(2)}
    half = max(value // 2, 1) if isinstance(value, int) else value / 2
    return {"half": half, "double": 2 * value}


@dataclass(frozen=True)
class Experiment:
    """One kind of measurement: with which features and preset, and on which datasets.

    Without word vectors, "richest" and "every" features are char. ``needs`` names experiments
    whose figures stand in the same tables. If ``real``, it is for pairs of RDF files alone.
    """

    name: str
    measure: Callable[[Dataset, Setup], Figures]
    features: Literal["none", "char", "richest", "every"] = "richest"
    preset: Literal["paper", "best", "plain"] = "paper"
    one_dataset: bool = False
    needs: Sequence[str] = ()
    real: bool = False


EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment("datasets", count_entities, "none"),
    Experiment("main", main_results, "every"),
    Experiment("solvers", solvers),
    Experiment("temperature", partial(varied, name="temperature"), one_dataset=True),
    Experiment("iterations", partial(varied, name="iterations"), one_dataset=True),
    Experiment("depth", partial(varied, name="depth")),
    Experiment("adjacency", partial(varied, name="adjacency")),
    Experiment("paris", paris, needs=("main",)),
    Experiment("runtime", whole_command, "none", one_dataset=True, needs=("best",)),
    Experiment("runtime", plain_procedure, "none", "plain", one_dataset=True),
    Experiment("open", open_protocol),
    Experiment("best", whole_command, "char", "best"),
    Experiment("open", open_protocol, "char", "best"),
    Experiment("ablation", ablation, "char", "best"),
    Experiment("sensitivity", sensitivity, "char", "best"),
    Experiment("hidden", hidden_half, "char", "best"),
    Experiment("audit", audit, "char", "best"),
    Experiment("raw", raw_names, "char", "best"),
    Experiment("real", real_rdf, "none", "best", real=True),
)
"""In the order in which they are run for each dataset."""


def _both(dataset: Dataset, setup: Setup) -> dict[str, float | None]:
    """Hits@1 in the paper protocol and F1 in the open one."""
    closed, whole = judge(dataset.pair, setup), judge(dataset.pair, setup.whole)
    return {"hits@1": closed.hits_at_1, "f1": whole.f1}


def _by_confidence(bins: Sequence[Bin]) -> dict[str, dict[str, float]]:
    """Bins taken together by their interval, which is named by its middle."""
    if not bins:
        return {}
    weight = pl.col("count") / pl.col("count").sum()
    pooled = (
        pl.DataFrame([asdict(each) for each in bins])
        .group_by("low")
        .agg((pl.col("confidence", "accuracy") * weight).sum(), pl.col("count").sum())
    )
    return {
        f"{row.pop('low') + 0.5 / BINS:.2f}": row
        for row in pooled.sort("low").iter_rows(named=True)
    }

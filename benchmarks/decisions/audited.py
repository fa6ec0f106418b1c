"""The audit against the truth: what it says of links and misses, task by task.

Said and true are about the same: the links and the unlinked entities that gold can judge. The
numbers that intervals are made with were chosen on these tasks, so they are also chosen without
each dataset in turn, and judged on that one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

import numpy as np

from benchmarks.decisions.dump import Dump
from sameas.options.tuning import TUNING, AuditTuning
from sameas.result.audit.calibration import Curve
from sameas.result.audit.figures import (
    Observed,
    Range,
    interval,
    missed_bounds,
    why_untold,
    wrong_links,
)

NEAR = (0.73, 0.82, 0.88, 0.92, 0.95)
"""Two to six units of strength above the cut."""
FACTORS = tuple(np.arange(1.25, 4.05, 0.25).tolist())
AIM = 0.85
"""The share of other tasks whose truth an interval must hold."""
DATASETS = (
    *("zh-en", "ja-en", "dbp15k fr-en", "srprs fr-en", "de-en", "demo", "anatomy-ehdaa2"),
    *("anatomy", "yago", "abt-buy", "amazon", "febrl4", "fodors", "person", "restaurants"),
)
"""Parts of the names of tasks that are of one dataset, the first that fits."""

Values = Mapping[str, Any]


def said_and_true(dump: Dump) -> dict[str, Any]:
    """What the audit says of the links and entities that gold judges, and what is true of them."""
    audit = json.loads(str(dump.audit))
    plan = dump.weighed & ~dump.seed & dump.judged
    kept = dump.linked & plan
    correct = int((kept & dump.gold).sum())
    values: dict[str, Any] = {
        "links": int(kept.sum()),
        "wrong": int(kept.sum()) - correct,
        "missed": int(dump.counterparts) - correct,
        "partial": bool(dump.partial),
    }
    if audit is None:
        return values
    every = dump.weighed & ~dump.seed
    wrong = sum(chance["wrong"] for chance in json.loads(str(dump.chances)).values())
    curve = Curve(audit["a"], audit["b"])
    observed = Observed(dump.probability[every], dump.linked[every], curve, wrong)
    part = observed.select(plan[every])
    estimates = {
        str(near): missed_bounds(part, tuning=replace(TUNING.audit, near=near)) for near in NEAR
    }
    return values | {
        "whole_run": [audit[name] for name in ("missed", "missed_low", "missed_high")],
        "decoys": wrong_links(part).value,
        "runner_ups": part.select(part.kept).runner_wrong,
        "missed_by": estimates,
        "untold": why_untold(observed),
    }


@dataclass(frozen=True)
class Judged:
    """An estimate with its interval, and what is true."""

    said: Range
    true: int

    @property
    def holds(self) -> bool:
        """Whether the truth is in the interval, in whole numbers as it is printed."""
        return round(self.said.low) <= self.true <= round(self.said.high)


def judge_links(values: Values, tuning: AuditTuning = TUNING.audit) -> Judged | None:
    """How many links are correct; None if that was not told, or no link can be judged."""
    if "decoys" not in values or not values["links"]:
        return None
    links, both = values["links"], (values["decoys"], values["runner_ups"])
    low, high = interval(min(both), max(both), tuning=tuning)
    said = Range(links - values["decoys"], links - min(high, links), links - low)
    return Judged(said, links - values["wrong"])


def judge_missed(values: Values, tuning: AuditTuning = TUNING.audit) -> Judged | None:
    """How many counterparts were missed; None if that was not told."""
    if values.get("untold") or "decoys" not in values or not values["links"]:
        return None
    least, estimate = values["missed_by"][str(tuning.near)]
    return Judged(Range(estimate, *interval(least, estimate, tuning=tuning)), values["missed"])


FIGURES = {"links": judge_links, "missed": judge_missed}


def dataset_of(task: str) -> str:
    """What a task shares with others: it is left out together with them."""
    name = task.replace("_", "-").replace("/", " ")
    return next((part for part in DATASETS if part in name), name)


def share_held(judged: Sequence[Judged]) -> float:
    """How many intervals hold the truth."""
    return sum(each.holds for each in judged) / max(len(judged), 1)


def left_out(tasks: Mapping[str, Values], figure: str) -> list[Judged]:
    """Each task, judged with numbers that were chosen without all tasks of its dataset.

    The nearness is that with the least error of other tasks, the factor the least that holds
    enough of them.
    """
    judge, result = FIGURES[figure], list[Judged]()
    for dataset in sorted({dataset_of(task) for task in tasks}):
        mine = [values for task, values in tasks.items() if dataset_of(task) == dataset]
        others = [values for task, values in tasks.items() if dataset_of(task) != dataset]
        tuning = _best_factor(others, figure, _best_near(others))
        result += filter(None, (judge(values, tuning) for values in mine))
    return result


def _best_near(tasks: Sequence[Values]) -> AuditTuning:
    def error(near: float) -> float:
        tuning = replace(TUNING.audit, near=near)
        judged = filter(None, (judge_missed(values, tuning) for values in tasks))
        few = tuning.none_seen
        return sum(abs(math.log((one.true + few) / (one.said.value + few))) for one in judged)

    return replace(TUNING.audit, near=min(NEAR, key=error))


def _best_factor(tasks: Sequence[Values], figure: str, tuning: AuditTuning) -> AuditTuning:
    for factor in FACTORS:
        tuning = replace(tuning, factor=factor)
        judged = [FIGURES[figure](values, tuning) for values in tasks]
        if share_held([one for one in judged if one is not None]) >= AIM:
            break
    return tuning


def audit_page(tasks: Mapping[str, Values]) -> str:
    """Said and true, task by task, and how many intervals hold, in Markdown."""
    rows = [
        "| task | links | correct: said | true | missed: said | true |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for task, values in sorted(tasks.items()):
        name = f"{task}{' *' if values['partial'] else ''}"
        cells = [_cells(values, figure) for figure in FIGURES]
        rows.append(f"| {name} | {values['links']:,} | {' | '.join(cells)} |")
    return "\n".join([*rows, "", *_summary(tasks), "", *_at_least(tasks)])


def _at_least(tasks: Mapping[str, Values]) -> list[str]:
    """What is said of whole runs where gold knows a part of the counterparts alone."""
    told = [
        f"{task.removeprefix('real ')} {said:,.0f} ({low:,.0f} to {high:,.0f}), at least "
        f"{values['missed']:,}"
        for task, values in sorted(tasks.items())
        if values["partial"] and task.startswith("real")
        for said, low, high in [values.get("whole_run", [None] * 3)]
        if said is not None
    ]
    return [f"Missed in the whole run where gold is partial, said and true: {'; '.join(told)}."]


def _cells(values: Values, figure: str) -> str:
    judged = FIGURES[figure](values)
    true = values["missed"] if figure == "missed" else values["links"] - values["wrong"]
    if judged is None:
        return f"not told | {true:,}"
    low, high = round(judged.said.low), round(judged.said.high)
    said = f"{round(judged.said.value):,} ({low:,} to {high:,})"
    outside = " **outside**" if not values["partial"] else " outside, gold is partial"
    return f"{said} | {true:,}{'' if judged.holds else outside}"


def _summary(tasks: Mapping[str, Values]) -> list[str]:
    """How many intervals hold the truth, and how wide they are."""
    lines = [
        "| | told | of them hold | without partial gold | numbers chosen without the dataset "
        "| median width / links | median width / said |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for figure, judge in FIGURES.items():
        every = {task: judge(values) for task, values in tasks.items()}
        told = [one for one in every.values() if one is not None]
        whole = [
            one for task, one in every.items() if one is not None and not tasks[task]["partial"]
        ]
        widths = [
            (one.said.high - one.said.low, tasks[task]["links"], one.said.value)
            for task, one in every.items()
            if one is not None
        ]
        widths = widths or [(0.0, 1, 1.0)]
        links, said = (median(one[0] / max(one[n], 1.0) for one in widths) for n in (1, 2))
        title = "correct links" if figure == "links" else "missed"
        shares = (share_held(some) for some in (told, whole, left_out(tasks, figure)))
        cells = [f"{len(told)} of {len(tasks)}", *(f"{each:.0%}" for each in shares)]
        lines.append(f"| {title} | {' | '.join(cells)} | {links:.3f} | {said:.2f} |")
    return lines

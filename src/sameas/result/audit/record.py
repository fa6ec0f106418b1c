"""Audit: how good a run is, as estimated without labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any

from sameas.result.audit.calibration import Curve
from sameas.result.shown import audit_html


@dataclass(frozen=True)
class Group:
    """Links of one group of entities, and the share of them that is correct."""

    by: str
    """Type, degree or script."""
    name: str
    links: int
    precision: float


@dataclass(frozen=True)
class Point:
    """The confidence of links that have this probability in the plan."""

    probability: float
    confidence: float


@dataclass(frozen=True, kw_only=True)
class Audit:
    """Estimates from decoys and runner-ups; the truth is mostly between ``low`` and ``high``.

    They are about the links that were found and kept, without those that were given.
    """

    links: int
    right: float
    """How many of the links are correct."""
    right_low: float
    right_high: float
    precision: float
    precision_low: float
    precision_high: float
    recall: float | None
    recall_low: float | None
    recall_high: float | None
    f1: float | None
    f1_low: float | None
    f1_high: float | None
    missed: float | None
    """Counterparts that are there and were not found; None where that cannot be told."""
    missed_low: float | None
    missed_high: float | None
    untold: str | None = None
    """Why the number of missed counterparts, and what follows from it, cannot be told."""
    left_without: float | None
    """The share of left entities that have no counterpart."""
    left_without_low: float | None
    left_without_high: float | None
    right_without: float | None
    right_without_low: float | None
    right_without_high: float | None
    wrong_by_decoys: float | None = None
    """How many links are wrong, as decoys tell; None in audits of earlier versions."""
    wrong_by_runner_ups: float | None = None
    """The same, as runner-ups tell."""
    left_decoys: int
    right_decoys: int
    a: float
    """The calibration: log-odds of confidence are ln p + a - b ln(1 - p)."""
    b: float
    level: float
    """The least confidence of a link that is kept."""
    curve: tuple[Point, ...]
    groups: tuple[Group, ...]

    @property
    def calibration(self) -> Curve:
        """What gives confidence from the plan's probability."""
        return Curve(self.a, self.b)

    def _repr_html_(self) -> str:
        """The estimates with their intervals, for notebooks."""
        return audit_html(self.asdict())

    def asdict(self) -> dict[str, Any]:
        """All of it as plain values that JSON can hold."""
        return asdict(self)


def recorded_audit(values: Mapping[str, Any] | None) -> Audit | None:
    """The audit that ``asdict`` gave."""
    if values is None:
        return None
    later = {field.name for field in fields(Audit) if field.default is not MISSING}
    known = {
        field.name: values[field.name]
        for field in fields(Audit)
        if field.name in values or field.name not in later
    }
    known["curve"] = tuple(Point(**each) for each in known["curve"])
    known["groups"] = tuple(Group(**each) for each in known["groups"])
    return Audit(**known)

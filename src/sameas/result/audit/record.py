"""Audit: how good a run is, as estimated from decoys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
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
    """Estimates from decoys; ``low`` and ``high`` enclose 95% of the resampled ones.

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
    recall: float
    recall_low: float
    recall_high: float
    f1: float
    f1_low: float
    f1_high: float
    missed: float
    """Counterparts that are there and were not found."""
    missed_low: float
    missed_high: float
    left_without: float
    """The share of left entities that have no counterpart."""
    left_without_low: float
    left_without_high: float
    right_without: float
    right_without_low: float
    right_without_high: float
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
    known = {field.name: values[field.name] for field in fields(Audit)}
    known["curve"] = tuple(Point(**each) for each in known["curve"])
    known["groups"] = tuple(Group(**each) for each in known["groups"])
    return Audit(**known)

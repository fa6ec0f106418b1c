"""Numbers that were chosen: each says what it is, its unit and where it comes from."""

from __future__ import annotations

import ast
import inspect
import json
import math
import re
from dataclasses import FrozenInstanceError, fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

import sameas
from sameas.options import tuning as module
from sameas.options.tuning import TUNING, Number, Tuning, numbers

EVERY = list(numbers())


@pytest.mark.parametrize("number", EVERY, ids=[number.path for number in EVERY])
def test_every_number_has_a_unit_and_an_origin(number: Number) -> None:
    assert number.unit
    assert number.origin in ("theory", "measured", "chosen on gold")
    assert len(number.source) > 5
    values = number.value if isinstance(number.value, tuple) else (number.value,)
    assert values
    assert all(type(value) in (int, float) and math.isfinite(value) for value in values)


def test_every_number_says_what_it_is() -> None:
    described = set()
    for group in ast.parse(inspect.getsource(module)).body:
        if isinstance(group, ast.ClassDef):
            for one, after in zip(group.body, group.body[1:], strict=False):
                if isinstance(one, ast.AnnAssign) and isinstance(after, ast.Expr):
                    assert isinstance(one.target, ast.Name)
                    described.add((group.name, one.target.id))
    expected = {
        (type(group).__name__, one.name)
        for group in (getattr(TUNING, stage.name) for stage in fields(Tuning))
        for one in fields(group)
    }
    assert not expected - described


def test_stages_are_frozen_and_hold_nothing_but_numbers() -> None:
    for stage in fields(Tuning):
        group = getattr(TUNING, stage.name)
        assert is_dataclass(group)
        with pytest.raises(FrozenInstanceError):
            setattr(group, fields(group)[0].name, 0)
    assert hash(TUNING) == hash(Tuning())


def test_another_tuning_differs_in_what_was_changed() -> None:
    other = TUNING.changed(search={"slack": 0.5}, types={"most": 1.0})
    assert other.differences() == {"search.slack": 0.5, "types.most": 1.0}
    assert other.open is TUNING.open
    assert TUNING.differences() == {}


@pytest.mark.parametrize("change", [{"searching": {"slack": 1}}, {"search": {"slacks": 1}}])
def test_a_number_that_does_not_exist_is_refused(change: dict[str, dict[str, float]]) -> None:
    with pytest.raises((TypeError, AttributeError)):
        TUNING.changed(**change)


def test_every_number_is_used() -> None:
    own = Path(inspect.getfile(module))
    sources = [file.read_text() for file in own.parents[1].rglob("*.py") if file != own]
    used = set(re.findall(r"\.(\w+)", "\n".join(sources)))
    used |= set(re.findall(r"self\.(\w+)", own.read_text()))  # by what a stage derives from it
    assert not {number.name for number in EVERY} - used


CHANGES: dict[str, dict[str, dict[str, Any]]] = {
    "the threshold": {"open": {"floor": 200.0}},
    "anchors": {"anchors": {"share": 2.0}},
    "weights": {"weights": {"names": 1.0}},
    "candidates": {"search": {"partners": 1, "slack": 0.0}},
    "evidence": {"evidence": {"hub": 1}},
    "sketches": {"sketch": {"principal": 4, "random": 8}},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_another_tuning_gives_other_scores(small: sameas.GraphPair, change: Any) -> None:
    usual, other = (
        sameas.align(small, no_audit=True, languages="none", tuning=tuning)
        for tuning in (TUNING, TUNING.changed(**change))
    )
    assert other.tuning.differences()
    columns = "left", "right", "score"
    assert not other.candidates.select(columns).equals(usual.candidates.select(columns))


def test_the_audit_has_its_own_numbers(small: sameas.GraphPair) -> None:
    silent = TUNING.changed(audit={"fewest": 10**9})
    assert sameas.align(small, languages="none").audit is not None
    assert sameas.align(small, languages="none", tuning=silent).audit is None


def test_a_run_folder_says_that_it_was_made_with_other_numbers(
    small: sameas.GraphPair, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tuning = TUNING.changed(open={"floor": 2.0})
    found = sameas.align(small, no_audit=True, languages="none", tuning=tuning)
    sameas.write(found, tmp_path / "run")
    assert json.loads((tmp_path / "run" / "run.json").read_text())["tuning"] == {"open.floor": 2.0}
    assert sameas.read_run(tmp_path / "run").tuning == TUNING
    assert "another tuning" in caplog.text

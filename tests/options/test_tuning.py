"""Numbers that were chosen: each says what it is, its unit and where it comes from."""

from __future__ import annotations

import ast
import inspect
import math
from dataclasses import FrozenInstanceError, fields, is_dataclass

import pytest

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

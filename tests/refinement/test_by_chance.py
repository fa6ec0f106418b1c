"""Two tables with nothing in common: nothing is learned of attributes, and a warning says so."""

from __future__ import annotations

import logging

import numpy as np
import polars as pl
import pytest

from explanation_checks import assert_explains
from sameas import align
from sameas.options.tuning import TUNING

FIRST = (
    *("ada", "bea", "cleo", "dora", "emmy", "fay", "gina", "hedy"),
    *("ida", "jane", "kate", "lise", "mary", "nina", "olga", "rosa"),
)
HEADS = "ash", "black", "clay", "dun", "el", "fern"
LAST = [head + tail for head in HEADS[:5] for tail in ("by", "ton", "ley")]
TOWNS = [head + tail for head in HEADS for tail in ("ford", "ham")]


def people(count, seed):
    """So many strangers: names and towns are of a few, the rest is their own."""
    rng = np.random.default_rng(seed)
    roads = zip(rng.integers(1, 400, count), rng.choice(LAST, count), strict=True)
    dates = rng.integers([1910, 1, 1], [1999, 13, 28], (count, 3))
    return pl.DataFrame(
        {
            "id": [f"p{seed}-{number}" for number in range(count)],
            "given_name": rng.choice(FIRST, count),
            "surname": rng.choice(LAST, count),
            "town": rng.choice(TOWNS, count),
            "street": [f"{number} {name} road" for number, name in roads],
            "born": [f"{year}-{month:02}-{day:02}" for year, month, day in dates],
        }
    )


def learned_anyway(left, right):
    """The alignment if chance is never looked for."""
    tuning = TUNING.changed(refinement={"beyond_chance": -np.inf})
    return align(left, right, no_audit=True, tuning=tuning)


def test_strangers_are_found_out(caplog):
    left, right = people(300, 1), people(300, 2)
    with caplog.at_level(logging.WARNING):
        alignment = align(left, right, no_audit=True)
    assert alignment.diagnostics.by_chance
    warned = any("may all be wrong" in message for message in caplog.messages)
    assert warned == (len(alignment.links) >= TUNING.audit.fewest)


@pytest.mark.parametrize("common", [40, 150])
def test_people_that_are_in_both_tables_change_nothing(common):
    left, strangers = people(300, 1), people(300, 2)
    same = left.head(common).with_columns(id="same-" + pl.col("id"))
    right = pl.concat([same, strangers.tail(150 - common)])
    alignment = align(left, right, no_audit=True)
    assert alignment.diagnostics.by_chance is None
    assert alignment.links.equals(learned_anyway(left, right).links)


def test_explanations_count_attributes_as_the_run_did():
    alignment = align(people(300, 1), people(300, 2), no_audit=True, min_confidence=0.0)
    assert alignment.diagnostics.by_chance
    assert_explains(alignment, most=10)

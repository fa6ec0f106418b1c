"""The bench of the audit: said and true, and how many intervals hold."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.decisions.audited import (
    audit_page,
    dataset_of,
    judge_links,
    judge_missed,
    left_out,
    said_and_true,
)
from benchmarks.decisions.dump import dump_task, read_dump, write_dump
from benchmarks.decisions.tasks import mentioned, seeded


@pytest.fixture(scope="module")
def dumps(small, tmp_path_factory):
    """A small pair without and with known links, written and read again."""
    folder = tmp_path_factory.mktemp("dumps")
    tasks = {
        "plain": mentioned("small", small, languages="none"),
        "seeds": seeded(lambda: mentioned("small", small, languages="none"), 0.5),
    }
    for name, task in tasks.items():
        write_dump(folder / f"{name}.npz", dump_task(task))
    return {name: read_dump(folder / f"{name}.npz") for name in tasks}


def test_said_and_true_are_those_of_the_run(dumps, small, align_small):
    values = said_and_true(dumps["plain"])
    links = align_small().links
    correct = links.join(small.gold, on=["left", "right"], how="semi")
    judged = links.filter(
        links["left"].is_in(small.gold["left"].implode())
        | links["right"].is_in(small.gold["right"].implode())
    )
    assert values["links"] == len(judged)
    assert values["wrong"] == len(judged) - len(correct)
    assert values["missed"] == len(small.gold) - len(correct)
    assert 0 <= values["decoys"] <= len(judged)


def test_links_that_were_given_are_neither_said_nor_true(dumps, small):
    values = said_and_true(dumps["seeds"])
    given = int(dumps["seeds"].seed.sum())
    assert given > 0
    assert values["links"] - values["wrong"] + values["missed"] <= len(small.gold) - given + 1


def told(wrong, decoys, missed, estimate, links=1000):
    near = (0.73, 0.82, 0.88, 0.92, 0.95)
    return {
        "links": links,
        "wrong": wrong,
        "missed": missed,
        "partial": False,
        "decoys": decoys,
        "runner_ups": decoys,
        "missed_by": {str(each): (estimate, estimate) for each in near},
        "untold": None,
    }


def test_an_interval_holds_what_is_within_a_factor_of_two():
    assert judge_links(told(30, 20.0, 0, 0.0)).holds
    assert not judge_links(told(60, 20.0, 0, 0.0)).holds
    assert judge_missed(told(0, 0.0, 90, 50.0)).holds
    assert not judge_missed(told(0, 0.0, 10, 50.0)).holds


def test_what_was_not_told_is_not_judged():
    untold = told(0, 0.0, 5, 1.0) | {"untold": "too near"}
    assert judge_missed(untold) is None
    assert judge_links({"links": 5, "wrong": 1, "missed": 3, "partial": False}) is None
    page = audit_page({"real x": untold, "real y": {**untold, "partial": True}})
    assert "not told" in page
    assert "| real y * |" in page


def test_numbers_are_chosen_without_the_dataset_that_they_are_judged_on():
    """One dataset is off by ten; what is learned from it must not help itself."""
    rng = np.random.default_rng(0)
    tasks = {f"real r{n}": told(int(20 * rng.uniform(0.8, 1.2)), 20.0, 50, 50.0) for n in range(12)}
    tasks |= {f"{kind} abt-buy": told(200, 20.0, 50, 50.0) for kind in ("records", "hidden")}
    assert dataset_of("records abt-buy") == dataset_of("hidden records/abt-buy")
    judged = left_out(tasks, "links")
    assert len(judged) == len(tasks)
    assert sum(not each.holds for each in judged) >= 2

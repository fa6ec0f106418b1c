"""An earlier run: what is kept of it, what is looked at again, and whose run it must be."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import sameas
from pairs import best_connected, matched_pair
from sameas.candidates.since import little_changed, searched_anew
from sameas.cli.main import main
from sameas.compute.rows import as_rows
from sameas.compute.topk import top_k_of_some, top_k_sparse
from sameas.errors import InputError
from sameas.options.options import Options
from sameas.options.tuning import TUNING
from sameas.pipeline.inputs import Given, collect_inputs
from sameas.result.decision_log import read_log
from sameas.result.decisions import Claim, decide, decisions_of, undo
from sameas.similarity.make_task import make_task

AS_LARGE = TUNING.changed(since={"small": 0})
"""Small graphs are treated as large ones."""
PAIR = ["left", "right"]


@pytest.fixture(scope="module")
def today():
    demo = sameas.read_pair(sameas.DEMO)
    return best_connected(demo)


@pytest.fixture(scope="module")
def before(today):
    """The pair without some entities, and with other names of others."""
    sides = []
    for graph in today.graphs:
        source = graph.source.without(graph.entities.gather_every(20))
        names = source.names.to_list()
        names[::25] = [name[::-1] for name in names[::25]]
        sides.append(replace(source, given_names=pl.Series(names)))
    return matched_pair(*sides)


@pytest.fixture(scope="module")
def run(before, tmp_path_factory):
    folder = tmp_path_factory.mktemp("since") / "run"
    sameas.write(sameas.align(before), folder)
    return folder


def f1(alignment, pair):
    return sameas.evaluate(alignment, pair.gold).f1


@pytest.mark.parametrize("tuning", [TUNING, AS_LARGE])
def test_links_are_those_of_a_whole_run_or_nearly(run, today, tuning):
    whole = sameas.align(today, tuning=tuning)
    since = sameas.align(today, since=run, tuning=tuning)
    assert f1(since, today) > f1(whole, today) - 0.035
    counts = since.summary()["since"]
    assert counts["links"]["kept"] > 0.85 * len(sameas.read_run(run).links)
    assert counts["left"]["new"] == len(today.left.entities.gather_every(20))
    assert counts["left"]["gone"] == 0
    now = since.links.select(PAIR)
    assert len(since.changes.filter(pl.col("change") != "gone").join(now, on=PAIR)) == len(now)


def test_nothing_changed_means_that_all_links_are_kept(run, before):
    earlier = sameas.read_run(run)
    for tuning in (TUNING, AS_LARGE):
        again = sameas.align(before, since=earlier, tuning=tuning)
        assert earlier.links.join(again.links, on=PAIR, how="anti").is_empty()
        assert again.inputs.earlier.entities.is_empty()


def test_candidates_are_searched_for_what_is_new_or_renamed(run, before, today):
    inputs = collect_inputs(today, Options(), Given(since=run), tuning=AS_LARGE)
    task = make_task(today, Options(), inputs, tuning=AS_LARGE)
    assert little_changed(task)
    for graph, old, some in zip(task.pair.graphs, before.graphs, searched_anew(task), strict=True):
        names = dict(zip(old.entities, old.names, strict=True))
        both = zip(graph.entities, graph.names, strict=True)
        expected = [place for place, (e, name) in enumerate(both) if names.get(e) != name]
        assert some.tolist() == expected
    assert not little_changed(replace(task, tuning=TUNING.changed(since={"searched": 0.0})))


def test_what_was_taken_over_is_part_of_the_run(run, today, tmp_path):
    since = sameas.align(today, since=run, tuning=AS_LARGE)
    sameas.write(since, tmp_path / "next")
    again = sameas.read_run(tmp_path / "next")
    assert again.changes.equals(since.changes)
    assert again.summary() == since.summary()
    assert again.inputs.earlier.pairs.equals(since.inputs.earlier.pairs)
    third = sameas.align(today, since=again, tuning=AS_LARGE)
    assert since.links.join(third.links, on=PAIR, how="anti").is_empty()


def decided(run, links, today):
    """Accept a link that the run does not have, reject one that it has, and undo one."""
    wrong = links.row(0, named=True)
    other = next(r for r in today.right.entities if r not in {*links["right"]})
    left = next(e for e in today.left.entities if e not in {*links["left"]})
    with decisions_of(run) as connection:
        for number, claim in enumerate(
            [
                Claim(wrong["left"], wrong["right"], "reject", "broad", "a part"),
                Claim(left, other, "accept"),
                Claim(links["left"][1], links["right"][1], "reject"),
                Claim("nobody", other, "reject"),
            ]
        ):
            decide(connection, [claim], reviewer="Ada", request=str(number))
        undo(connection, "2", reviewer="Ada")
    return (wrong["left"], wrong["right"]), (left, other)


def test_decisions_carry_over_unless_something_else_is_said(before, today, tmp_path):
    run = tmp_path / "run"
    sameas.write(sameas.align(before), run)
    links = sameas.read_run(run).links.filter(pl.col("left").is_in(today.left.entities.implode()))
    rejected, accepted = decided(run, links, before)
    since = sameas.align(today, since=run)
    found = since.links.select(PAIR).rows()
    assert rejected not in found
    assert accepted in found
    reasons = {(left, right): reason for left, right, _, reason, _ in since.changes.rows()}
    assert reasons[accepted] == "known"
    assert since.summary()["since"]["lost_decisions"] == 1
    sameas.write(since, tmp_path / "next")
    states = sameas.read_run(tmp_path / "next").decisions.select(*PAIR, "state").rows()
    assert sorted(states) == sorted([(*rejected, "reject"), (*accepted, "accept")])
    logs = [read_log(folder) for folder in (run, tmp_path / "next")]
    assert logs[0].filter(pl.col("left") != "nobody").equals(logs[1])
    assert "a part" in logs[1]["comment"].to_list()
    other = sameas.align(today, since=tmp_path / "next", seeds=[rejected], reject=[accepted])
    found = other.links.select(PAIR).rows()
    assert rejected in found
    assert accepted not in found


def test_a_run_of_other_graphs_is_refused(run, today, tmp_path):
    triples = [("s:1", "s:r", "s:2"), ("s:2", "s:r", "s:3")]
    strangers = sameas.Graph.from_triples(triples)
    with pytest.raises(InputError, match="run of other graphs: of the left entities, 0% are known"):
        sameas.align(strangers, strangers, since=run)
    with pytest.raises(InputError, match="in the other order; exchange the two inputs"):
        sameas.align(today.right, today.left, since=run)
    with pytest.raises(InputError, match="is not a run folder"):
        sameas.align(today, since=tmp_path)
    numbers = pl.DataFrame({"id": ["1", "2"], "name": ["Ann", "Bo"], "city": ["Rome", "Oslo"]})
    others = numbers.with_columns(name=pl.Series(["Cy", "Di"]), city=pl.Series(["Bonn", "Nice"]))
    people = sameas.align(numbers, numbers)
    with pytest.raises(InputError, match="run of other graphs"):
        sameas.align(others, others, since=people)


def test_methods_without_refinement_have_no_use_for_it(run, today):
    for choices in ({"preset": "paper"}, {"method": "paris"}):
        with pytest.raises(sameas.OptionError, match="`since` has no effect here"):
            sameas.align(today, since=run, **choices)


def test_rows_are_followed_where_a_table_has_no_ids():
    rng = np.random.default_rng(0)
    people = [
        {"name": f"{first} {last}", "city": str(rng.choice(["Rome", "Oslo", "Bonn"]))}
        for first in ("Ann", "Bo", "Cyrus", "Dina", "Ella", "Fred")
        for last in ("Lee", "Ekholm", "Okafor", "Novak", "Brandt")
    ]
    right = [{"title": row["name"], "place": row["city"]} for row in people]
    before = sameas.align(people, right)
    now = sameas.align([{"name": "Zoe Quill", "city": "Bern"}, *people], right, since=before)
    assert now.summary()["since"]["links"]["kept"] == len(before.links)
    assert now.summary()["since"]["left"] == {"new": 1, "changed": 0, "gone": 0}


def test_the_command_prints_what_became_of_links(part, tmp_path):
    runner, pair = CliRunner(), str(part)
    first = runner.invoke(main, ["align", pair, "-o", str(tmp_path / "run")])
    assert first.exit_code == 0
    words = ["align", pair, "--since", str(tmp_path / "run"), "-o", str(tmp_path / "run")]
    second = runner.invoke(main, words)
    assert second.exit_code == 0
    assert "neither entity has changed" in second.output
    counts = json.loads(runner.invoke(main, [*words, "--json"]).stdout)["since"]
    assert counts["links"]["gone"] == 0
    assert counts["links"]["kept"] == len(sameas.read_run(tmp_path / "run").links)
    assert (tmp_path / "run" / "changes.parquet").is_file()


def test_partners_of_some_rows_are_the_nearest_of_all():
    rng = np.random.default_rng(1)
    left, right = rng.random((7, 4)), rng.random((9, 4))
    only = np.array([1, 4]), np.array([0, 8])
    products = left @ right.T
    expected = {
        *(int(9 * i + j) for i in only[0] for j in np.argsort(-products[i])[:3]),
        *(int(9 * i + j) for j in only[1] for i in np.argsort(-products[:, j])[:3]),
    }
    rows = as_rows(left.astype(np.float32)), as_rows(right.astype(np.float32))
    assert set(top_k_of_some(*rows, 3, only=only).tolist()) == expected
    from scipy.sparse import csr_array

    sparse = [csr_array(side.astype(np.float32)) for side in (left, right)]
    assert set(top_k_sparse(*sparse, 3, only=only).tolist()) == expected

"""What a run will take, before it starts: the choice, the refusal, and how near the estimate is."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
import pytest

import sameas
from pairs import matched_pair
from sameas import MemoryCeilingError, Options
from sameas.compute.joins import bounded_join
from sameas.compute.rows import as_rows, unit
from sameas.graph.labels import LABELS
from sameas.graph.semantics.understanding import understand
from sameas.graph.task import Inputs
from sameas.options.declare import parse_size
from sameas.options.tuning import TUNING
from sameas.pipeline import memory as budget
from sameas.pipeline.memory import BASE, plan_memory
from sameas.pipeline.paris import paris
from sameas.similarity import matrix as profit
from sameas.similarity.adjacency import adjacency_matrices
from sameas.similarity.crosslingual import choose_support
from sameas.similarity.features import name_features, neighbourhood_rows
from sameas.similarity.make_task import make_task
from sameas.similarity.matrix import DenseMatrix, RowProduct
from sameas.similarity.propagation import hop
from sameas.text import folding
from sameas.text.folding import folded
from sameas.text.ngrams import ngram_rows
from sameas.text.words import WordVectors
from strategies import paper

LARGE = 1_000_000
VECTORS = WordVectors(pl.Series(["word"]), np.ones((1, 50), dtype=np.float32), "vectors.txt")


@pytest.fixture(scope="module")
def pair_of(script, demo):
    """The demo, or a generated pair of some size."""
    known = {"demo": demo}

    def get(name):
        if name not in known:
            known[name] = understand(script.generate(name))
        return known[name]

    return get


NO_INPUTS = Inputs()


def plan(pair, options, inputs=NO_INPUTS, tuning=TUNING):
    task = make_task(pair, options, inputs, tuning=tuning)
    return plan_memory(task, task.sides, choose_support(task.pair, options, inputs))


def plan_many(pair, options, size=LARGE, inputs=NO_INPUTS):
    """The plan for so many entities a side, each of them one of the pair's."""
    left, right = (np.arange(size) % len(graph.entities) for graph in (pair.left, pair.right))
    task = make_task(pair, options, inputs)
    support = choose_support(task.pair, options, inputs)
    return plan_memory(task, (left, right), support)


# --- The choice -------------------------------------------------------------------------------


def test_small_problems_are_complete(demo):
    found = plan(demo, paper())
    assert found.form == "complete"
    assert BASE < found.memory_expected_bytes <= paper().memory
    assert f"{1162 * 1222:,} pairs" in found.form_reason


@pytest.mark.parametrize("solver", ["sinkhorn", "hungarian"])
@pytest.mark.parametrize("candidates", [50, LARGE])
def test_refinement_takes_candidates_however_small_the_problem(demo, solver, candidates):
    found = plan(demo, Options(solver=solver, candidates=candidates))
    assert found.form == "candidates"


@pytest.mark.parametrize("options", [Options(), paper()], ids=["best", "paper"])
def test_large_problems_take_candidates(demo, options):
    found = plan_many(demo, replace(options, memory=2**40))
    assert found.form == "candidates"
    assert found.memory_expected_bytes < 4 * LARGE * LARGE
    assert "pairs would take" in found.form_reason


def test_what_is_complete_follows_from_the_number_of_pairs(demo):
    pairs = 1162 * 1222
    all_fit, fewer_fit = (
        TUNING.changed(assignment={"complete_up_to": most}) for most in (pairs, pairs - 1)
    )
    assert plan(demo, paper(), tuning=all_fit).form == "complete"
    assert plan(demo, paper(), tuning=fewer_fit).form == "candidates"
    assert plan(demo, paper(candidates=1222), tuning=fewer_fit).form == "complete"
    assert plan(demo, paper(candidates=1221), tuning=fewer_fit).form == "candidates"


def test_the_ceiling_decides_between_all_pairs_and_candidates(demo):
    """From much memory to little: what does not fit gives way to what takes less."""
    forms, memory = [], paper().memory
    for _ in range(2):
        found = plan(demo, paper(memory=memory, candidates=2))
        assert found.memory_expected_bytes <= memory
        forms.append(found.form)
        memory = found.memory_expected_bytes - 1
    assert forms == ["complete", "candidates"]
    with pytest.raises(MemoryCeilingError):
        plan(demo, paper(memory=memory, candidates=2))


@pytest.mark.parametrize("more", [{"depth": 3}, {"candidates": 500}])
def test_more_work_takes_more_memory(demo, more):
    options = paper(memory=2**45)
    assert (
        plan_many(demo, replace(options, **more)).memory_expected_bytes
        > plan_many(demo, options).memory_expected_bytes
    )


def test_only_the_entities_in_question_count(demo):
    some = plan(demo, paper(), Inputs(among=demo.gold))
    assert some.memory_expected_bytes < plan(demo, paper()).memory_expected_bytes


def test_a_pair_of_nothing_takes_next_to_nothing(demo):
    nobody = replace(
        demo.left,
        entities=demo.left.entities.head(0),
        names=demo.left.names.head(0),
        triples=demo.left.triples[:0],
        linkable=demo.left.linkable[:0],
        kinds=demo.left.kinds[:0],
    )
    for pair in (
        matched_pair(left=nobody, right=nobody),
        matched_pair(left=nobody, right=demo.right),
        matched_pair(left=demo.left, right=nobody),
    ):
        assert plan(pair, paper()).form == "complete"


def test_names_without_any_bigram_can_be_planned_for(demo):
    pair = matched_pair(
        left=replace(demo.left, names=pl.repeat("", len(demo.left.names), eager=True)),
        right=replace(demo.right, names=pl.repeat("x", len(demo.right.names), eager=True)),
    )
    assert plan(pair, paper()).form == "complete"


# --- The refusal ------------------------------------------------------------------------------

WORK = {
    "all pairs": (paper(), 1000),
    "deep": (paper(depth=4), 1000),
    "all were asked for": (paper(candidates=LARGE), 1000),
    "many": (paper(), LARGE),
    "many, exactly": (paper(solver="hungarian"), LARGE),
    "many candidates": (paper(candidates=2000), LARGE),
    "words": (paper(features="word"), LARGE),
    "words and letters": (paper(features="hybrid"), LARGE),
    "refinement": (Options(), 1000),
    "much refinement": (Options(), LARGE),
}


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("memory", ["1K", "100M", "400M", "1G"])
def test_the_ceiling_that_is_recommended_suffices(demo, work, memory):
    options, size = WORK[work]
    options = replace(options, memory=parse_size(memory))
    inputs = NO_INPUTS if options.features == "char" else Inputs(word_vectors=VECTORS)
    for _ in range(2):
        try:
            found = plan_many(demo, options, size, inputs)
        except MemoryCeilingError as error:
            advice = str(error).rsplit("`memory` ", 1)[1]
            assert parse_size(advice) > options.memory
            options = replace(options, memory=parse_size(advice))
        else:
            break
    assert found.memory_expected_bytes <= options.memory


def test_a_ceiling_of_many_digits_suffices_too(demo):
    options = paper(candidates=1_900_000)
    with pytest.raises(MemoryCeilingError) as caught:
        plan_many(demo, options, 1_900_000)
    advice = parse_size(str(caught.value).rsplit("`memory` ", 1)[1])
    assert plan_many(demo, replace(options, memory=advice), 1_900_000).form == "complete"


def test_the_refusal_says_what_needs_how_much(demo):
    with pytest.raises(MemoryCeilingError) as caught:
        plan_many(demo, paper(memory=2**30), LARGE)
    message = str(caught.value)
    assert "1,000,000 x 1,000,000 entities with 200 candidates each need about" in message
    assert "the ceiling is 1.00 GiB; raise it with `memory`" in message
    with pytest.raises(MemoryCeilingError, match="all 1,000,000,000,000 pairs need about 74"):
        plan_many(demo, paper(candidates=LARGE), LARGE)


@pytest.mark.parametrize("options", [Options(), paper()], ids=["best", "paper"])
def test_nothing_is_done_before_the_refusal(demo, options):
    told, options = [], replace(options, memory=1000)
    with pytest.raises(MemoryCeilingError):
        sameas.align(demo, options, progress=lambda *step: told.append(step))
    assert {phase for phase, _ in told} == {"inputs"}


# --- The estimate -----------------------------------------------------------------------------


def estimate(pair, some, depth, text):
    names = pl.concat([pair.left.names, pair.right.names])
    curve = budget._distinct_curve(names.gather_every(max(1, len(names) // budget.SAMPLE)), text)
    once = sum(
        budget._entries(graph, own, curve, depth)
        for graph, own in zip((pair.left, pair.right), some, strict=True)
    )
    return 2 * once if text == "weighted" else once  # as spelled, and as they sound


def entries(pair, some, depth, text):
    """Of the rows themselves, and of the hops that are kept on the way to them."""
    options = Options(depth=depth, text=text)
    features = name_features(pair, options, Inputs()).rows
    total = sum(rows.sparse.nnz for rows in neighbourhood_rows(pair, features, options, some))
    for matrix, side in zip(
        adjacency_matrices(pair.left, pair.right, "relational"), features, strict=True
    ):
        rows = unit(side)
        for _ in range(depth - 1):
            rows = hop(matrix, rows)
            total += rows.sparse.nnz
    return total


@pytest.mark.parametrize("name", ["demo", 2000])
@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize(
    ("among", "text"), [(False, "plain"), (True, "plain"), (False, "weighted")]
)
def test_the_entries_of_the_rows_are_estimated_well(pair_of, name, depth, among, text):
    pair = pair_of(name)
    inputs = Inputs(among=pair.gold if among else None)
    some = make_task(pair, Options(), inputs).sides
    true = entries(pair, some, depth, text)
    assert 0.7 * true < estimate(pair, some, depth, text) < 1.6 * true


@pytest.mark.parametrize(
    "options",
    [
        paper(features="word"),
        paper(features="hybrid"),
        paper(features="hybrid", depth=0),
        paper(depth=20),
        Options(),
        Options(features="hybrid"),
    ],
)
def test_every_kind_of_features_can_be_planned_for(demo, options):
    inputs = NO_INPUTS if options.features == "char" else Inputs(word_vectors=VECTORS)
    found = plan(demo, replace(options, memory=2**50), inputs)
    assert found.form == ("candidates" if options.rounds else "complete")
    assert found.memory_expected_bytes > BASE


def test_embeddings_count_by_their_size(demo):
    rows = np.ones((1162 + 1222, 40), dtype=np.float32)
    inputs = Inputs(embeddings=as_rows(rows))
    shallow, deep = (
        plan(demo, paper(depth=depth), inputs).memory_expected_bytes for depth in (1, 3)
    )
    assert deep - shallow == 4 * rows.nbytes


# --- Odd shapes -------------------------------------------------------------------------------


def test_long_texts_are_worked_on_in_blocks(monkeypatch):
    """The same rows and texts in any blocks, none of them larger than a text and a block."""
    names = pl.Series(["Ann " * 50, "", None, "Öl 2nd", "x" * 300, "Ann", " ", "Москва"] * 13)
    rows, plain = ngram_rows(names, n=3, boundaries=True, rarity=True), folded(names)
    for size in (1, 7, 250):
        monkeypatch.setattr(folding, "BLOCK", size)
        parts = [names[part] for part in folding.text_blocks(names)]
        lengths = [part.str.len_bytes().fill_null(0).sum() for part in parts]
        assert len(lengths) > 1
        assert max(lengths) <= size + 300
        again = ngram_rows(names, n=3, boundaries=True, rarity=True)
        assert (abs(again.sparse - rows.sparse)).max() == 0
        assert again.sparse.has_sorted_indices
        assert folded(names).to_list() == plain.to_list()


@pytest.mark.parametrize("stored", [True, False])
def test_profits_that_are_all_the_same_are_looked_through_in_parts(monkeypatch, stored):
    rows = as_rows(np.zeros((40, 3), dtype=np.float32))
    found = RowProduct(rows, rows)
    monkeypatch.setattr(profit, "BLOCK_BYTES", 32 * 4 * 40 * 2)
    every = DenseMatrix(found.toarray()) if stored else found
    sizes = [len(left) for _, left, _ in every.exceeding_prices(np.full(40, -1.0), np.zeros(40))]
    assert sum(sizes) == 1600
    assert max(sizes) <= 40 * 2 * 4


def test_a_join_of_frequent_keys_is_bounded(caplog):
    join = partial(bounded_join, on=["key"], tuning=replace(TUNING.search, join_rows=500))
    left = pl.DataFrame({"key": [0] * 60 + [1] * 3, "a": range(63)})
    right = pl.DataFrame({"key": [0] * 60 + [1] * 2, "b": range(62)})
    found = join(left, right)
    assert found["key"].to_list() == [1] * 6
    assert "1 of 2 keys are too frequent" in caplog.text
    rare = right.filter(pl.col("key") == 1)
    assert join(left, rare).equals(left.join(rare, on="key"))


def test_paris_is_refused_below_what_its_tables_take(demo):
    with pytest.raises(MemoryCeilingError, match=r"facts need about .*raise it with `memory`"):
        sameas.align(demo, method="paris", memory=2**20)
    found = sameas.align(demo, method="paris", memory="1G")
    assert BASE < found.diagnostics.memory_expected_bytes < 2**30


def test_paris_is_refused_where_too_many_facts_meet(demo):
    with pytest.raises(MemoryCeilingError, match=r"pairs of facts.*raise `memory` by 0.25G"):
        paris(demo.left, demo.right, memory=1000)


LETTERS = " ".join(chr(97 + n % 26) + chr(97 + n // 26 % 26) + str(n % 7) for n in range(400_000))


ODD = {
    "long names": (
        "".join(f'<s:{n}> <{LABELS[0]}> "{n} {LETTERS}" .\n' for n in range(40))
        + "<s:0> <p:r> <s:1> .",
        [],
    ),
    "many relations": (
        "".join(f'<s:{n}> <{LABELS[0]}> "thing {n * 7919}" .\n' for n in range(20))
        + "".join(f"<s:{n % 2}> <p:{n}> <s:{2 + n % 2}> .\n" for n in range(60_000)),
        [],
    ),
    "no names, exactly": (
        "".join(f"<s:{n}> <p:r> <s:{n * 7 % 4900}> .\n" for n in range(4900)),
        ["--preset", "paper", "--solver", "hungarian"],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", ODD)
@pytest.mark.parametrize("method", [[], ["--method", "paris"]], ids=["seu", "paris"])
def test_odd_shapes_stay_under_the_ceiling_or_are_refused(tmp_path, shape, method):
    content, options = ODD[shape]
    for name in ("l.nt", "r.nt"):
        (tmp_path / name).write_text(content)
    names = {f"s:{n}": "" for n in range(4900)} if options else None
    words = ["l.nt", "r.nt", "-o", "k.tsv", "--memory", "1G", *(method or options)]
    if names:
        (tmp_path / "n.json").write_text(json.dumps(names))
        words += ["--names", "n.json"]
    watched = (
        "import resource, subprocess, sys\n"
        "code = subprocess.call([sys.executable, '-m', 'sameas', 'align', *sys.argv[1:]])\n"
        "print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    run = subprocess.run(
        [sys.executable, "-c", watched, *words],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    code, peak = map(int, run.stdout.split()[-2:])
    assert code in (0, 2), run.stderr
    assert peak * 1024 < 1.1 * 2**30 + 200e6

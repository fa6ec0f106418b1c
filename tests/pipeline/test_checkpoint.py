"""A run that was interrupted goes on from its last finished phase, and from nothing else."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from numpy.typing import NDArray
from scipy.sparse import csr_array

import sameas
import sameas.candidates.search
import sameas.pipeline.checkpoint
import sameas.pipeline.phases
import sameas.pipeline.stages
from folders import openea
from pairs import matched_pair
from sameas import Options
from sameas.assignment.problem import Problem, solve
from sameas.candidates.pairs import every_pair
from sameas.candidates.search import find_candidates
from sameas.compute.rows import Rows, as_rows
from sameas.graph.task import Inputs
from sameas.options.tuning import TUNING
from sameas.pipeline.best import refine_model
from sameas.pipeline.checkpoint import Checkpoint, fingerprint, from_arrays, to_arrays
from sameas.pipeline.inputs import Given, collect_inputs
from sameas.pipeline.phases import Phases
from sameas.pipeline.stages import prepare
from sameas.result.alignment import Diagnostics
from sameas.similarity.features import TextRows
from sameas.similarity.make_task import make_task
from sameas.similarity.matrix import DenseMatrix, make_profit
from sameas.similarity.sketch import Sketch, SketchedRows
from sameas.text.languages.support import NO_SUPPORT, LanguageSupport
from sameas.text.words import words_of
from strategies import paper

FEW_PAIRS = TUNING.changed(assignment={"complete_up_to": 0})
BY_CLUES = FEW_PAIRS.changed(search={"compare_all_up_to": 0})
"""Small problems are treated as large ones."""
align = partial(sameas.align, tuning=FEW_PAIRS)


@dataclass(frozen=True, eq=False)
class Inner:
    places: NDArray[np.int64]
    share: float | None = None


@dataclass(frozen=True, eq=False)
class Result:
    """A result with everything that a phase may return."""

    values: NDArray[np.float32]
    count: int
    nothing: NDArray[np.float32]
    inner: Inner
    reason: str = "because"
    sides: tuple[Inner, Inner] | None = None
    sizes: tuple[int, ...] = ()
    exact: Inner | None = None


@dataclass(frozen=True, eq=False)
class Array:
    values: NDArray[Any]


RESULT = Result(
    values=np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4),
    count=7,
    nothing=np.empty((3, 0), dtype=np.float32),
    inner=Inner(np.arange(5, dtype=np.int64)),
    sides=(Inner(np.arange(2), 0.5), Inner(np.arange(0))),
    sizes=(3, 4),
)
SECONDS = 12.5
WORTH_SECONDS = sameas.pipeline.checkpoint.WORTH_SECONDS
DEFAULT = Options()


@pytest.fixture
def checkpoint(tmp_path):
    return Checkpoint(tmp_path / "kept", "run one")


@pytest.fixture
def kept(checkpoint):
    """A checkpoint with a phase in it."""
    checkpoint.save("search", RESULT, SECONDS)
    return checkpoint


def load(checkpoint, phase="search"):
    """The result that was kept, or None."""
    found = checkpoint.load(phase, Result)
    return None if found is None else found[0]


def assert_same(found, expected):
    """Equal to the digit, and of the same types, all the way down."""
    assert type(found) is type(expected)
    if is_dataclass(expected):
        for entry in fields(expected):
            assert_same(getattr(found, entry.name), getattr(expected, entry.name))
    elif isinstance(expected, csr_array):
        assert found.shape == expected.shape
        for name in ("data", "indices", "indptr"):
            assert_same(getattr(found, name), getattr(expected, name))
    elif isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype
        assert_array_equal(found, expected, strict=True)
    elif isinstance(expected, tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    else:
        assert found == expected


# --- Phases -----------------------------------------------------------------------------------


def test_a_phase_is_given_back_as_it_was(kept):
    result, seconds = kept.load("search", Result)
    assert_same(result, RESULT)
    assert seconds == SECONDS
    assert [path.name for path in kept.folder.iterdir()] == ["search.npz"]


def test_a_phase_kept_again_replaces_the_first(kept):
    kept.save("search", Array(np.zeros(2)), SECONDS)
    assert_same(kept.load("search", Array)[0], Array(np.zeros(2)))
    assert [path.name for path in kept.folder.iterdir()] == ["search.npz"]


def test_arrays_in_another_order_in_memory_are_kept_by_value(checkpoint):
    for turned in (np.arange(12.0).reshape(3, 4).T, np.arange(20)[::-3]):
        checkpoint.save("search", Array(turned), SECONDS)
        assert_same(checkpoint.load("search", Array)[0], Array(turned))


@pytest.mark.parametrize(("seconds", "worth"), [(2.9, False), (3.1, True)])
def test_short_phases_are_not_kept(checkpoint, seconds, worth):
    checkpoint.save("search", RESULT, seconds)
    assert (load(checkpoint) is not None) == worth
    assert checkpoint.folder.exists() == worth


def test_without_a_folder_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    nowhere = Checkpoint()
    nowhere.save("search", RESULT, SECONDS)
    assert load(nowhere) is None
    assert not list(tmp_path.iterdir())


def test_another_run_or_phase_does_not_use_it(kept):
    assert load(Checkpoint(kept.folder, "run two")) is None
    assert load(kept, "another phase") is None


def test_a_result_of_another_type_is_as_good_as_none(kept):
    assert kept.load("search", Inner) is None


# --- Damage -----------------------------------------------------------------------------------


@pytest.mark.parametrize("array", [RESULT.values, RESULT.nothing])
@pytest.mark.filterwarnings("ignore:Data type alias")
def test_a_damaged_file_is_as_good_as_none_or_harmless(checkpoint, array):
    checkpoint.save("search", Array(array), SECONDS)
    path = checkpoint.folder / "search.npz"
    data = path.read_bytes()
    for index in range(len(data)):
        wrong = bytes([data[index] ^ (1 << index * 3 % 8)])
        path.write_bytes(data[:index] + wrong + data[index + 1 :])
        loaded = checkpoint.load("search", Array)
        if loaded is not None:
            assert_same(loaded[0], Array(array))
            assert loaded[1] == SECONDS


def test_every_damaged_value_is_noticed(kept):
    path = kept.folder / "search.npz"
    data = path.read_bytes()
    start = data.index(RESULT.values.tobytes())
    for place in range(start, start + RESULT.values.nbytes):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        assert load(kept) is None
    path.write_bytes(data)
    assert load(kept) is not None


def test_a_truncated_file_is_as_good_as_none(kept):
    path = kept.folder / "search.npz"
    data = path.read_bytes()
    for size in range(len(data)):
        path.write_bytes(data[:size])
        assert load(kept) is None


def test_files_of_another_kind_are_as_good_as_none(kept):
    path = kept.folder / "search.npz"
    arrays = dict(np.load(path))
    record = {name: arrays[name] for name in ("fingerprint", "seconds")}
    no_seconds = {name: array for name, array in arrays.items() if name != "seconds"}
    no_run = {name: array for name, array in arrays.items() if name != "fingerprint"}
    objects = {**arrays, "result.values": np.array([{}], dtype=object)}
    for content in ({}, record, no_seconds, no_run, objects, {"result.values": RESULT.values}):
        np.savez(path, **content)
        assert load(kept) is None
    np.savez(path, **arrays)
    assert load(kept) is not None
    for text in (b"", b"{", b"\x00" * 100, b"PK\x03\x04", b"years of work"):
        path.write_bytes(text)
        assert load(kept) is None
    path.unlink()
    assert load(kept) is None
    with path.open("wb") as file:
        np.save(file, RESULT.values)
    assert load(kept) is None


# --- Nowhere to keep it -----------------------------------------------------------------------


def test_a_folder_that_cannot_be_made(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    for number, folder in enumerate((tmp_path / "file", tmp_path / "file" / "kept"), start=1):
        Checkpoint(folder, "").save("search", RESULT, SECONDS)
        assert caplog.text.count("the phase search is not kept") == number
    assert (tmp_path / "file").read_text() == ""


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
def test_a_folder_that_must_not_be_written_to(tmp_path, caplog):
    folder = tmp_path / "kept"
    folder.mkdir(mode=0o500)
    Checkpoint(folder, "").save("search", RESULT, SECONDS)
    assert "Permission denied" in caplog.text


def test_a_disk_that_is_full_is_a_warning_and_nothing_is_left_on_it(
    checkpoint, monkeypatch, caplog
):
    def full(file, **arrays):
        file.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    checkpoint.save("search", RESULT, SECONDS)
    assert "the phase search is not kept for an interrupted run (No space left" in caplog.text
    assert load(checkpoint) is None
    assert not checkpoint.folder.exists()


def test_a_file_that_may_not_grow_that_large(checkpoint, caplog):
    """The system itself refuses, in the middle of an array."""
    resource = pytest.importorskip("resource")
    checkpoint.save("search", RESULT, SECONDS)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**16, limits[1]))
    try:
        checkpoint.save("search", Array(np.zeros(2**16)), SECONDS)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "the phase search is not kept" in caplog.text
    assert [file.name for file in checkpoint.folder.iterdir()] == ["search.npz"]
    # What was there before is still there, and the next try succeeds.
    assert_same(load(checkpoint), RESULT)
    checkpoint.save("search", Array(np.zeros(2**16)), SECONDS)
    assert_same(checkpoint.load("search", Array)[0], Array(np.zeros(2**16)))


# --- What phases make -------------------------------------------------------------------------


def assert_given_back(checkpoint, result):
    assert_same(from_arrays(type(result), to_arrays(result, "it"), "it"), result)
    checkpoint.save("search", result, SECONDS)
    assert_same(checkpoint.load("search", type(result))[0], result)


@pytest.mark.parametrize(
    "rows",
    [
        as_rows(np.eye(3)),
        as_rows(csr_array(np.eye(4))),
        Rows(np.ones((2, 3), dtype=np.float32), csr_array(np.array([[0, 2], [0, 0]], np.float32))),
        as_rows(csr_array((0, 5), dtype=np.float32)),
        as_rows(csr_array((5, 0), dtype=np.float32)),
    ],
)
def test_rows_are_given_back(checkpoint, rows):
    other = rows.scaled(np.zeros(len(rows)))
    names, exact = make_profit(rows, other), make_profit(other, rows)
    rows_of_words = TextRows(names, hops=exact, entities_without_features=3, words=2)
    assert_given_back(checkpoint, rows_of_words)
    small = np.ones((len(rows), 3, 2), dtype=np.int8)
    side = SketchedRows(small, np.ones((len(rows), 3), dtype=np.float32))
    sketch = Sketch(side, side, left_names=side)
    assert_given_back(checkpoint, TextRows(names, exact, sketch=sketch))


@pytest.mark.parametrize("recall", [None, 0.0, 0.97])
@pytest.mark.parametrize("shape", [(3, 4), (0, 4), (3, 0)])
def test_candidates_are_given_back(checkpoint, shape, recall):
    candidates = replace(every_pair(np.random.default_rng(0).random(shape)), recall=recall)
    assert_given_back(checkpoint, candidates)


@pytest.mark.parametrize("solver", ["sinkhorn", "hungarian"])
@pytest.mark.parametrize("form", ["complete", "sparse"])
@pytest.mark.parametrize("shape", [(6, 5), (4, 7), (1, 1)])
def test_solutions_are_given_back(checkpoint, solver, form, shape):
    rng = np.random.default_rng(1)
    profit = make_profit(*(as_rows(rng.random((size, 3))) for size in shape))
    problem = Problem(DenseMatrix(profit.toarray()))
    if form == "sparse":
        problem = Problem(profit, find_candidates(profit, 2, first=2))
    solution = solve(problem, exact=solver == "hungarian", temperature=0.02, iterations=5)
    assert (solution.gap is None) == (form == "sparse" and solver == "sinkhorn")
    assert (solution.exact is None) == (solver == "sinkhorn")
    assert_given_back(checkpoint, solution)


def test_refinements_are_given_back(checkpoint, pair):
    task = make_task(pair, Options(candidates=10), Inputs())
    planned = Diagnostics(solver="sinkhorn", objective=0.0, form="candidates", form_reason="many")
    model, candidates, figures = prepare(task, task.everything, NO_SUPPORT, Phases(), planned)
    used = replace(figures, languages=LanguageSupport(left="zh", glossed=("left",), learnt=True))
    assert_given_back(checkpoint, used)
    refinement = refine_model(task, model, candidates)
    assert len(refinement.pairs.candidates)
    assert_given_back(checkpoint, refinement)


def test_a_tuple_and_an_array_are_given_back(checkpoint):
    checkpoint.save("search", (RESULT, RESULT.inner), SECONDS)
    assert_same(checkpoint.load("search", tuple[Result, Inner])[0], (RESULT, RESULT.inner))
    checkpoint.save("search", RESULT.values, SECONDS)
    assert_same(checkpoint.load("search", np.ndarray)[0], RESULT.values)


# --- The fingerprint --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A pair small enough to be aligned in no time: names of few letters, some mistyped."""
    rng = np.random.default_rng(2)
    names = ["".join(rng.choice(list("abcdefgh"), 7)) for _ in range(60)]
    sides = []
    for side in "lr":
        typed = [
            name if side == "l" or rng.random() < 0.6 else name[:3] + "h" + name[4:]
            for name in names[: 60 if side == "l" else 55]
        ]
        heads = [*range(len(typed)), *rng.integers(0, len(typed), 80).tolist()]
        sides.append(
            [
                (f"{side}:{typed[h]}", f"r{h % 3}", f"{side}:{typed[t]}")
                for h, t in zip(heads, rng.integers(0, len(typed), len(heads)), strict=True)
            ]
        )
    gold = [(sides[0][i][0], sides[1][i][0]) for i in range(50)]
    return openea(
        tmp_path_factory.mktemp("pair") / "pair", left=sides[0], right=sides[1], gold=gold
    )


@pytest.fixture(scope="module")
def pair(folder):
    return sameas.read_pair(folder)


def changed(pair):
    """The pair with one thing changed, in many ways."""
    left, right = pair.left.source, pair.right.source

    def other(**parts):
        return matched_pair(left=replace(left, **parts), right=right, gold=pair.gold)

    triples = left.triples.copy()
    triples[0, 2] = (triples[0, 2] + 1) % len(left.entities)
    names = left.names.to_list()
    yield "sides", matched_pair(left=right, right=left, gold=pair.gold)
    yield "triple", other(triples=triples)
    yield "fewer triples", other(triples=left.triples[:-1])
    yield "name", other(given_names=pl.Series(["x", *names[1:]]))
    yield "order of names", other(given_names=pl.Series(names[::-1]))
    yield "entity", other(entities=left.entities + "x", given_names=pl.Series(names))
    yield "relation", other(relations=left.relations + "x")
    yield "gold", replace(pair, gold=pair.gold.head(10))
    yield "no gold", replace(pair, gold=None)


def fingerprint_of(pair, options=DEFAULT, **given):
    return fingerprint(make_task(pair, options, collect_inputs(pair, options, Given(**given))))


def test_everything_that_matters_is_in_the_fingerprint(pair):
    known = {fingerprint_of(pair): "as it is"}
    for what, other in changed(pair):
        assert known.setdefault(fingerprint_of(other), what) == what
    for options in (
        Options(depth=1),
        Options(solver="hungarian"),
        Options(candidates=7),
        Options(solver="hungarian", gap=0.1),
        Options(top=3),
        Options(text="plain"),
        Options(rounds=3),
        Options(without=("votes",)),
        paper(),
    ):
        assert known.setdefault(fingerprint_of(pair, options), options) is options
    rows = np.eye(len(pair.left.entities)), np.eye(len(pair.left.entities))[:55]
    for given in (
        {"among": "gold"},
        {"seeds": pair.gold.head(3)},
        {"seeds": pair.gold.head(4)},
        {"reject": pair.gold.head(3)},
        {"embeddings": rows},
        {"embeddings": (rows[0][::-1], rows[1])},
    ):
        assert known.setdefault(fingerprint_of(pair, **given), given) is given
    hybrid = Options(features="hybrid")
    word = words_of(pair.left.names)["word"][0]
    for vectors in ({word: [1.0, 2.0]}, {word: [1.0, 3.0]}):
        found = fingerprint_of(pair, hybrid, word_vectors=vectors)
        assert known.setdefault(found, vectors) is vectors


def test_the_same_input_read_again_has_the_same_fingerprint(folder, pair):
    assert fingerprint_of(sameas.read_pair(folder)) == fingerprint_of(pair)


def test_another_version_has_another_fingerprint(pair, monkeypatch):
    before = fingerprint_of(pair)
    monkeypatch.setattr(sameas.pipeline.checkpoint, "__version__", "0.0.0")
    assert fingerprint_of(pair) != before


# --- Interrupted and resumed ------------------------------------------------------------------

STEPS = ("proposals", "neighbours", "candidates", "refinement", "assignment")
"""The phases that are kept, in their order."""
NEAREST = ("neighbours", "candidates", "assignment")
"""Those of the method as published that are kept if all are compared."""


@pytest.fixture(autouse=True)
def patient(request):
    """Short phases are treated as long ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sameas.pipeline.checkpoint, "WORTH_SECONDS", WORTH_SECONDS)
        if "pair" in request.fixturenames or "folder" in request.fixturenames:
            patch.setattr(sameas.pipeline.checkpoint, "WORTH_SECONDS", 0)
        yield


OPTIONS = {
    "nearest": paper(candidates=10),
    "clues": paper(candidates=10),
    "exact": paper(candidates=10, solver="hungarian"),
    "complete": paper(candidates=100),
    "refined": Options(candidates=10),
    "refined by clues": Options(candidates=10, solver="hungarian"),
}


@pytest.fixture(scope="module")
def uninterrupted(pair):
    """The answer, and what was told on the way to it; each found once."""
    known = {}

    def get(how):
        if how not in known:
            told = []
            given = {"tuning": numbers(how), "progress": lambda *step: told.append(step)}
            alignment = align(pair, OPTIONS[how], **given)
            known[how] = alignment, told
        return known[how]

    return get


def numbers(how):
    return BY_CLUES if "clues" in how else FEW_PAIRS


@pytest.fixture(autouse=True)
def control_c():
    """Control-C interrupts, even where it was ignored when the tests were started."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Interrupter:
    """Interrupts as Control-C does, at the n-th report about a phase."""

    def __init__(self, phase, count):
        self.phase, self.left = phase, count

    def __call__(self, phase, share):
        if phase == self.phase:
            self.left -= 1
            if self.left == 0:
                signal.raise_signal(signal.SIGINT)


def moments(told, phase):
    """When to interrupt a phase: when it starts and, if it is kept, just before it is."""
    count = sum(name == phase for name, _ in told)
    return sorted({1, count}) if phase in STEPS else [1]


def finished_before(told, phase):
    """The kept phases that are done and needed when this one starts."""
    order = list(dict.fromkeys(name for name, _ in told))
    done = tuple(name for name in order[: order.index(phase)] if name in STEPS)
    return ("refinement",) if "refinement" in done else done  # it holds all that follows needs


def assert_same_answer(found, expected):
    for name in (
        *("links", "candidates", "unmatched", "gold_ranks", "relations", "anchors", "prices"),
    ):
        one, other = getattr(found, name), getattr(expected, name)
        assert (one is None) == (other is None)
        assert one is None or one.equals(other)
    assert found.summary() == expected.summary()


@pytest.mark.parametrize("how", ["clues", "exact", "complete", "refined by clues"])
def test_a_run_interrupted_anywhere_goes_on_from_there(pair, uninterrupted, tmp_path, how):
    run = partial(align, pair, OPTIONS[how], tuning=numbers(how))
    expected, told = uninterrupted(how)
    phases = list(dict.fromkeys(phase for phase, _ in told))
    assert {"features", "neighbours", "assignment", "confidence"} <= set(phases)
    assert ("candidates" in phases) == (how != "complete")
    assert ("proposals" in phases) == ("clues" in how)
    assert ("refinement" in phases) == ("refined" in how)
    for phase in phases:
        for moment in moments(told, phase):
            folder = tmp_path / f"{phase} {moment}"
            with pytest.raises(KeyboardInterrupt):
                align(
                    pair,
                    OPTIONS[how],
                    tuning=numbers(how),
                    progress=Interrupter(phase, moment),
                    checkpoint=folder,
                )
            done = finished_before(told, phase)
            assert folder.exists() == bool(done)
            found = run(checkpoint=folder)
            assert found.resumed == done
            assert_same_answer(found, expected)
            assert set(done) <= set(found.seconds)


@pytest.mark.parametrize(
    ("how", "steps"), [("exact", NEAREST), ("refined by clues", ("refinement",))]
)
def test_a_run_interrupted_again_and_again_gets_there(pair, uninterrupted, tmp_path, how, steps):
    run = partial(align, pair, OPTIONS[how], tuning=numbers(how))
    expected, told = uninterrupted(how)
    folder = tmp_path / "kept"
    for phase in dict.fromkeys(phase for phase, _ in told if phase not in ("features", "profit")):
        with pytest.raises(KeyboardInterrupt):
            align(
                pair,
                OPTIONS[how],
                tuning=numbers(how),
                progress=Interrupter(phase, 1),
                checkpoint=str(folder),
            )
    found = run(checkpoint=str(folder))
    assert found.resumed == steps
    assert_same_answer(found, expected)


def test_what_was_kept_stays_until_the_result_is_safe(pair, uninterrupted, tmp_path):
    """Who writes the result deletes it; until then, even a finished run can be had again."""
    for how, steps in (("nearest", NEAREST), ("exact", NEAREST), ("refined", ("refinement",))):
        first = align(pair, OPTIONS[how], tuning=numbers(how), checkpoint=tmp_path / how)
        again = align(pair, OPTIONS[how], tuning=numbers(how), checkpoint=tmp_path / how)
        assert first.resumed == ()
        assert again.resumed == steps
        assert_same_answer(again, uninterrupted(how)[0])


def test_a_run_interrupted_while_it_keeps_a_phase(pair, uninterrupted, tmp_path, monkeypatch):
    folder = tmp_path / "kept"
    save = np.savez

    def interrupted(path, **arrays):
        save(path, **arrays)
        if path.name == "candidates.draft.npz":
            path.write_bytes(path.read_bytes()[:-5])
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(np, "savez", interrupted)
        with pytest.raises(KeyboardInterrupt):
            align(pair, OPTIONS["nearest"], checkpoint=folder)
    assert (folder / "candidates.draft.npz").exists()
    assert not (folder / "candidates.npz").exists()
    found = align(pair, OPTIONS["nearest"], checkpoint=folder)
    assert found.resumed == ("neighbours",)
    assert_same_answer(found, uninterrupted("nearest")[0])
    assert sorted(path.stem for path in folder.iterdir()) == sorted(NEAREST)


def interrupted_at_the_end(pair, options, folder):
    with pytest.raises(KeyboardInterrupt):
        align(pair, options, progress=Interrupter("confidence", 1), checkpoint=folder)
    assert folder.is_dir()


USED = ("triple", "name", "no gold")


def test_other_options_or_another_input_do_not_use_what_was_kept(pair, tmp_path):
    folder = tmp_path / "kept"
    for other, options in (
        *((other, Options(candidates=10)) for what, other in changed(pair) if what in USED),
        (pair, Options(candidates=10, depth=1)),
        (pair, Options(candidates=10, rounds=1)),
        (pair, Options(candidates=10, solver="hungarian")),
        (pair, paper(candidates=10)),
    ):
        interrupted_at_the_end(pair, Options(candidates=10), folder)
        found = align(other, options, checkpoint=folder)
        assert found.resumed == ()
        assert_same_answer(found, align(other, options))


def test_a_damaged_refinement_is_made_again(pair, uninterrupted, tmp_path):
    folder = tmp_path / "kept"
    interrupted_at_the_end(pair, OPTIONS["refined"], folder)
    path = folder / "refinement.npz"
    path.write_bytes(path.read_bytes()[:-5])
    found = align(pair, OPTIONS["refined"], checkpoint=folder)
    assert found.resumed == ("neighbours", "candidates")
    assert_same_answer(found, uninterrupted("refined")[0])


def test_what_was_damaged_is_made_again(pair, uninterrupted, tmp_path):
    folder = tmp_path / "kept"
    interrupted_at_the_end(pair, OPTIONS["nearest"], folder)
    path = folder / "candidates.npz"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 64
    path.write_bytes(data)
    (folder / "assignment.npz").unlink()
    found = align(pair, OPTIONS["nearest"], checkpoint=folder)
    assert found.resumed == ("neighbours",)
    assert_same_answer(found, uninterrupted("nearest")[0])


def test_short_phases_of_a_run_leave_no_trace(pair, uninterrupted, tmp_path, monkeypatch):
    monkeypatch.setattr(sameas.pipeline.checkpoint, "WORTH_SECONDS", 1e9)
    folder = tmp_path / "kept"
    with pytest.raises(KeyboardInterrupt):
        align(pair, OPTIONS["nearest"], progress=Interrupter("confidence", 1), checkpoint=folder)
    assert not folder.exists()
    assert_same_answer(
        align(pair, OPTIONS["nearest"], checkpoint=folder), uninterrupted("nearest")[0]
    )


def test_a_run_that_cannot_keep_its_phases_says_so_and_goes_on(pair, tmp_path, caplog):
    (tmp_path / "file").write_text("")
    found = align(pair, Options(), checkpoint=tmp_path / "file" / "kept")
    assert "the phase neighbours is not kept" in caplog.text
    assert found.links.equals(align(pair, Options()).links)


def test_paris_keeps_nothing(pair, tmp_path):
    align(pair, Options(method="paris"), checkpoint=tmp_path / "kept")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["embeddings", "word_vectors", "among", "seeds", "reject"])
def test_a_file_of_the_same_name_and_other_contents_is_another_input(pair, tmp_path, kind):
    files = iter(contents_for(pair, kind))
    path = tmp_path / "given.npy" if kind == "embeddings" else tmp_path / "given.txt"
    more = {"features": "word"} if kind == "word_vectors" else {}
    given = {"candidates": 10, "min_confidence": 0.0, kind: path, **more}
    next(files)(path)
    with pytest.raises(KeyboardInterrupt):
        align(pair, progress=Interrupter("confidence", 1), checkpoint=tmp_path / "kept", **given)
    next(files)(path)
    found = align(pair, checkpoint=tmp_path / "kept", **given)
    assert found.resumed == ()
    assert found.links.equals(align(pair, **given).links)


def contents_for(pair, kind):
    """Two ways to fill a file."""
    rng = np.random.default_rng(4)
    size = len(pair.left.entities) + len(pair.right.entities)
    for some in (20, 30):
        if kind == "embeddings":
            yield lambda path: np.save(path, rng.standard_normal((size, 8)))
        elif kind == "word_vectors":
            words = [name for graph in (pair.left, pair.right) for name in graph.names]
            yield lambda path, words=words: path.write_text(
                "".join(f"{word} {rng.random()} {rng.random()}\n" for word in words)
            )
        else:
            yield lambda path, some=some: path.write_text(
                pair.gold.head(some).write_csv(separator="\t", include_header=False)
            )


def test_features_that_took_long_are_kept_with_the_neighbours(pair, tmp_path, monkeypatch):
    """Seconds since the last result that was kept count, whatever phase they were spent in."""
    clock = {"now": 0.0}
    stages: Any = sameas.pipeline.stages
    made = stages.name_features

    def slow(*given, **named):
        clock["now"] += 0.6
        return made(*given, **named)

    monkeypatch.setattr("sameas.pipeline.phases.time.perf_counter", lambda: clock["now"])
    monkeypatch.setattr(sameas.pipeline.stages, "name_features", slow)
    monkeypatch.setattr(sameas.pipeline.checkpoint, "WORTH_SECONDS", 0.5)
    with pytest.raises(KeyboardInterrupt):
        align(pair, Options(), progress=Interrupter("candidates", 1), checkpoint=tmp_path / "kept")
    assert (tmp_path / "kept" / "neighbours.npz").is_file()


# --- Killed -----------------------------------------------------------------------------------

PROGRAM = """
import os, signal, sys
import sameas, sameas.pipeline.checkpoint
from sameas.options.tuning import TUNING

folder, phase, count, checkpoint = sys.argv[1:]
left = int(count)
sameas.pipeline.checkpoint.WORTH_SECONDS = 0
tuning = TUNING.changed(assignment={"complete_up_to": 0}, search={"compare_all_up_to": 0})

def progress(name, share):
    global left
    left -= name == phase
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

options = sameas.Options(candidates=10, solver="hungarian")
sameas.align(folder, options, progress=progress, checkpoint=checkpoint, tuning=tuning)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal here")
def test_a_killed_run_goes_on_in_another_process(folder, pair, uninterrupted, tmp_path):
    """Killed half way through a phase; resumed here."""
    how, phase = "refined by clues", "refinement"
    expected, told = uninterrupted(how)
    # On a busy machine, threads that wait for each other take longer than the work.
    lean = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    middle = (sum(name == phase for name, _ in told) + 1) // 2
    arguments = [str(folder), phase, str(middle), str(tmp_path / "kept")]
    killed = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], env=lean, check=False)
    assert killed.returncode == -signal.SIGKILL
    resumed = align(pair, OPTIONS[how], tuning=numbers(how), checkpoint=tmp_path / "kept")
    assert resumed.resumed == finished_before(told, phase)
    assert_same_answer(resumed, expected)

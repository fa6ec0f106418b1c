"""Options are checked when they are made, and say what was expected."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sameas import PRESETS, OptionError, Options, SameasError
from sameas.fields import parse_size


def test_the_defaults_are_the_preset_best():
    assert Options() == PRESETS["best"]


def test_the_paper_preset_is_the_method_as_published():
    paper = PRESETS["paper"]
    assert (paper.depth, paper.iterations, paper.temperature) == (2, 10, 0.02)
    assert (paper.adjacency, paper.solver) == ("relational", "sinkhorn")
    assert (paper.text, paper.rounds, paper.min_confidence) == ("plain", 0, 0)


def test_the_preset_best_refines_and_links_what_is_likelier_than_not():
    best = PRESETS["best"]
    assert (best.text, best.rounds, best.min_confidence) == ("weighted", 4, 0.5)
    assert best.seeds is best.reject is None
    assert best.without == ()


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("features", "letters", "one of char"),
        ("text", "bold", "one of weighted, plain"),
        ("method", "oracle", "one of seu, paris"),
        ("rounds", -1, "at least 0"),
        ("rounds", 1.5, "a whole number"),
        ("rounds", 1001, "at most 1000"),
        ("adjacency", "dense", "one of relational"),
        ("solver", "greedy", "one of sinkhorn, hungarian"),
        ("depth", -1, "at least 0"),
        ("depth", 1.5, "a whole number"),
        ("depth", True, "a whole number"),
        ("iterations", -1, "at least 0"),
        ("top", 0, "at least 1"),
        ("memory", 0, "at least 1"),
        ("memory", "4G", "a whole number"),
        ("temperature", 0, "a positive number"),
        ("temperature", -0.1, "a positive number"),
        ("temperature", float("nan"), "a positive number"),
        ("temperature", float("inf"), "a positive number"),
        ("min_confidence", 1.1, "between 0 and 1"),
        ("min_confidence", float("nan"), "between 0 and 1"),
    ],
)
def test_values_that_cannot_be_used_are_refused_by_name(name, value, expected):
    with pytest.raises(OptionError) as caught:
        Options(**{name: value})
    message = str(caught.value)
    assert message.startswith(f"{name} must be ")
    assert expected in message
    assert f"got {value!r} instead" in message


@pytest.mark.parametrize("name", ["temperature", "min_confidence"])
@pytest.mark.parametrize("value", ["0.1", None])
def test_numbers_given_as_something_else_are_refused_as_options(name, value):
    with pytest.raises(OptionError, match=f"{name} must be"):
        Options(**{name: value})


def test_parts_that_do_not_exist_are_refused():
    with pytest.raises(OptionError, match=r"without must be some of folding, .*, got 'luck'"):
        Options(without=("votes", "luck"))
    assert Options(without=["votes", "lacking"]).without == ("votes", "lacking")


@pytest.mark.parametrize("name", ["seeds", "reject"])
def test_what_only_refinement_uses_is_refused_without_it(name):
    assert getattr(Options(**{name: "links.tsv"}), name) == Path("links.tsv")
    with pytest.raises(OptionError, match=f"{name} are used in refinement only, got rounds 0"):
        Options(**{name: "links.tsv"}, rounds=0)
    with pytest.raises(OptionError, match="rounds 0"):
        replace(PRESETS["paper"], **{name: "links.tsv"})


def test_an_option_error_is_both_ours_and_a_value_error():
    assert issubclass(OptionError, SameasError)
    assert issubclass(OptionError, ValueError)


def test_options_go_into_json_whole():
    options = Options(
        features="word",
        word_vectors=Path("a.txt"),
        seeds=Path("b.tsv"),
        without=("votes", "numbers"),
        among="gold",
        temperature=0.5,
    )
    values = json.loads(json.dumps(options.asdict()))
    assert values == options.asdict()
    assert list(values) == [field.name for field in fields(Options)]
    assert values["word_vectors"] == "a.txt"
    assert values["seeds"] == "b.tsv"
    assert values["without"] == ["votes", "numbers"]
    assert values["among"] == "gold"
    assert values["embeddings"] is None


def test_options_cannot_be_changed_or_given_by_position():
    with pytest.raises(AttributeError):
        Options().depth = 3
    with pytest.raises(TypeError):
        Options("char")


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1", 1),
        ("512M", 512 * 2**20),
        ("4G", 4 * 2**30),
        ("4g", 4 * 2**30),
        ("4 GiB", 4 * 2**30),
        ("4GB", 4 * 2**30),
        ("1.5K", 1536),
        (" 2T ", 2 * 2**40),
    ],
)
def test_sizes_are_read(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "G", "-1G", "0", "4X", "4 G B", "1e3", "nan", "0.0001K"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(OptionError, match="memory must be a size such as 4G"):
        parse_size(text)


@given(st.text(max_size=8))
def test_any_text_is_a_size_or_an_option_error(text):
    with suppress(OptionError):
        assert parse_size(text) > 0

"""Options are checked when they are made, and say what was expected."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import fields, replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sameas
from sameas import PRESETS, OptionError, Options, SameasError
from sameas.options.declare import parse_size
from sameas.options.options import GraphPart, TextPart, make_options, refuse_unused


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
    assert best.without == ()


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("features", "letters", "one of char, word, hybrid"),
        ("text", "bold", "one of weighted, plain"),
        ("method", "oracle", "one of seu, paris"),
        ("rounds", -1, "a whole number from 0 to 1000"),
        ("rounds", 1.5, "a whole number"),
        ("rounds", 1001, "a whole number from 0 to 1000"),
        ("adjacency", "dense", "one of relational, plain, random-walk, laplacian"),
        ("solver", "greedy", "one of sinkhorn, hungarian"),
        ("depth", -1, "a whole number from 0 to 20"),
        ("depth", 1.5, "a whole number"),
        ("depth", True, "a whole number"),
        ("iterations", -1, "a whole number from 0 to 10000"),
        ("candidates", 0, "a whole number of at least 1"),
        ("top", 0, "a whole number from 1 to 1000"),
        ("memory", 0, "a whole number of at least 1"),
        ("memory", "much", "a size such as 4G or 512M"),
        ("temperature", 0, "a number above 0.0"),
        ("temperature", -0.1, "a number above 0.0"),
        ("temperature", float("nan"), "a number above 0.0"),
        ("temperature", float("inf"), "a number above 0.0"),
        ("gap", 1.0, "a number from 0.0 below 1.0"),
        ("time_limit", 0, "a number above 0.0"),
        ("min_confidence", 1.1, "a number from 0.0 to 1.0"),
        ("min_confidence", float("nan"), "a number from 0.0 to 1.0"),
        ("without", "luck", "among folding, "),
        ("without", 5, "among folding, "),
    ],
)
def test_values_that_cannot_be_used_are_refused_by_name(name, value, expected):
    with pytest.raises(OptionError) as caught:
        Options(**{name: value})
    message = str(caught.value)
    assert message.startswith(f"`{name}` must be {expected}")
    assert f"got {value!r} instead" in message


@pytest.mark.parametrize("name", ["temperature", "min_confidence"])
@pytest.mark.parametrize("value", ["0.1", None])
def test_numbers_given_as_something_else_are_refused_as_options(name, value):
    with pytest.raises(OptionError, match=f"`{name}` must be a number"):
        Options(**{name: value})


def test_one_part_or_several_can_be_left_out():
    assert Options(without=["votes", "lacking"]).without == ("votes", "lacking")
    assert Options(without="votes").without == ("votes",)
    with pytest.raises(OptionError, match=r"`without` must be among folding, .*, got 'luck'"):
        Options(without=("votes", "luck"))


def test_memory_can_be_given_as_a_size():
    assert Options(memory="4G") == Options(memory=4 * 2**30) == Options()


# --- presets and options without effect -------------------------------------------------------


def test_options_are_made_from_a_preset_and_changes():
    assert make_options() == Options()
    assert make_options("paper") == PRESETS["paper"]
    assert make_options("paper", depth=1) == replace(PRESETS["paper"], depth=1)


def test_unknown_presets_and_options_are_refused():
    with pytest.raises(OptionError, match="`preset` must be one of best, paper, got 'worst'"):
        make_options("worst")
    with pytest.raises(OptionError, match="'seed' is not an option; options are adjacency, "):
        make_options(seed=1)


NO_EFFECT = [
    ({"gap": 0.1}, "`gap` has no effect here: it is for `solver` hungarian"),
    ({"time_limit": 1.0}, "`time_limit` has no effect here: it is for `solver` hungarian"),
    ({"features": "word", "text": "plain"}, "`text` has no effect here: it is for `features`"),
    ({"text": "plain", "without": ["sounds"]}, "`without` has no effect here: it names a part of"),
    ({"rounds": 0, "without": ["votes"]}, "`without` has no effect here: it names a part of"),
    ({"method": "paris", "depth": 1}, "`depth` has no effect here: method 'paris' does not use it"),
    ({"method": "paris", "solver": "hungarian"}, "`solver` has no effect here: method 'paris'"),
    ({"method": "paris", "rounds": 0}, "`rounds` has no effect here: method 'paris'"),
]


@pytest.mark.parametrize(("choices", "message"), NO_EFFECT)
@pytest.mark.parametrize("make", [Options, make_options])
def test_options_without_effect_are_refused(make, choices, message):
    with pytest.raises(OptionError) as caught:
        make(**choices)
    assert str(caught.value).startswith(message)
    assert str(caught.value).endswith("; leave it out")


@pytest.mark.parametrize(
    "choices", [{"solver": "sinkhorn", "gap": 0.0}, {"method": "paris", "depth": 2}]
)
def test_an_option_without_effect_is_refused_even_if_it_has_its_default(choices):
    with pytest.raises(OptionError, match="has no effect here"):
        make_options(**choices)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(
    "choices",
    [
        {"method": "paris", "iterations": 5, "top": 3, "min_confidence": 0.2, "memory": "1G"},
        {"features": "word"},
        {"features": "hybrid"},
        {"solver": "hungarian", "gap": 0.1, "time_limit": 3},
        {"rounds": 2, "without": ("votes",)},
        {"text": "weighted", "without": ("sounds",)},
    ],
)
def test_what_a_preset_chooses_is_never_an_option_without_effect(preset, choices):
    options = make_options(preset, **choices)
    for name in choices.keys() - {"memory"}:
        assert getattr(options, name) == choices[name]


@pytest.mark.parametrize(
    ("options", "name", "embeddings", "reason"),
    [
        (PRESETS["paper"], "seeds", False, "it is used in refinement, and `rounds` is 0"),
        (PRESETS["paper"], "reject", False, "it is used in refinement, and `rounds` is 0"),
        (Options(), "word_vectors", False, "it is for `features` word or hybrid"),
        (Options(features="word"), "word_vectors", True, "`embeddings` take the place of names"),
        (Options(features="word"), "features", True, "`embeddings` take the place of names"),
        (Options(without=("sounds",)), "without", True, "it names a part of weighted n-grams"),
        (Options(method="paris"), "seeds", False, "method 'paris' does not use it"),
        (Options(method="paris"), "embeddings", True, "method 'paris' does not use it"),
    ],
)
def test_inputs_without_effect_are_refused(options, name, embeddings, reason):
    with pytest.raises(OptionError, match=re.escape(f"`{name}` has no effect here: {reason}")):
        refuse_unused(options, [name], embeddings=embeddings)


def test_inputs_with_an_effect_are_not_refused():
    refuse_unused(Options(), ["seeds", "reject", "among", "embeddings"], embeddings=True)
    refuse_unused(PRESETS["paper"], ["among", "embeddings"], embeddings=True)
    refuse_unused(Options(features="hybrid"), ["seeds", "word_vectors"])
    refuse_unused(Options(method="paris"), ["among"])


def test_every_part_can_be_left_out(tiny):
    before = sameas.align(tiny, no_audit=True)
    for part in (*get_args(TextPart), *get_args(GraphPart)):
        found = sameas.align(tiny, no_audit=True, without=(part,))
        if part != "numbers":  # there are none in the names of the demo
            assert found.diagnostics.objective != before.diagnostics.objective, part
        assert abs(len(found.links) - len(before.links)) < 0.3 * len(before.links), part


# --- the rest ---------------------------------------------------------------------------------


def test_an_option_error_is_both_ours_and_a_value_error():
    assert issubclass(OptionError, SameasError)
    assert issubclass(OptionError, ValueError)


def test_options_go_into_json_whole():
    options = Options(features="hybrid", without=("votes", "numbers"), temperature=0.5, memory="1G")
    values = json.loads(json.dumps(options.asdict()))
    assert values == options.asdict()
    assert list(values) == [field.name for field in fields(Options)]
    assert values["without"] == ["votes", "numbers"]
    assert values["memory"] == 2**30
    assert Options(**values) == options


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
    with pytest.raises(OptionError, match="`memory` must be a size such as 4G"):
        parse_size(text)


@given(st.text(max_size=8))
def test_any_text_is_a_size_or_an_option_error(text):
    with suppress(OptionError):
        assert parse_size(text) > 0

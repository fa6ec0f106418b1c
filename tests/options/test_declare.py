"""Options that are declared by annotations are checked when they are made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import pytest

from sameas import OptionError
from sameas.options.declare import REQUIRED, Option, check, declared

Fruit = Literal["apple", "pear"]


@dataclass(frozen=True, kw_only=True)
class Basket:
    fruit: Annotated[Fruit, Option("Which fruit.")] = "apple"
    count: Annotated[int, Option("How many.", metavar="N", least=0, most=20)] = 2
    at_least: Annotated[int, Option("", least=1)] = 1
    share: Annotated[float, Option("", least=0, below=1)] = 0.5
    seconds: Annotated[float | None, Option("", above=0)] = None
    others: Annotated[tuple[Fruit, ...], Option("")] = ()
    files: Annotated[tuple[Path, ...], Option("", most_items=3)] = ("list",)
    size: Annotated[int, Option("", metavar="SIZE", is_size=True)] = 1
    ripe: Annotated[bool, Option("")] = False
    note: str = "no option"

    def __post_init__(self):
        check(self)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"fruit": "plum"}, "`fruit` must be one of apple, pear, got 'plum' instead"),
        ({"fruit": ["apple"]}, r"`fruit` must be one of apple, pear, got \['apple'\] instead"),
        ({"count": 21}, "`count` must be a whole number from 0 to 20, got 21 instead"),
        ({"count": 10**400}, "`count` must be a whole number from 0 to 20, got 1000"),
        ({"count": 1.0}, "`count` must be a whole number from 0 to 20, got 1.0 instead"),
        ({"count": True}, "`count` must be a whole number from 0 to 20, got True instead"),
        ({"at_least": 0}, "`at_least` must be a whole number of at least 1, got 0 instead"),
        ({"share": 1}, "`share` must be a number from 0 below 1, got 1 instead"),
        ({"share": float("nan")}, "`share` must be a number"),
        ({"seconds": 0}, "`seconds` must be a number above 0, got 0 instead"),
        ({"seconds": "1"}, "`seconds` must be a number above 0, got '1' instead"),
        ({"others": ("apple", "plum")}, "`others` must be among apple, pear, got 'plum' instead"),
        ({"files": 3}, "`files` must be a path, got 3 instead"),
        ({"files": ()}, "`files` must be a list of 1 to 3, got 0 instead"),
        ({"files": ["a"] * 4}, "`files` must be a list of 1 to 3, got 4 instead"),
        ({"seconds": "1" * 1000}, "got '1{198}… instead"),
        ({"ripe": 1}, "`ripe` must be True or False, got 1 instead"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused(wrong, message):
    with pytest.raises(OptionError, match=message):
        Basket(**wrong)


def test_values_become_the_declared_type():
    basket = Basket(others=["pear"], files="a.rq", share=0, size="1.5K")
    assert basket.others == ("pear",)
    assert basket.files == (Path("a.rq"),)
    assert basket.size == 1536
    assert Basket(others="pear") == Basket(others=("pear",))


def test_the_declaration_says_all_that_a_flag_needs():
    options = {one.name: one for one in declared(Basket)}
    assert list(options)[:2] == ["fruit", "count"]
    assert "note" not in options
    assert options["fruit"].choices == ("apple", "pear")
    assert (options["seconds"].type, options["seconds"].optional) == (float, True)
    assert (options["files"].type, options["files"].several) == (Path, True)
    assert (options["size"].metavar, options["size"].is_size) == ("SIZE", True)
    assert (options["count"].metavar, options["count"].help) == ("N", "How many.")
    assert (options["fruit"].default, options["fruit"].help) == ("apple", "Which fruit.")


def test_a_function_declares_options_in_the_same_way():
    def buy(
        shop: str,
        *,
        fruit: Annotated[Fruit, Option("Which fruit.")],
        count: Annotated[int, Option("How many.", least=1)] = 3,
        bag: Annotated[str | None, Option("Where it goes.", metavar="FILE")] = None,
        basket: Basket,
    ): ...

    fruit, count, bag = declared(buy)
    assert (fruit.choices, fruit.default, fruit.is_required) == (("apple", "pear"), REQUIRED, True)
    assert (count.default, count.help, count.is_required) == (3, "How many.", False)
    assert (bag.name, bag.type, bag.metavar, bag.default) == ("bag", str, "FILE", None)

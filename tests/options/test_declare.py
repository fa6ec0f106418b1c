"""Options that are declared as dataclass fields are checked when they are made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import pytest

from sameas import OptionError
from sameas.options.declare import Size, check, declared

Fruit = Literal["apple", "pear"]


@dataclass(frozen=True, kw_only=True)
class Basket:
    """What is bought.

    Options:
      fruit: Which fruit.
      count N: How many: at
        most twenty.
      size SIZE: How large.
    """

    fruit: Fruit = "apple"
    count: Annotated[int, "from 0 to 20"] = 2
    least: Annotated[int, "of at least 1"] = 1
    share: Annotated[float, "from 0 below 1"] = 0.5
    seconds: Annotated[float, "above 0"] | None = None
    others: tuple[Fruit, ...] = ()
    files: tuple[Path, ...] = ()
    size: Size = 1
    ripe: bool = False

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
        ({"least": 0}, "`least` must be a whole number of at least 1, got 0 instead"),
        ({"share": 1}, "`share` must be a number from 0 below 1, got 1 instead"),
        ({"share": float("nan")}, "`share` must be a number"),
        ({"seconds": 0}, "`seconds` must be a number above 0, got 0 instead"),
        ({"seconds": "1"}, "`seconds` must be a number above 0, got '1' instead"),
        ({"others": ("apple", "plum")}, "`others` must be among apple, pear, got 'plum' instead"),
        ({"files": 3}, "`files` must be a path, got 3 instead"),
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
    found = {one.name: one for one in declared(Basket)}
    assert list(found)[:2] == ["fruit", "count"]
    assert found["fruit"].choices == ("apple", "pear")
    assert (found["seconds"].type, found["seconds"].optional) == (float, True)
    assert (found["files"].type, found["files"].several) == (Path, True)
    assert (found["size"].metavar, found["size"].is_size) == ("SIZE", True)
    assert (found["count"].metavar, found["count"].help) == ("N", "How many: at most twenty.")
    assert (found["fruit"].default, found["fruit"].help) == ("apple", "Which fruit.")


def test_a_function_declares_options_in_the_same_way():
    def buy(shop: str, *, fruit: Fruit, count: Annotated[int, "of at least 1"] = 3, **more: str):
        """Buy fruit.

        Options:
          fruit: Which fruit.
          bag FILE: Where it goes.

        Examples:
          buy here: now
        """

    fruit, count, bag = declared(buy)
    assert (fruit.choices, fruit.help, count.default, count.help) == (
        ("apple", "pear"),
        "Which fruit.",
        3,
        "",
    )
    assert (bag.name, bag.type, bag.metavar, bag.default) == ("bag", str, "FILE", None)

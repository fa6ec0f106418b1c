"""What tells the entities of one graph apart: words, roles, conflicts."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import sameas
from sameas.options.tuning import TUNING
from sameas.similarity.conflicts import read_conflicts

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"


def graph(names, triples=()):
    """A graph of entities with names."""
    table = pl.DataFrame(
        [*triples] or [("x", "r", "y")], schema=["head", "relation", "tail"], orient="row"
    )
    entities = dict.fromkeys([*names, *table["head"], *table["tail"]])
    return sameas.Graph.from_triples(
        table,
        entities=pl.Series(list(entities)),
        names=pl.Series([names.get(e, e) for e in entities]),
    )


def same(result, one, other):
    """Whether two entities are in one cluster."""
    members = dict(result.clusters.members.select("entity", "cluster").rows())
    return one in members and members[one] == members.get(other)


OTHERS = {
    f"o{number}": name
    for number, name in enumerate(
        [
            "Copper Pipe",
            "Steel Beam",
            "Garden Fence",
            "Roof Tile",
            "Window Frame",
            "Oak Door",
            "Sand Bag",
            "Wall Paint",
            "Floor Plan",
            "Brick Kiln",
            "Crane Hook",
            "Glass Pane",
            "Iron Nail",
            "Lime Mortar",
            "Paper Roll",
        ]
    )
}


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Tower Monitor", "Tower Monitors", True),
        ("Salt Lake City Hall", "The Salt Lake City Hall", True),
        ("Lake Salt City", "Salt Lake City", True),
        ("Standard 5080-1", "Standard 5080-2", False),
        ("150mm Long Ties", "350mm Long Ties", False),
        ("Diagram A", "Diagram B", False),
    ],
)
def test_words_that_differ_tell_things_apart(one, other, expected):
    result = sameas.dedupe(graph({"a": one, "b": other, **OTHERS}))
    assert same(result, "a", "b") is expected


def places(*, of_one_country):
    """Two towns of one name, and other towns, each in one country."""
    names = {"a": "Kingston Harbour", "b": "Kingston Harbour", **OTHERS}
    countries = {"a": "c1", "b": "c1" if of_one_country else "c2"}
    triples = [
        (town, "country", countries.get(town, f"c{number % 5}"))
        for number, town in enumerate(names)
    ]
    return graph(names, triples)


def score(result, one, other):
    """The score of a pair above its threshold, and the threshold."""
    pair = result.candidates.filter(pl.col("left") == one, pl.col("right") == other)
    return pair["score"][0] + result.diagnostics.threshold


def test_to_be_in_two_countries_speaks_against_two_of_one_name():
    one, two = (sameas.dedupe(places(of_one_country=which)) for which in (True, False))
    assert same(one, "a", "b")
    assert score(two, "a", "b") < score(one, "a", "b") - 5


def test_a_conflict_counts_by_how_few_have_several():
    triples = [(town, 0, 100 + town % 5) for town in range(40)]
    nobody, nothing = np.zeros(0, dtype=np.int64), np.zeros(0)

    def against(*more):
        held = SimpleNamespace(distinct_triples=np.array([*triples, *more]), entities=range(105))
        terms = read_conflicts(held).learn(nobody, nobody, nothing)
        return -float(terms(np.array([0, 0]), np.array([1, 5]))[0, 0])

    assert against() == TUNING.conflicts.forwards
    assert against((7, 0, 101)) == pytest.approx(np.log(40), abs=1e-5)


def test_what_is_said_of_a_town_and_of_a_country_is_not_said_of_one_thing():
    names = {"a": "Monaco", "b": "Monaco", **OTHERS}
    towns = [(town, "part of", f"d{number}") for number, town in enumerate(OTHERS)]
    countries = [(f"d{number}", "capital", f"o{number}") for number in range(15)]
    two_towns = [("a", "part of", "d3"), ("b", "part of", "d3")]
    town_and_country = [("a", "part of", "d3"), ("b", "capital", "o4")]
    towns_alike, unlike = (
        sameas.dedupe(graph(names, [*towns, *countries, *there]))
        for there in (two_towns, town_and_country)
    )
    assert score(unlike, "a", "b") < score(towns_alike, "a", "b") - 5


NOTHING_ELSE = {"x": "Harbour Wall", "y": "Lift Shaft"}


TOWNS = [
    f"{first}{middle}{last}"
    for first in ("Ash", "Birch", "Clay", "Dray", "Elm", "Fox")
    for middle in ("ford", "leigh", "mere", "wick", "stoke", "burn")
    for last in (" Abbey", " Gardens", " Quarry", " Terrace", " Villas", " Junction")
]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Portsmouth Harbour Bridge", "Potsmouth Harbour Bridge", True),  # a letter left out
        ("Bill Joyner Tower", "BillaJoyner Tower", True),  # in place of a space
        ("Margaret Hamiltonian", "M. Hamiltonian", True),  # an initial
        ("Q. FK", "Qarabaghlar FK", True),  # with few letters in common
        ("M Hamiltonian", "Margaret Hamiltonian", False),  # a letter is no initial
        ("Hamiltonian Rowland", "R. Hamiltonian", False),  # nor is one in another place
        ("Tower Crane", "Tower Crane (TC)", True),  # an acronym
        ("Tower Crane", "Tower Crane Crane", False),  # a word more
        ("Lek", "Lev", False),  # short words of a letter's difference
        ("Socket AM2", "Socket AM2+", False),
        ("Karen Daltonian Singer", "Karen Daltonia nSinger", True),  # a space in another place
        ("Oklahoma Bay Oklahoma", "Oklahoma Bay Oklahom", True),  # a word that is there twice
        ("Robert R. Bentonian", "R. R. Bentonian", True),  # two initials of one letter
        ("Grand Saconnexion, Le", "Le Grand Saconnexion", True),  # an article behind a comma
        ("The Saconnexion Harbour", "T. Saconnexion Harbour", True),  # an initial for an article
        ("Second Saconnexion Empire", "Secold Saconnexion Empire", True),  # in a number word
        ("Saconnexion Empire II", "Saconnexion Empire IIE", False),  # Roman numerals are not words
    ],
)
def test_slips_and_short_forms_are_told_from_other_words(one, other, expected):
    result = sameas.dedupe(graph({"a": one, "b": other, **OTHERS, **NOTHING_ELSE}))
    assert same(result, "a", "b") is expected


def test_initials_that_may_stand_for_several_names_stand_for_none():
    names = {"a": "M. Hamiltonian", "b": "Margaret Hamiltonian", **OTHERS, **NOTHING_ELSE}
    assert same(sameas.dedupe(graph(names)), "a", "b")
    names["c"] = "Michael Hamiltonian"
    result = sameas.dedupe(graph(names))
    assert not same(result, "a", "b")
    assert not same(result, "a", "c")


def test_neighbours_tell_which_name_an_initial_stands_for():
    names = {"a": "M. Hamiltonian", "b": "Margaret Hamiltonian", "c": "Michael Hamiltonian"}
    names |= OTHERS | {f"{one} again": name for one, name in OTHERS.items()}
    towns = {f"t{number}": name for number, name in enumerate(TOWNS)}
    road = [(f"t{number}", "near", f"t{number + 1}") for number in range(len(towns) - 1)]
    near_b = [("a", "near", "t11"), ("a", "near", "t13"), ("b", "near", "t12")]
    near_c = [("c", "near", "t99"), ("c", "near", "t101")]
    result = sameas.dedupe(graph(names | towns, [*road, *near_b, *near_c]))
    assert score(result, "a", "b") > score(result, "a", "c") + 5


def test_a_frequent_word_may_be_misspelled_twice():
    """A word that two names have is one, unless another is a hundred times as frequent."""
    names = {"a": "Ferry of Dunhollow", "b": "Ferry oof Dunhollow", "c": "Guild oof Marsh Candles"}
    scores = []
    for count in (20, 216):
        of = {f"f{number}": f"{name} of Brightwater" for number, name in enumerate(TOWNS[:count])}
        scores.append(score(sameas.dedupe(graph(names | of | OTHERS)), "a", "b"))
    assert scores[1] > scores[0] + 3


def people(*names, kind="person"):
    """A graph of nodes of one kind, among others."""
    nodes = pl.DataFrame(
        [(name, name, kind) for name in names] + [(e, n, "thing") for e, n in OTHERS.items()],
        schema=["entity", "name", "kind"],
        orient="row",
    )
    return sameas.Graph.from_triples(
        pl.DataFrame(
            [(e, "near", names[0]) for e in nodes["entity"] if e != names[0]],
            schema=["head", "relation", "tail"],
            orient="row",
        ),
        attributes=nodes.select("entity", attribute=pl.lit("type"), value="kind"),
        entities=nodes["entity"],
        names=nodes["name"],
    )


def test_the_surname_alone_is_a_person_that_no_other_shares_it_with():
    assert same(sameas.dedupe(people("Sam Rivera", "Rivera")), "Sam Rivera", "Rivera")
    assert not same(
        sameas.dedupe(people("Sam Rivera", "Ana Rivera", "Rivera")), "Sam Rivera", "Rivera"
    )
    assert not same(
        sameas.dedupe(people("Sam Rivera", "Rivera", kind="place")), "Sam Rivera", "Rivera"
    )


def test_explanations_know_what_was_learned_of_words(tmp_path):
    names = {"a": "Portsmouth Harbour Bridge", "b": "Potsmouth Harbour Bridge", **OTHERS}
    result = sameas.dedupe(graph(names))
    sameas.write(result, tmp_path / "run")
    again = sameas.read_run(tmp_path / "run")
    assert again.diagnostics.wording == result.diagnostics.wording
    assert str(again.explain("a")) == str(result.explain("a"))

"""Blocks of names: glosses, encoded names, and what a run learns from its own links."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

import reference
import sameas
from explanation_checks import assert_explains
from pairs import best_connected
from sameas.errors import OptionError
from sameas.graph.task import Inputs
from sameas.options.tuning import TUNING
from sameas.refinement.learned_weights import learn_weights
from sameas.similarity.crosslingual import choose_support, look_up, with_meanings
from sameas.text import encoders
from sameas.text.encoders import Encoder, find_encoder
from sameas.text.learned_dictionary import dictionary_rows, learn_dictionary
from sameas.text.ngrams import ngram_rows

DEFAULT = TUNING.weights
HAN = "阿贝色德厄弗格赫伊杰克勒莫恩奥佩库尔斯特乌维韦克西伊"
RDF, RDFS = "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
CYRILLIC = "абцдефгхийклмнопкрстуввксыз"
"""A sign for each letter of the alphabet."""


def respelled(names, signs):
    """The names, written in other signs; all but letters and spaces are left out."""
    letters = {" ": " "} | {chr(ord("a") + place): sign for place, sign in enumerate(signs[:26])}
    texts = ["".join(letters.get(one, "") for one in name.lower()) for name in names]
    return pl.Series(names.name, texts, dtype=pl.String)


@pytest.fixture(scope="module")
def foreign(demo):
    """A part of the demo with the left names in another script."""
    pair = best_connected(demo, 250, 50)
    return replace(pair, left=replace(pair.left, names=respelled(pair.left.names, CYRILLIC)))


# --- weights ------------------------------------------------------------------------------------

terms = st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(-2, 2))
choices = st.lists(
    st.lists(st.tuples(terms, st.floats(-3, 3)), min_size=1, max_size=4), min_size=1, max_size=6
)


@settings(max_examples=60, deadline=None)
@given(choices, st.sampled_from([1.0, 30.0]))
def test_no_other_weights_explain_the_choices_better(choices, prior):
    flat = [pair for choice in choices for pair in choice]
    columns = np.array([each for each, _ in flat]).T
    names = ("names", "profit", "lacking")
    counts = np.array([len(choice) for choice in choices])
    truth = np.zeros(len(flat), dtype=bool)
    truth[np.cumsum(counts) - counts] = True
    learned = learn_weights(
        DEFAULT,
        dict(zip(names, columns, strict=True)),
        np.array([offset for _, offset in flat]),
        counts=counts,
        truth=truth,
        tuning=replace(TUNING.refinement, weight_prior=prior),
    )
    defaults = [getattr(DEFAULT, name) for name in names]
    found = np.array([getattr(learned, name) for name in names])
    best = reference.choice_fit(found, defaults, choices, prior=prior)
    for place, default in enumerate(defaults):
        for step in (-0.02, 0.02):
            other = found.copy()
            other[place] = max(other[place] + step * default, 0.0)
            assert reference.choice_fit(other, defaults, choices, prior=prior) <= best + 1e-3
    assert (found >= 0).all()
    assert replace(learned, **dict(zip(names, defaults, strict=True))) == DEFAULT


def test_weights_of_nothing_are_the_defaults():
    nothing = np.zeros(0)
    counts, truth = np.zeros(0, dtype=int), np.zeros(0, dtype=bool)
    given = {"names": nothing, "shared": nothing}
    assert learn_weights(DEFAULT, given, nothing, counts=counts, truth=truth) == DEFAULT
    left_out = replace(DEFAULT, shared=0.0)
    one = {"names": np.array([1.0, 0.0]), "shared": np.array([0.0, 1.0])}
    counts, truth = np.array([2]), np.array([True, False])
    learned = learn_weights(left_out, one, np.zeros(2), counts=counts, truth=truth)
    assert learned.shared == 0.0


def test_learnt_weights_are_part_of_the_result(align_small):
    learned = align_small().diagnostics.weights
    assert learned.keys() >= {"names", "profit", "shared", "lacking"}
    assert learned["names"] != DEFAULT.names
    kept = align_small(without=("weights",)).diagnostics.weights
    assert kept == {name: getattr(DEFAULT, name) for name in kept}


# --- the learnt dictionary ----------------------------------------------------------------------

items = st.lists(st.integers(0, 3), min_size=1, max_size=3, unique=True)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(items, items), max_size=6), st.integers(1, 3))
def test_translations_are_those_of_the_model(pairs, block):
    sides = [np.zeros((len(pairs), 4), dtype=np.float32) for _ in range(2)]
    for number, pair in enumerate(pairs):
        for side, found in zip(sides, pair, strict=True):
            side[number, found] = 1
    learned = learn_dictionary(csr_array(sides[0]), csr_array(sides[1]), block=block).toarray()
    expected = np.zeros((4, 4))
    for place, value in reference.translations(
        pairs, steps=TUNING.dictionary.steps, seen=TUNING.dictionary.seen
    ).items():
        expected[place] = value if value >= 0.02 else 0.0
    near = np.abs(expected - 0.02) > 1e-6
    assert_allclose(learned[near], expected[near], atol=1e-6)


def test_names_that_were_not_linked_are_translated(demo):
    names = demo.right.names.filter(demo.right.names.str.len_chars() > 4).unique().sort()[:600]
    linked = np.arange(0, 600)[np.arange(600) % 6 > 1]
    left, right = dictionary_rows(respelled(names, HAN), names, (linked, linked))
    products = (left.sparse @ right.sparse.T).toarray()
    other = np.setdiff1d(np.arange(600), linked)
    assert (products[other].argmax(axis=1) == other).mean() > 0.2  # by chance: 0.002


def test_no_name_is_translated_by_its_own_link(demo):
    names = demo.right.names.unique().sort()[:200]
    everyone = np.arange(200)
    rows = dictionary_rows(respelled(names, HAN), names, (everyone, everyone))[0]
    without = everyone[everyone != 4]
    again = dictionary_rows(respelled(names, HAN), names, (without, without))[0]
    assert_allclose(rows.sparse[[4]].toarray(), again.sparse[[4]].toarray())
    assert abs(rows.sparse - again.sparse).max() > 0


def test_a_name_of_which_a_part_is_translated_is_as_long_as_that_part():
    """A letter that no link has is not translated; the rarer it is, the more is missing."""
    left = pl.Series(["甲乙", "甲丙", "甲丁", "乙丙", "乙丁", "丙丁", "甲", "甲戊", "戊"])
    words = {"甲": "alpha", "乙": "beta", "丙": "gamma", "丁": "delta", "戊": "epsilon"}
    right = pl.Series([" ".join(words[sign] for sign in name) for name in left])
    links = np.repeat(np.arange(6), 2)
    rows = dictionary_rows(left, right, (links, links))[0]
    whole, part, nothing = rows.norms()[[6, 7, 8]]
    assert nothing == 0
    assert 0.1 < part < 0.9 * whole


def test_nothing_is_learnt_from_no_links():
    left, right = pl.Series(["北京", "", None]), pl.Series(["Beijing", ""])
    nobody = np.zeros(0, dtype=np.int64)
    rows = dictionary_rows(left, right, (nobody, nobody))
    assert [len(side) for side in rows] == [3, 2]
    assert rows[0].sparse.nnz == 0


# --- encoded names ------------------------------------------------------------------------------


def letters_of(texts):
    """A small encoder: how often each letter is in a text."""
    return np.array([[text.count(letter) for letter in "abc"] for text in texts], dtype=float)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SAMEAS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "encodings"


def test_names_are_encoded_once(cache, monkeypatch):
    calls = []

    def encode(texts):
        calls.extend(texts)
        return letters_of(texts)

    monkeypatch.setattr(encoders, "BATCH", 2)
    encoder = Encoder("letters 1", encode, 3)
    names = pl.Series(["abba", "", "c", None, "abba", "ab"])
    expected = [[2, 2, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0], [2, 2, 0], [1, 1, 0]]
    assert encoders.encode(names, encoder).tolist() == expected
    assert sorted(calls) == ["ab", "abba", "c"]
    assert encoders.encode(names[::-1], encoder).tolist() == expected[::-1]
    assert len(calls) == 3
    encoders.encode(names, Encoder("letters 2", encode, 3))
    assert len(calls) == 6
    assert [file.suffix for file in cache.iterdir()] == [".npy"] * 2


def test_a_damaged_cache_is_made_again(cache):
    encoder = Encoder("letters", letters_of, 3)
    names = pl.Series(["a", "b"])
    made = encoders.encode(names, encoder)
    (file,) = cache.iterdir()
    for content in (b"", b"\x93NUMPY", file.read_bytes()[:-1]):
        file.write_bytes(content)
        assert (encoders.encode(names, encoder) == made).all()


def test_names_are_encoded_where_nothing_can_be_kept(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").touch()
    monkeypatch.setenv("SAMEAS_CACHE", str(tmp_path / "file"))
    found = encoders.encode(pl.Series(["a"]), Encoder("letters", letters_of, 3))
    assert found.tolist() == [[1, 0, 0]]
    assert "SAMEAS_CACHE" in caplog.text


def test_the_cache_does_not_grow_without_end(cache, monkeypatch):
    encoder = Encoder("letters", letters_of, 3)
    monkeypatch.setattr(encoders, "CACHE_BYTES", 300)
    for name in "abcdef":
        encoders.encode(pl.Series([name]), encoder)
    assert len(list(cache.iterdir())) == 2


def test_the_installed_encoder_knows_names_in_other_scripts():
    encoder = find_encoder()
    assert encoder is not None
    names = pl.Series(["北京", "ロンドン", "Москва", "Beijing", "London", "Moscow"])
    rows = encoders.encode(names, encoder)
    assert (rows[:3] @ rows[3:].T).argmax(axis=1).tolist() == [0, 1, 2]


# --- glosses ------------------------------------------------------------------------------------


def test_a_name_is_its_spelling_and_its_glosses():
    names = pl.Series("name", ["xyz", "abc", "lake"])
    table = pl.DataFrame(
        {"name_index": [0, 0], "piece": ["x", "y"], "gloss": ["lake", "red"], "weight": [1.0, 0.5]}
    )
    found = with_meanings(names, table, lambda texts: ngram_rows(texts, n=2))
    rows = ngram_rows(pl.concat([names, pl.Series("name", ["red"])]), n=2).toarray()
    meaning = rows[2] + 0.5 * rows[3]
    both = rows[0] + meaning / np.linalg.norm(meaning)
    assert_allclose(found.rows.toarray()[0], both / np.linalg.norm(both), atol=1e-6)
    assert_allclose(found.rows.toarray()[1:], rows[1:3], atol=1e-6)
    parts = rows[0] / np.linalg.norm(both) + found.factors[0] * meaning
    assert_allclose(found.rows.toarray()[0], parts, atol=1e-6)


# --- what is used -------------------------------------------------------------------------------


def test_nothing_is_used_for_names_of_one_language(small):
    aids = choose_support(replace(small, left=small.right), sameas.Options(), Inputs())
    assert not aids.matter


def ontology(words):
    """A small RDF graph of classes with these labels."""
    lines = [
        f"<http://x.org/{number}> <{RDF}type> <{OWL}Class> . "
        f'<http://x.org/{number}> <{RDFS}label> "{word}"@en .'
        for number, word in enumerate(words)
    ]
    return "\n".join(lines)


def test_an_encoder_finds_synonyms_of_small_terminologies(tmp_path):
    words = ["meeting", "author", "paper", "reviewer", "hotel", "city", "speech", "fee"]
    for side, texts in (("left", words), ("right", ["talk", "writer", *words[2:]])):
        (tmp_path / f"{side}.ttl").write_text(ontology(texts), encoding="utf8")
    pair = sameas.read_pair(tmp_path / "left.ttl", tmp_path / "right.ttl")
    aids = choose_support(pair, sameas.Options(), Inputs())
    assert (aids.encoder, aids.foreign, aids.learnt, aids.glossed) == (True, False, False, ())
    assert not choose_support(pair, sameas.Options(without=["encoder"]), Inputs()).matter
    tuning = replace(TUNING.languages, most_terms=5)
    assert not choose_support(pair, sameas.Options(), Inputs(), tuning=tuning).matter
    alignment = sameas.align(pair, no_audit=True)
    weight = alignment.diagnostics.weights["embedding"]
    assert weight == pytest.approx(TUNING.languages.synonyms * DEFAULT.embedding, rel=0.1)


def test_what_is_installed_is_used_where_languages_differ(foreign, monkeypatch):
    aids = choose_support(foreign, sameas.Options(), Inputs())
    assert (aids.left, aids.glossed) == ("ru", ("left",))
    assert aids.encoder
    assert aids.learnt
    assert not choose_support(foreign, sameas.Options(languages="none"), Inputs()).matter
    monkeypatch.setattr("sameas.similarity.crosslingual.find_encoder", lambda folder: None)
    monkeypatch.setattr("sameas.similarity.crosslingual.resources", lambda language: [])
    aids = choose_support(foreign, sameas.Options(), Inputs())
    assert not aids.encoder
    assert not aids.glossed
    assert aids.notes == ("pip install 'sameas[multilingual]' adds a sentence encoder",)
    with pytest.raises(OptionError, match=r"pip install 'sameas\[multilingual\]'"):
        choose_support(foreign, sameas.Options(features="multilingual"), Inputs())


def test_an_encoder_is_used_for_scripts_that_it_can_read(small):
    greek = respelled(small.left.names, "αβγδεζηθικλμνξοπρστυφχψωςϊ")
    pair = replace(small, left=replace(small.left, names=greek))
    aids = choose_support(pair, sameas.Options(), Inputs())
    assert (aids.left, aids.encoder, aids.learnt) == ("el", False, True)
    assert choose_support(pair, sameas.Options(features="multilingual"), Inputs()).encoder


def test_too_many_names_are_not_encoded(foreign):
    tuning = replace(TUNING.languages, most_names=10)
    aids = choose_support(foreign, sameas.Options(), Inputs(), tuning=tuning)
    assert not aids.encoder
    assert not aids.learnt
    assert "too many" in aids.notes[0]


def test_multilingual_features_need_refinement():
    with pytest.raises(OptionError, match="multilingual"):
        sameas.Options(features="multilingual", rounds=0)


def test_a_dictionary_of_the_user_is_used(small):
    words = small.right.names.str.split(" ").explode().unique().drop_nulls()
    table = pl.DataFrame({"text": respelled(words, HAN), "gloss": words}).filter(
        pl.col("text") != ""
    )
    right = replace(small.right, names=respelled(small.right.names, HAN))
    inputs = Inputs(dictionary=table)
    aids = choose_support(replace(small, right=right), sameas.Options(), inputs)
    assert aids.glossed == ("right",)
    found = look_up(small.left.names, right.names, replace(aids, sources=()), table)
    glossed = found.filter(pl.col("name_index") == len(small.left.names))["gloss"].to_list()
    assert " ".join(glossed).lower() == small.right.names[0].lower()


def right_links(alignment, pair):
    return sameas.evaluate(alignment, pair.gold).links_correct


def test_names_in_another_script_are_matched_and_explained(foreign, tmp_path):
    found = sameas.align(foreign, no_audit=True)
    used = found.diagnostics.languages
    assert used.encoder
    assert used.learnt
    alone = sameas.align(foreign, languages="none", no_audit=True)
    assert right_links(found, foreign) > right_links(alone, foreign) > 0.8 * len(foreign.gold)
    assert alone.diagnostics.languages is None
    assert_explains(found, most=6, every=3)
    link = found.links.row(0, named=True)
    kinds = {part.kind for part in found.explain(link["left"]).comparison.parts}
    assert kinds >= {"name", "meaning", "embedding", "dictionary"}
    sameas.write(found, tmp_path / "run")
    again = sameas.read_run(tmp_path / "run")
    assert str(again.explain(link["left"])) == str(found.explain(link["left"]))
    assert again.diagnostics.languages == used


def test_aids_survive_an_interruption(foreign, tmp_path, monkeypatch):
    monkeypatch.setattr("sameas.pipeline.checkpoint.WORTH_SECONDS", 0.0)
    first = sameas.align(foreign, no_audit=True, checkpoint=tmp_path / "kept")
    second = sameas.align(foreign, no_audit=True, checkpoint=tmp_path / "kept")
    assert second.resumed
    assert second.links.equals(first.links)
    assert second.diagnostics == first.diagnostics


@pytest.mark.parametrize("spelling_alone", [True, False])
def test_clues_propose_only_where_spelling_alone_counts(small, spelling_alone):
    """The recall of the search is measured where clues proposed, and not where all are compared."""
    tuning = TUNING.changed(search={"clues_beyond": 10})
    given = {"languages": "none"} if spelling_alone else {"dictionary": [("roi", "king")]}
    found = sameas.align(small, no_audit=True, tuning=tuning, **given)
    assert (found.diagnostics.search_recall is not None) == spelling_alone

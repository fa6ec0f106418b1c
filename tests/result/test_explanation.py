"""Explanations: parts that add up, exchanges that cost what they say, and the words for it."""

from __future__ import annotations

import itertools
import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import sameas
from explanation_checks import assert_adds_up, assert_explains
from pairs import matched_pair
from sameas.assignment.exchange import force_pair
from sameas.candidates.pairs import every_pair
from sameas.cli.main import main
from sameas.options.tuning import TUNING
from sameas.result.explanation.contradictions import contradictions_of
from sameas.result.explanation.explainer import explain
from sameas.result.explanation.lookup import find_entity
from sameas.result.explanation.result import Comparison, Detail, Entity, Part, Relation
from sameas.result.explanation.sentences import REASONS, spoken
from sameas.result.explanation.terms import Decomposition
from sameas.text.ngrams import ngram_rows, ngrams_of
from strategies import matrices, names, pairs

HOSTILE = "<script>&\"'\x00\x1b[31m\u202e]]>\n" + "x" * 300


@pytest.fixture(scope="module")
def aligned(align_demo):
    """The demo, aligned as best and, as published, exactly."""
    return {"best": align_demo(), "exact": align_demo(preset="paper", solver="hungarian")}


@pytest.fixture(scope="module")
def few(demo):
    """Some of the demo's entities, and what is between them."""
    gold = demo.gold[::6]
    sides = {}
    for side, graph in (("left", demo.left), ("right", demo.right)):
        kept = pl.concat([gold[side], graph.entities[::40].rename(side)]).implode()
        sides[side] = graph.without(graph.entities.filter(~graph.entities.is_in(kept)))
    return matched_pair(**sides, gold=gold)


@pytest.fixture(scope="module")
def run(aligned, tmp_path_factory):
    """The demo's run folder."""
    path = tmp_path_factory.mktemp("explanation") / "run"
    sameas.write(aligned["best"], path)
    return path


def call(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def assert_tells_all(alignment):
    """Entities of either side, linked or not, and any pair, can be explained in every form."""
    left, right = alignment.pair.left.entities, alignment.pair.right.entities
    for asked in ((left[0],), (right[0],), (left[0], right[-1])):
        found = alignment.explain(*asked)
        assert str(found)
        ET.fromstring(found.drawing())
        json.dumps(found.asdict())
    assert_adds_up(found.other)


@st.composite
def described_pairs(draw):
    """Pairs of small graphs, often with values and names in common."""
    pair = draw(pairs(max_entities=6, max_triples=12))
    values = st.sampled_from(["1984", " A ", "a", "b", ""])
    sides = {}
    for side in ("left", "right"):
        graph = getattr(pair, side)
        rows = st.tuples(
            st.sampled_from(graph.entities.to_list()), st.sampled_from(["p", "q"]), values
        )
        attributes = pl.DataFrame(
            draw(st.lists(rows, max_size=6)), schema=graph.attributes.schema, orient="row"
        )
        sides[side] = replace(graph, attributes=attributes)
    if draw(st.booleans()):  # the same names, so that there are links to learn from
        size = len(sides["left"].entities)
        own = sides["right"].names.to_list()
        shared = sides["left"].names.to_list()[: len(own)] + own[size:]
        sides["right"] = replace(sides["right"], names=pl.Series("name", shared, dtype=pl.String))
    return replace(pair, **sides)


@pytest.mark.parametrize("preset", ["best", "paper"])
def test_parts_add_up_to_the_recorded_score(preset):
    @settings(max_examples=6, deadline=None)
    @given(
        described_pairs(),
        st.sampled_from([2, 0, 1, 3]),
        st.sampled_from(["sinkhorn", "hungarian"]),
        st.sampled_from(["relational", "plain", "random-walk", "laplacian"]),
    )
    def check(pair, depth, solver, adjacency):
        options = replace(sameas.PRESETS[preset], depth=depth, solver=solver, adjacency=adjacency)
        alignment = sameas.align(pair, options)
        assert_explains(alignment, most=6)
        assert_tells_all(alignment)

    check()


@pytest.mark.parametrize("preset", ["best", "exact"])
def test_parts_add_up_on_the_demo(aligned, preset):
    assert_explains(aligned[preset], most=25, every=7)


def test_parts_add_up_where_some_are_left_out(few):
    options = sameas.Options(
        without=("votes", "relations", "rarity", "boundaries", "numbers"), no_audit=True
    )
    assert_explains(sameas.align(few, options), most=10)
    options = sameas.Options(without=("lacking", "relations", "folding"), top=3, no_audit=True)
    assert_explains(sameas.align(few, options), most=10)


def test_words_are_compared_pair_by_pair(tmp_path, few):
    generator = np.random.default_rng(0)
    words = ["londres", "london", "paris", "new", "york", "de", "of", "saint", "republic"]
    file = tmp_path / "vectors.txt"
    file.write_text(
        "".join(
            f"{word} {' '.join(map(str, generator.normal(size=5).round(3)))}\n" for word in words
        )
    )
    alignment = sameas.align(few, features="hybrid", word_vectors=file, no_audit=True)
    assert_explains(alignment, most=10)
    sides = [
        graph.entities.filter(graph.names.str.to_lowercase().str.contains(rf"\b{word}\b"))[0]
        for graph, word in ((few.left, "de"), (few.right, "of"))
    ]
    found = alignment.explain(*sides)
    assert "de ~ of" in {detail.text for detail in found.other.parts[0].details}


def test_a_word_that_is_an_ngram_too_counts_as_both():
    left = sameas.Graph.from_triples([("a", "r", "b")], names={"a": "new town", "b": "old"})
    right = sameas.Graph.from_triples([("x", "r", "y")], names={"x": "new city", "y": "old"})
    vectors = {"new": np.array([1.0, 2.0]), "town": np.array([2.0, 1.0])}
    pair = matched_pair(left=left, right=right)
    found = sameas.align(pair, features="hybrid", word_vectors=vectors).explain("a", "x").other
    assert_adds_up(found)
    assert [detail.text for detail in found.parts[0].details].count("new") == 2


def test_given_rows_are_one_detail(few):
    generator = np.random.default_rng(1)
    rows = [generator.normal(size=(len(side.entities), 4)) for side in (few.left, few.right)]
    alignment = sameas.align(few, preset="paper", embeddings=tuple(rows))
    assert_explains(alignment, most=10)


def test_known_links_have_a_part_of_their_own(few):
    found = sameas.align(few, seeds=few.gold.head(20), no_audit=True).explain(few.gold["left"][0])
    known = [part.score for part in found.comparison.parts if part.kind == "known"]
    assert known == [TUNING.refinement.seed]
    assert found.comparison.score == pytest.approx(found.comparison.listed, abs=2e-4)
    assert "given as a known link" in str(found)


@settings(deadline=None)
@given(names(), st.sampled_from([(2, False), (3, True), (3, False)]))
def test_the_ngrams_of_a_name_are_those_of_its_columns(name, kind):
    n, boundaries = kind
    rows = ngram_rows(pl.Series([name, "abc"]), n=n, boundaries=boundaries)
    assert rows.sparse[[0]].nnz == len(ngrams_of(name, n=n, boundaries=boundaries))


def totals(matrix):
    """The largest total of a one-to-one choice of some cells, by trying them all."""
    n, m = matrix.shape
    best, chosen = 0.0, {}
    for columns in itertools.product(range(-1, m), repeat=n):
        used = [column for column in columns if column >= 0]
        if len(set(used)) == len(used):
            value = sum(matrix[i, j] for i, j in enumerate(columns) if j >= 0)
            if value > best + 1e-9:
                best, chosen = value, {i: j for i, j in enumerate(columns) if j >= 0}
    return best, chosen


@settings(max_examples=60, deadline=None)
@given(matrices(-2.0, 4.0, max_side=4), st.data())
def test_an_exchange_costs_what_forcing_the_pair_costs(matrix, data):
    matrix = matrix.astype(np.float64)
    best, mates = totals(matrix)
    entity = data.draw(st.integers(0, matrix.shape[0] - 1))
    wanted = data.draw(st.integers(0, matrix.shape[1] - 1))
    changed = force_pair(every_pair(matrix), mates, entity, wanted)
    after = {**mates, **changed}
    links = {(i, j) for i, j in after.items() if j >= 0}
    assert (entity, wanted) in links
    assert len({j for _, j in links}) == len(links)
    rest = np.delete(np.delete(matrix, entity, axis=0), wanted, axis=1)
    expected = totals(rest)[0] + matrix[entity, wanted] if rest.size else matrix[entity, wanted]
    assert sum(matrix[i, j] for i, j in links) == pytest.approx(expected, abs=1e-6)
    assert best >= expected - 1e-6


def test_prices_bound_what_an_exchange_costs(aligned):
    alignment = aligned["exact"]
    best = alignment.candidates.group_by("left", maintain_order=True).agg(
        pl.all().sort_by("score").last()
    )
    table = alignment.links.join(best, on="left", suffix="_best")
    table = table.filter(pl.col("score_best") > pl.col("score") + 1e-3)
    assert len(table)
    for entity in table["left"].head(3):
        found = alignment.explain(entity)
        exchange = found.exchange
        assert exchange is not None
        assert exchange.cost >= exchange.at_least - 1e-4
        assert exchange.cost == pytest.approx(
            sum(step.before_score - step.after_score for step in exchange.steps)
        )
        assert "By the exact solver's prices" in " ".join(str(found).split())


def test_memory_and_run_folder_say_the_same(aligned, run):
    for entity in ("Londres", "http://example.org/fr/région/Europe"):
        fresh, read = aligned["best"].explain(entity), sameas.read_run(run).explain(entity)
        assert str(fresh) == str(read)
        assert fresh == read


def test_either_side_can_be_asked(aligned):
    left = aligned["best"].explain("Londres")
    right = aligned["best"].explain("http://example.org/en/city/London")
    assert (left.side, right.side) == ("left", "right")
    assert left.comparison == right.comparison
    assert right.partner == left.entity
    assert (
        aligned["best"]
        .explain("Paris", side="right")
        .entity.uri.startswith("http://example.org/en/")
    )


def test_every_reason_for_having_no_partner_is_shown(aligned):
    alignment = aligned["best"]
    first = alignment.unmatched.unique(["side", "reason"], keep="first", maintain_order=True)
    assert len(first) > 3
    for row in first.to_dicts():
        found = alignment.explain(row["entity"], side=row["side"])
        assert found.partner is None
        assert found.reason == row["reason"]
        assert REASONS[found.reason].format(found.min_confidence) in str(found)
        if row["candidate"] is not None:
            assert found.comparison.listed is None or found.comparison.listed == row["score"]
            # The run's score of a pair that it did not list is not known, so neither is rounding.
            off = 2e-4 if found.comparison.listed is not None else 0.2
            assert found.comparison.score == pytest.approx(row["score"], abs=off)
        if row["score"] is not None and row["score"] <= 0:
            assert found.missing.score == pytest.approx(-row["score"], abs=off)


def test_what_would_do_does(aligned):
    """A neighbour that is said to make up for what is missing does, once it is there."""
    alignment = aligned["best"]
    missed = alignment.unmatched.filter(side="left", reason="below-threshold")
    every = (alignment.explain(entity) for entity in missed["entity"])
    found = next(one for one in every if one.missing and one.missing.neighbour)
    added = found.missing.neighbour
    assert added.score > found.missing.score
    assert "One more shared neighbour would do" in str(found)
    side = "left" if added.left_fans is None else "right"
    graph, lacks = getattr(alignment.pair, side), getattr(found.comparison, side)
    (relation,) = getattr(added, f"{side}_relations")
    ends = graph.positions(pl.Series([lacks.uri, getattr(added, side).uri])).tolist()
    number = graph.relations.to_list().index(relation.uri)
    triple = np.insert(ends[::-1] if relation.inverse else ends, 1, number)
    more = replace(graph, triples=np.vstack([graph.triples, triple]))
    pair = replace(alignment.pair, **{side: more})
    changed = Decomposition(replace(alignment._decomposition.tables, pair=pair))
    after = explain(changed, found.entity.uri, found.far(found.comparison).uri, "left").other
    assert after.score > 0
    # A neighbour that is lacked through several relations adds more than one of them says.
    assert after.score - found.comparison.score > added.score - 0.2


def test_others_say_what_they_lack(aligned):
    found = aligned["best"].explain("Londres")
    other = next(one for one in found.others if one.entity.name == "Manchester")
    assert sum(change for _, change in other.differences) == pytest.approx(
        other.score - found.comparison.score
    )
    assert other.differences[0][0] == "name"


def test_unknown_names_are_answered_with_the_nearest(aligned):
    with pytest.raises(sameas.OptionError, match=r'nearest are .*"London"'):
        aligned["best"].explain("Londno")
    with pytest.raises(sameas.OptionError, match="no entity of the right graph"):
        aligned["best"].explain("http://example.org/fr/lieu/Londres", side="right")
    with pytest.raises(sameas.OptionError, match="the name of 2 left entities"):
        aligned["best"].explain("birman")
    with pytest.raises(sameas.OptionError, match="no entity"):
        aligned["best"].explain("")


def test_names_are_found_in_any_case(aligned):
    pair = aligned["best"].pair
    assert find_entity(pair, "LONDRES") == find_entity(pair, "Londres")
    assert find_entity(pair, "mexico_city")[0] == 1


def test_one_of_several_partners_is_explained(align_small):
    alignment = align_small(cardinality="one-to-many")
    assert alignment.links["left"].is_duplicated().any()
    for entity in alignment.links["left"].unique(maintain_order=True).tail(3):
        found = alignment.explain(entity)
        link = {"left": entity, "right": found.partner.uri, "confidence": found.confidence}
        assert len(alignment.links.filter(**link)) == 1


def test_paris_is_refused(few):
    alignment = sameas.align(few, method="paris")
    with pytest.raises(sameas.OptionError, match="method 'seu', got a run of 'paris'"):
        alignment.explain(few.left.entities[0])


def test_notes_say_what_was_not_in_question(few):
    alignment = sameas.align(few, among="gold", no_audit=True)
    outside = [
        next(uri for uri in graph.entities if uri not in set(few.gold[side]))
        for graph, side in ((few.left, "left"), (few.right, "right"))
    ]
    assert alignment.explain(outside[0]).notes == ("entity-not-among",)
    found = alignment.explain(few.gold["left"][0], outside[1])
    assert found.notes == ("not-kept", "other-not-among")
    assert "not among those to be linked" in str(found)


def test_rejected_pairs_have_a_note(few):
    alignment = sameas.align(few, reject=few.gold[3:4], no_audit=True)
    found = alignment.explain(*few.gold.row(3))
    assert "rejected" in found.notes
    assert "option reject" in str(found)


def test_the_command_prints_what_python_does(run):
    found = sameas.read_run(run).explain("Londres", "Manchester")
    result = call("explain", run, "Londres", "Manchester")
    assert result.exit_code == 0
    assert result.stdout.rstrip("\n") == str(found)
    printed = json.loads(call("explain", run, "Londres", "Manchester", "--json").stdout)
    assert printed == json.loads(json.dumps(found.asdict()))
    assert "Londres = London; why not Manchester?" in str(found)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere", "Londres"], "is not a run folder"),
        (["RUN", "Londno"], "nearest are"),
        (["RUN", "Londres", "Londno"], "no entity of the right graph"),
        (["RUN", "Londres", "--side", "middle"], "side"),
        (["RUN", "Londres", "--drawing", "x.png"], ".svg or .html"),
        (["RUN", "Londres", "--drawing", "no/such/place.svg"], "does not exist; make it first"),
        (["RUN"], "Missing argument"),
    ],
)
def test_mistakes_end_with_exit_code_two(run, arguments, message):
    result = call("explain", *(run if word == "RUN" else word for word in arguments))
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("suffix", [".svg", ".html"])
def test_drawings_are_well_formed(run, tmp_path, suffix):
    file = tmp_path / f"drawing{suffix}"
    result = call("explain", run, "Allemagne", "--drawing", file)
    assert result.exit_code == 0
    text = file.read_text(encoding="utf8")
    start = text.index("<svg")
    tree = ET.fromstring(text[start : text.index("</svg>") + 6])
    shown = "".join(tree.itertext())
    assert "Allemagne" in shown
    assert "Germany" in shown
    assert 'class="met-edge"' in text
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("preset", ["best", "paper"])
def test_hostile_labels_do_no_harm(preset):
    sides = [
        sameas.Graph(
            entities=pl.Series([f"{side}:{number}/{HOSTILE}" for number in range(4)]),
            given_names=pl.Series([f"{HOSTILE}{number}" for number in range(3)] + [""]),
            relations=pl.Series([f"r<{HOSTILE}"]),
            triples=np.array([[0, 0, 1], [1, 0, 2], [2, 0, 3]]),
        )
        for side in "lr"
    ]
    pair = matched_pair(left=sides[0], right=sides[1])
    found = sameas.align(pair, sameas.PRESETS[preset]).explain(f"l:1/{HOSTILE}", f"r:2/{HOSTILE}")
    assert all(letter.isprintable() or letter == "\n" for letter in str(found))
    ET.fromstring(found.drawing())
    tags = []

    class Tags(HTMLParser):
        def handle_starttag(self, tag, attrs):
            tags.append(tag)

    Tags().feed(found.page())
    assert "script" not in tags
    assert {"svg", "pre"} <= set(tags)


# --- what chance gives, and what contradicts ----------------------------------------------------


def test_what_chance_was_taken_to_be_is_told(aligned):
    alignment = aligned["best"]
    link = alignment.links.row(0, named=True)
    found = alignment.explain(link["left"])
    figures = alignment.diagnostics.chances["individual"]
    told = found.weighing
    assert (told.kind, told.cut, told.runner_ups) == (
        "individual",
        figures["cut"],
        figures["runners"],
    )
    assert told.strength > told.cut
    (sentence,) = (each for each in found.why() if each.startswith("Chance:"))
    for number in (figures["median"], figures["high"], figures["runner_cut"], told.strength):
        assert f"{number:.2f}" in sentence
    assert f"{figures['runners']:,} runner-ups" in sentence
    assert json.loads(json.dumps(found.asdict()))["weighing"]["without"] == figures["unlinked"]
    assert "runner-ups" in found._repr_html_()


def test_links_are_stronger_than_the_cut_and_others_are_not(aligned):
    alignment = aligned["best"]
    cut = alignment.diagnostics.chances["individual"]["cut"]
    weighed = alignment.candidates.drop_nulls("strength")
    linked = weighed.join(alignment.links, on=["left", "right"], how="semi")
    others = weighed.join(alignment.links, on=["left", "right"], how="anti")
    assert linked["strength"].min() >= cut > others["strength"].max()
    miss = others.sort("strength", descending=True).row(0, named=True)
    told = alignment.explain(miss["left"], miss["right"])
    assert told.weighing.strength == miss["strength"]
    assert "less: the score" in " ".join(told.why())


def test_of_pairs_that_were_not_weighed_it_is_said(aligned):
    alignment = aligned["best"]
    others = alignment.candidates.filter(pl.col("strength").is_null())
    pair = others.row(0, named=True)
    found = alignment.explain(pair["left"], pair["right"])
    assert found.weighing.strength is None
    assert "were not weighed" in " ".join(found.why())


def test_an_unmatched_entity_without_candidate_is_told_what_chance_is(aligned):
    alignment = aligned["best"]
    for reason in ("below-threshold", "unsure", "taken"):
        unmatched = alignment.unmatched.filter(reason=reason)
        if len(unmatched):
            row = unmatched.row(0, named=True)
            found = alignment.explain(row["entity"], side=row["side"])
            assert found.weighing.links > 0


def test_a_run_as_published_has_no_chance(aligned):
    found = aligned["exact"].explain(aligned["exact"].links["left"][0])
    assert (found.weighing, found.against) == (None, ())
    assert not [each for each in found.why() if each.startswith("Chance:")]


def test_a_run_of_a_version_that_did_not_keep_chance_is_explained(aligned, tmp_path):
    sameas.write(aligned["best"], tmp_path / "run")
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    del record["summary"]["chances"]
    (tmp_path / "run" / "run.json").write_text(json.dumps(record))
    table = pl.read_parquet(tmp_path / "run" / "candidates.parquet")
    table.drop("strength").write_parquet(tmp_path / "run" / "candidates.parquet")
    earlier = sameas.read_run(tmp_path / "run")
    found = earlier.explain(aligned["best"].links["left"][0])
    assert found.weighing is None
    assert str(found)


def test_given_links_are_not_weighed(demo):
    gold = demo.gold.head(100)
    pair = matched_pair(left=demo.left, right=demo.right)
    found = sameas.align(pair, seeds=gold, languages="none", no_audit=True).explain(gold["left"][0])
    assert found.weighing.given
    assert "was given as a known link, and not weighed" in " ".join(found.why())


@pytest.fixture(scope="module")
def shops():
    """Products of two shops; the last of them has another price and weight in each."""
    rows = [
        {"id": f"x{n}", "name": f"{word} lamp {n}", "price": 10 + 7 * n, "weight": 3 + n}
        for n, word in enumerate(f"w{k * k}q{k}" for k in range(60))
    ]
    left, right = pl.DataFrame(rows), pl.DataFrame(rows).with_columns(id=pl.col("id") + "r")
    last = pl.col("id") == "x59r"
    right = right.with_columns(
        price=pl.when(last).then(90_000).otherwise("price"),
        weight=pl.when(last).then(7_000).otherwise("weight"),
    )
    return sameas.align(left, right, languages="none")


def test_values_that_disagree_are_named(shops):
    found = shops.explain("x59", "x59r", side="left")
    named = {one.relations[0].uri: one for one in found.against if one.kind == "attributes"}
    assert {"price", "weight"} & named.keys()
    one = named.get("price") or named["weight"]
    assert one.score <= -1
    assert one.left != one.right
    text = " ".join(found.why())
    assert "What speaks against" in text
    assert one.right[0] in text
    assert found.asdict()["against"][0]["score"] == found.against[0].score
    scores = [each.score for each in found.against]
    assert scores == sorted(scores)


def test_where_nothing_contradicts_it_is_said(shops):
    found = shops.explain("x3")
    assert found.against == ()
    assert "Nothing that was compared speaks against" in " ".join(found.why())


@pytest.mark.parametrize(
    ("part", "types", "words"),
    [
        (
            Part(
                kind="right lacks",
                score=-3.0,
                details=(
                    Detail(
                        score=-2.5,
                        left=Entity("http://e/x", "Paris"),
                        right=Entity("http://f/x", "Paris"),
                        left_relations=(Relation("http://e/mayor"),),
                    ),
                    Detail(score=-0.5, count=4),
                ),
            ),
            ([], []),
            "only one has [mayor: Paris]",
        ),
        (
            Part(
                kind="left lacks",
                score=-3.0,
                details=(
                    Detail(
                        score=-0.9,
                        right=Entity("http://f/x", "Rome"),
                        right_relations=(Relation("http://e/twin"),),
                    ),
                    Detail(score=-2.1, count=4),
                ),
            ),
            ([], []),
            "only other has [twin: Rome] and 4 more",
        ),
        (
            Part(kind="types", score=-2.0),
            (["http://e/Town"], ["http://f/River"]),
            "types: Town and River",
        ),
        (Part(kind="roles", score=-4.0), ([], []), "whether what is said of both"),
        (
            Part(kind="spelling", score=-1.0, details=(Detail(score=-1.5, text="numbers 5, 6"),)),
            ([], []),
            "numbers 5, 6",
        ),
    ],
)
def test_each_kind_of_contradiction_has_words(part, types, words):
    threshold = Part(kind="threshold", score=-9.0)
    entities = Entity("l", "one"), Entity("r", "other")
    pair = Comparison(*entities, -1.0, (part, threshold), None)
    (found,) = contradictions_of(pair, types)
    assert spoken(found, ("one", "other")).startswith(words)

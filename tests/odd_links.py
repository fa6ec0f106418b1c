"""Ids, labels and numbers that break careless formats, for tests that read what was written."""

from __future__ import annotations

import polars as pl
from hypothesis import strategies as st

from sameas.graph.iri import from_iris
from sameas.graph.link_set import LINK_SCHEMA

IDS = [
    "http://a.org/x",
    "http://a.org/x#y",
    "http://a.org/",
    "http://a.org",
    "http://dbpedia.org/resource/AC/DC",
    "http://dbpedia.org/resource/München",
    "http://dbpedia.org/resource/M%C3%BCnchen",
    'http://dbpedia.org/resource/"Heroes"',
    "http://a.org/a b",
    "http://a.org/<b>",
    "http://a.org/{b}|^`\\",
    "http://a.org/?q=1&r=2;3",
    "http://a.org/100%",
    "http://a.org/%zz",
    "http://a.org/../b/./c",
    "http://a.org/'quoted'",
    "http://a.org/\u2028",
    "http://a.org/\ue000",
    "http://a.org/👩‍👩‍👧",
    "http://[::1]/x",
    "http://日本.jp/語",
    "https://a.org//",
    "urn:isbn:123",
    "urn:sameas:left:property:x",
    "urn:sameas:left:%zz",
    "urn:sameas:left:%ff",
    "mailto:a@b.org",
    "fr:Paris",
    "a:",
    "a:b:c:",
    ":",
    "::",
    "owl:sameAs",
    "http://www.w3.org/2002/07/owl#Thing",
    "1",
    "0012",
    "New York",
    "Paris",
    "left",
    "null",
    "NaN",
    "-",
    "#comment",
    '"quoted"',
    '"half',
    "it's",
    "comma,inside",
    " spaces ",
    "&amp;",
    "]]>",
    "<!-- -->",
    "日本語",
    "e\u0301",
    "\ufeffbom",
    "\x85",
    "\x00",
    "\x1f",
]
LABELS = ["", "a", "tab\tinside", "line\nbreak", "\r", '"', '""', "#", "null", "日本\u2028語", "'"]


def ids():
    """Ids of entities: IRIs, words, and what is nearly one of them."""
    letters = st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r")
    part = st.text(st.sampled_from("ab/#:%é?&=._~-'()2"), max_size=8)
    return st.one_of(
        st.sampled_from(IDS),
        part.map(lambda text: f"http://a.org/{text}"),
        st.builds("{}:{}".format, st.sampled_from(["http", "x", "urn", "9"]), part),
        st.text(letters, min_size=1, max_size=8),
    ).filter(_comes_back)


def _comes_back(text):
    """Not the very IRIs that we make for words: those are read as the words."""
    return from_iris(pl.Series([text]))[0] == text and not text.startswith("_:")


def numbers():
    """Scores and confidences, also those beyond 0 and 1."""
    return st.one_of(
        st.none(), st.sampled_from([0.0, 1.0, -1.0, 1.5, 1e-300, 0.1]), st.floats(-2, 2)
    )


def links(max_size=6):
    """Tables of links."""
    row = st.tuples(ids(), ids(), numbers(), numbers())
    return st.lists(row, max_size=max_size).map(
        lambda rows: pl.DataFrame(rows, schema=LINK_SCHEMA, orient="row")
    )

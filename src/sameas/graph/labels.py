"""Names of entities: which label is the name, and names made from URIs where there is none.

The last part of an IRI may be an identifier, not a name: its shape and its siblings tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import unquote

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.graph.iri import RDFS, SKOS, mapped_where
from sameas.options.tuning import TUNING, LabelTuning, SemanticsTuning

LABELS = (
    f"{RDFS}label",
    f"{SKOS}prefLabel",
    "http://schema.org/name",
    "https://schema.org/name",
    "http://xmlns.com/foaf/0.1/name",
    "http://dbpedia.org/ontology/name",
    "http://purl.org/dc/elements/1.1/title",
    "http://purl.org/dc/terms/title",
)
"""Properties that hold names, best first."""
ALTERNATIVES = (
    f"{SKOS}altLabel",
    "http://schema.org/alternateName",
    "https://schema.org/alternateName",
    "http://purl.org/dc/terms/alternative",
)
"""Properties that hold further names."""
IDENTIFIER = (
    r"^(?:[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}"  # UUID
    r"|[0-9a-fA-F]*\d[0-9a-fA-F]{6,}|[\W\d_]*|\w|id|ID|_:.*)$"
)
SCHEME = r"^(?:urn:)?[A-Za-z][A-Za-z0-9+.-]*:"
"""What comes before the last part of an IRI without slash and hash."""
TURNS = ("[a-z][A-Z]", r"[A-Za-z]\d", r"\d[A-Za-z]", "[A-Z]{2}[a-z]")
"""Where case changes, or digits meet letters."""

WORD = r"[\p{L}]{3,}|[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]"
ODD = r"^(?:https?:|ftp:|urn:|mailto:|\d{4}-\d\d)"
"""Texts that are no words: addresses and dates."""

MOST_LETTERS = 4096
"""Letters of a name that are compared, of which even descriptions have fewer; measured: a letter
costs some 260 bytes while names are turned into rows."""


def beginnings(texts: pl.Series, letters: int = MOST_LETTERS) -> pl.Series:
    """The texts, of long ones so many letters."""
    return texts.str.slice(0, letters)


def names_from_uris(uris: pl.Series) -> pl.Series:
    """A readable name for each URI: its last part, decoded, with its words apart.

    What follows ``/resource/`` is one part, as in DBpedia's ``AC/DC``. Words joined by camel
    case are split only where nothing else separates them.

    >>> names_from_uris(pl.Series(["http://a.org/x#Saint_%C3%89tienne", "b:BirthPlace"])).to_list()
    ['Saint Étienne', 'b:Birth Place']
    """
    trimmed = uris.str.strip_chars_end("/#")
    part = pl.DataFrame({"uri": uris, "trimmed": trimmed}).select(
        pl.coalesce(
            pl.col("trimmed").str.extract(r"/resource/(.+)$"),
            pl.col("trimmed").str.extract(r"([^/#]+)$"),
            pl.col("uri"),
        )
    )["trimmed"]
    part = mapped_where(part.str.contains("%", literal=True), part, unquote)
    spaced = part.str.replace_all(r"[_\s]+", " ").str.strip_chars()
    return _with_words_apart(spaced).rename("name")


def with_words_apart(labels: pl.Series) -> pl.Series:
    """Labels in which words that are joined by camel case are apart; others as they are.

    >>> with_words_apart(pl.Series(["birthDate", "mRNA", "YouTube video"])).to_list()
    ['birth Date', 'mRNA', 'YouTube video']
    """
    humps = labels.str.contains(r"\p{Ll}{2}\p{Lu}\p{Ll}")
    split: pl.Series = _with_words_apart(labels).zip_with(humps, labels)
    return split


def _with_words_apart(texts: pl.Series) -> pl.Series:
    """The texts split where case changes, if nothing else separates their words."""
    split = texts.str.replace_all(r"(\p{Ll}|\d)(\p{Lu})", "${1} ${2}").str.replace_all(
        r"(\p{Lu})(\p{Lu}\p{Ll})", "${1} ${2}"
    )
    joined = ~texts.str.contains(r"[ \-,.(]")
    apart: pl.Series = split.zip_with(joined, texts)
    return apart


def namespaces(iris: pl.Series) -> pl.Series:
    """Each IRI up to its last slash or hash."""
    return iris.str.replace(r"[^/#]*[/#]?$", "")


def are_identifiers(
    iris: pl.Series,
    kinds: NDArray[np.int8] | None = None,
    *,
    tuning: LabelTuning = TUNING.labels,
) -> pl.Series:
    """Whether the last part of each IRI is an identifier; siblings have its namespace and kind.

    >>> are_identifiers(pl.Series(["http://a.org/Q42", "http://a.org/New_York", "x:id"])).to_list()
    [False, False, True]
    >>> are_identifiers(pl.Series([f"http://a.org/person{n}" for n in range(9)])).all()
    True
    """
    local = iris.str.strip_chars_end("/#").str.extract(r"([^/#]*)$").fill_null("")
    local = local.str.replace(SCHEME, "").zip_with(local == iris, local)
    table = pl.DataFrame(
        {
            "local": local,
            "space": namespaces(iris),
            "kind": np.zeros(len(iris), dtype=np.int8) if kinds is None else kinds,
            "shape": local.str.contains(IDENTIFIER),
        }
    )
    turns = pl.sum_horizontal(pl.col("local").str.count_matches(turn) for turn in TURNS)
    stem = pl.col("local").str.replace_all(r"[\d\W_]+", " ").str.strip_chars().str.to_lowercase()
    restless = turns / pl.col("local").str.len_chars().clip(1) > tuning.restless
    odd = pl.col("shape") | restless
    table = table.with_columns(
        stem=stem, odd=odd, digits=pl.col("local").str.contains(r"\d")
    ).with_columns(
        many=(pl.len() >= tuning.crowd).over("space", "kind"),
        same=(pl.col("stem").n_unique() / pl.len() < tuning.same_stems).over("space", "kind"),
        digits=(pl.col("digits").mean() > tuning.most).over("space", "kind"),
        odd=(pl.col("odd").mean() > tuning.most).over("space", "kind"),
    )
    crowd = pl.col("many") & ((pl.col("same") & pl.col("digits")) | pl.col("odd"))
    return table.select(pl.col("shape") | crowd).to_series()


def looks_like_words(values: pl.Series, *, tuning: SemanticsTuning = TUNING.semantics) -> pl.Series:
    """Whether each text looks like words rather than a number, a code, a date or an address.

    >>> looks_like_words(pl.Series(["New York", "415/777-9779", "2016-06-20", "上海"])).to_list()
    [True, False, False, True]
    """
    letters = values.str.replace_all(r"[^\p{L}]", "").str.len_chars()
    marks = values.str.replace_all(r"\s", "").str.len_chars()
    lettered = letters >= tuning.letters * marks
    return values.str.contains(WORD) & ~values.str.contains(ODD) & lettered


def names_from_attributes(attributes: pl.DataFrame, preferred: Sequence[str] = ()) -> pl.DataFrame:
    """One name per entity that has a label attribute (table entity, name), the best label first."""
    labels = list(dict.fromkeys([*preferred, *LABELS]))
    order = pl.DataFrame({"attribute": labels, "order": range(len(labels))})
    return (
        attributes.with_row_index("position")
        .join(order, on="attribute", how="inner")
        .sort("order", "position")
        .unique("entity", keep="first", maintain_order=True)
        .select("entity", name="value")
    )


def look_up_names(entities: pl.Series, table: pl.DataFrame) -> pl.Series:
    """The name of each entity in a table (entity, name), null where it has none.

    Of several names of one entity the first is taken; `further_names` has the others.
    """
    first = table.unique("entity", keep="first", maintain_order=True)
    names: pl.Series = entities.replace_strict(
        first["entity"], first["name"], default=None, return_dtype=pl.String
    )
    return pl.Series("name", names)


def further_names(entities: pl.Series, given: pl.DataFrame) -> pl.DataFrame:
    """The rows of a table (entity, name) that ``look_up_names`` does not take: entity, name."""
    is_further = ~pl.col("entity").is_first_distinct()
    return given.filter(is_further, pl.col("entity").is_in(entities.implode()))

"""Names of another language as English words, with dictionaries."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from itertools import groupby, islice

import polars as pl

from sameas.options.tuning import TUNING, GlossTuning
from sameas.text.folding import folded
from sameas.text.languages.detection import detect
from sameas.text.languages.dictionaries import ENTRIES, resources, simplified_characters

UNSPACED = (
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Tibetan, Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Kana, Han
)
TOKENS = re.compile(f"[{UNSPACED}]|[^ {UNSPACED}]+")
"""A character of a script that is written without spaces, or a word."""
ASIDES = r"\([^()]*\)|\[[^\[\]]*\]|[\p{Han}\p{Hiragana}\p{Katakana}]+\|?"
"""What is no part of a gloss: remarks, and quotations in the other language."""
FILLERS = r"^(?:(?:to|a|an|the|surname|lit\.|fig\.|abbr\. (?:for|of)) )+"


def glosses(
    names: pl.Series,
    *,
    language: str,
    vocabulary: Collection[str],
    dictionary: pl.DataFrame | None = None,
    sources: Collection[str] | None = None,
    tuning: GlossTuning = TUNING.glosses,
) -> pl.DataFrame:
    """What the names mean: table name_index, piece, gloss, weight, in the order of the names.

    Each name is cut into the fewest pieces that dictionaries hold. A piece has up to two glosses,
    with the weights 1 and .5. Those whose words are in the ``vocabulary`` come first: the words,
    as `folded` gives them, of the names on the other side. Parts without an entry are
    transliterated. A name without letters or digits has no row.

    ``dictionary`` is a table (text, gloss), the best gloss of a text first; it comes before the
    installed ones. ``sources`` are the installed dictionaries to use, by the names that
    `resources` gives; by default all of them.
    """
    texts = _looked_up(names, language)
    index = pl.DataFrame({"name_index": range(len(names)), "text": texts}).filter(texts != "")
    distinct = index["text"].unique(maintain_order=True).to_list()
    spans = [
        [match.span() for match in islice(TOKENS.finditer(text), tuning.most_tokens)]
        for text in distinct
    ]
    parts = _parts(distinct, spans, tuning.longest)
    wanted = pl.Series(list(dict.fromkeys(parts)), dtype=pl.String)
    # Latin letters in names of another script are English already.
    foreign = wanted.filter(wanted.str.contains(r"[^ -~]") | (detect(names).script == "Latin"))
    given = pl.DataFrame(schema=ENTRIES) if dictionary is None else dictionary
    tables = [_wanted(given, wanted, language)]
    for one in resources(language):
        if one.installed and (sources is None or one.name in sources):
            tables.append(_plain(_wanted(one.read(language, foreign), foreign, language)))
    entries = _best(pl.concat(tables), vocabulary, tuning.weights)
    known = set(entries["piece"])
    pieces = [
        (text, piece, share)
        for text, span in zip(distinct, spans, strict=True)
        for piece, share in _with_sounds(_segments(text, span, known, tuning), language, tuning)
    ]
    schema = {"text": pl.String, "piece": pl.String, "share": pl.Float64}
    table = pl.DataFrame(pieces, schema=schema, orient="row")
    meant = pl.concat([entries, _spelled(table["piece"], known, tuning.weights[0])])
    return (
        index.join(table, on="text", maintain_order="left_right")
        .join(meant, on="piece", maintain_order="left_right")
        .select("name_index", "piece", "gloss", pl.col("weight") * pl.col("share"))
    )


def _spelled(pieces: pl.Series, known: Set[str], weight: float) -> pl.DataFrame:
    """The pieces that are not known, transliterated: piece, gloss, weight."""
    unknown = pieces.unique(maintain_order=True).to_frame("piece")
    unknown = unknown.filter(~pl.col("piece").is_in(known))
    spelled = unknown.with_columns(gloss=folded(unknown["piece"], numbers=False))
    return spelled.filter(pl.col("gloss") != "").with_columns(weight=pl.lit(weight))


def _looked_up(texts: pl.Series, language: str) -> pl.Series:
    """Texts as they are looked up: lower case, compatible forms as one, no punctuation."""
    plain = texts.fill_null("").str.normalize("NFKC").str.to_lowercase()
    plain = plain.str.replace_all(r"[^\p{L}\p{M}\p{N}]+", " ").str.strip_chars()
    return plain.str.replace_many(simplified_characters()) if language == "zh" else plain


def _parts(
    texts: Iterable[str], spans: Iterable[Sequence[tuple[int, int]]], longest: int
) -> Iterator[str]:
    """The texts, and all their runs of up to ``longest`` characters or words."""
    for text, own in zip(texts, spans, strict=True):
        yield text
        for first, (start, _) in enumerate(own):
            for _, end in own[first : first + longest]:
                yield text[start:end]


def _wanted(entries: pl.DataFrame, wanted: pl.Series, language: str) -> pl.DataFrame:
    """The entries (piece, gloss) that are wanted."""
    pieces = entries.select(_looked_up(entries["text"], language).alias("piece"), "gloss")
    return pieces.join(wanted.to_frame("piece"), on="piece", how="semi", maintain_order="left")


def _plain(entries: pl.DataFrame) -> pl.DataFrame:
    """The entries, one for each meaning, without remarks."""
    meant = pl.col("gloss").str.replace_all(ASIDES, " ").str.split(";")
    one = pl.col("gloss").str.split(",").list.first().str.replace_all(r"\s+", " ")
    glosses = (
        entries.with_columns(meant)
        .explode("gloss")
        .select("piece", one.str.strip_chars().str.replace(FILLERS, ""))
    )
    return glosses.filter(pl.col("gloss") != "")


def _best(
    entries: pl.DataFrame, vocabulary: Collection[str], weights: Sequence[float]
) -> pl.DataFrame:
    """The best glosses of each piece with their weights: piece, gloss, weight."""
    entries = entries.unique(maintain_order=True)
    distinct = entries["gloss"].unique(maintain_order=True)
    words = pl.Series("word", list(vocabulary), dtype=pl.String).unique()
    fits = (
        pl.DataFrame({"gloss": distinct, "word": folded(distinct).str.split(" ")})
        .explode("word")
        .with_columns(fit=pl.col("word").is_in(words.implode()))
        .group_by("gloss")
        .agg(pl.col("fit").mean())
    )
    ranked = (
        entries.join(fits, on="gloss", maintain_order="left")
        .sort("fit", descending=True, maintain_order=True)
        .with_columns(rank=pl.int_range(pl.len()).over("piece"))
        .filter(pl.col("rank") < len(weights))
    )
    weight = pl.col("rank").replace_strict(dict(enumerate(weights)), return_dtype=pl.Float64)
    return ranked.select("piece", "gloss", weight=weight)


def _segments(
    text: str, spans: Sequence[tuple[int, int]], known: Set[str], tuning: GlossTuning
) -> list[str]:
    """The text cut into the fewest known pieces; unknown neighbours are one piece.

    Of several ways with as many pieces, the one whose last piece is longest is taken.
    """
    if text in known:
        return [text]
    costs, starts = [0.0], [-1]
    for last, (_, end) in enumerate(spans):
        cost, start = costs[last] + tuning.unknown_cost, -1
        for first in range(last, max(last - tuning.longest, -1), -1):
            if costs[first] + 1 <= cost and text[spans[first][0] : end] in known:
                cost, start = costs[first] + 1, first
        costs.append(cost)
        starts.append(start)
    pieces = list[str]()
    last = len(spans)
    while last:
        first = starts[last]
        if first < 0:
            first = last - 1
            while first and starts[first] < 0:
                first -= 1
        pieces.append(text[spans[first][0] : spans[last - 1][1]])
        last = first
    return pieces[::-1]


def _with_sounds(
    pieces: Sequence[str], language: str, tuning: GlossTuning
) -> Iterator[tuple[str, float]]:
    """The pieces with their weights; Chinese characters that stand alone are also sounds.

    Foreign names are written in Chinese by sound, and Chinese names of people are not translated:
    several single characters in a row are one piece for their sound, and weigh less each.
    """
    for single, run in groupby(pieces, lambda piece: language == "zh" and len(piece) == 1):
        row = list(run)
        if single and len(row) > 1:
            yield "".join(row), 1.0
        weight = tuning.single_character if single and len(row) > 1 else 1.0
        yield from ((piece, weight) for piece in row)

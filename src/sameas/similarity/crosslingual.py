"""Blocks of names: what names are compared by besides their spelling.

Names in two languages have little spelling in common. What they mean (glosses from dictionaries),
a sentence encoder, and a dictionary learnt from the run's own links are further blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sameas.compute.arrays import Progress
from sameas.compute.projection import compress
from sameas.compute.rows import Rows, as_rows, unit
from sameas.errors import OptionError
from sameas.graph.kind import Kind
from sameas.graph.matched import MatchedPair
from sameas.graph.task import Inputs
from sameas.options.options import Options, compares_languages
from sameas.options.tuning import TUNING, GlossTuning, LanguageTuning, Tuning
from sameas.text.encoders import Encoder, encode, find_encoder
from sameas.text.folding import folded
from sameas.text.languages.detection import Language, detect, word_shares
from sameas.text.languages.dictionaries import resources
from sameas.text.languages.glosses import glosses
from sameas.text.languages.support import NO_SUPPORT, LanguageSupport

LATIN = "Latin"
INSTALL = "pip install 'sameas[multilingual]'"


def choose_support(
    pair: MatchedPair,
    options: Options,
    inputs: Inputs,
    *,
    tuning: LanguageTuning = TUNING.languages,
) -> LanguageSupport:
    """What is used for the names of a pair besides their spelling.

    That is nothing, unless their languages differ, or both graphs are small terminologies: those
    name things by ordinary words, which have synonyms.
    """
    given = options.encoder is not None or inputs.encoded_names is not None
    forced = options.features == "multilingual" or given
    wanted = (forced or options.languages != "none") and compares_languages(options)
    if inputs.embeddings is not None or not wanted:
        return NO_SUPPORT
    every = pair.left.names, pair.right.names
    names = [some.gather_every(len(some) // tuning.sample + 1) for some in every]
    left, right = (detect(some, tuning=tuning) for some in names)
    scripts = {left.script, right.script}
    foreign = len(scripts) > 1 or _other_language(names, left.language, right.language, tuning)
    foreign = foreign and min(left.share, right.share) >= tuning.script_share
    support = LanguageSupport(
        left=left.language,
        right=right.language,
        foreign=foreign or forced,
        glossed=_side_of_dictionary(every, inputs.dictionary),
    )
    terms = not foreign and _terminologies(pair, tuning)
    if not (foreign or forced or terms):
        return support
    installed = encoder_for(options, inputs)
    if forced and (installed is None or "encoder" in options.without):
        raise OptionError(
            "`features` multilingual needs a sentence encoder, which is not installed; "
            f"install it with: {INSTALL}"
        )
    readable = installed is not None and (not installed.scripts or scripts <= installed.scripts)
    few = max(map(len, every)) <= tuning.most_names
    encoder = (readable or forced) and few and "encoder" not in options.without
    if not (foreign or forced):
        return replace(support, encoder=encoder)
    support = _with_dictionaries(support, (left, right), options)
    notes = support.notes if installed else (f"{INSTALL} adds a sentence encoder", *support.notes)
    if not few:
        most = max(map(len, every))
        note = (
            f"names were neither encoded nor translated by a learnt dictionary: {most:,} are too "
            f"many, the most are {tuning.most_names:,}"
        )
        notes = (note, *support.notes)
    return replace(
        support,
        encoder=encoder,
        # Within one script spelling tells more, and a learnt dictionary does a little harm.
        learnt=foreign and len(scripts) > 1 and few and "dictionary" not in options.without,
        notes=notes,
    )


def _side_of_dictionary(
    names: tuple[pl.Series, pl.Series], dictionary: pl.DataFrame | None
) -> tuple[str, ...]:
    """The side that a given dictionary is for: the one that has more of its words."""
    if dictionary is None:
        return ()
    known, *met = (
        texts.str.to_lowercase().str.split(" ").explode().unique()
        for texts in (dictionary["text"], *names)
    )
    ours, theirs = (known.is_in(words.implode()).sum() for words in met)
    return ("left",) if ours >= theirs else ("right",)


def _terminologies(pair: MatchedPair, tuning: LanguageTuning) -> bool:
    """Whether the entities of both graphs are few, and most of them classes or properties."""
    if pair.is_one_graph:
        return False
    for graph in pair.graphs:
        kinds = graph.kinds[graph.linkable]
        terms = np.isin(kinds, (Kind.CLASS, Kind.PROPERTY, Kind.PUN)).sum()
        if len(graph.names) > tuning.most_terms or 2 * terms < max(len(kinds), 1):
            return False
    return True


def _with_dictionaries(
    support: LanguageSupport, languages: tuple[Language, Language], options: Options
) -> LanguageSupport:
    """The support with dictionaries for names in other than Latin letters."""
    sources, notes, glossed = list[str](), list[str](), list(support.glossed)
    for side, one in zip(("left", "right"), languages, strict=True):
        if one.script not in (LATIN, "None") and "glosses" not in options.without:
            dictionaries = resources(one.language)
            sources += [each.name for each in dictionaries if each.installed]
            about = f"names on the {side} are in language {one.language}"
            missing = sorted({each.command for each in dictionaries if not each.installed})
            notes += [f"{about}: {command} adds dictionaries" for command in missing]
            glossed.append(side)
    return replace(
        support,
        glossed=tuple(dict.fromkeys(glossed)) if sources else support.glossed,
        sources=tuple(dict.fromkeys(sources)),
        notes=tuple(notes),
    )


def _other_language(names: list[pl.Series], left: str, right: str, tuning: LanguageTuning) -> bool:
    """Whether names of one script are in two languages.

    If the language of one side is known alone, the other side differs if it has far fewer of that
    language's short words, and far more of another one's; that takes many names.
    """
    if "und" not in (left, right) or left == right or min(map(len, names)) < tuning.enough_names:
        return "und" not in (left, right) and left != right
    known = left if right == "und" else right
    ours, theirs = map(word_shares, names if right == "und" else names[::-1])
    some, fewer = tuning.no_accident, tuning.far_fewer
    more = (share > some and ours[one] < fewer * share for one, share in theirs.items())
    return theirs[known] < fewer * ours[known] and any(more)


def look_up(
    left: pl.Series,
    right: pl.Series,
    support: LanguageSupport,
    dictionary: pl.DataFrame | None = None,
    *,
    tuning: GlossTuning = TUNING.glosses,
) -> pl.DataFrame | None:
    """What the names mean: name_index (left names before right ones), piece, gloss, weight."""
    tables, texts = [], {"left": left, "right": right}
    for side in support.glossed:
        names, other = texts[side], texts["right" if side == "left" else "left"]
        words = folded(other).str.split(" ").explode().unique()
        table = glosses(
            names,
            language=getattr(support, side),
            vocabulary=words.to_list(),
            dictionary=dictionary,
            sources=support.sources,
            tuning=tuning,
        )
        index = pl.col("name_index") + (0 if side == "left" else len(left))
        tables.append(table.with_columns(name_index=index.cast(pl.Int64)))
    return pl.concat(tables) if tables else None


@dataclass(frozen=True, eq=False)
class Meanings:
    """Names with what they mean, in one space: each row is its spelling and its glosses."""

    glosses: Rows
    """Unit rows of the distinct glosses."""
    table: pl.DataFrame
    """name_index, piece, gloss, weight, number (of the gloss)."""
    factors: NDArray[np.float64]
    """What the glosses of each name are multiplied with in its row, besides their weight."""
    rows: Rows
    """Unit rows of the names."""


def with_meanings(
    names: pl.Series, table: pl.DataFrame, rows_of: Callable[[pl.Series], Rows]
) -> Meanings:
    """The names and their glosses in one space; ``rows_of`` gives the unit rows of texts."""
    distinct = table["gloss"].unique().sort()
    table = table.with_columns(number=distinct.search_sorted(table["gloss"]).cast(pl.Int64))
    every, size = rows_of(pl.concat([names.rename("gloss"), distinct])), len(names)
    meant = every.take(np.arange(size, len(every)))
    indices = table["name_index"].to_numpy(), table["number"].to_numpy()
    weights = table["weight"].to_numpy().astype(np.float32)
    total = as_rows(csr_array((weights, indices), shape=(size, len(distinct))) @ meant.sparse)
    inner = _factors(total)
    both = as_rows(every.sparse[:size] + total.scaled(inner).sparse)
    outer = _factors(both)
    return Meanings(meant, table, inner * outer, both.scaled(outer))


def _factors(rows: Rows) -> NDArray[np.float64]:
    """What scales each row to length one; nothing scales rows of zeros."""
    lengths = rows.norms()
    return np.divide(1.0, lengths, out=np.zeros(len(rows)), where=lengths > 1e-9)


def encoder_for(options: Options, inputs: Inputs) -> Encoder | None:
    """The encoder of names: what a run has kept, else that of the options, else the installed one.

    A run that was read has no encoder in its options.
    """
    if inputs.encoded_names is not None:
        return inputs.encoded_names.as_encoder()
    return find_encoder(options.encoder)


def embedded(
    left: pl.Series, right: pl.Series, encoder: Encoder | None, progress: Progress | None = None
) -> tuple[Rows, Rows]:
    """Unit rows of the names by an encoder, centred by side, because languages differ in the mean.

    None, for no encoder, is an OptionError.
    """
    if encoder is None:
        raise OptionError(
            "the names were compared by a sentence encoder, which is not installed; "
            f"install it with: {INSTALL}"
        )
    sides = []
    for names in (left, right):
        vectors = encode(names, encoder, progress=progress)
        there = np.abs(vectors).max(axis=1, initial=0.0) > 0
        mean = vectors[there].mean(axis=0, dtype=np.float64) if there.any() else 0.0
        vectors[there] -= np.asarray(mean, dtype=np.float32)
        sides.append(unit(as_rows(vectors)))
    return sides[0], sides[1]


def shortened(sides: tuple[Rows, Rows], *, tuning: Tuning = TUNING) -> Rows:
    """The rows of both sides, left before right, cut to a few principal columns."""
    short = compress(*sides, principal=tuning.languages.hop_columns, random=0, tuning=tuning.search)
    return unit(as_rows(np.concatenate([short.left, short.right])))

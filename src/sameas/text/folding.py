"""Names in one plain spelling, so that different ways of writing the same meet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from string import ascii_lowercase
from typing import Any, TypeVar

import numpy as np
import polars as pl

from sameas.compute.parallel import even_slices, map_blocks

Made = TypeVar("Made")

BLOCK = 2**18
"""Bytes of text in a block; what is made of them takes up to a hundred times."""
FEW, SHORT = 100, 2**14
"""Texts, and letters of all of them, that plain Python folds faster than Polars starts to."""

_CARDINALS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
)
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
_ROMAN = "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx"
NUMBERS: dict[str, str] = {
    word: str(number)
    for words in (_CARDINALS, _ORDINALS, _ROMAN)
    for number, word in enumerate(words.split(), start=1)
    if len(word) > 1
}
"""Words that are numbers. Roman numerals of one letter are left alone: most are initials."""

SOUNDS = (
    *(("tsch", "ch"), ("dsch", "j"), ("sch", "sh"), ("ck", "k"), ("ph", "f"), ("kh", "h")),
    *(("w", "v"), ("y", "i"), ("j", "i"), ("ts", "z"), ("tz", "z"), ("cz", "z"), ("ou", "u")),
    *(("th", "t"), ("c", "k"), ("qu", "k"), ("x", "ks"), ("z", "s"), ("gh", "g"), ("dh", "d")),
)
"""Spellings of like sounds, replaced one after the other: what Slaveykov is in English is
Slawejkow in German."""

_DROPPED, _OTHER = re.compile(r"['.`]"), re.compile(r"[^a-z0-9]+")
_ORDINAL = re.compile(r"\b(\d+)(?:st|nd|rd|th)\b", re.ASCII)
_ANY_DOUBLED = "|".join(2 * letter for letter in ascii_lowercase)
_SILENT, _DOUBLED = re.compile(r"([a-z])h([^aeiou])"), re.compile(r"([a-z])\1+")


def folded(names: pl.Series, *, numbers: bool = True) -> pl.Series:
    """The names in lower-case Latin letters and digits, words apart by one space.

    Other scripts are transliterated, accents dropped; apostrophes and full stops vanish, other
    punctuation and brackets part words. ``numbers`` also writes number words, ordinals and
    Roman numerals in digits.

    >>> folded(pl.Series(["Beyoncé", "Москва", "Henry VIII (play)", "5th Avenue"])).to_list()
    ['beyonce', 'moskva', 'henry 8 play', '5 avenue']
    """
    if (texts := few_texts(names)) is not None:
        return pl.Series([fold_text(text, numbers=numbers) for text in texts], dtype=pl.String)
    return in_blocks(_folded, names, numbers)


def fold_text(text: str, *, numbers: bool = True) -> str:
    """One name as ``folded`` gives it.

    >>> fold_text("Henry VIII (play)")
    'henry 8 play'
    """
    if not text.isascii():
        from anyascii import anyascii  # its tables take a while to load

        text = anyascii(text)
    plain = _OTHER.sub(" ", _DROPPED.sub("", text.lower())).strip()
    if not numbers:
        return plain
    return " ".join(NUMBERS.get(word, word) for word in _ORDINAL.sub(r"\1", plain).split(" "))


def _folded(names: pl.Series, numbers: bool) -> pl.Series:
    text = names.fill_null("")
    foreign = text.str.contains(r"[^\x00-\x7f]")
    if foreign.any():
        from anyascii import anyascii  # its tables take a while to load

        latin = [anyascii(name) for name in text.filter(foreign).to_list()]
        text = text.scatter(foreign.arg_true(), pl.Series(latin, dtype=pl.String))
    plain = (
        text.str.to_lowercase()
        .str.replace_all(r"['.`]", "")
        .str.replace_all(r"[^a-z0-9]+", " ")
        .str.strip_chars()
    )
    if not numbers:
        return plain
    digits: Any = pl.element().replace(NUMBERS)
    return (
        plain.str.replace_all(r"\b(\d+)(?:st|nd|rd|th)\b", "${1}")
        .str.split(" ")
        .list.eval(digits)
        .list.join(" ")
    )


def sounded(names: pl.Series) -> pl.Series:
    """Folded names in a rough spelling by sound.

    Languages write the same foreign name each in their way. No letter twice in a row, and no h
    after a letter unless a vowel follows.

    >>> sounded(pl.Series(["pencho slaveykov", "pentscho slawejkow"])).to_list()
    ['penkho slaveikov', 'penkho slaveikov']
    """
    if (texts := few_texts(names)) is not None:
        return pl.Series([sound_text(text) for text in texts], dtype=pl.String)
    return in_blocks(_sounded, names)


def sound_text(text: str) -> str:
    """One folded name as ``sounded`` gives it.

    >>> sound_text("pentscho slawejkow")
    'penkho slaveikov'
    """
    for spelling, sound in SOUNDS:
        text = text.replace(spelling, sound)
    return _DOUBLED.sub(r"\1", _SILENT.sub(r"\1\2", text))


def few_texts(names: pl.Series) -> list[str] | None:
    """The names, "" for null, if they are so few and short that plain Python is faster."""
    if len(names) > FEW:
        return None
    texts = [text or "" for text in names.to_list()]
    return texts if sum(map(len, texts)) <= SHORT else None


def _sounded(names: pl.Series) -> pl.Series:
    text = names
    for spelling, sound in SOUNDS:
        text = text.str.replace_all(spelling, sound, literal=True)
    text = text.str.replace_all(r"([a-z])h([^aeiou])", "${1}${2}")
    doubled = text.str.contains(_ANY_DOUBLED).arg_true()
    some = text.gather(doubled)
    for letter in ascii_lowercase:
        some = some.str.replace_all(f"{letter}{letter}+", letter)
    return text.scatter(doubled, some)


def text_blocks(texts: pl.Series) -> Iterator[slice]:
    """Slices of about BLOCK bytes of text, each of at least one text."""
    if len(texts) and few_texts(texts) is not None:
        return iter([slice(0, len(texts))])
    ends = np.cumsum(texts.str.len_bytes().fill_null(0).cast(pl.Int64).to_numpy() + 1)
    return even_slices(np.append(0, ends), BLOCK)


def by_blocks(work: Callable[..., Made], texts: pl.Series, *given: Any) -> list[Made]:
    """What the work gives for each block of texts."""
    parts = list(text_blocks(texts))
    if len(parts) < 2:  # a few names: no need for an engine
        return [work(texts, *given) for _ in parts]
    return [made for _, made in map_blocks(work, parts, texts.__getitem__, *given)]


def in_blocks(work: Callable[..., pl.Series], texts: pl.Series, *given: Any) -> pl.Series:
    """What the work gives for texts, each by itself, made block by block."""
    every: pl.Series = pl.concat(by_blocks(work, texts, *given) or [work(texts, *given)])
    return every

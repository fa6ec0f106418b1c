"""Values in one notation, and how alike two of them are: dates, numbers, identifiers, texts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rapidfuzz.distance import OSA
from rapidfuzz.process import cpdist

from sameas.options.tuning import TUNING, ValueTuning
from sameas.similarity.matrix import RowProduct
from sameas.text.folding import folded
from sameas.text.ngrams import ngram_rows

EQUAL, CLOSE, NEAR, UNLIKE, MISSING = range(5)
"""How alike two values are."""

_MONTHS = {name: month for month, name in enumerate(
    ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1
)}  # fmt: skip
_DATES = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?P<year>\d{4})-(?P<month>\d\d?)-(?P<day>\d\d?)(?:[T ].*)?Z?",
        r"(?P<year>\d{4})[/.](?P<month>\d\d?)[/.](?P<day>\d\d?)",
        r"(?P<day>\d\d?)[/.](?P<month>\d\d?)[/.](?P<year>\d{4})",
        r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)",
        r"(?:\w{3,9},? )?(?P<month>[^\W\d]{3})\w* (?P<day>\d\d?)(?:,| \S+ \S+)? (?P<year>\d{4})",
        r"(?P<day>\d\d?)\.? (?P<month>[^\W\d]{3})\w*,? (?P<year>\d{4})",
    )
)
_NUMBER = re.compile(r"[+-]?(?:\d+(?:[ ,]\d{3})*|\d+)(?:[.,]\d+)?(?:[eE][+-]?\d{1,3})?")


def canonical(values: pl.Series) -> pl.Series:
    """Each value in a form in which equal ones are equal: dates, numbers, bare letters.

    >>> texts = ["20 Jun 2016", "2016-06-20", "415/777-9779", "012.50", "A  b."]
    >>> canonical(pl.Series(texts)).to_list()
    ['20160620', '20160620', '4157779779', '12.5', 'a b']
    """
    plain = folded(values, numbers=False)
    numeric = values.str.contains(r"\d")
    indices = numeric.arg_true()
    texts = zip(values.gather(indices).to_list(), plain.gather(indices).to_list(), strict=True)
    forms = pl.Series([_canonical(text.strip(), bare) for text, bare in texts], dtype=pl.String)
    return plain.scatter(indices, forms)


def _canonical(text: str, bare: str) -> str:
    """The form of a value that has a digit in it."""
    for pattern in _DATES:
        if match := pattern.fullmatch(text):
            name = match["month"].lower()
            month = int(name) if name.isdigit() else _MONTHS.get(name, 0)
            year, day = int(match["year"]), int(match["day"])
            if 1 <= month <= 12 and 1 <= day <= 31 and 1000 <= year <= 2999:
                return f"{year:04d}{month:02d}{day:02d}"
    if _NUMBER.fullmatch(text):
        decimal = text.count(",") == 1 and "." not in text and not re.search(r",\d{3}$", text)
        number = text.replace(" ", "").replace(",", "." if decimal else "")
        if "." in number or "e" in number.lower():
            return f"{float(number):.12g}"
        return number.lstrip("+0") or "0"
    digits, letters = sum(map(str.isdigit, text)), sum(map(str.isalpha, text))
    identifier = digits >= letters or " " not in text  # or a phone number
    return re.sub(r"[^a-z0-9]", "", bare) if identifier else bare


def spelled_alike(left: list[str], right: list[str]) -> NDArray[np.float32]:
    """1 - edits / length of pairs of texts; an edit inserts, drops, changes or swaps letters."""
    if not left:
        return np.zeros(0, dtype=np.float32)
    ratios: NDArray[np.float32] = cpdist(
        left, right, scorer=OSA.normalized_similarity, dtype=np.float32
    )
    return ratios


@dataclass(frozen=True, eq=False)
class Values:
    """Distinct canonical values, by number."""

    texts: pl.Series
    tuning: ValueTuning = TUNING.values

    @cached_property
    def _rows(self) -> RowProduct:
        rows = ngram_rows(self.texts, n=3, boundaries=True, rarity=True)
        return RowProduct(rows, rows)

    @cached_property
    def _long(self) -> NDArray[np.bool_]:
        return (self.texts.str.len_chars() > self.tuning.long).to_numpy()

    def levels(self, left: NDArray[np.integer], right: NDArray[np.integer]) -> NDArray[np.uint8]:
        """How alike pairs of values are: EQUAL, CLOSE, NEAR or UNLIKE."""
        same = left == right
        long = (self._long[left] | self._long[right]) & ~same
        short = ~long & ~same
        likeness = np.ones(len(left), dtype=np.float32)
        likeness[short] = spelled_alike(
            self.texts.gather(left[short]).to_list(), self.texts.gather(right[short]).to_list()
        )
        if long.any():
            likeness[long] = self._rows.of(left[long], right[long])
        far = np.where(likeness >= self.tuning.near, NEAR, UNLIKE)
        levels = np.where(likeness >= self.tuning.close, CLOSE, far)
        levels[same] = EQUAL
        return levels.astype(np.uint8)

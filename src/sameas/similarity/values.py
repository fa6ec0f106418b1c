"""Values in one notation, and how alike two of them are, each kind in its own way.

Numbers are compared by their relative difference, dates by days, coordinates by kilometres, long
texts by rare words, other texts and identifiers letter by letter.
"""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rapidfuzz.distance import OSA
from rapidfuzz.process import cpdist

from sameas.options.tuning import TUNING, ValueTuning
from sameas.similarity.matrix import RowProduct
from sameas.text.folding import folded
from sameas.text.ngrams import ngram_rows
from sameas.text.words import rare_word_rows

ValueKind = Literal["text", "long text", "number", "date", "point", "code"]
EQUAL, CLOSE, NEAR, UNLIKE, FAR, MISSING = range(6)
"""How alike two values are; short texts that are not near are unlike, and none is far."""

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
YEAR = r"(?:1\d|20)\d\d"
DATE = rf"^(?:[12]\d{{3}}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])|{YEAR})$"
"""Canonical dates, and years."""
POINT = r"^-?\d+\.\d{6} -?\d+\.\d{6}$"
"""Canonical coordinates: latitude and longitude."""
CANONICAL_NUMBER = r"^-?\d+(?:\.\d+)?(?:e[+-]\d+)?$"
_COORDINATE = r"([+-]?\d{1,3}\.\d+)"
_POINTS = (
    re.compile(rf"{_COORDINATE}\s*[,; ]\s*{_COORDINATE}"),
    re.compile(
        r"(?:<\S*>\s*)?point\s*\(\s*(?P<long>[+-]?\d+(?:\.\d+)?)\s+(?P<lat>[+-]?\d+(?:\.\d+)?)\s*\)",
        re.IGNORECASE,
    ),
)
EARTH = 6371.0
"""The radius of the earth in kilometres."""
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
    for pattern in _POINTS:
        if match := pattern.fullmatch(text):
            named = match.groupdict()
            latitude, longitude = (named["lat"], named["long"]) if named else match.groups()
            if (point := canonical_point(float(latitude), float(longitude))) is not None:
                return point
    if _NUMBER.fullmatch(text):
        decimal = text.count(",") == 1 and "." not in text and not re.search(r",\d{3}$", text)
        number = text.replace(" ", "").replace(",", "." if decimal else "")
        if "." in number or "e" in number.lower():
            return f"{float(number):.12g}"
        return number.lstrip("+0") or "0"
    digits, letters = sum(map(str.isdigit, text)), sum(map(str.isalpha, text))
    identifier = digits >= letters or " " not in text  # or a phone number
    return re.sub(r"[^a-z0-9]", "", bare) if identifier else bare


def canonical_point(latitude: float, longitude: float) -> str | None:
    """The canonical form of coordinates in degrees; None if they are none.

    >>> canonical_point(48.8566, 2.3522), canonical_point(91, 0)
    ('48.856600 2.352200', None)
    """
    if abs(latitude) > 90 or abs(longitude) > 180:
        return None
    return f"{latitude + 0.0:.6f} {longitude + 0.0:.6f}"


def kinds_of(table: pl.DataFrame, *, tuning: ValueTuning = TUNING.values) -> dict[str, ValueKind]:
    """The kind of each attribute's canonical values, by what nearly all of them look like.

    ``table`` has the columns attribute and value. Whole numbers of four digits or more, all of
    one length, are identifiers.

    >>> rows = [("price", "199"), ("price", "29.95"), ("phone", "8513913"), ("phone", "9349267")]
    >>> kinds = kinds_of(pl.DataFrame(rows, schema=["attribute", "value"], orient="row"))
    >>> kinds["price"], kinds["phone"]
    ('number', 'text')
    """
    value, length = pl.col("value"), pl.col("value").str.len_chars()
    median = length.quantile(0.5, "lower")
    of_one_length = value.str.contains(r"^\d+$") & (length == median)
    shares = table.group_by("attribute").agg(
        point=value.str.contains(POINT).mean(),
        date=value.str.contains(DATE).mean(),
        number=value.str.contains(CANONICAL_NUMBER).mean(),
        identifier=of_one_length.mean() * (median >= tuning.shortest_id),
        length=median,
    )
    usual = tuning.usual
    kind = (
        pl.when(pl.col("point") >= usual)
        .then(pl.lit("point"))
        .when(pl.col("date") >= usual)
        .then(pl.lit("date"))
        .when(pl.col("identifier") >= usual)
        .then(pl.lit("text"))
        .when(pl.col("number") >= usual)
        .then(pl.lit("number"))
        .when(pl.col("length") > tuning.long)
        .then(pl.lit("long text"))
        .otherwise(pl.lit("text"))
    )
    return dict(shares.select("attribute", kind).iter_rows())


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

    @cached_property
    def _words(self) -> RowProduct:
        rows = rare_word_rows(self.texts)
        return RowProduct(rows, rows)

    @cached_property
    def _numbers(self) -> NDArray[np.float64]:
        """Each value as a number; not a number where it is none."""
        number = self.texts.str.contains(CANONICAL_NUMBER)
        texts = self.texts.set(~number, None)
        numbers = texts.cast(pl.Float64, strict=False).fill_null(np.nan)
        return np.asarray(numbers.to_numpy())

    @cached_property
    def _days(self) -> NDArray[np.float64]:
        """The first and the last day of each value, as a number; shape (values, 2)."""
        days = np.full((len(self.texts), 2), np.nan)
        for place in self.texts.str.contains(DATE).arg_true():
            text = self.texts[place]
            if len(text) == 4:
                days[place] = _day(int(text), 1, 1), _day(int(text), 12, 31)
            else:
                days[place] = _day(int(text[:4]), int(text[4:6]), int(text[6:]))
        return days

    @cached_property
    def _points(self) -> NDArray[np.float64]:
        """The latitude and longitude of each value in radians; shape (values, 2)."""
        points = np.full((len(self.texts), 2), np.nan)
        for place in self.texts.str.contains(POINT).arg_true():
            points[place] = np.radians([float(part) for part in self.texts[place].split()])
        return points

    def distances(
        self, left: NDArray[np.integer], right: NDArray[np.integer], kind: ValueKind
    ) -> NDArray[np.float64]:
        """How far apart pairs of values are in the unit of their kind; not a number for texts.

        Numbers: the difference as a share of the larger one. Dates: days. Coordinates:
        kilometres. Long texts: one less the cosine of their rare words.
        """
        if kind == "number":
            one, other = self._numbers[left], self._numbers[right]
            largest = np.maximum(np.abs(one), np.abs(other))
            return np.asarray(np.abs(one - other) / np.where(largest == 0, 1.0, largest))
        if kind == "date":
            one, other = self._days[left], self._days[right]
            gaps = np.stack([one[:, 0] - other[:, 1], other[:, 0] - one[:, 1]])
            return np.asarray(np.maximum(gaps.max(axis=0), 0.0))
        if kind == "point":
            return _kilometres(self._points[left], self._points[right])
        if kind == "long text":
            return np.asarray(1 - self._words.of(left, right).astype(np.float64))
        return np.full(len(left), np.nan)

    def levels(
        self,
        left: NDArray[np.integer],
        right: NDArray[np.integer],
        kind: ValueKind = "text",
    ) -> NDArray[np.uint8]:
        """How alike pairs of values are: EQUAL, CLOSE, NEAR, UNLIKE or FAR.

        Values that are not of this kind are compared as texts. A date is close to another that is
        spelled nearly alike, too.
        """
        if kind == "code":
            return np.where(left == right, EQUAL, UNLIKE).astype(np.uint8)
        distances = self.distances(left, right, kind)
        measured = ~np.isnan(distances)
        levels = np.full(len(left), FAR, dtype=np.uint8)
        limits = self.tuning.limits(kind)
        levels[measured] = CLOSE + np.searchsorted(limits, distances[measured])
        some = ~measured | (kind == "date")
        spelled = self._spelled_levels(left[some], right[some])
        levels[some] = np.where(
            measured[some], np.where(spelled == CLOSE, CLOSE, levels[some]), spelled
        )
        levels[left == right] = EQUAL
        return levels

    def _spelled_levels(
        self, left: NDArray[np.integer], right: NDArray[np.integer]
    ) -> NDArray[np.uint8]:
        """How alike pairs of values are as texts: EQUAL, CLOSE, NEAR or UNLIKE."""
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


def _day(year: int, month: int, day: int) -> int:
    """The number of a day; days that a month does not have count from its last one."""
    return datetime.date(year, month, 1).toordinal() + day - 1


def _kilometres(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """The distances of points on a sphere by the haversine formula."""
    (south, west), (north, east) = one.T, other.T
    half = np.sin((north - south) / 2) ** 2
    half = half + np.cos(south) * np.cos(north) * np.sin((east - west) / 2) ** 2
    kilometres: NDArray[np.float64] = 2 * EARTH * np.arcsin(np.sqrt(np.clip(half, 0.0, 1.0)))
    return kilometres

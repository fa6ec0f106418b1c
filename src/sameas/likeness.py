"""Values compared by kind: dates, numbers, identifiers and short strings, long texts."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

from sameas.features import folded

LONG = 40
"""Characters beyond which a text is compared by its words, not letter by letter."""
EQUAL, CLOSE, NEAR, UNLIKE, MISSING = range(5)
"""How alike two values are."""
CLOSE_AT, NEAR_AT = 0.8, 0.55

_MONTHS = {
    month: number
    for number, month in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1)
}
_DATES = (
    (re.compile(r"^(\d{4})-(\d\d?)-(\d\d?)(?:[T ].*)?Z?$"), (1, 2, 3)),
    (re.compile(r"^(\d{4})[/.](\d\d?)[/.](\d\d?)$"), (1, 2, 3)),
    (re.compile(r"^(\d\d?)[/.](\d\d?)[/.](\d{4})$"), (3, 2, 1)),
    (re.compile(r"^(\d{4})(\d\d)(\d\d)$"), (1, 2, 3)),
)
_WORDED = re.compile(r"^(?:\w{3,9},? )?(\w{3})\w* (\d\d?)(?:,| \S+ \S+)? (\d{4})$")
_WORDED_BACK = re.compile(r"^(\d\d?)\.? (\w{3})\w*,? (\d{4})$")
_NUMBER = re.compile(r"^[+-]?(?:\d+(?:[ ,]\d{3})*|\d+)(?:[.,]\d+)?(?:[eE][+-]?\d+)?$")


def canonical(values: pl.Series) -> pl.Series:
    """Each value in the form in which equal ones are equal: dates, numbers, bare letters.

    >>> canonical(pl.Series(["20 Jun 2016", "2016-06-20", "415/777-9779", "012.50", "A  b."])).to_list()
    ['20160620', '20160620', '4157779779', '12.5', 'a b']
    """
    plain = folded(values, numbers=False)
    return pl.Series([_canonical(raw, bare) for raw, bare in zip(values.to_list(), plain.to_list(), strict=True)], dtype=pl.String)


def _canonical(raw: str, bare: str) -> str:
    text = raw.strip()
    if not any(letter.isdigit() for letter in text):
        return bare
    for pattern, order in _DATES:
        if found := pattern.match(text):
            year, month, day = (int(found[place]) for place in order)
            if 1 <= month <= 12 and 1 <= day <= 31 and 1000 <= year <= 2999:
                return f"{year:04d}{month:02d}{day:02d}"
    if found := _WORDED.match(text):
        if found[1].lower() in _MONTHS:
            return f"{int(found[3]):04d}{_MONTHS[found[1].lower()]:02d}{int(found[2]):02d}"
    if found := _WORDED_BACK.match(text):
        if found[2].lower() in _MONTHS:
            return f"{int(found[3]):04d}{_MONTHS[found[2].lower()]:02d}{int(found[1]):02d}"
    if _NUMBER.match(text):
        number = text.replace(" ", "").replace(",", "." if text.count(",") == 1 and "." not in text and not re.search(r",\d{3}$", text) else "")
        return f"{float(number):.12g}" if "." in number or "e" in number.lower() else number.lstrip("+0") or "0"
    letters = sum(letter.isalpha() for letter in text)
    digits = sum(letter.isdigit() for letter in text)
    if digits >= letters or (digits and " " not in text.strip()):  # identifiers, phone numbers
        return re.sub(r"[^a-z0-9]", "", bare)
    return bare


def encoded(texts: pl.Series) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The ASCII letters of all texts one after the other, and where each starts."""
    parts = [text.encode("ascii", "replace")[:LONG] for text in texts.to_list()]
    starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    return np.frombuffer(b"".join(parts) or b"\0", dtype=np.uint8), starts


def _similarities(
    letters: Any, starts: Any, others: Any, other_starts: Any, left: Any, right: Any, out: Any
) -> None:
    """1 - edits / length of pairs of texts; an edit inserts, drops, changes or swaps letters."""
    table = np.zeros((3, 64), dtype=np.int64)
    for pair in range(len(left)):
        a, a_end = starts[left[pair]], starts[left[pair] + 1]
        b, b_end = other_starts[right[pair]], other_starts[right[pair] + 1]
        n, m = a_end - a, b_end - b
        if n == 0 or m == 0:
            out[pair] = 0.0
            continue
        for j in range(m + 1):
            table[0, j] = j
        for i in range(1, n + 1):
            now, before, earlier = i % 3, (i - 1) % 3, (i - 2) % 3
            table[now, 0] = i
            for j in range(1, m + 1):
                same = letters[a + i - 1] == others[b + j - 1]
                best = table[before, j - 1] + (0 if same else 1)
                best = min(best, table[before, j] + 1, table[now, j - 1] + 1)
                if i > 1 and j > 1 and letters[a + i - 1] == others[b + j - 2] and letters[a + i - 2] == others[b + j - 1]:
                    best = min(best, table[earlier, j - 2] + 1)
                table[now, j] = best
        out[pair] = 1.0 - table[n % 3, m] / max(n, m)


similarities = njit(cache=True, nogil=True)(_similarities)

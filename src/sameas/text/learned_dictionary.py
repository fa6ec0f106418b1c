"""A dictionary learnt from links: which letters of a left name stand for which of a right one.

Names that are known to mean the same are read as IBM model 1 reads sentences and their
translations: each trigram of the right name was written for one of the n-grams of the left name,
and which one becomes clear from the other pairs. A left name is then the sum of what its n-grams
are likely to be written as. No knowledge of any language is needed.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from sameas.compute.arrays import Positions, Sparse, Vector
from sameas.compute.parallel import slices
from sameas.compute.rows import Rows, as_rows, side_by_side, unit
from sameas.options.tuning import TUNING, DictionaryTuning
from sameas.text.folding import folded
from sameas.text.ngrams import ngram_rows

BLOCK = 20_000
"""Links whose n-grams are paired at once."""


def dictionary_rows(
    left: pl.Series,
    right: pl.Series,
    links: tuple[Positions, Positions],
    *,
    tuning: DictionaryTuning = TUNING.dictionary,
) -> tuple[Rows, Rows]:
    """Unit rows of the left names, translated, and of the right names; in one space.

    ``links`` are positions of names that mean the same. No name is translated with what was
    learnt from its own link: each half of the left names uses the links of the other half. The
    rows of left names are as long as the share of their letters that is translated, so that a
    name of which only the usual part is known is like no other.
    """
    written = ngram_rows(folded(right), n=3, boundaries=True, rarity=True)
    counts = [ngram_rows(left, n=n) for n in range(1, tuning.longest + 1)]
    letters, wanted = _present(side_by_side(*counts).sparse), _present(written.sparse)
    single = letters[:, : counts[0].sparse.shape[1]]
    translated = csr_array((len(left), wanted.shape[1]), dtype=np.float32)
    shares = np.zeros(len(left))
    rarity = np.log(max(len(right), 2) / np.maximum(wanted.sum(axis=0), 1)).astype(np.float32)
    for half in (0, 1):
        others = np.flatnonzero(links[0] % 2 != half)
        count = min(len(others), tuning.most_links)
        others = others[np.linspace(0, len(others) - 1, count).astype(int)]
        known = letters[links[0][others]], wanted[links[1][others]]
        dictionary = learn_dictionary(*known, tuning=tuning)
        of_half = np.arange(len(left)) % 2 == half
        rows = diags_array(of_half.astype(np.float32)) @ letters
        translated = csr_array(translated + rows @ dictionary)
        shares[of_half] = _translated_shares(single, dictionary)[of_half]
    rows = unit(as_rows(csr_array(translated @ diags_array(rarity))))
    return rows.scaled(shares), written


def _translated_shares(letters: Sparse, dictionary: Sparse) -> Vector:
    """The share of each name that a dictionary translates: of its letters, by their rarity.

    Like a cosine, it is a share of lengths: the root of the share of squares.
    """
    count, size = letters.shape[1], letters.shape[0]
    squares = np.log(max(size, 2) / np.maximum(letters.sum(axis=0), 1)) ** 2
    known = np.minimum(dictionary[:count].sum(axis=1), 1.0)
    whole = letters @ squares
    shares = np.divide(letters @ (squares * known), whole, out=np.zeros(size), where=whole > 0)
    return np.asarray(np.sqrt(shares))


def learn_dictionary(
    left: Sparse,
    right: Sparse,
    *,
    tuning: DictionaryTuning = TUNING.dictionary,
    block: int = BLOCK,
) -> Sparse:
    """How likely each left n-gram is written as each right one; shape (left, right columns).

    Row i of both sides are the n-grams of two names that mean the same, each present or not.
    """
    shape = left.shape[1], right.shape[1]
    often = np.bincount(left.indices, minlength=shape[0]) >= tuning.seen
    left = csr_array(left @ diags_array(often.astype(np.float32)))
    left.eliminate_zeros()
    parts = list(slices(left.shape[0], block))
    met = [_meetings(left[part], right[part], right.indptr[part.start]) for part in parts]
    if not met:
        return csr_array(shape, dtype=np.float32)
    keys, written = (np.concatenate(column) for column in zip(*met, strict=True))
    distinct, entry = np.unique(keys, return_inverse=True)
    sources, targets = np.divmod(distinct, shape[1])
    likely: NDArray[np.float64] = np.ones(len(distinct))
    for _ in range(tuning.steps):
        likely /= np.bincount(sources, likely, minlength=shape[0])[sources]
        shares: NDArray[np.float64] = likely[entry]
        shares /= np.bincount(written, shares)[written]
        likely = np.bincount(entry, shares, minlength=len(distinct)).astype(np.float64)
    likely /= np.bincount(sources, likely, minlength=shape[0])[sources]
    kept = likely >= tuning.least
    values = likely[kept].astype(np.float32)
    return csr_array((values, (sources[kept], targets[kept])), shape=shape)


def _meetings(left: Sparse, right: Sparse, start: int) -> tuple[Positions, Positions]:
    """Every left n-gram with every right one of the same row: the numbers of both as one number,
    and the entry of the right one, counted from ``start``."""
    ours, theirs = np.diff(left.indptr), np.diff(right.indptr)
    row = np.repeat(np.arange(left.shape[0]), ours * theirs)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(ours * theirs) - ours * theirs, ours * theirs)
    one, other = nth // theirs[row], nth % theirs[row]
    sources = left.indices[left.indptr[row] + one].astype(np.int64)
    indices = right.indptr[row] + other
    return sources * right.shape[1] + right.indices[indices], indices.astype(np.int64) + start


def _present(counts: Sparse) -> Sparse:
    """One wherever there is an entry."""
    ones: NDArray[np.float32] = np.ones(counts.nnz, dtype=np.float32)
    return csr_array((ones, counts.indices, counts.indptr), shape=counts.shape)

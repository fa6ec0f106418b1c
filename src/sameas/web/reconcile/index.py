"""Names of entities as an inverted index in memory: which entities a text may mean.

A text is compared with all names of an entity by the trigrams of both, as spelled and as they
sound; rare trigrams weigh more. The best name counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from sameas.compute.arrays import Mask, Matrix, Positions, Sparse
from sameas.compute.kernels.topk import Best, Owners, SparseRows, best_owners
from sameas.compute.rows import arrays_of
from sameas.graph.matched import MatchedGraph
from sameas.options.tuning import TUNING, SearchTuning
from sameas.similarity.several_names import name_table
from sameas.text.folding import few_texts, fold_text, folded, sound_text, sounded
from sameas.text.ngrams import Trigrams, trigrams_of_all

HALF = np.float32(np.sqrt(0.5))
"""The weight of names as spelled, and as they sound."""
LARGEST = "\U0010ffff"
"""A letter that comes after all others."""


@dataclass(frozen=True, eq=False)
class NameIndex:
    """All names of a graph's entities, to be searched."""

    owners: NDArray[np.int32]
    """The entity that each name belongs to."""
    entities: int
    trigrams: tuple[Trigrams, Trigrams]
    """Of names as spelled, and as they sound."""
    postings: SparseRows
    """For each trigram the names that have it, as the arrays of a CSC matrix."""
    ordered: pl.Series
    """The names in the order of their spelling."""
    places: Positions
    """Where each of these is among the names."""

    @property
    def named(self) -> int:
        """How many entities have a name."""
        return len(np.unique(self.owners))

    def rows(self, texts: pl.Series) -> Sparse:
        """Unit rows of texts; products with names are cosines."""
        return _rows(folded(texts), self.trigrams)

    def best(self, rows: Sparse, k: int, allowed: Mask | None = None) -> tuple[Matrix, Positions]:
        """The k entities most similar to each row: cosines and positions, -1 where there are fewer.

        Both have shape (rows, k), the best first. Only ``allowed`` entities count.
        """
        if allowed is None:
            allowed = np.ones(self.entities, dtype=np.bool_)
        lines = rows.shape[0]
        best = Best(
            np.zeros(lines, dtype=np.float32),
            np.zeros((lines, k), dtype=np.float32),
            np.full((lines, k), -1, dtype=np.int32),
        )
        owners = Owners(
            *(self.owners, allowed),
            np.zeros(len(self.owners), dtype=np.float32),
            np.empty(len(self.owners), dtype=np.int32),
            np.zeros(self.entities, dtype=np.float32),
            np.empty(self.entities, dtype=np.int32),
        )
        best_owners(SparseRows(*arrays_of(rows)), self.postings, owners, best)
        order = np.lexsort((best.partners, -best.worth))
        cosines, entities = (np.take_along_axis(each, order, axis=1) for each in best[1:])
        return np.minimum(cosines, 1), entities.astype(np.int64)

    def starting(self, text: str, most: int) -> Positions:
        """Entities with a name that starts with a text, shorter names first, at most so many."""
        beginning = fold_text(text)
        first, last = (self.ordered.search_sorted(end) for end in (beginning, beginning + LARGEST))
        part = slice(int(first), min(int(last), int(first) + most))
        rows, lengths = self.places[part], self.ordered[part].str.len_chars().to_numpy()
        owners = self.owners[rows[np.argsort(lengths, kind="stable")]]
        return owners[np.sort(np.unique(owners, return_index=True)[1])].astype(np.int64)


def index_names(graph: MatchedGraph, *, tuning: SearchTuning = TUNING.search) -> NameIndex:
    """The index of the names of all entities that may be linked."""
    names, starts = name_table(graph, graph, tuning=tuning)
    owners = np.repeat(np.arange(len(graph.entities), dtype=np.int32), np.diff(starts))
    if len(graph.linkable) < len(graph.entities):
        kept = np.isin(owners, graph.linkable)
        names, owners = names.filter(kept), owners[kept]
    spelled = folded(names)
    trigrams = trigrams_of_all(spelled), trigrams_of_all(sounded(spelled))
    columns, order = _rows(spelled, trigrams).tocsc(), spelled.arg_sort()
    return NameIndex(
        owners,
        len(graph.entities),
        trigrams,
        SparseRows(*arrays_of(columns)),
        spelled.gather(order),
        order.to_numpy().astype(np.int64),
    )


def _rows(spelled: pl.Series, trigrams: tuple[Trigrams, Trigrams]) -> Sparse:
    # Not scaled to length one: what a text has that no name has makes it shorter.
    if (texts := few_texts(spelled)) is not None:
        return _few_rows(texts, trigrams)
    spellings = spelled, sounded(spelled)
    parts = [each.rows(texts) for each, texts in zip(trigrams, spellings, strict=True)]
    return csr_array(hstack(parts, format="csr") * HALF)


def _few_rows(spelled: list[str], trigrams: tuple[Trigrams, Trigrams]) -> Sparse:
    """The same for a few texts, without the matrices in between."""
    by_spelling, by_sound = trigrams
    width = len(by_spelling.numbers)
    columns, values, ends = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.float32)], [0]
    for text in spelled:
        letters, letter_values = by_spelling.entries(text)
        sounds, sound_values = by_sound.entries(sound_text(text))
        columns += [letters, sounds + width]
        values += [letter_values, sound_values]
        ends.append(ends[-1] + len(letters) + len(sounds))
    arrays = np.concatenate(values) * HALF, np.concatenate(columns), np.array(ends)
    return csr_array(arrays, shape=(len(spelled), width + len(by_sound.numbers)))

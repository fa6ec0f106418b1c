"""Terms: texts that come again and again, each kept once and named by a number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

Codes: TypeAlias = NDArray[np.uint32]

UNCHECKED, IRI, BLANK, WRONG = range(4)
"""What is known of a term."""


@dataclass
class Terms:
    """RDF terms by number: ``<iri>`` and ``_:label``, as N-Triples writes them.

    >>> terms = Terms()
    >>> codes = terms.codes(pl.Series(["<x:a>", "<x:b>", "<x:a>"]))
    >>> bool(codes[0] == codes[2]), terms.texts(codes[1:]).to_list()
    (True, ['<x:b>', '<x:a>'])
    """

    states: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(1024, dtype=np.uint8))
    """What is known of each term, by number."""
    _kind: pl.Categorical = field(default_factory=lambda: pl.Categorical(pl.Categories.random()))
    _alive: pl.Series | None = None
    """Keeps the numbering: it is forgotten when there is no column left that has it."""
    _seen: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(1024, dtype=np.bool_))
    _new: list[tuple[Codes, pl.Series]] = field(default_factory=list)
    """The texts, in pieces as they came, with their numbers."""
    _texts: pl.Series | None = None
    _places: NDArray[np.int64] | None = None

    def codes(self, texts: pl.Series) -> Codes:
        """The number of each text."""
        column = texts.cast(self._kind)
        if self._alive is None:
            self._alive = column
        codes: Codes = column.to_physical().to_numpy()
        top = int(codes.max()) + 1 if len(codes) else 0
        if top > len(self._seen):
            size = max(top, 2 * len(self._seen))
            self._seen = np.pad(self._seen, (0, size - len(self._seen)))
            self.states = np.pad(self.states, (0, size - len(self.states)))
        unseen = np.flatnonzero(~self._seen[codes])
        if len(unseen):
            fresh, first = np.unique(codes[unseen], return_index=True)
            self._new.append((fresh, texts.gather(unseen[first])))
            self._seen[fresh] = True
            self._texts = None
        return codes

    def code(self, text: str) -> int:
        """The number of one text."""
        return int(self.codes(pl.Series([text]))[0])

    def texts(self, codes: NDArray[np.integer[Any]]) -> pl.Series:
        """The text of each number."""
        if self._texts is None or self._places is None:
            self._texts = pl.concat([texts for _, texts in self._new], rechunk=True)
            self._places = np.zeros(len(self._seen), dtype=np.int64)
            known = np.concatenate([fresh for fresh, _ in self._new])
            self._places[known] = np.arange(len(known))
            self._new = [(known, self._texts)]
        return self._texts.gather(self._places[codes])

    def __len__(self) -> int:
        """One more than the largest number."""
        return len(self._seen)

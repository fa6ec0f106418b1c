"""Similarity: what everything that gives a number for a pair of entities has in common."""

from __future__ import annotations

from typing import Protocol

from sameas.compute.arrays import Matrix, Numbers, Positions, Progress
from sameas.compute.rows import Rows


class Similarity(Protocol):
    """A number for each pair of a left and a right entity, computed when it is asked for.

    The number of a pair does not depend on which other pairs are asked for.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """The number of left and of right entities."""
        ...

    def of(self, left: Numbers, right: Numbers) -> Matrix:
        """The numbers of the pairs (left[0], right[0]), (left[1], right[1]), ..."""
        ...

    def partners(
        self, starts: Positions, right: Numbers, progress: Progress | None = None
    ) -> Matrix:
        """The numbers of left entity i with right[starts[i]:starts[i + 1]], for every i."""
        ...


class Searchable(Similarity, Protocol):
    """A similarity whose pairs of large numbers can be found: it has rows with these products."""

    def rows(self, side: int, which: Positions | slice) -> Rows:
        """Rows of a side (0: left, 1: right) whose products are the numbers, or near them."""
        ...

"""The assignment of largest total profit, exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from sameas.graph import Positions


def hungarian(profit: NDArray[np.floating]) -> tuple[Positions, Positions]:
    """The one-to-one pairs of largest total profit, as left and right positions, left ascending.

    Every entity of the smaller side is in a pair. Jonker and Volgenant's algorithm on the whole
    matrix, of which it takes a copy in float64.
    """
    # Costs instead of profits: asked to maximise, SciPy would take a second copy.
    left, right = linear_sum_assignment(np.negative(profit, dtype=np.float64))
    return left.astype("int64"), right.astype("int64")

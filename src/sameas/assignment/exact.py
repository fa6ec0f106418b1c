"""The assignment of largest total profit, exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from sameas.assignment.sinkhorn import Plan
from sameas.graph import Positions


def hungarian(
    profit: NDArray[np.floating], plan: Plan | None = None
) -> tuple[Positions, Positions]:
    """The one-to-one pairs of largest total profit, as left and right positions, left ascending.

    Every entity of the smaller side is in a pair. Jonker and Volgenant's algorithm on the whole
    matrix, of which it takes a copy in float64. A plan makes it several times faster and
    changes nothing: its potentials, taken off the profit, leave few conflicts to resolve.
    """
    # Costs instead of profits: asked to maximise, SciPy would take a second copy.
    costs = np.negative(profit, dtype=np.float64)
    if plan is not None:
        # A number added to a whole row or column is paid whoever gets it, provided that all
        # rows, or all columns, are in a pair.
        if profit.shape[0] <= profit.shape[1]:
            costs += plan.left[:, None]
        if profit.shape[0] >= profit.shape[1]:
            costs += plan.right
    left, right = linear_sum_assignment(costs)
    return left.astype("int64"), right.astype("int64")

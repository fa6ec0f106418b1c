"""Types of arrays and callbacks that the whole package shares."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Positions: TypeAlias = NDArray[np.int64]
"""Positions of entities in their graph, or of pairs among pairs."""
Indices: TypeAlias = NDArray[np.int32]
"""Positions in half the memory."""
Numbers: TypeAlias = NDArray[np.integer]
"""Whole numbers of any size."""
Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float32]
Mask: TypeAlias = NDArray[np.bool_]
Sparse: TypeAlias = csr_array
Progress: TypeAlias = Callable[[float], None]
"""Is told the share of the work that is done."""

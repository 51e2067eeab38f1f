"""Whether two numbers of many runs go together."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def correlation(one: ArrayLike, other: ArrayLike) -> float | None:
    """Pearson's r; None with fewer than three pairs, or where one of the two never changes."""
    a, b = np.asarray(one, np.float64), np.asarray(other, np.float64)
    if len(a) < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return None
    return float(np.corrcoef(a, b)[0, 1])

"""The hour of the week in which jobs were submitted."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

HOUR = 3600.0
WEEK = 168  # hours
_MONDAY = datetime(2024, 1, 1, tzinfo=UTC)  # any Monday, midnight


def hour_of_week(submit: NDArray[np.float64], origin: datetime | None) -> NDArray[np.int64]:
    """From 0, the hour after midnight on Monday (UTC). Where no date is known, second 0 counts as that midnight."""
    shift = 0.0 if origin is None else (origin - _MONDAY).total_seconds()
    return (np.floor((submit + shift) / HOUR) % WEEK).astype(np.int64)

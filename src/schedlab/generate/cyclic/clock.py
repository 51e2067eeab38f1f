"""A clock that runs fast in busy half-hours: turns an even stream of submissions into one with a daily cycle.

This is the method of Lublin and Feitelson: each half-hour has a weight, a gap is paid for with the weights of the
half-hours that it passes. Paying is a walk along one increasing curve, so all gaps can be paid at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import numpy as np
from numpy.typing import NDArray

from schedlab.generate.base import ORIGIN

DAY = 86_400.0
SLOTS = 48
SLOT = DAY / SLOTS
FIRST_DAY = ORIGIN.date()

Times = NDArray[np.float64]


class SlotClock:
    """Weights of the 48 half-hours, of the weekdays from Monday and of the months from January; only ratios matter.

    "Even" seconds pass at the average rate: on average a day has 86,400 of them. Second 0 is the midnight at which
    `first_day` begins.
    """

    def __init__(
        self,
        half_hours: Sequence[float] | Times,
        weekdays: Sequence[float] | Times = (1.0,) * 7,
        months: Sequence[float] | Times = (1.0,) * 12,
        first_day: date = FIRST_DAY,
    ) -> None:
        self._edges = np.arange(SLOTS + 1) * SLOT
        self._even_edges = np.concatenate([[0.0], np.cumsum(_mean_one(half_hours))]) * SLOT
        self._weekdays, self._months = _mean_one(weekdays), _mean_one(months)
        self._first_day = np.datetime64(first_day, "D")
        self._factor = np.empty(0)  # even seconds in a second of each day
        self._begin = np.zeros(1)  # even seconds at the beginning of each day

    def time(self, even: Times) -> Times:
        """When so many even seconds have passed."""
        while not self._begin[-1] > even.max(initial=0.0):
            self._extend(2 * len(self._begin) + 400)
        day = np.searchsorted(self._begin, even, side="right") - 1
        within = (even - self._begin[day]) / self._factor[day]
        time: Times = DAY * day + np.interp(within, self._even_edges, self._edges)
        return time

    def even(self, time: Times) -> Times:
        """How many even seconds have passed at these times."""
        day = np.floor_divide(time, DAY).astype(np.int64)
        self._extend(int(day.max(initial=0)) + 1)
        within = np.interp(time - DAY * day, self._edges, self._even_edges)
        return self._begin[day] + self._factor[day] * within

    def _extend(self, days: int) -> None:
        if days < len(self._begin):
            return
        _, weekday, month = calendar(self._first_day, np.arange(days) * SLOTS)
        self._factor = self._weekdays[weekday] * self._months[month]
        self._begin = np.concatenate([[0.0], np.cumsum(self._factor * DAY)])


def calendar(first_day: np.datetime64, cells: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """Half-hour of the day, weekday and month, all from 0, of so many half-hours after the midnight of `first_day`."""
    day, slot = np.divmod(cells, SLOTS)
    dates = first_day + day.astype("timedelta64[D]")
    weekday = (dates.astype(np.int64) + 3) % 7  # day 0 of the epoch was a Thursday
    month = dates.astype("datetime64[M]").astype(np.int64) % 12
    return slot, weekday, month


def _mean_one(weights: Sequence[float] | Times) -> Times:
    values = np.asarray(weights, np.float64)
    return values / float(values.mean())

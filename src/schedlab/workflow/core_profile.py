"""How many of some identical cores are free from when to when, and the earliest place for a task."""

from __future__ import annotations

import numpy as np

_CHUNK = 512  # steps that are looked at together


class CoreProfile:
    """Steps: from a time on, so many cores are free. Neighbours differ, so that a long full stretch is one step; all
    cores are free in the last."""

    def __init__(self, cores: int) -> None:
        self._steps = 1
        self._times = np.zeros(64)
        self._free = np.full(64, cores, np.int64)
        self._first: dict[int, float] = {}  # by width: before this time there never are so many (again)

    def take(self, ready: float, cores: int, seconds: float) -> float:
        """The earliest begin at `ready` or later at which the cores are free for so long; they are taken."""
        if seconds <= 0:
            return ready
        begin = self._earliest(ready, cores, seconds)
        first, last = self._cut(begin), self._cut(begin + seconds)
        self._free[first:last] -= cores
        for step in (last, first):
            if step and self._free[step] == self._free[step - 1]:
                self._move(step + 1, step)
        return begin

    def _earliest(self, ready: float, cores: int, seconds: float) -> float:
        hint = self._first.get(cores, 0.0)
        begin = max(ready, hint)
        step = self._step_of(begin)
        while step < self._steps:
            last = min(step + _CHUNK, self._steps)
            blocked = step + np.flatnonzero(self._free[step:last] < cores)
            if len(blocked):
                ends = self._times[blocked]
                begins = np.concatenate(([begin], self._times[blocked[:-1] + 1]))
                long_enough = ends >= begins + seconds
                if long_enough.any():
                    return float(begins[long_enough.argmax()])
                if begin == hint and ends[0] <= begin:  # nothing is free where it was hoped for
                    hint = self._first[cores] = float(self._times[self._end_of_run(blocked)])
                begin = float(self._times[blocked[-1] + 1])
            elif last < self._steps and self._times[last] >= begin + seconds:
                break
            step = last
        return begin

    @staticmethod
    def _end_of_run(blocked: np.ndarray) -> int:
        """The step after the first of these that is not followed by the next."""
        breaks = np.flatnonzero(np.diff(blocked) > 1)
        return int(blocked[breaks[0] if len(breaks) else -1]) + 1

    def _step_of(self, time: float) -> int:
        return int(np.searchsorted(self._times[: self._steps], time, "right")) - 1

    def _cut(self, time: float) -> int:
        """The step that begins at this time; made if there is none."""
        step = self._step_of(time)
        if self._times[step] == time:
            return step
        self._move(step + 1, step + 2)
        self._times[step + 1] = time
        self._free[step + 1] = self._free[step]
        return step + 1

    def _move(self, first: int, to: int) -> None:
        """The steps from `first` on begin at another place."""
        steps = self._steps + to - first
        if steps >= len(self._times):
            self._times = np.concatenate((self._times, np.zeros_like(self._times)))
            self._free = np.concatenate((self._free, np.zeros_like(self._free)))
        for column in (self._times, self._free):
            column[to:steps] = column[first : self._steps].copy()
        self._steps = steps

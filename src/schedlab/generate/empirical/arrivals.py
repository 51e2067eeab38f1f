"""When jobs come: times between submissions by the hour of the week, so that the cycle and the bursts stay."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.week import HOUR, WEEK, hour_of_week
from schedlab.generate.empirical.copula import (
    KEEP,
    autocorrelated_normals,
    centred_ranks,
    fit_autocorrelation,
    uniform_ranks,
)
from schedlab.generate.empirical.histogram import REMEDY, Histograms, Numbers, column
from schedlab.generate.empirical.hour_groups import calibrated, gaps_by_hour, passing, similar_hours
from schedlab.model.errors import InputError

RESOLUTION = 1.0


@dataclass(frozen=True)
class Arrivals:
    """Histograms of the time to the next submission: for each group of hours, and apart for a job that repeats the one
    before and for one that does not. Class of the histograms: twice the group, and one more for a repeating job."""

    group: NDArray[np.int64]  # of each hour of the week, from Monday midnight
    gaps: Histograms
    autocorrelation: tuple[float, ...]  # of the gaps: the weights of `autocorrelated_normals`

    @classmethod
    def fit(cls, submit: Numbers, repeats: NDArray[np.bool_], origin: datetime | None, *, cycle: bool) -> Self:
        """Of sorted submit times. The hour of a gap is that in which it begins. Without `cycle` there is one group."""
        gaps = np.diff(submit)
        hours = hour_of_week(submit[:-1], origin)
        seen = gaps_by_hour(hours, float(gaps.sum()) if cycle else 0.0)
        rank = np.argsort(np.argsort(seen, kind="stable"), kind="stable")
        group = similar_hours(seen)[rank]
        groups = int(group.max()) + 1
        classes = 2 * group[hours] + repeats[1:]
        parts: list[Numbers] = []
        for one in range(groups):
            inside = gaps[group[hours] == one]
            if not np.any(inside > 0):  # time would never pass here
                parts += [gaps, gaps]
                continue
            both = gaps[classes == 2 * one], gaps[classes == 2 * one + 1]
            parts += [part if len(part) else inside for part in both]
        fitted = Histograms.fit(
            np.concatenate(parts),
            np.repeat(np.arange(2 * groups), [len(part) for part in parts]),
            number=2 * groups,
            resolution=RESOLUTION,
            step=RESOLUTION,
        )
        weights = fit_autocorrelation(centred_ranks(gaps, classes)) if cycle else (0.0,) * len(KEEP)
        if groups > 1:
            number = np.bincount(group[hours], minlength=groups)
            repeating = np.bincount(group[hours], repeats[1:], minlength=groups) / np.maximum(number, 1)
            group = calibrated(np.bincount(group), number / len(gaps), passing(fitted, repeating), rank)
        return cls(group, fitted, weights)

    def places(self, random: np.random.Generator, repeats: NDArray[np.bool_]) -> Numbers:
        """Where in the histograms the gaps before jobs lie."""
        if not any(self.autocorrelation):
            return random.random(len(repeats))
        return uniform_ranks(random, autocorrelated_normals(random, len(repeats), self.autocorrelation), repeats)

    @property
    def groups(self) -> int:
        return len(self.gaps) // 2

    @property
    def endless(self) -> bool:
        """Whether all jobs come at once, so that no time ever passes."""
        return not bool(np.any(self.gaps.high > 0))

    def times(self, start: float, where: Numbers, repeats: NDArray[np.bool_], *, mid: bool) -> Numbers:
        """Submit times of jobs after `start`, from places (0 to 1) in the histograms."""
        upto = [
            np.concatenate([[0.0], np.cumsum(self.gaps.draw(where, 2 * group + repeats, mid=mid))])
            for group in range(self.groups)
        ]
        if self.groups == 1:
            return start + upto[0][1:]
        jobs, done, now = len(where), 0, start
        times = np.empty(jobs)
        until, group = self._until.tolist(), self.group.tolist()
        while done < jobs:
            hour = int(now // HOUR)
            of = upto[group[hour % WEEK]]
            change = (hour + until[hour % WEEK]) * HOUR
            # All jobs up to the first one that comes when the hours of this group are over.
            end = min(int(np.searchsorted(of, of[done] + (change - now), side="left")), jobs)
            times[done:end] = of[done + 1 : end + 1] + (now - of[done])
            now, done = float(times[end - 1]), end
        return times

    @cached_property
    def _until(self) -> NDArray[np.int64]:
        """Hours from each one on to the next that belongs to another group."""
        twice = np.concatenate([self.group, self.group])
        ends = np.append(np.flatnonzero(np.diff(twice)) + 1, 2 * WEEK)
        return ends[np.searchsorted(ends, np.arange(WEEK), side="right")] - np.arange(WEEK)

    def to_dict(self) -> dict[str, Any]:
        return {
            "hour_groups": self.group.tolist(),
            "gaps": self.gaps.to_dict(),
            "autocorrelation": list(self.autocorrelation),
        }

    @classmethod
    def from_dict(cls, data: Any, where: str) -> Self:
        group, weights = column(data, "hour_groups", where).astype(np.int64), column(data, "autocorrelation", where)
        if len(group) != WEEK or group.min() < 0:
            raise InputError(f"hour_groups needs {WEEK} numbers from 0 up", where=where, hint=REMEDY)
        if len(weights) != len(KEEP) or weights.min() < 0 or weights.sum() > 1:
            hint = "they are shares of the whole"
            raise InputError(
                f"autocorrelation needs {len(KEEP)} numbers from 0 up, together at most 1", where=where, hint=hint
            )
        gaps = Histograms.from_dict(data.get("gaps"), f"{where}, gaps", 2 * (int(group.max()) + 1))
        if gaps.low.min() < 0 or np.any(gaps.sizes() == 0):
            raise InputError("gaps has a negative time or an empty class", where=where, hint=REMEDY)
        return cls(group, gaps, tuple(weights.tolist()))

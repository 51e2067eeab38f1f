"""Jobs whose variables are drawn one by one: size, limit and accuracy know nothing of each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from schedlab.generate.base import BATCH
from schedlab.generate.empirical.histogram import REMEDY, Histograms
from schedlab.generate.empirical.joint import COMMON, LIMIT_RESOLUTION, whole_seconds
from schedlab.model.errors import InputError


@dataclass(frozen=True)
class Independent:
    """A histogram for each variable. The run time is the limit times the accuracy, so its own distribution is lost.

    No run time is longer than the longest of the log: a job that exceeded a limit of minutes a hundred times must not
    become one that exceeds a limit of days a hundred times.
    """

    histograms: dict[str, Histograms]  # COMMON, `limit`, `accuracy`
    longest: float

    @classmethod
    def fit(cls, jobs: dict[str, NDArray[Any]]) -> Self:
        found = {name: Histograms.fit(jobs[name], exact=True) for name in COMMON}
        found["limit"] = Histograms.fit(jobs["limit"], resolution=LIMIT_RESOLUTION, step=1.0)
        found["accuracy"] = Histograms.fit(jobs["runtime"] / jobs["limit"])
        return cls(found, float(jobs["runtime"].max()))

    def draw(self, random: np.random.Generator, *, mid: bool) -> Iterator[dict[str, NDArray[Any]]]:
        """Columns of jobs without submit times, for ever."""
        while True:
            found: dict[str, NDArray[Any]] = {
                name: histogram.draw(random.random(BATCH), mid=mid) for name, histogram in self.histograms.items()
            }
            found["runtime"] = whole_seconds(np.minimum(found.pop("accuracy") * found["limit"], self.longest))
            yield found | {"repeats": np.zeros(BATCH, np.bool_)}

    @property
    def largest_request(self) -> int:
        return int(self.histograms["request"].high.max())

    def to_dict(self) -> dict[str, Any]:
        histograms = {name: histogram.to_dict() for name, histogram in self.histograms.items()}
        return {**histograms, "longest": self.longest}

    @classmethod
    def from_dict(cls, data: dict[str, Any], where: str) -> Self:
        names = (*COMMON, "limit", "accuracy")
        found = {name: Histograms.from_dict(data.get(name), f"{where}, {name}", 1) for name in names}
        least = {"count": 1, "limit": 1, "accuracy": 0}
        for name, smallest in least.items():
            if np.any(found[name].low < smallest):
                low = found[name].low.min()
                raise InputError(f"{name} has {low:g}, expected at least {smallest}", where=where, hint=REMEDY)
        longest = data.get("longest", -1)
        if type(longest) not in (int, float) or not 0 <= longest < np.inf:
            raise InputError(f"longest is {longest!r}, expected seconds", where=where, hint=REMEDY)
        return cls(found, float(longest))

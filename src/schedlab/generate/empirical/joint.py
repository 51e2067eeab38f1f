"""Jobs whose variables belong together: sessions of one user's equal requests, and run times that follow from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from schedlab.generate.base import BATCH
from schedlab.generate.empirical.copula import centred_ranks, uniform_ranks
from schedlab.generate.empirical.histogram import REMEDY, Histograms, Numbers, column
from schedlab.generate.empirical.kinds import begins_session, correlation_in_sessions, largest_of, pools_of, row_numbers
from schedlab.model.errors import InputError

# What jobs of one kind have in common, beside the limit.
COMMON = ("user", "group", "queue", "partition", "request", "count")
LIMIT_RESOLUTION = 60.0
STAND_INS = 0.99  # share of the jobs with run time = limit from which on limits are no requests
SESSIONS, SETS = 1 << 13, 1 << 3  # drawn at a time, and in how many sets


@dataclass(frozen=True)
class Joint:
    """A session is a run of jobs of one kind: of one user, with the same size and limit. Kinds come by their share.

    Kinds that are too rare for histograms of their own share those of a pool. A pool has two histograms: of jobs that
    end before their limit, and of the seconds by which the others exceed it. The first is of run times where the limits
    in the pool are all the same, else of accuracies (run time / limit).
    """

    kinds: dict[str, NDArray[np.int64]]  # columns COMMON and `limit` (a bin of `limits`), `jobs`, `pool`
    limits: Histograms
    ratio: NDArray[np.bool_]  # of each pool: whether accuracies are drawn
    runtimes: Histograms  # two for each pool
    lengths: Histograms  # of sessions, in jobs, for each pool
    correlation: float  # of the ranks of run times within a session (in a pool)
    follows: bool  # whether limits are nothing but the run times: the log has none

    @classmethod
    def fit(cls, jobs: dict[str, NDArray[Any]]) -> tuple[Self, NDArray[np.bool_]]:
        """Of columns in submit order; also which jobs repeat the one before."""
        runtime, limit = jobs["runtime"], jobs["limit"]
        follows = bool(np.mean(runtime == limit) > STAND_INS)
        if follows:  # one limit for all that none of them reaches
            limit = np.full(len(limit), np.ceil(runtime.max()) + 1)
        limits = Histograms.fit(limit, resolution=LIMIT_RESOLUTION, step=1.0)
        columns = {**{name: jobs[name].astype(np.int64) for name in COMMON}, "limit": limits.bins(limit)}
        kind = row_numbers(*columns.values())
        _, first, number = np.unique(kind, return_index=True, return_counts=True)
        kinds = {name: values[first] for name, values in columns.items()} | {"jobs": number}
        low, high = limits.low[kinds["limit"]], limits.high[kinds["limit"]]
        kinds["pool"] = pools_of(kinds, low)
        ratio = largest_of(kinds["pool"], high) > -largest_of(kinds["pool"], -low)
        pool, over, begins = kinds["pool"][kind], runtime >= limit, begins_session(kind)
        value = np.where(over, runtime - limit, np.where(ratio[pool], runtime / limit, runtime))
        length = np.diff(np.append(np.flatnonzero(begins), len(kind)))
        fitted = cls(
            kinds=kinds,
            limits=limits,
            ratio=ratio,
            runtimes=Histograms.fit(value, 2 * pool + over, number=2 * len(ratio)),
            lengths=Histograms.fit(length, pool[begins], number=len(ratio), step=1.0),
            correlation=correlation_in_sessions(centred_ranks(runtime / limit, pool), begins),
            follows=follows,
        )
        return fitted, ~begins

    def draw(self, random: np.random.Generator, *, mid: bool) -> Iterator[dict[str, NDArray[Any]]]:
        """Columns of jobs without submit times, for ever; `repeats` says which ones continue a session."""
        while True:
            places = _spread_evenly(random)
            kind = np.minimum(np.searchsorted(self._upto, places, side="right"), len(self._upto) - 1)
            left = np.clip(1 - (self._upto[kind] - places) / self._shares[kind], 0.0, 1.0)
            length = self.lengths.draw(left, self.kinds["pool"][kind], mid=mid).astype(np.int64)
            limit = self._limits(kind, random, mid=mid)
            of_session = random.standard_normal(SESSIONS)
            end = np.cumsum(length)
            for start in range(0, int(end[-1]), BATCH):
                session = np.searchsorted(end, np.arange(start, min(start + BATCH, int(end[-1]))), side="right")
                found: dict[str, NDArray[Any]] = {name: self.kinds[name][kind[session]] for name in COMMON}
                found["limit"] = limit[session]
                before = np.searchsorted(end, start - 1, side="right") if start else -1
                found["repeats"] = np.diff(session, prepend=before) == 0
                found["runtime"] = self._runtimes(kind[session], of_session[session], found["limit"], random, mid=mid)
                if self.follows:
                    found["limit"] = np.maximum(found["runtime"], 1.0)
                yield found

    def _limits(self, kind: NDArray[np.int64], random: np.random.Generator, *, mid: bool) -> Numbers:
        bins = self.kinds["limit"][kind]
        low, high = self.limits.low[bins], self.limits.high[bins]
        inside = (0.5 if mid else random.random(len(kind))) * (high - low)
        return low + np.rint(inside / self.limits.step) * self.limits.step

    def _runtimes(
        self, kind: NDArray[np.int64], of_session: Numbers, limit: Numbers, random: np.random.Generator, *, mid: bool
    ) -> Numbers:
        pool = self.kinds["pool"][kind]
        order = np.sqrt(self.correlation) * of_session + np.sqrt(1 - self.correlation) * random.standard_normal(
            len(kind)
        )
        places, share = uniform_ranks(random, order, pool), self._in_time[pool]
        over = places >= share
        places = np.where(over, places - share, places) / np.where(over, 1 - share, share)
        drawn = self.runtimes.draw(places, 2 * pool + over, mid=mid)
        return whole_seconds(np.where(over, limit + drawn, np.where(self.ratio[pool], drawn * limit, drawn)))

    def to_dict(self) -> dict[str, Any]:
        return {
            "kinds": {name: values.tolist() for name, values in self.kinds.items()},
            "limits": self.limits.to_dict(),
            "ratio": self.ratio.astype(np.int64).tolist(),
            "runtimes": self.runtimes.to_dict(),
            "lengths": self.lengths.to_dict(),
            "correlation": self.correlation,
            "follows": self.follows,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], where: str) -> Self:
        names = (*COMMON, "limit", "jobs", "pool")
        kinds = {name: column(data.get("kinds"), name, f"{where}, kinds").astype(np.int64) for name in names}
        ratio, correlation = column(data, "ratio", where) > 0, data.get("correlation", -1)
        limits = Histograms.from_dict(data.get("limits"), f"{where}, limits", 1)
        wrong = (
            (len({len(values) for values in kinds.values()}) > 1, "the columns of kinds differ in length"),
            (bool(np.any((kinds["limit"] < 0) | (kinds["limit"] >= len(limits.low)))), "a limit of kinds is no bin"),
            (bool(np.any((kinds["pool"] < 0) | (kinds["pool"] >= len(ratio)))), "a pool of kinds is not there"),
            (bool(np.any((kinds["jobs"] < 1) | (kinds["count"] < 1))), "jobs or count of kinds is below 1"),
            (
                type(correlation) not in (int, float) or not 0 <= correlation <= 1,
                f"correlation is {correlation!r}, expected 0 to 1",
            ),
        )
        for found, message in wrong:
            if found:
                raise InputError(message, where=where, hint=REMEDY)
        runtimes = Histograms.from_dict(data.get("runtimes"), f"{where}, runtimes", 2 * len(ratio))
        lengths = Histograms.from_dict(data.get("lengths"), f"{where}, lengths", len(ratio))
        if np.any(lengths.sizes() == 0) or np.any(runtimes.sizes().reshape(-1, 2).sum(axis=1) == 0):
            raise InputError("a pool has no histogram", where=where, hint=REMEDY)
        if np.any(lengths.low < 1) or np.any(runtimes.low < 0) or np.any(limits.low <= 0):
            raise InputError("a duration or length is too small", where=where, hint=REMEDY)
        return cls(kinds, limits, ratio, runtimes, lengths, float(correlation), bool(data.get("follows")))

    @property
    def largest_request(self) -> int:
        return int(self.kinds["request"].max())

    @cached_property
    def _in_time(self) -> Numbers:
        """The share of jobs in each pool that end before their limit."""
        jobs = self.runtimes.sizes().reshape(-1, 2)
        share: Numbers = jobs[:, 0] / jobs.sum(axis=1)
        return share

    @cached_property
    def _shares(self) -> Numbers:
        """Of sessions: a kind with long ones needs fewer of them."""
        sessions: Numbers = self.kinds["jobs"] / self.lengths.means()[self.kinds["pool"]]
        return sessions / float(sessions.sum())

    @cached_property
    def _upto(self) -> Numbers:
        return np.cumsum(self._shares)


def _spread_evenly(random: np.random.Generator) -> Numbers:
    """Places from 0 to 1 for sessions, so that every kind comes as often as it should.

    There is one in each of as many equal parts as there are sessions, and each set of them, one after the other, has
    one in each of its own equal parts. Within a set the order is random.
    """
    size = SESSIONS // SETS
    fine = np.argsort(random.random((size, SETS)), axis=1)  # which set gets which fine part of a coarse one
    order = np.argsort(random.random((SETS, size)), axis=1)
    parts = order * SETS + fine[order, np.arange(SETS)[:, None]]
    return (parts.ravel() + random.random(SESSIONS)) / SESSIONS


def whole_seconds(runtime: Numbers) -> Numbers:
    """Rounded, but what takes time takes at least a second."""
    rounded: Numbers = np.where(runtime > 0, np.maximum(np.rint(runtime), 1.0), 0.0)
    return rounded

"""Observers and deciders that submit jobs while the others run, each at another point of the loop."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np

import schedlab as sl
from schedlab.engine.build import Native

FIRST_ID = 10**12
FIELDS = ("runtime", "count", "limit", "user", "group", "queue", "cancel")


class Jobs:
    """Jobs that are not in the log, in the order of their times."""

    def __init__(self, rows: Sequence[dict[str, Any]], requests: Sequence[sl.Request], seed: int) -> None:
        self._left, self._requests, self._random = list(rows), requests, Random(seed)

    @property
    def next(self) -> float | None:
        return self._left[0]["submit"] if self._left else None

    def submit(self, view: Any, until: float) -> None:
        """All up to then: one by one, or as columns."""
        due = [row for row in self._left if row["submit"] <= until]
        self._left = self._left[len(due) :]
        while due:
            some = due[: self._random.randint(1, 3)]
            due = due[len(some) :]
            if self._random.random() < 0.5:
                for row in some:
                    request = self._requests[row["request"]]
                    now = row["submit"] == view.now and self._random.random() < 0.5
                    at = {} if now else {"at": row["submit"]}
                    waits = {"predecessors": self._named(view, row["predecessors"]), "any": row["any"]}
                    view.submit(**{name: row[name] for name in FIELDS}, request=request, **at, **waits)
            else:
                columns = {name: np.array([row[name] for row in some]) for name in FIELDS}
                numbers = [view.request_number(self._requests[row["request"]]) for row in some]
                before = [self._named(view, row["predecessors"]) for row in some]
                waits = {"predecessors": before, "any": [row["any"] for row in some]}
                view.submit_many(**columns, request=numbers, at=[row["submit"] for row in some], **waits)

    def _named(self, view: Any, before: Sequence[sl.Predecessor]) -> list[Any]:
        """By their ids, or as the jobs themselves."""
        if not before or self._random.random() < 0.5:
            return [one.job if one == (one.job, 0, 0.0) else one for one in before]
        here = {job.id: job for job in (*view.queue, *view.held, *view.running)}
        return [one._replace(job=here.get(one.job, one.job)) for one in before]


class Ahead(sl.Observer):
    """All of them before anything happens."""

    def __init__(self, jobs: Jobs, times: Sequence[float]) -> None:
        self.jobs = jobs

    def begin(self, view: Any) -> None:
        self.jobs.submit(view, np.inf)


class Woken(sl.Observer):
    """Is woken at the times of the jobs."""

    def __init__(self, jobs: Jobs, times: Sequence[float]) -> None:
        self.jobs, self.times = jobs, sorted(set(times))

    def begin(self, view: Any) -> None:
        if self.times:
            view.wake_at(self.times[0])

    def go_on(self, view: Any) -> None:
        later = [time for time in self.times if time > view.now]
        if view.now in self.times and later:
            view.wake_at(later[0])

    def before(self, view: Any) -> None:
        self.go_on(view)

    def more_may_come(self, view: Any) -> bool:
        return any(time > view.now for time in self.times)


class Before(Woken):
    """Each when it is due, before the pass."""

    def before(self, view: Any) -> None:
        self.jobs.submit(view, view.now)
        self.go_on(view)


class After(Woken):
    """Each after the pass before it."""

    def begin(self, view: Any) -> None:
        super().begin(view)
        if self.times:
            self.jobs.submit(view, self.times[0])

    def after(self, view: Any) -> None:
        later = [time for time in self.times if time > view.now]
        if view.now in self.times and later:
            self.jobs.submit(view, later[0])


class Decider(sl.Policy):
    """A native policy that submits jobs for later, after it has decided."""

    def __init__(self, text: str, jobs: Jobs, times: Sequence[float]) -> None:
        self.native = Native(text)
        self.placement = self.native.placement
        self.exclusive = self.native.spec.exclusive
        self.jobs, self.times = jobs, sorted(set(times))

    def open(self, view: Any, next_event: Any) -> None:
        if self.times:
            view.wake_at(self.times[0])
            self.jobs.submit(view, self.times[0])

    def decide(self, view: Any, events: Any) -> None:
        self.native.decide(view)
        later = [time for time in self.times if time > view.now]
        if view.now in self.times and later:
            view.wake_at(later[0])
            self.jobs.submit(view, later[0])

    def recall(self, view: Any) -> None:
        self.native.recall(view)

    def more_may_come(self, view: Any) -> bool:
        return any(time > view.now for time in self.times)

"""Jobs that an observer in Python submits while the simulation runs, against the same jobs of a workload."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np

import schedlab as sl
from benchmarks import subject
from benchmarks.measure import Spent, call, interleaved, middle, process
from benchmarks.report import Line
from benchmarks.settings import ROOT, Settings
from benchmarks.workload import Columns, LogSpec, columns

DAY = 86_400.0
FIELDS = ("runtime", "count", "limit", "user")


class OneByOne(sl.Observer):
    """All before anything happens, one call for each job."""

    def __init__(self, jobs: Columns) -> None:
        self.jobs = jobs

    def begin(self, view: Any) -> None:
        submit, number = view.submit, view.request_number(None)
        rows = zip(*(self.jobs[name].tolist() for name in (*FIELDS, "submit")), strict=True)
        for runtime, count, limit, user, at in rows:
            submit(runtime, count, number, limit, at, user)


class AsColumns(OneByOne):
    """All before anything happens, in one call."""

    def begin(self, view: Any) -> None:
        view.submit_many(**{name: self.jobs[name] for name in FIELDS}, at=self.jobs["submit"])


class EachDay(OneByOne):
    """Those of a day when it begins, as columns: an observer that is woken then."""

    def begin(self, view: Any) -> None:
        self.next = float(self.jobs["submit"][0])
        self.ends = np.searchsorted(self.jobs["submit"], np.arange(self.next, self.jobs["submit"][-1] + DAY, DAY) + DAY)
        self.day = self.done = 0
        view.wake_at(self.next)

    def woken(self, view: Any) -> None:
        some = slice(self.done, self.ends[self.day])
        view.submit_many(**{name: self.jobs[name][some] for name in FIELDS}, at=self.jobs["submit"][some])
        self.done, self.day, self.next = some.stop, self.day + 1, self.next + DAY
        if self.day < len(self.ends):
            view.wake_at(self.next)

    def more_may_come(self, view: Any) -> bool:
        return self.day < len(self.ends)


class WhenDue(OneByOne):
    """Each when it is due, one call for each, before the pass."""

    def begin(self, view: Any) -> None:
        self.rows = list(zip(*(self.jobs[name].tolist() for name in (*FIELDS, "submit")), strict=True))[::-1]
        self.number = view.request_number(None)
        view.wake_at(self.rows[-1][-1])

    def woken(self, view: Any) -> None:
        rows, now = self.rows, view.now
        while rows and rows[-1][-1] <= now:
            runtime, count, limit, user, _ = rows.pop()
            view.submit(runtime, count, self.number, limit, None, user)
        if rows:
            view.wake_at(rows[-1][-1])

    def more_may_come(self, view: Any) -> bool:
        return bool(self.rows)


FORMS: dict[str, tuple[Callable[[Columns], sl.Observer], str, float | None]] = {
    "one": (OneByOne, "one call for each, ahead", 3),
    "columns": (AsColumns, "as columns, ahead", 3),
    "day": (EachDay, "as columns, a day at a time, by an observer that is woken then", 3),
    "due": (WhenDue, "one call for each when it is due, by an observer that is woken then", None),
}


def lines(settings: Settings) -> Iterator[Line]:
    spec = LogSpec(settings.jobs(200_000))
    for policy in ("easy",):
        calls = [partial(_time, spec, policy, form) for form in ("workload", *FORMS)]
        base, *others = (middle(found).on(settings.clock) for found in interleaved(settings.repeats, *calls))
        for (_, what, at_most), taken in zip(FORMS.values(), others, strict=True):
            yield Line(
                "submit",
                f"{spec.jobs:,} jobs submitted {what}, against the same jobs of a workload, {policy}",
                taken / base,
                at_most=at_most,
                note=f"{taken:.3f} s : {base:.3f} s; all starts equal",
            )


def _time(spec: LogSpec, policy: str, form: str) -> Spent:
    asked = json.dumps({"spec": asdict(spec), "policy": policy, "form": form})
    _, printed = process([sys.executable, "-m", "benchmarks.submit", asked], PYTHONPATH=str(ROOT))
    return Spent(**json.loads(printed))


def _main(asked: str) -> None:
    wanted = json.loads(asked)
    spec, policy, form = LogSpec(**wanted["spec"]), wanted["policy"], wanted["form"]
    cluster = sl.Cluster.uniform(spec.nodes, spec.cores)
    _simulate(columns(replace(spec, jobs=1000)), cluster, policy, form)  # imports everything
    jobs = columns(spec)
    spent, run = _simulate(jobs, cluster, policy, form)
    if form != "workload" and not np.array_equal(
        subject.starts(run), subject.starts(sl.simulate(subject.in_memory(jobs), cluster, policy))
    ):
        raise RuntimeError(f"{form}: jobs start at other times than those of a workload")
    print(json.dumps(asdict(spent)))


def _simulate(jobs: Columns, cluster: sl.Cluster, policy: str, form: str) -> tuple[Spent, sl.Run]:
    if form == "workload":
        return subject.simulate(subject.in_memory(jobs), cluster, policy)
    nothing = sl.Workload.of(submit=[], runtime=[])
    return call(lambda: sl.simulate(nothing, cluster, policy, observers=[FORMS[form][0](jobs)]))


if __name__ == "__main__":
    _main(sys.argv[1])

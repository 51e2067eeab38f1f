"""A run that is interrupted anywhere, any number of times, and taken up again ends as if nothing had happened."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fragile import Fragile, run_until_broken

import schedlab as sl
from schedlab.engine.checkpoint import Checkpoint
from schedlab.execution.failures import Failures
from schedlab.execution.maintenance import Maintenance
from schedlab.execution.power import Power
from schedlab.execution.power_cap import PowerCap
from schedlab.execution.sharing import Sharing
from schedlab.execution.sleep import Sleep
from schedlab.execution.speeds import Speeds

TWO_KINDS = sl.Cluster(
    (
        sl.NodeGroup("thin", 3, {"cores": 4, "memory": 8}, speed=1.0),
        sl.NodeGroup("fat", 1, {"cores": 8, "memory": 64}, prefix="f", speed=1.7),
    )
)
REQUESTS = [sl.Request({"cores": 1}), sl.Request({"cores": 2, "memory": 4}), sl.Request({"cores": 1}, exclusive=True)]


class Preempt(sl.Policy):
    """Short jobs suspend long ones, once; one job in five is requeued once, with half of its work saved."""

    def __init__(self) -> None:
        self.seen: set[int] = set()
        self.suspended: set[int] = set()

    def decide(self, view: Any, events: Any) -> None:
        for job in view.suspended:
            view.resume(job, cost=1)
        for job in view.queue.sorted(by="estimate"):
            if not view.start(job):
                view.reserve(job)
                longest = max(view.running, key=lambda j: j.estimated_end, default=None)
                if longest is not None and longest.id not in self.suspended and job.estimate < 20:
                    self.suspended.add(longest.id)
                    view.suspend(longest)
                    view.wake_at(view.now + 5)
        for job in view.running:
            if job.id % 5 == 0 and job.id not in self.seen and view.now > job.start:
                self.seen.add(job.id)
                view.requeue(job, saved=job.done / 2)
                view.wake_at(view.now + 3)


class Reserving(sl.Policy):
    """The first two that do not fit have a reservation until they start."""

    def decide(self, view: Any, events: Any) -> None:
        for waited, job in enumerate([job for job in view.queue if not view.start(job)]):
            if waited < 2:
                view.reserve(job)


class Granting(sl.Policy):
    """Jobs get what a node has left, more than they asked for; every third one is suspended once, or requeued."""

    def __init__(self) -> None:
        self.seen: set[int] = set()

    def decide(self, view: Any, events: Any) -> None:
        for job in view.suspended:
            if grant := self._grant(view, job):
                view.resume(job, grant, cost=1)
        for job in view.queue.sorted(by="estimate"):
            grant = self._grant(view, job) if job.id % 2 and job.request != 2 else None
            if not (view.start(job, grant) if grant else view.start(job)):
                view.reserve(job)
        for job in view.running:
            if job.id % 3 == 0 and job.id not in self.seen and view.now > job.start:
                self.seen.add(job.id)
                view.suspend(job) if job.id % 2 else view.requeue(job)
                view.wake_at(view.now + 3)

    def _grant(self, view: Any, job: Any) -> list[Any]:
        cores, memory = view.cluster.free_of(0).tolist(), view.cluster.free_of(1).tolist()
        each, held = (1, 0) if job.request != 1 else (2, 4), 0
        grant: list[Any] = []
        for node in reversed(range(view.cluster.nodes)):
            chunks = min(cores[node] // each[0], memory[node] // each[1] if each[1] else cores[node])
            if chunks and held < job.count:
                held += chunks
                some = memory[node] if node % 2 else chunks * each[1]
                grant.append((node, {"cores": cores[node], "memory": some}))
        return grant if held >= job.count else []


class Slowing(sl.Observer):
    """Jobs become slower at odd times, faster at even ones."""

    def before(self, view: Any) -> None:
        for job in view.running:
            view.set_rate(job, job.factors.get("Slowing", 1.0) * (0.5 if view.now % 2 else 1.1))


class Crowded(sl.Execution):
    """The more neighbours, the slower; and it remembers how often it was asked, which is then some work more."""

    def __init__(self) -> None:
        self.asked = 0

    def rate(self, view: Any, job: Any, neighbours: Any) -> float:
        self.asked += 1
        return 1 / (1 + 0.3 * len(neighbours))

    def work(self, view: Any, job: Any, nodes: Any) -> float | None:
        return job.total_work + self.asked % 3 if self.asked % 2 else None


class Picky(sl.Observer):
    """No job of an odd number before it has waited for 7 s."""

    def allows(self, view: Any, job: Any, nodes: Any) -> bool:
        if job.id % 2 == 0 or view.now >= job.eligible + 7:
            return True
        view.wake_at(job.eligible + 7)
        return False


class Talker(sl.Policy):
    """Says of some jobs why they wait, in its own words or in the engine's, and takes it back."""

    def decide(self, view: Any, events: Any) -> None:
        first = None
        for job in view.queue:
            if view.start(job):
                continue
            if job.id % 3 == 0:
                view.explain(job, f"its turn comes after {len(view.running) // 2}", first)
            elif job.id % 3 == 1 and first is not None:
                view.explain(job, "behind job" if len(view.running) % 2 else "", first)
            first = first or job


class OnEasy(sl.Policy):
    """`easy`, asked from Python."""

    def __init__(self) -> None:
        self.native = sl.Native("easy")

    def decide(self, view: Any, events: Any) -> None:
        self.native.decide(view)


def easy() -> Any:
    return runpy.run_path(str(Path(__file__).parents[2] / "examples" / "easy_in_python.py"))["Easy"]()


CASES: dict[str, tuple[Any, Any]] = {
    "easy": (lambda: "easy", list),
    "easy:scan=sjf": (lambda: "easy:scan=sjf", list),
    "easy:order=lxf": (lambda: "easy:order=lxf,place=best-fit", list),
    "conservative": (lambda: "conservative", list),
    "planned": (lambda: "easy:reservations=3", list),
    "reserving": (Reserving, list),
    "skip": (lambda: "skip:order=saf,depth=3", list),
    "conservative with failures": (
        lambda: "conservative",
        lambda: [Failures(mtbf=150, repair=20, seed=4, checkpoint=10), Power(idle=5, per_core=2)],
    ),
    "easy in maintenance": (lambda: "easy", lambda: [Maintenance("n[1-2]", 60, 30)]),
    "sleepers": (lambda: "easy", lambda: [Sleep(after=10, boot=5), Power(idle=3)]),
    "preemption": (Preempt, list),
    "granted": (Granting, list),
    "granted and failing": (Granting, lambda: [Failures(mtbf=150, repair=20, seed=4), Power(idle=5, per_core=2)]),
    "fcfs at a gate": (lambda: "fcfs", lambda: [Picky()]),
    "conservative at a gate": (lambda: "conservative", lambda: [Picky()]),
    "talker": (Talker, lambda: [Picky()]),
    "on easy": (OnEasy, list),
    "capped by nodes, with sleepers": (
        lambda: PowerCap(watts=80, policy="easy", idle=2, active=5, off=1, per_core=4, groups={"fat": {"per_core": 6}}),
        lambda: [Sleep(after=10, boot=5)],
    ),
    "slowed and failing": (
        lambda: "easy",
        lambda: [Slowing(), Failures(mtbf=150, repair=20, seed=4, checkpoint=10, cost=2, restart=3)],
    ),
    "preemption among neighbours": (Preempt, lambda: [Speeds(), Sharing(0.7), Slowing()]),
    "crowded and failing": (
        lambda: "conservative",
        lambda: [Crowded(), "speeds", Failures(mtbf=150, repair=20, seed=4, checkpoint=10, cost=2, restart=3)],
    ),
    "capped": (lambda: PowerCap(watts=60, policy="conservative", per_core=5), list),
}

jobs = st.lists(
    st.tuples(st.integers(0, 200), st.integers(1, 60), st.integers(1, 60), st.integers(1, 8), st.integers(0, 2)),
    min_size=1,
    max_size=40,
)


def tables(run: sl.Run) -> list[pl.DataFrame]:
    return [run.jobs, run.timeline, run.pieces, run.rates, run.nodes, run.places, run.reasons]


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=12)
@given(
    jobs,
    st.lists(st.integers(1, 30), min_size=1, max_size=3),
    st.sampled_from(["limit", "last-two", "user-mean"]),
    st.sampled_from(["limit", "rates"]),
)
def test_an_interrupted_run_ends_the_same(
    tmp_path_factory: pytest.TempPathFactory, case: str, jobs: Any, breaks: list[int], estimate: str, beliefs: str
) -> None:
    policy, observers = CASES[case]
    submit, runtime, limit, count, request = zip(*jobs, strict=True)
    columns = {"submit": submit, "runtime": runtime, "limit": limit, "count": count, "request": request}
    after = [position // 2 + 1 if position % 3 == 2 else -1 for position in range(len(jobs))]
    workload = sl.Workload.of(requests=REQUESTS, **columns, user=request, after=after, think=count)
    rules = {"estimate": estimate, "dependencies": "follow", "reasons": True, "beliefs": beliefs}
    whole = sl.simulate(workload, TWO_KINDS, policy(), observers=observers(), validate=True, **rules)
    folder = tmp_path_factory.mktemp("checkpoint")
    for saves in breaks:
        resumed = _simulate(workload, policy(), rules, observers(), Fragile(folder, saves))
        if resumed is not None:
            break
    else:
        resumed = _simulate(workload, policy(), rules, observers(), Checkpoint(folder, every=1e9))
    assert resumed is not None and not list(folder.parent.glob(folder.name))
    for mine, other in zip(tables(resumed), tables(whole), strict=True):
        assert mine.equals(other)
    assert {k: v for k, v in resumed.summary.items() if k != "timing"} == whole.summary


def _simulate(
    workload: Any, policy: Any, rules: dict[str, Any], observers: Any, checkpoint: Checkpoint
) -> sl.Run | None:
    return run_until_broken(
        sl.Scenario(workload, TWO_KINDS, policy, observers=observers, checkpoint=checkpoint, **rules)
    )

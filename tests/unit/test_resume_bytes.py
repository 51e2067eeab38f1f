"""A run that was broken off and taken up again leaves the same files as one that was left alone, byte for byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.fragile import Fragile, run_until_broken

import schedlab as sl
from schedlab.engine.checkpoint import Checkpoint

TABLES = "jobs timeline pieces rates predecessors submitted holds reasons places nodes"


class Reserving(sl.Policy):
    """In order; who does not fit gets a reservation."""

    def decide(self, view: Any, events: Any) -> None:
        for job in view.queue:
            if not view.start(job):
                view.reserve(job)


class Busy(Reserving):
    """It also suspends, resumes at a cost, requeues with something saved, rejects, and says why jobs wait."""

    def __init__(self) -> None:
        self.seen: set[int] = set()

    def decide(self, view: Any, events: Any) -> None:
        for job in view.suspended:
            view.resume(job, cost=1)
        super().decide(view, events)
        for job in view.queue:
            if job.id % 4 == 0:
                view.explain(job, f"after {len(view.running)} others", view.queue.head)
            if view.now - job.eligible > 60:
                view.reject(job)
        for job in view.running:
            if job.id % 5 < 2 and job.id not in self.seen and view.now > job.start:
                self.seen.add(job.id)
                view.suspend(job) if job.id % 5 else view.requeue(job, saved=job.done / 2, cost=2)
                view.wake_at(view.now + 3)


class Meddling(sl.Observer):
    """Submits jobs, holds, withdraws, sets rates; a node fails now and then: by the time and what it has seen."""

    def __init__(self) -> None:
        self.passes, self.last = 0, -1.0
        self.closed: list[int] = []
        self.done = -1.0
        self.held: set[int] = set()
        self.ran: set[int] = set()

    def begin(self, view: Any) -> None:
        view.submit_many(runtime=[3.0, 4.0], at=[11.0, 12.0], name=["p", "q"])
        view.wake_at(1.0)

    def before(self, view: Any) -> None:
        if view.now == self.last:  # once in an instant: holding and releasing are events, and ask for another pass
            return
        self.passes += 1
        self.last, now = view.now, int(view.now)
        if now % 7 == 0 and now < 90:
            view.submit(1 + self.passes % 9, 1 + now % 3, user=now % 2, name=f"n{self.passes}")
        for job in view.running:
            view.set_rate(job, 0.5 if (job.id + self.passes) % 3 else 1.25)
        for job in list(view.running):
            if (job.id + now) % 23 == 0:
                view.complete(job)
        for job in list(view.queue):
            if (job.id + now) % 13 == 0 and job.id not in self.ran:
                view.hold(job)
                self.held.add(job.id)
            elif (job.id + now) % 17 == 0:
                view.withdraw(job)
        for job in view.held:
            if job.id in self.held and now % 5 == 0:
                self.held.discard(job.id)
                view.release(job)

    def after(self, view: Any) -> None:
        self.ran.update(job.id for job in view.running)
        if view.now == self.done:
            return
        self.done, now = view.now, int(view.now)
        if self.closed and now % 4 == 0:
            view.open(self.closed.pop())
        elif not self.closed and now % 11 == 0:
            node = self.passes % 3
            for job in [job for job in view.running if any(place[0] == node for place in job.nodes)]:
                view.requeue(job, saved=job.done / 3, reason="node failure")
            view.close(node, "down")
            self.closed.append(node)
        if now < 120:
            view.wake_at(view.now + 1)


def broken_off(folder: Path, breaks: list[int], scenario: dict[str, Any]) -> None:
    """Breaks off at each of these, and then goes through."""
    for saves in breaks:
        fresh = {name: make() if callable(make) else make for name, make in scenario.items()}
        one = sl.Scenario(**fresh, out=folder, force=True, checkpoint=Fragile(folder.with_suffix(".saved"), saves))
        assert run_until_broken(one) is None
    fresh = {name: make() if callable(make) else make for name, make in scenario.items()}
    last = Checkpoint(folder.with_suffix(".saved"), every=1e9)
    assert run_until_broken(sl.Scenario(**fresh, out=folder, force=True, checkpoint=last)) is not None


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "run.json"}


@pytest.mark.parametrize("breaks", [[1], [3, 4, 5], [20], [35, 50], [90]])
@pytest.mark.parametrize("passes", ["instant", "event"])
def test_all_files_have_the_same_bytes(tmp_path: Path, breaks: list[int], passes: str) -> None:
    random = np.random.default_rng(7)
    requests = [
        sl.Request({"cores": 1}),
        sl.Request({"cores": 2, "memory": 3}),
        sl.Request({"cores": 1}, exclusive=True),
    ]
    workload = sl.Workload.of(
        submit=np.sort(random.integers(0, 80, 60)),
        runtime=random.integers(0, 15, 60),
        limit=random.integers(1, 40, 60),
        count=random.integers(1, 5, 60),
        request=random.choice(3, 60, p=[0.6, 0.3, 0.1]),
        user=random.integers(0, 2, 60),
        requests=requests,
        after=[position // 2 + 1 if position % 3 == 2 else -1 for position in range(60)],
        think=random.integers(0, 4, 60),
    )
    scenario: dict[str, Any] = {
        "workload": workload,
        "cluster": sl.Cluster((sl.NodeGroup("n", 4, {"cores": 4, "memory": 8}),)),
        "policy": Busy,
        "observers": lambda: [Meddling()],
        "estimate": "last-two",
        "dependencies": "follow",
        "passes": passes,
        "reasons": True,
        "places": True,
    }
    fresh = {name: make() if callable(make) else make for name, make in scenario.items()}
    whole = run_until_broken(sl.Scenario(**fresh, out=tmp_path / "whole"))
    assert whole is not None
    # `check` does not know yet that a release makes a job eligible anew that had waited or run before.
    assert [one for one in sl.check(tmp_path / "whole") if one.kind == "work"] == []
    assert {f"{name}.parquet" for name in TABLES.split()} <= contents(tmp_path / "whole").keys()
    broken_off(tmp_path / "again", breaks, scenario)
    mine, other = contents(tmp_path / "again"), contents(tmp_path / "whole")
    assert [name for name in other if mine.get(name) != other[name]] == [] and mine.keys() == other.keys()
    again = sl.read_run(tmp_path / "again")
    assert {k: v for k, v in again.summary.items() if k != "timing"} == {
        k: v for k, v in whole.summary.items() if k != "timing"
    }


@pytest.mark.parametrize("saves", range(1, 6))
def test_reservations_once_planned_on_nodes_are_so_after_a_break(tmp_path: Path, saves: int) -> None:
    # Two nodes of 3 cores. Job 2 (a whole node) makes plans be by nodes. At 4 job 3 has 2 cores of n1 until 14, job 4
    # (5 cores) is reserved for then, on all of n1 and 2 cores of n2. Job 5, longer than that, gets the third one of n2;
    # a plan by numbers would let it have the first that is free, on n1.
    workload = sl.Workload.of(
        submit=[0, 0, 4, 4, 5],
        runtime=[1, 1, 10, 5, 30],
        count=[6, 1, 2, 5, 1],
        request=[0, 1, 0, 0, 0],
        requests=[sl.Request({"cores": 1}), sl.Request({"cores": 1}, exclusive=True)],
    )
    scenario = {"workload": workload, "cluster": sl.Cluster.uniform(2, 3), "policy": Reserving}
    whole = sl.simulate(sl.Scenario(workload, scenario["cluster"], Reserving(), out=tmp_path / "whole"))
    assert whole.jobs.sort("job")["nodes"].to_list() == ["n[1-2]*3", "n1", "n1*2", "n1*3,n2*2", "n2"]
    broken_off(tmp_path / "again", [saves], scenario)
    assert contents(tmp_path / "again") == contents(tmp_path / "whole")


def test_a_reservation_is_gone_when_its_job_has_left() -> None:
    # Job 2 is reserved and leaves at 3. Job 3 gets its slot, and no reservation: nothing stands against job 4 at 5.
    class First(sl.Policy):
        def decide(self, view: Any, events: Any) -> None:
            for job in list(view.queue):
                if job.id == 3:
                    continue
                if not view.start(job) and job.id == 2:
                    view.reserve(job)

    workload = sl.Workload.of(
        submit=[0, 1, 4, 5], runtime=[10, 5, 5, 30], count=[1, 2, 2, 1], cancel=[np.inf, 3, 60, np.inf]
    )
    run = sl.simulate(workload, sl.Cluster.uniform(1, 2), First())
    assert run.jobs.sort("job")["state"].to_list() == ["completed", "cancelled", "cancelled", "completed"]
    assert run.jobs.sort("job")["start"].to_list()[3] == 5

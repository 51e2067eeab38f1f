"""How placed jobs fare: work that is decided where they run, rates that follow neighbours, who is on a node."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.planned_runs import Plan, all_of, found, job, read, simulated, start, write

import schedlab as sl
from schedlab.execution.sharing import Sharing
from schedlab.execution.speeds import Speeds

TWO = sl.Cluster.uniform(2, cores=4)
MIXED = sl.Cluster(
    (
        sl.NodeGroup("slow", 2, {"cores": 4}, prefix="s", speed=1.0),
        sl.NodeGroup("fast", 2, {"cores": 4}, prefix="f", speed=4.0),
    )
)


def act(name: str, number: int, *arguments: Any, **more: Any) -> Any:
    return lambda view: getattr(view, name)(job(view, number), *arguments, **more)


class SharingInPython(sl.Execution):
    """The same as `Sharing`, and counts how often it is asked."""

    name = "sharing"

    def __init__(self, rate: float = 0.8) -> None:
        self._rate, self.asked = rate, []  # type: ignore[var-annotated]

    def rate(self, view: Any, job: Any, neighbours: Any) -> float:
        self.asked.append((view.now, job.id, [other.id for other in neighbours]))
        return self._rate if neighbours else 1.0


def test_sharing_by_hand() -> None:
    """Job 1 is alone until 10, with job 2 until that ends at 30 (10 s at 0.5), then alone. 3 is elsewhere."""
    model = SharingInPython(0.5)
    plan: Plan = {0.0: all_of(start(1, [(0, 2)]), start(3, [(1, 2)])), 10.0: start(2, [(0, 1)])}
    run = simulated(
        plan, TWO, observers=[model], submit=[0, 0, 0], runtime=[40, 10, 5], limit=[500, 500, 500], count=[2, 1, 2]
    )
    assert run.jobs["end"].to_list() == [50.0, 30.0, 5.0]
    assert run.rates.select("time", "job", "owner", "rate").rows() == [
        (10.0, 1, "sharing", 0.5),
        (10.0, 2, "sharing", 0.5),
        (30.0, 1, "sharing", 1.0),
    ]
    # Only about jobs on whose nodes somebody came or went.
    assert model.asked == [(0, 1, []), (0, 3, []), (10, 1, [2]), (10, 2, [1]), (30, 1, [])]
    assert sl.check(run) == [] and run.config["execution"] == [{"name": "sharing"}]


def random_jobs(seed: int, jobs: int = 60) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    runtime = rng.integers(1, 60, jobs)
    return {
        "submit": np.sort(rng.integers(0, 300, jobs)),
        "runtime": runtime,
        "limit": runtime * 3,
        "count": rng.integers(1, 9, jobs),
    }


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("passes", ["instant", "event"])
def test_the_core_and_python_say_the_same(seed: int, passes: Any) -> None:
    jobs = sl.Workload.of(**random_jobs(seed))
    cluster = sl.Cluster.uniform(5, cores=4)
    runs = [
        sl.simulate(jobs, cluster, "easy", observers=[model], passes=passes, validate=True)
        for model in (Sharing(0.75), SharingInPython(0.75), "sharing(0.75)")
    ]
    assert len(runs[0].rates) > 20
    for run in runs:
        assert run.jobs.equals(runs[0].jobs) and run.rates.equals(runs[0].rates) and sl.check(run) == []


def test_who_is_on_a_node_is_kept() -> None:
    """Asked for the first time in the middle of a run, and compared with all running jobs at every pass."""
    seen = 0

    class Look(sl.Observer):
        def after(self, view: Any) -> None:
            nonlocal seen
            if view.now < 50:
                return
            for node in range(view.cluster.nodes):
                there = [job.id for job in view.jobs_on(node)]
                assert set(there) == {job.id for job in view.running if node in dict(job.nodes)}
                assert there == sorted(there, key=lambda number: next(j.start for j in view.running if j.id == number))
                seen += len(there)
            with pytest.raises(IndexError):
                view.jobs_on(view.cluster.nodes)

    sl.simulate(
        sl.Workload.of(**random_jobs(3)), sl.Cluster.uniform(5, cores=4), "skip", observers=[Look()], validate=True
    )
    assert seen > 100


def test_speeds_by_hand() -> None:
    """20 s on the slow nodes are 5 s on the fast ones; with a node of each kind, the slow one counts."""
    plan: Plan = {0.0: all_of(start(1, [(0, 4)]), start(2, [(2, 4)]), start(3, [(1, 2), (3, 2)]))}
    run = simulated(
        plan, MIXED, observers=[Speeds()], submit=[0, 0, 0], runtime=[20, 20, 20], limit=[90, 90, 90], count=[4, 4, 4]
    )
    assert run.jobs["end"].to_list() == [20.0, 5.0, 20.0] and run.jobs["runtime"].to_list() == [20.0] * 3
    assert run.pieces.select("job", "whole", "work", "done").rows() == [(2, 5.0, 5.0, 5.0)]
    assert run.config["execution"] == [{"name": "speeds", "model": "speeds", "reference": 1.0}]
    assert sl.check(run) == [] and len(run.rates) == 0


def test_work_counts_in_proportion_when_a_job_moves() -> None:
    """80 s of work: 20 s on a slow node (a quarter), then on a fast one (60 s are 15), then requeued with a third."""
    plan: Plan = {
        0.0: start(1, [(0, 4)]),
        20.0: act("suspend", 1),
        30.0: act("resume", 1, [(2, 4)], cost=1.0),  # 15 s + 1 s; all of it is 20 s there
        41.0: act("requeue", 1, saved=15.0, cost=2.0),  # 10 of 15 are done, so 15 of 20: a quarter of 80 is left
        50.0: start(1, [(1, 4)]),  # 20 s + 2 s
        60.0: act("requeue", 1, saved=60.0),
        70.0: start(1, [(3, 4)]),  # 5 s of 20
    }
    run = simulated(plan, MIXED, observers=[Speeds()], submit=[0], runtime=[80], limit=[500], count=[4])
    assert run.pieces.select("begin", "end", "whole", "work", "done").rows() == [
        (0.0, 20.0, 80.0, 80.0, 20.0),
        (30.0, 41.0, 20.0, 16.0, 11.0),
        (50.0, 60.0, 80.0, 22.0, 10.0),
        (70.0, 75.0, 20.0, 5.0, 5.0),
    ]
    assert run.jobs.select("end", "state").row(0) == (75.0, "completed") and sl.check(run) == []


def test_models_one_after_the_other_and_in_other_shapes() -> None:
    class Longer(sl.Execution):
        def work(self, view: Any, job: Any, nodes: Any) -> float | None:
            assert view.owner == "Longer" or "Longer" in view.owner
            return job.total_work + 10 * len(nodes) if job.id == 1 else None

    shapes = [[sl.Shape(count=8, runtime=20, limit=400)], []]
    plan: Plan = {
        0.0: all_of(start(1, [(2, 4)]), start(2, [(3, 4)])),
        5.0: act("reshape", 1, 1, [(0, 4), (2, 4)]),
    }
    run = simulated(
        plan,
        MIXED,
        observers=[Speeds(), Longer()],
        submit=[0, 0],
        runtime=[40, 40],
        limit=[400, 400],
        count=[4, 4],
        shapes=shapes,
        malleable=[True, False],
    )
    # 40 / 4 + 10 = 20 s, a quarter of them done by 5; then 20 + 20 = 40 s, of which 30 are left.
    assert run.pieces.filter(job=1).select("whole", "work", "done", "how").rows() == [
        (20.0, 20.0, 5.0, "reshaped"),
        (40.0, 30.0, 30.0, "completed"),
    ]
    assert run.jobs["end"].to_list() == [35.0, 10.0] and sl.check(run) == []


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (-1.0, "execution model odd says -1.0 for job 1 at 0 s; expected seconds of work, from 0 to 1e12, or None"),
        (float("nan"), "execution model odd says nan for job 1"),
        ("long", "execution model odd says 'long' for job 1"),
    ],
)
def test_impossible_work(answer: Any, message: str) -> None:
    odd = type("Odd", (sl.Execution,), {"name": "odd", "work": lambda self, view, job, nodes: answer})
    with pytest.raises(sl.SchedlabError, match=message):
        sl.simulate(sl.Workload.of(submit=[0], runtime=[9], count=[1]), TWO, "easy", observers=[odd()])


def test_impossible_rates_and_machines() -> None:
    odd = type("Odd", (sl.Execution,), {"name": "odd", "rate": lambda self, view, job, neighbours: -1})
    jobs = sl.Workload.of(submit=[0], runtime=[9], count=[1])
    with pytest.raises(sl.DecisionError, match="execution model odd says -1 for job 1 at 0 s; expected a factor"):
        sl.simulate(jobs, TWO, "easy", observers=[odd()])
    with pytest.raises(sl.InputError, match="the node group nodes has no speed"):
        sl.simulate(jobs, TWO, "easy", observers=["speeds"])
    with pytest.raises(sl.InputError, match="a pool has no nodes"):
        sl.simulate(jobs, sl.Cluster.of_cores(4), "easy", observers=["sharing"])
    with pytest.raises(sl.InputError, match="rate cannot be 0"):
        sl.simulate(jobs, TWO, "easy", observers=["sharing(0)"])


@pytest.mark.parametrize("question", ["work", "rate"])
def test_models_are_only_asked(question: str) -> None:
    def answer(self: Any, view: Any, job: Any, given: Any) -> float:
        view.wake_at(view.now + 1)
        return 1.0

    busy = type("Busy", (sl.Execution,), {question: answer})
    with pytest.raises(sl.DecisionError, match=f"observer Busy: {question} is a question: do nothing there"):
        sl.simulate(sl.Workload.of(submit=[0], runtime=[9], count=[1]), TWO, "easy", observers=[busy()])


def test_lies_about_work(tmp_path: Path) -> None:
    jobs = sl.Workload.of(submit=[0, 0], runtime=[20, 20], limit=[90, 90], count=[8, 8])
    run = sl.simulate(jobs, MIXED, "easy", observers=["speeds"], validate=True)
    assert run.jobs["end"].to_list() == [20.0, 5.0]
    folder = run.save(tmp_path / "run")
    assert found(folder) == set()
    pieces, rows = read(folder, "pieces"), read(folder, "jobs")
    for change in ({"whole": 6.0, "work": 6.0}, {"work": 4.0}, {"whole": 4.0}):
        write(folder, "pieces", [{**pieces[0], **change}])
        assert ("work", 2) in found(folder), change
    write(folder, "pieces", pieces)
    swapped = {"s[1-2]*4": "f[1-2]*4", "f[1-2]*4": "s[1-2]*4"}
    write(folder, "jobs", [{**row, "nodes": swapped[row["nodes"]]} for row in rows])
    write(folder, "pieces", [{**row, "nodes": swapped[row["nodes"]]} for row in pieces])
    assert found(folder) == {("work", 1), ("work", 2)}

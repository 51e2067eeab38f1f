"""Failing nodes, checkpoints, maintenance and reservations, against numbers computed by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.planned_runs import all_of, simulated
from tests.planned_runs import job as job_of

import schedlab as sl
from schedlab.analysis.compare import Comparison, Row
from schedlab.cli.table import footnote
from schedlab.execution.failures import Failures, Outages, Reliability
from schedlab.execution.maintenance import Maintenance, Reservation

TWO = sl.Cluster.uniform(2, cores=4)
BOTH = pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "easy:reservations=2", "skip"])


def trace(folder: Path, *rows: str) -> Path:
    path = folder / "outages.csv"
    path.write_text("node,from,until\n" + "".join(f"{row}\n" for row in rows))
    return path


@BOTH
def test_victims_are_requeued_and_start_again(tmp_path: Path, policy: str) -> None:
    jobs = sl.Workload.of(submit=[0], runtime=[100], limit=[200], count=[8])
    run = sl.simulate(jobs, TWO, policy, observers=[Failures(trace=trace(tmp_path, "n2,30,50"))], validate=True)
    assert run.jobs.select("start", "end", "state").row(0) == (50.0, 150.0, "completed")
    assert run.pieces.select("begin", "end", "how", "nodes").rows() == [
        (0.0, 30.0, "requeued", "n[1-2]*4"),
        (50.0, 150.0, "completed", "n[1-2]*4"),
    ]
    assert run.nodes.rows() == [(30.0, "n2", "down"), (50.0, "n2", "up")]
    assert run.summary["observed"]["failures"] == 1 and run.summary["observed"]["failed_jobs"] == 1
    assert run.summary["observed"]["lost_core_hours"] == pytest.approx(30 * 8 / 3600)


def test_victims_can_be_killed(tmp_path: Path) -> None:
    jobs = sl.Workload.of(submit=[0, 0], runtime=[100, 100], count=[4, 4])
    failures = Failures(trace=trace(tmp_path, "n1,40,60"), victims="kill")
    run = sl.simulate(jobs, TWO, "easy", observers=[failures], validate=True)
    assert run.jobs.select("end", "state").rows() == [(40.0, "killed"), (100.0, "completed")]
    assert run.summary["observed"]["lost_core_hours"] == pytest.approx(40 * 4 / 3600)


def test_a_job_goes_on_from_its_last_checkpoint(tmp_path: Path) -> None:
    """A checkpoint after every 20 s of work takes 5 s: work at rate 0.8. After 60 s there are two, 40 s are saved."""
    jobs = sl.Workload.of(submit=[0], runtime=[100], limit=[1000], count=[4])
    failures = Failures(trace=trace(tmp_path, "n1,60,70"), checkpoint=20, cost=5, restart=8)
    run = sl.simulate(jobs, sl.Cluster.uniform(1, cores=4), "easy", observers=[failures], validate=True)
    # From 70 on: (100 - 40 + 8) / 0.8 = 85 s.
    assert run.jobs.select("start", "end").row(0) == (70.0, 155.0)
    assert run.summary["observed"]["lost_core_hours"] == pytest.approx((60 * 0.8 - 40) * 4 / 3600)


def test_two_failures_keep_what_both_attempts_saved(tmp_path: Path) -> None:
    jobs = sl.Workload.of(submit=[0], runtime=[100], limit=[1000], count=[4])
    failures = Failures(trace=trace(tmp_path, "n1,35,40", "n1,65,70"), checkpoint=10)
    run = sl.simulate(jobs, sl.Cluster.uniform(1, cores=4), "easy", observers=[failures], validate=True)
    # 30 saved at 35, 20 more at 65: 50 left from 70 on.
    assert run.jobs.select("start", "end").row(0) == (70.0, 120.0)
    assert run.summary["observed"]["lost_core_hours"] == pytest.approx(10 * 4 / 3600)


class Slow(sl.Observer):
    """From some times on, all that runs does so at other rates."""

    def __init__(self, rates: dict[float, float]) -> None:
        self._rates = rates

    def begin(self, view: Any) -> None:
        for time in self._rates:
            view.wake_at(time)

    def before(self, view: Any) -> None:
        if view.now in self._rates:
            for job in view.running:
                view.set_rate(job, self._rates[view.now])


def test_checkpoints_count_work_whoever_slows_it_down(tmp_path: Path) -> None:
    """40 s at rate 1 and 50 s at rate 0.5 are 65 s of work: three checkpoints of 20 s, 5 s are lost."""
    jobs = sl.Workload.of(submit=[0], runtime=[100], limit=[1000], count=[4])
    failures = Failures(trace=trace(tmp_path, "n1,90,100", "n1,105,110"), checkpoint=20, restart=10)
    observers = [Slow({40.0: 0.5}), failures]
    run = sl.simulate(jobs, sl.Cluster.uniform(1, cores=4), "easy", observers=observers, validate=True)
    # The second failure comes during the restart: nothing more is lost. From 110 on, 10 s of it and the other 40 s.
    assert run.jobs.select("start", "end").row(0) == (110.0, 160.0)
    assert run.summary["observed"]["lost_core_hours"] == pytest.approx(5 * 4 / 3600)
    assert sl.check(run) == []


def test_what_a_job_has_done() -> None:
    """Across rates, a suspension that costs 4 s, and a requeue with 20 s saved that costs 3 s."""
    done = {}

    def look(view: Any, kind: str = "running") -> None:
        done[view.now] = getattr(view, kind)[0].done

    def act(decision: str, *args: Any, **more: Any) -> Any:
        def do(view: Any) -> None:
            subject = job_of(view, 1)
            getattr(view, decision)(subject, *args, **more)
            done[view.now] = subject.done

        return do

    simulated(
        {
            0.0: act("start"),
            10.0: act("set_rate", 0.5),
            20.0: act("suspend"),
            30.0: act("resume", cost=4),
            32.0: look,
            36.0: look,
            40.0: all_of(look, act("requeue", saved=20, cost=3)),
            50.0: act("start"),
            52.0: look,
            60.0: look,
        },
        submit=[0],
        runtime=[100],
        limit=[1000],
        count=[4],
    )
    assert done == {0: 0, 10: 10, 20: 15, 30: 15, 32: 15, 36: 17, 40: 20, 50: 20, 52: 20, 60: 27}


def test_a_job_that_checkpoints_take_to_its_limit_is_killed_for_that_reason() -> None:
    """Checkpoints of 5 s after every 20 s: 100 s of work take 125 s. Job 1 may run so long, job 2 may not."""
    jobs = sl.Workload.of(submit=[0, 0, 0], runtime=[100, 100, 200], limit=[125, 120, 150], count=[1, 1, 1])
    run = sl.simulate(jobs, TWO, "easy", observers=[Failures(checkpoint=20, cost=5)], validate=True)
    assert run.jobs.select("end", "state").rows() == [(125, "completed"), (120, "killed"), (150, "killed")]
    assert run.jobs["reason"].to_list() == [None, "slowed down until its limit", None]
    assert run.summary["reasons"] == {"slowed down until its limit": 1, "time limit": 1}
    table = footnote(Comparison((Row("easy", run.summary),)))
    assert "killed: 2 jobs" in table and "1 of the killed jobs: slowed down until its limit" in table
    longer = sl.simulate(jobs, TWO, "easy", observers=[Failures(checkpoint=20, cost=5)], overrun="run")
    assert longer.jobs["end"].to_list() == [125, 125, 250]


def test_a_pool_cannot_fail() -> None:
    jobs = sl.Workload.of(submit=[0], runtime=[1], count=[1])
    with pytest.raises(sl.InputError, match=r"a pool has no nodes that could fail.*\n.*--cluster 120x2"):
        sl.simulate(jobs, sl.read_cluster("pool:240"), "easy", observers=[Failures(mtbf=1000)])


def test_times_to_failure_follow_the_model() -> None:
    for shape in (0.7, 1.0, 2.0):
        outages = Outages(Reliability(mtbf=1000, shape=shape, repair=100), np.random.default_rng(3))
        lengths, repairs, last = [], [], 0.0
        for _ in range(20_000):
            outage = outages.next()
            assert outage is not None
            begin, end = outage
            lengths.append(begin - last)
            repairs.append(end - begin)
            last = end
        assert np.mean(lengths) == pytest.approx(1000, rel=0.03)
        assert np.mean(repairs) == pytest.approx(100, rel=0.03)


def test_failures_do_not_depend_on_the_schedule() -> None:
    jobs = sl.Workload.of(submit=range(0, 4000, 10), runtime=[60] * 400, limit=[90] * 400, count=[1, 3, 5, 8] * 100)
    made = [
        sl.simulate(jobs, TWO, policy, observers=[Failures(mtbf=2000, repair=50, seed=5)], validate=True)
        for policy in ("fcfs", "easy", "easy", "conservative")
    ]
    horizon = min(run.nodes["time"].max() for run in made)  # type: ignore[type-var]
    stories = [run.nodes.filter(run.nodes["time"] <= horizon).rows() for run in made]
    assert stories[0] == stories[1] == stories[2] == stories[3] and len(stories[0]) > 3
    assert made[1].jobs.equals(made[2].jobs)
    other = sl.simulate(jobs, TWO, "easy", observers=[Failures(mtbf=2000, repair=50, seed=6)])
    assert other.nodes.rows() != made[1].nodes.rows()


def test_a_bad_trace_is_refused_with_all_its_mistakes(tmp_path: Path) -> None:
    jobs = sl.Workload.of(submit=[0], runtime=[1], count=[1])
    path = trace(tmp_path, "n3,1,2", "n1,x,2", "n1,5,4")
    with pytest.raises(sl.InputError) as caught:
        sl.simulate(jobs, TWO, "easy", observers=[Failures(trace=path)])
    text = str(caught.value)
    assert all(part in text for part in ("line 2", "no node 'n3'", "line 3", "line 4", "until 4.0 is not after"))


def test_a_wrong_number_of_a_group_is_named() -> None:
    jobs = sl.Workload.of(submit=[0], runtime=[1], count=[1])
    with pytest.raises(sl.InputError, match=r"failures: group nodes has no 'mtfb'.*\n.*mtbf"):
        sl.simulate(jobs, TWO, "easy", observers=[Failures(groups={"nodes": {"mtfb": 3.0}})])


@BOTH
def test_backfilling_looks_ahead_to_maintenance(policy: str) -> None:
    """Node 2 is closed from 100 to 200. Job 2 would still be there: it waits. Job 3 fits before."""
    jobs = sl.Workload.of(submit=[0, 1, 2], runtime=[300, 150, 50], limit=[300, 150, 90], count=[4, 4, 4])
    maintenance = Maintenance("n2", start=100, duration="100s")
    run = sl.simulate(jobs, TWO, policy, observers=[maintenance], validate=True)
    starts = run.jobs["start"].to_list()
    assert starts[:2] == [0, 200]
    if policy != "fcfs":  # which lets nobody pass
        assert starts[2] == 2
    assert run.summary["observed"]["maintenance_victims"] == 0


def test_who_is_still_there_is_requeued_killed_or_may_end() -> None:
    def ends(victims: Any) -> list[Any]:
        jobs = sl.Workload.of(submit=[0], runtime=[90], limit=[50], count=[8])
        maintenance = Maintenance("n1", start=60, duration=100, victims=victims)
        run = sl.simulate(jobs, TWO, "easy", observers=[maintenance], overrun="run", validate=True)
        return list(run.jobs.select("start", "end", "state").row(0))

    assert ends("requeue") == [160, 250, "completed"]
    assert ends("kill") == [0, 60, "killed"]
    assert ends("drain") == [0, 90, "completed"]


def test_a_reservation_is_for_some() -> None:
    jobs = sl.Workload.of(submit=[0, 1], runtime=[50, 50], count=[8, 8], user=[1, 7])
    run = sl.simulate(jobs, TWO, "easy", observers=[Reservation("n[1-2]", 40, 100, users=[7])], validate=True)
    assert run.jobs["start"].to_list() == [140, 1]


def test_a_node_that_is_down_cannot_be_used() -> None:
    class Stubborn(sl.Policy):
        def decide(self, view: Any, events: Any) -> None:
            for job in view.queue:
                view.start(job, nodes=[(0, 1)])

    class Closed(sl.Observer):
        def begin(self, view: Any) -> None:
            view.close(0, "down")

    jobs = sl.Workload.of(submit=[5], runtime=[50], count=[1])
    with pytest.raises(sl.DecisionError, match="cannot start job 1 at 5 s: a node is closed"):
        sl.simulate(jobs, TWO, Stubborn(), observers=[Closed()])


class RequeuedAt(sl.Observer):
    """Somebody else requeues what runs at a time, and saves nothing of it."""

    def __init__(self, time: float) -> None:
        self._time = time

    def begin(self, view: Any) -> None:
        view.wake_at(self._time)

    def before(self, view: Any) -> None:
        if view.now == self._time:
            for job in view.running:
                view.requeue(job)


def test_what_somebody_else_did_not_save_is_not_saved_by_the_next_failure(tmp_path: Path) -> None:
    """200 s are saved at 250, and lost at 320. At 370 only 50 s have been done: nothing to go on from."""
    jobs = sl.Workload.of(submit=[0], runtime=[1000], limit=[5000], count=[4])
    failures = Failures(trace=trace(tmp_path, "n1,250,260", "n1,370,380"), checkpoint=100, restart=7)
    observers = [failures, RequeuedAt(320.0)]
    run = sl.simulate(jobs, sl.Cluster.uniform(1, cores=4), "easy", observers=observers, validate=True)
    assert run.jobs.select("start", "end").row(0) == (380.0, 1380.0)
    assert run.summary["observed"]["lost_core_hours"] == pytest.approx((50 + 50) * 4 / 3600)
    assert sl.check(run) == []


def test_checkpoints_after_restarts_that_cost_time(tmp_path: Path) -> None:
    """Work at rate 0.8. At 300: 240 s, 200 saved. From 310 on 16 s of restart in 20 s; at 500: 200 + 136, 300 saved."""
    jobs = sl.Workload.of(submit=[0], runtime=[1000], limit=[5000], count=[4])
    failures = Failures(trace=trace(tmp_path, "n1,300,310", "n1,500,510"), checkpoint=100, cost=25, restart=16)
    run = sl.simulate(jobs, sl.Cluster.uniform(1, cores=4), "easy", observers=[failures], validate=True)
    assert run.jobs.select("start", "end").row(0) == (510.0, 510 + (700 + 16) / 0.8)
    assert run.summary["observed"]["lost_core_hours"] == pytest.approx((40 + 36) * 4 / 3600)

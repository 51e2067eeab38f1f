"""Power, energy, a power cap and sleeping nodes, against numbers computed by hand."""

from __future__ import annotations

from typing import Any

import pytest

import schedlab as sl
from schedlab.execution.power import Power
from schedlab.execution.power_cap import PowerCap
from schedlab.execution.sleep import Sleep

TWO = sl.Cluster.uniform(2, cores=4)


def joules(run: sl.Run, name: str) -> Any:
    return pytest.approx(run.summary["observed"][name] * 3.6e6)


def test_energy_of_jobs_that_share_a_node() -> None:
    """Node 1 has job 1 (2 cores) for 100 s, and job 2 (1 core) with it from 40 to 80 s; node 2 is idle."""
    jobs = sl.Workload.of(submit=[0, 40], runtime=[100, 40], count=[2, 1])
    power = Power(idle=50, active=90, per_core=10)
    run = sl.simulate(jobs, TWO, "fcfs", observers=[power])
    # Alone: 90 + 20 W; with job 2: 90 W shared 2 : 1, and 10 W for each core.
    first = 60 * (90 + 20) + 40 * (60 + 20)
    second = 40 * (30 + 10)
    assert run.jobs["energy"].to_list() == [first, second] == [9800, 1600]
    total = first + second + 100 * 50
    assert joules(run, "energy_kwh") == total
    assert joules(run, "unused_energy_kwh") == 100 * 50
    assert run.summary["observed"]["peak_power_watts"] == 50 + 90 + 30
    assert run.summary["observed"]["mean_power_watts"] == total / 100
    assert power.timeline == [(0.0, 160.0), (40.0, 170.0), (80.0, 160.0), (100.0, 100.0)]


def test_energy_of_a_killed_job_and_of_a_requeued_one() -> None:
    class Impatient(sl.Policy):
        def decide(self, view: Any, events: Any) -> None:
            if view.now == 30:
                view.requeue(view.running[0])
                view.wake_at(50)
            elif len(view.running) == 0 and len(view.queue):
                view.start(view.queue[0])
                view.wake_at(view.now + 30)

    jobs = sl.Workload.of(submit=[0], runtime=[100], limit=[40], count=[4])
    run = sl.simulate(jobs, sl.Cluster.uniform(1, cores=4), Impatient(), observers=[Power(idle=10, per_core=5)])
    assert run.jobs.select("start", "end", "state").row(0) == (50.0, 90.0, "killed")
    assert run.jobs["energy"].to_list() == [(30 + 40) * 30.0]  # 10 + 4 x 5 W, twice
    assert joules(run, "energy_kwh") == 70 * 30 + 20 * 10


def test_groups_have_their_own_watts() -> None:
    groups = (sl.NodeGroup("thin", 1, {"cores": 2}), sl.NodeGroup("fat", 1, {"cores": 8}, prefix="f"))
    jobs = sl.Workload.of(submit=[0], runtime=[10], count=[10])
    power = Power(idle=10, groups={"fat": {"idle": 30, "per_core": 2}})
    run = sl.simulate(jobs, sl.Cluster(groups), "fcfs", observers=[power])
    assert joules(run, "energy_kwh") == 10 * (10 + 30 + 8 * 2)
    with pytest.raises(sl.InputError, match=r"no node group 'fast'.*\n.*fat"):
        sl.simulate(jobs, sl.Cluster(groups), "fcfs", observers=[Power(groups={"fast": {"idle": 1}})])
    with pytest.raises(sl.InputError, match=r"has no 'idel'.*\n.*idle"):
        sl.simulate(jobs, sl.Cluster(groups), "fcfs", observers=[Power(groups={"fat": {"idel": 1}})])


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "easy:reservations=2", "skip"])
def test_a_cap_is_kept_and_everybody_gets_his_turn(policy: str) -> None:
    jobs = sl.Workload.of(submit=range(40), runtime=[30, 50] * 20, limit=[60] * 40, count=[1, 2, 3, 4] * 10)
    cap = PowerCap(watts=75, policy=policy, idle=10, per_core=10)
    run = sl.simulate(jobs, TWO, cap)
    assert run.summary["observed"]["peak_power_watts"] == 70  # 20 W idle, and 5 cores
    free = sl.simulate(jobs, TWO, policy)
    assert run.summary["states"]["completed"] == 40
    assert free.jobs["end"].max() < run.jobs["end"].max()


def test_the_cap_on_the_command_line_has_a_name() -> None:
    jobs = sl.Workload.of(submit=[0, 0], runtime=[10, 10], count=[4, 4])
    run = sl.simulate(jobs, TWO, "power-cap(watts=50, policy='easy', per_core=10)")
    assert run.jobs["start"].to_list() == [0, 10]
    assert run.summary["observed"]["peak_power_watts"] == 40


def test_idle_nodes_sleep_and_wake() -> None:
    jobs = sl.Workload.of(submit=[0, 500], runtime=[100, 50], count=[2, 8])
    power = Power(idle=100, per_core=10, off=1, boot=200)
    run = sl.simulate(jobs, TWO, "fcfs", observers=[Sleep(after=60, boot=30), power])
    # Node 2 sleeps at 60, node 1 at 160 (job 1 ended at 100). Job 2 needs both: they boot from 500 to 530.
    assert run.jobs["start"].to_list() == [0, 530]
    assert run.nodes.rows() == [
        (60.0, "n2", "off"),
        (160.0, "n1", "off"),
        (500.0, "n1", "booting"),
        (500.0, "n2", "booting"),
        (530.0, "n1", "up"),
        (530.0, "n2", "up"),
    ]
    first = 100 * 120 + 60 * 100 + 340 * 1  # node 1: job 1, then idle, then off
    second = 60 * 100 + 440 * 1
    booting, running = 2 * 30 * 200, 2 * 50 * 140
    assert joules(run, "energy_kwh") == first + second + booting + running
    assert run.summary["observed"]["boots"] == 2


def test_some_nodes_are_kept_awake() -> None:
    jobs = sl.Workload.of(submit=[0, 500], runtime=[10, 10], count=[1, 4])
    run = sl.simulate(jobs, TWO, "fcfs", observers=[Sleep(after=60, boot=30, keep=1)])
    assert run.jobs["start"].to_list() == [0, 500]
    assert run.nodes["state"].to_list() == ["off"]

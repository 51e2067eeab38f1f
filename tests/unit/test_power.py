"""Power, energy, a power cap and sleeping nodes, against numbers computed by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.planned_runs import read, write

import schedlab as sl
from schedlab.execution.power import Power
from schedlab.execution.power_cap import PowerCap
from schedlab.execution.sleep import Sleep
from schedlab.slurm.decider import RealSlurm

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


POLICIES = pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "easy:reservations=2", "skip"])


@POLICIES
def test_a_cap_is_kept_and_everybody_gets_his_turn(policy: str) -> None:
    jobs = sl.Workload.of(submit=range(40), runtime=[30, 50] * 20, limit=[60] * 40, count=[1, 2, 3, 4] * 10)
    cap = PowerCap(watts=75, policy=policy, idle=10, per_core=10)
    run = sl.simulate(jobs, TWO, cap, validate=True)
    assert run.summary["observed"]["peak_power_watts"] == 70  # 20 W idle, and 5 cores
    free = sl.simulate(jobs, TWO, policy)
    assert run.summary["states"]["completed"] == 40
    assert free.jobs["end"].max() < run.jobs["end"].max()
    assert sl.check(run) == []


@POLICIES
def test_a_cap_that_counts_cores_is_a_smaller_pool(policy: str) -> None:
    """7,000 W on 64 x 4 cores, 60 W idle and 15 W a core: (7000 - 64 x 60) / 15 = 210.7, so 210 cores at a time."""
    log = sl.read_workload(Path(__file__).parents[2] / "examples" / "demo.swf")
    capped = sl.simulate(log, sl.read_cluster("64x4"), PowerCap(7000, policy, idle=60, per_core=15))
    pool = sl.simulate(log, sl.read_cluster("pool:210"), policy)
    assert capped.jobs["start"].equals(pool.jobs["start"])
    assert capped.summary["wait"]["max"] == pool.summary["wait"]["max"]
    assert capped.summary["observed"]["peak_power_watts"] == 64 * 60 + 210 * 15 == 6990
    assert sl.check(capped) == []


def test_reservations_know_the_cap() -> None:
    """Two nodes of 4 cores, 10 W a core, at most 60 W: 6 cores. Job 2 needs them all from 100 on; job 3 would still run
    then, and there are cores for it now, so that only the cap says that it would delay job 2."""
    jobs = sl.Workload.of(submit=[0, 1, 2, 3], runtime=[100, 50, 200, 90], count=[4, 6, 2, 2])
    for policy in ("easy", "conservative", "easy:reservations=2"):
        run = sl.simulate(jobs, TWO, PowerCap(60, policy, per_core=10), validate=True)
        assert run.jobs["start"].to_list() == [0, 100, 150, 3]


def test_groups_of_nodes_with_different_watts_under_a_cap() -> None:
    """A core of the fat node costs 30 W instead of 10 W, and the first job on a node 5 W: 100 W are soon spent."""
    groups = (sl.NodeGroup("thin", 2, {"cores": 2}), sl.NodeGroup("fat", 1, {"cores": 4}, prefix="f"))
    jobs = sl.Workload.of(submit=[0, 0, 0, 0], runtime=[10, 10, 10, 10], count=[4, 1, 1, 7])
    power = Power(active=5, per_core=10, groups={"fat": {"per_core": 30}}, cap=100)
    run = sl.simulate(jobs, sl.Cluster(groups), "skip", observers=[power], validate=True)
    # Job 1: 2 thin nodes, 2 x 5 + 40 = 50 W. Job 2: 5 + 30 W on the fat node, 85 W in all; with job 3 there too, 115 W.
    # Job 4 would be 2 x 5 + 40 + 5 + 90 W all alone.
    assert run.jobs["start"].to_list() == [0, 0, 10, None]
    assert run.jobs["reason"].to_list() == [None, None, None, "over the machine's budget all alone"]
    assert run.summary["observed"]["peak_power_watts"] == 85
    assert sl.check(run) == []


def test_the_judge_finds_a_run_that_exceeds_its_cap(tmp_path: Path) -> None:
    jobs = sl.Workload.of(submit=[0, 0], runtime=[10, 10], count=[4, 4])
    sl.simulate(jobs, TWO, "power-cap(watts=50, per_core=10)", out=tmp_path / "run")
    rows = read(tmp_path / "run", "jobs")
    assert [row["start"] for row in rows] == [0, 10]
    second = rows[1]
    second["start"], second["end"], second["nodes"] = 0.0, 10.0, "n2*4"
    write(tmp_path / "run", "jobs", rows)
    offences = [str(offence) for offence in sl.check(tmp_path / "run") if offence.kind == "over the budget"]
    assert offences == ["over the budget: job 1 at 0: power is 80 with it, the limit is 50"]


def test_a_policy_in_python_is_under_the_cap_too() -> None:
    seen = []

    class Greedy(sl.Policy):
        def decide(self, view: Any, events: Any) -> None:
            for job in view.queue:
                assert view.fits(job) == view.start(job)
                seen.append(view.data["power"])

    jobs = sl.Workload.of(submit=[0, 0, 0], runtime=[10, 10, 10], count=[3, 3, 1])
    run = sl.simulate(jobs, TWO, Greedy(), observers=[Power(idle=1, per_core=10, cap=50)], validate=True)
    assert run.jobs["start"].to_list() == [0, 10, 0]
    assert seen == [32, 32, 42, 32]


def test_two_models_of_power_have_to_agree() -> None:
    jobs = sl.Workload.of(submit=[0], runtime=[10], count=[4])
    run = sl.simulate(jobs, TWO, "power-cap(watts=50, per_core=10)", observers=[Power(per_core=10)])
    assert run.summary["observed"]["peak_power_watts"] == 40
    with pytest.raises(
        sl.InputError, match="power is given twice, with different numbers, by the observers power and power"
    ):
        sl.simulate(jobs, TWO, "power-cap(watts=50, per_core=10)", observers=[Power(per_core=9)])


def test_a_machine_has_one_budget() -> None:
    class Licences(sl.Observer):
        name = "seats"

        def budget(self, cluster: sl.Cluster) -> Any:
            return replace(Power(per_core=1).budget(cluster), name="licences")

    jobs = sl.Workload.of(submit=[0], runtime=[10], count=[4])
    words = r"a machine has one budget: power and licences cannot both be kept\n.*observers power and seats"
    with pytest.raises(sl.InputError, match=words):
        sl.simulate(jobs, TWO, "easy", observers=[Power(per_core=1), Licences()])


def test_a_cap_below_the_idle_machine_is_refused() -> None:
    """Whether nodes may sleep or not: jobs are asked of a machine with all nodes up."""
    jobs = sl.Workload.of(submit=[0], runtime=[10], count=[4])
    for observers in ([], [Sleep(after=60)]):
        for cap in (200, 240):
            with pytest.raises(
                sl.InputError, match=f"cap is {cap} W, the idle machine alone draws 240 W\n.*higher cap"
            ):
                sl.simulate(jobs, TWO, "easy", observers=[*observers, Power(idle=120, per_core=10, cap=cap)])
    run = sl.simulate(jobs, TWO, "easy", observers=[Power(idle=120, cap=240)])  # jobs draw nothing
    assert run.summary["states"]["completed"] == 1
    with pytest.raises(sl.InputError, match="cap is 200 W"):
        sl.simulate(jobs, TWO, "power-cap(watts=200, idle=120)")


def test_a_decider_that_cannot_keep_a_cap_is_not_given_one() -> None:
    class Elsewhere(sl.Policy):
        knows_budget = False

        def decide(self, view: Any, events: Any) -> None:
            for job in view.queue:
                view.start(job)

    jobs = sl.Workload.of(submit=[0], runtime=[10], count=[4])
    with pytest.raises(sl.InputError, match=r"this policy cannot keep a cap of power\n.*leave the cap out"):
        sl.simulate(jobs, TWO, Elsewhere(), observers=[Power(per_core=10, cap=50)])
    run = sl.simulate(jobs, TWO, Elsewhere(), observers=[Power(per_core=10)])
    assert run.summary["observed"]["peak_power_watts"] == 40
    assert not RealSlurm.knows_budget


@pytest.mark.parametrize(("active", "nodes"), [(0, None), (0, [(1, 4)]), (5, None), (5, [(1, 4)])])
def test_a_refusal_names_the_cap_and_only_the_last_start(active: float, nodes: Any) -> None:
    """Job 2 would be over the cap; then an observer does not want job 3, there is no room for job 4, job 5 starts."""
    seen = []

    class Asking(sl.Policy):
        def decide(self, view: Any, events: Any) -> None:
            for job in view.queue:
                view.start(job, nodes if job.id == 2 else None)
                seen.append((job.id, view.now, view.refusal))

    class Picky(sl.Observer):
        name = "picky"

        def allows(self, view: Any, job: Any, nodes: Any) -> bool:
            return bool(job.id != 3)

    requests = [sl.Request({"cores": 1}), sl.Request({"cores": 1}, per_node_max=1)]
    jobs = sl.Workload.of(
        submit=[0] * 5, runtime=[10] * 5, count=[4, 4, 1, 2, 1], request=[0, 0, 0, 1, 0], requests=requests
    )
    observers = [Power(idle=0, active=active, per_core=10, cap=65), Picky()]
    stepper = sl.Stepper(jobs, TWO, Asking(), observers=observers)
    assert stepper.advance()
    stepper.decide()
    assert seen == [
        (1, 0.0, ""),
        (2, 0.0, "the cap of power refused the start of job 2 at 0 s"),
        (3, 0.0, "observer picky refused the start of job 3 at 0 s"),
        (4, 0.0, ""),
        (5, 0.0, ""),
    ]


def test_a_resumption_over_the_cap_is_refused_by_its_name() -> None:
    stepper = sl.Stepper(
        sl.Workload.of(submit=[0, 5], runtime=[10, 10], count=[4, 4]), TWO, observers=[Power(per_core=10, cap=50)]
    )
    view = stepper.view
    assert stepper.advance()
    first = view.queue[0]
    assert view.start(first)
    assert stepper.advance()
    view.suspend(first)
    assert view.start(view.queue[0])
    assert not view.resume(first) and view.refusal == "the cap of power refused the start of job 1 at 5 s"
    assert not view.resume(first, [(1, 4)]) and view.refusal == "the cap of power refused the start of job 1 at 5 s"


def test_energy_of_jobs_that_still_run_when_the_run_ends_early() -> None:
    """At 40 s job 1 (2 cores) runs on node 1, with job 2 (1 core) since 20; job 3 has ended there at 10."""
    jobs = sl.Workload.of(submit=[0, 20, 0, 40], runtime=[100, 100, 10, 1], count=[2, 1, 1, 1])
    stepper = sl.Stepper(jobs, TWO, "fcfs", observers=[Power(idle=50, active=90, per_core=10)])
    while stepper.advance() and stepper.view.now < 40:
        stepper.decide()
    run = stepper.finish()
    assert run.jobs.sort("job")["state"].to_list() == ["running", "running", "completed", "waiting"]
    first = 10 * (60 + 20) + 10 * (90 + 20) + 20 * (60 + 20)
    second, third = 20 * (30 + 10), 10 * (30 + 10)
    assert run.jobs.sort("job")["energy"].to_list() == pytest.approx([first, second, third, None])
    assert joules(run, "unused_energy_kwh") == 40 * 50
    assert joules(run, "energy_kwh") == first + second + third + 40 * 50


def test_sleeping_nodes_leave_more_of_the_cap() -> None:
    """100 W idle, 1 W off, 10 W a core, at most 230 W: 3 cores with both nodes up, all 4 of node 1 with one asleep."""
    jobs = sl.Workload.of(submit=[0, 100, 101], runtime=[10, 100, 10], count=[1, 3, 1])
    power = {"idle": 100, "per_core": 10, "off": 1, "cap": 230}
    awake = sl.simulate(jobs, TWO, "easy", observers=[Power(**power)], validate=True)
    assert awake.jobs["start"].to_list() == [0, 100, 200]
    run = sl.simulate(jobs, TWO, "easy", observers=[Sleep(after=60, boot=30, keep=1), Power(**power)], validate=True)
    assert run.jobs["start"].to_list() == [0, 100, 101]
    assert sl.check(awake) == sl.check(run) == []


def test_a_gate_that_says_no_does_not_lose_the_job() -> None:
    """EASY on nodes: what an observer did not allow is asked again in the next pass."""

    class Later(sl.Observer):
        def allows(self, view: Any, job: Any, nodes: Any) -> bool:
            return bool(job.id != 3 or view.now >= 20)

    jobs = sl.Workload.of(
        submit=[0, 1, 2, 20],
        runtime=[100, 100, 30, 5],
        count=[1, 2, 1, 1],
        request=[0, 0, 0, 0],
        requests=[sl.Request({"cores": 2})],
    )
    run = sl.simulate(jobs, sl.Cluster.uniform(1, cores=4), "easy", observers=[Later()], validate=True)
    assert run.jobs["start"].to_list()[2] == 20


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

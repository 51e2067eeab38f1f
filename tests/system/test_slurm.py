"""The real Slurm as a user meets it: what it decides, what it refuses, and what is left when something goes wrong."""

from __future__ import annotations

import gzip
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests import commands
from tests.slurm_programs import slurm_programs
from tests.slurm_site import CONF, Site, accounting, impatient, own_folder, rows

import schedlab as sl
from schedlab.slurm.decider import RealSlurm
from schedlab.slurm.errors import SlurmError
from schedlab.slurm.workplace import leftovers


@pytest.fixture(scope="session", autouse=True)
def _programs() -> None:
    slurm_programs()


@pytest.fixture(autouse=True)
def _nothing_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with own_folder(monkeypatch):
        yield


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


# ---- what it decides ----


def test_it_starts_jobs_where_it_says_and_they_end_when_they_should(site: Site) -> None:
    site.submit("0 100 -n 8 -t 10", "5 50 -n 16 -t 10", "10 0 -n 1 -t 5")
    run = site.run()
    assert [state for (state,) in rows(run, "state")] == ["completed"] * 3
    for (start, end), runtime in zip(rows(run, "start", "end"), (100, 50, 0), strict=True):
        assert end - start == pytest.approx(runtime)
    own = accounting(run)
    assert own["state"].to_list() == ["COMPLETED"] * 3 and own["cpus"].to_list() == [8, 16, 1]
    assert own["user"].to_list() == ["ann"] * 3


def test_a_job_that_runs_over_its_limit_is_killed_by_slurm(site: Site) -> None:
    site.submit("0 1000 -n 1 -t 5")
    run = site.run()
    ((state, start, end),) = rows(run, "state", "start", "end")
    assert state == "killed" and 300 <= end - start <= 400
    assert run.summary["reasons"] == {"time limit": 1}
    assert accounting(run)["state"].to_list() == ["TIMEOUT"]


def test_options_that_only_slurm_understands_reach_it(site: Site) -> None:
    site.submit(
        "0 600 -N 4 --exclusive -t 20",
        "10 60 -n 1 -t 5 --nice=5000",
        "20 60 -n 1 -t 5",
        "30 60 -n 1 -t 5 --dependency=afterok:3",
        "40 60 -n 2 -t 5 --nodelist=n3",
        "50 60 -n 1 -t 5 --begin=now+2000",
    )
    run = site.run()
    start = dict(rows(run, "job", "start"))
    assert start[2] >= 600 and start[3] >= 600  # the machine belonged to the first one alone
    assert start[4] >= start[3] + 60
    assert accounting(run).filter(pl.col("job") == 5)["nodes"].to_list() == ["n3"]
    assert start[6] >= 2050


def test_an_array_is_one_submission_and_every_task_a_job_of_its_own(site: Site) -> None:
    site.submit("0 100 -n 8 -t 10 --array=1-6%2")
    run = site.run()
    assert [state for (state,) in rows(run, "state")] == ["completed"] * 6
    starts = sorted(start for (start,) in rows(run, "start"))
    assert starts[2] >= starts[0] + 100 and starts[4] >= starts[2] + 100  # two at a time
    log = gzip.decompress(run.evidence("slurm/slurmctld.log.gz")).decode()
    assert log.count("_slurm_rpc_submit_batch_job") == 1


def test_all_cpus_and_nodes_that_slurm_gives_are_the_jobs(site: Site) -> None:
    site.configure("PartitionName=whole Nodes=n[1-4] OverSubscribe=EXCLUSIVE\n")
    site.submit("0 100 -N 2 -n 2 --exclusive -t 5", "200 100 -n 1 -t 5 -p whole", "400 100 -n 1 --mincpus=4 -t 5")
    run = site.run()
    assert [cores for (cores,) in rows(run, "cores")] == [16, 8, 4]
    assert run.jobs.sort("job")["cores"].to_list() == accounting(run)["cpus"].to_list()


def test_threads_are_what_slurm_calls_cpus(site: Site) -> None:
    site.configure(text=CONF.replace("CPUs=8", "CPUs=8 Sockets=1 CoresPerSocket=4 ThreadsPerCore=2"))
    site.submit("0 100 -n 1 -t 5", "0 100 -n 1 -t 5", "0 100 -n 3 -t 5", "0 100 -n 32 -t 5")
    run = site.run()
    assert rows(run, "cores") == [(2,), (2,), (4,), (32,)]  # whole cores
    assert run.config["cluster"]["groups"][0]["resources"]["cores"] == 8


def test_gpus_of_two_types_are_told_apart(site: Site) -> None:
    conf = CONF.replace("SelectType=", "GresTypes=gpu\nSelectType=")
    site.configure("NodeName=g1 CPUs=8 Gres=gpu:a100:2,gpu:v100:1\nPartitionName=gpu Nodes=g1\n", conf)
    site.submit(
        "0 100 -n 2 -t 5 -p gpu --gpus=2",
        "200 100 -n 1 -t 5 -p gpu --gres=gpu:a100:2",
        "400 9 -n 1 -t 5 -p gpu --gres=gpu:3",
    )
    run = site.run()
    assert [state for (state,) in rows(run, "state")] == ["completed"] * 3
    told = run.places.sort("job").select("job", "gpus", "gpu:a100", "devices").rows()
    assert [row[:3] for row in told[1:]] == [(2, 2, 2), (3, 3, 2)] and told[0][1] == 2
    assert told[1][3].endswith("gpus=0-1") and told[2][3].endswith("gpus=0-2")


def test_dependencies_hold_also_for_arrays_names_and_minutes(site: Site) -> None:
    site.submit(
        "0 100 -n 1 -t 5 --array=1-3",
        "0 100 -n 1 -t 5 --array=1-3 --dependency=aftercorr:1",
        "0 10 -n 1 -t 5 --dependency=after:1+5",
    )
    text = site.jobs.read_text()
    for number in (4, 5):
        text += f"-dt {number} -e submit_batch_job | -J prog -sim-walltime 50 --uid=bob -n 1 -t 5 -d singleton x\n"
    site.jobs.write_text(text)
    run = site.run()
    start, end = run.jobs.sort("job")["start"].to_list(), run.jobs.sort("job")["end"].to_list()
    assert all(start[3 + task] >= end[task] for task in range(3))
    assert start[6] >= 300
    assert max(start[7:]) >= min(end[7:])  # one after the other
    assert sorted(accounting(run)["job"].to_list()) == list(range(1, 10))


def test_a_job_without_a_limit_gets_the_partitions(site: Site) -> None:
    site.configure("PartitionName=short Nodes=n1 DefaultTime=1 MaxTime=10\n")
    site.submit("0 400 -n 1 -p short", "0 30 -n 1 -p short", "0 7200 -n 1 -t 0 -p urgent")
    states = [state for (state,) in rows(site.run(), "state")]
    assert states == ["killed", "completed", "completed"]


def test_jobs_that_wait_for_nodes_to_come_back_are_not_given_up(site: Site, tmp_path: Path) -> None:
    from schedlab.execution.failures import Failures

    outages = tmp_path / "outages.csv"
    outages.write_text("node,from,until\n" + "".join(f"n{n},5,10000\n" for n in (1, 2, 3, 4)))
    site.submit("0 1000 -n 32 -t 60", "10 100 -n 1 -t 5")
    with impatient(3600.0):
        run = site.run(observers=[Failures(trace=outages)])
    assert [state for (state,) in rows(run, "state")] == ["completed"] * 2
    assert min(start for (start,) in rows(run, "start")) >= 10_000


def test_preemption_requeues_and_the_job_does_its_work_again(site: Site) -> None:
    site.configure("PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\nJobRequeue=1\n")
    site.submit("0 1000 -N 4 -n 32 -t 60 -p work", "100 200 -N 4 -n 32 -t 10 -p urgent")
    run = site.run()
    (first, second) = rows(run, "state", "start", "end")
    assert first[0] == second[0] == "completed"
    assert second[1] < 200 and first[1] >= second[2] and first[2] - first[1] == pytest.approx(1000)
    assert run.pieces.filter(pl.col("job") == 1)["end"].len() == 2
    assert run.summary["requeues"] == {"preempted": 1}


def test_a_job_that_is_cancelled_for_another_one_was_preempted(site: Site) -> None:
    site.configure("PreemptType=preempt/partition_prio\nPreemptMode=CANCEL\n")
    site.submit("0 1000 -N 4 -n 32 -t 60 -p work", "100 200 -N 4 -n 32 -t 10 -p urgent")
    run = site.run()
    assert rows(run, "state", "reason") == [("killed", "preempted"), ("completed", None)]
    assert run.summary["reasons"] == {"preempted": 1}


def test_nodes_that_fail_take_their_jobs_with_them_and_come_back(site: Site, tmp_path: Path) -> None:
    from schedlab.execution.failures import Failures

    outages = tmp_path / "outages.csv"
    outages.write_text("node,from,until\nn1,300,5000\nn2,300,5000\nn3,300,5000\nn4,300,5000\n")
    site.submit("0 1000 -n 8 -t 60", "400 100 -n 1 -t 10")
    run = site.run(observers=[Failures(trace=outages)])
    assert [state for (state,) in rows(run, "state")] == ["completed"] * 2
    assert all(start >= 5000 for (start,) in rows(run, "start"))
    assert run.summary["requeues"] == {"node failure": 1}
    assert run.summary["observed"]["failed_jobs"] == 1


def test_a_user_may_withdraw_a_waiting_job(site: Site) -> None:
    site.submit("0 1000 -N 4 -n 32 -t 60", "10 100 -n 1 -t 5")
    text = site.jobs.read_text().replace("-sim-walltime 100 ", "-sim-walltime 100 -cancel-in 50 ")
    site.jobs.write_text(text)
    run = site.run()
    assert rows(run, "state", "end")[1] == ("cancelled", 60.0)
    assert accounting(run)["state"].to_list() == ["COMPLETED", "CANCELLED"]


def test_another_phase_is_another_repetition_and_the_same_phase_the_same_bytes(site: Site) -> None:
    site.submit(*(f"{30 * n} 400 -n {1 + n % 16} -t 10" for n in range(30)))
    runs = [site.run(phase=phase) for phase in (30, 30, 47)]
    starts = [rows(run, "start") for run in runs]
    assert starts[0] == starts[1] != starts[2]


def test_scheduling_may_cost_simulated_time(site: Site) -> None:
    site.submit(*(f"0 100 -n {1 + n % 8} -t 5" for n in range(20)))
    free, costly = (site.run(tick=tick).jobs["start"].to_list() for tick in (0.0, 1e-3))
    # Without a cost, all that one pass starts is started in one moment; with one, each look at the clock is later.
    assert len(set(free)) < len(set(costly))


# ---- what it refuses ----


def test_a_job_that_slurm_rejects_is_told_in_its_words(site: Site) -> None:
    site.submit("0 10 -n 1 -t 5 --licenses=nosuch:1", "0 10 -n 1 -t 5")
    decider = RealSlurm(site.conf, evidence=0)
    run = sl.simulate(sl.read_workload(site.jobs, requests="full"), decider.setup.cluster(), decider)
    assert [state for (state,) in rows(run, "state")] == ["rejected", "completed"]
    assert decider.refusals() == {"Invalid license specification (2048)": [1]}
    refused = pl.read_parquet(io.BytesIO(run.evidence("slurm/refused.parquet")))
    assert refused.row(0)[0] == 1


def test_jobs_that_can_never_start_are_given_up_with_slurms_reason(site: Site) -> None:
    site.submit("0 10 -n 1 -t 5 --hold", "0 10 -n 1 -t 5")
    decider = RealSlurm(site.conf, evidence=0)
    with impatient(3600.0):
        run = sl.simulate(sl.read_workload(site.jobs, requests="full"), decider.setup.cluster(), decider)
    (held, given_up), (other, idle_since) = rows(run, "state", "end")
    assert (held, other) == ("rejected", "completed")
    assert idle_since + 3600 <= given_up <= idle_since + 3700
    assert "never started: JobHeldUser" in next(iter(decider.refusals()))


def test_a_conf_that_slurm_refuses_ends_in_its_words(site: Site) -> None:
    site.configure("PriorityDecayHalfLife=soon\n")
    site.submit("0 10 -n 1 -t 5")
    with pytest.raises(SlurmError, match=r"slurmctld .*PriorityDecayHalfLife"):
        site.run()


def test_a_plugin_that_is_missing_is_named_before_anything_starts(site: Site) -> None:
    site.configure(text=CONF.replace("select/cons_tres", "select/cray"))
    site.submit("0 10 -n 1 -t 5")
    with pytest.raises(sl.InputError, match=r"select/cray") as caught:
        site.run()
    assert "slurm.conf, line" in str(caught.value)


def test_another_cluster_than_the_confs_is_refused(site: Site) -> None:
    site.submit("0 10 -n 1 -t 5")
    with pytest.raises(sl.InputError, match=r"has nodes that the slurm.conf does not: n5, n6"):
        sl.simulate(sl.read_workload(site.jobs), sl.Cluster.uniform(6, cores=8), RealSlurm(site.conf))


@pytest.mark.parametrize("setting", ["PreemptMode=SUSPEND,GANG", "PartitionName=p Nodes=n1 OverSubscribe=FORCE:2"])
def test_cpus_that_jobs_share_are_refused_before_anything_starts(site: Site, setting: str) -> None:
    site.configure(setting + "\n")
    with pytest.raises(sl.InputError, match="CPUs that jobs share cannot be told here"):
        RealSlurm(site.conf)


@pytest.mark.parametrize("argument", [{"phase": float("nan")}, {"phase": -5}, {"evidence": "10m"}, {"tick": 1e9}])
def test_arguments_that_make_no_sense_are_named(site: Site, argument: dict[str, Any]) -> None:
    with pytest.raises(sl.InputError, match=f"slurm-real: {next(iter(argument))} cannot be"):
        RealSlurm(site.conf, **argument)


def test_options_that_no_sbatch_takes_are_told_before_anything_starts_and_others_left_out(site: Site) -> None:
    site.submit("0 10 -n 1 -t 5 --nice=much", "0 10 -n 1 -t 5 --bb=capacity")
    with pytest.raises(sl.InputError, match=r"job 1: --nice: 'much' is not"):
        site.run()
    site.submit("0 10 -n 1 -t 5 --bb=capacity")
    decider = RealSlurm(site.conf, evidence=0)
    sl.simulate(sl.read_workload(site.jobs, requests="full"), decider.setup.cluster(), decider)
    assert decider.left_out() == {"bb"}


# ---- what happens when something breaks ----


class Killer(sl.Observer):
    """Kills slurmctld at a time."""

    def __init__(self, decider: RealSlurm, at: float) -> None:
        self.decider, self.at = decider, at

    def before(self, view: Any) -> None:
        if view.now >= self.at:
            os.kill(self.decider.process_id, signal.SIGKILL)


def test_a_crash_in_the_middle_is_told_and_what_was_simulated_is_kept(site: Site, tmp_path: Path) -> None:
    site.submit("0 100 -n 1 -t 5", "200 100 -n 1 -t 5", "400 100 -n 1 -t 5")
    decider = RealSlurm(site.conf)
    workload = sl.read_workload(site.jobs, requests="full")
    with pytest.raises(SlurmError, match="slurmctld was killed by SIGKILL"):
        sl.simulate(workload, decider.setup.cluster(), decider, observers=[Killer(decider, 350)], out=tmp_path / "run")
    run = sl.read_run(tmp_path / "run")
    assert "killed by SIGKILL" in run.incomplete
    assert rows(run, "state")[:2] == [("completed",), ("completed",)]
    assert b"slurmctld version" in gzip.decompress(run.evidence("slurm/slurmctld.log.gz"))


def test_when_the_driver_is_killed_nothing_goes_on(site: Site, tmp_path: Path) -> None:
    site.submit(*(f"{n} 100000 -n 32 -t 600" for n in range(50)))
    code = (
        "import sys, schedlab as sl; from schedlab.slurm.decider import RealSlurm\n"
        "d = RealSlurm(sys.argv[1]); begin = d.open\n"
        "def told(*given):\n    begin(*given); print(d.process_id, flush=True)\n"
        "d.open = told\n"
        "sl.simulate(sl.read_workload(sys.argv[2]), d.setup.cluster(), d)\n"
    )
    driver = subprocess.Popen([sys.executable, "-c", code, site.conf, site.jobs], stdout=subprocess.PIPE, text=True)
    assert driver.stdout is not None
    slurmctld = int(driver.stdout.readline())
    assert is_running(slurmctld)
    driver.kill()
    driver.wait()
    until = time.monotonic() + 20
    while is_running(slurmctld) and time.monotonic() < until:
        time.sleep(0.02)
    assert not is_running(slurmctld)
    assert leftovers()  # its folder, which the next one removes
    site.submit("0 10 -n 1 -t 5")
    site.run()
    assert not leftovers()


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_nothing_listens_on_the_network(site: Site) -> None:
    site.submit("0 10 -n 1 -t 5")
    decider = RealSlurm(site.conf)
    seen: list[str] = []

    class Look(sl.Observer):
        def before(self, view: Any) -> None:
            for pid in family(decider.process_id):
                seen.extend(str(entry.readlink()) for entry in Path(f"/proc/{pid}/fd").iterdir())

    sl.simulate(sl.read_workload(site.jobs, requests="full"), decider.setup.cluster(), decider, observers=[Look()])
    sockets = {text for text in seen if text.startswith("socket:")}
    inet = "".join(Path(f"/proc/net/{name}").read_text() for name in ("tcp", "tcp6", "udp", "udp6"))
    listed = {f"socket:[{line.split()[9]}]" for line in inet.splitlines() if ":" in line}
    assert sockets and not sockets & listed


def family(pid: int) -> list[int]:
    """A process and its children."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *map(int, children)]


HOG = """
import random
import time

while True:  # it comes and goes
    until = time.monotonic() + random.uniform(0, 0.02)
    while time.monotonic() < until:
        pass
    time.sleep(random.uniform(0, 0.02))
"""


@pytest.mark.slow
def test_ten_repeats_two_at_a_time_beside_a_cpu_hog_are_the_same(tmp_path: Path) -> None:
    """All on one core: each of them has to give way at any moment."""
    micro = Path(__file__).parents[2] / "examples" / "micro_cluster"
    jobs = tmp_path / "jobs.events"
    jobs.write_text("".join((micro / "jobs.events").read_text().splitlines(keepends=True)[:40]))
    core = {max(os.sched_getaffinity(0))}

    def replay(number: int) -> int:
        words = ("slurm", "replay", "--conf", micro / "slurm.conf", "--jobs", jobs, "--quiet")
        return commands.schedlab(*words, "--out", tmp_path / f"run{number}", cores=core).returncode

    hog = subprocess.Popen([sys.executable, "-c", HOG])
    try:
        os.sched_setaffinity(hog.pid, core)
        with ThreadPoolExecutor(2) as two:
            assert list(two.map(replay, range(10))) == [0] * 10
    finally:
        hog.kill()
        hog.wait()
    for name in ("jobs.parquet", "slurm/accounting.parquet", "slurm/priorities.parquet", "slurm/shares.parquet"):
        assert len({(tmp_path / f"run{n}" / name).read_bytes() for n in range(10)}) == 1, name

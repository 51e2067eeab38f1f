"""evalys, which reads what Batsim writes, reads and draws what we write, unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests import batsim_tools

import schedlab as sl
from schedlab.bridge.batsim.export import export_run

pytestmark = batsim_tools.there


@pytest.fixture(scope="module", autouse=True)
def evalys() -> None:
    batsim_tools.importable()


@pytest.fixture(scope="module")
def run() -> sl.Run:
    count = [1 + 7 * place % 23 for place in range(60)]
    runtime = [30 + 11 * place % 97 for place in range(60)]
    jobs = sl.Workload.of(submit=range(0, 600, 10), runtime=runtime, limit=runtime, count=count, name="sixty")
    return sl.simulate(jobs, "16x4", "easy")


@pytest.fixture(scope="module")
def prefix(run: sl.Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    prefix = tmp_path_factory.mktemp("evalys") / "easy"
    export_run(run, str(prefix))
    return prefix


def test_it_finds_the_same_schedule(run: sl.Run, prefix: Path) -> None:
    from evalys.jobset import JobSet

    jobs = JobSet.from_csv(f"{prefix}_jobs.csv")
    assert (jobs.MaxProcs, len(jobs.df)) == (64, run.summary["jobs"])
    assert jobs.df["waiting_time"].mean() == pytest.approx((run.jobs["start"] - run.jobs["submit"]).mean())
    # Every job has as many resources as it asked for, and nobody has another's: the load is never above the machine.
    assert (jobs.df["proc_alloc"] == jobs.df["requested_number_of_resources"]).all()
    assert jobs.utilisation["load"].max() <= 64
    seconds = jobs.df["proc_alloc"] * (jobs.df["finish_time"] - jobs.df["starting_time"])
    assert seconds.sum() == float((run.jobs["cores"] * (run.jobs["end"] - run.jobs["start"])).sum())


def test_it_draws_the_schedule(prefix: Path, tmp_path: Path) -> None:
    import matplotlib.pyplot as pyplot
    from evalys.jobset import JobSet

    jobs = JobSet.from_csv(f"{prefix}_jobs.csv")
    pyplot.switch_backend("Agg")
    jobs.plot(with_details=True)
    pyplot.savefig(tmp_path / "plot.png")
    pyplot.close("all")
    jobs.gantt()
    pyplot.savefig(tmp_path / "gantt.png")
    pyplot.close("all")
    assert (tmp_path / "plot.png").stat().st_size > 20_000
    assert (tmp_path / "gantt.png").stat().st_size > 20_000


def test_it_reads_states_of_machines(prefix: Path) -> None:
    from evalys.mstates import MachineStatesChanges

    states = MachineStatesChanges(f"{prefix}_machine_states.csv")  # checks columns and sums itself
    assert states.df["nb_computing"].max() <= 64
    assert states.df["nb_idle"].iloc[-1] == 64

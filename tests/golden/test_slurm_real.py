"""The real Slurm, in simulated time, does again what it did when the stored runs were made: bit for bit."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.slurm_programs import slurm_programs

import schedlab as sl
from schedlab.slurm.decider import RealSlurm

ACCOUNTS = """
[accounts.account1]
fairshare = 100
[accounts.account2]
fairshare = 100
[users]
user1 = { accounts = ["account1"] }
user2 = { accounts = ["account1"] }
user3 = { accounts = ["account1"] }
user4 = { accounts = ["account2"] }
user5 = { accounts = ["account2"] }
"""


@pytest.fixture(scope="session", autouse=True)
def _programs() -> None:
    slurm_programs()


def as_events(table: Path, accounts: bool) -> str:
    """The stored workload as sbatch was given it."""
    lines = []
    for row in csv.DictReader(table.open()):
        more = [f"-A {row['account']}"] if accounts else []
        more += [f"-C {row['constraint']}"] if row["constraint"] else []
        more += [f"--mem={row['mem_mb']}"] if row["mem_mb"] else []
        more += [f"--gres={row['gres']}"] if row["gres"] else []
        lines.append(
            f"-dt {row['submit']} -e submit_batch_job | -J jobid_{row['job']} -sim-walltime {row['runtime_s']} "
            f"--uid={row['user']} -n {row['ntasks']} --ntasks-per-node={row['tasks_per_node']} "
            f"-t {row['walltime_min']} {' '.join(more)} job.sh"
        )
    return "\n".join(lines) + "\n"


BEGINNING = 170  # jobs


def replayed(traces: Path, folder: Path, variant: str, phase: float, jobs: int | None = None) -> sl.Run:
    stored = traces / "slurm-real"
    fair = variant == "vc_fairshare"
    events = folder / "jobs.events"
    events.write_text("".join(as_events(stored / "workload.csv", fair).splitlines(keepends=True)[:jobs]))
    accounts = folder / "accounts.toml"
    accounts.write_text(ACCOUNTS)
    conf = stored / variant / "slurm.conf"
    decider = RealSlurm(conf, phase=phase, accounts=accounts if fair else None)
    return sl.simulate(sl.read_workload(events, requests="full"), sl.read_cluster(conf), decider)


def accounting(run: sl.Run) -> pl.DataFrame:
    """What Slurm itself wrote down, and the priority that the engine was told."""
    own = pl.read_parquet(io.BytesIO(run.evidence("slurm/accounting.parquet")))
    started = run.jobs.select("job", priority=pl.col("priority").cast(pl.Int64))
    return own.join(started, on="job").sort("job")


@pytest.mark.traces
@pytest.mark.parametrize("phase", [10, 20, 30])
@pytest.mark.parametrize("variant", ["vc_prio_size", "vc_fairshare"])
def test_stored_runs(traces: Path, tmp_path: Path, variant: str, phase: int) -> None:
    """With one phase all jobs, with the others the beginning: later jobs do not change what was before they came."""
    stored = pl.read_csv(traces / "slurm-real" / variant / f"run_dt{phase}.csv").sort("job")
    jobs = None if phase == 30 else BEGINNING
    run = replayed(traces, tmp_path, variant, phase, jobs)
    found = accounting(run)
    if jobs:
        before = stored["submit"][jobs]
        stored, found = (table.filter(pl.col("start") < before) for table in (stored, found))
        assert len(stored) > jobs // 2
    theirs = {"cpus": "ncpus", "priority": "priority_at_start"}
    for column in ("job", "submit", "eligible", "start", "end", "nodes", "cpus", "state", "user", "priority"):
        assert found[column].to_list() == stored[theirs.get(column, column)].to_list(), column
    if (variant, phase) == ("vc_fairshare", 30):
        folder = traces / "slurm-real" / variant
        assert priorities(run) == sprio(folder / "dump_sprio.txt")
        last = run.jobs["end"].max()  # the stored table has one more sample, of the empty machine
        assert shares(run) == [row for row in sshare(folder / "dump_sshare.txt") if row[0] <= last]


def priorities(run: sl.Run) -> list[tuple[int, ...]]:
    table = pl.read_parquet(io.BytesIO(run.evidence("slurm/priorities.parquet")))
    columns = ("time", "job", "priority", "age", "fairshare", "job_size", "partition_factor", "qos")
    return sorted(tuple(round(value) for value in row) for row in table.select(columns).iter_rows())


def sprio(path: Path) -> list[tuple[int, ...]]:
    return sorted(tuple(map(int, line.split(","))) for line in path.read_text().splitlines())


def shares(run: sl.Run) -> list[tuple[Any, ...]]:
    """Time, account, user, raw usage and effective usage, as sshare prints them."""
    table = pl.read_parquet(io.BytesIO(run.evidence("slurm/shares.parquet")))
    return [
        (int(row["time"]), row["account"], row["user"], str(row["raw_usage"]), f"{row['effective_usage']:.6f}")
        for row in table.iter_rows(named=True)
    ]


def sshare(path: Path) -> list[tuple[Any, ...]]:
    found = []
    for line in path.read_text().splitlines():
        time, rest = line.split(",", 1)
        account, user, _, _, usage, _, effective, *_ = rest.split("|")
        found.append((int(time), account.strip(), user, usage, effective))
    return found

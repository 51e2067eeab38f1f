"""Schedules that others have published: every start time equal.

The SC'15 study (Gaussier, Glesser, Reis, Trystram) was computed with pyss, which asks its scheduler after every single
event (`passes=event`); ELiSE handles the events of one instant together.
"""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

import schedlab
from schedlab import Cluster, Workload
from schedlab.model.run import Run


@dataclass(frozen=True)
class Published:
    file: str
    procs: int
    jobs: int
    policy: str
    estimate: str
    bounded_slowdown: float
    wait: float


EASY, SJBF = "easy", "easy:scan=sjf"
STUDY = [
    Published("KTH-SP2-EASY", 100, 28_481, EASY, "limit", 92.5765, 6836.872),
    Published("KTH-SP2-EASY-clairvoyant", 100, 28_481, EASY, "exact", 71.7224, 6327.682),
    Published("KTH-SP2-EASY-SJBF-clairvoyant", 100, 28_481, SJBF, "exact", 49.8477, 5436.021),
    Published("CTC-SP2-EASY", 338, 77_199, EASY, "limit", 49.5713, 14272.595),
    Published("CTC-SP2-EASY-clairvoyant", 338, 77_199, EASY, "exact", 37.1654, 13581.716),
    Published("CTC-SP2-EASY-SJBF-clairvoyant", 338, 77_199, SJBF, "exact", 17.5717, 10004.961),
    Published("CTC-SP2-EASYpp-tsafrir", 338, 77_199, SJBF, "last-two", 85.7672, 38845.702),
    Published("SDSC-SP2-EASY", 128, 54_006, EASY, "limit", 87.8703, 20497.761),
    Published("SDSC-SP2-EASY-clairvoyant", 128, 54_006, EASY, "exact", 70.4779, 17337.106),
]


def result_file(traces: Path, name: str) -> Path:
    return traces / "results" / f"predictsim-{name}.swf.gz"


def published_starts(path: Path) -> pl.DataFrame:
    """Job number and start (submit + wait) of a result file, read here and not by the reader under test."""
    with gzip.open(path, "rt") as file:
        rows = [line.split() for line in file if not line.startswith(";")]
    starts = [float(row[1]) + float(row[2]) for row in rows]
    return pl.DataFrame({"job": [int(row[0]) for row in rows], "published": starts})


def bounded_slowdown(jobs: pl.DataFrame) -> float:
    run = pl.col("end") - pl.col("start")
    return float(jobs.select(((pl.col("end") - pl.col("submit")) / run.clip(10)).clip(1).mean()).item())


def assert_same_schedule(run: Run, case: Published, path: Path) -> None:
    jobs = run.jobs.join(published_starts(path), on="job", how="inner", validate="1:1")
    assert len(jobs) == len(run.jobs) == case.jobs
    assert jobs.filter(pl.col("start") != pl.col("published")).select("job", "start", "published").rows() == []
    assert round(bounded_slowdown(jobs), 4) == case.bounded_slowdown
    assert round(run.summary["bounded_slowdown"]["mean"], 4) == case.bounded_slowdown
    assert round(run.summary["wait"]["mean"], 3) == case.wait


@pytest.mark.parametrize("case", STUDY, ids=lambda case: case.file)
def test_study_of_2015(case: Published, traces: Path) -> None:
    path = result_file(traces, case.file)
    jobs = schedlab.read_workload(path, clean="none")
    pool = Cluster.of_cores(case.procs)
    run = schedlab.simulate(jobs, pool, case.policy, estimate=case.estimate, passes="event")
    assert_same_schedule(run, case, path)


def test_study_of_2015_from_the_archives_own_log(traces: Path) -> None:
    """The study's filter is the cleaning rule `strict`: it leaves exactly its job list."""
    case = next(case for case in STUDY if case.file == "CTC-SP2-EASY")
    log = traces / "CTC-SP2-1996-3.1-cln.swf.gz"
    jobs = schedlab.read_workload(log, clean="strict", max_procs=case.procs)
    run = schedlab.simulate(jobs, Cluster.of_cores(case.procs), case.policy, passes="event")
    assert_same_schedule(run, case, result_file(traces, case.file))


@pytest.mark.parametrize(
    ("cluster", "policy"),
    [(Cluster.of_cores(256), "fcfs"), (Cluster.uniform(8, cores=32), "none:nodes=exclusive")],
    ids=["pool", "nodes"],
)
def test_fifo_of_elise(cluster: Cluster, policy: str, traces: Path) -> None:
    with gzip.open(traces / "results" / "elise-workload0-fifo.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    columns = {"submit": "Submit Time", "runtime": "Run Time", "limit": "Requested Time"}
    jobs = Workload.of(
        count=[int(row["Number of Allocated Processors"]) for row in rows],
        **{name: [float(row[title]) for row in rows] for name, title in columns.items()},
    )
    run = schedlab.simulate(jobs, cluster, policy)
    published = [float(row["Submit Time"]) + float(row["Wait Time"]) for row in rows]
    # Its waits were rounded when they were computed, so that the sum can differ in the last digits.
    assert run.jobs["start"].to_list() == pytest.approx(published, rel=0, abs=1e-6)
    assert len(published) == 10_000
    assert round(bounded_slowdown(run.jobs), 4) == 2.3027
    assert round(run.summary["wait"]["mean"], 3) == 215.888

"""The oracle, too, gives the published schedules: it is the judge of the engine, and this is its own outside truth.

It is slow, so only the beginning of each log is replayed. What is left out cannot change what happened before it came.
"""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest
from tests.oracle import Job, Policy, simulate

from schedlab.model.cluster import Cluster

COLUMNS = ("Submit Time", "Wait Time", "Run Time", "Requested Time", "Number of Allocated Processors")


def replay(
    rows: list[dict[str, float]], jobs: int, cluster: Cluster, policy: Policy, tolerance: float = 0.0, **options: str
) -> int:
    """Compare the starts before the first job that is left out; how many there are."""
    kept, horizon = rows[:jobs], rows[jobs]["submit"]
    columns = ("submit", "runtime", "limit", "count", "user")
    numbered = [Job(n, n, **{name: row[name] for name in columns}) for n, row in enumerate(kept)]  # type: ignore[arg-type]
    results = simulate(numbered, cluster, policy, **options)
    pairs = [(result.start, row["start"]) for result, row in zip(results, kept, strict=True) if row["start"] < horizon]
    assert [pair for pair in pairs if abs(pair[0] - pair[1]) > tolerance] == []
    return len(pairs)


@pytest.mark.parametrize(
    ("name", "procs", "scan", "estimate", "jobs"),
    [
        ("KTH-SP2-EASY", 100, None, "limit", 2000),
        ("KTH-SP2-EASY-clairvoyant", 100, None, "exact", 2000),
        ("KTH-SP2-EASY-SJBF-clairvoyant", 100, "sjf", "exact", 2000),
        ("CTC-SP2-EASYpp-tsafrir", 338, "sjf", "last-two", 500),
    ],
)
def test_study_of_2015(traces: Path, name: str, procs: int, scan: str | None, estimate: str, jobs: int) -> None:
    rows = []
    with gzip.open(traces / "results" / f"predictsim-{name}.swf.gz", "rt") as file:
        for line in file:
            if not line.startswith(";"):
                number, submit, wait, run, procs_used, *rest = (int(field) for field in line.split())
                start = submit + wait
                row = {"submit": submit, "start": start, "runtime": run, "count": procs_used, "limit": rest[3]}
                rows.append({**row, "user": rest[6], "number": number})
    rows.sort(key=lambda row: (row["submit"], row["number"]))
    policy = Policy("easy", scan=scan)
    assert replay(rows, jobs, Cluster.of_cores(procs), policy, estimate=estimate, passes="event") > 0.7 * jobs


@pytest.mark.parametrize("cluster", [Cluster.of_cores(256), Cluster.uniform(8, cores=32)], ids=["pool", "nodes"])
def test_fifo_of_elise(traces: Path, cluster: Cluster) -> None:
    with gzip.open(traces / "results" / "elise-workload0-fifo.csv.gz", "rt") as file:
        read = [{name: float(row[name]) for name in COLUMNS} for row in csv.DictReader(file)]
    rows = [
        {
            "submit": row["Submit Time"],
            "start": row["Submit Time"] + row["Wait Time"],
            "runtime": row["Run Time"],
            "limit": row["Requested Time"],
            "count": int(row["Number of Allocated Processors"]),
            "user": -1,
        }
        for row in read
    ]
    exclusive = Policy("none", exclusive=not cluster.pool)
    assert replay(rows, 2000, cluster, exclusive, tolerance=1e-6) > 1900

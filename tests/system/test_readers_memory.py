"""What reads runs needs memory for what it looks at: four times as many jobs take hardly more."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from benchmarks.measure import process
from benchmarks.workload import LogSpec, write_log

SIZES = (150_000, 600_000)
MOST = 100  # bytes a job. Read as a whole, stories took 135 of them, pairs 155, charts 460, logs 600, the judge 2,300
SCHEDLAB = [sys.executable, "-m", "schedlab"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of both sizes under two policies."""
    folder = tmp_path_factory.mktemp("runs")
    for jobs in SIZES:
        log = write_log(LogSpec(jobs, nodes=1000, cores=4), folder)
        for policy in ("easy", "fcfs"):
            out = folder / f"{policy}-{jobs}"
            process([*SCHEDLAB, "run", log, "--cluster", "1000x4", "--policy", policy, "--out", out])
    return folder


@pytest.mark.parametrize(
    "words",
    [
        "check {easy}",
        "export {easy} {folder}/log.swf --force",
        "compare {easy} {fcfs}",
        "compare {easy} {fcfs} --paired",
        "compare {easy} {fcfs} --trim 10%",
        "plot {easy} --kind gantt --from 2d --to 3d -o {folder}/chart.png --force",
        "why {easy} 75000",
    ],
    ids=lambda words: str(words).partition(" ")[0],
)
def test_memory_does_not_follow_the_log(folder: Path, words: str) -> None:
    peaks = []
    for jobs in SIZES:
        runs = {policy: folder / f"{policy}-{jobs}" for policy in ("easy", "fcfs")}
        spent, _ = process([*SCHEDLAB, *(word.format(**runs, folder=folder) for word in words.split())])
        peaks.append(spent.peak_mb)
    slope = (peaks[1] - peaks[0]) * 2**20 / (SIZES[1] - SIZES[0])
    assert slope < MOST, f"{peaks[0]:.0f} MB for {SIZES[0]:,} jobs, {peaks[1]:.0f} MB for {SIZES[1]:,}"

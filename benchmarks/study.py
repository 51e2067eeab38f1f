"""`schedlab experiment`: what the orchestration of many short runs adds to the runs themselves."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import subject
from benchmarks.measure import process
from benchmarks.report import Line
from benchmarks.settings import Settings

STUDY = """
repetitions = {repetitions}
keep = "{keep}"
[workload]
model = "lublin(processors=256)"
jobs = {jobs}
pressure = 0.9
[run]
cluster = "pool:256"
policy = ["easy", "easy:order=sjf"]
"""


def lines(settings: Settings) -> Iterator[Line]:
    """Runs of about half a second, as many as give each worker a minute of work."""
    runs, workers = settings.jobs(200), os.cpu_count() or 1
    folder = settings.folder / "study"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "s.toml").write_text(STUDY.format(repetitions=runs // 2, keep="tables", jobs=40_000))
    begin = time.perf_counter()
    process([*subject.schedlab(), "experiment", "run", folder / "s.toml", "--quiet"])
    wall = time.perf_counter() - begin
    seconds = [json.loads(path.read_text())["seconds"]["all"] for path in Path(folder / "s" / "results").glob("*.json")]
    shutil.rmtree(folder)
    overhead = wall * workers / sum(seconds) - 1
    yield Line(
        "study",
        f"orchestration of {len(seconds)} runs of {sum(seconds) / len(seconds):.2f} s on {workers} workers",
        100 * overhead,
        "%",
        at_most=10,
        note=f"{wall:.1f} s from start to end, workers' start included",
    )

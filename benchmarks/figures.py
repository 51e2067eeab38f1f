"""Figures of large runs: a Gantt chart of 100,000 jobs."""

from __future__ import annotations

from collections.abc import Iterator

import schedlab as sl
from benchmarks import subject
from benchmarks.measure import call
from benchmarks.report import Line
from benchmarks.settings import Settings
from benchmarks.workload import LogSpec, columns
from schedlab.plot.gantt import plot_gantt


def lines(settings: Settings) -> Iterator[Line]:
    spec = LogSpec(settings.jobs(100_000))
    run = sl.simulate(subject.in_memory(columns(spec)), sl.Cluster.uniform(spec.nodes, spec.cores), "easy")
    settings.folder.mkdir(parents=True, exist_ok=True)
    target = settings.folder / "gantt.png"
    spent, _ = call(lambda: plot_gantt(run, target, colour="user"))
    target.unlink()
    yield Line("figures", f"Gantt chart of {spec.jobs:,} jobs, drawn and written", spent.wall, "s", at_most=10)

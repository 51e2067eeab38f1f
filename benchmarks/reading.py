"""How fast logs are read, on one core: every field checked, memory that does not grow with the log."""

from __future__ import annotations

from collections.abc import Iterator

import schedlab as sl
from benchmarks.measure import call, middle
from benchmarks.report import Line
from benchmarks.settings import Settings
from benchmarks.workload import LogSpec, write_log


def lines(settings: Settings) -> Iterator[Line]:
    spec = LogSpec(settings.jobs(1_000_000))
    log = write_log(spec, settings.folder)
    measured = [call(lambda: sl.read_workload(log, in_memory=False))[0] for _ in range(settings.repeats)]
    log.unlink()
    spent = middle(measured)
    yield Line(
        "reading",
        f"SWF, {spec.jobs:,} jobs, not compressed",
        spec.jobs / spent.cpu / 1e6,
        "million jobs a CPU second",
        at_least=1,
        note=f"{spent.wall:.2f} s",
    )

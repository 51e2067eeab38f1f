"""Six million jobs through `schedlab run`: memory follows the live jobs, not the log."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import subject
from benchmarks.report import Line
from benchmarks.settings import Settings
from benchmarks.workload import LogSpec, write_log


def lines(settings: Settings) -> Iterator[Line]:
    spec = LogSpec(settings.jobs(6_000_000))
    log = write_log(spec, settings.folder)
    size = log.stat().st_size / 2**20
    spent = subject.command(log, f"{spec.nodes}x{spec.cores}", "easy", settings.folder, spec.jobs)
    log.unlink()
    yield Line(
        "memory",
        f"peak memory of schedlab run, easy, {spec.jobs:,} jobs",
        spent.peak_mb,
        "MB",
        at_most=150,
        note=f"log of {size:.0f} MB, {spent.wall:.1f} s ({spec.jobs / spent.wall / 1e6:.2f} million jobs a second)",
    )

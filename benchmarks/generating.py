"""`schedlab generate`: five million jobs from a model, written to a log."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import subject
from benchmarks.measure import process
from benchmarks.report import Line
from benchmarks.settings import Settings
from benchmarks.workload import LogSpec, write_log


def lines(settings: Settings) -> Iterator[Line]:
    jobs = settings.jobs(5_000_000)
    settings.folder.mkdir(parents=True, exist_ok=True)
    log = write_log(LogSpec(200_000), settings.folder)
    model, out = settings.folder / "model.json", settings.folder / "generated.swf"
    process([*subject.schedlab(), "fit", log, "--out", model, "--force"])
    for what in (model, "lublin(processors=256)"):
        spent, _ = process([*subject.schedlab(), "generate", what, "--jobs", str(jobs), "--out", out, "--force"])
        out.unlink()
        kind = "empirical, joint" if what == model else "Lublin–Feitelson"
        yield Line(
            "generating",
            f"schedlab generate, {kind}, {jobs:,} jobs",
            spent.wall,
            "s",
            at_most=60,
            note=f"{jobs / spent.wall / 1e6:.2f} million jobs a second",
        )
        yield Line("generating", "peak memory of that", spent.peak_mb, "MB", at_most=500)

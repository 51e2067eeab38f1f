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
    out = settings.folder / "generated.swf"
    models = {"lublin(processors=256)": "Lublin–Feitelson"}
    for kind in ("weeks", "empirical"):
        model = settings.folder / f"{kind}.json"
        process([*subject.schedlab(), "fit", log, "--model", kind, "--seeds", "0", "--out", model, "--force"])
        models[str(model)] = kind
    for what, kind in models.items():
        spent, _ = process([*subject.schedlab(), "generate", what, "--jobs", str(jobs), "--out", out, "--force"])
        out.unlink()
        yield Line(
            "generating",
            f"schedlab generate, {kind}, {jobs:,} jobs",
            spent.wall,
            "s",
            at_most=60,
            note=f"{jobs / spent.wall / 1e6:.2f} million jobs a second",
        )
        yield Line("generating", "peak memory of that", spent.peak_mb, "MB", at_most=500)

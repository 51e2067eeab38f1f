"""Do schedules of a fitted model behave like those of the log? Five archive logs; is the report true of all others?"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.report import Line
from benchmarks.settings import Settings
from schedlab.analysis.outcome import SLOWDOWN, WAIT, OutcomeComparison, outcome_of
from schedlab.engine.scenario import cluster_of_header
from schedlab.engine.simulate import simulate
from schedlab.experiment.outcomes import compare_outcomes, span_of
from schedlab.generate.base import generate
from schedlab.generate.store import fit
from schedlab.model.errors import InputError
from schedlab.model.workload import Workload
from schedlab.workload.read import read_workload

FIVE = (
    "KTH-SP2-1996-2.1-cln",
    "CTC-SP2-1996-3.1-cln",
    "SDSC-SP2-1998-4.2-cln",
    "HPC2N-2002-2.2-cln",
    "SDSC-BLUE-2000-4.2-cln",
)
FRESH = 1000  # seeds from here on have no part in the report


def lines(settings: Settings) -> Iterator[Line]:
    """The five logs at their length and at twice it; then every other log: is the report true of fresh seeds?"""
    folder = Path(os.environ.get("SCHEDLAB_TRACES") or Path(__file__).parents[2] / "shared" / "traces")
    seeds = settings.jobs(100) // 10  # 10, or 1
    five = [folder / f"{name}.swf.gz" for name in FIVE]
    others = [path for path in sorted(folder.glob("*.swf.gz")) if path not in five]
    for path in (*five, *others):
        for line in (_length if path in five else _told)(path, seeds):
            print(f"{line.what}: {line.measured:.3g} {line.unit} ({line.note})", file=sys.stderr, flush=True)
            yield line


def _read(path: Path) -> Workload:
    return read_workload(path, bad_rows="drop", requests="full")


def _length(path: Path, seeds: int) -> Iterator[Line]:
    log = _read(path)
    cluster, model = cluster_of_header(log, or_largest_job=True), fit(log)
    of_log = outcome_of(simulate(log, cluster, "easy"))
    assert of_log is not None
    for times in (1, 2):
        made = [generate(model, span=times * span_of(log), seed=seed) for seed in range(seeds)]
        found = [outcome_of(simulate(jobs, cluster, "easy")) for jobs in made]
        runs = [run for run in found if run is not None]
        for what, values, reference, most in (
            ("mean wait", [run.wait for run in runs], of_log.wait, WAIT),
            ("bounded slowdown", [run.bounded_slowdown for run in runs], of_log.bounded_slowdown, SLOWDOWN),
        ):
            ratios = np.array(values) / reference
            yield Line(
                "fidelity",
                f"{log.name}, {times} × its length: {what} off by",
                100 * abs(float(ratios.mean()) - 1),
                "%",
                at_most=100 * most,
                note=f"{ratios.mean():.3f} of the log's; {seeds} seeds: {ratios.min():.2f} to {ratios.max():.2f}",
            )


def _told(path: Path, seeds: int) -> Iterator[Line]:
    log = _read(path)
    try:
        model = fit(log)
    except InputError as error:
        yield Line("fidelity", f"{log.name}: no model", 0, "", note=str(error).partition("\n")[0])
        return
    cluster = cluster_of_header(log, or_largest_job=True)
    (report,) = compare_outcomes(model, log, cluster)
    (fresh,) = compare_outcomes(model, log, cluster, seeds=range(FRESH, FRESH + seeds), most=seeds)
    yield Line(
        "fidelity",
        f"{log.name}: the report says {_words(report)}; true",
        float(_true(report, fresh)),
        "",
        at_least=1,
        note=f"fresh seeds: wait {fresh.wait:.2f}, bounded slowdown {fresh.bounded_slowdown:.2f} of the log's",
    )


def _words(report: OutcomeComparison) -> str:
    why = f" ({report.trouble or ('nobody waits' if report.nobody_waits else '')})"
    return report.answer + (why if why != " ()" else "")


def _true(report: OutcomeComparison, fresh: OutcomeComparison) -> bool:
    """Alike: the mean over fresh seeds is within the bounds. Different: it is not. Unknown promises nothing."""
    within = abs(fresh.wait - 1) <= WAIT and abs(fresh.bounded_slowdown - 1) <= SLOWDOWN
    if report.answer == "alike":
        return within or fresh.nobody_waits
    return report.answer == "unknown" or not within

"""How often a study claims a difference: of policies that are equal in law, and where there is one of known size."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from scipy import stats

from benchmarks.report import Line
from benchmarks.settings import Settings
from schedlab.experiment.coordinator import asked, described, opened
from schedlab.experiment.execute import execute
from schedlab.experiment.inputs import Inputs
from schedlab.experiment.plan import plan
from schedlab.experiment.results import METRICS, Results
from schedlab.experiment.study import parse_study
from schedlab.report.findings import Findings
from schedlab.report.study_words import words

STUDIES, REPETITIONS = 200, 8
SIZE = 0.05  # so many of the studies of equals may claim something
WAIT = "wait.mean"
BASELINE, OTHER = "easy:order=random(1)", "easy:order=random(2)"
NO_CLAIM = ("no difference", "does not change", "hardly changes")
STUDY = f"""
repetitions = {REPETITIONS}
seed = %d
keep = "summary"
baseline = {{ policy = "{BASELINE}" }}
[workload]
model = "lublin(processors=256)"
jobs = 400
pressure = 0.9
[run]
cluster = "pool:256"
policy = ["{BASELINE}", "{OTHER}"]
"""


def lines(settings: Settings) -> Iterator[Line]:
    """The six usual metrics of each study. Differences are made by multiplying the mean waits of one policy."""
    folder = settings.folder / "equals"
    shutil.rmtree(folder, ignore_errors=True)
    studies = [folder / str(seed) for seed in range(settings.jobs(STUDIES))]
    found = [simulated(study, seed) for seed, study in enumerate(studies)]
    false = sum(claims(one) for one in found)
    what = f"{len(found)} studies of equals, {len(METRICS)} metrics each: with a claim of a difference"
    yield Line("equals", what, 100 * false / len(found), "%", at_most=100 * SIZE, note=f"{false} studies")
    deviation = float(np.std([logs_of_ratios(one) for one in found]))
    sizes = {"error": 1 / math.sqrt(REPETITIONS), "deviation": 1.0}  # of the mean, of one repetition
    for name, size in sizes.items():
        for metrics in (METRICS, (WAIT,)):
            told = sum(finds(study, math.exp(size * deviation), metrics) for study in studies)
            yield power_line(name, size, len(metrics), told / len(studies), len(studies))
    shutil.rmtree(folder)


def simulated(folder: Path, seed: int) -> Results:
    """A study of two random orders, run in this process."""
    study, inputs = parse_study(STUDY % seed, "study.toml"), Inputs()
    with opened(folder) as ledger:
        runs = plan(study)
        ledger.set_plan(runs, described(study))
        for run in runs:
            ledger.done(run, execute(run, asked(study), folder, inputs)["seconds"]["all"])
    return Results(folder)


def claims(results: Results) -> bool:
    """Whether a sentence says that there is a difference, or the report marks one as better or worse."""
    settings = words(Findings(results)).settings
    told = [row for one in settings for rows in (one.shown, *(rows for _, rows in one.folded)) for row in rows]
    return any(row["judgement"] for row in told) or any(map(is_claim, results.verdicts()))


def is_claim(sentence: str) -> bool:
    return not any(words in sentence for words in NO_CLAIM)


def logs_of_ratios(results: Results) -> list[float]:
    """Of the mean waits, repetition by repetition."""
    waits = {(one["point"]["policy"], one["repetition"]): one["summary"]["wait"]["mean"] for one in results.results}
    return [math.log(waits[OTHER, n] / waits[BASELINE, n]) for n in range(REPETITIONS)]


def finds(folder: Path, factor: float, metrics: Sequence[str]) -> bool:
    """Whether a study of these metrics tells that the mean waits of one policy are `factor` times as long."""
    results = Results(folder)
    results.study["metrics"] = list(metrics)
    for one in results.results:
        if one["point"]["policy"] == OTHER:
            one["summary"]["wait"]["mean"] *= factor
    (sentence,) = results.verdicts([WAIT])
    return is_claim(sentence)


def power_line(name: str, size: float, comparisons: int, measured: float, studies: int) -> Line:
    """Beside the power of Student's test at the corrected level; the difference may be that of so few studies."""
    theory, plural = power(size, comparisons), "" if comparisons == 1 else "s"
    error = math.sqrt(theory * (1 - theory) / studies)
    return Line(
        "equals",
        f"true difference of one standard {name}, {comparisons} comparison{plural}: power, off theory's by",
        100 * abs(measured - theory),
        "points",
        at_most=round(200 * error, 1),
        note=f"{100 * measured:.1f} %, theory {100 * theory:.1f} %; required: twice the error of {studies} studies",
    )


def power(size: float, comparisons: int) -> float:
    """Of the two-sided test of a true difference of `size` standard deviations (noncentral t)."""
    freedom, centre = REPETITIONS - 1, size * math.sqrt(REPETITIONS)
    limit = stats.t.isf(SIZE / comparisons / 2, freedom)
    return float(stats.nct.sf(limit, freedom, centre) + stats.nct.cdf(-limit, freedom, centre))

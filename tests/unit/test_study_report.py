"""The report of a study: what the page says, and that it needs nothing but itself."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from schedlab.cli.experiment_output import print_status, print_summary
from schedlab.experiment.coordinator import asked, described, opened
from schedlab.experiment.coverage import coverage, coverage_of_logs
from schedlab.experiment.execute import execute
from schedlab.experiment.inputs import Inputs
from schedlab.experiment.plan import PlannedRun, plan
from schedlab.experiment.results import Results
from schedlab.experiment.study import Study, parse_study
from schedlab.generate.store import fit, write_model
from schedlab.model.workload import Workload
from schedlab.report.scale import Scale
from schedlab.report.study import study_page, write_study_report

BASELINE = 'baseline = { policy = "fcfs" }\n'
STUDY = (
    'name = "Does <it> pay?"\nrepetitions = 3\n'
    + BASELINE
    + """keep = "summary"
metrics = ["wait.mean", "utilisation"]
[workload]
model = "lublin(processors=64)"  # small & quick
jobs = 100
[run]
cluster = "pool:64"
policy = ["fcfs", "easy"]
"""
)
WAITS = {"fcfs": (100, 220, 290), "easy": (52, 105, 149)}
VOID = {"meta", "br", "img", "link", "hr", "input"}


class Nesting(HTMLParser):
    """Notes what is closed that is not open."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> in line {self.getpos()[0]}")


def result(run: PlannedRun, wait: float | None, utilisation: float = 0.5) -> dict[str, Any]:
    return run.to_dict() | {
        "schedlab": "0.1.0",
        "workload": "generated",
        "cluster": "pool:64",
        "summary": {"jobs": 100, "wait": {"mean": wait}, "utilisation": utilisation},
        "metrics": {},
        "files": {},
        "seconds": {"workload": 0.25, "engine": 0.5, "all": 1.0},
        "performance": {"total": 0.75, "cpu": 0.7, "memory": 120.0},
    }


def made(folder: Path, text: str, wait: Any, broken: str = "", trace: str = "Traceback: line 1 & 2") -> Results:
    """A study whose runs waited as `wait(run)` says; those of the policy `broken` failed."""
    study = parse_study(text, str(folder / "study.toml"))
    with _planned(folder, study) as (ledger, runs):
        for run in runs:
            if run.point["policy"] == broken:
                ledger.failed(run, "it <broke>", trace)
                continue
            content = result(run, wait(run), 0.5 + run.repetition / 100)
            (folder / "results" / f"{run.identity}.json").write_text(json.dumps(content))
            ledger.done(run, 1.0)
    return Results(folder)


def simulated(folder: Path, text: str) -> Results:
    study = parse_study(text, str(folder / "study.toml"))
    inputs = Inputs()
    with _planned(folder, study) as (ledger, runs):
        for run in runs:
            ledger.done(run, execute(run, asked(study), folder, inputs)["seconds"]["all"])
    return Results(folder)


class _planned:  # noqa: N801
    """The ledger of a new study, and its runs."""

    def __init__(self, folder: Path, study: Study) -> None:
        self._folder, self._study, self._opened = folder, study, opened(folder)

    def __enter__(self) -> tuple[Any, list[PlannedRun]]:
        ledger = self._opened.__enter__()
        (self._folder / "study.toml").write_text(self._study.text)
        runs = plan(self._study)
        ledger.set_plan(runs, described(self._study))
        return ledger, runs

    def __exit__(self, *error: Any) -> None:
        self._opened.__exit__(*error)


def waits(run: PlannedRun) -> float:
    return WAITS[str(run.point["policy"])][run.repetition]


def words(page: str) -> str:
    """What a reader sees of it, roughly."""
    return re.sub(r"\s+", " ", re.sub(r"<(style|script|svg).*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL))


def checked(results: Results) -> str:
    """The page, if it is well formed and needs nothing else."""
    page = study_page(results)
    found = Nesting(page)
    assert not found.wrong
    assert not found.open
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//", page)
    assert not re.search(r"url\((?!#)|@import|<link|<iframe", page)
    return page


def test_the_page_says_what_was_found(tmp_path: Path) -> None:
    page = checked(made(tmp_path, STUDY, waits))
    seen = words(page)
    assert "6 of 6 runs are finished: 2 values of policy, 3 repetitions of each, compared on the same jobs." in seen
    assert "Jobs: the model lublin(processors=64) (100 a run). Machine: pool:64." in seen
    assert "The intervals cover the drawing of jobs from the model lublin(processors=64)" in seen
    # As in test_verdict, for two metrics: t is 6.2053 instead of 4.3027, and 0.1153 of the logarithms becomes 0.1663.
    told = "easy halves the mean wait (−50 %, 95 % CI −57 to −41 % corrected for 2 comparisons, 3 paired repetitions)"
    assert f"better {told}" in seen
    assert "easy does not change the utilisation (3 paired repetitions)" in seen
    # (52 + 105 + 149) / 3 s, in minutes; Student: 4.3027 × 48.58 s / √3 is 120.7 s.
    assert '<td class="best" data-value="102.0">1.70 ± 2.01</td>' in page
    assert '<td class="name" data-value="easy">easy</td>' in page
    assert "making or reading the jobs 0.250 0.250 1.5 s" in seen
    assert "summaries only" in seen


def test_words_of_users_are_only_words(tmp_path: Path) -> None:
    page = checked(made(tmp_path, STUDY, waits))
    assert "<h1>Does &lt;it&gt; pay?</h1>" in page
    assert "# small &amp; quick" in page
    assert "<it>" not in page


def test_settings_have_a_heading_each(tmp_path: Path) -> None:
    text = STUDY.replace("jobs = 100", "jobs = 100\npressure = [0.7, 0.8]")
    page = checked(made(tmp_path, text, waits))
    assert "<h3>pressure 0.7</h3>" in page
    seen = words(page)
    for pressure in ("0.7", "0.8"):
        assert f" pressure {pressure} better easy halves the mean wait" in seen
    assert "Lowest mean wait: easy (1.70 ± 2.01 min) at pressure 0.7; easy (1.70 ± 2.01 min) at pressure 0.8." in seen
    assert "mean wait by policy and pressure" in seen


def test_a_single_run(tmp_path: Path) -> None:
    text = STUDY.replace("repetitions = 3", "").replace('["fcfs", "easy"]', '"easy"').replace(BASELINE, "")
    seen = words(checked(made(tmp_path, text, lambda run: 7200.0)))
    assert "1 of 1 runs are finished: one repetition." in seen
    assert "names no baseline" in seen
    assert "One run of each group" in seen
    assert " 2.00 50.0 " in seen


def test_one_repetition_claims_nothing(tmp_path: Path) -> None:
    seen = words(checked(made(tmp_path, STUDY.replace("repetitions = 3", ""), waits)))
    assert "in this one run, easy halves the mean wait (−48 %)" in seen
    assert " better " not in seen


def test_without_a_baseline(tmp_path: Path) -> None:
    seen = words(checked(made(tmp_path, STUDY.replace(BASELINE, ""), waits)))
    assert "names no baseline" in seen
    assert "Lowest mean wait: easy (1.70 ± 2.01 min)." in seen


def test_failed_runs_are_told(tmp_path: Path) -> None:
    page = checked(made(tmp_path, STUDY, waits, broken="easy"))
    seen = words(page)
    assert "3 of 6 runs are finished, 3 failed" in seen
    assert "easy, repetition 3 it &lt;broke&gt; traceback Traceback: line 1 &amp; 2" in seen
    assert "<broke>" not in page


def test_an_empty_traceback_is_not_shown(tmp_path: Path) -> None:
    results = made(tmp_path, STUDY, waits, broken="easy", trace=" \n")
    assert "<summary>traceback" not in checked(results)


def test_failed_runs_in_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = made(tmp_path, STUDY.replace("repetitions = 3", "repetitions = 7"), lambda run: 100.0, broken="easy")
    print_status(results)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("14 runs planned, 7 done, 7 failed, 0 open")
    assert lines[2:4] == ["failed: easy, repetition 1: it <broke>", "Traceback: line 1 & 2"]
    assert lines[-1] == f"and 2 more: schedlab experiment status {tmp_path} --json lists them all"


def test_an_empty_traceback_is_no_line_in_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    print_status(made(tmp_path, STUDY, waits, broken="easy", trace=""))
    assert "" not in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(("repetitions", "said"), [(3, True), (1, False)])
def test_the_terminal_says_what_the_interval_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], repetitions: int, said: bool
) -> None:
    print_summary(made(tmp_path, STUDY.replace("repetitions = 3", f"repetitions = {repetitions}"), waits), 1.0)
    lines = capsys.readouterr().out.splitlines()
    assert ("± half of the 95 % interval of the mean over repetitions" in lines) == said


def test_bars_of_large_factors(tmp_path: Path) -> None:
    results = made(tmp_path, STUDY, lambda run: waits(run) * (100 if run.point["policy"] == "fcfs" else 1))
    page = checked(results)
    assert "mean wait (h, logarithmic)" in page
    assert "utilisation (%)" in page


def test_the_baseline_failed(tmp_path: Path) -> None:
    assert "The baseline has no finished run here." in words(checked(made(tmp_path, STUDY, waits, broken="fcfs")))


def test_nothing_is_finished(tmp_path: Path) -> None:
    study = parse_study(STUDY, str(tmp_path / "study.toml"))
    with _planned(tmp_path, study):
        pass
    seen = words(checked(Results(tmp_path)))
    assert "0 of 6 runs are finished, 6 are open" in seen
    assert "No run is finished yet." in seen


def test_nothing_started(tmp_path: Path) -> None:
    seen = words(checked(made(tmp_path, STUDY, lambda run: None)))
    assert "nothing is known about the mean wait under easy or fcfs" in seen


def test_three_hundred_groups(tmp_path: Path) -> None:
    lengths = ", ".join(str(n) for n in range(100, 400))
    text = STUDY.replace("jobs = 100", f"jobs = [{lengths}]").replace('["fcfs", "easy"]', '"easy"')
    text = text.replace(BASELINE, "baseline = { jobs = 399 }\n")
    page = checked(made(tmp_path, text, lambda run: float(run.point["jobs"]) + run.repetition))
    assert all(f'<td class="name" data-value="{n}">{n}</td>' in page for n in range(100, 400))
    seen = words(page)
    assert "Shown: of 300 groups the 12 best in the first metric and the baseline." in seen
    assert "287 more groups" in seen
    assert seen.index("jobs 100 cuts the mean wait to 25 %") < seen.index("jobs 101 cuts the mean wait")
    assert len(page) < 2_000_000


def test_figures_of_jobs(tmp_path: Path) -> None:
    text = STUDY.replace('keep = "summary"\n', "").replace("repetitions = 3", "repetitions = 4")
    results = simulated(tmp_path / "study", text)
    seen = words(checked(results))
    assert "the first 3 of 4 repetitions of each group, about 300 jobs a group." in seen
    assert "Who waits: the mean wait by size and run time of the jobs" in seen
    assert "runs made with Python" in seen
    for path in (tmp_path / "study" / "runs").glob("*/jobs.parquet"):
        path.write_bytes(b"damaged")
    assert "tables of some runs are missing or damaged" in words(checked(Results(tmp_path / "study")))
    for path in (tmp_path / "study" / "runs").glob("*/jobs.parquet"):
        path.unlink()
    assert "tables of some runs are missing or damaged" in words(checked(Results(tmp_path / "study")))


def test_hashes_of_what_was_read(tmp_path: Path) -> None:
    log = tmp_path / "tiny.swf"
    log.write_text(
        "; MaxProcs: 64\n" + "".join(f"{n} {n} -1 60 1 -1 -1 1 60 -1 1 1 1 1 1 -1 -1 -1\n" for n in range(1, 9))
    )
    text = STUDY.replace('model = "lublin(processors=64)"', f'log = "{log}"').replace("jobs = 100\n", "")
    results = simulated(tmp_path / "study", text.replace("repetitions = 3", ""))
    seen = words(checked(results))
    assert "the log tiny.swf (8 a run)" in seen
    assert re.search(r"log tiny\.swf sha256 [0-9a-f]{64} 2 planned runs", seen)
    log.write_text(log.read_text() + "9 9 -1 60 1 -1 -1 1 60 -1 1 1 1 1 1 -1 -1 -1\n")
    assert "may not be as it was when it was run" in words(checked(results))


def test_the_same_results_give_the_same_file(tmp_path: Path) -> None:
    results = made(tmp_path, STUDY, waits)
    for name in ("one.html", "other.html"):
        write_study_report(tmp_path / name, Results(tmp_path))
    assert (tmp_path / "one.html").read_text() == study_page(results)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "other.html").read_bytes()


@pytest.mark.parametrize(
    ("metric", "values", "unit", "decimals"),
    [
        ("wait.mean", [7200.0, 0.0], "h", 2),
        ("wait.mean", [7200.0, 36_000_000.0], "h", 2),
        ("makespan", [3_600_000.0], "h", 0),
        ("wait.mean", [59.0, 0.5], "s", 2),
        ("utilisation", [0.5, 0.7], "%", 1),
        ("bounded_slowdown.mean", [150.5], "", 0),
        ("states.killed", [3.0, 12.0], "", 0),
        ("wait.mean", [None], "s", 0),
    ],
)
def test_units_and_digits(metric: str, values: list[float | None], unit: str, decimals: int) -> None:
    scale = Scale.of(metric, values)
    assert (scale.unit, scale.decimals) == (unit, decimals)


def test_what_the_intervals_cover(tmp_path: Path) -> None:
    """Of a model of one log: its weeks, not other years."""
    days = np.arange(40 * 7 + 1) * 86_400.0
    log = Workload.of(name="HERE", submit=days, runtime=np.ones(len(days)))
    said = {}
    for name, options in (("weeks", {}), ("drawn", {"replacement": True}), ("fitted", {"kind": "empirical"})):
        write_model(tmp_path / f"{name}.json", fit(log, **options))
        said[name] = " ".join(coverage([tmp_path / f"{name}.json"], 10))
        assert f"from the model {name}.json of one log, HERE" in said[name]
        assert "do not cover whether another year, another machine or another site would be like it" in said[name]
        assert "Users do not react" in said[name]
    assert "in which order its 40 weeks come" in said["weeks"]
    assert "drawn with replacement: some come more than once" in said["drawn"]
    assert "may wait much longer or shorter" in said["fitted"]
    assert coverage([tmp_path / "weeks.json"], 1) == []
    assert coverage([], 10) == []
    assert coverage([tmp_path / "gone.json"], 2)[0].endswith("gone.json, and nothing else.")


def test_what_the_intervals_cover_on_logs() -> None:
    slurm, easy = {"log": "/a/one.sacct", "policy": "slurm-real(conf='c')"}, {"log": "/b/two.swf", "policy": "easy"}
    assert coverage_of_logs([slurm, {**slurm, "policy": "slurm-real(conf='c', set=['KillWait=1'])"}], 3) == [
        "The intervals cover only the phase of Slurm's loops, on this one log, one.sacct. They do not cover whether "
        "other jobs (another month, another site) would be like it."
    ]
    (drawn,) = coverage_of_logs([easy], 2)
    assert drawn.startswith("The intervals cover only what is drawn anew in each repetition, on this one log, two.swf.")
    both = "the phase of Slurm's loops and what is drawn anew in each repetition, on "
    assert f"{both}this one log" in coverage_of_logs([{**slurm, "observe": "failures(mtbf=1e6)"}], 2)[0]
    assert f"{both}these 2 logs." in coverage_of_logs([slurm, easy], 2)[0]
    assert coverage_of_logs([slurm], 1) == coverage_of_logs([{"model": "lublin", "policy": "easy"}], 2) == []


def test_a_study_on_the_model_of_a_log_says_so(tmp_path: Path) -> None:
    days = np.arange(40 * 7 + 1) * 86_400.0
    model = tmp_path / "weeks.json"
    write_model(model, fit(Workload.of(name="HERE", submit=days, runtime=np.ones(len(days)))))
    text = STUDY.replace('"lublin(processors=64)"', f'"{model}"')
    seen = words(checked(made(tmp_path / "study", text, waits)))
    assert "in which order its 40 weeks come" in seen
    assert "Users do not react" in seen

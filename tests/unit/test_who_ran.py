"""Who ran, on both sides: comparisons count refused and killed jobs first, and judge waits over the jobs that both ran.

On one core, jobs 2 to 4 (10 s each) wait behind job 1 (100 s): 100, 110 and 120 s, on average 82.5 s of all four and
110 s of the three. Where job 1 is refused they wait 0, 10 and 20 s.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.test_study_report import checked, simulated, words
from typer.testing import CliRunner

import schedlab as sl
from schedlab.analysis.change import Change
from schedlab.analysis.common_jobs import missing_jobs
from schedlab.analysis.compare import METRICS, Comparison, Row, compare, observed
from schedlab.analysis.job_ends import (
    EndDifference,
    columns_of_ends,
    decimals,
    end_differences,
    ends_told,
    job_ends,
    mean_ends,
    shown,
)
from schedlab.analysis.verdict import judgement
from schedlab.cli.compare import first_facts, say_first
from schedlab.cli.main import app
from schedlab.cli.table import footnote

REFUSER = '''
import schedlab as sl


class Short(sl.Policy):
    """First come, first served, for jobs of less than `limit` seconds."""

    def __init__(self, limit=50.0, broken=False):
        self.limit, self.broken, self.refused = limit, broken, []

    def decide(self, view, events):
        for job in list(view.queue):
            if job.limit >= self.limit:
                self.refused.append(job.id)
                view.reject(job)
        for job in list(view.queue):
            if not view.start(job):
                break
        if self.broken and view.now > 5:
            1 / 0

    def refusals(self):
        return {f"longer than {self.limit:g} s": self.refused} if self.refused else {}
'''
JOBS = {"submit": [0, 0, 0, 0], "runtime": [100, 10, 10, 10], "limit": [100, 10, 10, 10], "count": [1, 1, 1, 1]}
ONE = sl.Cluster.of_cores(1)
WORDS = "longer than 50 s"


@pytest.fixture
def short(tmp_path: Path) -> str:
    (tmp_path / "mine.py").write_text(REFUSER)
    return f"{tmp_path / 'mine.py'}:Short"


def runs(short: str) -> list[sl.Run]:
    return [sl.simulate(sl.Workload.of(**JOBS), ONE, policy) for policy in ("fcfs", short)]


def test_a_run_says_why_a_policy_refused_its_jobs(short: str, tmp_path: Path) -> None:
    run = runs(short)[1]
    (why,) = run.summary["rejections"]
    assert (why["words"], why["jobs"], why["first"]) == (WORDS, 1, f"job 1 was refused: {WORDS}")
    assert sl.check(run) == []
    again = sl.read_run(run.save(tmp_path / "run"))
    assert compare([again], tau=20).rows[0].summary["rejections"] == [why]  # computed anew


def test_refused_jobs_come_first_and_waits_are_of_the_jobs_that_all_ran(short: str) -> None:
    found = compare(runs(short))
    assert [row.summary["wait"]["mean"] for row in found.rows] == [110, 10]
    label = found.rows[1].label
    assert found.said_first() == [
        f"1 more job is refused under {label} than under fcfs (1 against 0 of 4): {WORDS}",
        "waits and slowdowns are over the 3 jobs that all runs started; utilisation, makespan and queues are those of "
        "different jobs",
    ]
    assert found.best(METRICS["wait.mean"]) == {1}
    assert found.best(METRICS["makespan"]) == frozenset()
    assert "over the 3 jobs that all runs started" in footnote(found)


def test_runs_that_started_the_same_jobs_keep_their_stars(short: str) -> None:
    same = compare([sl.simulate(sl.Workload.of(**JOBS), ONE, policy) for policy in ("fcfs", "easy:order=sjf")])
    assert same.said_first() == []
    assert same.common is None and same.best(METRICS["wait.mean"]) == {1}
    assert [row.summary["wait"]["mean"] for row in same.rows] == [82.5, 15]


def test_the_command_says_it_before_the_table(short: str, tmp_path: Path) -> None:
    for number, run in enumerate(runs(short)):
        run.save(tmp_path / "runs" / str(number))
    said = CliRunner().invoke(app, ["compare", str(tmp_path / "runs"), "--by", "size"]).output
    assert said.index("1 more job is refused") < said.index("wait")
    both = CliRunner().invoke(app, ["compare", str(tmp_path / "runs"), "--json"]).output
    assert '"common_jobs": 3' in both


def test_of_many_differences_the_first_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """Twelve by `compare`, `run` and `experiment`; --json has them all."""
    rows = [Row("old", {"jobs": 9, "started": 9})]
    rows += [Row(f"new{n}", {"jobs": 9, "started": 8, "states": {"rejected": 1}}) for n in range(14)]
    comparison = Comparison(tuple(rows))
    say_first(comparison)
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("- 1 more job is refused under new") for line in lines) == 12
    assert lines[12] == "  and 2 more differences in what became of jobs: --json lists them all"
    assert len(first_facts(comparison)["differences"]) == 14


@pytest.mark.parametrize("kept", [True, False])
def test_run_says_it_too(short: str, tmp_path: Path, kept: bool) -> None:
    """What is not kept cannot be looked at again: then no mean is marked."""
    rows = "\n".join(f"{n} 0 -1 {t} 1 -1 -1 1 {t} -1 1 1 1 1 1 1 -1 -1" for n, t in enumerate(JOBS["runtime"], 1))
    (tmp_path / "log.swf").write_text(rows + "\n")
    options = ["--out", str(tmp_path / "out")] if kept else []
    command = ["run", str(tmp_path / "log.swf"), "-c", "pool:1", "-p", "fcfs", "-p", short, *options]
    said = CliRunner().invoke(app, command)
    assert said.exit_code == 0, said.output
    document = json.loads(CliRunner().invoke(app, [*command, "--force", "--json"]).stdout)
    assert document["common_jobs"] == (3 if kept else None)
    assert "1 more job is refused" in document["differences"][0]
    assert [run["summary"]["wait"]["mean"] for run in document["runs"]] == [110 if kept else 82.5, 10]
    assert "1 more job is refused" in said.output
    flat = " ".join(said.output.split())
    if kept:
        assert "over the 3 jobs that all runs started" in flat and "110" in flat and "10.0*" in flat
    else:
        assert "their means are over different jobs" in flat and "*" not in flat


def test_a_run_that_broke_off_is_never_the_best(short: str, tmp_path: Path) -> None:
    jobs = sl.Workload.of(**JOBS)
    with pytest.raises(sl.SchedlabError) as failed:
        sl.simulate(jobs, ONE, f"{short}(broken=True)")
    assert failed.value.run is not None
    found = compare([failed.value.run, sl.simulate(jobs, ONE, "fcfs"), sl.simulate(jobs, ONE, "easy:order=sjf")])
    assert found.rows[0].incomplete and found.best(METRICS["makespan"]) == frozenset()
    assert found.best(METRICS["wait.mean"]) == {2}
    assert [row.summary["wait"]["mean"] for row in found.rows[1:]] == [82.5, 15]
    assert "never a run that broke off" in footnote(found)


def test_logs_of_one_name_are_the_same_jobs_only_if_their_content_is(tmp_path: Path) -> None:
    found = []
    for folder, text in (("a", "10"), ("b", "20"), ("c", "10")):
        (tmp_path / folder).mkdir()
        log = tmp_path / folder / ("other.swf" if folder == "c" else "log.swf")
        log.write_text(f"1 0 -1 {text} 1 -1 -1 1 30 -1 1 1 1 1 1 1 -1 -1\n")
        found.append(sl.simulate(sl.read_workload(log), ONE, "fcfs"))
    assert not compare(found[:2]).same_jobs
    assert compare(found[:2]).rows[0].differences["workload"] != compare(found[:2]).rows[1].differences["workload"]
    assert compare([found[0], found[2]]).same_jobs  # another name, the same content


STUDY = """
name = "limits"
repetitions = 4
keep = "{keep}"
baseline = {{ policy = "fcfs" }}
metrics = ["wait.mean", "utilisation"]
[workload]
model = "lublin(processors=64)"
jobs = 200
[run]
cluster = "pool:64"
policy = ["fcfs", "{short}(limit=20000.0)"]
"""


@pytest.mark.parametrize("keep", ["tables", "summary"])
def test_a_study_judges_pairs_over_the_jobs_that_both_ran(short: str, tmp_path: Path, keep: str) -> None:
    results = simulated(tmp_path / "study", STUDY.format(keep=keep, short=short))
    (first,) = results.said_first()
    assert "more jobs are refused under" in first and first.endswith("longer than 20000 s")
    waits, use = results.comparisons().iter_rows(named=True)
    assert not waits["same_jobs"] and judgement(use) == ""
    sentence, of_machine = results.verdicts()
    assert "not the same jobs ran" in of_machine
    page = checked(results)
    text = words(page)
    assert text.index("more jobs are refused under") < text.index("the mean wait")
    assert 'class="best"' not in page and "Lowest" not in text and "compared on the same jobs" not in text
    assert "<th>refused</th>" in page
    if keep == "summary":
        assert waits["common"] is None and judgement(waits) == ""
        assert "cannot be compared" in sentence and "the means are over different jobs" in sentence
        return
    # The same by hand, from the tables.
    own = []
    for one, other in zip(*_by_policy(results), strict=True):
        both = one.join(other, on="sequence", suffix="_short")
        wait = (both["start_short"] - both["eligible_short"]).mean(), (both["start"] - both["eligible"]).mean()
        own.append((len(both), *wait))
    assert waits["common"] == min(jobs for jobs, _, _ in own)
    assert waits["mean"] == pytest.approx(sum(wait for _, wait, _ in own) / len(own))
    assert waits["baseline_mean"] == pytest.approx(sum(wait for _, _, wait in own) / len(own))
    assert f"over the {waits['common']} jobs that both ran" in sentence


def _by_policy(results: Any) -> list[list[Any]]:
    """The jobs that started, of each repetition."""
    found: dict[str, list[Any]] = {}
    for result in results.results:
        jobs = results.run(result["identity"]).jobs
        found.setdefault(result["point"]["policy"], []).append(jobs.filter(jobs["start"].is_not_null()))
    return list(found.values())


def test_which_jobs_are_missing_is_one_word(short: str) -> None:
    whole, less = runs(short)
    again = sl.simulate(sl.Workload.of(**JOBS), ONE, f"{short}(limit=90.0)")
    assert missing_jobs(whole) == "" != missing_jobs(less) == missing_jobs(again)


def test_killed_jobs_are_counted_by_reason() -> None:
    summary = {
        "states": {"completed": 219, "killed": 71, "rejected": 10, "cancelled": 0},
        "reasons": {"rejected by the policy": 10, "preempted": 62, "time limit": 9},
        "rejections": [
            {"reason": "rejected by the policy", "resource": None, "words": "never started: BadConstraints", "jobs": 7},
            {"reason": "rejected by the policy", "resource": None, "words": "not available (2014)", "jobs": 3},
        ],
        "requeues": {"node failure": 4},
        "started": 290,
        "jobs": 300,
    }
    ends = job_ends(summary)
    assert ends == {
        "refused": {"not available (2014)": 3},
        "never started": {"BadConstraints": 7},
        "killed": {"preempted": 62, "time limit": 9},
        "requeued": {"node failure": 4},
    }
    assert end_differences(ends, ends) == []
    (killed,) = end_differences({"killed": ends["killed"]}, {"killed": {"time limit": 11}})
    assert killed == EndDifference("killed", 71, 11, (("preempted", 62, 0), ("time limit", 9, 11)))
    assert killed.sentence("new", "old", 300) == (
        "60 more jobs are killed under new than under old (71 against 11 of 300): preempted: 62 against 0; time limit: "
        "9 against 11"
    )
    note = footnote(Comparison((Row("slurm", summary),)))
    assert "killed: 71 jobs (preempted 62, time limit 9)" in note
    assert "refused: 3 jobs (not available (2014)); never started: 7 jobs (BadConstraints)" in note
    assert "rejected" not in note
    other = {**summary, "states": {**summary["states"], "rejected": 3}, "rejections": summary["rejections"][1:]}
    note = footnote(Comparison((Row("one", summary), Row("other", other))))
    assert "refused: 3 jobs (not available (2014)); never started: BadConstraints" in note
    assert "requeued: 4 times (node failure 4)" in note


def _means(kind: str, **counts: list[int]) -> dict[str, dict[str, float]]:
    """Of runs with these counts, by reason."""
    return mean_ends([{kind: dict(zip(counts, run, strict=True))} for run in zip(*counts.values(), strict=True)])


def test_the_same_counts_in_another_order_are_no_difference() -> None:
    one, other = _means("refused", size=[1, 2, 3]), _means("refused", size=[2, 3, 1])
    assert one == other == {"refused": {"size": 2}}
    assert ends_told("new", one, "old", other, 100) == [] and columns_of_ends([one, other]) == {}


def test_as_many_jobs_for_other_reasons() -> None:
    """Three tenths in one part, and in two: 0.1 + 0.2 is not 0.3 for a computer."""
    one = _means("refused", size=[1, *[0] * 9], time=[2, *[0] * 9])
    other = _means("refused", size=[3, *[0] * 9], time=[0, *[0] * 9])
    assert ends_told("new", one, "old", other, 100) == [
        "as many jobs are refused under new as under old, not for the same reasons (0.3 against 0.3 of 100, on "
        "average): size: 0.1 against 0.3; time: 0.2 against 0"
    ]
    assert columns_of_ends([one, other]) == {}


def test_small_differences_have_their_digits() -> None:
    rare, none = _means("killed", preempted=[1, *[0] * 29]), _means("killed", preempted=[0] * 30)
    assert ends_told("new", rare, "old", none, 100) == [
        "0.03 more jobs are killed under new than under old (0.03 against 0 of 100, on average): preempted"
    ]
    often, more = _means("killed", preempted=[50] * 30), _means("killed", preempted=[51, *[50] * 29])
    assert "(50 against 50.03 of 100, on average)" in ends_told("new", often, "old", more, 100)[0]
    numbers = [0, 1 / 30, 5.25]
    assert [shown(number, decimals(numbers)) for number in numbers] == ["0", "0.03", "5.25"]


def test_what_observers_count_has_no_decimals() -> None:
    rows = [Row(str(n), {"started": 1, "observed": {"failures": n, "lost_core_hours": 1.5}}) for n in (86, 87)]
    assert [(metric.label, metric.unit) for metric in observed(rows)] == [
        ("failures", "count"),
        ("lost core hours", "number"),
    ]


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (1.81, "lengthens the wait by 81 %"),
        (1.95, "doubles the wait"),
        (2.2, "makes the wait 2.2 times as long"),
        (0.54, "shortens the wait by 46 %"),
        (0.49, "halves the wait"),
        (0.46, "cuts the wait to 46 %"),
    ],
)
def test_words_fit_the_numbers(ratio: float, said: str) -> None:
    assert Change("ratio", "time", ratio, None, None, (1.0, ratio)).claim("the wait") == said


def test_check_tells_of_all_folders_that_are_no_runs(tmp_path: Path) -> None:
    said = CliRunner().invoke(app, ["check", str(tmp_path / "one"), str(tmp_path / "two")])
    assert all(str(tmp_path / name) in str(said.exception) for name in ("one", "two"))

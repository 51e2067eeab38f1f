"""Whether schedules behave alike: by hand, in words, and on real logs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from schedlab.analysis.fidelity import compare_workloads
from schedlab.analysis.outcome import Outcome, OutcomeComparison, outcome_of, trouble_of
from schedlab.analysis.outcome_words import rows, sentence
from schedlab.cli.fidelity import print_headline
from schedlab.cli.fit import fit as fit_command
from schedlab.cli.inspect import inspect as inspect_command
from schedlab.engine.scenario import cluster_of_header
from schedlab.engine.simulate import simulate
from schedlab.experiment.outcomes import compare_outcomes, span_of
from schedlab.generate.base import generate
from schedlab.generate.giants import without_giants
from schedlab.generate.store import fit
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.workload import Workload
from schedlab.plot.fidelity import plot_fidelity
from schedlab.workload.read import read_workload

HOUR, DAY = 3600.0, 86_400.0


def test_an_outcome_by_hand() -> None:
    """Two jobs of the whole machine, both at 0: the second waits for 100 s."""
    jobs = Workload.of(submit=[0, 0, 1], runtime=[100, 300, 1], count=[2, 2, 9])
    found = outcome_of(simulate(jobs, Cluster.of_cores(2), "fcfs"))
    assert found is not None
    assert (found.wait, found.longest_wait) == (50, 100)
    assert found.bounded_slowdown == pytest.approx((1 + 400 / 300) / 2)
    assert found.utilisation == 1
    assert (found.started, found.rejected) == (2, 1)
    assert outcome_of(simulate(Workload.of(submit=[0], runtime=[1], count=[9]), Cluster.of_cores(2))) is None


def every_hour(hours: int) -> np.ndarray:
    return np.arange(hours) * HOUR


def test_a_policy_that_does_not_keep_up() -> None:
    submit = every_hour(1000)
    assert trouble_of(submit, submit + np.arange(1000) * 600) == "behind"  # 10 min more from job to job
    assert trouble_of(submit, submit + 1800) == ""  # half an hour each, the queue is empty every other one
    some = np.where((np.arange(1000) >= 100) & (np.arange(1000) < 300), 2 * HOUR, 0.0)
    assert trouble_of(submit, submit + some) == ""  # never empty for 200 h of 1000
    some = np.where((np.arange(1000) >= 100) & (np.arange(1000) < 400), 2 * HOUR, 0.0)
    assert trouble_of(submit, submit + some) == "behind"  # for 300 h


def test_jobs_that_starve() -> None:
    submit = every_hour(1000)
    waits = np.full(1000, 1800.0)
    waits[10] = 200 * HOUR
    assert trouble_of(submit, submit + waits) == "starving"
    waits[10] = 50 * HOUR
    assert trouble_of(submit, submit + waits) == ""
    waits = np.zeros(1000)
    waits[10] = 90 * HOUR
    assert trouble_of(submit, submit + waits) == "few"
    assert trouble_of(submit, submit + waits / 5000) == ""  # nobody waits
    assert trouble_of(np.zeros(0), np.zeros(0)) == ""
    assert trouble_of(submit, np.full(1000, np.nan)) == ""


ONE = Outcome(
    wait=2 * HOUR, bounded_slowdown=50, utilisation=0.7, longest_wait=DAY, started=1000, rejected=0, trouble=""
)


def comparison(*runs: Outcome, reference: Outcome = ONE) -> OutcomeComparison:
    return OutcomeComparison(
        policy="easy",
        machine="pool:100",
        reference_name="LOG",
        reference=reference,
        runs=runs,
        seeds=len(runs) > 1,
    )


def scaled(wait: float, slowdown: float = 1.0, **others: object) -> Outcome:
    return replace(ONE, wait=wait * ONE.wait, bounded_slowdown=slowdown * 50, **others)  # type: ignore[arg-type]


def test_answers() -> None:
    assert comparison(scaled(1.1)).answer == "alike"
    assert comparison(scaled(1.2)).answer == "different"
    assert comparison(scaled(1.0, 1.29)).answer == "alike"
    assert comparison(scaled(1.0, 0.69)).answer == "different"
    assert comparison(scaled(0.98), scaled(1.0), scaled(1.02)).answer == "alike"
    assert comparison(scaled(1.8), scaled(1.9), scaled(2.0)).answer == "different"
    # On average within 15 %, but nobody knows whether other seeds would be.
    assert comparison(scaled(0.7), scaled(1.0), scaled(1.4)).answer == "unknown"
    behind = replace(ONE, trouble="behind")
    assert comparison(scaled(1.0), reference=behind).answer == "unknown"
    # The log is fine, the other one is more than the machine can do.
    assert comparison(scaled(9.0, trouble="behind")).answer == "different"
    assert comparison(scaled(1.0, trouble="starving")).answer == "unknown"
    idle = replace(ONE, wait=5.0)
    assert comparison(replace(ONE, wait=20.0), reference=idle).answer == "alike"  # 4 times as long, and nothing
    assert comparison(replace(ONE, wait=20.0, utilisation=0.5), reference=idle).answer == "different"
    assert comparison(scaled(1.0), reference=replace(ONE, wait=0.0)).answer == "different"


def test_words_follow_the_numbers() -> None:
    assert sentence(comparison(scaled(0.98), scaled(1.0), scaled(1.02))) == (
        "Schedules behave alike under easy: jobs wait 1.00 times (seeds from 0.98 to 1.02) as long as those of LOG, "
        "bounded slowdown 1.00 times (seeds from 1.00 to 1.00) as large, utilisation 70.0 % against 70.0 % "
        "(over 3 seeds)."
    )
    assert sentence(comparison(scaled(2.5))).startswith(
        "Schedules do NOT behave alike under easy: jobs wait 2.50 times"
    )
    assert sentence(comparison(scaled(2.5))).endswith("(one schedule of each).")
    assert "cannot be told from 3 seeds" in sentence(comparison(scaled(0.7), scaled(1.0), scaled(1.4)))
    for trouble, words in (
        ("behind", "it does not keep up with the jobs: waits grow with the length of the log"),
        ("starving", "a few jobs starve (up to 24 h)"),
        ("few", "half of all waiting is that of one job in a thousand"),
    ):
        said = sentence(comparison(scaled(1.0), reference=replace(ONE, trouble=trouble)))  # type: ignore[arg-type]
        assert said.startswith("Whether schedules behave alike cannot be told under easy: " + words)
    assert "hardly any job waits" in sentence(comparison(scaled(0), reference=replace(ONE, wait=5.0)))
    assert "infinitely many times" in sentence(comparison(scaled(1.0), reference=replace(ONE, wait=0.0)))
    table = rows(comparison(scaled(1.5, rejected=3)))
    assert table[0] == ("schedules under easy on pool:100", "mean wait", "3 h", "2 h", "1.50 times")
    assert table[-1][1:4] == ("jobs not started", "3", "0")


def busy_months(seed: int = 1, *, behind: bool = False) -> Workload:
    """40 weeks on 10 processors, with a daily cycle; `behind`: more than the machine can do."""
    random = np.random.default_rng(seed)
    submit = np.sort(random.random(2000)) * 40 * 7 * DAY
    runtime = np.round(random.exponential(54_000 if behind else 15_000, 2000)) + 1
    jobs = Workload.of(
        name="busy", submit=np.floor(submit), runtime=runtime, limit=2 * runtime, count=random.integers(1, 9, 2000)
    )
    jobs.header["MaxProcs"] = "10"
    return jobs


def test_a_model_and_its_log() -> None:
    log = busy_months()
    told: list[str] = []
    found = compare_outcomes(
        fit(log),
        log,
        cluster_of_header(log),
        ["easy", "fcfs"],
        seeds=range(3),
        tell=lambda done, what: told.append(what),
    )
    assert [one.policy for one in found] == ["easy", "fcfs"]
    assert told[:4] == ["easy: busy", "easy: seed 0", "easy: seed 1", "easy: seed 2"]
    easy = found[0]
    assert easy.answer == "alike"
    assert (len(easy.runs), easy.machine) == (3, "pool:10")
    by_hand = simulate(generate(fit(log), span=span_of(log), seed=1), Cluster.of_cores(10), "easy").summary
    assert easy.runs[1].wait == by_hand["wait"]["mean"]
    # Two seeds do not tell: two more, until they do.
    (more,) = compare_outcomes(fit(log), log, cluster_of_header(log), seeds=range(2))
    assert more.answer == "alike"
    assert len(more.runs) in (4, 6)
    assert more.runs[:3] == easy.runs
    (no_more,) = compare_outcomes(fit(log), log, cluster_of_header(log), seeds=range(2), most=2)
    assert (no_more.answer, len(no_more.runs)) == ("unknown", 2)
    overloaded = busy_months(behind=True)
    (hopeless,) = compare_outcomes(fit(overloaded), overloaded, cluster_of_header(overloaded))
    assert (hopeless.answer, hopeless.trouble, len(hopeless.runs)) == ("unknown", "behind", 2)


def test_giants_by_hand() -> None:
    """On 10 processors for an hour: 10 x 3601 s are a giant, 10 x 3600 s are not; a limit ends a job."""
    jobs = Workload.of(
        submit=[0, 1, 2, 3], runtime=[3601, 3600, 99_999, 8000], limit=[9999, 9999, 100, 8000], count=[10, 10, 10, 5]
    )
    left, found = without_giants(jobs, 10, 3600)
    assert left.jobs["runtime"].to_list() == [3600, 99_999]
    assert (found.number, found.jobs, found.smallest, found.largest) == (2, 4, 5, 10)
    assert found.work == pytest.approx((36_010 + 40_000) / (36_010 + 36_000 + 1000 + 40_000))
    assert left.report.dropped == {"giant jobs": 2}
    assert found.facts() == [
        "left out: 2 giant jobs of 5 to 10 cores, 50 % of the jobs and 67.3 % of the work; each would keep the whole "
        "machine busy for more than 1 h",
        "they are not rare: what is left is another workload, with a lower load",
    ]
    same, none = without_giants(jobs, 10, DAY)
    assert same.jobs.equals(jobs.jobs)
    assert none.facts() == ["no giant jobs: none would keep the whole machine busy for more than 24 h"]
    with pytest.raises(InputError, match="seconds above 0"):
        without_giants(jobs, 10, 0)


def write_log(path: Path) -> Path:
    from schedlab.workload.formats import write_workload

    write_workload(path, busy_months())
    return path


def test_the_first_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, model = write_log(tmp_path / "busy.swf"), tmp_path / "model.json"
    fit_command(str(log), model, policy=["easy", "fcfs"], seeds=3, giants="8h")
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("Schedules behave alike under easy: jobs wait ")
    assert "under fcfs" in said[1]
    assert said[2].startswith("weeks model of busy without giants in ")
    assert said[3].strip().startswith("left out: ")
    inspect_command(str(model), against=str(log), seeds=2, out=tmp_path / "page.html")
    said = capsys.readouterr().out.splitlines()
    assert "behave alike" in said[0]
    assert " seeds)" in said[0]
    page = (tmp_path / "page.html").read_text()
    assert said[0] in page[: page.index("In words")].replace("&#x27;", "'")
    inspect_command(str(log), against=str(log))
    assert capsys.readouterr().out.startswith("Schedules behave alike under easy: jobs wait 1.00 times as long")
    inspect_command(str(log), against=str(log), seeds=0)
    assert capsys.readouterr().out.startswith("Whether schedules behave alike is not known: nothing was simulated")
    fit_command(str(log), model, model="empirical", seeds=3, force=True)
    assert "behave alike" in capsys.readouterr().out.splitlines()[0]
    with pytest.raises(InputError, match="there is no argument 'joint'"):
        fit_command(str(log), model, independent=True, force=True)


def test_figure_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = busy_months()
    outcomes = compare_outcomes(fit(log), log, cluster_of_header(log), ["easy", "fcfs"], seeds=range(4))
    found = compare_workloads(log, log, outcomes=outcomes)
    print_headline(found)
    assert "behave alike" in capsys.readouterr().out
    document = found.to_dict()
    assert document["outcomes"][0]["answer"] == "alike"
    assert document["outcomes"][0]["wait_ratio"]["mean"] == pytest.approx(1, abs=0.15)
    assert document["verdicts"][0]["about"] == "schedules"
    figure = plot_fidelity(found, tmp_path / "figure.png")
    assert figure.axes[0].get_title(loc="left") == "Mean wait / reference"


@pytest.mark.parametrize(("name", "wait"), [("KTH-SP2-1996-2.1-cln", 6849), ("SDSC-SP2-1998-4.2-cln", 20_605)])
def test_weeks_of_real_logs_wait_like_them(traces: Path, name: str, wait: float) -> None:
    """The heavy version, with five logs and ten seeds, is `python -m benchmarks fidelity`."""
    log = read_workload(traces / f"{name}.swf.gz")
    cluster, model = cluster_of_header(log), fit(log)
    (found,) = compare_outcomes(model, log, cluster, seeds=range(2))
    assert found.reference.wait == pytest.approx(wait, rel=0.01)
    assert abs(found.wait - 1) < 0.15
    assert abs(found.bounded_slowdown - 1) < 0.30
    long = outcome_of(simulate(generate(model, span=2 * span_of(log), seed=0), cluster, "easy"))
    assert long is not None
    assert long.wait == pytest.approx(wait, rel=0.15)


def test_distributions_of_a_real_log_do_not_wait_like_it(traces: Path) -> None:
    log = read_workload(traces / "KTH-SP2-1996-2.1-cln.swf.gz")
    easy, fcfs = compare_outcomes(fit(log, "empirical"), log, cluster_of_header(log), ["easy", "fcfs"], seeds=range(2))
    assert easy.answer == "different"
    assert easy.wait > 1.5
    assert (fcfs.answer, fcfs.trouble) == ("unknown", "behind")

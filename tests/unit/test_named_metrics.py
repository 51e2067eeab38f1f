"""Metrics by their names: in comparisons, studies and verdicts (numbers of the five jobs in tests/batches.py)."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import pytest
from tests.batches import FIVE_JOBS, TWO_NODES, config, job_batch, time_batch
from tests.unit.test_study_report import simulated
from typer.testing import CliRunner

from schedlab.analysis.compare import METRICS, compare, metric_called
from schedlab.analysis.verdict import metric_name, metric_unit
from schedlab.cli.main import app
from schedlab.cli.table import comparison_table
from schedlab.engine.store import MemoryWriter, RunWriter
from schedlab.experiment.sweep import axis_of, sweep_table
from schedlab.model.errors import InputError
from schedlab.model.plugins import load
from schedlab.model.run import Run
from schedlab.report.study import study_page

DEMO = Path(__file__).parents[2] / "examples" / "demo.swf"


def five_jobs(policy: str = "easy", **observed: float) -> Run:
    with MemoryWriter(TWO_NODES) as writer:
        writer.write("jobs", job_batch())
        writer.write("timeline", time_batch())
        return writer.finish(config(policy) | ({"observed": observed} if observed else {}))


# Waits 0, 0, 90 and 70 s, run times 100, 100, 50 and 5 s on 2, 2, 4 and 2 cores: 200, 200, 200 and 10 core-seconds.
@pytest.mark.parametrize(
    ("name", "value", "label", "unit"),
    [
        ("turnaround.mean", 103.75, "mean turnaround", "time"),
        ("turnaround.p99", 100 + 0.97 * 40, "p99 turnaround", "time"),
        ("turnaround.max", 140, "max turnaround", "time"),
        ("wait.p99", 70 + 0.97 * 20, "p99 wait", "time"),
        ("slowdown.p99", 2.8 + 0.97 * 12.2, "p99 slowdown", "number"),
        ("bounded_slowdown.p99", 2.8 + 0.97 * 4.7, "p99 bounded slowdown", "number"),
        ("processor_slowdown.max", 3.75, "max per-processor bounded slowdown", "number"),
        ("wait.weighted", (90 * 200 + 70 * 10) / 610, "mean wait weighted by core-hours", "time"),
        ("turnaround.weighted", 68_750 / 610, "mean turnaround weighted by core-hours", "time"),
        ("observed.energy_kwh", 7.5, "energy kwh", "number"),
    ],
)
def test_a_metric_and_what_it_is_called(name: str, value: float, label: str, unit: str) -> None:
    comparison = compare([five_jobs(energy_kwh=7.5), five_jobs("fcfs")], metrics=[name])
    metric = metric_called(name)
    assert metric in comparison.metrics
    assert metric is not None and comparison.values(metric)[0] == pytest.approx(value)
    assert (metric_name(name), metric_unit(name)) == (label, unit)


def test_jobs_that_take_no_time_have_no_weight() -> None:
    with MemoryWriter(TWO_NODES) as writer:
        writer.write("jobs", job_batch([(1, 0, 0.0, 5.0, 5.0, "completed", 2, False, {0: 2})]))
        writer.write("timeline", time_batch())
        summary = writer.finish(config("easy")).summary
    assert summary["wait"]["mean"] == 5
    assert summary["wait"]["weighted"] is None


def test_what_is_asked_for_has_one_column_however_narrow_the_screen() -> None:
    table = comparison_table(compare([five_jobs(), five_jobs("fcfs")], metrics=["wait.p99", "wait.mean"]), most=3)
    heads = [str(column.header).replace("\n", "").split() for column in table.columns]
    assert [words[0] for words in heads if words[1:2] == ["wait"]] == ["mean", "p99"]


@pytest.mark.parametrize(
    ("name", "said", "hint"),
    [
        ("wait.p98", "there is no metric 'wait.p98'", "did you mean 'wait.p9"),
        ("wait", "there is no metric 'wait'", "did you mean 'wait.mean'? metrics: wait.mean, turnaround.mean,"),
        ("turnaround", "there is no metric 'turnaround'", "did you mean 'turnaround.mean'?"),
        ("processor_slowdown", "there is no metric", "did you mean 'processor_slowdown.mean'?"),
        ("queue_length", "there is no metric", "did you mean 'queue_length.mean'?"),
        ("performance.total", "no run has the metric", 'a study measures it: metrics = ["performance.total"]'),
        ("observed.energy", "no run has the metric 'observed.energy'", "did you mean 'observed.energy_kwh'?"),
    ],
)
def test_names_that_mean_nothing(name: str, said: str, hint: str) -> None:
    with pytest.raises(InputError) as error:
        compare([five_jobs(energy_kwh=7.5)], metrics=[name])
    assert said in str(error.value) and hint in error.value.hint


def test_a_name_that_is_only_the_beginning_of_one_in_a_sweep(tmp_path: Path) -> None:
    text = f'[workload]\nlog = "{DEMO}"\nwindow = "0d..1d"\n[run]\ncluster = "64x4"\npolicy = ["fcfs", "easy"]\n'
    results = simulated(tmp_path / "study", text)
    for name in ("wait", "turnaround", "processor_slowdown"):
        with pytest.raises(InputError, match=f"did you mean '{name}.mean'") as error:
            sweep_table(results, axis_of(results, "policy"), name)
        assert error.value.message == f"no run has the metric '{name}'"


@pytest.mark.parametrize("kind", ["metric", "order", "policy"])
def test_a_file_that_is_not_there(kind: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"'schedlab new {kind} {tmp_path}/nosuch.py' writes a file to start from"):
        load(kind, f"{tmp_path}/nosuch.py:f")


def test_compare_on_the_command_line(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run", TWO_NODES) as writer:
        writer.write("jobs", job_batch(FIVE_JOBS))
        writer.write("timeline", time_batch())
        writer.finish(config("easy"))
    run = str(tmp_path / "run")
    found = CliRunner().invoke(app, ["compare", run, "--metric", "turnaround.max", "-m", "wait.weighted"])
    assert found.exit_code == 0
    assert "turnaround" in found.output and "core-hours s" in found.output and "30.66" in found.output
    wrong = CliRunner().invoke(app, ["compare", run, "--metric", "turnaround.maks"])
    assert isinstance(wrong.exception, InputError) or "did you mean 'turnaround.max'?" in wrong.output


def test_metrics_of_observers_in_a_study(tmp_path: Path) -> None:
    text = f"""
        metrics = ["observed.energy_kwh", "turnaround.p99", "processor_slowdown.mean", "observed.energi_kwh"]
        baseline = {{ policy = "fcfs" }}
        [workload]
        log = "{DEMO}"
        window = "0d..1d"
        [run]
        cluster = "64x4"
        policy = ["fcfs", "easy"]
        observe = "power(idle=60, per_core=15)"
    """
    results = simulated(tmp_path / "study", text)
    assert results.metrics == ["observed.energy_kwh", "turnaround.p99", "processor_slowdown.mean"]
    assert all(f"the {metric_name(name)}" in " ".join(results.verdicts()) for name in results.metrics)
    page = study_page(results)
    assert "energy kwh" in page and "p99 turnaround" in page
    assert "No run has the metric observed.energi_kwh. did you mean 'observed.energy_kwh'?" in unescape(page)


def test_every_name_is_a_number_of_the_summary() -> None:
    summary = five_jobs().summary
    of_some = ("speedup.", "slowed_share", "utilisation_until_empty", "improvement.")  # runs with a heatmap
    of_some += ("workflow.", "others.", "utilisation_less_idle")  # with workflows
    lacking = [k for k, metric in METRICS.items() if metric.of(summary) is None and not k.startswith(of_some)]
    assert lacking == []

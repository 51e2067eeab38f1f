"""What runs of a study cost: metrics with intervals, of which neither identities nor other results know anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.studies import STUDY, found, results, run

from schedlab.experiment.meter import Meter
from schedlab.experiment.plan import plan
from schedlab.experiment.results import Results
from schedlab.experiment.study import parse_study
from schedlab.model.errors import InputErrors
from schedlab.report.study import study_page

METRICS = 'metrics = ["wait.mean", "performance.total", "performance.cpu", "performance.memory"]\n'
LOG = """; MaxProcs: 8
1 0 -1 100 4 -1 -1 4 100 -1 1 1 1 1 1 1 -1 -1
2 10 -1 100 8 -1 -1 8 100 -1 1 1 1 1 1 1 -1 -1
3 20 -1 50 2 -1 -1 2 60 -1 1 1 1 1 1 1 -1 -1
"""


def written(folder: Path, costs: dict[str, list[float]]) -> None:
    """Put seconds by the policies, repetition by repetition, in place of those that were measured."""
    for identity, result in results(folder).items():
        result["performance"]["total"] = costs[result["point"]["policy"]][result["repetition"]]
        (folder / "results" / f"{identity}.json").write_text(json.dumps(result))


def test_costs_are_metrics_with_intervals(tmp_path: Path) -> None:
    run(METRICS + STUDY, tmp_path / "study")
    written(tmp_path / "study", {"fcfs": [1.0, 2.0, 3.0], "easy": [2.0, 4.0, 6.0]})
    study = Results(tmp_path / "study")
    assert study.metrics == ["wait.mean", "performance.total", "performance.cpu", "performance.memory"]
    row = study.groups(["performance.total"]).filter(group="easy").row(0, named=True)
    assert (row["n"], row["mean"], row["deviation"]) == (3, 4.0, 2.0)
    assert row["high"] - row["mean"] == pytest.approx(4.302653 * 2 / 3**0.5, rel=1e-6)  # Student, 2 degrees of freedom
    compared = study.comparisons(["performance.total"]).row(0, named=True)
    assert (compared["ratio"], compared["n"]) == (pytest.approx(2.0), 3)
    families = dict(study.comparisons().select("metric", "comparisons").iter_rows())
    assert families["wait.mean"] == 1  # what executions cost does not count among comparisons of schedules
    assert families["performance.total"] == 3
    assert all(value > 0 for name in ("cpu", "memory") for value in study.table[f"performance.{name}"])
    page = study_page(study)
    assert "time of a run" in page and "peak memory in MB" in page


def test_the_same_schedule_again_is_another_measurement(tmp_path: Path) -> None:
    """Repetitions on a log are copies of one run: one wait, but as many times as there are repetitions."""
    (tmp_path / "log.swf").write_text(LOG)
    text = METRICS + 'repetitions = 3\nbaseline = { policy = "fcfs" }\nkeep = "summary"\n'
    text += '[workload]\nlog = "log.swf"\n[run]\npolicy = ["fcfs", "easy"]\n'
    run(text, tmp_path / "study")
    written(tmp_path / "study", {"fcfs": [1.0, 2.0, 3.0], "easy": [2.0, 4.0, 6.0]})
    study = Results(tmp_path / "study")
    metrics = ["wait.mean", "performance.total"]
    assert study.groups(metrics)["n"].to_list() == [1, 3, 1, 3]
    assert study.comparisons(metrics)["n"].to_list() == [1, 3]


def test_neither_identities_nor_tables_know_of_them(tmp_path: Path) -> None:
    asking, silent = (
        parse_study(text, "study.toml") for text in (METRICS + STUDY, 'metrics = ["wait.mean"]\n' + STUDY)
    )
    assert [run.identity for run in plan(asking)] == [run.identity for run in plan(silent)]
    for folder in ("one", "two"):
        run('metrics = ["wait.mean"]\n' + STUDY, tmp_path / folder)
    one, two = Results(tmp_path / "one"), Results(tmp_path / "two")
    assert not [name for name in one.table.columns if name.startswith("performance")]
    assert one.table.equals(two.table)
    assert found(one.folder) == found(two.folder)
    run(METRICS + STUDY, tmp_path / "one")  # nothing is executed again, and all of it is known
    assert Results(tmp_path / "one").table["performance.total"].null_count() == 0


def test_the_time_of_deciding_is_measured_if_it_is_asked_for(tmp_path: Path) -> None:
    run(STUDY, tmp_path / "plain")
    run('metrics = ["performance.deciding"]\n' + STUDY, tmp_path / "measured")
    assert not list((tmp_path / "plain").rglob("performance.parquet"))
    assert len(list((tmp_path / "measured").rglob("performance.parquet"))) == 6
    study = Results(tmp_path / "measured")
    for result in study.results:
        deciding = study.run(result["identity"]).performance["decide_seconds"].cast(float).sum()
        assert result["performance"]["deciding"] == pytest.approx(deciding, rel=1e-6)
        assert 0 < deciding < result["performance"]["total"]
    plain, measured = (list(found(tmp_path / name).values()) for name in ("plain", "measured"))
    assert sorted(one["jobs.parquet"] for one in plain) == sorted(one["jobs.parquet"] for one in measured)


def test_the_peak_of_an_earlier_run_is_forgotten(tmp_path: Path) -> None:
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("only Linux can")
    run(STUDY.replace("repetitions = 3", "repetitions = 1"), tmp_path / "study")
    simulated = Results(tmp_path / "study").run(next(iter(results(tmp_path / "study"))))
    large, meter = bytearray(200_000_000), Meter()
    large[::4096] = b"x" * len(large[::4096])
    before = meter.read(simulated)["memory"]
    del large
    after = Meter().read(simulated)["memory"]
    assert before is not None and after is not None and after < before - 150


def test_what_an_earlier_run_has_freed_is_not_of_the_next(tmp_path: Path) -> None:
    """Small pieces stay with the allocator until they are asked back."""
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("only Linux can")
    run(STUDY.replace("repetitions = 3", "repetitions = 1"), tmp_path / "study")
    simulated = Results(tmp_path / "study").run(next(iter(results(tmp_path / "study"))))
    before = Meter().read(simulated)["memory"]
    pieces = [bytes(2000) for _ in range(50_000)]
    last = bytes(2000)  # keeps the top of the heap
    del pieces
    after = Meter().read(simulated)["memory"]
    assert last and before is not None and after is not None and after < before + 30


def test_where_the_peak_cannot_be_forgotten_it_is_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rather than that of all runs of the process."""
    monkeypatch.setattr("schedlab.experiment.meter._PROCESS", tmp_path / "nothing")
    run(METRICS + STUDY, tmp_path / "study")
    assert {result["performance"]["memory"] for result in results(tmp_path / "study").values()} == {None}
    study = Results(tmp_path / "study")
    assert study.table["performance.memory"].null_count() == 6
    study_page(study)


def test_a_name_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(
        InputErrors, match=r"there is no metric \"performance\.totl\"\n  hint: did you mean 'performance.total'"
    ):
        parse_study('metrics = ["performance.totl"]\n' + STUDY, "study.toml")

"""Tables of many runs, merged repetitions, and groups against a baseline, by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from tests.batches import FIVE_JOBS, TWO_NODES, config, job_batch, time_batch

from schedlab.analysis.compare_groups import COLUMNS, compare_groups
from schedlab.analysis.study import StudyRun, merge_repetitions, metric_columns, pooled_distribution, study_table
from schedlab.analysis.trim import Trim
from schedlab.engine.store import MemoryWriter
from schedlab.model.errors import InputError
from schedlab.model.run import Run


def finished(jobs: list[Any] = FIVE_JOBS) -> Run:
    with MemoryWriter(TWO_NODES) as writer:
        writer.write("jobs", job_batch(jobs))
        writer.write("timeline", time_batch())
        return writer.finish(config())


def runs(group: str, waits: list[float | None], first_seed: int = 1) -> list[StudyRun]:
    return [
        StudyRun(f"{group}-{n}", group, group, {"wait": {"mean": wait}}, repetition=n, seed=first_seed + n)
        for n, wait in enumerate(waits)
    ]


def only(table: pl.DataFrame) -> dict[str, Any]:
    assert len(table) == 1
    return table.row(0, named=True)


def test_one_row_per_run() -> None:
    table = study_table(
        [
            StudyRun("a", "easy at 0.9", "easy", finished().summary, {"load": 0.9, "log": "five"}, 1, 42),
            StudyRun("b", "fcfs", "none", {"wait": {"mean": 7}, "observed": {"energy_kwh": 2.5}, "incomplete": True}),
        ]
    )
    assert table.columns[:7] == ["run", "group", "policy", "repetition", "seed", "parameters.load", "parameters.log"]
    assert table.row(0)[:7] == ("a", "easy at 0.9", "easy", 1, 42, 0.9, "five")
    assert table.row(1)[:7] == ("b", "fcfs", "none", None, None, None, None)
    assert table["wait.mean"].to_list() == [40, 7]
    assert table["bounded_slowdown.max"].to_list() == [7.5, None]
    assert table["utilisation"].to_list() == [610 / 640, None]
    assert table["states.killed"].to_list() == [1, 0]
    assert table["reasons.larger than the cluster"].to_list() == [1, 0]
    assert table["observed.energy_kwh"].to_list() == [None, 2.5]
    assert {"tau", "trim", "incomplete"}.isdisjoint(table.columns)
    assert metric_columns(table) == table.columns[7:]
    assert all(table[name].dtype == pl.Float64 for name in table.columns[7:])


def test_no_runs() -> None:
    assert len(study_table([])) == 0
    assert len(merge_repetitions(study_table([]))) == 0


def test_parameters_of_several_kinds_become_text() -> None:
    table = study_table([StudyRun(str(depth), "g", "easy", {}, {"depth": depth}) for depth in (5, "all")])
    assert table["parameters.depth"].to_list() == ["5", "all"]


def test_mean_of_repetitions() -> None:
    # mean 200, deviation 100, error 100/sqrt(3); t of 2 degrees of freedom is 4.302653
    found = only(merge_repetitions(study_table(runs("fcfs", [100, 200, 300]))))
    reach = 4.302653 * 100 / math.sqrt(3)
    assert (found["group"], found["metric"], found["n"]) == ("fcfs", "wait.mean", 3)
    assert (found["mean"], found["deviation"], found["min"], found["max"]) == (200, 100, 100, 300)
    assert (found["low"], found["high"]) == pytest.approx((200 - reach, 200 + reach), abs=1e-3)


def test_one_repetition_has_no_interval() -> None:
    found = only(merge_repetitions(study_table(runs("fcfs", [100]))))
    assert (found["n"], found["mean"], found["low"], found["high"], found["deviation"]) == (1, 100, None, None, None)


def test_copies_of_a_run_are_one_repetition() -> None:
    found = only(merge_repetitions(study_table(runs("fcfs", [100, 100, 100]))))
    assert (found["n"], found["low"]) == (1, None)


def test_missing_values_are_not_repetitions() -> None:
    found = only(merge_repetitions(study_table(runs("fcfs", [100, None, 300]))))
    assert (found["n"], found["mean"]) == (2, 200)
    nothing = only(merge_repetitions(study_table(runs("fcfs", [None]))))
    assert (nothing["n"], nothing["mean"]) == (0, None)


def test_jobs_of_all_repetitions_together() -> None:
    # waits 0, 0, 90, 70, and once more with job 3 waiting 190 s
    later = [row if row[0] != 3 else (3, 2, 20.0, 210.0, 260.0, *row[5:]) for row in FIVE_JOBS]
    found = pooled_distribution([finished(), finished(later)])
    assert found["mean"] == 420 / 8
    assert found["median"] == 35  # between 0 and 70
    assert found["max"] == 190
    assert pooled_distribution([finished(), finished(later)], trim=Trim(0.4, 0.4))["mean"] == 140
    assert pooled_distribution([])["mean"] is None


def test_half_in_every_repetition() -> None:
    table = study_table([*runs("fcfs", [100, 200, 300]), *runs("easy", [50, 100, 150])])
    found = only(compare_groups(table, "fcfs"))
    # differences -50, -100, -150: deviation 50
    reach = 4.302653 * 50 / math.sqrt(3)
    assert (found["group"], found["baseline"], found["metric"]) == ("easy", "fcfs", "wait.mean")
    assert (found["paired"], found["n"], found["n_baseline"], found["scale"]) == (True, 3, 3, "ratio")
    assert (found["mean"], found["baseline_mean"], found["difference"]) == (100, 200, -100)
    assert found["difference_low"] == pytest.approx(-100 - reach, abs=1e-3)
    assert found["difference_high"] == pytest.approx(-100 + reach, abs=1e-3)
    assert [found[name] for name in ("ratio", "ratio_low", "ratio_high")] == pytest.approx([0.5, 0.5, 0.5])
    assert tuple(found) == COLUMNS


def test_groups_without_partners() -> None:
    table = study_table([*runs("fcfs", [4, 5, 6]), *runs("easy", [1, 2, 3], first_seed=100)])
    found = only(compare_groups(table, "fcfs"))
    assert (found["paired"], found["n"], found["n_baseline"], found["difference"]) == (False, 3, 3, -3)
    # variances 1 and 1: error sqrt(2/3), 4 degrees of freedom, t 2.776445
    assert found["difference_high"] == pytest.approx(-3 + 2.776445 * math.sqrt(2 / 3), abs=1e-5)


def test_only_pairs_count() -> None:
    table = study_table([*runs("fcfs", [100, 200, 300]), *runs("easy", [50, 90, 100, 999])])
    found = only(compare_groups(table, "fcfs"))
    assert (found["paired"], found["n"], found["mean"]) == (True, 3, 80)


def test_copies_are_compared_once() -> None:
    table = study_table([*runs("fcfs", [100, 100, 100]), *runs("easy", [50, 50, 50])])
    found = only(compare_groups(table, "fcfs"))
    assert (found["n"], found["difference"], found["ratio"]) == (1, -50, pytest.approx(0.5))
    assert [found[name] for name in ("difference_low", "ratio_low", "p", "p_corrected")] == [None] * 4
    varied = study_table([*runs("fcfs", [100, 100, 100]), *runs("random", [50, 60, 55])])
    assert only(compare_groups(varied, "fcfs"))["n"] == 3


def test_intervals_and_p_values_are_corrected_for_all_comparisons() -> None:
    random = np.random.default_rng(4)
    waits = {group: random.lognormal(5, 1, 10).tolist() for group in ("fcfs", "easy", "sjf")}
    table = study_table([run for group, values in waits.items() for run in runs(group, values)])
    found = compare_groups(table, "fcfs")
    for row, group in zip(found.iter_rows(named=True), ("easy", "sjf"), strict=True):
        logs = np.log(waits[group]) - np.log(waits["fcfs"])
        by_scipy = stats.ttest_1samp(logs, 0)
        assert (row["level"], row["comparisons"]) == (0.95, 2)
        assert (row["p"], row["p_corrected"]) == pytest.approx((by_scipy.pvalue, min(2 * by_scipy.pvalue, 1)))
        assert (row["ratio_low"], row["ratio_high"]) == pytest.approx(np.exp(by_scipy.confidence_interval(0.975)))
    alone = only(compare_groups(table.filter(table["group"] != "sjf"), "fcfs"))
    assert alone["p_corrected"] == alone["p"]
    wider = only(compare_groups(table.filter(table["group"] != "sjf"), "fcfs", comparisons=2))
    assert wider == found.row(0, named=True)


def test_shares_are_tested_by_their_differences() -> None:
    both = {"fcfs": [0.5, 0.6, 0.8], "easy": [0.6, 0.65, 0.82]}
    table = study_table(
        StudyRun(f"{group}-{n}", group, group, {"utilisation": value}, repetition=n)
        for group, values in both.items()
        for n, value in enumerate(values)
    )
    found = only(compare_groups(table, "fcfs"))
    assert found["scale"] == "difference"
    assert found["p"] == pytest.approx(stats.ttest_rel(both["easy"], both["fcfs"]).pvalue)


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize(("started", "same"), [((100, 120), True), ((99, 120), False), ((100, 119), False)])
def test_runs_that_started_all_their_jobs_can_be_compared(paired: bool, started: tuple[int, int], same: bool) -> None:
    """However many jobs each of them has, where nothing but their numbers is known."""
    table = study_table(
        StudyRun(f"{group}-{n}", group, group, {"wait": {"mean": 10.0 + n + at}} | counts, repetition=n, seed=seed + n)
        for at, (group, seed) in enumerate((("fcfs", 0), ("easy", 0 if paired else 100)))
        for n, counts in enumerate([{"jobs": (100, 120)[at], "started": started[at]}] * 3)
    )
    (found,) = compare_groups(table, "fcfs", ["wait.mean"]).to_dicts()
    assert (found["paired"], found["same_jobs"]) == (paired, same)


def test_no_ratio_to_nothing() -> None:
    table = study_table([*runs("fcfs", [0, 2, 4]), *runs("easy", [1, 2, 3])])
    found = only(compare_groups(table, "fcfs"))
    assert (found["ratio"], found["ratio_low"], found["difference"]) == (None, None, 0)


def test_a_metric_that_some_runs_lack() -> None:
    table = study_table([*runs("fcfs", [1, 2, 3]), *runs("easy", [None, 3, 5])])
    assert only(compare_groups(table, "fcfs"))["n"] == 2
    nothing = study_table([*runs("fcfs", [1, 2]), *runs("easy", [None, None])])
    found = only(compare_groups(nothing, "fcfs"))
    assert (found["n"], found["difference"], found["p_corrected"]) == (0, None, None)


def test_no_such_metric() -> None:
    table = study_table([*runs("fcfs", [1, 2]), *runs("easy", [1, 2])])
    with pytest.raises(InputError, match=r"did you mean 'wait\.mean'"):
        compare_groups(table, "fcfs", ["wait.men"])

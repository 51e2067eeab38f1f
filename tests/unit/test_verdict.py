"""The wording of verdicts."""

from __future__ import annotations

from typing import Any

import pytest

from schedlab.analysis.compare_groups import compare_groups
from schedlab.analysis.study import StudyRun, study_table
from schedlab.analysis.verdict import judgement, metric_name, verdict, verdicts


def row(metric: str = "wait.mean", **changed: Any) -> dict[str, Any]:
    """Ten paired repetitions of easy and fcfs."""
    return {
        "group": "easy",
        "baseline": "fcfs",
        "metric": metric,
        "paired": True,
        "n": 10,
        "n_baseline": 10,
        "mean": 3600.0,
        "baseline_mean": 36000.0,
        "difference": -1.0,
        "difference_low": None,
        "difference_high": None,
        "ratio": None,
        "ratio_low": None,
        "ratio_high": None,
        "scale": "difference",
        "level": 0.95,
        "comparisons": 1,
    } | changed


def ratio(estimate: float, low: float | None = None, high: float | None = None) -> dict[str, Any]:
    return {"scale": "ratio", "ratio": estimate, "ratio_low": low, "ratio_high": high, "difference": estimate - 1}


def difference(estimate: float, low: float | None = None, high: float | None = None) -> dict[str, float | None]:
    return {"difference": estimate, "difference_low": low, "difference_high": high}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            row(**ratio(0.48, 0.46, 0.53)),
            "easy halves the mean wait (−52 %, 95 % CI −54 to −47 %, 10 paired repetitions)",
        ),
        (
            row(**ratio(2.04, 1.98, 2.1)),
            "easy doubles the mean wait (+104 %, 95 % CI +98 to +110 %, 10 paired repetitions)",
        ),
        (
            row("wait.p99", **ratio(3.1, 2.8, 3.5)),
            "easy makes the p99 wait 3.1 times as long (95 % CI 2.8 to 3.5 times, 10 paired repetitions)",
        ),
        (
            row("bounded_slowdown.mean", **ratio(31.4, 12, 82)),
            "easy makes the mean bounded slowdown 31 times as high (95 % CI 12 to 82 times, 10 paired repetitions)",
        ),
        (
            row(**ratio(0.21, 0.19, 0.23)),
            "easy cuts the mean wait to 21 % (−79 %, 95 % CI −81 to −77 %, 10 paired repetitions)",
        ),
        (
            row(**ratio(1 / 240, 1 / 290, 1 / 200), baseline_mean=554 * 3600, mean=2.3 * 3600),
            "easy cuts the mean wait 240-fold (from 554 h to 2.3 h, 95 % CI 200- to 290-fold, 10 paired repetitions)",
        ),
        (
            row(**ratio(1e-5, 0.8e-5, 1.25e-5), baseline_mean=5e6, mean=50.0),
            "easy cuts the mean wait 100,000-fold (from 57.9 d to 50 s, 95 % CI 80,000- to 125,000-fold, "
            "10 paired repetitions)",
        ),
        (
            row("bounded_slowdown.mean", **ratio(0.075, 0.05, 0.125), baseline_mean=1200, mean=95),
            "easy cuts the mean bounded slowdown 13-fold (from 1,200 to 95, 95 % CI 8.0- to 20-fold, "
            "10 paired repetitions)",
        ),
        (
            row(**ratio(0.08, 0.01, 0.64)),
            "easy cuts the mean wait to 8.0 % (−92 %, 95 % CI −99 to −36 %, 10 paired repetitions)",
        ),
        (
            row(**ratio(0.88, 0.852, 0.911)),
            "easy shortens the mean wait by 12 % (95 % CI −15 to −8.9 %, 10 paired repetitions)",
        ),
        (
            row("bounded_slowdown.mean", **ratio(1.034, 1.01, 1.06)),
            "easy raises the mean bounded slowdown by 3.4 % (95 % CI +1.0 to +6.0 %, 10 paired repetitions)",
        ),
        (
            row(**ratio(0.997, 0.995, 0.999)),
            "easy hardly changes the mean wait (−0.3 %, 95 % CI −0.5 to −0.1 %, 10 paired repetitions)",
        ),
        (
            row(**ratio(0.97, 0.91, 1.032)),
            "no difference in the mean wait can be told between easy and fcfs "
            "(−3.0 %, 95 % CI −9.0 to +3.2 %, 10 paired repetitions)",
        ),
        (
            row(**ratio(1.0, 1.0, 1.0)),
            "easy does not change the mean wait (10 paired repetitions)",
        ),
        (
            row("utilisation", **difference(0.032, 0.029, 0.035)),
            "easy raises the utilisation by 3.2 points (95 % CI +2.9 to +3.5 points, 10 paired repetitions)",
        ),
        (
            row("utilisation", **difference(0.0003, -0.0002, 0.0008)),
            "easy hardly changes the utilisation (+0.03 points, 95 % CI −0.02 to +0.08 points, 10 paired repetitions)",
        ),
        (
            row("states.killed", **difference(42, 30, 54)),
            "easy raises the number of killed jobs by 42 (95 % CI +30 to +54, 10 paired repetitions)",
        ),
        (
            row("wait.median", **difference(5400, 3600, 7200)),
            "easy lengthens the median wait by 90 min (95 % CI +60 min to +2 h, 10 paired repetitions)",
        ),
    ],
)
def test_wording(given: dict[str, Any], expected: str) -> None:
    assert verdict(given) == expected


def test_some_jobs_only() -> None:
    told = verdict(row("wait.p99", **ratio(3.1, 2.8, 3.5)), jobs="large jobs")
    assert told.startswith("easy makes the p99 wait of large jobs 3.1 times as long")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (ratio(0.48), "in this one run, easy halves the mean wait (−52 %)"),
        (ratio(0.05), "in this one run, easy cuts the mean wait 20-fold (from 10 h to 1 h)"),
        (ratio(3.1), "in this one run, easy makes the mean wait 3.1 times as long"),
        (ratio(0.88), "in this one run, easy shortens the mean wait by 12 %"),
        (ratio(1.0), "in this one run, easy does not change the mean wait"),
        (difference(90), "in this one run, easy lengthens the mean wait by 90 s"),
    ],
)
def test_one_run_is_one_run(change: dict[str, Any], expected: str) -> None:
    assert verdict(row(**change) | {"n": 1, "n_baseline": 1}) == expected


def test_one_run_against_many() -> None:
    given = row(**ratio(0.48)) | {"n": 1, "paired": False}
    assert verdict(given) == "in 1 against 10 runs, easy halves the mean wait (−52 %)"


def test_the_number_of_comparisons_is_told() -> None:
    assert verdict(row(comparisons=1200, **ratio(0.9, 0.85, 0.95))) == (
        "easy shortens the mean wait by 10 % (95 % CI −15 to −5.0 % corrected for 1,200 comparisons, "
        "10 paired repetitions)"
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (row(**ratio(0.9, 0.85, 0.95)), "better"),
        (row(**ratio(1.1, 1.05, 1.15)), "worse"),
        (row(**ratio(1.1, 0.99, 1.22)), ""),
        (row(**ratio(1.003, 1.001, 1.005)), ""),  # hardly
        (row(**ratio(1.5, 1.5, 1.5)), ""),  # the same in each repetition
        (row(**ratio(0.5)) | {"n": 1}, ""),
        (row("utilisation", **difference(0.1, 0.05, 0.15)), "better"),
        (row("states.killed", **difference(5, 4, 6)), ""),  # nobody says whether that is good
    ],
)
def test_judgement(given: dict[str, Any], expected: str) -> None:
    assert judgement(given) == expected


def test_without_a_spread_only_what_was_seen_is_told() -> None:
    """Two repetitions with one killed job more: chance does that to equals, however narrow the interval."""
    killed = row("states.killed", **difference(1, 1, 1), n=2, n_baseline=2)
    assert verdict(killed) == "in each of 2 paired repetitions, easy raises the number of killed jobs by 1.0"


def test_not_paired() -> None:
    given = row(**ratio(0.5, 0.4, 0.6), paired=False, n_baseline=12)
    assert verdict(given).endswith("10 and 12 repetitions, not paired)")


def test_nothing_known() -> None:
    given = row(n=0, n_baseline=0) | {"difference": None}
    assert verdict(given) == "nothing is known about the mean wait under easy or fcfs"


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("wait.mean", "mean wait"),
        ("wait.p99", "p99 wait"),
        ("bounded_slowdown.p95", "p95 bounded slowdown"),
        ("utilisation_queued", "utilisation while queued"),
        ("backfilled_share", "share of backfilled jobs"),
        ("states.waiting", "number of jobs that never started"),
        ("metrics.tail_wait", "tail wait"),
        ("observed.energy_kwh", "energy kwh"),
        ("throughput_per_hour", "throughput per hour"),
    ],
)
def test_names(key: str, name: str) -> None:
    assert metric_name(key) == name


def test_from_runs_to_words() -> None:
    waits = {"fcfs": [100, 220, 290], "easy": [52, 105, 149]}
    runs = [
        StudyRun(f"{group}-{n}", group, group, {"wait": {"mean": wait}}, repetition=n)
        for group, values in waits.items()
        for n, wait in enumerate(values)
    ]
    (told,) = verdicts(compare_groups(study_table(runs), "fcfs"))
    # logarithms of the ratios -0.6539, -0.7397, -0.6659: mean -0.6865, deviation 0.0464; × 4.3027 / sqrt(3) is 0.1153
    assert told == "easy halves the mean wait (−50 %, 95 % CI −55 to −44 %, 3 paired repetitions)"

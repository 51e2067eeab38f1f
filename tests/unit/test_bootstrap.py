"""Intervals: Student's by hand, resampled ones against scipy's and by how often they hold the true value."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from schedlab.analysis import bootstrap as resampling
from schedlab.analysis.bootstrap import bootstrap, bootstrap_difference, bootstrap_ratio, by_row
from schedlab.analysis.interval import Interval, student_interval, welch_interval
from schedlab.analysis.repetitions import ratio, ratio_interval
from schedlab.model.errors import InputError
from schedlab.model.random import random_stream


def limits(interval: Interval | None) -> tuple[float, float]:
    assert interval is not None
    return interval.low, interval.high


def test_student_by_hand() -> None:
    # mean 3, variance 2.5, standard error sqrt(0.5); t of 4 degrees of freedom is 2.776445
    found = student_interval(np.arange(1.0, 6.0))
    assert found is not None and found.estimate == 3
    assert limits(found) == pytest.approx((3 - 2.776445 * math.sqrt(0.5), 3 + 2.776445 * math.sqrt(0.5)), abs=1e-5)


def test_welch_by_hand() -> None:
    # variances 1 and 4, of 3 values each: error sqrt(5/3), freedom (5/3)² / ((1/3)²/2 + (4/3)²/2) = 50/17
    reach = stats.t.ppf(0.975, 50 / 17) * math.sqrt(5 / 3)
    found = welch_interval(np.array([1.0, 2, 3]), np.array([4.0, 6, 8]))
    assert limits(found) == pytest.approx((-4 - reach, -4 + reach))


def test_one_repetition_has_no_interval() -> None:
    one = np.array([7.0])
    assert student_interval(one) is None
    assert welch_interval(one, np.array([1.0, 2.0])) is None
    assert bootstrap(one) is None
    assert bootstrap_ratio(one, one) is None


def test_repetitions_that_do_not_vary() -> None:
    same = np.full(5, 4.0)
    assert limits(student_interval(same)) == (4, 4)
    assert limits(bootstrap(same)) == (4, 4)
    assert limits(welch_interval(same, np.full(3, 1.0))) == (3, 3)


def test_all_resamples_of_two_values() -> None:
    # the mean is 0, 0.5 or 1, with chances 1/4, 1/2, 1/4
    assert limits(bootstrap(np.array([0.0, 1.0]), method="percentile")) == (0, 1)
    assert limits(bootstrap(np.array([0.0, 1.0]), method="percentile", level=0.4)) == (0.5, 0.5)


@pytest.mark.parametrize("method", ["bca", "percentile"])
@pytest.mark.parametrize(("name", "function"), [("mean", np.mean), ("median", np.median)])
def test_like_scipy(method: str, name: str, function: object) -> None:
    sample = random_stream(2, "test").lognormal(size=60)
    ours = bootstrap(sample, name, method=method, resamples=20_000)  # type: ignore[arg-type]
    theirs = stats.bootstrap(
        (sample,), function, method=method, n_resamples=20_000, rng=np.random.default_rng(3)
    ).confidence_interval
    assert limits(ours) == pytest.approx((theirs.low, theirs.high), abs=0.03 * sample.std())


def test_pairs_like_scipy() -> None:
    random = random_stream(3, "test")
    one = random.lognormal(size=40)
    other = one * random.uniform(0.5, 1.5, 40)
    theirs = stats.bootstrap(
        (one, other),
        lambda a, b, axis=-1: a.mean(axis=axis) / b.mean(axis=axis),
        paired=True,
        n_resamples=20_000,
        vectorized=True,
        rng=np.random.default_rng(4),
    ).confidence_interval
    assert limits(bootstrap_ratio(one, other, resamples=20_000)) == pytest.approx((theirs.low, theirs.high), abs=0.01)


def test_what_is_twice_as_much_is_so_in_every_resample() -> None:
    other = random_stream(4, "test").exponential(size=30)
    assert limits(bootstrap_ratio(2 * other, other)) == (2, 2)
    assert limits(bootstrap_ratio(2 * other, other, "p90")) == (2, 2)
    assert limits(bootstrap_difference(other + 3, other, "median")) == pytest.approx((3, 3))


def test_pairs_are_drawn_together() -> None:
    random = random_stream(5, "test")
    one = random.normal(100, 20, 40)
    low, high = limits(bootstrap_difference(one - random.normal(5, 1, 40), one))
    assert -6 < low < -5 < high < -4  # apart, the spread of 20 would hide a difference of 5


def test_a_function_of_ones_own() -> None:
    sample = random_stream(6, "test").normal(size=25)
    named = bootstrap(sample, "median", resamples=300)
    assert bootstrap(sample, lambda rows: np.median(rows, axis=-1), resamples=300) == named
    assert bootstrap(sample, by_row(lambda row: float(np.median(row))), resamples=300) == named


def test_no_ratio_where_a_resample_divides_by_zero() -> None:
    assert bootstrap_ratio(np.array([1.0, 2, 3]), np.array([0.0, 0, 1])) is None


def test_the_same_numbers_in_small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = random_stream(7, "test").exponential(size=50)
    at_once = bootstrap(sample, resamples=999)
    monkeypatch.setattr(resampling, "_BATCH", 160)
    assert bootstrap(sample, resamples=999) == at_once
    assert bootstrap(sample, resamples=999, seed=1) != at_once


def test_leaving_out_groups_is_as_good_as_single_values(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = random_stream(8, "test").exponential(size=1000)
    in_groups = limits(bootstrap(sample, resamples=2000))
    monkeypatch.setattr(resampling, "_LEFT_OUT", 1000)
    assert in_groups == pytest.approx(limits(bootstrap(sample, resamples=2000)), abs=0.003)


@pytest.mark.parametrize("name", ["max", "p0", "p100", "p", "q95", "95"])
def test_what_cannot_be_resampled(name: str) -> None:
    with pytest.raises(InputError, match="cannot resample"):
        bootstrap(np.arange(5.0), name)


def test_other_mistakes() -> None:
    with pytest.raises(InputError, match="3 values cannot be paired with 2"):
        bootstrap_difference(np.arange(3.0), np.arange(2.0))
    with pytest.raises(InputError, match="95 is not a level"):
        bootstrap(np.arange(3.0), level=95)


def coverage(make: object, true: float, n: int, interval: object) -> float:
    """How often, of 200 samples, the interval holds the true value."""
    random = random_stream(9, "coverage")
    held = 0
    for _ in range(200):
        low, high = limits(interval(make(random, n)))  # type: ignore[operator]
        held += low <= true <= high
    return held / 200


def normal(random: np.random.Generator, n: int) -> np.ndarray:
    return random.normal(10, 3, n)


def lognormal(random: np.random.Generator, n: int) -> np.ndarray:
    return random.lognormal(0, 1, n)


def test_coverage_of_student_with_five_repetitions() -> None:
    assert 0.91 <= coverage(normal, 10, 5, student_interval) <= 0.99


def test_resampling_five_repetitions_promises_too_much() -> None:
    assert coverage(normal, 10, 5, lambda sample: bootstrap(sample, resamples=500)) < 0.92


@pytest.mark.parametrize("method", ["bca", "percentile"])
def test_coverage_of_resampling_normal_values(method: str) -> None:
    found = coverage(normal, 10, 40, lambda sample: bootstrap(sample, method=method, resamples=500))  # type: ignore[arg-type]
    assert 0.89 <= found <= 0.99


def test_coverage_of_resampling_skewed_values() -> None:
    of_mean = coverage(lognormal, math.exp(0.5), 80, lambda sample: bootstrap(sample, resamples=500))
    assert 0.85 <= of_mean <= 0.99  # the mean of skewed values is hard for everybody
    of_median = coverage(lognormal, 1.0, 80, lambda sample: bootstrap(sample, "median", resamples=500))
    assert 0.89 <= of_median <= 0.99


def test_ratio_by_hand() -> None:
    # ratios 2 and 4: the logarithms are ln 2 and 2 ln 2, their error ln 2 / 2; t of 1 degree of freedom is 12.7062
    one, other = np.array([2.0, 8.0]), np.array([1.0, 2.0])
    assert ratio(one, other) == pytest.approx(math.sqrt(8))
    found = ratio_interval(one, other, paired=True)
    assert limits(found) == pytest.approx((2 ** (1.5 - 12.7062 / 2), 2 ** (1.5 + 12.7062 / 2)), rel=1e-4)


def test_half_and_double_cancel_out() -> None:
    found = ratio_interval(np.array([1.0, 2.0]), np.array([2.0, 1.0]), paired=True)
    assert found is not None
    assert found.estimate == pytest.approx(1)
    assert found.low * found.high == pytest.approx(1)


def test_no_ratio_without_positive_values() -> None:
    assert ratio(np.array([1.0, 2.0]), np.array([1.0, 0.0])) is None
    assert ratio_interval(np.array([1.0, -2.0]), np.array([1.0, 1.0]), paired=False) is None

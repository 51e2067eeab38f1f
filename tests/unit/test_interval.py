"""Student's and Welch's intervals by hand, the tests that belong to them against scipy's, and how often they hold."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

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
    assert ratio_interval(one, one, paired=True) is None


def test_repetitions_that_do_not_vary() -> None:
    same = np.full(5, 4.0)
    assert limits(student_interval(same)) == (4, 4)
    assert limits(welch_interval(same, np.full(3, 1.0))) == (3, 3)


def test_the_test_is_scipys_and_agrees_with_the_interval() -> None:
    random = random_stream(3, "test")
    for level in (0.95, 1 - 0.05 / 6, 1 - 0.05 / 600):
        for n in (2, 3, 8, 30):
            one, other = random.normal(1, 1, n), random.normal(0, 2, n + 1)
            paired, apart = student_interval(one, level), welch_interval(one, other, level)
            theirs, welch = stats.ttest_1samp(one, 0), stats.ttest_ind(one, other, equal_var=False)
            for ours, found in ((paired, theirs), (apart, welch)):
                assert ours is not None
                assert ours.p == pytest.approx(found.pvalue)
                assert limits(ours) == pytest.approx(tuple(found.confidence_interval(level)))
                assert (ours.low > 0 or ours.high < 0) == (ours.p < 1 - level)


def test_a_level_is_a_share() -> None:
    with pytest.raises(InputError, match="95 is not a level"):
        student_interval(np.arange(3.0), level=95)


def coverage(make: Callable[[np.random.Generator, int], np.ndarray], true: float, n: int) -> float:
    """How often, of 500 samples, Student's interval holds the true value."""
    random = random_stream(9, "coverage")
    found = [limits(student_interval(make(random, n))) for _ in range(500)]
    return float(np.mean([low <= true <= high for low, high in found]))


def test_coverage_of_five_repetitions() -> None:
    assert 0.93 <= coverage(lambda random, n: random.normal(10, 3, n), 10, 5) <= 0.97


def test_the_mean_of_skewed_values_is_hard_for_everybody() -> None:
    assert 0.85 <= coverage(lambda random, n: random.lognormal(0, 1, n), math.exp(0.5), 80) <= 0.95


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

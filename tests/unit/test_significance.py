"""Rank tests by counting arrangements, corrections by the examples of the papers."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.analysis.significance import corrected, mann_whitney, wilcoxon
from schedlab.model.errors import InputError

# Benjamini and Hochberg, 1995, section 4.1: 15 hypotheses about treatments of heart attacks.
HEARTS = [
    0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
    0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0,
]  # fmt: skip


def test_five_pairs_that_all_go_one_way() -> None:
    base = np.array([10.0, 20, 30, 40, 50])
    found = wilcoxon(base - np.array([1, 2, 3, 4, 5]), base)
    assert found is not None
    assert found.p == pytest.approx(2 / 32)  # one of 32 patterns of signs on either side
    assert found.effect == -1
    assert found.superiority == 0


def test_six_pairs_with_one_small_exception() -> None:
    found = wilcoxon(np.array([-1.0, 2, 3, 4, 5, 6]), np.zeros(6))
    assert found is not None
    assert found.statistic == 1
    assert found.p == pytest.approx(4 / 64)  # sums of ranks 0 and 1, on either side
    assert found.effect == pytest.approx((20 - 1) / 21)


def test_pairs_without_a_difference_are_left_out() -> None:
    with_equal = wilcoxon(np.array([1.0, 2, 3, 4, 5, 9, 9]), np.array([0.0, 0, 0, 0, 0, 9, 9]))
    assert with_equal == wilcoxon(np.array([1.0, 2, 3, 4, 5]), np.zeros(5))
    same = wilcoxon(np.ones(4), np.ones(4))
    assert same is not None and (same.p, same.effect) == (1, 0)


def test_two_samples_that_do_not_overlap() -> None:
    found = mann_whitney(np.array([1.0, 2, 3]), np.array([4.0, 5, 6]))
    assert found is not None
    assert found.p == pytest.approx(2 / 20)  # of 20 ways to choose three of six
    assert (found.effect, found.superiority) == (-1, 0)


def test_equal_values_count_half() -> None:
    found = mann_whitney(np.array([1.0, 2]), np.array([2.0, 3]))
    assert found is not None
    assert found.superiority == pytest.approx(0.5 / 4)
    assert found.effect == pytest.approx(-0.75)


def test_one_value_cannot_be_tested() -> None:
    one = np.array([1.0])
    assert wilcoxon(one, one) is None
    assert mann_whitney(one, np.array([1.0, 2.0])) is None


def test_pairs_need_partners() -> None:
    with pytest.raises(InputError, match="2 values cannot be paired with 3"):
        wilcoxon(np.ones(2), np.ones(3))


def test_holm() -> None:
    # 4 × 0.005, 3 × 0.01, 2 × 0.03, and 0.04 is not below the one before
    assert corrected([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_benjamini_hochberg() -> None:
    # 4/1 × 0.005 and 4/2 × 0.01 are 0.02; 4/3 × 0.03 and 4/4 × 0.04 are 0.04
    assert corrected([0.01, 0.04, 0.03, 0.005], "bh") == pytest.approx([0.02, 0.04, 0.04, 0.02])


def test_the_example_of_benjamini_and_hochberg() -> None:
    assert (corrected(HEARTS, "bh") < 0.05).sum() == 4
    assert (corrected(HEARTS) < 0.05).sum() == 3


def test_missing_values_do_not_count() -> None:
    found = corrected([0.04, None, 0.01])
    assert found[[0, 2]] == pytest.approx([0.04, 0.02])
    assert np.isnan(found[1])
    assert len(corrected([])) == 0
    assert corrected([0.9, 0.8]).tolist() == [1, 1]


def test_there_is_no_such_correction() -> None:
    with pytest.raises(InputError, match="holm or bh"):
        corrected([0.1], "bonferroni")  # type: ignore[arg-type]

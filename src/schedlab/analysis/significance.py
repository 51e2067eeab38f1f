"""Tests of differences by ranks, with effect sizes, and corrections for many comparisons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from schedlab.model.errors import InputError

Correction = Literal["holm", "bh"]


@dataclass(frozen=True, slots=True)
class RankTest:
    """`effect` is -1 if the first sample is smaller throughout, +1 if larger, 0 if neither."""

    test: Literal["wilcoxon", "mann-whitney"]
    statistic: float
    p: float  # two-sided
    effect: float

    @property
    def superiority(self) -> float:
        """Vargha and Delaney's A12: how often a value of the first sample is larger, ties counted half.

        For pairs: the share of the ranks that belong to pairs whose first value is larger.
        """
        return (self.effect + 1) / 2


def wilcoxon(one: NDArray[Any], other: NDArray[Any]) -> RankTest | None:
    """Signed-rank test of pairs, effect: matched-pairs rank-biserial correlation. None for fewer than two pairs.

    Pairs without a difference are left out (Wilcoxon's own rule); where none differs, p is 1.
    """
    if len(one) != len(other):
        raise InputError(f"{len(one)} values cannot be paired with {len(other)}")
    if len(one) < 2:
        return None
    difference = np.asarray(one, np.float64) - np.asarray(other, np.float64)
    difference = difference[difference != 0]
    if not len(difference):
        return RankTest("wilcoxon", 0.0, 1.0, 0.0)
    from scipy.stats import rankdata
    from scipy.stats import wilcoxon as signed_rank

    ranks = rankdata(np.abs(difference))
    up, down = float(ranks[difference > 0].sum()), float(ranks[difference < 0].sum())
    p = float(signed_rank(difference).pvalue)
    return RankTest("wilcoxon", min(up, down), p, (up - down) / (up + down))


def mann_whitney(one: NDArray[Any], other: NDArray[Any]) -> RankTest | None:
    """U test of samples that are not paired, effect: Cliff's delta. None if one has fewer than two values."""
    if len(one) < 2 or len(other) < 2:
        return None
    from scipy.stats import mannwhitneyu

    found = mannwhitneyu(one, other, alternative="two-sided")
    superiority = float(found.statistic) / (len(one) * len(other))
    return RankTest("mann-whitney", float(found.statistic), float(found.pvalue), 2 * superiority - 1)


def corrected(p: Any, correction: Correction = "holm") -> NDArray[np.float64]:
    """p-values as large as the number of comparisons demands. Those that are missing stay so and do not count.

    `holm` bounds the chance of a single false claim, `bh` (Benjamini and Hochberg) the share of false claims.
    """
    if correction not in get_args(Correction):
        raise InputError(f"there is no correction '{correction}'", hint="holm or bh")
    given = np.asarray(p, np.float64)
    result = np.full(len(given), np.nan)
    places = np.flatnonzero(~np.isnan(given))
    places = places[np.argsort(given[places], kind="stable")]
    n, ordered = len(places), given[places]
    if correction == "holm":
        adjusted = np.maximum.accumulate(ordered * np.arange(n, 0, -1))
    else:
        adjusted = np.minimum.accumulate((ordered * n / np.arange(1, n + 1))[::-1])[::-1]
    result[places] = np.minimum(adjusted, 1.0)
    return result

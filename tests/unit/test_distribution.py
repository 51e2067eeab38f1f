"""Numbers that come in pieces: the same digits as of one array, however they are cut."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from schedlab.analysis import distribution as module
from schedlab.analysis.distribution import PiecewiseDistribution, PiecewiseSum, distribution

Floats = NDArray[np.float64]


def pieces(values: Floats, seed: int) -> Iterator[Floats]:
    """Of any size, some of them empty."""
    cuts = np.sort(np.random.default_rng(seed).integers(0, len(values) + 1, 7))
    yield from np.split(values, cuts)


def distributed(values: Floats, seed: int = 0) -> dict[str, float | None]:
    found = PiecewiseDistribution()
    for piece in pieces(values, seed):
        found.look(piece)
    found.begin()
    going_on = True
    while going_on:
        for piece in pieces(values, seed + 1):
            found.add(piece)
        going_on = found.again()
    return found.found


@pytest.mark.parametrize("count", [0, 1, 7, 8, 129, 65_535, 65_536, 65_537, 131_072, 200_003, 1_000_001])
def test_sums_have_the_digits_of_numpy(count: int) -> None:
    values = np.random.default_rng(count).lognormal(3, 4, count)
    for seed in range(3):
        total = PiecewiseSum(count)
        for piece in pieces(values, seed):
            total.add(piece)
        assert total.value == values.sum()


def kinds(count: int) -> dict[str, Floats]:
    random = np.random.default_rng(count)
    waits = random.lognormal(5, 3, count)
    zeros = np.where(random.random(count) < 0.93, 0.0, waits)
    return {
        "waits": waits,
        "mostly zero": zeros,
        "slowdowns, mostly 1": np.maximum(zeros, 1.0),
        "all the same": np.full(count, 3600.0),
        "of both signs": random.normal(0, 1e9, count),
        "a few values": random.integers(0, 3, count).astype(float),
        "next to each other": 1e6 + random.integers(0, 2**20, count) * 2.0**-33,
        "one is infinite": np.append(waits[:-1], np.inf),
    }


@pytest.mark.parametrize("kind", list(kinds(1)))
@pytest.mark.parametrize("few", [10, 1 << 18])  # values that are kept as they are: none of the magnitudes, or all
def test_percentiles_are_those_of_one_array(monkeypatch: pytest.MonkeyPatch, kind: str, few: int) -> None:
    monkeypatch.setattr(module, "FEW", few)
    for count in (1, 2, 11, 4_000, 150_000):
        values = kinds(count)[kind]
        np.testing.assert_equal(distributed(values, seed=count), distribution(values.copy()))


def test_of_nothing() -> None:
    assert distributed(np.empty(0)) == distribution(np.empty(0))

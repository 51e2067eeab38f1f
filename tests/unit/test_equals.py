"""What studies claim where nothing differs, and where something does: `python -m benchmarks equals` simulates them."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import polars as pl
import pytest
from benchmarks.equals import REPETITIONS, is_claim, power

from schedlab.analysis.compare_groups import compare_groups
from schedlab.analysis.study import StudyRun, study_table
from schedlab.analysis.verdict import judgement, verdict

STUDIES = 200
METRICS = 6
SPREAD = 0.25  # standard deviation of the logarithms of a pair's ratio


def studies(shift: float = 0.0, repetitions: int = REPETITIONS) -> Iterator[pl.DataFrame]:
    """Two policies on the same workloads: six metrics, which go together as waits and slowdowns do."""
    random = np.random.default_rng(7)
    for _ in range(STUDIES):
        runs = []
        for n in range(repetitions):
            workload = random.normal(8, 1, METRICS)
            for group, more in (("one", 0.0), ("other", shift)):
                common, own = random.normal(0, 0.5), random.normal(0, math.sqrt(0.75), METRICS)
                values = np.exp(workload + (common + own) * SPREAD / math.sqrt(2) + more)
                found = {f"m{at}": {"mean": value} for at, value in enumerate(values.tolist())}
                runs.append(StudyRun(f"{group}-{n}", group, group, found, repetition=n))
        yield study_table(runs)


@pytest.mark.parametrize("repetitions", [3, REPETITIONS])
def test_of_twenty_studies_of_equals_one_may_claim_something(repetitions: int) -> None:
    claiming = 0
    for table in studies(repetitions=repetitions):
        rows = compare_groups(table, "one").to_dicts()
        claiming += any(is_claim(verdict(row)) for row in rows)
        for row in rows:
            assert is_claim(verdict(row)) == (row["p_corrected"] < 0.05)
            as_wait = row | {"metric": "wait.mean"}  # what is good about it is known
            assert bool(judgement(as_wait)) == is_claim(verdict(as_wait))
    assert claiming <= 0.05 * STUDIES


@pytest.mark.parametrize("size", [1 / math.sqrt(REPETITIONS), 1.0])
@pytest.mark.parametrize("comparisons", [1, METRICS])
def test_a_true_difference_is_told_as_often_as_theory_says(size: float, comparisons: int) -> None:
    told = 0
    for table in studies(shift=size * SPREAD):
        (row,) = compare_groups(table, "one", ["m0.mean"], comparisons=comparisons).to_dicts()
        told += is_claim(verdict(row))
    theory = power(size, comparisons)
    assert told / STUDIES == pytest.approx(theory, abs=2 * math.sqrt(theory * (1 - theory) / STUDIES))

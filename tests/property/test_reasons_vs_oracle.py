"""Why jobs wait, as the engine says, against a slow program that works it out anew at every instant."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.jobs import Window
from tests.oracle.reasons import Row, explain
from tests.property.cases import Case, observer, random_capped_case, random_case, random_windows
from tests.property.test_engine_vs_oracle import looking_at, seeds

import schedlab as sl
from schedlab.execution.power import Power

BACKFILLS = ("none", "skip", "easy", "easy-strict", "conservative")
JOBS = st.integers(1, 25)


def engine_reasons(case: Case, observers: list[Any]) -> tuple[sl.Run, dict[int, list[Row]]]:
    run = sl.simulate(
        case.workload(),
        case.cluster,
        case.policy_text(),
        requests=case.detail,
        observers=observers,
        reasons=True,
        validate=True,
        **case.options,
    )
    rows: dict[int, list[Row]] = {}
    for row in run.reasons.sort("sequence", "from").iter_rows(named=True):
        rows.setdefault(row["sequence"], []).append(Row(row["from"], row["until"], row["why"], row["who"]))
    return run, rows


def compare(case: Case, windows: list[Window] = []) -> None:  # noqa: B006 - not changed
    observers: list[Any] = [observer(window, case.cluster) for window in windows]
    if case.watts is not None:
        observers.append(Power(groups=case.watts, cap=case.cap_watts))
    run, found = engine_reasons(case, observers)
    expected = explain(case.jobs(), case.cluster, case.policy, cap=case.cap(), windows=windows, **case.options)
    ends = dict(zip(run.jobs["sequence"], run.jobs["end"], strict=True))  # of those who wait to the end
    for sequence, rows in expected.items():
        if rows[-1].end == math.inf:
            rows[-1] = rows[-1]._replace(end=ends[sequence])
    assert found == {sequence: rows for sequence, rows in expected.items() if rows[0].begin < rows[0].end}


@pytest.mark.parametrize("backfill", BACKFILLS)
@given(seed=seeds, jobs=JOBS)
@looking_at(20)
def test_on_plain_requests(backfill: str, seed: int, jobs: int) -> None:
    compare(random_case(seed, jobs, backfill, plain=True))


@pytest.mark.parametrize("backfill", BACKFILLS)
@given(seed=seeds, jobs=JOBS)
@looking_at(20)
def test_on_any_requests(backfill: str, seed: int, jobs: int) -> None:
    compare(random_case(seed, jobs, backfill, plain=False))


@pytest.mark.parametrize("backfill", BACKFILLS)
@given(seed=seeds, jobs=JOBS, plain=st.booleans())
@looking_at(20)
def test_under_a_cap(backfill: str, seed: int, jobs: int, plain: bool) -> None:
    compare(random_capped_case(seed, jobs, backfill, plain))


@pytest.mark.parametrize("backfill", BACKFILLS)
@given(seed=seeds, jobs=JOBS, plain=st.booleans())
@looking_at(20)
def test_with_a_calendar(backfill: str, seed: int, jobs: int, plain: bool) -> None:
    case = random_case(seed, jobs, backfill, plain)
    if backfill == "easy":  # it plans; the oracle's plans have no depth
        case = replace(case, policy=replace(case.policy, depth=None))
    compare(case, random_windows(Random(~seed), case))

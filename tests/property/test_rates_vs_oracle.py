"""Rates of two owners, work that depends on nodes, neighbours, beliefs that follow rates: the engine and the oracle."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle import Change
from tests.property.cases import Case, random_case
from tests.property.test_engine_vs_oracle import both_kinds, compare, looking_at, seeds

import schedlab as sl

DISCIPLINES = ("none", "skip", "easy", "easy-strict", "conservative")
FACTORS = (0.25, 0.5, 0.5, 1.0, 2.0)  # powers of 2: whatever order one computes in, nothing is rounded


class Changes(sl.Observer):
    """Makes its changes before the first pass at or after their time."""

    def __init__(self, name: str, changes: list[Change]) -> None:
        self.name, self._left = name, sorted((c for c in changes if c.owner == name), key=lambda c: c.time)

    def begin(self, view: Any) -> None:
        for change in self._left:
            view.wake_at(change.time)

    def before(self, view: Any) -> None:
        while self._left and self._left[0].time <= view.now:
            change = self._left.pop(0)
            for job in view.running:
                if job.id == change.job:
                    view.set_rate(job, change.factor)


def _half(value: float) -> float:
    return math.ceil(2 * value) / 2 if value < math.inf else value


def in_halves(case: Case) -> Case:
    """Times that are multiples of half a second."""
    columns = dict(case.columns)
    for name in ("submit", "runtime", "limit", "cancel"):
        columns[name] = [_half(value) for value in columns[name]]
    columns["predecessors"] = [
        [other._replace(delay=_half(other.delay)) for other in others] for others in columns["predecessors"]
    ]
    return replace(case, columns=columns)


def random_changes(random: Random, case: Case) -> list[Change]:
    span = int(max([*case.columns["submit"], *case.columns["limit"], 2.0]) * 1.5)
    jobs = len(case.columns["id"])
    # Owners' changes of one time are made owner by owner: as the engine's observers are asked.
    made = [
        Change(random.randint(0, 2 * span) / 2, random.randint(1, jobs), owner, random.choice(FACTORS))
        for owner in ("zeal", "awe")
        for _ in range(random.randint(1, 3 * jobs))
    ]
    return sorted(made, key=lambda change: (change.time, change.owner != "zeal"))


def rated_case(seed: int, jobs: int, backfill: str, plain: bool) -> tuple[Case, list[Change]]:
    random = Random(seed)
    case = in_halves(random_case(seed, jobs, backfill, plain))
    case = replace(case, options=case.options | {"beliefs": random.choice(("limit", "rates"))})
    return case, random_changes(random, case)


@both_kinds
@pytest.mark.parametrize("backfill", DISCIPLINES)
@given(seed=seeds, jobs=st.integers(1, 25))
@looking_at(30)
def test_factors_of_two_owners(backfill: str, plain: bool, seed: int, jobs: int) -> None:
    case, changes = rated_case(seed, jobs, backfill, plain)
    others = [Changes(name, changes) for name in ("zeal", "awe")]
    compare(case, others=others, changes=changes)


@both_kinds
@pytest.mark.parametrize("backfill", DISCIPLINES)
@given(seed=seeds, jobs=st.integers(1, 25))
@looking_at(30)
def test_work_at_the_start_and_neighbours(backfill: str, plain: bool, seed: int, jobs: int) -> None:
    case, changes = rated_case(seed, jobs, backfill, plain)
    random = Random(~seed)
    if case.cluster.pool:
        return
    groups = tuple(replace(group, speed=random.choice((0.5, 1.0, 2.0, 4.0))) for group in case.cluster.groups)
    case = replace(case, cluster=replace(case.cluster, groups=groups))
    speeds = [group.speed for group in groups for _ in range(group.count)]
    others = ["speeds(reference=1)", "sharing(0.5)", *(Changes(name, changes) for name in ("zeal", "awe"))]
    compare(case, others=others, changes=changes, speeds=speeds, sharing=0.5)

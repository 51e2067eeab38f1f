"""Plans on nodes against the oracle's, which keeps the state of every node at every step.

Long queues of jobs that end long before their limits: reservations move up, again and again, into places that others
leave. With memory, GPUs, features, whole nodes, bounds per node, every placement; under calendars and caps.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.property.cases import Case, random_capped_case, random_case, random_windows
from tests.property.test_engine_vs_oracle import compare, looking_at, seeds

import schedlab as sl
from schedlab.engine.decider import Event


def crowded(case: Case, seed: int) -> Case:
    """The same jobs nearly at once, most of them with limits far above their runtimes."""
    random, columns = Random(seed), dict(case.columns)
    limits = [limit * random.choice((1, 2, 5, 10)) for limit in columns["limit"]]
    columns["limit"] = [max(pair) for pair in zip(limits, columns["runtime"], strict=True)]
    columns["submit"] = [float(int(time) // 4) for time in columns["submit"]]
    columns["after"] = [-1] * len(limits)
    policy = replace(case.policy, depth=None, reservations=random.choice((2, 5, 100)))
    return replace(case, columns=columns, policy=policy if case.policy.backfill == "easy" else case.policy)


disciplines = pytest.mark.parametrize("backfill", ["conservative", "easy"])


@disciplines
@given(seed=seeds, jobs=st.integers(20, 60))
@looking_at(60)
def test_long_queues(backfill: str, seed: int, jobs: int) -> None:
    compare(crowded(random_case(seed, jobs, backfill, plain=False), seed))


@disciplines
@given(seed=seeds, jobs=st.integers(20, 50))
@looking_at(30)
def test_long_queues_beside_a_calendar(backfill: str, seed: int, jobs: int) -> None:
    case = crowded(random_case(seed, jobs, backfill, plain=False), seed)
    compare(case, windows=random_windows(Random(seed), case))


@disciplines
@given(seed=seeds, jobs=st.integers(20, 40))
@looking_at(30)
def test_long_queues_under_a_power_cap(backfill: str, seed: int, jobs: int) -> None:
    compare(crowded(random_capped_case(seed, jobs, backfill, plain=False), seed))


class Reserving(sl.Policy):
    """`easy:reservations=K` in Python, on `view.reserve`."""

    def __init__(self, reservations: int, placement: str) -> None:
        self.reservations, self.placement = reservations, placement

    def decide(self, view: Any, events: list[Event]) -> None:
        queue = sorted(view.queue, key=lambda job: (job.eligible, job.sequence))
        for job in queue:
            view.unreserve(job)
        made = 0
        for job in queue:
            if not view.start(job) and made < self.reservations:
                view.reserve(job)
                made += 1


@given(seed=seeds, jobs=st.integers(10, 60))
@looking_at(40)
def test_reservations_from_python_are_planned_alike(seed: int, jobs: int) -> None:
    case = crowded(random_case(seed, jobs, "easy", plain=False), seed)
    case = replace(case, policy=replace(case.policy, order="fcfs", scan=None, exclusive=False))
    options = {"requests": case.detail, "validate": True, **case.options}
    policy = Reserving(case.policy.reservations, case.policy.place)
    native, written = (sl.simulate(case.workload(), case.cluster, p, **options) for p in (case.policy_text(), policy))
    columns = ["sequence", "state", "start", "end", "nodes"]
    assert written.jobs[columns].equals(native.jobs[columns]), case

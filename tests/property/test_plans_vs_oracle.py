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
from tests.oracle import Policy
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
    columns["predecessors"] = [[] for _ in limits]
    policy = replace(case.policy, depth=None, reservations=random.choice((2, 5, 100)))
    return replace(case, columns=columns, policy=policy if case.policy.backfill == "easy" else case.policy)


disciplines = pytest.mark.parametrize("backfill", ["conservative", "easy"])


@disciplines
@given(seed=seeds, jobs=st.integers(20, 60))
@looking_at(40)
def test_long_queues(backfill: str, seed: int, jobs: int) -> None:
    compare(crowded(random_case(seed, jobs, backfill, plain=False), seed))


@disciplines
@given(seed=seeds, jobs=st.integers(20, 50))
@looking_at(20)
def test_long_queues_beside_a_calendar(backfill: str, seed: int, jobs: int) -> None:
    case = crowded(random_case(seed, jobs, backfill, plain=False), seed)
    compare(case, windows=random_windows(Random(seed), case))


@disciplines
@given(seed=seeds, jobs=st.integers(20, 40))
@looking_at(20)
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
@looking_at(25)
def test_reservations_from_python_are_planned_alike(seed: int, jobs: int) -> None:
    case = crowded(random_case(seed, jobs, "easy", plain=False), seed)
    case = replace(case, policy=replace(case.policy, order="fcfs", scan=None, exclusive=False))
    options = {"requests": case.detail, "validate": True, **case.options}
    policy = Reserving(case.policy.reservations, case.policy.place)
    native, written = (sl.simulate(case.workload(), case.cluster, p, **options) for p in (case.policy_text(), policy))
    columns = ["sequence", "state", "start", "end", "nodes"]
    assert written.jobs[columns].equals(native.jobs[columns]), case


# What random cases have found, made small.


def case_of(
    rows: list[tuple[float, int, float, int]], requests: list[sl.Request], cluster: sl.Cluster, policy: Policy
) -> Case:
    """Jobs (submit, count, runtime, number of the request) that run as long as they may."""
    submit, count, runtime, request = ([row[i] for row in rows] for i in range(4))
    ids = list(range(1, len(rows) + 1))
    columns = {"id": ids, "submit": submit, "count": count, "runtime": runtime, "limit": runtime, "request": request}
    return Case(columns, requests, cluster, policy, {})


@pytest.mark.parametrize(("one_node_each", "expected"), [(False, 4.0), (True, 6.0)])
@pytest.mark.parametrize("in_python", [False, True])
def test_a_job_that_starts_at_once_makes_plans_be_on_nodes(
    one_node_each: bool, expected: float, in_python: bool
) -> None:
    """Three nodes; n2 and n3 are taken until 6. The head has n1 and n2 from then on, the last job a core at any time.

    By numbers it starts at once. On nodes it would have to move from n1 to n3: it waits for n3.
    """
    rows = [(0.0, 1, 1.0, int(one_node_each)), (2.0, 1, 1.0, 0), (2.0, 2, 4.0, 0), (4.0, 2, 10.0, 0), (4.0, 1, 20.0, 0)]
    requests = [sl.Request({"cores": 1}), sl.Request({"cores": 1}, per_node_max=1)]
    case = case_of(rows, requests, sl.Cluster.uniform(3, 1), Policy("easy", reservations=2))
    if in_python:
        run = sl.simulate(case.workload(), case.cluster, Reserving(2, "first-fit"), requests="full")
    else:
        run = compare(case)
    assert run.jobs["start"].to_list() == [0.0, 2.0, 2.0, 6.0, expected]


def test_under_a_cap_a_start_is_tried_only_where_a_node_changes() -> None:
    """On b one job follows another at 9, which changes nothing. At 10 the last job can have c, for a is taken then.

    (From 8 on it would not fit on a any more and could afford c; but there is no first such moment.)
    """
    names = "abcd"
    groups = tuple(sl.NodeGroup(name, 1, {"cores": 1}, prefix=name, features=frozenset([name])) for name in names)
    requests = [sl.Request({"cores": 1}, features=frozenset(wanted)) for wanted in ("d", "b", "a", "")]
    rows = [(0.0, 1, 10.0, 0), (0.0, 1, 9.0, 1), (0.0, 1, 5.0, 1), (0.0, 1, 10.0, 2), (0.0, 1, 2.0, 3)]
    case = case_of(rows, requests, sl.Cluster(groups), Policy("conservative", place="best-fit"))
    watts = {name: {"idle": 0, "active": 0, "per_core": each} for name, each in zip(names, (3, 0, 1, 2), strict=True)}
    run = compare(replace(case, watts=watts, cap_watts=4))
    assert run.jobs["start"].to_list() == [0.0, 0.0, 9.0, 10.0, 10.0]

"""Allocations as granted: jobs that hold uneven amounts, and all others that plan around them, against the oracle."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle import simulate
from tests.property.cases import Case, random_capped_case, random_case
from tests.property.grants import Granting, by_oracle
from tests.property.test_engine_vs_oracle import both_kinds, by_engine, comparable, looking_at, seeds
from tests.property.test_engine_vs_oracle import by_oracle as row_of

import schedlab as sl
from schedlab.execution.power import Power
from schedlab.model.request import Request

BACKFILLS = ("none", "skip", "easy", "easy-strict", "easy:reservations=2")


def compare(case: Case) -> None:
    def request_of(job: int) -> tuple[Request, int]:
        return asked[job]

    requests = {job.id: (job.request, job.count) for job in case.jobs()}
    asked = {
        job: (
            replace(request, per_node_min=0, per_node_max=0, exclusive=False) if case.cluster.pool else request,
            count,
        )
        for job, (request, count) in requests.items()
    }
    policy = Granting(case.policy_text(), request_of, case.cluster.resource_names)
    observers = [] if case.watts is None else [Power(groups=case.watts, cap=case.cap_watts)]
    options = {"requests": case.detail, "observers": observers, **case.options}
    run = sl.simulate(case.workload(), case.cluster, policy, validate=True, **options)
    told: dict[int, dict[int, dict[str, int]]] = {}
    for row in run.places.iter_rows(named=True):
        amounts = {name: row[name] for name in case.cluster.resource_names if row[name]}
        told.setdefault(row["job"], {})[row["node"]] = amounts
    jobs = case.jobs()
    results = simulate(jobs, case.cluster, case.policy, cap=case.cap(), grants=by_oracle, **case.options)
    oracle = [row_of(result, case.cluster.pool) for result in results]
    engine = [by_engine(row) for row in run.jobs.iter_rows(named=True)]
    for position, row in enumerate(oracle):
        assert engine[position] == comparable(row), f"position {position} of {case}"
    for job, row in zip(jobs, run.jobs.iter_rows(named=True), strict=True):
        granted = {number: {k: v for k, v in each.items() if v} for number, each in (job.granted or {}).items()}
        assert dict(policy.granted.get(job.id, [])) == granted
        assert told.get(job.id, {}) == granted
        if granted:
            assert row["cores"] == sum(amounts.get("cores", 0) for amounts in granted.values())


@both_kinds
@pytest.mark.parametrize("backfill", BACKFILLS)
@given(seed=seeds, jobs=st.integers(1, 40))
@looking_at(30)
def test_same_schedule(backfill: str, plain: bool, seed: int, jobs: int) -> None:
    case = random_case(seed, jobs, backfill.partition(":")[0], plain)
    if backfill.endswith("=2"):
        case = replace(case, policy=replace(case.policy, reservations=2, depth=None))
    compare(case)


@both_kinds
@given(seed=seeds, jobs=st.integers(1, 30))
@looking_at(30)
def test_same_schedule_under_a_power_cap(plain: bool, seed: int, jobs: int) -> None:
    compare(random_capped_case(seed, jobs, "easy", plain))

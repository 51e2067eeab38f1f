"""The native engine against the oracle: the same starts, ends, states and nodes on random workloads.

`SCHEDLAB_EXAMPLES=5000 pytest tests/property` looks longer, elsewhere each time, and makes a failing case small.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.oracle import Result, Window, simulate
from tests.property.cases import BACKFILLS, Case, observer, random_capped_case, random_case

import schedlab
from schedlab.execution.power import Power
from schedlab.model.nodeset import expand
from schedlab.model.states import NEVER_SATISFIED

EXAMPLES = int(os.environ.get("SCHEDLAB_EXAMPLES", "0"))
COMPARED = ("state", "eligible", "start", "end", "estimate", "backfilled", "priority", "hopeless", "nodes")


def compare(
    case: Case,
    policy: Any = None,
    windows: Sequence[Window] = (),
    others: Sequence[Any] = (),
    **known_to_the_oracle: Any,
) -> schedlab.Run:
    """`others` are further observers, of which the oracle knows in its own words."""
    observers: list[Any] = [*(observer(window, case.cluster) for window in windows), *others]
    if case.watts is not None:
        observers.append(Power(groups=case.watts, cap=case.cap_watts))
    options = {"requests": case.detail, "observers": observers, **case.options}
    run = schedlab.simulate(case.workload(), case.cluster, policy or case.policy_text(), validate=True, **options)
    engine = [by_engine(row) for row in run.jobs.iter_rows(named=True)]
    told = {"windows": windows, **case.options, **known_to_the_oracle}
    results = simulate(case.jobs(), case.cluster, case.policy, cap=case.cap(), **told)
    oracle = [by_oracle(result, case.cluster.pool) for result in results]
    different = [position for position in range(len(oracle)) if engine[position] != oracle[position]]
    for position in different[:1]:
        assert engine[position] == oracle[position], f"position {position} of {case} with {windows}"
    assert len(engine) == len(oracle)
    return run


def by_engine(row: dict[str, Any]) -> dict[str, Any]:
    made = {"hopeless": row["reason"] == NEVER_SATISFIED, "nodes": dict(expand(row["nodes"] or ""))}
    return comparable({name: made[name] if name in made else row[name] for name in COMPARED})


def by_oracle(result: Result, pool: bool) -> dict[str, Any]:
    row = {name: getattr(result, name) for name in COMPARED}
    return comparable({**row, "nodes": {}} if pool else row)


def comparable(row: dict[str, Any]) -> dict[str, Any]:
    """Unknown is None; a job that was never admitted has no eligible time to compare."""
    known = {name: None if value != value else value for name, value in row.items()}
    if known["state"] in ("rejected", "held"):
        known["eligible"] = None
    return known


def looking_at(examples: int) -> settings:
    phases = [Phase.generate, *([Phase.shrink] if EXAMPLES else [])]
    return settings(
        max_examples=EXAMPLES or examples, derandomize=not EXAMPLES, deadline=None, database=None, phases=phases
    )


seeds = st.integers(0, 2**32 - 1)
both_kinds = pytest.mark.parametrize("plain", [True, False], ids=["processors", "requests"])


@both_kinds
@pytest.mark.parametrize("backfill", BACKFILLS)
@given(seed=seeds, jobs=st.integers(1, 40))
@looking_at(60)
def test_same_schedule(backfill: str, plain: bool, seed: int, jobs: int) -> None:
    compare(random_case(seed, jobs, backfill, plain))


@both_kinds
@pytest.mark.parametrize("backfill", ["skip", "easy", "conservative"])
@given(seed=seeds, jobs=st.integers(1, 25))
@looking_at(30)
def test_same_schedule_on_many_nodes(backfill: str, plain: bool, seed: int, jobs: int) -> None:
    compare(random_case(seed, jobs, backfill, plain, wide=True))


@both_kinds
@pytest.mark.parametrize("backfill", ["none", "skip", "easy", "easy-strict", "conservative"])
@given(seed=seeds, jobs=st.integers(1, 30))
@looking_at(40)
def test_same_schedule_under_a_power_cap(backfill: str, plain: bool, seed: int, jobs: int) -> None:
    compare(random_capped_case(seed, jobs, backfill, plain))

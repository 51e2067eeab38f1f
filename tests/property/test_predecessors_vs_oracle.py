"""Random graphs of predecessors: engine and oracle agree, `check` finds nothing, and a broken-off run ends the same."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fragile import BrokenOffError, Fragile
from tests.property.cases import Case, random_case, random_predecessors
from tests.property.test_engine_vs_oracle import compare, looking_at, seeds

import schedlab as sl
from schedlab.engine import simulate as engine
from schedlab.engine.checkpoint import Checkpoint

POLICIES = ("none", "easy", "conservative")


def dense_case(seed: int, jobs: int, backfill: str) -> Case:
    """Most jobs wait for several others, with any condition."""
    case, random = random_case(seed, jobs, backfill, plain=True), Random(~seed)
    time = random.choice((lambda most: float(random.randint(0, most)), lambda most: random.uniform(0, most)))
    before = [random_predecessors(random, max(position, 1), 0.8, time) for position in range(jobs)]
    columns = case.columns | {"predecessors": before, "any": [random.random() < 0.4 for _ in range(jobs)]}
    return replace(case, columns=columns, options=case.options | {"dependencies": "follow"})


@pytest.mark.parametrize("backfill", POLICIES)
@given(seed=seeds, jobs=st.integers(1, 40))
@looking_at(60)
def test_same_schedule_with_predecessors(backfill: str, seed: int, jobs: int) -> None:
    compare(dense_case(seed, jobs, backfill))


@given(seed=seeds, jobs=st.integers(2, 25), breaks=st.lists(st.integers(1, 12), min_size=1, max_size=3))
@looking_at(30)
def test_a_broken_off_run_ends_the_same(
    tmp_path_factory: pytest.TempPathFactory, seed: int, jobs: int, breaks: list[int]
) -> None:
    case, folder = dense_case(seed, jobs, "easy"), tmp_path_factory.mktemp("checkpoint")
    whole = run(case, None)
    found = next((done for saves in breaks if (done := run(case, Fragile(folder, saves))) is not None), None)
    found = found or run(case, Checkpoint(folder, every=1e9))
    assert whole is not None and found is not None
    for name in ("jobs", "timeline", "predecessors"):
        assert found.table(name).equals(whole.table(name)), name


def run(case: Case, checkpoint: Checkpoint | None) -> sl.Run | None:
    options: dict[str, Any] = {"requests": case.detail, **case.options}
    scenario = sl.Scenario(case.workload(), case.cluster, case.policy_text(), checkpoint=checkpoint, **options)
    simulation = engine.Simulation(scenario)
    simulation.core.set_ticks(1, 0.0)
    try:
        return simulation.run()
    except (BrokenOffError, sl.PolicyError) as error:
        assert isinstance(error, BrokenOffError) or isinstance(error.__cause__, BrokenOffError)
        return None

"""Periods of passes, keys that are computed now and then, ranks and usage: engine and oracle agree on random cases."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fragile import Fragile
from tests.property.cases import Case, random_case
from tests.property.test_engine_vs_oracle import compare, looking_at, seeds
from tests.property.test_predecessors_vs_oracle import run

from schedlab.engine.checkpoint import Checkpoint

# A sum of few terms can be a hair off in one of them: as whole numbers such keys are the same.
ORDERS = (
    *(
        "aged(4) - 3 * cores",
        "aged(9) + cores * estimate",
        "fcfs",
        "sjf",
        "floor(wait/3)",
        "-wait * cores",
        "limit - wait",
        "cores / machine",
    ),
    *("floor(64 * user_usage + 0.000001)", "-floor(64 * group_usage + 0.000001) + floor(user_usage + 0.000001)"),
)


def timed_case(seed: int, jobs: int, backfill: str) -> Case:
    """Passes, backfilling and new keys at times of their own; some jobs are ranked as others."""
    case, random = random_case(seed, jobs, backfill, plain=random_is(seed)), Random(~seed)
    unit = random.choice((1.0, 3.0, 7.5, 0.1, 0.7))  # some are no binary fractions: 3 × 0.1 is not 0.3
    every = random.choice((0.0, 0.0, unit))
    several = random.choice((0.0, 2 * unit, round(3 * unit, 9)))
    backfill_every = several if backfill not in ("none", "conservative") else 0.0
    policy = replace(
        case.policy,
        order=random.choice(ORDERS),
        scan=None,
        every=0.0 if backfill == "conservative" else every,
        backfill_every=backfill_every,
        keys_every=random.choice((0.0, unit, 5.0, 0.3)),
        half_life=random.choice((5.0, 604800.0)),
    )
    ranked = [random.choice((0, 0, random.randint(1, 9))) for _ in range(jobs)]
    ranks = {"rank_cores": ranked, "rank_limit": [float(random.randint(1, 12)) for _ in range(jobs)]}
    return replace(case, policy=policy, columns=case.columns | ranks)


def random_is(seed: int) -> bool:
    return seed % 3 != 0


@pytest.mark.parametrize("backfill", ["none", "skip", "easy", "easy-strict", "conservative"])
@given(seed=seeds, jobs=st.integers(1, 40))
@looking_at(100)
def test_same_schedule_in_periods(backfill: str, seed: int, jobs: int) -> None:
    compare(timed_case(seed, jobs, backfill))


@given(seed=seeds, jobs=st.integers(2, 25), breaks=st.lists(st.integers(1, 12), min_size=1, max_size=3))
@looking_at(40)
def test_a_broken_off_run_ends_the_same(
    tmp_path_factory: pytest.TempPathFactory, seed: int, jobs: int, breaks: list[int]
) -> None:
    case, folder = timed_case(seed, jobs, "easy"), tmp_path_factory.mktemp("checkpoint")
    whole = run(case, None)
    found = next((done for saves in breaks if (done := run(case, Fragile(folder, saves))) is not None), None)
    found = found or run(case, Checkpoint(folder, every=1e9))
    assert whole is not None and found is not None
    for name in ("jobs", "timeline"):
        assert found.table(name).equals(whole.table(name)), name

"""Nodes that are set aside for a time: the engine against the oracle, whoever chooses the nodes."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle import Policy
from tests.property.cases import random_case, random_windows
from tests.property.test_engine_vs_oracle import both_kinds, compare, looking_at, seeds

import schedlab as sl
from schedlab._core import DecisionError
from schedlab.engine.decider import Event

DISCIPLINES = ("none", "skip", "easy", "easy-strict", "conservative")


class Named(sl.Policy):
    """`skip` in Python, which names nodes: those that it may have, or any that are free, which is refused at times."""

    def __init__(self, careful: bool) -> None:
        self.careful = careful

    def decide(self, view: Any, events: list[Event]) -> None:
        passed = False
        for job in sorted(view.queue, key=lambda job: (job.eligible, job.sequence)):
            usable = view.cluster.usable(job) if self.careful else view.cluster.up
            free = np.where(usable, view.cluster.free, 0)
            taken = np.clip(job.count - (np.cumsum(free) - free), 0, free)
            nodes = [(node, int(chunks)) for node, chunks in enumerate(taken) if chunks]
            try:
                fits = taken.sum() == job.count
                started = fits and view.start(job, nodes, priority=job.eligible, backfilled=passed)
            except DecisionError as refusal:
                assert not self.careful
                assert "is set aside by" in str(refusal) and "would be there until" in str(refusal)
                started = False
            passed = passed or not started


@both_kinds
@pytest.mark.parametrize("backfill", DISCIPLINES)
@given(seed=seeds, jobs=st.integers(1, 30))
@looking_at(30)
def test_same_schedule_with_a_calendar(backfill: str, plain: bool, seed: int, jobs: int) -> None:
    case = random_case(seed, jobs, backfill, plain)
    compare(case, windows=random_windows(Random(seed), case))


@both_kinds
@pytest.mark.parametrize("backfill", DISCIPLINES)
@given(seed=seeds, jobs=st.integers(1, 25))
@looking_at(20)
def test_a_placement_in_python_keeps_to_the_calendar(backfill: str, plain: bool, seed: int, jobs: int) -> None:
    case = random_case(seed, jobs, backfill, plain)
    case = replace(case, policy=replace(case.policy, place="last-fit"))
    pairs = plain and not case.policy.exclusive and seed % 2
    function = "last_fit_in_pairs" if pairs else "last_fit"
    text = case.policy_text().replace("place=last-fit", f"place=tests.property.placements:{function}")
    compare(case, text, windows=random_windows(Random(seed), case))


@pytest.mark.parametrize("careful", [True, False])
@given(seed=seeds, jobs=st.integers(1, 25))
@looking_at(30)
def test_a_policy_that_names_nodes_keeps_to_the_calendar(careful: bool, seed: int, jobs: int) -> None:
    case = random_case(seed, jobs, "skip", plain=True)
    cluster = replace(case.cluster, partitions=())
    case = replace(case, cluster=cluster, policy=Policy("skip", place="first-fit" if careful else "careless"))
    compare(case, Named(careful), windows=random_windows(Random(seed), case))

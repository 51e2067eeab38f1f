"""Random workflows among random jobs, however they are handled: engine and oracle agree, and `check` finds nothing."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.property.cases import Case, random_case
from tests.property.test_engine_vs_oracle import compare, looking_at, seeds

import schedlab as sl
from schedlab.generate.triggers.inject import FIRST_ID, AtTimes, InTurn, inject
from schedlab.model.workflow import Task, Workflow
from schedlab.model.workload import JobBatch, Workload
from schedlab.workflow.handling import handled

HANDLINGS = ("chained", "aware", "chained(failure=continue)", "clustered(levels)", "clustered(branches)", "pilot")


@dataclass(frozen=True)
class WithWorkflows(Case):
    """The engine has the workflows injected, the oracle the jobs that come of it."""

    injected: Workload = field(kw_only=True)

    def workload(self) -> Workload:
        return self.injected


def random_workflow(random: Random, name: str) -> Workflow:
    tasks = []
    for place in range(random.randint(1, 8)):
        after = random.sample(range(place), random.randint(0, min(place, 3)))
        runtime = float(random.randint(0, 9))
        limit = max(0.0, runtime + random.choice((0, 0, 3, -1)))
        tasks.append(Task(f"t{place}", random.randint(1, 3), runtime, limit, tuple(f"t{one}" for one in after)))
    return Workflow.of(name, tasks)


def with_workflows(case: Case, random: Random, handling: str) -> WithWorkflows:
    kinds = [handled(random_workflow(random, name), handling) for name in ("one", "two")[: random.randint(1, 2)]]
    times = sorted(random.choice([*case.columns["submit"], float(random.randint(0, 20))]) for _ in range(3))
    injected = inject(case.workload(), AtTimes(times), InTurn(kinds))
    batch = JobBatch.joined(list(injected.batches()))
    columns: dict[str, Any] = {
        name: getattr(batch, name).tolist() for name in case.columns if name not in ("predecessors", "any")
    }
    before, ranks = batch.predecessors, batch.ranks
    columns["predecessors"] = [[] for _ in range(len(batch))] if before is None else before.lists()
    columns["any"] = [False] * len(batch) if before is None else before.any.astype(bool).tolist()
    if ranks is not None:
        columns |= {"rank_cores": ranks.cores.tolist(), "rank_limit": ranks.limit.tolist()}
    own = {one: getattr(case, one) for one in ("cluster", "policy", "detail")}
    options = case.options | {"dependencies": "follow"}
    return WithWorkflows(columns, injected.requests, **own, options=options, injected=injected)


@pytest.mark.parametrize("backfill", ["none", "easy", "conservative"])
@given(seed=seeds, jobs=st.integers(1, 15), handling=st.sampled_from(HANDLINGS))
@looking_at(25)
def test_same_schedule_with_workflows(backfill: str, seed: int, jobs: int, handling: str) -> None:
    compare(with_workflows(random_case(seed, jobs, backfill, plain=True), Random(~seed), handling))


@given(seed=seeds, jobs=st.integers(1, 10))
@looking_at(12)
def test_tasks_that_come_when_they_are_ready_start_as_if_they_had_waited(seed: int, jobs: int) -> None:
    """First come, first served by when they could run, on a machine that is never full: as the others."""
    random, starts = Random(seed), []
    case = random_case(seed, jobs, "none", plain=True)
    workflow, times = random_workflow(random, "one"), AtTimes([0.0, 5.0])
    columns = replace(case, columns=case.columns | {"predecessors": [[] for _ in range(jobs)]})
    for handling in ("chained", "chained(ready)"):
        made = inject(columns.workload(), times, handled(workflow, handling))
        run = sl.simulate(made, sl.Cluster.of_cores(10_000), "fcfs", validate=True)
        found = run.jobs.filter((pl.col("job") >= FIRST_ID) & pl.col("start").is_not_null()).sort("job")
        starts.append(found.select("job", "start", "end").rows())
    assert starts[0] == starts[1]

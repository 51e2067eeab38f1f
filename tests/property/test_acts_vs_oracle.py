"""Jobs submitted, held, released, withdrawn and completed by a script, before and after passes: the engine against the
oracle."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle import Act, Job, simulate
from tests.property.cases import BACKFILLS, Case, random_case
from tests.property.submitters import FIRST_ID
from tests.property.test_engine_vs_oracle import both_kinds, by_engine, by_oracle, looking_at, seeds

import schedlab as sl

FIELDS = ("runtime", "limit", "count", "user", "group", "queue", "cancel")


class Scripted(sl.Observer):
    """Does what a script says; what is not possible it leaves out."""

    def __init__(self, script: list[Act], requests: dict[int, sl.Request]) -> None:
        self.script, self.requests = list(script), requests
        self.holds: set[int] = set()

    def begin(self, view: Any) -> None:
        for time in sorted({act.time for act in self.script}):
            view.wake_at(time)

    def before(self, view: Any) -> None:
        self.act(view, "before")

    def after(self, view: Any) -> None:
        self.act(view, "after")

    def act(self, view: Any, when: str) -> None:
        due = [act for act in self.script if act.time == view.now and act.when == when]
        self.script = [act for act in self.script if act not in due]
        for act in due:
            if isinstance(act.job, Job):
                fields = {name: getattr(act.job, name) for name in FIELDS}
                job = view.submit(request=self.requests[act.job.id], **fields)
                assert job.id == act.job.id
                continue
            waiting = {job.id: job for job in view.queue}
            held = {job.id: job for job in view.held}
            if act.what == "hold" and act.job in waiting:
                view.hold(waiting[act.job])
                self.holds.add(act.job)
            elif act.what == "release" and act.job in held and act.job in self.holds:
                view.release(held[act.job])
                self.holds.remove(act.job)
            elif act.what == "withdraw" and act.job in waiting | held:
                view.withdraw((waiting | held)[act.job])
            elif act.what == "complete":
                self.complete(view, act.job)

    def complete(self, view: Any, number: int) -> None:
        for job in view.running:
            if job.id == number:
                view.complete(job)

    def more_may_come(self, view: Any) -> bool:
        return any(act.time > view.now for act in self.script)


def scripted(case: Case, random: Random) -> tuple[Case, list[Act], dict[int, sl.Request]]:
    """Some jobs are taken out of the log and submitted; some of all are held, released and withdrawn."""
    jobs = case.jobs()
    times = sorted({float(time) for time in case.columns["submit"]} | {1.0, 2.0})
    moved = [job for job in jobs if random.random() < 0.4]
    acts = [Act(job.submit, random.choice(("before", "after")), "submit", job) for job in moved]
    ids = [job.id for job in jobs]
    for _ in range(random.randint(0, len(jobs))):
        act = Act(
            random.choice(times),
            random.choice(("before", "after")),
            random.choice(("hold", "withdraw")),
            random.choice(ids),
        )
        acts.append(act)
        if act.what == "hold" and random.random() < 0.8:
            later = random.choice([time for time in times if time >= act.time])
            acts.append(Act(later, random.choice(("before", "after")), "release", act.job))
    for job in random.sample(jobs, random.randint(0, len(jobs))):
        later = random.choice([time for time in (*times, job.submit + 1, job.submit + 20) if time >= job.submit])
        acts.append(Act(later, random.choice(("before", "after")), "complete", job.id))
    order = {id(act): position for position, act in enumerate(acts)}
    acts.sort(key=lambda act: (act.time, act.when != "before", order[id(act)]))
    submitted = [act.job for act in acts if isinstance(act.job, Job)]
    new = {job.id: FIRST_ID + position for position, job in enumerate(submitted)}
    requests = {new[job.id]: case.requests[case.columns["request"][job.id - 1]] for job in submitted}
    acts = [replace(act, job=new.get(act.job, act.job)) if isinstance(act.job, int) else act for act in acts]
    for job in submitted:
        job.id, job.predecessors = new[job.id], []
        if case.options["estimate"] != "exact" and random.random() < 0.2:
            job.runtime = math.inf  # it runs until somebody says that it is done, or its limit
    left = [position for position, job in enumerate(ids) if job not in new]
    columns = {name: [column[position] for position in left] for name, column in case.columns.items()}
    return replace(case, columns=columns), acts, requests


def compare(case: Case, seed: int) -> None:
    case, script, requests = scripted(case, Random(seed))
    observer = Scripted(script, requests)
    options = {"requests": case.detail, "observers": [observer], **case.options}
    run = sl.simulate(case.workload(), case.cluster, case.policy_text(), validate=True, **options)
    engine = [by_engine(row) for row in run.jobs.iter_rows(named=True)]
    results = simulate(case.jobs(), case.cluster, case.policy, script=script, **case.options)
    oracle = [by_oracle(result, case.cluster.pool) for result in results]
    for position, (mine, theirs) in enumerate(zip(engine, oracle, strict=True)):
        assert mine == theirs, f"position {position} of {case} with {script}"


@pytest.mark.parametrize(
    ("seed", "backfill", "plain"),
    [
        *((seed, "conservative", True) for seed in (47, 215, 274, 1022, 1060)),  # nobody knew when they could start
        *((seed, "conservative", False) for seed in (67, 1245)),  # the same on nodes
        (1088, "skip", True),  # held at the end, when a correction was due of a job that had left
    ],
)
def test_same_schedule_of_cases_that_differed(seed: int, backfill: str, plain: bool) -> None:
    compare(random_case(seed, 1 + seed % 25, backfill, plain), seed)


@both_kinds
@pytest.mark.parametrize("backfill", BACKFILLS)
@given(seed=seeds, jobs=st.integers(1, 25))
@looking_at(25)
def test_same_schedule(backfill: str, plain: bool, seed: int, jobs: int) -> None:
    compare(random_case(seed, jobs, backfill, plain), seed)

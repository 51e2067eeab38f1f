"""Jobs that are submitted during a run fare exactly as if they had been in the workload."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.property.cases import BACKFILLS, Case, random_case
from tests.property.submitters import FIRST_ID, After, Ahead, Before, Decider, Jobs, Woken
from tests.property.test_engine_vs_oracle import both_kinds, looking_at, seeds
from tests.property.test_engine_vs_oracle import compare as compare_with_oracle

import schedlab as sl

Rows = list[dict[str, Any]]


def divided(case: Case, random: Random, now: bool) -> tuple[Rows, Rows]:
    """The jobs of the log and those that somebody submits, with ids as these get them."""
    rows = [dict(zip(case.columns, row, strict=True)) for row in zip(*case.columns.values(), strict=True)]
    others = [random.random() < 0.5 for _ in rows]
    log = [row for row, other in zip(rows, others, strict=True) if not other]
    submitted = sorted((row for row, other in zip(rows, others, strict=True) if other), key=lambda row: row["submit"])
    ids = {row["id"]: FIRST_ID + position for position, row in enumerate(submitted)}
    for row in rows:
        row["predecessors"] = [one._replace(job=ids.get(one.job, one.job)) for one in row["predecessors"]]
    for row in submitted:
        row["id"] = ids[row["id"]]
        if now and row["cancel"] <= row["submit"]:
            row["cancel"] = float("inf")  # in the instant of the submission, a decision comes first
    return log, submitted


def workload(rows: Rows, case: Case) -> sl.Workload:
    columns = {name: [row[name] for row in rows] for name in case.columns}
    return sl.Workload.of(requests=list(case.requests), **columns)


def compare(case: Case, how: type, seed: int) -> None:
    random = Random(seed)
    log, submitted = divided(case, random, how is Before)
    times = [row["submit"] for row in submitted]
    options: dict[str, Any] = {"requests": case.detail, "validate": True, **case.options}
    if how is Before:
        options["passes"] = "instant"  # who is told of an event after another cannot bring a job before it
    none, some = Jobs([], case.requests, seed), Jobs(submitted, case.requests, seed)
    text = case.policy_text()
    if how is Decider:
        run = sl.simulate(workload(log, case), case.cluster, Decider(text, some, times), **options)
    else:
        run = sl.simulate(workload(log, case), case.cluster, text, observers=[how(some, times)], **options)
    entered = run.table("submitted")
    assert sorted(entered["job"].to_list()) == sorted(row["id"] for row in submitted)

    together = sorted(all_waiting(run, log, submitted, options), key=lambda row: row["submit"])
    options["dependencies"] = "follow"
    usual = [] if how in (Ahead, Decider) else [Woken(none, times)]
    policy = Decider(text, none, times) if how is Decider else text
    same = sl.simulate(workload(together, case), case.cluster, policy, observers=usual, **options)
    whole, divided_run = (one.jobs.drop("request") for one in (same, run))
    assert divided_run.equals(whole), first_difference(whole, divided_run, case)
    assert run.timeline.equals(same.timeline)
    if how is Ahead:
        columns = {name: [row[name] for row in together] for name in case.columns}
        compare_with_oracle(replace(case, columns=columns, options=case.options | {"dependencies": "follow"}))


def all_waiting(run: sl.Run, log: Rows, submitted: Rows, options: dict[str, Any]) -> Rows:
    """The same jobs for a log: those of it wait for nobody if the run ignored it, the others for whom they knew."""
    told = run.table("predecessors").iter_rows(named=True)
    known = {(row["job"], row["predecessor"]) for row in told if row["known"]}
    ignored = options["dependencies"] == "ignore"
    return [
        *({**row, "predecessors": [] if ignored else row["predecessors"]} for row in log),
        *(
            {**row, "predecessors": [p for p in row["predecessors"] if (row["id"], p.job) in known]}
            for row in submitted
        ),
    ]


def first_difference(whole: pl.DataFrame, other: pl.DataFrame, case: Case) -> str:
    for mine, theirs in zip(whole.iter_rows(named=True), other.iter_rows(named=True), strict=False):
        if mine != theirs:
            return f"{mine}\n{theirs}\n{case}"
    return f"{len(whole)} jobs, {len(other)} jobs"


@both_kinds
@pytest.mark.parametrize("how", [Ahead, Before, After, Decider])
@pytest.mark.parametrize("backfill", BACKFILLS)
@given(seed=seeds, jobs=st.integers(1, 30))
@looking_at(12)
def test_as_if_in_the_workload(backfill: str, how: type, plain: bool, seed: int, jobs: int) -> None:
    compare(random_case(seed, jobs, backfill, plain), how, seed)

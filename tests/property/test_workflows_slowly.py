"""Metrics of workflows of random shapes against a slow recomputation, task by task."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.workflow_runs import simulated

from schedlab.analysis.workflows import workflow_table
from schedlab.model.workflow import Submission, Task, Workflow
from schedlab.workflow.handling import handled

HANDLINGS = ("chained", "pilot", "clustered(levels)", "clustered(branches)")


@st.composite
def workflows(draw: st.DrawFn, name: str) -> Workflow:
    tasks: list[Task] = []
    for at in range(draw(st.integers(1, 6))):
        before = draw(st.lists(st.integers(0, at - 1), unique=True, max_size=3)) if at else []
        runtime = draw(st.integers(0, 9))
        limit = draw(st.sampled_from([runtime, runtime, runtime, max(runtime - 1, 0)]))
        tasks.append(Task(f"t{at}", draw(st.integers(1, 3)), runtime, limit, tuple(f"t{b}" for b in before)))
    return Workflow.of(name, tasks)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_against_plain_python(data: st.DataObject) -> None:
    shapes = [data.draw(workflows(f"w{at}")) for at in range(2)]
    kinds = [handled(shape, handling) for shape in shapes for handling in HANDLINGS]
    came = sorted(data.draw(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 7)), min_size=1, max_size=4)))
    others = data.draw(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 9), st.integers(1, 4)), max_size=4))
    run = simulated(kinds, came, others, "pool:5")
    jobs = {row["job"]: row for row in run.jobs.iter_rows(named=True)}
    rows = workflow_table(run).to_dicts()
    assert len(rows) == len(came)
    for row, first in zip(rows, run.table("workflows")["first"], strict=True):
        expected = slowly(kinds[came[row["workflow"]][1]], jobs, first, row["submit"])
        assert {name: row[name] for name in expected} == pytest.approx(expected, nan_ok=True)


def slowly(kind: Submission, jobs: dict[int, Any], first: int, submit: float) -> dict[str, Any]:
    own = [jobs[first + at] for at in range(len(kind.jobs))]
    ran = [job for job in own if job["start"] is not None]
    tasks = zip(kind.workflow.tasks, kind.job_of, kind.begin, strict=True)
    used = 0.0
    for task, at, begin in tasks:
        if own[at]["start"] is not None:
            used += task.cores * min(max(own[at]["end"] - own[at]["start"] - begin, 0), task.runtime)
    allocated = math.fsum(job["cores"] * (job["end"] - job["start"]) for job in ran)
    found: dict[str, Any] = {
        "start": min((job["start"] for job in ran), default=None),
        "end": max((job["end"] for job in ran), default=None),
        "finished": all(job["state"] == "completed" for job in own),
        "used": used,
        "allocated": allocated,
        "idle_share": 1 - used / allocated if allocated else None,
    }
    if not found["finished"]:
        return found | {"turnaround": None, "intermediate_wait": None, "wait_share": None}
    gaps = waits(own, [list(job.after) for job in kind.jobs])
    turnaround = found["end"] - submit
    share = (found["start"] - submit + gaps) / turnaround if turnaround else None
    return found | {"turnaround": turnaround, "intermediate_wait": gaps, "wait_share": share}


def waits(own: list[Any], after: list[list[int]]) -> float:
    """Back from the last end, each time to the one that ended last; what is not run time is waiting."""
    at = max((job["end"], at) for at, job in enumerate(own))[1]
    last, ran = own[at]["end"], own[at]["end"] - own[at]["start"]
    while after[at]:
        at = max(after[at], key=lambda before: (own[before]["end"], -before))
        ran += own[at]["end"] - own[at]["start"]
    return last - min(job["start"] for job in own) - ran


def test_the_slow_way_by_hand() -> None:
    times = [(0, 10), (10, 15), (15, 22), (22, 23)]
    own = [{"start": start, "end": end} for start, end in times]
    assert waits(own, [[], [0], [0], [1, 2]]) == 5

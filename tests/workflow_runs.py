"""Small runs with workflows beside other jobs, in which everything can be worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import schedlab as sl
from schedlab.model.workflow import Submission, Task, Workflow
from schedlab.model.workflow_record import WorkflowRecord
from schedlab.workflow.handling import handled

#           a (2 cores, 10 s)
#   b (1, 5)        c (3, 7)        critical path 18 s, 47 core-seconds, 4 cores at most
#           d (1, 1)
DIAMOND = Workflow.of(
    "diamond",
    [Task("a", 2, 10, 20), Task("b", 1, 5, 9, ("a",)), Task("c", 3, 7, 9, ("a",)), Task("d", 1, 1, 2, ("b", "c"))],
)
Other = tuple[float, float, int]  # submit, run time, cores


def pilot(workflow: Workflow) -> Submission:
    return handled(workflow, "pilot")


def chained(workflow: Workflow) -> Submission:
    return handled(workflow, "chained")


def workload(
    kinds: Sequence[Submission], came: Sequence[tuple[float, int]], others: Sequence[Other] = ()
) -> sl.Workload:
    """Workflows that came at these times, each of one of the kinds; other jobs go before those of the same time."""
    record = WorkflowRecord(kinds)
    rows: list[tuple[float, float, float, int, list[sl.Predecessor]]] = []
    arrivals = [(submit, 0, at) for at, (submit, *_) in enumerate(others)]
    arrivals += [(submit, 1, at) for at, (submit, _) in enumerate(came)]
    for submit, is_workflow, at in sorted(arrivals):
        first = len(rows) + 1
        if not is_workflow:
            _, runtime, cores = others[at]
            rows.append((submit, runtime, runtime, cores, []))
            continue
        record.add(came[at][1], submit, first)
        jobs = kinds[came[at][1]].jobs
        for job in jobs:
            before = [sl.Predecessor(first + place, "completed") for place in job.after]
            rows.append((submit, job.runtime, job.limit, job.cores, before))
    submits, runtime, limit, count, all_before = map(list, zip(*rows, strict=True))
    made = sl.Workload.of(submit=submits, runtime=runtime, limit=limit, count=count, predecessors=all_before)
    made.workflows = record
    return made


def simulated(
    kinds: Sequence[Submission],
    came: Sequence[tuple[float, int]],
    others: Sequence[Other] = (),
    cluster: Any = "pool:3",
    policy: str = "easy",
    **options: Any,
) -> sl.Run:
    return sl.simulate(workload(kinds, came, others), cluster, policy, **options)

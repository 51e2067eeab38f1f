"""Jobs of a log that wait for each other as workflows: what dependencies tie together is one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from schedlab.model.errors import InputError
from schedlab.model.predecessors import ENDED, NOT_COMPLETED, STARTED, Predecessors
from schedlab.model.workflow import Task, Workflow
from schedlab.model.workload import JobBatch, Workload
from schedlab.workflow.files import file_stem

_HINT = (
    "a log has workflows if it says who waits for whom (sbatch --dependency, predecessors); to put others into it, "
    "name them: --workflows FILE"
)


def read_chains(path: Path) -> list[Workflow]:
    """The workflows of a log, in the order of their first jobs; a job that is tied to no other is in none."""
    from schedlab.workload.read import read_workload

    return chains_of(read_workload(path), str(path))


def chains_of(log: Workload, where: str) -> list[Workflow]:
    batch = JobBatch.joined(list(log.batches()))
    before = _known(batch)
    if before is None:
        raise InputError("no job of this log waits for another", where=where, hint=_HINT)
    parts = list(_components(batch, before))
    ids = list(batch.names or map(str, batch.id.tolist()))
    names = [file_stem(where) if len(parts) == 1 else f"{file_stem(where)}-{ids[rows[0]]}" for rows in parts]
    return [workflow_of_jobs(name, log, batch, ids, rows, where) for name, rows in zip(names, parts, strict=True)]


def workflow_of_jobs(
    name: str, log: Workload, batch: JobBatch, ids: Sequence[str], rows: Sequence[int], where: str
) -> Workflow:
    """One of the jobs in these rows, which have these ids."""
    before = _known(batch)
    row_of = {id: row for row, id in enumerate(batch.id.tolist())}
    waits = before.lists() if before else [[] for _ in ids]
    programs = log.labels.get("executable", [])
    tasks = [
        Task(
            id=ids[row],
            cores=int(batch.count[row]) * log.requests[batch.request[row]].chunk["cores"],
            runtime=float(batch.runtime[row]),
            limit=float(batch.limit[row]),
            after=tuple(dict.fromkeys(ids[row_of[wait.job]] for wait in waits[row])),
            name=programs[batch.executable[row]] if 0 <= batch.executable[row] < len(programs) else "",
        )
        for row in rows
    ]
    found = Workflow.of(name, tasks, where)
    return Workflow(found.name, found.tasks, tuple(_notes(before.take(np.array(rows)) if before else None)))


def _known(batch: JobBatch) -> Predecessors | None:
    """Without jobs that are not in the log: they have no say."""
    return None if batch.predecessors is None else batch.predecessors.where(np.isin(batch.predecessors.job, batch.id))


def _components(batch: JobBatch, before: Predecessors) -> Iterator[list[int]]:
    """Rows that belong together, more than one."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    order = np.argsort(batch.id)
    parent = order[np.searchsorted(batch.id, before.job, sorter=order)]
    edges = coo_array((np.ones(len(parent), np.int8), (before.row, parent)), shape=(len(batch), len(batch)))
    label: NDArray[np.int64] = connected_components(edges, directed=False)[1].astype(np.int64)
    rows = np.argsort(label, kind="stable")
    parts = np.split(rows, np.flatnonzero(np.diff(label[rows])) + 1)
    yield from sorted(part.tolist() for part in parts if len(part) > 1)


def _notes(before: Predecessors | None) -> Iterator[str]:
    """What a task has no place for: it waits until all those before it have completed."""
    if before is None:
        return
    of = f"of {len(before.job):,} dependencies"
    for condition, what in (
        (ENDED, "the end of a job, however it ends (the handling can do that: failure=continue)"),
        (NOT_COMPLETED, "the failure of a job"),
        (STARTED, "the start of a job"),
    ):
        if number := int(np.count_nonzero(before.condition == condition)):
            yield f"{number:,} {of} wait for {what}; a task waits for completion"
    if number := int(np.count_nonzero(before.delay)):
        yield f"{number:,} {of} have a delay, which is not used"
    if number := int(np.count_nonzero(before.any)):
        yield f"{number:,} jobs need only one of several others; a task waits for all"

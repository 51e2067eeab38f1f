"""The tasks of workflows keep their order: none runs before those that it comes after are done."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from schedlab.engine.check.offences import Offences
from schedlab.engine.check.record import Record

ROUNDING = 1e-6  # seconds, and of each second: begins of tasks are sums
KIND = "workflow"
AT_ONCE = 2_000_000  # pairs of jobs

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _Kind:
    """Workflows that are submitted in the same way."""

    name: str
    jobs: int
    ready: bool  # a job comes only when it can run
    attempts: int  # that a job may have
    go_on: bool  # also after a job that has failed
    task: list[str]
    job: Integers  # of each task
    begin: Floats
    runtime: Floats
    child: Integers  # of each pair of tasks that wait for each other
    parent: Integers


def check_workflows(record: Record, offences: Offences) -> None:
    if record.workflows is None:
        return
    if record.tasks is None:
        offences.add("file", "there are workflows, but no tasks.parquet")
        return
    workflows, tasks = record.workflows.to_pydict(), _by_kind(record.tasks)
    by_id = np.argsort(record.job, kind="stable")
    numbers = {key: number for number, key in enumerate(tasks)}
    of_kind = np.array(
        [numbers.get(key, -1) for key in zip(workflows["kind"], workflows["handling"], strict=True)], np.int64
    )
    for row in np.flatnonzero(of_kind < 0)[:1].tolist():
        offences.add(KIND, f"the tasks of {workflows['kind'][row]}, {workflows['handling'][row]}, are not told")
    first, submit = np.array(workflows["first"], np.int64), np.array(workflows["submit"], np.float64)
    jobs = np.array(workflows["jobs"], np.int64)
    for key, number in numbers.items():
        of = of_kind == number
        if of.any():
            kind = _kind(key, int(jobs[of].max()), tasks[key], offences)
            wrong = of & (jobs != kind.jobs)
            if wrong.any():
                offences.add(KIND, f"{kind.name} has {kind.jobs} jobs, and {jobs[wrong][0]}")
            if kind.job.max(initial=0) >= kind.jobs or kind.job.min(initial=0) < 0:
                offences.add(KIND, f"{kind.name}: a task runs in a job that it does not have")
                continue
            _check_inside(kind, offences)
            _check_jobs(record, by_id, kind, first[of], submit[of], offences)


def _by_kind(tasks: pa.Table) -> dict[tuple[str, str], dict[str, list[object]]]:
    columns = tasks.to_pydict()
    found: dict[tuple[str, str], dict[str, list[object]]] = {}
    for row, key in enumerate(zip(columns["kind"], columns["handling"], strict=True)):
        own = found.setdefault(key, {name: [] for name in columns})
        for name, values in columns.items():
            own[name].append(values[row])
    return found


def _kind(key: tuple[str, str], jobs: int, rows: dict[str, list[object]], offences: Offences) -> _Kind:
    name, handling = f"{key[0]}, {key[1]}", key[1]
    words = re.findall(r"[\w=-]+", handling.partition("(")[2])
    retries = next((int(word[8:]) for word in words if re.fullmatch(r"retries=\d+", word)), 0)
    pairs = [(child, int(parent)) for child, text in enumerate(rows["after"]) for parent in str(text or "").split()]
    known = [pair for pair in pairs if 0 <= pair[1] < len(rows["task"])]
    if len(known) < len(pairs):
        offences.add(KIND, f"{name}: a task comes after one that is not there")
    return _Kind(
        name,
        jobs,
        ready="ready" in words,
        attempts=1 + retries,
        go_on="failure=continue" in words,
        task=[str(task) for task in rows["task"]],
        job=np.array(rows["job"], np.int64),
        begin=np.array(rows["begin"], np.float64),
        runtime=np.array(rows["runtime"], np.float64),
        child=np.array([child for child, _ in known], np.int64),
        parent=np.array([parent for _, parent in known], np.int64),
    )


def _check_inside(kind: _Kind, offences: Offences) -> None:
    """Tasks of one job: by the times that they begin at in it."""
    child, parent = kind.child, kind.parent
    end = kind.begin[parent] + kind.runtime[parent]
    early = (kind.job[child] == kind.job[parent]) & (kind.begin[child] < end - ROUNDING * (1 + end))
    for pair in np.flatnonzero(early).tolist():
        says = f"begins before task {kind.task[parent[pair]]} is over, in the same job"
        offences.add(KIND, f"{kind.name}: task {kind.task[child[pair]]} {says}")


def _check_jobs(
    record: Record, by_id: Integers, kind: _Kind, first: Integers, submit: Floats, offences: Offences
) -> None:
    """All workflows of a kind: rows are workflows, columns are jobs."""
    pairs = np.unique(np.stack([kind.job[kind.child], kind.job[kind.parent]], 1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    at_once = max(1, AT_ONCE // (len(pairs) + kind.jobs))
    for begin in range(0, len(first), at_once):
        some = slice(begin, begin + at_once)
        rows = [_rows(record, by_id, first[some] + attempt * kind.jobs, kind.jobs) for attempt in range(kind.attempts)]
        _check_there(record, kind, rows[0], pairs, first[some], submit[some], offences)
        _check_order(record, kind, rows, pairs, first[some], offences)


def _check_order(
    record: Record, kind: _Kind, rows: list[Integers], pairs: Integers, first: Integers, offences: Offences
) -> None:
    last = rows[0]
    for later in rows[1:]:
        last = np.where(later >= 0, later, last)
    left = ("completed", "killed", "cancelled", "rejected") if kind.go_on else ("completed",)
    before = last[:, pairs[:, 1]]
    ended = np.where((before >= 0) & _of(record.in_state(*left), before), _of(record.end, before), np.inf).ravel()
    ids = (first[:, None] + pairs[:, 1]).ravel()
    for attempt in rows:
        row = attempt[:, pairs[:, 0]].ravel()
        start = _of(record.start, row)
        wrong = (row >= 0) & ~np.isnan(start) & (start < ended)
        offences.add_where(KIND, wrong, _of(record.job, row), start, lambda i: f"job {ids[i]}, before it, was not done")


def _check_there(
    record: Record, kind: _Kind, rows: Integers, pairs: Integers, first: Integers, submit: Floats, offences: Offences
) -> None:
    """The jobs that came with the workflow: all, or those that wait for nobody."""
    wanted = np.ones(kind.jobs, bool)
    if kind.ready:
        wanted[pairs[:, 0]] = False
    if not record.incomplete:
        missing = np.argwhere((rows < 0) & wanted)
        for workflow, job in missing.tolist():
            offences.add(KIND, f"a job of {kind.name} is not there", int(first[workflow] + job))
    times = _of(record.submit, rows)
    came = np.broadcast_to(submit[:, None], rows.shape)
    wrong = (rows >= 0) & np.where(wanted, times != came, times < came)
    ids = (first[:, None] + np.arange(kind.jobs)).ravel()
    offences.add_where(
        KIND, wrong.ravel(), ids, times.ravel(), lambda i: f"its workflow came at {came.ravel()[i]:.15g}"
    )


def _rows(record: Record, by_id: Integers, first: Integers, jobs: int) -> Integers:
    """Of each workflow and each of its jobs: the row; -1 if it is not there."""
    ids = first[:, None] + np.arange(jobs)
    place = np.minimum(np.searchsorted(record.job, ids, sorter=by_id), max(len(by_id) - 1, 0))
    row = by_id[place] if len(by_id) else np.full(ids.shape, -1)
    return np.where((row >= 0) & (np.append(record.job, -1)[row] == ids), row, -1)


def _of(column: NDArray[Any], rows: Integers) -> NDArray[Any]:
    """A column at these rows; of those that are not there whatever it has last."""
    return column[rows] if len(column) else np.zeros(rows.shape, column.dtype)

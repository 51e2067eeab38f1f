"""The 18 SWF columns of a batch of jobs, or of a table of finished ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.model.errors import InputError
from schedlab.model.jobs import has_column, in_order, rows_between
from schedlab.model.predecessors import Predecessors
from schedlab.model.request import Request
from schedlab.model.run import Run, Tables
from schedlab.model.states import STATES
from schedlab.model.workload import JobBatch

if TYPE_CHECKING:
    import polars as pl

Rows = list[NDArray[Any]]  # 18 columns of equal length; -1 and NaN are unknown

# What 18 columns of numbers cannot say of a job.
NAMES = "names of jobs: numbers remain"
MORE_PREDECESSORS = "predecessors besides the first"
CONDITIONS = "conditions on the preceding job other than its end"
PARTS_OF_KB = "memory of a processor in parts of a KB: rounded up"

STATUS = {"completed": 1, "killed": 0, "cancelled": 5, "rejected": 5}


def batch_rows(batch: JobBatch, requests: Sequence[Request], lost: Counter[str]) -> Rows:
    """Jobs as they were read: recorded waits, run times and statuses. `lost` counts what they lose."""
    processors, memory = _request_columns(batch.request, batch.count, requests, lost)
    lost[NAMES] += 0 if batch.names is None else len(batch)
    cancelled = np.isfinite(batch.cancel)
    unknown = np.full(len(batch), -1)
    return [
        batch.id,
        batch.submit,
        np.where(cancelled, batch.cancel - batch.submit, batch.wait),
        batch.runtime,
        processors,
        unknown,
        unknown,
        processors,
        batch.limit,
        memory,
        np.where(cancelled, 5, batch.status),
        batch.user,
        batch.group,
        batch.executable,
        batch.queue,
        batch.partition,
        *_preceding(batch.predecessors, len(batch), lost),
    ]


def _preceding(before: Predecessors | None, jobs: int, lost: Counter[str]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The preceding job and the think time: of several the first, whatever has to become of it."""
    if before is None:
        return np.full(jobs, -1), np.full(jobs, -1)
    number = before.number
    lost[MORE_PREDECESSORS] += int(np.count_nonzero(number > 1))
    first = (before.end - number)[number > 0]
    lost[CONDITIONS] += int(np.count_nonzero(before.condition[first]))
    think = np.full(jobs, -1.0)
    think[number > 0] = before.delay[first]
    return before.first, think


_OF_JOBS = (
    *("job", "sequence", "submit", "start", "end", "state", "cores", "count", "request", "limit"),
    *("user", "group", "queue", "partition"),
)


def run_rows(run: Run, lost: Counter[str]) -> Iterator[Rows]:
    """The jobs of a run in the order of the workload, some at a time."""
    tables = run.tables
    told = has_column(tables, "after")  # in runs of format 1 jobs have it
    names = (*_OF_JOBS, *(("after", "think") if told else ()), *(("name",) if has_column(tables, "name") else ()))
    status = np.array([STATUS.get(state, -1) for state in STATES])
    for (jobs,) in in_order([tables], names):
        before = {} if told else _first_predecessors(tables, jobs["sequence"])
        columns = {name: values for name, values in jobs.items() if name != "state"}
        yield table_rows(columns | before | {"status": status[jobs["state"]]}, run.requests, lost)


def _first_predecessors(tables: Tables, sequences: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """What SWF can say of those of jobs that follow each other: the first one, and a think time."""
    names = ("predecessor", "delay")
    found = rows_between(tables, names, "sequence", int(sequences[0]), int(sequences[-1]), "predecessors")
    jobs, first = np.unique(found["sequence"], return_index=True)
    after, think = np.full(len(sequences), -1), np.full(len(sequences), -1.0)
    there = np.isin(
        jobs, sequences
    )  # of those that were not submitted yet when the run broke off, they may be told too
    at = np.searchsorted(sequences, jobs[there])
    after[at], think[at] = (found[name][first[there]] for name in names)
    return {"after": after, "think": think}


def table_rows(table: pl.DataFrame | Mapping[str, Any], requests: Sequence[Request], lost: Counter[str]) -> Rows:
    """Finished jobs: wait = start − submit, run = end − start. Columns that are missing are unknown."""
    submit = _column(table, "submit")
    if submit is None:
        raise InputError("the table has no column 'submit'", hint="write_swf takes the columns of Run.jobs")
    size = len(submit)

    def column(name: str, unknown: float = -1) -> NDArray[Any]:
        found = _column(table, name)
        return np.full(size, unknown) if found is None else found

    start, end = column("start", np.nan), column("end", np.nan)
    states = _column(table, "state")
    status = column("status") if states is None else np.array([STATUS.get(str(state), -1) for state in states])
    started, refused = np.isfinite(start), status == 5
    ids = _first(table, "job", "id")
    lost[NAMES] += 0 if _column(table, "name") is None else size
    if ids is None:
        ids = np.arange(1, size + 1)
    count = _first(table, "count", "cores")
    if count is None:
        count = np.ones(size, np.int64)
    processors, memory = _request_columns(column("request", 0).astype(np.int64), count, requests, lost)
    cores = _column(table, "cores")
    processors = processors if cores is None else cores
    after = column("after").astype(np.int64)
    unknown = np.full(size, -1)
    return [
        ids,
        submit,
        np.where(started, start - submit, np.where(refused, end - submit, -1)),
        np.where(started, end - start, np.where(refused, 0, -1)),
        np.where(started, processors, -1),
        unknown,
        unknown,
        processors,
        column("limit"),
        memory,
        status,
        column("user"),
        column("group"),
        column("executable"),
        column("queue"),
        column("partition"),
        after,
        np.where(after >= 0, column("think"), -1),
    ]


def _column(table: pl.DataFrame | Mapping[str, Any], name: str) -> NDArray[Any] | None:
    if isinstance(table, Mapping):
        return np.asarray(table[name]) if name in table else None
    if name not in table.columns:
        return None
    column = table.get_column(name)
    if column.dtype.is_numeric():
        return column.fill_null(float("nan") if column.dtype.is_float() else -1).to_numpy()
    return np.array(column.to_list(), dtype=object)  # states and names


def _first(table: pl.DataFrame | Mapping[str, Any], *names: str) -> NDArray[Any] | None:
    found = (_column(table, name) for name in names)
    return next((column for column in found if column is not None), None)


def _request_columns(
    which: NDArray[Any], count: NDArray[Any], requests: Sequence[Request], lost: Counter[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Processors of each job, and the memory of one processor in whole kilobytes."""
    cores = np.array([request.chunk.get("cores", 0) for request in requests] or [1], np.int64)
    chunk = np.array([request.chunk.get("memory", 0) for request in requests] or [0], np.int64)
    unit = np.maximum(cores, 1) * 1024
    per_core = np.where(chunk > 0, -(-chunk // unit), -1)
    which = np.minimum(which, len(cores) - 1)
    lost[PARTS_OF_KB] += int(np.count_nonzero((chunk % unit > 0)[which]))
    return count * cores[which], per_core[which]

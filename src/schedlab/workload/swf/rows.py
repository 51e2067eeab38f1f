"""The 18 SWF columns of a batch of jobs, or of a table of finished ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.model.errors import InputError
from schedlab.model.request import Request
from schedlab.model.workload import JobBatch

if TYPE_CHECKING:
    import polars as pl

Rows = list[NDArray[Any]]  # 18 columns of equal length; -1 and NaN are unknown, objects are names

STATUS = {"completed": 1, "killed": 0, "cancelled": 5, "rejected": 5}


def batch_rows(batch: JobBatch, requests: Sequence[Request]) -> Rows:
    """Jobs as they were read: recorded waits, run times and statuses."""
    processors, memory = _request_columns(batch.request, batch.count, requests)
    cancelled = np.isfinite(batch.cancel)
    unknown = np.full(len(batch), -1)
    return [
        batch.id if batch.names is None else _one_word(batch.names),
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
        batch.after if batch.names is None else _predecessors(batch.after, batch.id, batch.names),
        np.where(batch.after >= 0, batch.think, -1),
    ]


def table_rows(table: pl.DataFrame | Mapping[str, Any], requests: Sequence[Request]) -> Rows:
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
    names = _column(table, "name")
    if ids is None:
        ids = np.arange(1, size + 1)
    count = _first(table, "count", "cores")
    if count is None:
        count = np.ones(size, np.int64)
    processors, memory = _request_columns(column("request", 0).astype(np.int64), count, requests)
    cores = _column(table, "cores")
    processors = processors if cores is None else cores
    after = column("after").astype(np.int64)
    unknown = np.full(size, -1)
    return [
        ids if names is None else _one_word(names),
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
        after if names is None else _predecessors(after, ids, names),
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
    which: NDArray[Any], count: NDArray[Any], requests: Sequence[Request]
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Processors of each job, and the memory of one processor in kilobytes."""
    cores = np.array([request.chunk.get("cores", 0) for request in requests] or [1], np.int64)
    chunk = np.array([request.chunk.get("memory", 0) for request in requests] or [0], np.float64)
    per_core = np.where(chunk > 0, chunk / np.maximum(cores, 1) / 1024, -1)
    which = np.minimum(which, len(cores) - 1)
    return count * cores[which], per_core[which]


def _one_word(names: Any) -> NDArray[Any]:
    """Blanks separate columns, so a name cannot have any; a semicolon in front would make a comment of the row."""
    words = ["_".join(str(name).split()) or "_" for name in names]
    return np.array(["_" + word[1:] if word[0] == ";" else word for word in words], dtype=object)


def _predecessors(after: NDArray[np.int64], ids: NDArray[Any], names: Any) -> NDArray[Any]:
    """Preceding jobs by name; -1 for one that is not among these."""
    known = dict(zip(np.asarray(ids).tolist(), _one_word(names), strict=True)) if bool((after >= 0).any()) else {}
    return np.array([known.get(job, "-1") for job in after.tolist()], dtype=object)

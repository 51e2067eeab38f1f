"""The jobs of a log inside a model file: a Parquet table as text."""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as NoBase64
from io import BytesIO
from typing import Any

import numpy as np

from schedlab.model.errors import InputError
from schedlab.model.predecessors import Predecessors
from schedlab.model.workload import JOB_COLUMNS, JobBatch

LEFT_OUT = ("id", "wait")  # jobs get new numbers, and nothing was recorded about a schedule that is yet to come
_BEFORE = "before_"  # begins the names of columns of predecessors
REMEDY = "fit the model again: schedlab fit LOG --out model.json"


def to_text(jobs: JobBatch) -> str:
    """The columns in which anything is known."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    known = {
        name: column
        for name, column in jobs.columns().items()
        if name not in LEFT_OUT and not np.array_equal(column, np.full(len(column), JOB_COLUMNS[name][1]))
    }
    if jobs.predecessors is not None:
        known |= _lists(jobs.predecessors)
    file = BytesIO()
    pq.write_table(pa.table(known), file, compression="zstd", compression_level=9)
    return b64encode(file.getvalue()).decode()


def _lists(before: Predecessors) -> dict[str, Any]:
    """A list for each job."""
    import pyarrow as pa

    ends = pa.array(np.concatenate([[0], before.end]).astype(np.int32))
    found: dict[str, Any] = {
        f"{_BEFORE}{name}": pa.ListArray.from_arrays(ends, pa.array(getattr(before, name)))
        for name in ("job", "condition", "delay")
    }
    return found | {f"{_BEFORE}any": before.any}


def _predecessors(table: Any) -> Predecessors | None:
    if f"{_BEFORE}job" not in table.column_names:  # there are none, or the model is an older one: `after` and `think`
        return None
    columns = {name: table[f"{_BEFORE}{name}"].combine_chunks() for name in ("job", "condition", "delay", "any")}
    lists = columns["job"]
    return Predecessors(
        end=np.cumsum(lists.value_lengths().to_numpy(), dtype=np.int64),
        job=lists.flatten().to_numpy().astype(np.int64),
        condition=columns["condition"].flatten().to_numpy().astype(np.uint8),
        delay=columns["delay"].flatten().to_numpy().astype(np.float64),
        any=columns["any"].to_numpy().astype(np.uint8),
    )


def from_text(text: Any, where: str) -> JobBatch:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(BytesIO(b64decode(text, validate=True))).read()
        before = _predecessors(table)
        columns = {name: table[name].to_numpy() for name in table.column_names if not name.startswith(_BEFORE)}
        jobs = JobBatch.of(predecessors=before, **columns)
    except (NoBase64, TypeError, ValueError, StopIteration, pa.ArrowException) as error:
        raise InputError(f"jobs cannot be read: {error}", where=where, hint=REMEDY) from None
    _refuse_nonsense(jobs, where)
    return jobs


def _refuse_nonsense(jobs: JobBatch, where: str) -> None:
    sorted_times = np.isfinite(jobs.submit).all() and (np.diff(jobs.submit) >= 0).all()
    if not len(jobs) or not sorted_times or jobs.submit[0] < 0:
        raise InputError("jobs: expected submit times from 0 on, in order", where=where, hint=REMEDY)
    if not ((jobs.runtime >= 0).all() and (jobs.limit >= 0).all() and (jobs.count >= 1).all()):
        raise InputError("jobs: expected run times and limits of 0 or more, and at least 1 chunk", where=where)
    before = jobs.predecessors
    if before is not None and not ((before.job >= 0).all() and (before.job < len(jobs)).all()):
        raise InputError("jobs: a preceding job is not there", where=where, hint=REMEDY)

"""Write jobs as an SWF log: a workload as it was read, or a finished schedule for other tools to read."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.files.whole_file import whole_file
from schedlab.model.request import Request
from schedlab.model.run import Run
from schedlab.model.workload import Workload
from schedlab.workload.losses import counted, losses, noting, request_losses
from schedlab.workload.phases import phases_to_header
from schedlab.workload.swf.rows import Rows, batch_rows, run_rows, table_rows

if TYPE_CHECKING:
    import polars as pl

PIECE = 1 << 16  # rows turned into text at a time
HELD = ("memory", "origin", "header", "phases")


def write_swf(
    path: str | os.PathLike[str],
    jobs: Workload | Run | pl.DataFrame | Mapping[str, Any],
    header: Mapping[str, str] | None = None,
    *,
    requests: Sequence[Request] = (),
) -> list[str]:
    """Write a workload, a finished run, or a table of finished jobs (the columns of `Run.jobs`), as 18 columns below a
    header.

    `header` gives the `; Label: value` lines (a value of several lines repeats its label); a workload brings its own.
    `requests` are the table's, for the memory column (a run brings its own). A name that ends in .gz or .zst
    compresses. Whole or not at all: the file gets its name when it is complete. Returns what of the jobs does not
    survive, in sentences.
    """
    lost: Counter[str] = Counter()
    used: set[int] = set()
    if isinstance(jobs, Workload):
        labels = dict(jobs.header if header is None else header)
        if jobs.origin is not None:
            labels.setdefault("UnixStartTime", str(int(jobs.origin.timestamp())))
        labels |= phases_to_header(jobs.phases)
        rows: Iterator[Rows] = (batch_rows(batch, jobs.requests, lost) for batch in noting(jobs.batches(), used))
    elif isinstance(jobs, Run):
        labels, requests = dict(header or {}), jobs.requests
        rows = run_rows(jobs, lost)
    else:
        labels = dict(header or {})
        rows = iter((table_rows(jobs, requests, lost),))
    with whole_file(Path(path)) as file:
        file.write(_header_text(labels).encode())
        for text in _texts(rows):
            file.write(text)
    asked = losses(jobs, used, holds=HELD) if isinstance(jobs, Workload) else request_losses(requests, holds=HELD)
    return asked + [f"{what} ({counted(count)})" for what, count in lost.items() if count]


def swf_text(workload: Workload, header: Mapping[str, str]) -> bytes:
    """A small workload as the same file, without one."""
    rows = (batch_rows(batch, workload.requests, Counter()) for batch in workload.batches())
    return _header_text(dict(header)).encode() + b"".join(_texts(rows))


def _header_text(labels: dict[str, str]) -> str:
    labels = {"Version": labels.pop("Version", "2.2"), **labels}
    lines = [(label, line) for label, value in labels.items() for line in str(value).splitlines() or [""]]
    return "".join(f"; {label}: {line}".rstrip() + "\n" for label, line in lines)


def _texts(chunks: Iterator[Rows]) -> Iterator[bytes]:
    import pyarrow as pa
    import pyarrow.compute as pc

    for rows in chunks:
        for start in range(0, len(rows[0]), PIECE):
            columns = [pa.array(_numbers(column[start : start + PIECE])).cast(pa.string()) for column in rows]
            lines = pc.binary_join_element_wise(*columns, " ")
            yield ("\n".join(lines.to_pylist()) + "\n").encode()


def _numbers(column: NDArray[Any]) -> NDArray[Any] | list[str]:
    """Whole numbers without a point, others as short as they can be read back; unknown is -1."""
    if not np.issubdtype(column.dtype, np.floating):
        return column
    column = np.where(np.isfinite(column), column, -1.0)
    if bool(np.all((column == np.floor(column)) & (np.abs(column) < 2.0**53))):
        return column.astype(np.int64)
    return [str(int(value)) if value.is_integer() else repr(value) for value in column.tolist()]

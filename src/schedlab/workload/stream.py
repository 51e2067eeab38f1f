"""A workload from a scan of a file: kept in memory or read again by every pass, always in submit order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from schedlab.model.errors import InputError
from schedlab.model.predecessors import Predecessor, Predecessors
from schedlab.model.request import SINGLE_CORE, Request
from schedlab.model.workload import JOB_COLUMNS, JobBatch, ReadReport, Workload
from schedlab.workload.options import ReadOptions
from schedlab.workload.phases import phases_from_header
from schedlab.workload.reorder import Columns, OutOfOrderError, ReorderWindow, join, sort_columns

__all__ = ["Before", "Columns", "Known", "ReadAgain", "Scan", "stream"]


class Scan(Protocol):
    """One pass over a file: chunks of job columns in its order. The properties are complete when the pass is.

    A chunk has the columns `id` and `submit`, and whatever others of `JOB_COLUMNS` the file can tell; also `names`,
    where ids are not numbers; `after` and `think`, where a job has at most one predecessor, which has to end; or
    `before`, objects of the kind `Before` or None.
    """

    def __iter__(self) -> Iterator[Columns]: ...
    @property
    def kept(self) -> int: ...
    @property
    def report(self) -> ReadReport: ...
    @property
    def header(self) -> dict[str, str]: ...
    @property
    def sha256(self) -> str: ...


class Before(NamedTuple):
    """The predecessors of a job; whether one of them suffices."""

    jobs: tuple[Predecessor, ...]
    any: bool = False


class ReadAgain(Exception):  # noqa: N818 - not an error: a scan has learnt something and wants to begin anew
    """Raised by a scan that has to begin anew, knowing more."""


class Known:
    """The requests and the names that have occurred, in the order in which they first did; the same for all passes."""

    def __init__(self, *, single_core: bool = True) -> None:
        self.requests: list[Request] = [SINGLE_CORE] if single_core else []
        self.labels: dict[str, list[str]] = {}
        self._requests = {request.key: place for place, request in enumerate(self.requests)}
        self._numbers: dict[str, dict[str, int]] = {}

    def request(self, request: Request) -> int:
        """The place of the request, which is noted if it is new."""
        place = self._requests.setdefault(request.key, len(self.requests))
        if place == len(self.requests):
            self.requests.append(request)
        return place

    def number(self, column: str, name: str) -> int:
        """The number of a user, group, queue… of that name; -1 for the empty one."""
        if not name:
            return -1
        numbers = self._numbers.setdefault(column, {})
        number = numbers.setdefault(name, len(numbers))
        if number == len(numbers) - 1 and number == len(self.labels.setdefault(column, [])):
            self.labels[column].append(name)
        return number


def stream(
    path: Path,
    scan: Callable[[], Scan],
    options: ReadOptions,
    known: Known,
    *,
    origin: Callable[[dict[str, str], float], datetime | None] | None = None,
    settle: Callable[[Columns], None] | None = None,
) -> Workload:
    """The jobs that `scan()` gives, sorted by (submit, id).

    The file is read once here: every mistake in it is found now, and the report is complete. With
    `options.in_memory` off only logs of at most `options.window` jobs are kept, longer ones are scanned again by each
    `batches()`. Without `origin` submit times are Unix times: they are made to begin near 0. `settle` completes columns
    with what is known only when the first pass is over.
    """
    mark = _mark(path)
    found = _first_pass(scan, None if options.in_memory else options.window)
    if not found.report.kept:
        raise _nothing_left(path, found.report, options)
    shift = 0.0 if origin else float(np.floor(found.first_submit))
    if found.jobs is None:
        window = options.window if found.moved else 0  # nothing to wait for in a log that is in order

        def source() -> Iterator[JobBatch]:
            if _mark(path) != mark:
                raise InputError("has changed since it was first read", where=str(path), hint="read it again")
            return (_batch(columns, shift, settle) for columns in _sorted(scan, window))
    else:
        batch = _batch(found.jobs, shift, settle)

        def source() -> Iterator[JobBatch]:
            return iter((batch,))

    return Workload(
        name=stem(path),
        source=source,
        requests=known.requests,
        origin=origin(found.header, found.first_submit) if origin else _date(shift),
        header=found.header,
        report=found.report,
        content_hash=found.sha256,
        labels=known.labels,
        phases=phases_from_header(found.header, str(path)),
    )


@dataclass(slots=True)
class _Found:
    """What the first pass over a log has shown."""

    report: ReadReport
    header: dict[str, str]
    sha256: str
    first_submit: float
    moved: bool  # jobs have to be moved to bring them into order
    jobs: Columns | None  # all of them, sorted, if they are to be kept


def _first_pass(scan: Callable[[], Scan], most: int | None) -> _Found:
    """Check the whole log. Keep its jobs if there are at most `most`, or if a window of that size cannot sort them."""
    reader = scan()
    chunks: list[Columns] = []
    keeping, first_submit = True, np.inf
    trial = ReorderWindow(most)
    try:
        for chunk in reader:
            first_submit = min(first_submit, float(chunk["submit"].min()))
            if most is not None:
                _exhaust(trial.push({"submit": chunk["submit"], "id": chunk["id"]}))
            if keeping:
                chunks.append(chunk)
            if most is not None and reader.kept > most:
                keeping = False
                chunks.clear()
        if not keeping:
            _exhaust(trial.flush())
    except ReadAgain:
        return _first_pass(scan, most)
    except OutOfOrderError:
        return _first_pass(scan, None)
    jobs = None
    if keeping and chunks:
        jobs = join(chunks)
        sort_columns(jobs)
    return _Found(reader.report, reader.header, reader.sha256, first_submit, trial.moved, jobs)


def _sorted(scan: Callable[[], Scan], window: int | None) -> Iterator[Columns]:
    reorder = ReorderWindow(window)
    for chunk in scan():
        yield from reorder.push(chunk)
    yield from reorder.flush()


def _exhaust(released: Iterator[Columns]) -> None:
    for _ in released:
        pass


def _batch(columns: Columns, shift: float, settle: Callable[[Columns], None] | None) -> JobBatch:
    if settle is not None:
        settle(columns)
    names = columns.get("names")
    jobs: dict[str, Any] = {name: columns[name] for name in (*JOB_COLUMNS, "after", "think") if name in columns}
    if shift:
        jobs |= {name: jobs[name] - shift for name in ("submit", "cancel") if name in jobs}
    before = _predecessors(columns["before"]) if "before" in columns else None
    return JobBatch.of(names=None if names is None else tuple(names), predecessors=before, **jobs)


def _predecessors(before: NDArray[np.object_]) -> Predecessors | None:
    if not any(before):
        return None
    return Predecessors.of([one.jobs if one else () for one in before], [bool(one and one.any) for one in before])


def _date(seconds: float) -> datetime | None:
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    except OverflowError:
        return None


def _mark(path: Path) -> tuple[int, int] | None:
    """What tells one state of a file from another; None if there is none."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_size, status.st_mtime_ns


def stem(path: Path) -> str:
    """What to call the workload in a file."""
    name = path.name
    for suffix in (".gz", ".zst", ".swf", ".csv", ".tsv", ".parquet", ".events", ".sacct", ".json"):
        name = name.removesuffix(suffix)
    return name or path.name


def _nothing_left(path: Path, report: ReadReport, options: ReadOptions) -> InputError:
    where = str(path)
    if not report.records:
        return InputError("holds no job records, only a header", where=where, hint="is it the right file?")
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in report.dropped.items())
    hints = report.bad_rows[:1]
    if set(report.dropped) == {"bad row"}:
        hints.append("is it a log? schedlab formats lists what can be read")
    elif options.clean != "none":
        hints.append(f"--clean {'pwa' if options.clean == 'strict' else 'none'} keeps more")
    return InputError(f"no usable job among {report.records:,} records: {reasons}", where=where, hint="; ".join(hints))

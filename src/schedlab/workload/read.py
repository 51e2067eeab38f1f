"""`read_workload`: a log on disk as a Workload, in memory or streamed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from schedlab.model.errors import InputError
from schedlab.model.request import SINGLE_CORE, Request
from schedlab.model.workload import JobBatch, Workload
from schedlab.workload.bytestream import Progress
from schedlab.workload.header import origin
from schedlab.workload.plugged import Reader, read_with, reader_for
from schedlab.workload.reorder import WINDOW, OutOfOrderError, ReorderWindow, join, sort_columns
from schedlab.workload.swf import Columns, NamedIdsError, SwfOptions, SwfReader, SwfReport


def read_workload(
    path: str | os.PathLike[str],
    *,
    clean: str = "pwa",
    procs: str = "requested",
    missing_limit: str | float = "runtime",
    bad_rows: str = "fail",
    max_procs: int = 0,
    memory: bool = False,
    in_memory: bool = True,
    window: int | None = WINDOW,
    progress: Progress | None = None,
    reader: Reader | None = None,
) -> Workload:
    """The jobs of an SWF log (plain, gzip or zstd), sorted by submit time, ties by job number.

    Another format is read by `reader`: `mine.py:read_xyz`, or a function of the path; without one, by what an
    installed package registers for the ending of the name (`reader="swf"` asks no package). The other options are
    then without meaning.

    The file is read once here, whatever the settings: every mistake in it is found now, and the report is complete.
    With `in_memory=False` only logs of at most `window` jobs are kept; a longer one is read again by each `batches()`,
    in memory that does not grow with it. (One so disordered that the window cannot sort it is kept after all.)
    `memory=True` makes the requested memory a part of the request. The other options are those of `SwfOptions`.
    """
    other = reader_for(path) if reader is None else reader
    if other is not None and other != "swf":
        return read_with(other, path)
    log = _Log(Path(path), SwfOptions(clean, procs, missing_limit, bad_rows, max_procs), progress)
    mark = _mark(log.path)
    found = _first_pass(log, None if in_memory else window)
    if not found.report.kept:
        raise _nothing_left(log, found.report)
    requests = _Requests(memory)
    if found.jobs is None:
        window = window if found.moved else 0  # nothing to wait for in a log that is in order

        def source() -> Iterator[JobBatch]:
            if _mark(log.path) != mark:
                raise InputError("has changed since it was first read", where=str(log.path), hint="read it again")
            return (requests.batch(columns) for columns in _sorted(log, found.named, window))
    else:
        batch = requests.batch(found.jobs)

        def source() -> Iterator[JobBatch]:
            return iter((batch,))

    return Workload(
        name=_stem(log.path),
        source=source,
        requests=requests.known,
        origin=origin(found.header, found.first_submit),
        header=found.header,
        report=found.report,
        content_hash=found.sha256,
    )


@dataclass(frozen=True, slots=True)
class _Log:
    path: Path
    options: SwfOptions
    progress: Progress | None


@dataclass(slots=True)
class _Found:
    """What the first pass over a log has shown."""

    report: SwfReport
    header: dict[str, str]
    sha256: str
    named: bool
    first_submit: float
    moved: bool  # jobs have to be moved to bring them into order
    jobs: Columns | None  # all of them, sorted, if they are to be kept


def _first_pass(log: _Log, most: int | None, *, named: bool = False) -> _Found:
    """Check the whole log. Keep its jobs if there are at most `most`, or if a window of that size cannot sort them."""
    reader = SwfReader(log.path, log.options, named=named, progress=log.progress)
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
    except NamedIdsError:
        return _first_pass(log, most, named=True)
    except OutOfOrderError:
        return _first_pass(log, None, named=named)
    jobs = None
    if keeping and chunks:
        jobs = join(chunks)
        sort_columns(jobs)
    return _Found(reader.report, reader.header, reader.sha256, reader.named, first_submit, trial.moved, jobs)


def _sorted(log: _Log, named: bool, window: int | None) -> Iterator[Columns]:
    reorder = ReorderWindow(window)
    for chunk in SwfReader(log.path, log.options, named=named):
        yield from reorder.push(chunk)
    yield from reorder.flush()


def _exhaust(released: Iterator[Columns]) -> None:
    for _ in released:
        pass


class _Requests:
    """The different requests of a workload, in the order in which they first occur."""

    def __init__(self, memory: bool) -> None:
        self.known: list[Request] = [SINGLE_CORE]
        self._memory = memory
        self._index = {0: 0}  # memory of a processor in bytes (0: not asked for) -> place in `known`

    def batch(self, columns: Columns) -> JobBatch:
        names = columns.get("names")
        jobs: dict[str, Any] = {name: column for name, column in columns.items() if name not in ("names", "memory")}
        return JobBatch(
            request=self._requests(columns),
            names=None if names is None else tuple(names),
            **jobs,
        )

    def _requests(self, columns: Columns) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        amounts = columns["memory"]
        if not self._memory:
            return np.zeros(len(amounts), np.int32)
        different, first, inverse = np.unique(amounts, return_index=True, return_inverse=True)
        places = np.empty(len(different), np.int32)
        for which in np.argsort(first):
            amount = int(different[which])
            if amount not in self._index:
                self._index[amount] = len(self.known)
                self.known.append(Request({"cores": 1, "memory": amount}))
            places[which] = self._index[amount]
        return places[inverse]


def _mark(path: Path) -> tuple[int, int] | None:
    """What tells one state of a file from another; None if there is none."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_size, status.st_mtime_ns


def _stem(path: Path) -> str:
    name = path.name
    for suffix in (".gz", ".zst", ".swf", ".csv"):
        name = name.removesuffix(suffix)
    return name or path.name


def _nothing_left(log: _Log, report: SwfReport) -> InputError:
    where = str(log.path)
    if not report.records:
        return InputError("holds no job records, only a header", where=where, hint="is it the right file?")
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in report.dropped.items())
    hints = report.bad_rows[:1]
    if log.options.clean != "none":
        hints.append(f"--clean {'pwa' if log.options.clean == 'strict' else 'none'} keeps more")
    return InputError(f"no usable job among {report.records:,} records: {reasons}", where=where, hint="; ".join(hints))

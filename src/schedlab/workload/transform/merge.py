"""Several workloads on one timeline."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from schedlab.model.errors import InputError
from schedlab.model.workload import LABELLED, JobBatch, ReadReport, Workload
from schedlab.workload.transform.derive import OF_THE_FILE, move
from schedlab.workload.transform.machine import processors
from schedlab.workload.transform.order import in_order
from schedlab.workload.transform.survey import Survey, beyond, survey

ALIGNMENTS = ("start", "date")
_OF_ONE_MACHINE = ("Version", "MaxProcs", "MaxNodes", "UnixStartTime", "MaxQueues", "MaxPartitions")


def merge(workloads: Sequence[Workload], *, align: str = "start", same_site: bool = False) -> Workload:
    """All jobs of several workloads; each is read once beforehand, and streamed.

    `align="start"` lets all of them begin together; `"date"` puts each where its origin says.
    Job numbers are kept where those of the workloads lie apart, and else made to, by adding a round number. Users,
    groups, queues, partitions and executables of different workloads are different ones, unless they are of the
    `same_site`: then the same name (or number, without names) means the same.
    """
    if align not in ALIGNMENTS:
        raise InputError(f"logs cannot be aligned by '{align}'", hint=f"one of {', '.join(ALIGNMENTS)}")
    if not workloads:
        raise InputError("there is no log to merge")
    if len(workloads) == 1:
        return workloads[0]
    surveys = [survey(workload) for workload in workloads]
    origin, shifts = _timeline(workloads, surveys, align)
    columns = {column: _renumbered(column, workloads, surveys, same_site) for column in LABELLED}
    offsets = _id_offsets(surveys)
    places = np.cumsum([0] + [len(workload.requests) for workload in workloads[:-1]]).tolist()
    named = any(batch.names is not None for workload in workloads for batch in _beginning(workload))
    parts = [
        _Part(
            workload,
            shift,
            offset,
            place,
            {name: numbers[which] for name, (numbers, _) in columns.items()},
            f"{workload.name}:" if named else None,
        )
        for which, (workload, shift, offset, place) in enumerate(zip(workloads, shifts, offsets, places, strict=True))
    ]
    report = _report(workloads)
    return Workload(
        name="+".join(dict.fromkeys(workload.name for workload in workloads)),
        source=lambda: in_order(_interleaved(parts)),
        requests=[request for workload in workloads for request in workload.requests],
        origin=origin,
        header=_header(workloads, origin, align),
        report=report,
        flexible=any(workload.flexible for workload in workloads),
        labels={column: labels for column, (_, labels) in columns.items() if labels},
    )


@dataclass(frozen=True, slots=True)
class _Mapping:
    """Old numbers, in order, and the new one of each."""

    old: NDArray[np.int32]
    new: NDArray[np.int32]

    def apply(self, numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        if not len(self.old):
            return numbers
        found = self.new[np.minimum(np.searchsorted(self.old, numbers), len(self.old) - 1)]
        return np.where(numbers >= 0, found, numbers)


@dataclass(frozen=True, slots=True)
class _Part:
    """One of the workloads, and what makes it a part of the whole."""

    workload: Workload
    shift: float
    id_offset: int
    request_offset: int
    numbers: dict[str, _Mapping]
    prefix: str | None  # of names of jobs

    def batches(self) -> Iterator[JobBatch]:
        for batch in self.workload.batches():
            if not len(batch):
                continue
            shapes, before = batch.shapes, batch.predecessors
            if shapes is not None:
                shapes = replace(shapes, request=(shapes.request + self.request_offset).astype(np.int32))
            moved = replace(
                move(batch, batch.submit + self.shift),
                id=batch.id + self.id_offset,
                predecessors=None if before is None else replace(before, job=before.job + self.id_offset),
                request=(batch.request + self.request_offset).astype(np.int32),
                names=self._names(batch),
                shapes=shapes,
            )
            columns = {name: mapping.apply(getattr(batch, name)) for name, mapping in self.numbers.items()}
            yield replace(moved, **columns)  # type: ignore[arg-type]

    def _names(self, batch: JobBatch) -> tuple[str, ...] | None:
        if self.prefix is None:
            return None
        return tuple(f"{self.prefix}{name}" for name in batch.names or batch.id.tolist())


def _interleaved(parts: list[_Part]) -> Iterator[tuple[JobBatch, float]]:
    """Batches of all parts, the one that lags behind first, each with the time up to which all parts have come."""
    streams = {which: part.batches() for which, part in enumerate(parts)}
    reached = dict.fromkeys(streams, -math.inf)
    while reached:
        behind = min(reached, key=reached.__getitem__)
        batch = next(streams[behind], None)
        if batch is None:
            del reached[behind]
            continue
        reached[behind] = float(batch.submit[-1])
        yield batch, min(reached.values())


def _timeline(workloads: Sequence[Workload], surveys: list[Survey], align: str) -> tuple[datetime | None, list[float]]:
    """The new origin, and what to add to the times of each workload."""
    firsts = [math.floor(found.first) for found in surveys]
    if align == "start":
        begin = workloads[0].origin
        return None if begin is None else begin + timedelta(seconds=firsts[0]), [-float(first) for first in firsts]
    begins = []
    for workload, first in zip(workloads, firsts, strict=True):
        if workload.origin is None:
            raise InputError("does not say when it began", where=workload.name, hint="align the logs at their starts")
        begins.append(workload.origin + timedelta(seconds=first))
    origin = min(begins)
    return origin, [(workload.origin - origin).total_seconds() for workload in workloads if workload.origin]


def _id_offsets(surveys: list[Survey]) -> list[int]:
    offsets, highest = [0], surveys[0].highest
    taken = [(surveys[0].lowest, surveys[0].highest)]
    for found in surveys[1:]:
        apart = all(found.highest < low or found.lowest > high for low, high in taken)
        offset = 0 if apart else beyond(highest)
        offsets.append(offset)
        taken.append((found.lowest + offset, found.highest + offset))
        highest = max(highest, found.highest + offset)
    return offsets


def _renumbered(
    column: str, workloads: Sequence[Workload], surveys: list[Survey], same_site: bool
) -> tuple[list[_Mapping], list[str]]:
    """The new numbers of a column for each workload, and their names if any workload has some."""
    labels = [workload.labels.get(column, []) for workload in workloads]
    olds = [found.numbers[column] for found in surveys]
    if not any(labels):
        return _numbers_apart(olds, same_site), []
    places: dict[str, int] = {}
    mappings = []
    for workload, names, old in zip(workloads, labels, olds, strict=True):
        words = [names[number] if number < len(names) else str(number) for number in old.tolist()]
        words = words if same_site else [f"{workload.name}:{word}" for word in words]
        new = [places.setdefault(word, len(places)) for word in words]
        mappings.append(_Mapping(old, np.array(new, np.int32)))
    return mappings, list(places)


def _numbers_apart(olds: list[NDArray[np.int32]], same_site: bool) -> list[_Mapping]:
    above, mappings = 0, []
    for old in olds:
        new = old.astype(np.int64)
        if above and len(old) and not same_site:
            new += beyond(above)
            if new[-1] >= 2**31:  # numbers that stand for names are large
                new = above + np.arange(1, len(old) + 1)
        mappings.append(_Mapping(old, new.astype(np.int32)))
        above = max([above, *new.tolist()])
    return mappings


def _header(workloads: Sequence[Workload], origin: datetime | None, align: str) -> dict[str, str]:
    """All that the headers say, notices of copyright above all; and the largest of the machines."""
    labels = dict.fromkeys(label for workload in workloads for label in workload.header)
    header = {
        label: "\n".join(dict.fromkeys(w.header[label] for w in workloads if label in w.header))
        for label in labels
        if label not in OF_THE_FILE and label not in _OF_ONE_MACHINE
    }
    names = ", ".join(workload.name for workload in workloads)
    header["Note"] = "\n".join([*header.pop("Note", "").splitlines(), f"merged, aligned by {align}: {names}"])
    sizes = [size for workload in workloads if (size := processors(workload))]
    if sizes:
        header["MaxProcs"] = str(max(sizes))
    if origin is not None:
        header["UnixStartTime"] = str(int(origin.timestamp()))
    return header


def _report(workloads: Sequence[Workload]) -> ReadReport:
    reports = [workload.report for workload in workloads]
    counts: dict[str, Counter[str]] = {name: Counter() for name in ("dropped", "filled", "unkept", "for_slurm")}
    for report in reports:
        for name, count in counts.items():
            count.update(getattr(report, name))
    return ReadReport(
        records=sum(report.records for report in reports),
        kept=sum(report.kept for report in reports),
        bad_rows=[row for report in reports for row in report.bad_rows],
        **{name: dict(count) for name, count in counts.items()},
    )


def _beginning(workload: Workload) -> Iterator[JobBatch]:
    """The first batch that is not empty."""
    for batch in workload.batches():
        if len(batch):
            yield batch
            return

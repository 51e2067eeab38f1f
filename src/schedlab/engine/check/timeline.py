"""The timeline tells the same story as the jobs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.check.offences import Offences
from schedlab.engine.check.record import Record
from schedlab.engine.check.stays import Stays

Story = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]  # begin, end and cores of each of its parts


def check_timeline(record: Record, stays: Stays, offences: Offences) -> None:
    time = record.timeline["time"]
    if len(time) > 1 and not (np.diff(time) > 0).all():
        offences.add("timeline", "its times do not increase")
        return
    runs = stays.begin, np.where(stays.unfinished, np.inf, stays.end), stays.cores
    for (begin, end, cores), jobs_column, cores_column in (
        (runs, "running", "used_cores"),
        (_waits(record), "queued", "queued_cores"),
    ):
        for name, amount in ((jobs_column, np.ones(len(begin), np.int64)), (cores_column, cores)):
            if name == "queued_cores" and record.flexible:  # the rows tell the shapes that were chosen in the end
                continue
            changes, level = _levels(begin, end, amount)
            _compare(offences, name, changes, level, time, record.timeline[name])


def _waits(record: Record) -> Story:
    """From when a job was eligible until it first started or left; and after each time it was requeued."""
    pieces = record.pieces
    queued = ~np.isnan(record.eligible) & ~record.in_state("held")
    left = np.where(record.started, record.start, record.end)
    if not len(pieces):
        return record.eligible[queued], left[queued], record.cores[queued]
    cores, first = record.cores.copy(), pieces.first
    left[pieces.row[first]], cores[pieces.row[first]] = pieces.begin[first], pieces.cores[first]
    again = pieces.ended("requeued")
    next_begin = np.where(pieces.last, record.end[pieces.row], np.append(pieces.begin[1:], np.nan))
    return (
        np.concatenate([record.eligible[queued], pieces.end[again]]),
        np.concatenate([left[queued], next_begin[again]]),
        np.concatenate([cores[queued], pieces.cores[again]]),
    )


def _levels(
    begin: NDArray[np.float64], end: NDArray[np.float64], amount: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The moments at which a sum over jobs changes, and its value from each of them on."""
    times, which = np.unique(np.concatenate([begin, end]), return_inverse=True)
    change = np.zeros(len(times), np.int64)
    np.add.at(change, which, np.concatenate([amount, -amount]))
    changed = (change != 0) & (times < np.inf)
    return times[changed], np.cumsum(change[changed])


def _compare(
    offences: Offences,
    name: str,
    changes: NDArray[np.float64],
    level: NDArray[np.int64],
    time: NDArray[np.float64],
    told: NDArray[np.int64],
) -> None:
    last = np.searchsorted(changes, time, side="right") - 1
    truth = np.append(level, 0)[last]  # before the first change (-1) there is nothing
    for row in np.flatnonzero(truth != told).tolist():
        offences.add("timeline", f"{name} is {told[row]}, by the jobs it is {truth[row]}", time=float(time[row]))
    for moment in np.setdiff1d(changes, time).tolist():
        offences.add("timeline", f"{name} changes, but there is no row for it", time=moment)

"""The timeline tells the same story as the jobs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.check.holds import first_eligible
from schedlab.engine.check.offences import Offences
from schedlab.engine.check.places import Places
from schedlab.engine.check.record import Record
from schedlab.engine.check.stays import Stays


@dataclass(frozen=True)
class Story:
    """From when to when, and what for: the row's or piece's cores, chunks and request."""

    begin: NDArray[np.float64]
    end: NDArray[np.float64]
    cores: NDArray[np.int64]
    count: NDArray[np.int64]
    request: NDArray[np.int64]

    @property
    def jobs(self) -> NDArray[np.int64]:
        """1 for each; -1 for what is to be taken off."""
        return np.where(self.count < 0, np.int64(-1), np.int64(1))


def check_timeline(record: Record, stays: Stays, places: Places | None, offences: Offences) -> None:
    time = record.timeline["time"]
    if len(time) > 1 and not (np.diff(time) > 0).all():
        offences.add("timeline", "its times do not increase")
        return
    ends = np.where(stays.unfinished, np.inf, stays.end)
    runs = Story(stays.begin, ends, stays.cores, stays.count, stays.request)
    for story, jobs_column, what in ((runs, "running", "used"), (_waits(record), "queued", "queued")):
        columns = {jobs_column: story.jobs, f"{what}_cores": story.cores}
        for resource in record.cluster.resource_names[1:]:
            if f"{what}_{resource}" not in record.timeline:  # older runs tell of cores only
                continue
            chunk = np.array([request.chunk.get(resource, 0) for request in record.requests] or [0], np.int64)
            known = (story.request >= 0) & (story.request < len(chunk))  # what is not is told elsewhere
            amount = story.count * chunk[np.where(known, story.request, 0)]
            if what == "used" and places is not None and places.amounts is not None:
                amount = np.where(places.amounts.granted, places.amounts.of_stays(resource, places), amount)
            columns[f"{what}_{resource}"] = amount
        for name, amount in columns.items():
            if what == "queued" and name != "queued" and record.flexible:  # rows tell the shapes chosen in the end
                continue
            changes, level = _levels(story.begin, story.end, amount)
            _compare(offences, name, changes, level, time, record.timeline[name])


def _waits(record: Record) -> Story:
    """From when a job was eligible until it first started or left; and after each time it was requeued. Less the times
    during which a decision held it."""
    waits = _eligible(record)
    holds = record.holds
    row = holds.row[holds.row >= 0]
    if not len(row):
        return waits
    begin, end = (times[holds.row >= 0] for times in (holds.begin, holds.end))
    return Story(
        np.concatenate([waits.begin, begin]),
        np.concatenate([waits.end, end]),
        np.concatenate([waits.cores, -_asked(record)[row]]),
        np.concatenate([waits.count, -record.count[row]]),
        np.concatenate([waits.request, record.request[row]]),
    )


def _asked(record: Record) -> NDArray[np.int64]:
    """The cores of waiting jobs: what they ask for, whatever they are granted."""
    return np.where(record.placed, record.asked_cores(record.count, record.request), record.cores)


def _eligible(record: Record) -> Story:
    pieces = record.pieces
    eligible = first_eligible(record)
    queued = ~np.isnan(eligible)  # a job that waits for another has none
    left = np.where(record.started, record.start, record.end)
    placed = record.placed
    sizes = [_asked(record), record.count, record.request]
    if not len(pieces):
        return Story(eligible[queued], left[queued], *(size[queued] for size in sizes))
    cores = np.where(placed[pieces.row], record.asked_cores(pieces.count, pieces.request), pieces.cores)
    of_pieces, first = [cores, pieces.count, pieces.request], pieces.first
    left[pieces.row[first]] = pieces.begin[first]
    again = pieces.ended("requeued")
    next_begin = np.where(pieces.last, record.end[pieces.row], np.append(pieces.begin[1:], np.nan))
    joined = []
    for size, of_piece in zip(sizes, of_pieces, strict=True):
        size = size.copy()
        size[pieces.row[first]] = of_piece[first]
        joined.append(np.concatenate([size[queued], of_piece[again]]))
    return Story(
        np.concatenate([eligible[queued], pieces.end[again]]),
        np.concatenate([left[queued], next_begin[again]]),
        *joined,
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

"""The timeline tells the same story as the jobs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.check.holds import first_eligible
from schedlab.engine.check.offences import Offences
from schedlab.engine.check.places import Places
from schedlab.engine.check.record import Record, Span
from schedlab.engine.check.stays import Stays


@dataclass(frozen=True)
class Story:
    """From when to when, and what for: the row's or piece's cores, chunks and request."""

    begin: NDArray[np.float64]
    end: NDArray[np.float64]
    cores: NDArray[np.int64]
    count: NDArray[np.int64]
    request: NDArray[np.int64]

    def before(self, moment: float) -> Story:
        """Of which something happened by then."""
        some = (self.begin <= moment) | (self.end <= moment)
        return Story(self.begin[some], self.end[some], self.cores[some], self.count[some], self.request[some])

    def joined(self, other: Story) -> Story:
        names = ("begin", "end", "cores", "count", "request")
        return Story(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names))

    @property
    def jobs(self) -> NDArray[np.int64]:
        """1 for each; -1 for what is to be taken off."""
        return np.where(self.count < 0, np.int64(-1), np.int64(1))


def check_timeline(
    record: Record, stays: Stays, places: Places | None, later: tuple[Story, Story] | None, offences: Offences
) -> tuple[Story, Story]:
    """`later` are those of parts that were looked at before; the result is for the next part."""
    offences.expect("timeline")
    ends = np.where(stays.unfinished, np.inf, stays.end)
    runs, waits = Story(stays.begin, ends, stays.cores, stays.count, stays.request), _waits(record)
    if later is not None:
        runs, waits = runs.joined(later[0]), waits.joined(later[1])
    for story, jobs_column, what in ((runs, "running", "used"), (waits, "queued", "queued")):
        columns = {jobs_column: story.jobs, f"{what}_cores": story.cores}
        for resource in record.cluster.resource_names[1:]:
            if f"{what}_{resource}" not in record.timeline:  # older runs tell of cores only
                continue
            chunk = np.array([request.chunk.get(resource, 0) for request in record.requests] or [0], np.int64)
            known = (story.request >= 0) & (story.request < len(chunk))  # what is not is told elsewhere
            amount = story.count * chunk[np.where(known, story.request, 0)]
            if what == "used" and places is not None and places.amounts is not None and places.amounts.granted.any():
                amount = np.where(places.amounts.granted, places.amounts.of_stays(resource, places), amount)
            columns[f"{what}_{resource}"] = amount
        steps = _Steps(story, record.span, record.timeline["time"])
        for name, amount in columns.items():
            if what == "queued" and name != "queued" and record.flexible:  # rows tell the shapes chosen in the end
                continue
            steps.compare(offences, name, amount, record.timeline[name])
    return runs.before(record.span.after), waits.before(record.span.after)


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


class _Steps:
    """Where sums over what has a begin and an end change, beside the rows of the timeline."""

    def __init__(self, story: Story, span: Span, time: NDArray[np.float64]) -> None:
        self._before = np.flatnonzero(story.begin <= span.after), np.flatnonzero(story.end <= span.after)
        self._inside = tuple(np.flatnonzero(span.has(each) & (each < np.inf)) for each in (story.begin, story.end))
        self._moment = np.concatenate([story.begin[self._inside[0]], story.end[self._inside[1]]])
        self._time = time
        self._row = np.searchsorted(time, self._moment)
        self._untold = np.flatnonzero(np.append(time, np.nan)[self._row] != self._moment)

    def compare(self, offences: Offences, name: str, amount: NDArray[np.int64], told: NDArray[np.int64]) -> None:
        first = amount[self._before[0]].sum() - amount[self._before[1]].sum()
        change = np.concatenate([amount[self._inside[0]], -amount[self._inside[1]]])
        changes = np.zeros(len(self._time) + 1, np.int64)
        np.add.at(changes, self._row, change)
        truth = first + np.cumsum(changes[:-1])
        for row in np.flatnonzero(truth != told).tolist():
            message = f"{name} is {told[row]}, by the jobs it is {truth[row]}"
            offences.add("timeline", message, time=float(self._time[row]))
        if len(self._untold):
            moments, which = np.unique(self._moment[self._untold], return_inverse=True)
            net = np.zeros(len(moments), np.int64)
            np.add.at(net, which, change[self._untold])
            for moment in moments[net != 0].tolist():
                offences.add("timeline", f"{name} changes, but there is no row for it", time=moment)

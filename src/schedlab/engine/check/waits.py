"""Why jobs waited, where the run says so: all the time that they did, in words that can be true, because of jobs that
were there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.check.holds import first_eligible
from schedlab.engine.check.offences import Offences
from schedlab.engine.check.record import Record, Waits
from schedlab.model.states import BEHIND, DEPENDENCY, GATE, HELD, NOT_ENOUGH_FREE, OWN_WORDS, WAIT_REASONS, WOULD_DELAY

KIND = "waiting"
Times = NDArray[np.float64]


def check_waits(record: Record, offences: Offences) -> None:
    waits = record.waits
    if waits is None:
        return
    row = _rows_of(record, waits, offences)
    good = _check_words(record, waits, row, offences)
    _check_who(record, waits, row, offences)
    _check_room(record, waits, row, good, offences)
    _check_cover(record, waits, row, offences)


def _rows_of(record: Record, waits: Waits, offences: Offences) -> NDArray[np.int64]:
    """The position of each one's job among the jobs; -1 if there is none."""
    row = _find(record.sequence, waits.sequence)
    wrong = (row >= 0) & (np.append(record.job, -1)[row] != waits.job)
    row[wrong] = -1
    offences.add_where(KIND, row < 0, waits.job, waits.begin, lambda i: "there is no row for the job")
    return row


def _check_words(record: Record, waits: Waits, row: NDArray[np.int64], offences: Offences) -> NDArray[np.bool_]:
    """Whether each reason is one that a job can have at that time."""
    report = _reporter(waits, offences)
    unknown = waits.why < 0
    report(unknown, lambda i: "its reason is not one that a job can have")

    def says(*words: str) -> NDArray[np.bool_]:
        return np.isin(waits.why, [WAIT_REASONS.index(word) for word in words])

    needs_who, needs_words = says(WOULD_DELAY, BEHIND), says(GATE, OWN_WORDS)
    report(needs_who & (waits.who < 0), lambda i: f"{WAIT_REASONS[waits.why[i]]}: and nothing says which")
    report(needs_words & ~waits.worded, lambda i: f"{WAIT_REASONS[waits.why[i]]}: and nothing says what or who")
    report(waits.worded & ~needs_words & ~unknown, lambda i: f"{WAIT_REASONS[waits.why[i]]}: and words of its own")
    first = np.append(first_eligible(record), np.nan)[row]  # a job that was held and released is eligible once more
    early = says(DEPENDENCY) & (waits.end > first)
    report(early, lambda i: f"it waited for another job until {waits.end[i]}, and was eligible at {first[i]}")
    late = ~says(DEPENDENCY, HELD, OWN_WORDS) & ~unknown & (row >= 0) & ~(waits.begin >= first)
    report(late, lambda i: f"{WAIT_REASONS[waits.why[i]]}: before it was eligible, at {first[i]}")
    there = {
        "budget": record.budget is not None and record.budget["limit"] is not None,
        "calendar": bool(record.windows),
        "closed nodes": len(record.node_changes.time) > 0,
        DEPENDENCY: len(record.predecessors.row) > 0,
        "partition or features": not record.cluster.pool,
    }
    for word, possible in there.items():
        if not possible:
            report(says(word), lambda i, word=word: f"{word}: the run has nothing of the kind")  # type: ignore[misc]
    return ~unknown & (row >= 0)


def _check_who(record: Record, waits: Waits, row: NDArray[np.int64], offences: Offences) -> None:
    """Whoever was in the way was in the system all the time, and somebody else."""
    named = waits.who >= 0
    who = _find(record.job, waits.who)
    report = _reporter(waits, offences)
    report(named & (who < 0), lambda i: f"because of job {waits.who[i]}, which is not in the results")
    submit, end = np.append(record.submit, np.nan)[who], np.append(record.end, np.nan)[who]
    known = named & (who >= 0)
    absent = known & ((submit > waits.begin) | (end < waits.end))
    report(absent, lambda i: f"because of job {waits.who[i]}, which was there from {submit[i]} to {end[i]}")
    report(known & (who == row), lambda i: "because of itself")


def _check_room(
    record: Record, waits: Waits, row: NDArray[np.int64], good: NDArray[np.bool_], offences: Offences
) -> None:
    """On a pool of cores, which the timeline tells all about: what did not fit did not, and what did, did."""
    if not record.cluster.pool or len(record.cluster.resource_names) > 1 or record.flexible or record.exclusive:
        return
    used, time = record.timeline["used_cores"], record.timeline["time"]
    first, last = np.searchsorted(time, waits.begin, side="right") - 1, np.searchsorted(time, waits.end)
    judged = good & (first >= 0) & (last > first)
    if not judged.any():
        return
    least, most = _extremes(used, first[judged], last[judged])
    cores = record.cores[row[judged]]
    total, why = record.cluster.cores, waits.why[judged]
    does_not = (why == WAIT_REASONS.index(NOT_ENOUGH_FREE)) & (least + cores <= total)
    fits = np.isin(why, [WAIT_REASONS.index(word) for word in (WOULD_DELAY, GATE, "limit", "budget")])
    wrong = np.zeros(len(waits.begin), bool)
    wrong[judged] = does_not | (fits & (most + cores > total))
    report = _reporter(waits, offences)
    report(wrong, lambda i: f"{WAIT_REASONS[waits.why[i]]}: that is not so, as the timeline has it")


def _extremes(values: NDArray[Any], first: NDArray[np.int64], last: NDArray[np.int64]) -> tuple[Any, Any]:
    """The least and the largest of values[first:last], for each of the ranges, of which none is empty."""
    bounds = np.stack([first, last], axis=1).ravel()
    least = np.minimum.reduceat(np.append(values, np.iinfo(np.int64).max), bounds)[::2]
    most = np.maximum.reduceat(np.append(values, np.iinfo(np.int64).min), bounds)[::2]
    return least, most


# ---- all the time that a job waited ----


@dataclass(frozen=True)
class _Spans:
    """Stretches of time of jobs, by the position of the job's row."""

    row: NDArray[np.int64]
    begin: Times
    end: Times

    def merged(self) -> _Spans:
        """In order, empty ones left out, and those that touch made one."""
        some = self.end > self.begin
        row, begin, end = self.row[some], self.begin[some], self.end[some]
        order = np.lexsort((begin, row))
        row, begin, end = row[order], begin[order], end[order]
        first = np.ones(len(row), bool)
        first[1:] = (row[1:] != row[:-1]) | (begin[1:] != end[:-1])
        last = np.append(first[1:], True)[: len(row)]
        return _Spans(row[first], begin[first], end[last])


def _check_cover(record: Record, waits: Waits, row: NDArray[np.int64], offences: Offences) -> None:
    empty = waits.end <= waits.begin
    _reporter(waits, offences)(empty, lambda i: f"it waited until {waits.end[i]}, which is not later")
    order = np.lexsort((waits.begin, row))
    by_job, begin, end = row[order], waits.begin[order], waits.end[order]
    over = np.zeros(len(row), bool)
    over[order[1:]] = (by_job[1:] == by_job[:-1]) & (by_job[1:] >= 0) & (begin[1:] < end[:-1])
    _reporter(waits, offences)(over, lambda i: "another reason had not ended")
    known = row >= 0
    found = _Spans(row[known], waits.begin[known], waits.end[known]).merged()
    expected = _waited(record).merged()
    for mine, other, what in (
        (expected, found, "it waited until {}, and no reason says why"),
        (found, expected, "a reason is given until {}, and it did not wait all that time"),
    ):
        pairs = {*zip(other.row.tolist(), other.begin.tolist(), other.end.tolist(), strict=True)}
        for job, begin_, end_ in zip(mine.row.tolist(), mine.begin.tolist(), mine.end.tolist(), strict=True):
            if (job, begin_, end_) not in pairs:
                offences.add(KIND, what.format(end_), int(record.job[job]), begin_)


def _waited(record: Record) -> _Spans:
    """From the submission to the first start, or for ever; and from each time that it was requeued to the next."""
    pieces, everyone = record.pieces, np.arange(len(record.job))
    first_start = np.where(np.isnan(record.start), record.end, record.start)
    first_start[pieces.row[pieces.first]] = pieces.begin[pieces.first]
    again = pieces.ended("requeued")
    end = np.where(pieces.last, record.end[pieces.row], np.append(pieces.begin[1:], np.nan)[: len(pieces)])
    return _Spans(
        np.concatenate([everyone, pieces.row[again]]),
        np.concatenate([record.submit, pieces.end[again]]),
        np.concatenate([first_start, end[again]]),
    )


def _find(values: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions of what is wanted; -1 where it is not there."""
    order = np.argsort(values, kind="stable")
    place = np.searchsorted(values[order], wanted)
    found = np.append(order, -1)[place]
    return np.where((found >= 0) & (np.append(values, -1)[found] == wanted), found, -1)


def _reporter(waits: Waits, offences: Offences) -> Callable[[NDArray[np.bool_], Callable[[int], str]], None]:
    return lambda wrong, message: offences.add_where(KIND, wrong, waits.job, waits.begin, message)

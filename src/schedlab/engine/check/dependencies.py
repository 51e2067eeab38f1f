"""Jobs become eligible when what they waited for has happened, neither before nor after, and leave if it never can."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.check.holds import first_eligible
from schedlab.engine.check.offences import Offences
from schedlab.engine.check.record import Record
from schedlab.model.predecessors import COMPLETED, NOT_COMPLETED, STARTED
from schedlab.model.states import NEVER_SATISFIED, REASONS

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def check_dependencies(record: Record, offences: Offences) -> None:
    found = _expected(record, _predecessor_rows(record, offences))
    expected, eligible, end = found.eligible, first_eligible(record), record.end

    def report(kind: str, wrong: Mask, time: Floats, message: Callable[[int], str]) -> None:
        offences.add_where(kind, wrong, record.job, time, message)

    known = ~np.isnan(eligible) & ~record.in_state("rejected", "held")
    hopeless = np.isfinite(found.hopeless)

    def says(i: int) -> str:
        return f"it could be eligible from {expected[i]} on" if np.isfinite(expected[i]) else "it never could be"

    report("dependency", known & (eligible < expected), eligible, says)
    report("eligible too late", known & (eligible > expected), eligible, says)

    # Those that never became eligible.
    never = np.isnan(eligible)
    withdrawn = never & record.in_state("cancelled")
    said = np.zeros(len(end), bool) if record.reason is None else record.reason == REASONS.index(NEVER_SATISFIED)
    report("dependency", said & ~hopeless, end, lambda i: "what it waited for could still happen, but it was dismissed")
    wrong = said & hopeless & (end != found.hopeless)
    report("dependency", wrong, end, lambda i: f"it could never be eligible from {found.hopeless[i]} on")
    gone = (withdrawn & (end <= found.hopeless)) | record.in_state("rejected")
    wrong = hopeless & ~said & ~gone & ~known
    report("dependency", wrong, end, lambda i: f"it could never be eligible from {found.hopeless[i]} on, but is there")
    report("eligible too late", withdrawn & ~said & (end > expected), end, says)
    here = never & record.in_state("held") & found.has_some
    last = record.last_end if record.incomplete else np.inf
    report("eligible too late", here & (expected < last), end, says)


@dataclass(frozen=True)
class _Expected:
    eligible: Floats  # when each job can be eligible; infinite if it cannot
    hopeless: Floats  # from when on it never can; infinite if it may
    has_some: Mask  # predecessors that have a say


def _predecessor_rows(record: Record, offences: Offences) -> NDArray[np.int64]:
    """Of each predecessor: its row; -1 if it has no say, because it was not submitted before the job."""
    before = record.predecessors
    if not len(before.row):
        return before.row
    by_id = np.lexsort((record.sequence, record.job))  # of several with one id the first is meant
    place = np.searchsorted(record.job[by_id], before.predecessor)
    row = np.append(by_id, -1)[place]
    there = (row >= 0) & (np.append(record.job, -1)[row] == before.predecessor)
    there &= np.append(record.sequence, -1)[row] < record.sequence[before.row]
    ignored = there & ~before.known & ~_forgotten(record, row)
    jobs, times = record.job[before.row], record.submit[before.row]
    offences.add_where("dependency", ignored, jobs, times, lambda i: f"it ignores job {before.predecessor[i]}")
    said = "was not submitted before it, but has a say"
    wrong = before.known & ~there
    offences.add_where("dependency", wrong, jobs, times, lambda i: f"job {before.predecessor[i]} {said}")
    return np.where(there & (before.known | ignored), row, -1)


def _forgotten(record: Record, rows: NDArray[np.int64]) -> Mask:
    """Of each predecessor: whether nobody has to remember it, because it had left when its job was submitted, during
    the run."""
    called = np.full(len(record.job), -np.inf)
    there = record.submitted.row >= 0
    called[record.submitted.row[there]] = np.nan_to_num(record.submitted.called[there], nan=-np.inf)
    left = ~record.in_state("held", "waiting", "running", "suspended")
    return (rows >= 0) & left[rows] & (record.end[rows] <= called[record.predecessors.row])


def _expected(record: Record, rows: NDArray[np.int64]) -> _Expected:
    """By the rules of docs/semantics.md."""
    before, jobs = record.predecessors, len(record.job)
    some = np.flatnonzero(rows >= 0)
    owner, suffices = before.row[some], before.any[some]
    since = _since(record, rows[some], before.condition[some])
    left = ~record.in_state("held", "waiting", "running", "suspended")[rows[some]]
    end, then = record.end[rows[some]], since + before.delay[some]

    latest, earliest = np.full(jobs, -np.inf), np.full(jobs, np.inf)
    np.maximum.at(latest, owner, then)
    np.minimum.at(earliest, owner, then)
    number = np.bincount(owner, minlength=jobs)
    has_some = number > 0
    any_of = np.zeros(jobs, bool)
    any_of[owner] = suffices
    wanted = np.where(any_of, earliest, latest)
    eligible = np.where(has_some, np.maximum(record.submit, wanted), record.submit)

    # A condition that did not hold when its job left never will.
    failed = left & np.isinf(since)
    first, last = np.full(jobs, np.inf), np.full(jobs, -np.inf)
    np.minimum.at(first, owner[failed], end[failed])
    np.maximum.at(last, owner[failed], end[failed])
    all_failed = np.bincount(owner[failed], minlength=jobs) == number
    moment = np.where(any_of, np.where(all_failed, last, np.inf), first)
    hopeless = np.where(has_some & np.isfinite(moment), np.maximum(record.submit, moment), np.inf)
    return _Expected(eligible, hopeless, has_some)


def _since(record: Record, rows: NDArray[np.int64], condition: NDArray[np.int8]) -> Floats:
    """When each condition came to hold; infinite if it never did."""
    left = ~record.in_state("held", "waiting", "running", "suspended")[rows]
    completed = record.in_state("completed")[rows]
    start = record.start.copy()
    begun = np.flatnonzero(record.pieces.first)
    start[record.pieces.row[begun]] = record.pieces.begin[begun]  # of the first of several attempts
    start = start[rows]
    started = ~np.isnan(start)
    holds = left
    holds = np.where(condition == COMPLETED, left & completed, holds)
    holds = np.where(condition == NOT_COMPLETED, left & ~completed, holds)
    at_start = (condition == STARTED) & started
    return np.where(at_start, start, np.where(holds, record.end[rows], np.inf))

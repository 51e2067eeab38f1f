"""Lives told in pieces: one after the other, as the rows of the jobs say, and with work that adds up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from schedlab.engine.check.holds import first_eligible
from schedlab.engine.check.offences import Offences
from schedlab.engine.check.rates import first_rates, last_rates, work_of
from schedlab.engine.check.record import Pieces, Record
from schedlab.model.states import PIECE_ENDS, STATES

# How the last piece of a job ends, and the states in which the job may then be.
FATES = {
    "completed": ("completed",),
    "killed": ("killed",),
    "requeued": ("waiting", "held", "cancelled", "rejected"),
    "suspended": ("suspended", "killed"),
    "unfinished": ("running",),
}

Report = Callable[[str, NDArray[np.bool_], Callable[[int], str]], None]


def check_pieces(record: Record, offences: Offences) -> None:
    pieces = record.pieces
    if not len(pieces):
        return

    def report(kind: str, wrong: NDArray[np.bool_], message: Callable[[int], str]) -> None:
        offences.add_where(kind, wrong, pieces.job, pieces.begin, message)

    _check_order(record, pieces, report)
    _check_fates(record, pieces, report)
    _check_rows(record, pieces, report)
    with np.errstate(invalid="ignore"):  # what is not a number is reported, not computed with
        _check_work(record, pieces, report)
    _check_limits(record, pieces, report)


def _check_order(record: Record, pieces: Pieces, report: Report) -> None:
    begin, end, last = pieces.begin, pieces.end, pieces.last
    following, eligible = _next(begin), first_eligible(record)[pieces.row]
    length = np.isfinite(begin) & np.isfinite(end) & (begin <= end)
    report("pieces", ~length, lambda i: f"it ends at {end[i]}")
    report("pieces", ~last & (following < end), lambda i: f"it ends at {end[i]}, the next begins at {following[i]}")
    early = pieces.first & ~(begin >= eligible)
    report("start too early", early, lambda i: f"started before it was eligible, at {eligible[i]}")

    late = ~last & pieces.ended("reshaped") & (following > end)
    report("pieces", late, lambda i: f"{_ended(pieces, i)} at {end[i]} and goes on only at {following[i]}")
    reshaped = ~last & pieces.ended("suspended") & ~_same_shape(pieces)
    report("pieces", reshaped, lambda i: f"{_ended(pieces, i)} and goes on in another shape")


def _check_fates(record: Record, pieces: Pieces, report: Report) -> None:
    """A last piece is the last, and fits the state of the job."""
    last, state = pieces.last, record.state[pieces.row]
    report("pieces", pieces.how < 0, lambda i: "it ended in a way that is not known")
    final = pieces.ended("completed", "killed", "unfinished")
    report("pieces", ~last & final, lambda i: f"{_ended(pieces, i)}, and goes on")
    report("pieces", last & pieces.ended("slowed", "reshaped"), lambda i: f"{_ended(pieces, i)}, and does not go on")

    possible = np.zeros((len(PIECE_ENDS) + 1, len(STATES) + 1), bool)  # one more each for what is not known
    for how, states in FATES.items():
        possible[PIECE_ENDS.index(how), [STATES.index(name) for name in states]] = True
    wrong = last & (pieces.how >= 0) & (state >= 0) & ~possible[pieces.how, state]
    report("state", wrong, lambda i: f"{_ended(pieces, i)}, and is said to be {STATES[state[i]]}")

    if not record.incomplete:
        stands = (last_rates(record) == 0) & (~np.isfinite(record.limit[pieces.row]) | (not record.kills))
        report("state", pieces.ended("unfinished") & ~stands, lambda i: "it could go on, but the run is complete")


def _check_rows(record: Record, pieces: Pieces, report: Report) -> None:
    """The row of a job tells of its last attempt, and of that, the last piece."""
    row, last, waits = pieces.row, pieces.last, pieces.ended("requeued")
    start, end, begun = record.start[row], record.end[row], pieces.begin[attempts_of(pieces)]
    report("pieces", pieces.job != record.job[row], lambda i: f"its position is that of job {record.job[row[i]]}")
    report("pieces", last & ~waits & (start != begun), lambda i: f"its row has the start {start[i]}, not {begun[i]}")
    report("pieces", last & waits & ~np.isnan(start), lambda i: "it waits again, but its row has a start")
    gone = pieces.ended("requeued", "suspended")  # and left later, if at all
    wrong = last & np.where(gone, end < pieces.end, end != pieces.end)
    report("pieces", wrong, lambda i: f"its row has the end {end[i]}, not {pieces.end[i]}")

    asked = (
        record.placed[row] & waits & (record.cores[row] == record.asked_cores(record.count[row], record.request[row]))
    )
    same = ((pieces.cores == record.cores[row]) | asked) & _has_row_shape(record, pieces)
    report("pieces", last & ~same, lambda i: "its row has other cores, chunks or another request")
    report("pieces", last & ~waits & (pieces.nodes != record.nodes[row]), lambda i: "its row has other nodes")


def _check_work(record: Record, pieces: Pieces, report: Report) -> None:
    """What is left to do shrinks by rate × time, and by nothing else."""
    work, done, last = pieces.work, pieces.done, pieces.last
    report("work", ~(work >= 0), lambda i: f"it has {work[i]} s left to do")
    at_rates = work_of(record)
    fastest = np.maximum(first_rates(record), np.zeros(len(pieces)))
    np.maximum.at(fastest, record.rates.at, np.nan_to_num(record.rates.rate, posinf=0))
    left, tolerance = work - done, rounding(work, fastest * pieces.end)
    other = ~(np.abs(done - at_rates) <= tolerance)
    report("work", other, lambda i: f"{done[i]} s of work are done in it, its rates make it {at_rates[i]} s")
    report("work", left < -tolerance, lambda i: f"it does more than the {work[i]} s that were left")
    unfinished = pieces.ended("completed") & ~pieces.decided & ~(np.abs(left) <= tolerance)
    report("work", unfinished, lambda i: f"it was completed with {left[i]} s left to do")

    runtime, following = record.runtime[pieces.row], _next(work)
    as_row = _has_row_shape(record, pieces)
    told = ~np.isnan(pieces.whole)
    whole = np.where(told, pieces.whole, runtime)
    kept, again = pieces.ended("suspended"), pieces.ended("requeued")
    again &= told | (as_row & _same_shape(pieces))  # in runs of format 1, nobody knows how much other shapes are
    if not record.decides_work:
        kept |= pieces.ended("reshaped") & told
    # A cost is not more work where a job is more.
    with np.errstate(divide="ignore"):
        scale = np.where(whole > 0, _next(whole) / whole, 1.0)
    scale = np.minimum(scale, 1.0) if record.decides_work else scale
    least = np.where(again, _least_left(pieces, left, whole), left) * scale
    lost = ~last & (kept | again) & (following < least - tolerance)
    report("work", lost, lambda i: f"{least[i]} s were left to do, the next piece has {following[i]} s")

    rigid = as_row & ~np.isin(pieces.row, pieces.row[pieces.ended("reshaped")])
    wrong = pieces.first & (rigid | told) & (work != whole) & ~(np.abs(work - whole) <= tolerance)
    report("work", wrong, lambda i: f"it begins with {work[i]} s to do, all of it is {whole[i]}")
    if not record.decides_work:
        wrong = told & as_row & (whole != runtime)
        report("work", wrong, lambda i: f"all of it is said to be {whole[i]} s of work, its runtime is {runtime[i]}")


def _least_left(pieces: Pieces, left: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """What is left of the job itself at the end of each piece is this at least, what it cost to begin again aside.

    Costs are done first. So after a piece no less is left of the job than before it, or all that is left is of the job:
    the least that was left after any piece so far. A requeue saves no more than what was done.
    """
    with np.errstate(divide="ignore"):
        share = np.where(whole > 0, np.minimum(left / whole, 1.0), 0.0)
    shares = pl.DataFrame({"job": np.cumsum(pieces.first), "share": share})
    return shares.select(pl.col("share").cum_min().over("job")).to_series().to_numpy() * whole


def _check_limits(record: Record, pieces: Pieces, report: Report) -> None:
    """An attempt runs no longer than the limit; what it was suspended does not count. In other shapes others hold."""
    if not record.kills:
        return
    limit = record.limit[pieces.row]
    spent, one_shape = spent_in_attempts(record, pieces)
    over = one_shape & (spent > limit + rounding(limit, pieces.end))  # nothing is spent where no attempt begins
    report("not killed", over, lambda i: f"it ran {spent[i]} s with a limit of {limit[i]} s")


def spent_in_attempts(record: Record, pieces: Pieces) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Of each attempt, at its first piece: how long it ran, and whether it was in the shape of its row all the time."""
    attempt = attempts_of(pieces)
    spent = np.bincount(attempt, np.maximum(pieces.end - pieces.begin, 0), minlength=len(pieces))
    elsewhere = ~_has_row_shape(record, pieces) | pieces.ended("reshaped")
    one_shape = np.bincount(attempt, elsewhere, minlength=len(pieces)) == 0
    return np.asarray(spent, np.float64), np.asarray(one_shape)


def attempts_of(pieces: Pieces) -> NDArray[np.int64]:
    """For each piece, the position of the first one of the attempt: its job's first, or the first after a requeue."""
    first = pieces.first
    first[1:] |= pieces.ended("requeued")[:-1]
    return np.maximum.accumulate(np.where(first, np.arange(len(pieces)), 0))


def _next(column: NDArray[Any]) -> NDArray[Any]:
    """What the next piece has; of the last, its own."""
    return np.append(column[1:], column[-1:])


def _same_shape(pieces: Pieces) -> NDArray[np.bool_]:
    """Whether the next piece has the same number of the same chunks."""
    return np.asarray((_next(pieces.count) == pieces.count) & (_next(pieces.request) == pieces.request))


def _has_row_shape(record: Record, pieces: Pieces) -> NDArray[np.bool_]:
    return pieces.same_shape(record.count, record.request)


def rounding(*amounts: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far numbers of this size may be off: far more than rounding does, far less than anybody sees."""
    largest = np.max([np.abs(np.nan_to_num(amount, posinf=0)) for amount in amounts], axis=0)
    return np.asarray(np.maximum(1e-6, 1e-12 * largest))


def _ended(pieces: Pieces, position: int) -> str:
    return f"it was {PIECE_ENDS[pieces.how[position]]}"

"""Why jobs were refused or killed: said where it has to be, nowhere else."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.check.offences import Offences
from schedlab.engine.check.pieces import attempts_of, rounding, spent_in_attempts
from schedlab.engine.check.record import Record
from schedlab.model.states import (
    BY_DECISION,
    BY_POLICY,
    KILLED_BECAUSE,
    NEVER_SATISFIED,
    OVER_BUDGET,
    REASONS,
    SLOWED,
    WITHDRAWN,
)


def check_reasons(record: Record, offences: Offences) -> None:
    if record.reason is None:  # nobody said why
        return
    reason, end = record.reason, record.end
    rejected, runtime, limit = record.in_state("rejected"), record.runtime, record.limit
    none, slowed, by_policy = (reason == REASONS.index(word) for word in ("", SLOWED, BY_POLICY))

    def report(wrong: NDArray[np.bool_], message: Callable[[int], str]) -> None:
        offences.add_where("reason", wrong, record.job, end, message)

    report(reason < 0, lambda i: "its reason is not one that a job can have")
    report(rejected & none, lambda i: "it was rejected, and nothing says why")
    dismissed, withdrawn = reason == REASONS.index(NEVER_SATISFIED), reason == REASONS.index(WITHDRAWN)
    wrong = dismissed & (~record.in_state("cancelled") | ~np.isnan(record.eligible))
    report(wrong, lambda i: f"it did not leave while it was held, its reason is: {NEVER_SATISFIED}")
    report(withdrawn & ~record.in_state("cancelled"), lambda i: f"it was not cancelled, its reason is: {WITHDRAWN}")
    killed, for_kills = record.in_state("killed"), np.isin(reason, [REASONS.index(word) for word in KILLED_BECAUSE])
    report(rejected & for_kills, lambda i: f"it was rejected, its reason is one for being killed: {REASONS[reason[i]]}")
    for_rejections = ~none & ~for_kills & ~dismissed & ~withdrawn & (reason >= 0)
    other = ~rejected & for_rejections
    report(other, lambda i: f"it was not rejected, but has a reason for it: {REASONS[reason[i]]}")
    alive = ~rejected & ~killed & for_kills & ~slowed
    report(alive, lambda i: f"it was not killed, but has a reason for it: {REASONS[reason[i]]}")
    waited = ~np.isnan(record.eligible)
    wrong = rejected & for_rejections & (by_policy != waited)
    report(wrong, lambda i: f"it was rejected {_when(waited[i])}, its reason is: {REASONS[reason[i]]}")
    if record.budget is None or record.budget["limit"] is None:
        over = reason == REASONS.index(OVER_BUDGET)
        report(over, lambda i: "its reason is a budget, and the machine has none with a limit")

    may = killed & (runtime <= limit) & record.kills
    report(slowed & ~rejected & ~may, lambda i: f"it is not a job that was killed though its run time fits: {SLOWED}")
    at_limit, early = _at_limits(record)
    report(slowed & may & early, lambda i: f"it was killed before its limit of {limit[i]} s, its reason is: {SLOWED}")
    if BY_DECISION in record.known_reasons:  # older runs do not say it
        unsaid = none & killed & early
        report(unsaid, lambda i: f"it was killed before its limit of {limit[i]} s, and nothing says why")
    if SLOWED in record.known_reasons:
        missing = none & may & at_limit
        report(missing, lambda i: f"it was killed at its limit of {limit[i]} s, needs {runtime[i]} s: no reason")


def _at_limits(record: Record) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whose last attempt was ended by its limit with work left to do, and whose by something else before it.

    Not said of jobs whose last attempt had several shapes: in each of them another limit holds.
    """
    pieces = record.pieces
    at_limit, early = np.zeros(len(record.job), bool), np.zeros(len(record.job), bool)
    if len(pieces):
        last = np.flatnonzero(pieces.last)
        attempt = attempts_of(pieces)[last]
        times, shapes = spent_in_attempts(record, pieces)
        spent, one_shape = times[attempt], shapes[attempt]
        row, limit = pieces.row[last], record.limit[pieces.row[last]]
        slack = rounding(limit, pieces.end[last])
        left = (pieces.work - pieces.done)[last]
        ended = one_shape & pieces.ended("killed")[last]
        at_limit[row] = ended & (limit > 0) & (spent >= limit - slack) & (left > slack)
        early[row] = one_shape & (spent < limit - slack)
    return at_limit, early


def _when(waited: np.bool_) -> str:
    return "while it waited" if waited else "when it was submitted"

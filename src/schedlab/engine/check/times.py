"""Times and a state that fit each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.check.offences import Offences
from schedlab.engine.check.record import Record


def check_times(record: Record, offences: Offences) -> None:
    """Of all jobs; the ends only of those that simply ran."""
    submit, eligible, start, end, started = record.submit, record.eligible, record.start, record.end, record.started

    def report(kind: str, wrong: NDArray[np.bool_], time: NDArray[np.float64], message: Callable[[int], str]) -> None:
        _report(record, offences, kind, wrong, time, message)

    report("state", record.state < 0, end, _Says("its state is not one that a job can have"))
    ran = record.in_state("completed", "killed", "running", "suspended")
    report("state", ran & ~started, end, _Says("it is said to have run, but has no start"))
    report("state", started & ~ran, start, _Says("it has a start, but is said never to have run"))
    report("start too early", eligible < submit, eligible, lambda i: f"eligible before its submission at {submit[i]}")
    report("start too early", start < submit, start, lambda i: f"started before its submission at {submit[i]}")
    report("start too early", start < eligible, start, lambda i: f"started before it was eligible, at {eligible[i]}")
    report("start too early", ran & np.isnan(eligible), start, _Says("it ran, but never was eligible"))
    report("wrong end", ~np.isfinite(end) | (end < submit), end, lambda i: f"it was submitted at {submit[i]}")
    # By the engine when it is submitted; by the policy while it waits.
    late = record.in_state("rejected") & np.where(np.isnan(eligible), end != submit, end < eligible)
    report("wrong end", late, end, lambda i: f"it was not rejected at once; submitted at {submit[i]}")
    here = record.in_state("held", "waiting", "running", "suspended") & (end != record.last_end)
    report("wrong end", here, end, _Says("it has not left, but the simulation went on"))
    _check_ends(record, offences)


def _check_ends(record: Record, offences: Offences) -> None:
    start, end, runtime, limit = record.start, record.end, record.runtime, record.limit
    simple = record.started & ~record.pieced
    over, killed = (runtime > limit) & record.kills, simple & record.in_state("killed")
    completed, running = simple & record.in_state("completed"), simple & record.in_state("running")

    def report(kind: str, wrong: NDArray[np.bool_], message: Callable[[int], str]) -> None:
        _report(record, offences, kind, wrong, end, message)

    length = np.where(killed, limit, runtime)
    ended = (killed | completed) & (end != start + length)
    report("wrong end", ended, lambda i: f"it started at {start[i]} and ran {length[i]} s")
    report("killed", killed & ~over, lambda i: f"it needs {runtime[i]} s and has a limit of {limit[i]} s")
    report("not killed", completed & over, lambda i: f"it ran {runtime[i]} s with a limit of {limit[i]} s")
    length = np.where(over, limit, runtime)
    report("wrong end", running & (end > start + length), lambda i: f"it would have ended at {start[i] + length[i]}")
    if not record.incomplete:
        report("state", running & np.isfinite(length), _Says("it still runs, but the run is complete"))
    report("state", simple & record.in_state("suspended"), _Says("it is suspended, but no piece says so"))


def _report(
    record: Record,
    offences: Offences,
    kind: str,
    wrong: NDArray[np.bool_],
    time: NDArray[np.float64],
    message: Callable[[int], str],
) -> None:
    offences.add_where(kind, wrong, record.job, time, message)


class _Says:
    """A message that is the same for every job."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __call__(self, _: Any) -> str:
        return self._text

"""The timeline tells the same story as the jobs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.check.offences import Offences
from schedlab.engine.check.record import Record


def check_timeline(record: Record, offences: Offences) -> None:
    time = record.timeline["time"]
    if len(time) > 1 and not (np.diff(time) > 0).all():
        offences.add("timeline", "its times do not increase")
        return
    started, queued = record.started, ~np.isnan(record.eligible) & ~record.in_state("rejected", "held")
    left_queue = np.where(started, record.start, record.end)
    one = np.ones(len(record.job), np.int64)
    stories = {
        "running": (started, record.start, record.end, one),
        "used_cores": (started, record.start, record.end, record.cores),
        "queued": (queued, record.eligible, left_queue, one),
        "queued_cores": (queued, record.eligible, left_queue, record.cores),
    }
    for name, (which, begin, end, amount) in stories.items():
        changes, level = _levels(begin[which], end[which], amount[which])
        _compare(offences, name, changes, level, time, record.timeline[name])


def _levels(
    begin: NDArray[np.float64], end: NDArray[np.float64], amount: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The moments at which a sum over jobs changes, and its value from each of them on."""
    times, which = np.unique(np.concatenate([begin, end]), return_inverse=True)
    change = np.zeros(len(times), np.int64)
    np.add.at(change, which, np.concatenate([amount, -amount]))
    changed = change != 0
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

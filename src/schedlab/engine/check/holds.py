"""Jobs that decisions held: they wait before and after, and neither wait nor run meanwhile."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.check.offences import Offences
from schedlab.engine.check.record import Record
from schedlab.engine.check.stays import Stays


def first_eligible(record: Record) -> NDArray[np.float64]:
    """When each job was eligible for the first time; a job that was held and released is so once more."""
    found = record.eligible.copy()
    first = record.holds.first & (record.holds.row >= 0)
    found[record.holds.row[first]] = record.holds.eligible[first]
    return found


def check_holds(record: Record, stays: Stays, offences: Offences) -> None:
    holds = record.holds
    if not len(holds.job):
        return
    unknown = holds.row < 0
    offences.add_where("hold", unknown, holds.job, holds.begin, lambda i: "it is not among the jobs")
    row = np.where(unknown, 0, holds.row)
    submit, end, started = record.submit[row], record.end[row], record.started[row]
    wrong = ~unknown & ~((submit <= holds.eligible) & (holds.eligible <= holds.begin) & (holds.begin <= holds.end))
    offences.add_where("hold", wrong | (holds.end > end), holds.job, holds.begin, lambda i: "its times are in disorder")
    again = ~holds.first & (holds.eligible != np.insert(holds.end[:-1], 0, np.nan))
    offences.add_where("hold", again, holds.job, holds.begin, lambda i: "it was not eligible since it was released")

    # The last one ended with a release, or with the job.
    last = holds.last & ~unknown
    released = record.eligible[row] == holds.end
    left = (holds.end == end) & ~started & (record.eligible[row] == holds.eligible)
    offences.add_where(
        "hold", last & ~released & ~left, holds.job, holds.end, lambda i: "it was released, but is not eligible since"
    )
    _check_held_at_the_end(record, offences)
    _check_nobody_ran(record, stays, offences)


def _check_held_at_the_end(record: Record, offences: Offences) -> None:
    held = np.zeros(len(record.job), bool)
    last = record.holds.last & (record.holds.row >= 0)
    held[record.holds.row[last]] = record.holds.end[last] == record.end[record.holds.row[last]]
    wrong = record.in_state("held") & ~np.isnan(record.eligible) & ~held
    offences.add_where("hold", wrong, record.job, record.end, lambda i: "it was eligible, and nobody held it")


def _check_nobody_ran(record: Record, stays: Stays, offences: Offences) -> None:
    holds = record.holds
    order = np.argsort(holds.job, kind="stable")
    concerned = np.isin(stays.job, holds.job)
    times = (stays.job[concerned], stays.begin[concerned], stays.end[concerned])
    for job, begin, end in zip(*(column.tolist() for column in times), strict=True):
        first, after = np.searchsorted(holds.job[order], [job, job + 1])
        for hold in order[first:after]:
            if begin < holds.end[hold] and holds.begin[hold] < end:
                offences.add(
                    "hold", f"it ran from {begin} on, but was held until {holds.end[hold]}", job=job, time=begin
                )

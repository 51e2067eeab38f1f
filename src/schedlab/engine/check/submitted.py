"""Jobs that somebody submitted during the run: each is there, and none entered before it was submitted."""

from __future__ import annotations

import numpy as np

from schedlab.engine.check.offences import Offences
from schedlab.engine.check.record import Record


def check_submitted(record: Record, offences: Offences) -> None:
    told = record.submitted
    for number in np.flatnonzero(np.diff(told.sequence) <= 0).tolist():
        offences.add("submitted", "jobs are not told in the order of entering", job=int(told.job[number + 1]))
    unknown = told.row < 0
    if not record.incomplete:
        offences.add_where("submitted", unknown, told.job, told.called, lambda i: "it is not among the jobs")
    row = np.where(unknown, 0, told.row)
    if len(record.job):
        other = ~unknown & (record.job[row] != told.job)
        message = "another job has its position"
        offences.add_where("submitted", other, told.job, told.called, lambda i: message)
        early = ~unknown & (record.submit[row] < told.called)
        offences.add_where(
            "submitted", early, told.job, record.submit[row], lambda i: f"it was submitted only at {told.called[i]}"
        )
    if len(told.job):
        _check_order(record, offences)


def _check_order(record: Record, offences: Offences) -> None:
    """Positions are the order of entering."""
    order = np.argsort(record.sequence, kind="stable")
    submit, job = record.submit[order], record.job[order]
    early = np.insert(submit[1:] < submit[:-1], 0, False)
    message = "a job with a smaller position entered later"
    offences.add_where("submitted", early, job, submit, lambda i: message)

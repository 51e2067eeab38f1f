"""One workload as several."""

from __future__ import annotations

import numpy as np

from schedlab.model.errors import InputError
from schedlab.model.suggest import did_you_mean
from schedlab.model.workload import LABELLED, JobBatch, Workload
from schedlab.workload.transform.derive import keep_jobs
from schedlab.workload.transform.survey import survey
from schedlab.workload.transform.window import window


def split_time(workload: Workload, parts: int) -> list[Workload]:
    """Slices of equal length between the first and the last submittal; time begins at 0 in each."""
    if parts < 1:
        raise InputError(f"a log cannot be split into {parts} parts", hint="a whole number above 0")
    found = survey(workload)
    length = (found.last - found.first) / parts
    if not length:
        raise InputError("all jobs are submitted at one time: there is nothing to split", where=workload.name)
    ends = [length * part for part in range(1, parts)]
    return [window(workload, begin, end) for begin, end in zip([None, *ends], [*ends, None], strict=True)]


def split_by(workload: Workload, column: str) -> dict[str, Workload]:
    """A workload for each user (group, queue, partition…), by name, or by number where there are no names.

    Times stay as they are. Each part is a pass over all jobs.
    """
    if column not in LABELLED:
        hint = did_you_mean(column, LABELLED, f"one of {', '.join(LABELLED)}")
        raise InputError(f"a log cannot be split by '{column}'", hint=hint)
    numbers = survey(workload).numbers[column].tolist()
    labels = workload.labels.get(column, [])
    names = {number: labels[number] if number < len(labels) else str(number) for number in numbers}
    return {name: _part(workload, column, number, name) for number, name in names.items()}


def _part(workload: Workload, column: str, number: int, name: str) -> Workload:
    def choice(batch: JobBatch) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        found: np.ndarray[tuple[int], np.dtype[np.bool_]] = getattr(batch, column) == number
        return found

    return keep_jobs(workload, f"only the jobs of {column} {name}", f"of another {column}", lambda: choice)

"""The jobs that several runs started: the only ones whose waits can be compared."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.job_values import chosen_jobs
from schedlab.analysis.metrics import job_metrics
from schedlab.analysis.trim import Among, Selection
from schedlab.model.run import Run

Sequences = NDArray[np.int64]
_PIECE = 1 << 16  # jobs


def missing_jobs(run: Run, trim: Selection | None = None) -> str:
    """A hash of which of the jobs that count did not start; empty if all did. Equal for runs that started the same."""
    if run.summary["started"] == run.summary["jobs"]:
        return ""
    kept = None if trim is None else trim.of(run).keeps(run.tables)
    missing = np.zeros(0, bool)  # by place in the workload
    row = 0
    for batch in run.tables.batches(("sequence", "start"), "jobs"):
        never = np.isnan(batch["start"])
        if kept is not None:
            never &= kept[row : row + len(never)]
        row += len(never)
        places = batch["sequence"][never]
        most = int(places.max(initial=-1)) + 1
        if most > len(missing):
            missing = np.append(missing, np.zeros(max(most, 2 * len(missing)) - len(missing), bool))
        missing[places] = True
    if not missing.any():
        return ""
    found = hashlib.sha256()
    for first in range(0, len(missing), _PIECE):
        found.update((np.flatnonzero(missing[first : first + _PIECE]) + first).astype("<i8").tobytes())
    return found.hexdigest()


def common_jobs(runs: Sequence[Run], trim: Selection | None = None) -> Sequences | None:
    """The jobs that all runs of a workload started, by their place in it; None if each run started the same ones."""
    if len({missing_jobs(run, trim) for run in runs}) < 2:
        return None
    started = (run.tables.column("sequence")[chosen_jobs(run, trim)] for run in runs)
    return reduce(np.intersect1d, started)


def same_submissions(runs: Sequence[Run], jobs: Sequences) -> bool:
    """Whether these jobs are the same ones in all runs, as far as can be seen: submitted at the same times."""
    submits = []
    for run in runs:
        sequence = run.tables.column("sequence")
        own = np.isin(sequence, jobs)
        submits.append(run.tables.column("submit")[own][np.argsort(sequence[own])])
    return all(np.array_equal(submits[0], other) for other in submits[1:])


def metrics_of_jobs(run: Run, jobs: Sequences, tau: float, trim: Selection | None = None) -> dict[str, Any]:
    """Waits, turnarounds and slowdowns over some of the jobs that count."""
    return job_metrics(run.tables, chosen_jobs(run, Among(jobs, trim)), tau)

"""The jobs of a group's repetitions as one run to draw: of a few runs, and a sample where they are many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyarrow import ArrowException

from schedlab.analysis.job_values import chosen_jobs
from schedlab.analysis.trim import Selection
from schedlab.experiment.execute import selection
from schedlab.experiment.results import Results
from schedlab.model.errors import InputError
from schedlab.model.random import random_stream
from schedlab.model.run import Run

MOST_RUNS = 3
MOST_JOBS = 200_000
_COLUMNS = ("eligible", "start", "end", "cores")


@dataclass(frozen=True, slots=True)
class Pool:
    run: Run
    note: str  # which repetitions, how many jobs


class _Together:
    """The columns of several runs, as far as figures of jobs look at them."""

    def __init__(self, columns: dict[str, NDArray[Any]]) -> None:
        self._columns = columns

    def column(self, name: str) -> NDArray[Any]:
        return self._columns[name].copy()


def pooled(results: Results, group: str) -> Pool | None:
    """The jobs that count, of the first repetitions of a group; None where the tables are not there whole."""
    found = [result for result in results.results if results.group_of(result["point"]) == group]
    used = found[:MOST_RUNS]
    try:
        runs = [results.run(result["identity"]) for result in used]
        columns = _columns(runs, selection(results.study))
    except (InputError, ArrowException, OSError):
        return None
    jobs = len(columns["start"])
    if jobs > MOST_JOBS:
        places = random_stream(0, "report", group).choice(jobs, MOST_JOBS, replace=False)
        columns = {name: values[places] for name, values in columns.items()}
    tables: Any = _Together(columns)
    return Pool(Run(lambda: runs[0].config, tables), _note([result["repetition"] for result in used], len(found), jobs))


def _columns(runs: Sequence[Run], counted: Selection | None) -> dict[str, NDArray[Any]]:
    chosen = [chosen_jobs(run, counted) for run in runs]
    return {
        name: np.concatenate([run.tables.column(name)[own] for run, own in zip(runs, chosen, strict=True)])
        for name in _COLUMNS
    }


def _note(used: Sequence[int], all_of_them: int, jobs: int) -> str:
    which = "all repetitions" if len(used) == all_of_them else f"the first {len(used)} of {all_of_them} repetitions"
    which = "the one run" if all_of_them == 1 else which
    sample = f"a random {MOST_JOBS:,} of about {jobs:,} jobs" if jobs > MOST_JOBS else f"about {jobs:,} jobs"
    return f"{which} of each group, {sample} a group."

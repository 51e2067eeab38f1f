"""What a study will cost: from its finished runs, or from a first one that is made to find out."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from schedlab.experiment.coordinator import asked
from schedlab.experiment.execute import execute
from schedlab.experiment.inputs import Inputs
from schedlab.experiment.ledger import seconds_of
from schedlab.experiment.plan import Part, PlannedRun, plan
from schedlab.experiment.study import Study
from schedlab.model.random import random_stream

PATIENCE = 10.0  # seconds that may be spent to find out


@dataclass(frozen=True, slots=True)
class Cost:
    """Runs planned, those that have a result, and what one takes."""

    planned: int
    done: int
    seconds: float  # of one run
    tried: int  # runs that this was measured on
    workers: int

    @property
    def left(self) -> float:
        """Seconds until all is done."""
        return (self.planned - self.done) * self.seconds / self.workers


def expected_cost(study: Study, folder: Path, workers: int | None = None, part: Part | None = None) -> Cost:
    """Measured on finished runs; where there are none, on a few from all over the plan, which are not kept."""
    runs = plan(study) if part is None else part.of_plan(plan(study))
    known = seconds_of(folder, lambda *_: None)
    finished = [known[run.identity] for run in runs if run.identity in known]
    taken = finished or _tried(study, runs)
    return Cost(len(runs), len(finished), sum(taken) / len(taken), len(taken), workers or os.cpu_count() or 1)


def _tried(study: Study, runs: list[PlannedRun]) -> list[float]:
    """The seconds of as many runs as fit into `PATIENCE`, at least one."""
    taken: list[float] = []
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "results").mkdir()
        for at in random_stream(0, "cost").permutation(len(runs)).tolist():  # a stride would fall in with the grid
            taken.append(execute(runs[at], asked(study), Path(place), Inputs())["seconds"]["all"])
            if sum(taken) > PATIENCE:
                break
    return taken

"""What a study will cost: from its finished runs, or from a first one that is made to find out."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from schedlab.experiment.coordinator import asked
from schedlab.experiment.execute import execute, result_file
from schedlab.experiment.inputs import Inputs
from schedlab.experiment.ledger import result_seconds
from schedlab.experiment.plan import plan
from schedlab.experiment.study import Study

TRIED = 7  # runs; not a divisor of usual grids, so that they differ in everything


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


def expected_cost(study: Study, folder: Path, workers: int | None = None) -> Cost:
    """Measured on finished runs; where there are none, on a few from all over the plan, which are not kept."""
    runs = plan(study)
    finished = [path for run in runs if (path := result_file(folder, run.identity)).is_file()]
    taken = [result_seconds(path) for path in finished]
    if not taken:
        inputs = Inputs()
        places = sorted({int(place) for place in np.linspace(0, len(runs) - 1, TRIED)})
        with tempfile.TemporaryDirectory() as place:
            (Path(place) / "results").mkdir()
            taken = [execute(runs[at], asked(study), Path(place), inputs)["seconds"]["all"] for at in places]
    mean = sum(taken) / len(taken)
    return Cost(len(runs), len(finished), mean, len(taken), workers or os.cpu_count() or 1)

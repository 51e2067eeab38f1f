"""Studies that are run within the process of a test, and what they have found."""

from __future__ import annotations

import json
from collections import deque
from functools import partial
from pathlib import Path
from typing import Any

from schedlab.experiment.answer import answer
from schedlab.experiment.coordinator import run_study
from schedlab.experiment.execute import execute
from schedlab.experiment.inputs import Inputs
from schedlab.experiment.ledger import Status
from schedlab.experiment.merging import content
from schedlab.experiment.plan import PlannedRun
from schedlab.experiment.pool import Outcome
from schedlab.experiment.study import parse_study

STUDY = """
name = "small"
repetitions = 3
baseline = { policy = "fcfs" }
[workload]
model = "lublin(processors=64)"
jobs = 60
[run]
cluster = "pool:64"
policy = ["fcfs", "easy"]
"""


class Inline:
    """Workers that are none: a run is executed when it is taken."""

    def __init__(self, folder: Path, asked: dict[str, Any]) -> None:
        self._folder, self._asked, self._inputs = folder, asked, Inputs()
        self._done: list[Outcome] = []

    @property
    def busy(self) -> int:
        return len(self._done)

    def take(self, waiting: deque[PlannedRun]) -> None:
        if waiting:
            run = waiting.popleft()
            done = answer(partial(execute, run, self._asked, self._folder, self._inputs))
            self._done.append(Outcome(run, **done))

    def outcomes(self, timeout: float) -> list[Outcome]:
        found, self._done = self._done, []
        return found

    def close(self, *, abort: bool = False) -> None:
        pass


def run(text: str, folder: Path, **options: Any) -> tuple[Status, list[str]]:
    """The study in `folder`, with all that was told of it."""
    told: list[str] = []
    study = parse_study(text, str(folder.parent / "study.toml"))
    return run_study(study, folder, workers=Inline, tell=told.append, **options), told


def results(folder: Path) -> dict[str, dict[str, Any]]:
    return {path.stem: json.loads(path.read_text()) for path in sorted((folder / "results").glob("*.json"))}


def found(folder: Path) -> dict[str, dict[str, Any]]:
    """What is the same whenever and wherever it is executed."""
    return {identity: content(result) for identity, result in results(folder).items()}

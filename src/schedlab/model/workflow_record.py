"""Which workflows a workload has: of each its kind, when it came, and which of the jobs are its own."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.model.workflow import Submission


@dataclass
class WorkflowRecord:
    """Complete once a pass over the workload's batches is. The jobs of a workflow have ids in a row from `first`: that
    of a task is `first` plus its position in the submission; of another attempt, plus the number of jobs for each."""

    kinds: Sequence[Submission]
    kind: list[int] = field(default_factory=list)  # of each workflow: the position of its kind
    submit: list[float] = field(default_factory=list)
    first: list[int] = field(default_factory=list)  # the id of its first job
    complete: bool = False

    def add(self, kind: int, submit: float, first: int) -> None:
        self.kind.append(kind)
        self.submit.append(submit)
        self.first.append(first)

    def clear(self) -> None:
        """Before another pass over the batches."""
        self.complete = False
        for column in (self.kind, self.submit, self.first):
            del column[:]

    def cut(self, end: float) -> None:
        """Those that were planned for later have not come."""
        kept = self.come(end)
        for column in (self.kind, self.submit, self.first):
            del column[kept:]

    def has(self, jobs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of these jobs, by id, are a workflow's; of those that have been read."""
        if not self.first:
            return np.zeros(len(jobs), bool)
        return (jobs >= self.first[0]) & (jobs < self.first[-1] + self.kinds[self.kind[-1]].ids)

    def come(self, end: float = math.inf) -> int:
        """How many came until then; they are the first ones."""
        return bisect_right(self.submit, end)

    def workflows(self, number: int | None = None) -> dict[str, Any]:
        """The table `workflows`, of the first ones that came."""
        kinds = [self.kinds[kind] for kind in self.kind[:number]]
        return {
            "workflow": np.arange(len(kinds), dtype=np.int64),
            "kind": [kind.workflow.name for kind in kinds],
            "handling": [kind.handling for kind in kinds],
            "submit": np.array(self.submit[:number], np.float64),
            "first": np.array(self.first[:number], np.int64),
            "jobs": np.array([len(kind.jobs) for kind in kinds], np.int32),
        }

    def tasks(self) -> dict[str, Any]:
        """The table `tasks`: of each kind."""
        rows = [(kind, place) for kind in self.kinds for place in range(len(kind.workflow))]
        tasks = [kind.workflow.tasks[place] for kind, place in rows]
        return {
            "kind": [kind.workflow.name for kind, _ in rows],
            "handling": [kind.handling for kind, _ in rows],
            "task": [task.id for task in tasks],
            "name": [task.name or None for task in tasks],
            "level": np.array([kind.workflow.level[place] for kind, place in rows], np.int32),
            "job": np.array([kind.job_of[place] for kind, place in rows], np.int32),
            "begin": np.array([kind.begin[place] for kind, place in rows], np.float64),
            "cores": np.array([task.cores for task in tasks], np.int64),
            "runtime": np.array([task.runtime for task in tasks], np.float64),
            "limit": np.array([task.limit for task in tasks], np.float64),
            "after": [" ".join(map(str, kind.workflow.after[place])) for kind, place in rows],
        }

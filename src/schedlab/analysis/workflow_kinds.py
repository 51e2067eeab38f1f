"""What the workflows of a run consist of, as arrays: the tasks and jobs of each kind, one kind after the other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]
KIND = ("kind", "handling")  # what tells one kind from another


@dataclass(frozen=True, slots=True)
class Members:
    """Something that kinds have several of, of all workflows: whose each is, and which of its kind's."""

    owner: Numbers  # the workflow, by its place
    which: Numbers  # its place among those of all kinds
    first: Numbers  # of each workflow: where its own begin

    def __len__(self) -> int:
        return len(self.owner)


class KindArrays:
    """Kind after kind. Edges lead from jobs to those that come after them."""

    names: Sequence[tuple[str, str]]  # kind and handling
    attempts: Numbers  # how many times a job may be submitted
    critical_path: Floats
    tasks: Numbers  # how many a kind has; and jobs, and edges
    jobs: Numbers
    edges: Numbers
    task_job: Numbers  # of each task: its job, by the place in its kind
    begin: Floats  # seconds after the start of that job
    cores: Floats
    runtime: Floats
    alone: Flags  # in its job
    parent: Numbers  # of each edge: its jobs
    child: Numbers

    def members(self, kind: Numbers, number: Numbers) -> Members:
        """Of workflows of these kinds; of each kind so many (`tasks`, `jobs` or `edges`)."""
        count, of_kinds = number[kind], np.cumsum(number) - number
        owner = np.repeat(np.arange(len(kind)), count)
        first = np.cumsum(count) - count
        return Members(owner, np.arange(len(owner)) - np.repeat(first - of_kinds[kind], count), first)

    @cached_property
    def place(self) -> Numbers:
        """Of each job of all kinds: its place among those of its own."""
        before = np.cumsum(self.jobs) - self.jobs
        return np.asarray(np.arange(int(self.jobs.sum())) - np.repeat(before, self.jobs))


class Kinds(KindArrays):
    """Those of the table `tasks`."""

    def __init__(self, tasks: pl.DataFrame) -> None:
        groups = list(tasks.group_by(KIND, maintain_order=True))
        self.names = [(str(kind), str(handling)) for (kind, handling), _ in groups]
        self.attempts = np.array([_attempts(handling) for _, handling in self.names], np.int64)
        kinds = [_Kind(group) for _, group in groups]
        self.critical_path = np.array([kind.critical_path for kind in kinds], np.float64)
        self.tasks = np.array([len(kind.job) for kind in kinds], np.int64)
        self.jobs = np.array([kind.jobs for kind in kinds], np.int64)
        self.edges = np.array([len(kind.edges) for kind in kinds], np.int64)
        self.task_job, self.begin, self.cores, self.runtime, self.alone = (
            np.concatenate([getattr(kind, name) for kind in kinds])
            for name in ("job", "begin", "cores", "runtime", "alone")
        )
        self.parent, self.child = np.concatenate([kind.edges for kind in kinds]).T


class _Kind:
    def __init__(self, tasks: pl.DataFrame) -> None:
        self.job = tasks["job"].to_numpy().astype(np.int64)
        self.begin, self.cores, self.runtime = (
            tasks[name].to_numpy().astype(np.float64) for name in ("begin", "cores", "runtime")
        )
        self.jobs = int(self.job.max()) + 1
        self.alone = np.bincount(self.job)[self.job] == 1
        after = [list(map(int, text.split())) if text else [] for text in tasks["after"]]
        self.critical_path = _critical_path(after, self.runtime.tolist())
        of_task = self.job.tolist()
        edges = {(of_task[before], of_task[at]) for at, some in enumerate(after) for before in some}
        self.edges = np.array(sorted((one, other) for one, other in edges if one != other), np.int64).reshape(-1, 2)


def _critical_path(after: list[list[int]], runtime: list[float]) -> float:
    end: list[float] = []
    for before, seconds in zip(after, runtime, strict=True):
        end.append(max((end[place] for place in before), default=0.0) + seconds)
    return max(end)


def _attempts(handling: str) -> int:
    """How many times a job of the workflow may be submitted, as the handling says: `chained(ready, retries=2)`."""
    found = re.search(r"\bretries\s*=\s*(\d+)", handling)
    return 1 + int(found.group(1)) if found else 1

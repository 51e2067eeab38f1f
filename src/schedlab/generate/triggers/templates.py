"""What is injected, as columns that are ready to be repeated: single jobs, and the jobs of workflows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from schedlab.generate.triggers.patterns import JobTemplate, Template
from schedlab.model.predecessors import Predecessors
from schedlab.model.request import SINGLE_CORE, Request
from schedlab.model.workflow import Submission, WorkflowJob
from schedlab.model.workload import JobBatch, Ranks

FIRST_ID = 1_000_000_001  # above every number that a job of a log has, which is not known before the log's end
INJECTED, WORKFLOW = "injected", "workflow"  # the users

Integers: TypeAlias = NDArray[np.int64]
_COPIED = ("runtime", "limit", "count", "executable", "request", "user")


class Templates:
    """The jobs of all templates in a row: those of template k are from `_end[k - 1]` to `_end[k]`.

    Of a workflow whose tasks are submitted when they are ready, only those that wait for nobody are among them.
    """

    def __init__(self, templates: Sequence[Template]) -> None:
        self.templates = templates
        self._place = {id(template): place for place, template in enumerate(templates)}
        self.workflows = [template for template in templates if isinstance(template, Submission)]
        own = np.array([isinstance(template, Submission) for template in templates])
        self.kind = np.where(own, np.cumsum(own) - 1, -1)  # of each: its place among the workflows; -1: it is a job
        self.requests: list[Request] = []
        self.users: list[str] = []
        jobs = [_jobs(template) for template in templates]
        self.executables = list(dict.fromkeys(job.name for some in jobs for _, job in some))
        number = {name: place for place, name in enumerate(self.executables)}
        parts = [self._columns(template, some, number) for template, some in zip(templates, jobs, strict=True)]
        self._column = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        self._end = np.cumsum([len(some) for some in jobs], dtype=np.int64)
        self.ids = np.array([_ids(template) for template in templates], np.int64)  # that each takes
        before = [job.after for some in jobs for _, job in some]
        self._before = np.array([place for some in before for place in some], np.int64)
        self._before_end = np.cumsum([len(some) for some in before], dtype=np.int64)

    def place(self, template: Template) -> int:
        found = self._place.get(id(template))
        return list(self.templates).index(template) if found is None else found

    def batch(self, template: Integers, time: NDArray[np.float64], first: Integers) -> JobBatch:
        """The jobs of these injections: of each its template, when it comes, and the id of its first job."""
        begin = np.append(0, self._end)[template]
        number = self._end[template] - begin
        row = _ranges(begin, number)
        first_of = np.repeat(first, number)
        own = {name: self._column[name][row] for name in ("position", "rank_cores", "rank_limit")}
        copied: dict[str, Any] = {name: self._column[name][row] for name in _COPIED}
        ranked = bool(own["rank_cores"].any())
        return JobBatch.of(
            id=first_of + own["position"],
            submit=np.repeat(time, number),
            predecessors=self._predecessors(row, first_of),
            ranks=Ranks(cores=own["rank_cores"], limit=own["rank_limit"]) if ranked else None,
            **copied,
        )

    def _predecessors(self, row: Integers, first: Integers) -> Predecessors | None:
        begin = np.append(0, self._before_end)[row]
        number = self._before_end[row] - begin
        if not number.any():
            return None
        return Predecessors(
            end=np.cumsum(number),
            job=self._before[_ranges(begin, number)] + np.repeat(first, number),
            condition=np.repeat(self._column["condition"][row], number),
            delay=np.zeros(int(number.sum())),
            any=np.zeros(len(row), np.uint8),
        )

    def _columns(
        self, template: Template, jobs: Sequence[tuple[int, WorkflowJob]], number: dict[str, int]
    ) -> dict[str, NDArray[Any]]:
        user, request, condition, whole = INJECTED, SINGLE_CORE, 0, (0, 0.0)
        if isinstance(template, JobTemplate):
            request = template.request
        else:
            user, condition = WORKFLOW, template.condition
            whole = (template.workflow.width, template.workflow.limit) if template.whole else whole
        if request not in self.requests:
            self.requests.append(request)
        if user not in self.users:
            self.users.append(user)
        same = {
            "request": (self.requests.index(request), np.int32),
            "user": (self.users.index(user), np.int32),
            "condition": (condition, np.uint8),
            "rank_cores": (whole[0], np.int64),
            "rank_limit": (whole[1], np.float64),
        }
        return {
            "position": np.array([place for place, _ in jobs], np.int64),
            "runtime": np.array([job.runtime for _, job in jobs], np.float64),
            "limit": np.array([job.limit for _, job in jobs], np.float64),
            "count": np.array([job.cores for _, job in jobs], np.int64),
            "executable": np.array([number[job.name] for _, job in jobs], np.int32),
            **{name: np.full(len(jobs), value, dtype) for name, (value, dtype) in same.items()},
        }


def _ids(template: Template) -> int:
    return 1 if isinstance(template, JobTemplate) else template.ids


def _jobs(template: Template) -> list[tuple[int, WorkflowJob]]:
    """Those that come with it, and their positions among all of its jobs."""
    if isinstance(template, JobTemplate):
        limit = template.runtime if template.limit is None else template.limit
        return [(0, WorkflowJob(f"{INJECTED}:{template.name}", template.count, template.runtime, limit))]
    return [(place, job) for place, job in enumerate(template.jobs) if not (template.ready and job.after)]


def _ranges(begin: Integers, number: Integers) -> Integers:
    """The whole numbers from each begin on, so many of each."""
    end = np.cumsum(number)
    total = int(end[-1]) if len(end) else 0
    found: Integers = np.arange(total, dtype=np.int64) + np.repeat(begin - (end - number), number)
    return found

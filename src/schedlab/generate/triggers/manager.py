"""A workflow manager on the login node: it submits a task when those before it have completed, again if it failed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence

from schedlab._core import Job, View
from schedlab.engine.observer import Observer
from schedlab.model.predecessors import ENDED
from schedlab.model.workflow import Submission
from schedlab.model.workflow_record import WorkflowRecord
from schedlab.model.workload import Workload

_ROUNDING = 1e-6  # what may be left of the work of a job that has completed: times are rounded


class WorkflowManager(Observer):
    """The tasks of a workflow that wait for nobody are in the workload; this submits the others when they are ready.

    A job has the id of the workflow's first one plus its position, plus the number of jobs for each attempt before.
    """

    name = "workflow manager"

    def __init__(self, kinds: Sequence[Submission], kind: Sequence[int], first: Sequence[int], user: int) -> None:
        self._kinds, self._kind, self._first, self._user = list(kinds), list(kind), list(first), user
        self._children = [_children(submission) if submission.ready else [] for submission in kinds]
        self._missing: dict[int, list[int]] = {}  # of a workflow: how many of its jobs each of its jobs waits for

    def ended(self, view: View, job: Job) -> None:
        workflow = bisect_right(self._first, job.id) - 1
        if workflow < 0:
            return
        kind, first = self._kind[workflow], self._first[workflow]
        submission = self._kinds[kind]
        if not submission.ready or job.id >= first + submission.ids:
            return
        attempt, place = divmod(job.id - first, len(submission.jobs))
        failed = job.remaining > _ROUNDING * max(1.0, job.total_work)
        if failed and attempt < submission.retries:
            self._submit(view, submission, place, job.id + len(submission.jobs))
        elif not failed or submission.condition == ENDED:
            self._go_on(view, workflow, place)

    def _go_on(self, view: View, workflow: int, place: int) -> None:
        """One of its jobs is done: those that waited for nobody else come."""
        submission, first = self._kinds[self._kind[workflow]], self._first[workflow]
        missing = self._missing.setdefault(workflow, [len(job.after) for job in submission.jobs])
        for child in self._children[self._kind[workflow]][place]:
            missing[child] -= 1
            if not missing[child]:
                self._submit(view, submission, child, first + child)

    def _submit(self, view: View, submission: Submission, place: int, id: int) -> None:
        job = submission.jobs[place]
        view.submit(job.runtime, job.cores, limit=job.limit, user=self._user, id=id)


def managers(workload: Workload, record: WorkflowRecord, user: int) -> Callable[[], list[WorkflowManager]] | None:
    """Who submits the tasks of workflows that come when they are ready; None where there are none."""
    if not any(kind.ready for kind in record.kinds):
        return None

    def make() -> list[WorkflowManager]:
        if not record.complete:
            for _ in workload.batches():
                pass
        return [WorkflowManager(record.kinds, record.kind, record.first, user)]

    return make


def _children(submission: Submission) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in submission.jobs]
    for place, job in enumerate(submission.jobs):
        for before in job.after:
            found[before].append(place)
    return found

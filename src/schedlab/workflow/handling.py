"""How a workflow is submitted: as one job, as a job for each task, or as jobs of several tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from schedlab.model.errors import InputError
from schedlab.model.predecessors import COMPLETED, ENDED
from schedlab.model.workflow import Submission, Task, Workflow, WorkflowJob
from schedlab.workflow.handling_text import Handling, parse_handling


def handled(workflow: Workflow, handling: str | Handling, where: str = "") -> Submission:
    """The jobs of the workflow: `pilot`, `chained`, `aware`, `clustered`, with arguments (docs/workflows.md)."""
    how = parse_handling(handling, where) if isinstance(handling, str) else handling
    widest = max(task.cores for task in workflow.tasks)
    if how.cores is not None and how.cores < widest:
        hint = f"give at least {widest} cores"
        raise InputError(f"{workflow.name} has a task of {widest} cores", where=where or str(how), hint=hint)
    made = _WAYS[how.name](workflow, how)
    condition = COMPLETED if how.failure == "fail" else ENDED
    return replace(made, condition=condition, ready=how.ready, retries=how.retries)


def _pilot(workflow: Workflow, how: Handling) -> Submission:
    """One job for all, from the first start to the last end."""
    if how.cores is None or how.cores >= workflow.width:
        cores, begin, runtime, limit = workflow.width, workflow.begin, workflow.critical_path, workflow.limit
    else:
        cores = how.cores
        begin, runtime = _inside(workflow, cores, how)
        limit = _inside(_until_limits(workflow), cores, how)[1]
    job = WorkflowJob(workflow.name, cores, runtime, limit)
    return Submission(workflow, str(how), (job,), (0,) * len(workflow), begin)


def _chained(workflow: Workflow, how: Handling) -> Submission:
    """One job for each task."""
    jobs = tuple(
        WorkflowJob(f"{workflow.name}:{task.id}", task.cores, task.runtime, task.limit, after)
        for task, after in zip(workflow.tasks, workflow.after, strict=True)
    )
    whole = how.name == "aware"
    return Submission(workflow, str(how), jobs, tuple(range(len(jobs))), (0.0,) * len(jobs), whole)


def _clustered(workflow: Workflow, how: Handling) -> Submission:
    return _levels(workflow, how) if how.levels else _branches(workflow, how)


def _levels(workflow: Workflow, how: Handling) -> Submission:
    """One job for each level: its tasks side by side, as far as there are cores."""
    begin = [0.0] * len(workflow)
    jobs: list[WorkflowJob] = []
    places: list[list[int]] = [[] for _ in range(max(workflow.level) + 1)]
    for place, level in enumerate(workflow.level):
        places[level].append(place)
    for level, members in enumerate(places):
        tasks = [workflow.tasks[place] for place in members]
        cores = sum(task.cores for task in tasks)
        runtime, limit = max(task.runtime for task in tasks), max(task.limit for task in tasks)
        if how.cores is not None and cores > how.cores:
            beside = Workflow(workflow.name, tuple(replace(task, after=(), data={}) for task in tasks))
            cores = how.cores
            when, runtime = _inside(beside, cores, how)
            limit = _inside(_until_limits(beside), cores, how)[1]
            for place, seconds in zip(members, when, strict=True):
                begin[place] = seconds
        after = (level - 1,) if level else ()
        jobs.append(WorkflowJob(f"{workflow.name}:level {level}", cores, runtime, limit, after))
    return Submission(workflow, str(how), tuple(jobs), workflow.level, tuple(begin))


def _branches(workflow: Workflow, how: Handling) -> Submission:
    """One job for each chain of tasks that nobody else waits for in between, one after the other."""
    children = [0] * len(workflow)
    for before in workflow.after:
        for place in before:
            children[place] += 1
    job_of: list[int] = []
    begin: list[float] = []
    chains: list[list[Task]] = []
    after: list[tuple[int, ...]] = []
    for task, before in zip(workflow.tasks, workflow.after, strict=True):
        if len(before) == 1 and children[before[0]] == 1:
            job = job_of[before[0]]
            begin.append(begin[before[0]] + workflow.tasks[before[0]].runtime)
            chains[job].append(task)
        else:
            job = len(chains)
            begin.append(0.0)
            chains.append([task])
            after.append(tuple(dict.fromkeys(job_of[place] for place in before)))
        job_of.append(job)
    jobs = tuple(_chain(workflow.name, tasks, before) for tasks, before in zip(chains, after, strict=True))
    return Submission(workflow, str(how), jobs, tuple(job_of), tuple(begin))


def _chain(name: str, tasks: Sequence[Task], after: tuple[int, ...]) -> WorkflowJob:
    called = tasks[0].id if len(tasks) == 1 else f"{tasks[0].id}..{tasks[-1].id}"
    runtime, limit = sum(task.runtime for task in tasks), sum(task.limit for task in tasks)
    return WorkflowJob(f"{name}:{called}", max(task.cores for task in tasks), runtime, limit, after)


def _inside(workflow: Workflow, cores: int, how: Handling) -> tuple[tuple[float, ...], float]:
    """When each task begins in an allocation of so many cores, and when the last one is over."""
    from schedlab.workflow.list_schedulers import schedule_on

    begin = schedule_on(workflow, cores) if how.method is None else schedule_on(workflow, cores, how.method)
    return begin, max(when + task.runtime for when, task in zip(begin, workflow.tasks, strict=True))


def _until_limits(workflow: Workflow) -> Workflow:
    return Workflow(workflow.name, tuple(replace(task, runtime=task.limit) for task in workflow.tasks))


_WAYS: dict[str, Callable[[Workflow, Handling], Submission]] = {
    "pilot": _pilot,
    "chained": _chained,
    "aware": _chained,
    "clustered": _clustered,
}

"""A workflow: tasks that wait for each other, and the jobs that they are submitted as."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from schedlab.model.arguments import check_arguments, check_each
from schedlab.model.errors import InputError
from schedlab.model.mistakes import printable, raise_first
from schedlab.model.predecessors import COMPLETED


@dataclass(frozen=True, slots=True)
class Task:
    """A part of a workflow that runs by itself, as soon as the tasks that it comes after have completed."""

    id: str
    cores: int
    runtime: float
    limit: float
    after: tuple[str, ...] = ()  # ids of tasks
    name: str = ""  # what it does: mProject, fastqc
    data: Mapping[str, float] = field(default_factory=dict)  # bytes that it takes from each of those, where known


@dataclass(frozen=True)
class Workflow:
    """Tasks in an order in which each comes after those that it waits for; `Workflow.of` takes them in any order."""

    name: str
    tasks: tuple[Task, ...]
    notes: tuple[str, ...] = field(default=(), compare=False)  # what was noticed when it was read

    @classmethod
    def of(cls, name: str, tasks: list[Task], where: str = "", at: Callable[[int], str] | None = None) -> Workflow:
        """Refuses, all at once and by their ids: cycles, unknown and doubled tasks, impossible sizes and times.

        `where` they are from, and where a task is of which the position is given, if that is known.
        """
        check_each(tasks, Task, "tasks", where or name)
        check_arguments("str", name=name)
        where = where or name
        places = at or (lambda _: where)
        mistakes = [*_wrong_tasks(tasks, where, places), *_wrong_parents(tasks, places)]
        raise_first(mistakes, where)
        return cls(name, _sorted(tasks, where))

    def __len__(self) -> int:
        return len(self.tasks)

    @cached_property
    def position(self) -> dict[str, int]:
        """Of each task, by its id."""
        return {task.id: place for place, task in enumerate(self.tasks)}

    @cached_property
    def after(self) -> tuple[tuple[int, ...], ...]:
        """Of each task: the positions of those that it waits for."""
        return tuple(tuple(self.position[parent] for parent in task.after) for task in self.tasks)

    @cached_property
    def before(self) -> tuple[tuple[int, ...], ...]:
        """Of each task: the positions of those that wait for it."""
        found: list[list[int]] = [[] for _ in self.tasks]
        for place, parents in enumerate(self.after):
            for parent in parents:
                found[parent].append(place)
        return tuple(map(tuple, found))

    @cached_property
    def level(self) -> tuple[int, ...]:
        """Of each task: how many tasks are before it, on the longest way from a task that waits for nobody."""
        found: list[int] = []
        for before in self.after:
            found.append(max((found[place] + 1 for place in before), default=0))
        return tuple(found)

    @cached_property
    def begin(self) -> tuple[float, ...]:
        """When each task could start at the earliest, counted from the first start, if cores were without limit."""
        return self._earliest([task.runtime for task in self.tasks])

    @cached_property
    def critical_path(self) -> float:
        """Seconds that the workflow takes if every task starts at once when it may."""
        return max(begin + task.runtime for begin, task in zip(self.begin, self.tasks, strict=True))

    @cached_property
    def limit(self) -> float:
        """The same if every task ran until its limit."""
        begin = self._earliest([task.limit for task in self.tasks])
        return max(when + task.limit for when, task in zip(begin, self.tasks, strict=True))

    @cached_property
    def width(self) -> int:
        """The most cores that are in use at once if every task starts as soon as it may."""
        running = [(when, task) for when, task in zip(self.begin, self.tasks, strict=True) if task.runtime > 0]
        changes = [(when, task.cores) for when, task in running]
        changes += [(when + task.runtime, -task.cores) for when, task in running]
        most = used = 0
        for _, cores in sorted(changes):  # who ends makes room for who starts at the same time
            used += cores
            most = max(most, used)
        return max(most, *(task.cores for task in self.tasks))

    @cached_property
    def work(self) -> float:
        """Core-seconds that its tasks use."""
        return math.fsum(task.cores * task.runtime for task in self.tasks)

    def _earliest(self, seconds: list[float]) -> tuple[float, ...]:
        begin: list[float] = []
        for before in self.after:
            begin.append(max((begin[place] + seconds[place] for place in before), default=0.0))
        return tuple(begin)


@dataclass(frozen=True, slots=True)
class WorkflowJob:
    """A job that tasks of a workflow run in."""

    name: str
    cores: int
    runtime: float
    limit: float
    after: tuple[int, ...] = ()  # positions of the jobs that it waits for


@dataclass(frozen=True, slots=True)
class Submission:
    """How a workflow is submitted: as which jobs, and where in them its tasks run."""

    workflow: Workflow
    handling: str  # as it is written: pilot, chained, aware …
    jobs: tuple[WorkflowJob, ...]  # in an order in which each comes after those that it waits for
    job_of: tuple[int, ...]  # of each task: the position of its job
    begin: tuple[float, ...]  # of each task: seconds after the start of that job
    whole: bool = False  # its jobs are ranked in queues as one job of the workflow's width and limit would be
    condition: int = COMPLETED  # what has to become of the jobs that others come after; of predecessors.CONDITIONS
    ready: bool = False  # each job is submitted only when those that it comes after have ended so
    retries: int = 0  # how often a job that fails is submitted again, where that is so

    @property
    def ids(self) -> int:
        """How many ids its jobs take, with all attempts that there may be."""
        return len(self.jobs) * (1 + self.retries)


def _wrong_tasks(tasks: list[Task], where: str, at: Callable[[int], str]) -> list[InputError]:
    found = [] if tasks else [InputError("there are no tasks", where=where)]
    seen: set[str] = set()
    own = "give each an id of its own"
    for number, task in enumerate(tasks):
        if not task.id:
            found.append(InputError(f"task {number + 1} has no id", where=at(number), hint=own))
        elif task.id in seen:
            found.append(InputError(f"two tasks have the id {_shown(task)}", where=at(number), hint=own))
        seen.add(task.id)
        if task.cores < 1:
            message = f"task {_shown(task)} has {task.cores} cores, expected at least 1"
            found.append(InputError(message, where=at(number)))
        for seconds, what in {task.limit: "limit", task.runtime: "runtime"}.items():  # told once if they are the same
            if not 0 <= seconds < math.inf:
                message = f"task {_shown(task)} has a {what} of {seconds:g} s, expected 0 or more"
                found.append(InputError(message, where=at(number)))
    return found


def _wrong_parents(tasks: list[Task], at: Callable[[int], str]) -> list[InputError]:
    known = {task.id for task in tasks}
    found = []
    for number, task in enumerate(tasks):
        for parent in task.after:
            if parent not in known:
                message = f"task {_shown(task)} comes after {printable(str(parent), 60)}, which does not exist"
                found.append(InputError(message, where=at(number)))
        if len(set(task.after)) < len(task.after):
            message = f"task {_shown(task)} names a task twice in what it comes after"
            found.append(InputError(message, where=at(number)))
    return found


def _shown(task: Task) -> str:
    return printable(task.id, 60)


def _sorted(tasks: list[Task], where: str) -> tuple[Task, ...]:
    """Each after those that it waits for; otherwise in the given order."""
    place = {task.id: number for number, task in enumerate(tasks)}
    children: list[list[int]] = [[] for _ in tasks]
    missing = [len(task.after) for task in tasks]
    for number, task in enumerate(tasks):
        for parent in task.after:
            children[place[parent]].append(number)
    ready = [number for number, count in enumerate(missing) if not count]
    order: list[int] = []
    for number in ready:  # grows while it is read
        order.append(number)
        for child in children[number]:
            missing[child] -= 1
            if not missing[child]:
                ready.append(child)
    if len(order) < len(tasks):
        raise InputError(f"tasks wait for each other in a circle: {_circle(tasks, missing)}", where=where)
    return tuple(tasks[number] for number in order)


def _circle(tasks: list[Task], missing: list[int]) -> str:
    """One of them, by ids: a -> b -> a."""
    left = {task.id: task for task, count in zip(tasks, missing, strict=True) if count}
    way: dict[str, None] = {}
    each = next(iter(left))
    while each not in way:
        way[each] = None
        each = next(parent for parent in left[each].after if parent in left)
    passed = list(way)
    circle = [printable(id, 60) for id in [*passed[passed.index(each) :], each]]
    shown = circle if len(circle) <= 12 else [*circle[:6], "…", *circle[-5:]]
    return " -> ".join(reversed(shown))

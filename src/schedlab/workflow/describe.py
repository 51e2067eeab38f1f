"""What is in a workflow, in numbers: as a whole, and by level and name of its tasks."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from schedlab.model.workflow import Workflow


@dataclass(frozen=True, slots=True)
class Group:
    """The tasks of one level and name."""

    level: int
    name: str  # the id of a task that has none
    tasks: int
    cores: int  # of all of them
    runtime_mean: float
    runtime_max: float
    work: float  # core-seconds


@dataclass(frozen=True, slots=True)
class Description:
    name: str
    tasks: int
    edges: int
    levels: int
    width: int
    critical_path: float
    limit: float
    work: float
    data: float  # bytes from task to task
    groups: tuple[Group, ...]
    notes: tuple[str, ...]

    @property
    def largest(self) -> Group:
        """The one with the most cores."""
        return max(self.groups, key=lambda group: group.cores)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"largest": asdict(self.largest)}


def describe_workflow(workflow: Workflow) -> Description:
    return Description(
        name=workflow.name,
        tasks=len(workflow),
        edges=sum(len(task.after) for task in workflow.tasks),
        levels=max(workflow.level) + 1,
        width=workflow.width,
        critical_path=workflow.critical_path,
        limit=workflow.limit,
        work=workflow.work,
        data=sum(sum(task.data.values()) for task in workflow.tasks),
        groups=_groups(workflow),
        notes=workflow.notes,
    )


def _groups(workflow: Workflow) -> tuple[Group, ...]:
    found: dict[tuple[int, str], list[int]] = {}
    for place, task in enumerate(workflow.tasks):
        found.setdefault((workflow.level[place], task.name or task.id), []).append(place)
    groups = []
    for (level, name), places in sorted(found.items(), key=lambda item: (item[0][0], item[1][0])):
        tasks = [workflow.tasks[place] for place in places]
        runtimes = [task.runtime for task in tasks]
        cores, work = sum(task.cores for task in tasks), sum(task.cores * task.runtime for task in tasks)
        groups.append(Group(level, name, len(tasks), cores, sum(runtimes) / len(tasks), max(runtimes), work))
    return tuple(groups)

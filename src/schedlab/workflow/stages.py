"""Tasks of a workflow grouped into stages: those of one name on one level become one task that takes more cores."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from schedlab.model.errors import InputError
from schedlab.model.suggest import did_you_mean
from schedlab.model.workflow import Task, Workflow
from schedlab.workflow.list_schedulers import makespan, run_list

RULES = ("list", "waves")


@dataclass
class _Stage:
    name: str
    cores: int
    runtime: float
    after: dict[int, float]  # numbers of stages, with the bytes from each


def stages(
    workflow: Workflow,
    cap: int = 960,
    names: Collection[str] | Mapping[str, int] | None = None,
    *,
    rule: str = "list",
    slack: float = 60.0,
) -> Workflow:
    """The tasks of one level and name as one, on at most `cap` cores (0: without a cap; or as `names` say it of each).
    Only tasks of these `names` are grouped, or all of which there are several. Two stages of equal cores, of which one
    is all that the other waits for or is awaited by, become one. Limits are `slack` seconds longer than run times.

    list    cores as the tasks need together, or the cap; run time as they take on these in their order
    waves   ScSF's: as many cores as whole tasks fit below the cap, even if there are fewer tasks; the mean run time for
            every wave of tasks that fits at once
    """
    _check(workflow, cap, names, rule)
    found: list[_Stage] = []
    stage_of: dict[int, int] = {}
    for number, (name, places) in enumerate(_groups(workflow, names)):
        stage_of |= dict.fromkeys(places, number)
        tasks = [workflow.tasks[place] for place in places]
        most = names.get(name, cap) if isinstance(names, Mapping) else cap
        alone = len(tasks) == 1 and (names is None or name not in names)
        cores, runtime = (tasks[0].cores, tasks[0].runtime) if alone else _size(tasks, most, rule)
        found.append(_Stage(name or tasks[0].id, cores, runtime, {}))
    for place, task in enumerate(workflow.tasks):
        after = found[stage_of[place]].after
        for parent, id in zip(workflow.after[place], task.after, strict=True):
            after[stage_of[parent]] = after.get(stage_of[parent], 0.0) + task.data.get(id, 0.0)
    return _joined(workflow, found, slack)


def _check(workflow: Workflow, cap: int, names: Collection[str] | None, rule: str) -> None:
    if rule not in RULES:
        hint = did_you_mean(rule, RULES, f"there are {', '.join(RULES)}")
        raise InputError(f"there is no rule '{rule}' for stages", hint=hint)
    if cap < 0 or (isinstance(names, Mapping) and any(most < 0 for most in names.values())):
        raise InputError("a cap on cores cannot be negative", hint="0 is for none")
    known = {task.name for task in workflow.tasks if task.name}
    for name in names or ():
        if name not in known:
            hint = did_you_mean(name, known, f"there are {', '.join(sorted(known)) or 'none with names'}")
            raise InputError(f"no task is called '{name}'", where=workflow.name, hint=hint)


def _groups(workflow: Workflow, names: Collection[str] | None) -> list[tuple[str, list[int]]]:
    """Name and positions of tasks; by level, then in the order of the tasks."""
    found: dict[tuple[int, str, int], list[int]] = {}
    for place, task in enumerate(workflow.tasks):
        together = bool(task.name) and (names is None or task.name in names)
        key = (workflow.level[place], task.name, -1 if together else place)
        found.setdefault(key, []).append(place)
    ordered = sorted(found.items(), key=lambda item: (item[0][0], item[1][0]))
    return [(name, places) for (_, name, _), places in ordered]


def _size(tasks: Sequence[Task], cap: int, rule: str) -> tuple[int, float]:
    """Cores and run time of tasks that become one."""
    needed = sum(task.cores for task in tasks)
    if not cap:
        return needed, max(task.runtime for task in tasks)
    if rule == "waves":
        each = needed // len(tasks)
        at_once = max(cap // each, 1)
        return at_once * each, math.ceil(len(tasks) / at_once) * sum(task.runtime for task in tasks) / len(tasks)
    cores = max(min(cap, needed), *(task.cores for task in tasks))
    free = Workflow("", tuple(Task(str(place), task.cores, task.runtime, 0.0) for place, task in enumerate(tasks)))
    return cores, makespan(free, run_list(free, cores, ((),) * len(tasks), range(len(tasks))))


def _joined(workflow: Workflow, found: list[_Stage], slack: float) -> Workflow:
    """Sequences of equal cores made one, and the stages numbered."""
    children: list[list[int]] = [[] for _ in found]
    for number, stage in enumerate(found):
        for parent in stage.after:
            children[parent].append(number)
    head = list(range(len(found)))  # of each stage: the one that it has become a part of
    for number, stage in enumerate(found):  # parents come first: levels are in order
        if len(stage.after) != 1:
            continue
        parent = next(iter(stage.after))
        first = found[head[parent]]
        if len(children[parent]) == 1 and first.cores == stage.cores:
            head[number] = head[parent]
            first.name += f"+{stage.name}"
            first.runtime += stage.runtime
    kept = [number for number in range(len(found)) if head[number] == number]
    ids = {number: f"S{place}" for place, number in enumerate(kept)}
    tasks = []
    for number in kept:
        stage = found[number]
        data = {ids[head[parent]]: size for parent, size in sorted(stage.after.items())}
        given = {id: size for id, size in data.items() if size}
        limit = stage.runtime + slack
        tasks.append(Task(ids[number], stage.cores, stage.runtime, limit, tuple(data), stage.name, given))
    return Workflow.of(workflow.name, tasks)

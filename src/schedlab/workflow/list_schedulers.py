"""One workflow on the identical cores of one allocation: when does each task begin?

heft            tasks by upward rank, each at the earliest time at which it fits, also before others that are placed
critical-path   whenever cores are free, the task of the highest upward rank that fits begins
min-min         of the tasks that may be placed, always the one that would end first

The upward rank of a task is the longest way from its begin to the end of the workflow: run times and transfers. Ties
go to the task that comes first. Heterogeneous Earliest Finish Time: Topcuoglu, Hariri, Wu, IEEE TPDS 13(3), 2002.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import count

from schedlab.model.errors import InputError
from schedlab.model.suggest import did_you_mean
from schedlab.model.workflow import Workflow
from schedlab.workflow.core_profile import CoreProfile
from schedlab.workflow.files import named_ids
from schedlab.workflow.min_min import min_min

Delays = tuple[tuple[float, ...], ...]  # of each task: seconds from the end of each that it comes after


def schedule_on(
    workflow: Workflow, cores: int, method: str = "heft", bandwidth: float | None = None
) -> tuple[float, ...]:
    """The begin of each task in seconds. With a bandwidth (bytes a second), a task begins no earlier than the data of
    each that it comes after have arrived; all transfers go on at once."""
    if method not in METHODS:
        hint = did_you_mean(method, METHODS, f"there are {', '.join(METHODS)}")
        raise InputError(f"there is no list scheduler '{method}'", hint=hint)
    if bandwidth is not None and not bandwidth > 0:
        raise InputError(f"a bandwidth of {bandwidth:g} bytes a second moves nothing", hint="give more than 0")
    wide = [task.id for task in workflow.tasks if task.cores > cores]
    if wide:
        widest = max(task.cores for task in workflow.tasks)
        hint = f"give at least {widest:,} cores"
        raise InputError(f"{cores:,} cores are too few for {named_ids(wide)}", where=workflow.name, hint=hint)
    return METHODS[method](workflow, cores, delays_of(workflow, bandwidth))


def makespan(workflow: Workflow, begin: Sequence[float]) -> float:
    return max(when + task.runtime for when, task in zip(begin, workflow.tasks, strict=True))


def delays_of(workflow: Workflow, bandwidth: float | None) -> Delays:
    if bandwidth is None:
        return tuple((0.0,) * len(parents) for parents in workflow.after)
    return tuple(tuple(task.data.get(id, 0.0) / bandwidth for id in task.after) for task in workflow.tasks)


def upward_ranks(after: Sequence[Sequence[int]], seconds: Sequence[float], delays: Delays) -> list[float]:
    """Of tasks in an order in which each comes after those that it waits for."""
    rest = [0.0] * len(seconds)  # from the end of the task
    ranks = [0.0] * len(seconds)
    for place in reversed(range(len(seconds))):
        ranks[place] = seconds[place] + rest[place]
        for parent, delay in zip(after[place], delays[place], strict=True):
            rest[parent] = max(rest[parent], delay + ranks[place])
    return ranks


def _heft(workflow: Workflow, cores: int, delays: Delays) -> tuple[float, ...]:
    runtimes = [task.runtime for task in workflow.tasks]
    ranks = upward_ranks(workflow.after, runtimes, delays)
    profile = CoreProfile(cores)
    begin = [0.0] * len(runtimes)
    for place in sorted(range(len(runtimes)), key=lambda place: -ranks[place]):
        ways = zip(workflow.after[place], delays[place], strict=True)
        ready = max((begin[parent] + runtimes[parent] + delay for parent, delay in ways), default=0.0)
        begin[place] = profile.take(ready, workflow.tasks[place].cores, runtimes[place])
    return tuple(begin)


def _critical_path(workflow: Workflow, cores: int, delays: Delays) -> tuple[float, ...]:
    ranks = upward_ranks(workflow.after, [task.runtime for task in workflow.tasks], delays)
    return run_list(workflow, cores, delays, [-rank for rank in ranks])


def run_list(workflow: Workflow, cores: int, delays: Delays, keys: Sequence[float]) -> tuple[float, ...]:
    """Whenever cores are free, the ready task of the lowest key that fits begins."""
    tasks = workflow.tasks
    begin = [0.0] * len(tasks)
    missing = [len(parents) for parents in workflow.after]
    ready_at = [0.0] * len(tasks)
    delay_to = [dict(zip(parents, waits, strict=True)) for parents, waits in zip(workflow.after, delays, strict=True)]
    ready: dict[int, list[tuple[float, int]]] = {task.cores: [] for task in tasks}  # by width: key and position
    widths = sorted(ready)
    events: list[tuple[float, int, int, bool]] = []  # time, number, position, whether the task ends (or gets ready)
    number = count()
    for place, left in enumerate(missing):
        if not left:
            heappush(ready[tasks[place].cores], (keys[place], place))
    now, free = 0.0, cores
    while True:
        fitting = [ready[width] for width in widths if width <= free and ready[width]]
        if fitting:
            _, place = heappop(min(fitting, key=lambda heap: heap[0]))
            begin[place] = now
            free -= tasks[place].cores
            heappush(events, (now + tasks[place].runtime, next(number), place, True))
            continue
        if not events:
            return tuple(begin)
        now = events[0][0]
        while events and events[0][0] == now:
            _, _, place, ends = heappop(events)
            if not ends:
                heappush(ready[tasks[place].cores], (keys[place], place))
                continue
            free += tasks[place].cores
            for child in workflow.before[place]:
                ready_at[child] = max(ready_at[child], now + delay_to[child][place])
                missing[child] -= 1
                if not missing[child]:
                    heappush(events, (ready_at[child], next(number), child, False))


METHODS: dict[str, Callable[[Workflow, int, Delays], tuple[float, ...]]] = {
    "heft": _heft,
    "min-min": min_min,
    "critical-path": _critical_path,
}

"""Min-min for tasks that need several of some identical cores: of those that may be placed, always the one that would
end first. Tasks are placed behind each other on cores, never before one that is placed."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from heapq import heappop, heappush

from schedlab.model.workflow import Workflow


def min_min(workflow: Workflow, cores: int, delays: Sequence[Sequence[float]]) -> tuple[float, ...]:
    tasks = workflow.tasks
    begin = [0.0] * len(tasks)
    ready = [0.0] * len(tasks)
    missing = [len(parents) for parents in workflow.after]
    delay_to = [dict(zip(parents, waits, strict=True)) for parents, waits in zip(workflow.after, delays, strict=True)]
    free = _FreeFrom(cores)
    waiting = {task.cores: _Waiting() for task in tasks}
    for place, left in enumerate(missing):
        if not left:
            waiting[tasks[place].cores].add(place, 0.0, tasks[place].runtime)
    for _ in tasks:
        _, place, width = min((*some.first_end(free.earliest(width)), width) for width, some in waiting.items() if some)
        waiting[width].remove(place)
        begin[place] = max(ready[place], free.earliest(width))
        end = begin[place] + tasks[place].runtime
        free.take(begin[place], end, width)
        for child in workflow.before[place]:
            ready[child] = max(ready[child], end + delay_to[child][place])
            missing[child] -= 1
            if not missing[child]:
                waiting[tasks[child].cores].add(child, ready[child], tasks[child].runtime)
    return tuple(begin)


class _FreeFrom:
    """From when on each core is free: times in order, with how many cores each."""

    def __init__(self, cores: int) -> None:
        self._steps: list[tuple[float, int]] = [(0.0, cores)]

    def earliest(self, width: int) -> float:
        """From when on so many are; it never gets earlier."""
        for time, cores in self._steps:
            width -= cores
            if width <= 0:
                return time
        raise AssertionError("more cores than there are")

    def take(self, begin: float, end: float, width: int) -> None:
        """Of those that are free at `begin`, the ones that have been so for the shortest time."""
        place = bisect_right(self._steps, (begin, float("inf")))
        left = width
        while left:
            place -= 1
            time, cores = self._steps[place]
            if cores <= left:
                del self._steps[place]
            else:
                self._steps[place] = time, cores - left
            left -= min(cores, left)
        insort(self._steps, (end, width))


class _Waiting:
    """The tasks of one width that may be placed. Cores are free from a time on that never gets earlier: tasks that are
    ready by then end in the order of their run times, the later ones in that of their own ends."""

    def __init__(self) -> None:
        self._ready: list[tuple[float, int]] = []  # run time and position
        self._later: set[int] = set()
        self._by_end: list[tuple[float, int]] = []  # also of some that are not later any more
        self._by_time: list[tuple[float, int, float]] = []  # likewise: when they are ready, position, run time

    def __bool__(self) -> bool:
        return bool(self._ready or self._later)

    def add(self, place: int, ready: float, runtime: float) -> None:
        self._later.add(place)
        heappush(self._by_end, (ready + runtime, place))
        heappush(self._by_time, (ready, place, runtime))

    def first_end(self, free: float) -> tuple[float, int]:
        """When the first would end if it were placed now, and its position. There is one."""
        while self._by_time and self._by_time[0][0] <= free:
            _, place, runtime = heappop(self._by_time)
            if place in self._later:
                self._later.remove(place)
                heappush(self._ready, (runtime, place))
        while self._by_end and self._by_end[0][1] not in self._later:
            heappop(self._by_end)
        return min([(free + runtime, place) for runtime, place in self._ready[:1]] + self._by_end[:1])

    def remove(self, place: int) -> None:
        """The one that `first_end` has named."""
        if place in self._later:
            self._later.remove(place)
        else:
            heappop(self._ready)

"""One workflow on processors that differ: each runs one task at a time, and data move between different ones."""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import NamedTuple

from schedlab.model.errors import InputError
from schedlab.model.workflow import Workflow
from schedlab.workflow.list_schedulers import METHODS, Delays, upward_ranks


class Placed(NamedTuple):
    processor: int
    begin: float
    end: float


def schedule_on_processors(
    workflow: Workflow,
    costs: Mapping[str, Sequence[float]],
    transfers: Mapping[tuple[str, str], float] | None = None,
    method: str = "heft",
) -> tuple[Placed, ...]:
    """Where and when each task runs. `costs` are the seconds of a task on each processor, `transfers` those from one
    task to another if they run on different ones; ranks are by their means over processors, as HEFT's paper has them.

    heft places a task also before others that are placed on a processor; critical-path, in the same order, and min-min
    only behind them.
    """
    seconds = [_seconds(costs, task.id) for task in workflow.tasks]
    processors = len(seconds[0])
    if method not in METHODS or any(len(row) != processors or not row for row in seconds):
        raise InputError(
            f"'{method}' with {processors} processors cannot be planned",
            hint=f"methods are {', '.join(METHODS)}; every task has a cost for each processor",
        )
    moves = transfers or {}
    delays: Delays = tuple(tuple(moves.get((id, task.id), 0.0) for id in task.after) for task in workflow.tasks)
    plan = _Plan(workflow, seconds, delays, [[] for _ in range(processors)], insert=method == "heft")
    if method == "min-min":
        plan.place_by_min_min()
    else:
        ranks = upward_ranks(workflow.after, [fmean(row) for row in seconds], delays)
        for place in sorted(range(len(ranks)), key=lambda place: -ranks[place]):
            plan.place(place)
    return tuple(plan.placed[place] for place in range(len(workflow)))


def _seconds(costs: Mapping[str, Sequence[float]], id: str) -> Sequence[float]:
    if id not in costs:
        raise InputError(f"no costs are given for task {id}", hint="give the seconds of every task on each processor")
    return costs[id]


@dataclass
class _Plan:
    workflow: Workflow
    seconds: list[Sequence[float]]
    delays: Delays
    busy: list[list[tuple[float, float]]]  # of each processor, in order: from when to when
    insert: bool
    placed: dict[int, Placed] = field(default_factory=dict)

    def best(self, place: int) -> Placed:
        """Where it would end first; on the first such processor."""
        found = [self._on(place, processor) for processor in range(len(self.busy))]
        return min(found, key=lambda one: one.end)

    def place(self, place: int, where: Placed | None = None) -> None:
        where = where or self.best(place)
        self.placed[place] = where
        insort(self.busy[where.processor], (where.begin, where.end))

    def place_by_min_min(self) -> None:
        missing = [len(parents) for parents in self.workflow.after]
        ready = {place: None for place, left in enumerate(missing) if not left}
        while ready:
            best = {place: self.best(place) for place in ready}
            place = min(best, key=lambda place: (best[place].end, place))
            self.place(place, best[place])
            del ready[place]
            for child in self.workflow.before[place]:
                missing[child] -= 1
                if not missing[child]:
                    ready[child] = None

    def _on(self, place: int, processor: int) -> Placed:
        begin = 0.0
        for parent, delay in zip(self.workflow.after[place], self.delays[place], strict=True):
            there = self.placed[parent]
            begin = max(begin, there.end + (delay if there.processor != processor else 0.0))
        seconds, busy = self.seconds[place][processor], self.busy[processor]
        for start, end in busy if self.insert else busy[-1:]:
            if self.insert and begin + seconds <= start:
                break
            begin = max(begin, end)
        return Placed(processor, begin, begin + seconds)

"""Plans of random small workflows: nothing is broken, bounds hold, and no plan is better than the best there is."""

from __future__ import annotations

from itertools import permutations
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.model.workflow import Task, Workflow
from schedlab.workflow.list_schedulers import METHODS, delays_of, makespan, schedule_on

BANDWIDTH = 4.0


@st.composite
def workflows(draw: st.DrawFn, most: int = 12, widest: int = 4, shortest: int = 0) -> Workflow:
    tasks: list[Task] = []
    for number in range(draw(st.integers(1, most))):
        parents = draw(st.lists(st.integers(0, number - 1), max_size=3, unique=True)) if number else []
        after = tuple(str(parent) for parent in parents)
        data = {id: float(draw(st.integers(0, 3)) * 8) for id in after}
        runtime = float(draw(st.integers(shortest, 9)))
        tasks.append(Task(str(number), draw(st.integers(1, widest)), runtime, runtime, after, data=data))
    return Workflow.of("random", tasks)


def used(workflow: Workflow, begin: tuple[float, ...], time: float) -> int:
    spans = zip(begin, workflow.tasks, strict=True)
    return sum(task.cores for when, task in spans if when <= time < when + task.runtime)


@given(workflows(), st.integers(4, 9), st.sampled_from(list(METHODS)), st.booleans())
@settings(max_examples=200)
def test_nothing_is_broken_and_bounds_hold(workflow: Workflow, cores: int, method: str, moves: bool) -> None:
    bandwidth = BANDWIDTH if moves else None
    begin = schedule_on(workflow, cores, method, bandwidth)
    delays = delays_of(workflow, bandwidth)
    for place, parents in enumerate(workflow.after):
        for parent, delay in zip(parents, delays[place], strict=True):
            assert begin[place] >= begin[parent] + workflow.tasks[parent].runtime + delay
    assert all(used(workflow, begin, time) <= cores for time in begin)
    assert makespan(workflow, begin) >= max(workflow.critical_path, workflow.work / cores)
    if cores >= sum(task.cores for task in workflow.tasks) and not moves:
        assert begin == workflow.begin
    with patch("schedlab.workflow.core_profile._CHUNK", 2):  # however many steps are looked at together
        assert begin == schedule_on(workflow, cores, method, bandwidth)


@given(workflows(widest=1), st.sampled_from(list(METHODS)))
@settings(max_examples=50)
def test_one_core_is_never_idle(workflow: Workflow, method: str) -> None:
    assert makespan(workflow, schedule_on(workflow, 1, method)) == workflow.work


@given(workflows(most=5, shortest=1), st.integers(4, 5), st.booleans())
@settings(max_examples=40)
def test_the_best_plan_is_never_beaten(workflow: Workflow, cores: int, moves: bool) -> None:
    bandwidth = BANDWIDTH if moves else None
    best = _shortest(workflow, cores, bandwidth)
    found = [makespan(workflow, schedule_on(workflow, cores, method, bandwidth)) for method in METHODS]
    assert min(found) >= best
    if len(workflow) == 1:
        assert found == [best] * len(METHODS)


def _shortest(workflow: Workflow, cores: int, bandwidth: float | None) -> float:
    """Over all orders in which tasks can begin: each as early as it can, no earlier than the one before it."""
    delays = delays_of(workflow, bandwidth)
    best = float("inf")
    for order in permutations(range(len(workflow))):
        begin: dict[int, float] = {}
        now = 0.0
        for place in order:
            if any(parent not in begin for parent in workflow.after[place]):
                break
            ways = zip(workflow.after[place], delays[place], strict=True)
            now = max([now, *(begin[parent] + workflow.tasks[parent].runtime + wait for parent, wait in ways)])
            ends = sorted(begin[other] + workflow.tasks[other].runtime for other in begin)
            now = next(
                time
                for time in [now, *(end for end in ends if end > now)]
                if _fits(workflow, begin, place, time, cores)
            )
            begin[place] = now
        else:
            best = min(best, makespan(workflow, tuple(begin[place] for place in range(len(workflow)))))
    return best


def _fits(workflow: Workflow, begin: dict[int, float], place: int, time: float, cores: int) -> bool:
    """All others began before, so that fewer cores are in use later."""
    running = sum(
        workflow.tasks[other].cores
        for other, when in begin.items()
        if when <= time < when + workflow.tasks[other].runtime
    )
    return running + workflow.tasks[place].cores <= cores

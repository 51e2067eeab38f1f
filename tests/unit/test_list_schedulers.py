"""List schedulers: the graph of HEFT's paper, and small plans by hand."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from schedlab.model.errors import InputError
from schedlab.model.workflow import Task, Workflow
from schedlab.workflow.list_schedulers import METHODS, delays_of, makespan, schedule_on, upward_ranks
from schedlab.workflow.processors import Placed, schedule_on_processors
from schedlab.workflow.read import read_workflow

# Topcuoglu, Hariri, Wu, IEEE TPDS 13(3), 2002: seconds on each of three processors, and of transfers.
SECONDS = [(14, 16, 9), (13, 19, 18), (11, 13, 19), (13, 8, 17), (12, 13, 10), (13, 16, 9), (7, 15, 11), (5, 11, 14)]
SECONDS += [(18, 12, 20), (21, 7, 16)]
COSTS = dict(enumerate(SECONDS, start=1))
EDGES = [
    (1, 2),
    (1, 3),
    (1, 4),
    (1, 5),
    (1, 6),
    (2, 8),
    (2, 9),
    (3, 7),
    (4, 8),
    (4, 9),
    (5, 9),
    (6, 8),
    (7, 10),
    (8, 10),
]
EDGES += [(9, 10)]
TRANSFERS = dict(zip(EDGES, (18, 12, 9, 11, 14, 19, 16, 23, 27, 23, 13, 15, 17, 11, 13), strict=True))
RANKS = [108.0, 77.0, 80.0, 80.0, 69.0, 63.333, 42.667, 35.667, 44.333, 14.667]  # of tasks 1 to 10, by mean costs


def named(number: int) -> str:
    return f"ID{number:05d}"


def paper() -> Workflow:
    after = {number: tuple(named(a) for a, b in TRANSFERS if b == number) for number in COSTS}
    return Workflow.of("HEFT", [Task(named(number), 1, 1, 1, after[number]) for number in COSTS])


def in_order(workflow: Workflow, values: tuple[Placed, ...]) -> dict[str, Placed]:
    return dict(zip((task.id for task in workflow.tasks), values, strict=True))


BY_ID = {named(number): costs for number, costs in COSTS.items()}
MOVES = {(named(a), named(b)): float(seconds) for (a, b), seconds in TRANSFERS.items()}


def test_the_ranks_of_hefts_paper() -> None:
    graph = paper()
    delays = tuple(tuple(MOVES[id, task.id] for id in task.after) for task in graph.tasks)
    found = upward_ranks(graph.after, [sum(BY_ID[task.id]) / 3 for task in graph.tasks], delays)
    by_id = dict(zip((task.id for task in graph.tasks), found, strict=True))
    assert [by_id[named(number)] for number in COSTS] == pytest.approx(RANKS, abs=0.001)


def test_the_makespan_of_hefts_paper() -> None:
    graph = paper()
    plan = in_order(graph, schedule_on_processors(graph, BY_ID, MOVES))
    assert max(placed.end for placed in plan.values()) == 80.0
    assert plan[named(9)] == Placed(1, 56.0, 68.0)
    assert plan[named(10)] == Placed(1, 73.0, 80.0)


@pytest.mark.traces
def test_the_same_graph_from_a_dax(traces: Path) -> None:
    graph = read_workflow(traces / "workflows" / "HEFT_paper.dax.xml.gz")
    moves = {(id, task.id): size / 125 for task in graph.tasks for id, size in task.data.items()}
    assert {edge for edge in MOVES if moves[edge] != MOVES[edge]} == {(named(3), named(7))}  # 20 in that file
    assert max(placed.end for placed in schedule_on_processors(graph, BY_ID, moves)) == 80.0


@pytest.mark.parametrize("method", METHODS)
def test_processors_run_one_task_at_a_time_and_wait_for_data(method: str) -> None:
    graph = paper()
    plan = in_order(graph, schedule_on_processors(graph, BY_ID, MOVES, method))
    for (parent, child), seconds in MOVES.items():
        moved = seconds if plan[parent].processor != plan[child].processor else 0.0
        assert plan[child].begin >= plan[parent].end + moved
    for processor in range(3):
        busy = sorted((placed.begin, placed.end) for placed in plan.values() if placed.processor == processor)
        assert all(first[1] <= second[0] for first, second in pairwise(busy))
    assert all(placed.end - placed.begin == BY_ID[id][placed.processor] for id, placed in plan.items())


def test_only_heft_fills_gaps_of_processors() -> None:
    """On the other processor b waits for its data until 6 s; c, which is ranked behind it, fits before that."""
    graph = Workflow.of("gap", [Task("a", 1, 1, 1), Task("b", 1, 1, 1, ("a",)), Task("c", 1, 1, 1)])
    costs = {"a": (1, 9), "b": (99, 10), "c": (99, 4)}
    moves = {("a", "b"): 5.0}
    begins = {
        method: in_order(graph, schedule_on_processors(graph, costs, moves, method))["c"].begin
        for method in ("heft", "critical-path")
    }
    assert begins == {"heft": 0.0, "critical-path": 16.0}


def tasks(*rows: tuple[str, int, float, str]) -> Workflow:
    return Workflow.of("small", [Task(id, cores, runtime, runtime, tuple(after)) for id, cores, runtime, after in rows])


def begins(workflow: Workflow, cores: int, method: str, bandwidth: float | None = None) -> dict[str, float]:
    found = schedule_on(workflow, cores, method, bandwidth)
    return dict(zip((task.id for task in workflow.tasks), found, strict=True))


def test_two_cores_by_hand() -> None:
    """A long chain a-b beside three short tasks. By rank the chain goes first; min-min lets the short ones go."""
    graph = tasks(("x", 1, 2, ""), ("y", 1, 2, ""), ("z", 1, 2, ""), ("a", 1, 3, ""), ("b", 1, 4, "a"))
    assert begins(graph, 2, "heft") == {"a": 0, "x": 0, "y": 2, "b": 3, "z": 4}
    assert begins(graph, 2, "critical-path") == {"a": 0, "x": 0, "y": 2, "b": 3, "z": 4}
    assert begins(graph, 2, "min-min") == {"x": 0, "y": 0, "z": 2, "a": 2, "b": 5}
    assert [makespan(graph, schedule_on(graph, 2, method)) for method in METHODS] == [7, 9, 7]


def test_heft_fills_gaps_that_wide_tasks_leave() -> None:
    """w (rank 9) needs both cores once a has ended; s fits before it, and t does not."""
    graph = tasks(("a", 1, 3, ""), ("w", 2, 6, "a"), ("s", 1, 3, ""), ("t", 1, 4, ""))
    assert begins(graph, 2, "heft") == {"a": 0, "w": 3, "s": 0, "t": 9}
    # A list never keeps cores for later: t begins at once, s when a has ended, and the wide task waits for both.
    assert begins(graph, 2, "critical-path") == {"a": 0, "t": 0, "s": 3, "w": 6}


def test_data_take_their_time() -> None:
    graph = Workflow.of(
        "data",
        [
            Task("a", 1, 10, 10),
            Task("b", 1, 5, 5, ("a",), data={"a": 600.0}),
            Task("c", 1, 1, 1, ("a", "b"), data={"a": 2000.0}),
        ],
    )
    assert delays_of(graph, 100.0) == ((), (6.0,), (20.0, 0.0))
    for method in METHODS:
        assert begins(graph, 1, method, 100.0) == {"a": 0, "b": 16, "c": 30}
        assert begins(graph, 1, method) == {"a": 0, "b": 10, "c": 15}


def test_tasks_of_no_length_are_planned() -> None:
    graph = tasks(("a", 2, 0, ""), ("b", 1, 0, "a"), ("c", 2, 5, "b"), ("d", 1, 0, "c"))
    for method in METHODS:
        assert begins(graph, 2, method) == {"a": 0, "b": 0, "c": 0, "d": 5}


def test_plans_that_cannot_be() -> None:
    graph = tasks(("a", 4, 1, ""), ("b", 1, 1, ""))
    with pytest.raises(InputError, match="3 cores are too few for 1 task: a\n  hint: give at least 4 cores"):
        schedule_on(graph, 3)
    with pytest.raises(InputError, match="no list scheduler 'hefd'\n  hint: did you mean 'heft'"):
        schedule_on(graph, 4, "hefd")
    with pytest.raises(InputError, match="moves nothing"):
        schedule_on(graph, 4, "heft", 0.0)
    with pytest.raises(InputError, match="no costs are given for task b"):
        schedule_on_processors(graph, {"a": [1.0]})
    with pytest.raises(InputError, match="every task has a cost for each processor"):
        schedule_on_processors(graph, {"a": [1.0], "b": [1.0, 2.0]})

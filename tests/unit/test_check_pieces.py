"""The judge on lives told in pieces: what the engine does passes, and lies are found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.planned_runs import Plan, Row, all_of, found, job, read, simulated, start, write

import schedlab as sl

Lie = tuple[str, Callable[[list[Row]], None]]  # a table, and what is done to its rows


def busy_run() -> sl.Run:
    """Whatever can become of jobs on three nodes of four cores, with numbers that are easy to follow."""
    plan: Plan = {
        0.0: all_of(start(1, [(0, 4)]), start(2, [(1, 4)]), start(3, [(2, 4)])),
        4.0: all_of(lambda view: view.suspend(job(view, 3)), start(4, [(2, 4)])),
        5.0: lambda view: view.set_rate(job(view, 1), 0.5),  # 15 s are left: it ends at 35
        10.0: all_of(
            lambda view: view.requeue(job(view, 2), saved=6.0),
            lambda view: view.resume(job(view, 3), nodes=[(1, 4)], cost=2.0),  # 6 s are left: it ends at 18
        ),
        14.0: lambda view: view.reshape(job(view, 4), 1, nodes=[(2, 2)], cost=1.0),  # half of 40 s: it ends at 35
        20.0: all_of(lambda view: view.close(2, "drained"), start(2, [(1, 4)])),  # 24 s are left: it ends at 44
        21.0: lambda view: [view.set_rate(job(view, 2), rate) for rate in (2.0, 1.0)],
        36.0: start(5, [(0, 2)]),
        40.0: all_of(lambda view: view.kill(job(view, 5)), lambda view: view.open(2)),
        45.0: all_of(start(7, [(1, 1)]), start(8, [(1, 1)]), start(9, [(1, 1)])),
        46.0: all_of(*(lambda view, n=n: view.suspend(job(view, n)) for n in (8, 9))),
        47.0: lambda view: view.requeue(job(view, 7)),
        48.0: lambda view: view.kill(job(view, 9)),
        50.0: start(6, [(2, 1)]),
    }
    return simulated(
        plan,
        submit=[0, 0, 0, 4, 36, 0, 45, 45, 45],
        runtime=[20, 30, 10, 20, 50, 5, 9, 9, 9],
        limit=[100, 100, 12, 100, 100, 5, 9, 9, 9],
        count=[4, 4, 4, 4, 2, 1, 1, 1, 1],
        shapes=[[], [], [], [sl.Shape(count=2, runtime=40, limit=100)], [], [], [], [], []],
        malleable=[False, False, False, True, False, False, False, False, False],
    )


@pytest.fixture(scope="module")
def busy() -> sl.Run:
    return busy_run()


def test_the_busy_run(busy: sl.Run, tmp_path: Path) -> None:
    told = busy.pieces.sort("job", "begin").select("job", "begin", "end", "how", "work").rows()
    assert told == [
        (1, 0, 35, "completed", 20),
        (2, 0, 10, "requeued", 30),
        (2, 20, 44, "completed", 24),
        (3, 0, 4, "suspended", 10),
        (3, 10, 18, "completed", 8),
        (4, 4, 14, "reshaped", 20),
        (4, 14, 35, "completed", 21),
        (5, 36, 40, "killed", 50),
        (7, 45, 47, "requeued", 9),
        (8, 45, 46, "suspended", 9),
        (9, 45, 46, "suspended", 9),
    ]
    assert busy.pieces.sort("job", "begin")["done"].to_list() == [20, 10, 24, 4, 8, 10, 21, 4, 2, 1, 1]
    changes = busy.rates.select("job", "piece", "time", "owner", "factor", "rate").rows()
    assert changes == [
        (1, 0, 5.0, "policy", 0.5, 0.5),
        (2, 1, 21.0, "policy", 2.0, 2.0),
        (2, 1, 21.0, "policy", 1.0, 1.0),
    ]
    assert busy.jobs.sort("job")["state"].to_list()[4:] == ["killed", "completed", "waiting", "suspended", "killed"]
    assert sl.check(busy) == sl.check(busy.save(tmp_path / "run")) == []


def at(number: int, which: int, **columns: Any) -> Lie:
    """Changes the job's piece number `which`."""

    def change(rows: list[Row]) -> None:
        [row for row in rows if row["job"] == number][which].update(columns)

    return "pieces", change


def row(number: int, **columns: Any) -> Lie:
    return "jobs", at(number, 0, **columns)[1]


def without(number: int, which: slice) -> Lie:
    def change(rows: list[Row]) -> None:
        for dropped in [row for row in rows if row["job"] == number][which]:
            rows.remove(dropped)

    return "pieces", change


def level(time: float, **columns: int) -> Lie:
    return "timeline", lambda rows: next(row for row in rows if row["time"] == time).update(columns)


def change(which: int, **columns: Any) -> Lie:
    """Of the rate of a job."""
    return "rates", lambda rows: rows[which].update(columns)


def change_of_node(which: int, **columns: Any) -> Lie:
    return "nodes", lambda rows: rows[which].update(columns)


@pytest.mark.parametrize(
    ("lie", "kind", "number"),
    [
        pytest.param(at(1, 0, how="lost"), "pieces", 1, id="unknown end"),
        pytest.param(at(3, 0, end=-1.0), "pieces", 3, id="ends before it begins"),
        pytest.param(at(3, 1, begin=3.0), "pieces", 3, id="overlap"),
        pytest.param(at(3, 0, count=3, cores=3, nodes="n3*3"), "pieces", 3, id="suspended and larger"),
        pytest.param(at(4, 1, begin=15.0), "pieces", 4, id="reshaped with a gap"),
        pytest.param(at(4, 0, begin=3.0), "start too early", 4, id="before eligible"),
        pytest.param(at(2, 0, how="completed"), "pieces", 2, id="goes on after its end"),
        pytest.param(at(4, 1, how="reshaped"), "pieces", 4, id="never goes on"),
        pytest.param(at(5, 0, how="completed"), "state", 5, id="state and last piece"),
        pytest.param(row(8, state="killed", end=46.0, reason="preempted"), "", None, id="killed while suspended"),
        pytest.param(row(8, state="completed"), "state", 8, id="completed while suspended"),
        pytest.param(row(7, state="cancelled"), "", None, id="cancelled after a requeue"),
        pytest.param(row(7, state="held"), "", None, id="held after a requeue"),
        pytest.param(row(2, start=0.0), "pieces", 2, id="start of the first attempt"),
        pytest.param(row(3, start=10.0), "pieces", 3, id="start of the last piece"),
        pytest.param(row(7, start=45.0), "pieces", 7, id="start of one that waits"),
        pytest.param(row(1, end=36.0), "pieces", 1, id="end"),
        pytest.param(row(9, end=45.0), "pieces", 9, id="left before its piece ended"),
        pytest.param(row(8, end=54.0), "wrong end", 8, id="still here, but not to the end"),
        pytest.param(row(4, count=4, cores=4), "pieces", 4, id="shape of the first piece"),
        pytest.param(row(3, nodes="n3*4"), "pieces", 3, id="nodes of the first piece"),
        pytest.param(at(3, 0, sequence=99), "pieces", 3, id="no such job"),
        pytest.param(at(3, 0, job=99), "pieces", 99, id="another id"),
        pytest.param(without(2, slice(1, 2)), "state", 2, id="last piece missing"),
        pytest.param(without(3, slice(0, 1)), "work", 3, id="first piece missing"),
        pytest.param(without(3, slice(0, 2)), "wrong end", 3, id="all pieces missing"),
        pytest.param(without(5, slice(0, 1)), "killed", 5, id="killed by nobody"),
        pytest.param(without(8, slice(0, 1)), "state", 8, id="suspended by nobody"),
        pytest.param(at(2, 0, work=29.0), "work", 2, id="not the runtime"),
        pytest.param(at(1, 0, done=19.9), "work", 1, id="less done than its rates say"),
        pytest.param(at(1, 0, work=19.9), "work", 1, id="more done than was left"),
        pytest.param(change(0, time=4.9), "work", 1, id="slowed earlier"),
        pytest.param(change(0, time=36.0), "rates", 1, id="slowed after its end"),
        pytest.param(change(0, rate=0.25), "rates", 1, id="not the product"),
        pytest.param(change(0, factor=0.25), "rates", 1, id="not the factor"),
        pytest.param(change(0, rate=0.25, factor=0.25), "work", 1, id="slowed more"),
        pytest.param(change(0, piece=1), "rates", 1, id="no such piece"),
        pytest.param(change(0, sequence=99), "rates", 1, id="of no job"),
        pytest.param(change(1, piece=0), "rates", 2, id="in another piece"),
        pytest.param(change(2, time=20.5), "rates", 2, id="rates back in time"),
        pytest.param(("rates", lambda rows: rows.pop(0)), "work", 1, id="nobody has slowed it"),
        pytest.param(at(3, 1, work=5.9), "work", 3, id="suspended, but work has shrunk"),
        pytest.param(at(2, 1, work=19.9), "work", 2, id="more saved than done"),
        pytest.param(at(2, 1, done=12.0), "work", 2, id="completed too early"),
        pytest.param(at(5, 0, done=80.0), "work", 5, id="more done than there was"),
        pytest.param(at(5, 0, done=float("nan")), "work", 5, id="who knows what was done"),
        pytest.param(change(0, factor=-1.0), "rates", 1, id="negative rate"),
        pytest.param(change(0, rate=float("inf")), "rates", 1, id="infinite rate"),
        pytest.param(at(5, 0, work=-1.0), "work", 5, id="negative work"),
        pytest.param(at(5, 0, work=float("nan")), "work", 5, id="no number"),
        pytest.param(row(3, limit=11.9), "not killed", 3, id="past its limit"),
        pytest.param(row(2, limit=25.0), "", None, id="each attempt has its limit"),
        pytest.param(at(3, 1, nodes="n1*4"), "over-full", 3, id="resumed where another one is"),
        pytest.param(at(1, 0, nodes="n2*4"), "over-full", 2, id="no room in the past"),
        pytest.param(at(3, 0, nodes="n9*4"), "nodes", 3, id="no such node"),
        pytest.param(at(3, 0, nodes=None), "nodes", 3, id="nowhere"),
        pytest.param(at(3, 0, nodes="n3*3"), "size", 3, id="chunks missing"),
        pytest.param(at(3, 0, cores=3), "size", 3, id="cores of a piece"),
        pytest.param(at(3, 0, request=5), "request", 3, id="no such request"),
        pytest.param(row(7, nodes="n1"), "nodes", 7, id="waits, but on a node"),
        pytest.param(level(10.0, queued=1), "timeline", None, id="requeued, but not queued"),
        pytest.param(level(10.0, queued_cores=1), "", None, id="queued cores: jobs have several shapes, who knows"),
        pytest.param(level(46.0, running=3), "timeline", None, id="suspended, but running"),
        pytest.param(level(14.0, used_cores=12), "timeline", None, id="cores of a new shape"),
        pytest.param(change_of_node(1, time=50.5), "closed node", 6, id="started on a closed node"),
        pytest.param(change_of_node(0, time=3.0), "closed node", 4, id="started before it was closed"),
        pytest.param(change_of_node(0, node="n9"), "node states", None, id="unknown node"),
        pytest.param(change_of_node(0, state="tired"), "node states", None, id="unknown state of a node"),
        pytest.param(change_of_node(0, time=41.0), "node states", None, id="back in time"),
    ],
)
def test_lies(busy: sl.Run, tmp_path: Path, lie: Lie, kind: str, number: int | None) -> None:
    folder = busy.save(tmp_path / "run")
    table, change = lie
    rows = read(folder, table)
    change(rows)
    write(folder, table, rows)
    assert (kind, number) in found(folder) if kind else found(folder) == set()

"""The judge on nodes that are set aside for a time."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.planned_runs import found, read, write

import schedlab as sl
from schedlab.execution.maintenance import Maintenance, Reservation

TWO = sl.Cluster.uniform(2, cores=4)
Change = Callable[[Path], None]


def reserved_run() -> sl.Run:
    """Node 2 is for user 7 from 100 to 200 s. Job 1 is to leave it at 90, job 2 is his, job 3 waits for the end."""
    jobs = sl.Workload.of(
        submit=[0, 95, 100], runtime=[60, 90, 30], limit=[90, 100, 30], count=[4, 4, 4], user=[1, 7, 1]
    )
    blocked = Reservation("n1", 0, 1000)  # for nobody
    return sl.simulate(jobs, TWO, "skip", observers=[Reservation("n2", 100, 100, users=[7]), blocked], validate=True)


def maintained_run(victims: Any) -> sl.Run:
    """Job 1 is believed to leave node 1 at 50, and needs 90 s. Maintenance begins at 60 and takes 100 s."""
    jobs = sl.Workload.of(submit=[0], runtime=[90], limit=[50], count=[4])
    observers = [Maintenance("n1", 60, 100, victims), Maintenance("n2", 0, 1000, victims)]
    return sl.simulate(jobs, TWO, "easy", observers=observers, overrun="run", validate=True)


def calendar(which: int, **values: Any) -> Change:
    def change(folder: Path) -> None:
        described = json.loads((folder / "run.json").read_text())
        described["calendar"][which].update(values)
        (folder / "run.json").write_text(json.dumps(described))

    return change


def rows(table: str, which: int, **values: Any) -> Change:
    def change(folder: Path) -> None:
        found = read(folder, table)
        found[which].update(values)
        write(folder, table, found)

    return change


@pytest.mark.parametrize(
    ("change", "offences"),
    [
        (calendar(0, users=[7]), set()),
        (calendar(0, users=[7, 1]), set()),
        (calendar(0, users=[]), {("set aside", 2)}),  # it was expected to be there from 95 to 195
        (calendar(0, **{"from": 90.0}), set()),  # job 1 was to leave just then
        (calendar(0, **{"from": 89.0}), {("set aside", 1)}),  # it left at 60, but who knew?
        (calendar(0, until=None), {("set aside", 3)}),  # it started at 200
        (calendar(0, until=201.0), {("set aside", 3)}),
        (calendar(0, nodes=["n1"]), set()),
        (calendar(0, nodes=["n7"]), {("calendar", None)}),
        (rows("jobs", 0, nodes="n1*4"), {("set aside", 1)}),
        (rows("jobs", 1, user=1), {("set aside", 2)}),
        (rows("jobs", 1, user=None), {("set aside", 2)}),
        # A belief that would have let it start nowhere; and one that is not that of this run.
        (rows("jobs", 0, limit=101.0, estimate=101.0), {("set aside", 1)}),
        (rows("jobs", 0, estimate=101.0), {("set aside", 1), ("estimate", 1)}),
        (rows("jobs", 0, estimate=1.0), {("estimate", 1)}),
    ],
)
def test_who_may_come(tmp_path: Path, change: Change, offences: set[tuple[str, int | None]]) -> None:
    run = reserved_run()
    assert run.jobs.select("start", "end", "nodes").rows() == [
        (0.0, 60.0, "n2*4"),
        (95.0, 185.0, "n2*4"),
        (200.0, 230.0, "n2*4"),
    ]
    folder = run.save(tmp_path / "run")
    change(folder)
    assert found(folder) == offences


def test_the_message_says_who_where_and_when(tmp_path: Path) -> None:
    folder = reserved_run().save(tmp_path / "run")
    calendar(0, users=[])(folder)
    expected = "node n2 was set aside by reservation from 100 until 200, and it was expected to leave at 195"
    assert [str(offence) for offence in sl.check(folder)] == [f"set aside: job 2 at 95: {expected}"]


@pytest.mark.parametrize(
    ("was", "said", "offences"),
    [
        ("drain", "drain", set()),  # estimates err: it may end
        ("drain", "", set()),
        ("drain", "requeue", {("set aside", 1)}),
        ("drain", "kill", {("set aside", 1)}),
        ("requeue", "requeue", set()),
        ("kill", "kill", set()),
    ],
)
def test_who_errs_may_stay_unless_the_node_is_cleared(
    tmp_path: Path, was: str, said: str, offences: set[tuple[str, int]]
) -> None:
    folder = maintained_run(was).save(tmp_path / "run")
    calendar(0, victims=said)(folder)
    assert found(folder) == offences


@pytest.mark.parametrize(
    ("change", "offences"),
    [
        (rows("pieces", 0, expected_end=61.0), {("set aside", 1), ("estimate", 1)}),
        (rows("pieces", 0, expected_end=40.0), {("estimate", 1)}),
        (rows("pieces", 1, expected_end=199.0), set()),  # what was believed of a new attempt nobody else says
        (calendar(0, until=170.0), {("set aside", 1)}),  # it began again at 160
        (calendar(0, **{"from": 205.0, "until": 300.0}), {("set aside", 1)}),  # and was expected to end at 210
    ],
)
def test_every_attempt_is_judged(tmp_path: Path, change: Change, offences: set[tuple[str, int]]) -> None:
    run = maintained_run("requeue")
    assert run.pieces.select("begin", "end", "expected_end").rows() == [(0.0, 60.0, 50.0), (160.0, 250.0, 210.0)]
    folder = run.save(tmp_path / "run")
    assert sl.check(folder) == sl.check(run) == []
    change(folder)
    assert found(folder) == offences


def test_runs_of_before_are_judged_by_what_they_say(tmp_path: Path) -> None:
    folder = maintained_run("requeue").save(tmp_path / "run")
    path = folder / "pieces.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["expected_end"]), path)
    write(folder, "pieces", read(folder, "pieces"))
    assert sl.check(folder) == []
    calendar(0, **{"from": 100.0, "until": 161.0})(folder)
    assert found(folder) == {("set aside", 1)}  # the second attempt came at 160
    described = json.loads((folder / "run.json").read_text())
    del described["calendar"]
    (folder / "run.json").write_text(json.dumps(described))
    assert sl.check(folder) == []


def test_a_calendar_that_is_not_one(tmp_path: Path) -> None:
    folder = reserved_run().save(tmp_path / "run")
    calendar(0, until="later")(folder)
    with pytest.raises(sl.InputError, match="cannot make sense of the run"):
        sl.check(folder)

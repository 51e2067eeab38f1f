"""The judge on jobs side by side: how fast each was beside the others, who may meet, and whose a part is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.planned_runs import Row, found, read, write

import schedlab as sl
from schedlab.execution.interference import Interference
from schedlab.model.cluster import Cluster, NodeGroup
from schedlab.model.heatmap import Heatmap

TWO_NODES = Cluster((NodeGroup("all", 2, {"cores": 4}, "n", sockets=2),))  # a half of each has two cores
PAIRS = Heatmap.from_cells(["a", "b"], [[0.5, 0.8], [2.0, None]])

Tables = dict[str, list[Row]]


def side_by_side(folder: Path, **rules: Any) -> Path:
    """Job 1 (a) has a half of both nodes; beside it on the first are job 2 (b) from 0 on, and job 3 (a) from 5 on."""
    workload = sl.Workload.of(
        submit=[0, 0, 5],
        runtime=[10, 8, 1],
        limit=[100, 100, 100],
        count=[4, 2, 2],
        executable=[0, 1, 0],
        labels={"executable": ("a", "b")},
    )
    model = Interference(PAIRS, **rules)
    sl.simulate(workload, TWO_NODES, "cosched", observers=[model], validate=True, out=folder)
    return folder


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return side_by_side(tmp_path / "run")


def changed(folder: Path, table: str, **told: tuple[int, Callable[[Any], Any]]) -> None:
    """Of a table: what a column says in a row becomes something else."""
    rows = read(folder, table)
    for column, (row, value) in told.items():
        rows[row][column] = value(rows[row][column])
    write(folder, table, rows)


def row_of(folder: Path, table: str, job: int, time: float | None = None) -> int:
    rows = read(folder, table)
    return next(i for i, row in enumerate(rows) if row["job"] == job and (time is None or row["time"] == time))


def retold(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Something else in run.json."""
    described = json.loads((folder / "run.json").read_text())
    change(described)
    (folder / "run.json").write_text(json.dumps(described))


def test_by_hand(run: Path) -> None:
    # Job 2 is twice as fast: it ends at 4. Job 1 is at 0.8 beside it and (its best) alone, at 0.5 beside job 3 from 5
    # to 7, when that has done its 1 s of work: 3.2 + 0.8 + 1.0 are done then, 5 are left at 0.8.
    ends = {row["job"]: row["end"] for row in read(run, "jobs")}
    assert ends == pytest.approx({1: 13.25, 2: 4.0, 3: 7.0}, rel=1e-12)
    assert found(run) == set()


def test_a_factor_that_is_not_the_least(run: Path) -> None:
    row = row_of(run, "rates", 1, 5.0)
    changed(run, "rates", factor=(row, lambda _: 0.8), rate=(row, lambda _: 0.8))
    assert ("rates", 1) in found(run)


def test_a_change_that_is_not_told(run: Path) -> None:
    rows = read(run, "rates")
    del rows[row_of(run, "rates", 1, 7.0)]
    write(run, "rates", rows)
    assert ("rates", 1) in found(run)


def test_another_application(run: Path) -> None:
    changed(run, "jobs", application=(row_of(run, "jobs", 3), lambda _: 1))
    assert {("rates", 1), ("rates", 3)} <= found(run)


def test_an_application_that_is_not_there(run: Path) -> None:
    changed(run, "jobs", application=(row_of(run, "jobs", 3), lambda _: 2))
    assert ("application", 3) in found(run)


def test_another_node(run: Path) -> None:
    for table in ("jobs", "pieces"):  # job 1 gives up the node on which it had company
        rows = read(run, table)
        for row in rows:
            if row["job"] == 1:
                row.update(nodes="n2", count=1, cores=2)
        write(run, table, rows)
    assert {("rates", 1), ("rates", 3)} <= found(run)


def test_another_heatmap(run: Path) -> None:
    retold(run, lambda told: told["execution"][0]["filled"][0].__setitem__(0, 0.4))
    assert {("rates", 1), ("rates", 3)} <= found(run)


def test_alone_on_a_part(run: Path) -> None:
    retold(run, lambda told: told["execution"][0]["on_its_own"].__setitem__(0, 0.7))
    assert found(run) == {("rates", 1), ("heatmap", None)}


def test_what_is_filled_in(run: Path) -> None:
    retold(run, lambda told: told["execution"][0]["filled"][1].__setitem__(1, 1.9))
    assert found(run) == {("heatmap", None)}


@pytest.mark.parametrize("rules", [{"compose": "product"}, {"cap": False}, {"alone": 1.25}, {"compose": lambda x: 0.9}])
def test_other_rules(tmp_path: Path, rules: dict[str, Any]) -> None:
    assert found(side_by_side(tmp_path / "run", **rules)) == set()


def test_a_threshold(run: Path) -> None:
    retold(run, lambda told: told["placement"].update(threshold=0.5))
    assert found(run) == set()
    retold(run, lambda told: told["placement"].update(threshold=0.6))
    assert found(run) == {("threshold", 1), ("threshold", 3)}


def test_more_than_a_part(run: Path) -> None:
    retold(run, lambda told: told["placement"].update(fraction="1/3"))
    assert found(run) >= {("parts", 1), ("parts", 2), ("parts", 3)}


def test_a_part_with_two_owners(run: Path) -> None:
    """Where cores would not tell: jobs that say they have one core each, three of them on a node of two halves."""
    for table in ("jobs", "pieces"):
        rows = read(run, table)
        for row in rows:
            row["cores"] = row["count"]
            if row["job"] == 3:
                row.update({name: 0.0 for name in ("submit", "eligible", "start", "begin") if name in row})
        write(run, table, rows)
    retold(run, lambda told: [request["chunk"].update(cores=1) for request in told["requests"]])
    assert ("parts", None) in found(run)

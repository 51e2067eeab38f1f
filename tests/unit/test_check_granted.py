"""The judge on allocations as granted: a good run passes, and each kind of corruption of its places is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.planned_runs import found, read, write

import schedlab as sl

Row = dict[str, Any]
CLUSTER = sl.Cluster(
    (
        sl.NodeGroup("thin", 2, {"cores": 8, "memory": 64}),
        sl.NodeGroup("gpu", 1, {"cores": 8, "memory": 64, "gpus": 4}, prefix="g"),
    )
)


class Grants(sl.Policy):
    """Two jobs are granted more than they ask for, one after the other; the others get chunks."""

    def decide(self, view: Any, events: Any) -> None:
        for job in view.queue:
            match job.id:
                case 1:
                    view.start(job, [(0, {"cores": 7, "memory": 64}), (2, {"cores": 1, "gpus": [0, 3]})])
                case 2 if view.now >= 10:
                    view.start(job, [(2, {"cores": 2, "gpus": [3]}), (1, {"cores": 3, "memory": 5})])
                case 3:
                    view.start(job)


def a_run(folder: Path, places: bool = False) -> Path:
    workload = sl.Workload.of(
        submit=[0, 1, 2],
        runtime=[10, 10, 10],
        count=[8, 4, 2],
        request=[0, 0, 1],
        requests=[sl.Request(), sl.Request({"cores": 2, "memory": 3})],
    )
    run = sl.simulate(workload, CLUSTER, Grants(), places=places, validate=True)
    return Path(run.save(folder))


@pytest.mark.parametrize("places", [False, True])
def test_a_good_run(tmp_path: Path, places: bool) -> None:
    folder = a_run(tmp_path / "run", places)
    rows = [
        (row["job"], row["node"], row["from"], row["until"], row["chunks"], row["cores"], row["memory"])
        for row in read(folder, "places")
    ]
    granted = [(1, 0, 0, 10, 7, 7, 64), (1, 2, 0, 10, 1, 1, 0), (2, 2, 10, 20, 2, 2, 0), (2, 1, 10, 20, 3, 3, 5)]
    chunks = [(3, 1, 2, 12, 2, 4, 6)]
    assert rows == (granted[:2] + chunks + granted[2:] if places else granted)
    assert [row["devices"] for row in read(folder, "places") if row["gpus"]] == ["gpus=0,3", "gpus=3"]
    assert sl.check(folder) == []


def of(job: int, node: int, /, **other: Any) -> Callable[[list[Row]], None]:
    where = (job, node)

    def change(rows: list[Row]) -> None:
        for row in rows:
            if (row["job"], row["node"]) == where:
                row.update(other)

    return change


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        (of(1, 0, cores=6), {("size", 1)}),  # fewer cores than its row has
        (of(1, 0, cores=9), {("size", 1), ("over-full", 1)}),
        (of(1, 0, memory=65), {("over-full", 1), ("timeline", None)}),
        (of(1, 0, memory=63), {("timeline", None)}),
        (of(1, 0, memory=-1), {("places", 1), ("timeline", None)}),
        (of(2, 1, memory=59), {("over-full", 2), ("timeline", None)}),  # beside job 3, until 12
        (of(2, 2, cores=1), {("size", 2)}),
        (of(1, 0, chunks=6), {("places", 1)}),
        (of(1, 0, node=1), {("places", 1), ("timeline", None)}),
        (of(1, 0, until=9.0), {("places", 1), ("timeline", None)}),
        (of(1, 0, job=7), {("places", 7)}),
        (of(1, 0, sequence=7), {("places", None), ("places", 1), ("timeline", None)}),
        (of(2, 2, devices="gpus=4"), {("devices", 2)}),
        (of(2, 2, devices="gpus=1,2"), {("devices", 2)}),
        (of(2, 2, devices="gpus=-1"), {("devices", 2)}),
        (of(2, 2, devices="licences=0"), {("devices", 2)}),
        (lambda rows: rows.pop(0), {("places", 1), ("timeline", None)}),
        (lambda rows: rows.append(rows[0]), {("places", 1)}),
    ],
)
def test_corruptions(tmp_path: Path, change: Callable[[list[Row]], Any], kinds: set[Any]) -> None:
    folder = a_run(tmp_path / "run")
    rows = read(folder, "places")
    change(rows)
    write(folder, "places", rows)
    assert kinds <= found(folder)
    assert {kind for kind, _ in found(folder)} <= {kind for kind, _ in kinds} | {"size", "timeline"}


def test_a_device_that_two_jobs_have(tmp_path: Path) -> None:
    """Job 2 comes when job 1 leaves: both may have GPU 3, but not if it came earlier."""
    folder = a_run(tmp_path / "run")
    jobs, rows = read(folder, "jobs"), read(folder, "places")
    for row in jobs:
        if row["job"] == 2:
            row.update(start=9.0, end=19.0)
    for row in rows:
        if row["job"] == 2:
            row.update({"from": 9.0, "until": 19.0})
    write(folder, "jobs", jobs)
    write(folder, "places", rows)
    assert ("devices", 2) in found(folder)


def test_every_job_has_places_if_that_was_asked_for(tmp_path: Path) -> None:
    folder = a_run(tmp_path / "run", places=True)
    write(folder, "places", [row for row in read(folder, "places") if row["job"] != 3])
    assert found(folder) == {("places", 3)}


def test_less_than_was_asked_for(tmp_path: Path) -> None:
    folder = a_run(tmp_path / "run")
    jobs, times = read(folder, "jobs"), read(folder, "timeline")
    jobs[[row["job"] for row in jobs].index(2)]["count"] = 6
    write(folder, "jobs", jobs)
    write(folder, "timeline", times)
    assert ("size", 2) in found(folder)

"""The judge on runs that ended early, and on ends that are not what they usually are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.planned_runs import Plan, all_of, found, job, read, simulated, start, write

import schedlab as sl

FOREVER = float("inf")


def fail(view: Any) -> None:
    raise ValueError("it has had enough")


def interrupted(plan: Plan, **given: Any) -> sl.Run:
    with pytest.raises(sl.PolicyError) as failure:
        simulated(plan, **given)
    run = failure.value.run
    assert run is not None and run.incomplete
    return run


def early_run() -> sl.Run:
    """At 10 s one job is in each state; the seventh has not come yet."""
    plan: Plan = {
        0.0: all_of(start(1, [(0, 4)]), start(2, [(1, 2)]), start(3, [(1, 2)]), start(6, [(2, 1)])),
        3.0: lambda view: view.suspend(job(view, 3)),
        4.0: lambda view: view.set_rate(job(view, 2), 0.5),
        10.0: fail,
    }
    return interrupted(
        plan,
        submit=[0, 0, 0, 0, 5, 0, 11],
        runtime=[20, 20, 20, 1, 1, 8, 1],
        count=[4, 2, 2, 4, 12, 1, 1],
        after=[-1, -1, -1, 1, -1, -1, -1],
        dependencies="follow",
    )


def test_a_run_that_ended_early(tmp_path: Path) -> None:
    run = early_run()
    states = ["running", "running", "suspended", "held", "waiting", "completed"]
    assert run.jobs.sort("job")["state"].to_list() == states
    assert run.pieces.sort("job", "begin")["how"].to_list() == ["unfinished", "suspended"]
    assert sl.check(run) == sl.check(run.save(tmp_path / "run")) == []


def test_a_complete_run_has_no_loose_ends(tmp_path: Path) -> None:
    folder = early_run().save(tmp_path / "run")
    described = json.loads((folder / "run.json").read_text())
    del described["incomplete"]
    (folder / "run.json").write_text(json.dumps(described))
    # The first two still run, one of them without a word about why; the seventh is missing.
    assert found(folder) == {("state", 1), ("state", 2), ("missing job", None)}


@pytest.mark.parametrize(
    ("number", "columns", "offence"),
    [
        (1, {"end": 9.0}, ("wrong end", 1)),  # the simulation went on
        (1, {"start": -11.0, "submit": -11.0, "eligible": -11.0}, ("wrong end", 1)),  # it would have ended
        (2, {"state": "completed"}, ("state", 2)),
        (5, {"end": 9.0}, ("wrong end", 5)),
        (6, {"sequence": 9}, ("missing job", None)),
    ],
)
def test_lies_about_a_run_that_ended_early(
    tmp_path: Path, number: int, columns: dict[str, Any], offence: tuple[str, int | None]
) -> None:
    folder = early_run().save(tmp_path / "run")
    rows = read(folder, "jobs")
    next(row for row in rows if row["job"] == number).update(columns)
    write(folder, "jobs", rows)
    assert offence in found(folder)


def still() -> sl.Run:
    plan: Plan = {0.0: all_of(start(1), lambda view: view.set_rate(job(view, 1), 0)), 1.0: start(2)}
    return simulated(plan, submit=[0, 1], runtime=[20, 7], limit=[FOREVER, 7], count=[4, 4])


def test_a_job_that_stands_still_for_ever(tmp_path: Path) -> None:
    run = still()
    assert run.jobs["state"].to_list() == ["running", "completed"]
    assert run.pieces["how"].to_list() == ["unfinished"]
    folder = run.save(tmp_path / "run")
    assert sl.check(run) == sl.check(folder) == []
    rates, jobs = read(folder, "rates"), read(folder, "jobs")
    write(folder, "rates", [{**rates[0], "factor": 0.1, "rate": 0.1}])
    assert found(folder) == {("state", 1), ("work", 1)}  # it would have gone on, and done something
    write(folder, "rates", rates)
    write(folder, "jobs", [{**row, "limit": 20.0} for row in jobs])
    # Its limit would have ended it; and nobody believed in that limit.
    assert found(folder) == {("state", 1), ("estimate", 1), ("estimate", 2)}


def test_a_pool_has_pieces_too(tmp_path: Path) -> None:
    plan: Plan = {
        0.0: start(1),
        5.0: lambda view: view.suspend(job(view, 1)),
        6.0: lambda view: view.resume(job(view, 1)),
        7.0: start(2),
    }
    run = simulated(plan, sl.Cluster.of_cores(8), submit=[0, 0], runtime=[10, 9], count=[4, 4])
    folder = run.save(tmp_path / "run")
    assert sl.check(run) == sl.check(folder) == []
    pieces = read(folder, "pieces")
    write(folder, "pieces", [pieces[0], {**pieces[1], "count": 5, "cores": 5}])
    assert ("over-full", 2) in found(folder)


def test_a_moldable_job_is_as_its_row_says() -> None:
    run = simulated(
        {0.0: start(1, shape=1), 5.0: lambda view: view.requeue(job(view, 1)), 9.0: start(1, shape=0)},
        submit=[0],
        runtime=[20],
        count=[8],
        shapes=[[sl.Shape(count=4, runtime=30)]],
    )
    assert run.pieces.select("count", "work").rows() == [(4, 30.0), (8, 20.0)]
    assert sl.check(run) == []


def test_what_a_moldable_job_asked_for_is_not_judged(tmp_path: Path) -> None:
    """While it waited it asked for eight cores; its row tells the four that it got."""
    shapes = [[sl.Shape(count=4, runtime=30)]]
    folder = simulated({9.0: start(1, shape=1)}, submit=[0], runtime=[20], count=[8], shapes=shapes).save(
        tmp_path / "r"
    )
    described = json.loads((folder / "run.json").read_text())
    described["workload"]["flexible"] = True
    (folder / "run.json").write_text(json.dumps(described))
    assert sl.check(folder) == []


def test_rejected_after_a_while() -> None:
    plan: Plan = {
        0.0: start(2),
        5.0: lambda view: view.reject(job(view, 1)),
        6.0: lambda view: view.requeue(job(view, 2)),
    }
    plan[8.0] = lambda view: view.reject(job(view, 2))
    run = simulated(plan, submit=[0, 0], runtime=[10, 10], count=[4, 4])
    assert run.jobs["state"].to_list() == ["rejected", "rejected"]
    assert sl.check(run) == []


def test_cancelled_after_a_requeue() -> None:
    plan: Plan = {0.0: start(1), 6.0: lambda view: view.requeue(job(view, 1))}
    run = simulated(plan, submit=[0], runtime=[10], count=[4], cancel=[8.0])
    assert run.jobs.select("state", "start", "end").row(0) == ("cancelled", None, 8.0)
    assert sl.check(run) == []


def test_a_cost_is_not_asked_of_a_new_attempt() -> None:
    """11.5 s are left when it is requeued, as resuming took 4: a new attempt has 10 s to do, and no more."""
    plan: Plan = {
        0.0: start(1),
        2.0: lambda view: view.suspend(job(view, 1)),
        3.0: lambda view: view.resume(job(view, 1), cost=4.0),
        3.5: lambda view: view.requeue(job(view, 1)),
        4.0: start(1),
    }
    run = simulated(plan, submit=[0], runtime=[10], limit=[99], count=[4])
    assert run.pieces["work"].to_list() == [10, 12, 10]
    assert sl.check(run) == []


def test_files_that_most_runs_do_without(tmp_path: Path) -> None:
    folder = still().save(tmp_path / "run")
    (folder / "pieces.parquet").unlink()
    assert [str(offence) for offence in sl.check(folder)] == ["file: pieces.parquet is missing"]
    (folder / "pieces.parquet").write_bytes(b"junk")
    assert found(folder) == {("file", None)}

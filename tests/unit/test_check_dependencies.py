"""Runs in which somebody did not wait as he should have, or was sent away wrongly: `check` finds each."""

from pathlib import Path

import polars as pl
import pytest

import schedlab as sl
from schedlab.model.predecessors import COMPLETED, NOT_COMPLETED, STARTED, Predecessor
from schedlab.model.states import NEVER_SATISFIED

WAITS = [
    [],
    [Predecessor(1, 0, 2.0)],
    [Predecessor(1, COMPLETED)],
    [Predecessor(1, NOT_COMPLETED)],
    [Predecessor(2, STARTED, 1.0), Predecessor(1, 0, 30.0)],
    [Predecessor(4, 0, 5.0), Predecessor(2, 0, 0.0)],
    [Predecessor(99), Predecessor(8)],
    [],
]
ANY = [False, False, False, False, True, False, False, False]


@pytest.fixture
def run(tmp_path):
    jobs = len(WAITS)
    workload = sl.Workload.of(submit=[0.0] * jobs, runtime=[10.0] + [5.0] * (jobs - 1), predecessors=WAITS, any=ANY)
    found = sl.simulate(workload, sl.Cluster.of_cores(64), "easy", dependencies="follow", out=tmp_path / "run")
    assert sl.check(found) == []
    jobs = found.jobs
    assert jobs["eligible"].to_list() == [0, 12, 10, None, 13, 17, 0, 0]
    assert jobs["reason"].to_list()[3] == NEVER_SATISFIED
    return found


def changed(run: sl.Run, table: str, job: int, place: int = 0, **values: object) -> set[tuple[str, int | None]]:
    """The offences of the run with other values in one row of a table; of the schedule, not of files."""
    path = Path(str(run.path)) / f"{table}.parquet"
    frame = pl.read_parquet(path)
    row = [number for number, found in enumerate(frame["job"].to_list()) if found == job][place]
    for name, value in values.items():
        column = frame[name].cast(pl.String) if frame[name].dtype == pl.Categorical else frame[name]
        cells = column.to_list()
        cells[row] = value
        kind = pl.String if frame[name].dtype == pl.Categorical else frame[name].dtype
        frame = frame.with_columns(pl.Series(name, cells, kind))
    frame.write_parquet(path)
    return {(found.kind, found.job) for found in sl.check(run.path) if found.kind not in ("file", "timeline")}


@pytest.mark.parametrize(
    ("job", "values", "expected"),
    [
        pytest.param(2, {"eligible": 11.0, "start": 11.0, "end": 16.0}, "dependency", id="before the delay is over"),
        pytest.param(3, {"eligible": 0.0, "start": 0.0, "end": 5.0}, "dependency", id="before its predecessor ended"),
        pytest.param(3, {"eligible": 11.0, "start": 11.0, "end": 16.0}, "eligible too late", id="too late"),
        pytest.param(5, {"eligible": 12.0, "start": 12.0, "end": 17.0}, "dependency", id="one suffices, too early"),
        pytest.param(5, {"eligible": 40.0, "start": 40.0, "end": 45.0}, "eligible too late", id="waits for both"),
        pytest.param(
            4,
            {"state": "completed", "reason": None, "eligible": 10.0, "start": 10.0, "end": 15.0},
            "dependency",
            id="ran after a failed condition",
        ),
        pytest.param(4, {"end": 12.0}, "dependency", id="dismissed too late"),
        pytest.param(4, {"end": 3.0}, "dependency", id="dismissed too early"),
        pytest.param(4, {"reason": None, "end": 30.0}, "dependency", id="cancelled long after it was hopeless"),
        pytest.param(4, {"reason": None, "state": "held"}, "dependency", id="still held"),
        pytest.param(
            6,
            {"state": "cancelled", "reason": NEVER_SATISFIED, "eligible": None, "start": None, "end": 17.0},
            "dependency",
            id="dismissed without a reason",
        ),
        pytest.param(
            6,
            {"state": "cancelled", "eligible": None, "start": None, "end": 18.0},
            "eligible too late",
            id="withdrawn while it should have waited",
        ),
        pytest.param(8, {"reason": NEVER_SATISFIED}, "reason", id="a reason that it cannot have"),
    ],
)
def test_jobs(run, job, values, expected):
    assert (expected, job) in changed(run, "jobs", job, **values)


@pytest.mark.parametrize(
    ("job", "place", "values"),
    [
        pytest.param(2, 0, {"known": False}, id="ignores one that was there"),
        pytest.param(7, 0, {"known": True}, id="one that is not there has a say"),
        pytest.param(7, 1, {"known": True}, id="one that comes later has a say"),
        pytest.param(2, 0, {"delay": 9.0}, id="a longer delay"),
        pytest.param(3, 0, {"condition": "not completed"}, id="another condition"),
        pytest.param(2, 0, {"sequence": 77}, id="of nobody"),
    ],
)
def test_predecessors(run, job, place, values):
    assert ("dependency", job) in changed(run, "predecessors", job, place, **values)


def test_any_and_all(run):
    assert ("dependency", 5) in changed(run, "predecessors", 5, 0, any=False) | changed(
        run, "predecessors", 5, 1, any=False
    )

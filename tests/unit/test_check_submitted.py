"""The judge looks at jobs that were submitted and held during the run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from tests.unit.test_submitted import Doing, simulate

import schedlab as sl


def corrupted(tmp_path: Path, table: str, change: Callable[[pl.DataFrame], pl.DataFrame]) -> list[str]:
    """The offences of a run with submitted and held jobs, after a table was changed."""

    def act(view: Any) -> None:
        view.submit(5, at=8.0)
        view.submit(3)
        view.hold(view.queue[0])

    class Releasing(sl.Observer):
        def begin(self, view: Any) -> None:
            view.wake_at(9)

        def before(self, view: Any) -> None:
            if view.now == 9:
                for job in view.held:
                    view.release(job)

    run = simulate(
        Doing(2, act),
        Releasing(),
        jobs={"submit": [0, 1, 10], "runtime": [4, 4, 4], "count": [2, 1, 2]},
        out=tmp_path / "run",
    )
    assert sl.check(run) == []
    assert len(run.table("submitted")) == 2 and len(run.table("holds")) == 1
    path = tmp_path / "run" / f"{table}.parquet"
    pq.write_table(change(pl.read_parquet(path)).to_arrow().cast(pq.read_schema(path)), path)
    return sorted({offence.kind for offence in sl.check(tmp_path / "run")} - {"file", "timeline"})


def at(row: int, **values: Any) -> Callable[[pl.DataFrame], pl.DataFrame]:
    def change(frame: pl.DataFrame) -> pl.DataFrame:
        where = pl.int_range(pl.len()) == row
        return frame.with_columns(
            pl.when(where).then(pl.lit(v)).otherwise(pl.col(k)).alias(k) for k, v in values.items()
        )

    return change


def of_job(job: int, **values: Any) -> Callable[[pl.DataFrame], pl.DataFrame]:
    def change(frame: pl.DataFrame) -> pl.DataFrame:
        where = pl.col("job") == job
        return frame.with_columns(
            pl.when(where).then(pl.lit(v)).otherwise(pl.col(k)).alias(k) for k, v in values.items()
        )

    return change


@pytest.mark.parametrize(
    ("table", "change", "offences"),
    [
        ("jobs", lambda frame: frame.filter(pl.col("job") != 10**12), ["missing job", "submitted"]),
        ("jobs", of_job(10**12, submit=1.0), ["eligible too late", "submitted"]),
        ("jobs", of_job(10**12, submit=9.0), ["dependency", "start too early"]),
        ("jobs", of_job(10**12, start=7.0, end=12.0), ["start too early"]),
        ("submitted", lambda frame: frame[:1], ["unknown job"]),
        ("submitted", at(1, called=8.5), ["submitted"]),
        ("submitted", at(0, job=5), ["submitted"]),
        ("submitted", lambda frame: frame[::-1], ["submitted"]),
        ("submitted", at(1, sequence=9), ["submitted"]),
        ("holds", at(0, end=8.0), ["hold"]),
        ("holds", at(0, begin=0.5), ["hold"]),
        ("holds", at(0, eligible=1.5), ["eligible too late"]),
        ("holds", at(0, job=77, sequence=9), ["eligible too late", "hold"]),
        ("jobs", of_job(2, start=5.0, end=9.0), ["hold", "start too early"]),
    ],
)
def test_check_finds_what_cannot_be(tmp_path: Path, table: str, change: Any, offences: list[str]) -> None:
    found = corrupted(tmp_path, table, change)
    assert set(offences) <= set(found), found


class _PutBack(sl.Observer):
    """Puts a running job back into the queue, keeps it there, and lets it go later."""

    job: Any = None

    def begin(self, view: Any) -> None:
        view.wake_at(10)
        view.wake_at(50)

    def before(self, view: Any) -> None:
        if view.now == 10 and self.job is None:
            self.job = next(job for job in view.running if job.id == 2)
            view.requeue(self.job)
            view.hold(self.job)
        elif view.now == 50 and self.job is not None and self.job.state == "held":
            view.release(self.job)


def test_a_job_that_ran_was_held_and_released_is_no_offence() -> None:
    workload = sl.Workload.of(submit=[0, 0], runtime=[100, 20], count=[2, 2])
    run = sl.simulate(
        workload, sl.Cluster((sl.NodeGroup("n", 2, {"cores": 2}),)), "easy", observers=[_PutBack()], reasons=True
    )
    assert not sl.check(run)
    assert run.pieces["begin"].to_list() == [0, 50] and run.reasons["why"].to_list() == ["held"]

"""Jobs that are submitted during a run and wait for others: who may be named, and what becomes of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import schedlab as sl
from schedlab.engine.simulate import Simulation
from schedlab.model.states import NEVER_SATISFIED

CORES = sl.Cluster.of_cores(4)
LOG = sl.Workload.of(submit=[0.0, 0.0, 50.0], runtime=[10.0, 30.0, 5.0], limit=[10.0, 20.0, 5.0])  # 2 is killed at 20


class At(sl.Observer):
    """Does something at given times."""

    def __init__(self, **acts: Callable[[Any], None]) -> None:
        self.acts = {float(name.removeprefix("t")): act for name, act in acts.items()}

    def begin(self, view: Any) -> None:
        for time in self.acts:
            view.wake_at(time)

    def woken(self, view: Any) -> None:
        self.acts[view.now](view)

    def more_may_come(self, view: Any) -> bool:
        return view.now < max(self.acts)


def run(**acts: Callable[[Any], None]) -> tuple[sl.Run, dict[int, dict[str, Any]]]:
    found = sl.simulate(LOG, CORES, "easy", observers=[At(**acts)], validate=True)
    assert sl.check(found) == []
    return found, {row["job"]: row for row in found.jobs.iter_rows(named=True)}


@pytest.mark.parametrize(
    ("condition", "delay", "job", "expected"),
    [
        ("ended", 2.0, 1, 12.0),
        ("completed", 0.0, 1, 10.0),
        ("not completed", 0.0, 1, None),
        ("started", 7.0, 1, 7.0),
        ("started", 3.0, 1, 5.0),
        ("ended", 0.0, 2, 20.0),
        ("completed", 0.0, 2, None),
        ("not completed", 1.0, 2, 21.0),
    ],
)
def test_conditions(condition: str, delay: float, job: int, expected: float | None) -> None:
    """Job 2 is killed at its limit. The log's dependencies are ignored, which is another matter."""

    def act(view: Any) -> None:
        view.submit(1.0, predecessors=[sl.Predecessor(job, condition, delay)], id=7)

    found = run(t5=act)[1][7]
    assert found["eligible"] == expected
    assert (found["reason"] == NEVER_SATISFIED) == (expected is None)


def test_all_and_any() -> None:
    def act(view: Any) -> None:
        first, second = view.running
        view.submit(1.0, predecessors=[first, second], id=7)
        view.submit(1.0, predecessors=[first, second], any=True, id=8)
        view.submit_many([1.0, 1.0], predecessors=[[first], None], id=[9, 10])

    jobs = run(t5=act)[1]
    assert [jobs[job]["eligible"] for job in (7, 8, 9, 10)] == [20.0, 10.0, 10.0, 5.0]


def test_why_it_waits() -> None:
    """Also where the dependencies of the log are ignored; held by a decision afterwards."""

    def act(view: Any) -> None:
        view.submit(1.0, predecessors=[sl.Predecessor(1, delay=4.0)], id=7)

    def hold(view: Any) -> None:
        view.hold(next(job for job in view.queue if job.id == 7))

    def release(view: Any) -> None:
        view.release(view.held[0])

    acts = At(t5=act, t14=hold, t18=release)
    found = sl.simulate(LOG, CORES, "easy", observers=[acts], validate=True, reasons=True)
    assert sl.check(found) == []
    told = found.reasons.filter(pl.col("job") == 7).select("from", "until", "why", "who").rows()
    assert told == [(5.0, 10.0, "dependency", 1), (10.0, 14.0, "dependency", None), (14.0, 18.0, "held", None)]


def test_a_job_that_is_coming_keeps_those_whom_it_names() -> None:
    def act(view: Any) -> None:
        view.submit(1.0, at=40.0, predecessors=[sl.Predecessor(1, "completed", 45.0)], id=7)
        view.submit(1.0, at=40.0, predecessors=[sl.Predecessor(2, "completed")], id=8)
        view.submit(1.0, at=60.0, predecessors=[3], id=9)  # of the log, not there yet
        view.submit(4.0, at=41.0, id=11)
        view.submit(1.0, at=42.0, predecessors=[11, 12], id=10)  # 12 comes later
        view.submit(1.0, at=43.0, id=12)

    found, jobs = run(t5=act)
    assert [jobs[job]["eligible"] for job in (7, 8, 9, 10)] == [55.0, None, 60.0, 45.0]
    told = found.table("predecessors")
    assert told.filter(pl.col("predecessor") == 12)["known"].to_list() == [False]


def test_who_has_left_and_was_not_kept_has_no_say() -> None:
    def act(view: Any) -> None:
        view.submit(1.0, predecessors=[sl.Predecessor(2, "completed"), 99], id=7)

    found, jobs = run(t25=act)
    assert jobs[7]["eligible"] == 25.0
    assert found.table("predecessors")["known"].to_list() == [False, False]


def test_withdrawn_before_it_enters() -> None:
    def act(view: Any) -> None:
        view.withdraw(view.submit(1.0, at=40.0, predecessors=[1], id=7))

    found, remembered = with_memory(LOG, t5=act)
    assert 7 not in found.jobs["job"].to_list()
    assert remembered[-1] == 0


def test_nothing_is_remembered_for_good() -> None:
    def act(view: Any) -> None:
        for number in range(100):
            job = view.submit(1.0, at=6.0 + number)
            view.submit(1.0, at=30.0 + number, predecessors=[job])

    workload = sl.Workload.of(submit=[0.0, 200.0], runtime=[9.0, 9.0], predecessors=[[], [10**12]])
    _, remembered = with_memory(workload, t5=act)
    assert 20 < max(remembered) <= 30  # those of 24 s that have followers, and the one that the log names
    assert remembered[-1] == 0


def with_memory(workload: sl.Workload, **acts: Callable[[Any], None]) -> tuple[sl.Run, list[int]]:
    """Of how many jobs it was known what became of them, whenever one ended, and when all was over."""
    remembered: list[int] = []

    class Looking(At):
        def ended(self, view: Any, job: Any) -> None:
            remembered.append(simulation.core.remembered)

        def finish(self, view: Any) -> dict[str, float]:
            remembered.append(simulation.core.remembered)
            return {}

    simulation = Simulation(sl.Scenario(workload, CORES, "easy", observers=[Looking(**acts)], dependencies="follow"))
    found = simulation.run()
    assert sl.check(found) == []
    return found, remembered


def test_requeued_jobs_have_started() -> None:
    def requeue(view: Any) -> None:
        view.requeue(view.running[0])
        view.close(0)

    def act(view: Any) -> None:
        view.submit(1.0, predecessors=[sl.Predecessor(1, "started", 5.0)], id=7)

    assert run(t3=requeue, t5=act)[1][7]["eligible"] == 5.0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"predecessors": [sl.Predecessor(1, "ended", -1.0)]}, "its delay after job 1 is -1, expected seconds"),
        ({"predecessors": [sl.Predecessor(1, "soon")]}, "has the condition 'soon', expected ended, completed"),
    ],
)
def test_mistakes(given: dict[str, Any], message: str) -> None:
    with pytest.raises(sl.SchedlabError, match=message):
        run(t5=lambda view: view.submit(1.0, **given))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param({"eligible": 6.0, "start": 6.0, "end": 7.0}, "dependency", id="too early"),
        pytest.param({"eligible": 25.0, "start": 25.0, "end": 26.0}, "eligible too late", id="too late"),
    ],
)
def test_check_finds_who_did_not_wait(tmp_path: Path, values: dict[str, float], expected: str) -> None:
    folder = written(tmp_path)
    change(folder / "jobs.parquet", values)
    assert (expected, 7) in {(one.kind, one.job) for one in sl.check(folder)}


def test_check_finds_who_was_ignored(tmp_path: Path) -> None:
    """It was there when job 7 was submitted, so it had to be known."""
    folder = written(tmp_path)
    change(folder / "predecessors.parquet", {"known": False})
    assert ("dependency", 7) in {(one.kind, one.job) for one in sl.check(folder)}


def written(folder: Path) -> Path:
    """Job 7 waits for job 2, which ends at 20."""
    act = At(t5=lambda view: view.submit(1.0, predecessors=[2], id=7))
    found = sl.simulate(LOG, CORES, "easy", observers=[act], out=folder / "run")
    assert sl.check(found) == []
    return folder / "run"


def change(path: Path, values: dict[str, Any]) -> None:
    """In the row of job 7."""
    frame = pl.read_parquet(path)
    concerned = pl.col("job") == 7
    frame.with_columns(
        pl.when(concerned).then(pl.lit(value)).otherwise(pl.col(name)).cast(frame[name].dtype).alias(name)
        for name, value in values.items()
    ).write_parquet(path)

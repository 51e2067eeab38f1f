"""The judge on random runs in which jobs are requeued, suspended, resumed, slowed down, killed and completed: it finds
nothing in them, and finds what was changed in them afterwards."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.planned_runs import Row, read, write
from tests.property.cases import BACKFILLS, Case, random_case
from tests.property.test_engine_vs_oracle import both_kinds, looking_at, seeds

import schedlab as sl

COSTS = (0.0, 0.0, 0.5, 3.0)


class Meddler(sl.Observer):
    """Does to jobs whatever can be done to them, a few times each; what was suspended goes on some time."""

    def __init__(self, seed: int, acts: int) -> None:
        self._random, self._left = Random(seed), acts

    def before(self, view: Any) -> None:
        random = self._random
        for job in list(view.suspended):
            if not self._left or random.random() < 0.5:
                view.resume(job, cost=random.choice(COSTS))
        for job in list(view.running):
            if self._left and random.random() < 0.4:
                self._left -= 1
                self._meddle(view, job)
        if len(view.running) or len(view.suspended) or len(view.queue):
            view.wake_at(view.now + random.choice((0.5, 1.0, 7.0)))

    def _meddle(self, view: Any, job: Any) -> None:
        random = self._random
        match random.choice(("requeue", "requeue", "suspend", "suspend", "rate", "kill", "complete")):
            case "requeue":
                view.requeue(job, saved=job.done * random.choice((0.0, 0.5, 1.0)), cost=random.choice(COSTS))
            case "suspend":
                view.suspend(job)
            case "rate":
                view.set_rate(job, random.choice((0.5, 1.0, 2.0)))
            case "kill":
                view.kill(job, reason="preempted")
            case "complete":
                view.complete(job)


def meddled(case: Case, seed: int) -> sl.Run:
    observers: list[Any] = [Meddler(seed, 2 * len(case.columns["id"]))]
    if not case.cluster.pool and seed % 2:
        observers.append("sharing(0.5)")
    options = {"requests": case.detail, "observers": observers, "places": bool(seed % 3), **case.options}
    return sl.simulate(case.workload(), case.cluster, case.policy_text(), validate=True, **options)


@both_kinds
@pytest.mark.parametrize("backfill", BACKFILLS)
@given(seed=seeds, jobs=st.integers(1, 20))
@looking_at(3)
def test_nothing_is_found_in_what_the_engine_did(backfill: str, plain: bool, seed: int, jobs: int) -> None:
    assert sl.check(meddled(random_case(seed, jobs, backfill, plain), seed)) == []


# What can be changed in a row of a table, so that the run can no longer be true.
def _later(name: str) -> Any:
    return lambda row, random: row.update({name: row[name] + random.choice((0.25, 1.0, 100.0))})


def _earlier(name: str) -> Any:
    return lambda row, random: row.update({name: row[name] - random.choice((0.25, 1.0, 100.0))})


LIES: dict[str, tuple[str, Any]] = {
    "it did more than it could": ("pieces", _later("done")),
    "it did less than it had to": ("pieces", _earlier("done")),
    "it left later": ("pieces", _later("end")),
    "it came earlier": ("pieces", _earlier("begin")),
    "it had more to do": ("pieces", lambda row, random: row.update(work=-1.0)),
    "it was faster": ("rates", lambda row, random: row.update(rate=row["rate"] * 2 + 1)),
    "somebody else slowed it down": ("rates", lambda row, random: row.update(factor=row["factor"] * 2 + 1)),
    "its rate changed before it ran": ("rates", _earlier("time")),
}


def saved(run: sl.Run, table: str, folder: Path) -> list[Row]:
    run.save(folder)
    return read(folder, table) if (folder / f"{table}.parquet").exists() else []


@pytest.mark.parametrize("lie", LIES)
@given(seed=seeds, jobs=st.integers(3, 20))
@looking_at(2)
def test_a_changed_row_is_found(lie: str, seed: int, jobs: int) -> None:
    table, change = LIES[lie]
    random = Random(~seed)
    run = meddled(random_case(seed, jobs, random.choice(BACKFILLS), plain=True), seed)
    with tempfile.TemporaryDirectory() as place:
        rows = saved(run, table, Path(place) / "run")
        long = [row for row in rows if table == "rates" or row["begin"] < row["end"]]
        assume(long)
        row = random.choice(long)
        change(row, random)
        write(Path(place) / "run", table, rows)
        assert sl.check(Path(place) / "run"), (lie, row)


@given(seed=seeds, jobs=st.integers(3, 20))
@looking_at(4)
def test_a_stretch_that_is_missing_is_found(seed: int, jobs: int) -> None:
    random = Random(~seed)
    run = meddled(random_case(seed, jobs, random.choice(BACKFILLS), plain=False), seed)
    with tempfile.TemporaryDirectory() as place:
        rows = saved(run, "pieces", Path(place) / "run")
        long = [row for row in rows if row["begin"] < row["end"]]
        assume(long)
        rows.remove(random.choice(long))
        write(Path(place) / "run", "pieces", rows)
        assert sl.check(Path(place) / "run")


@given(seed=seeds, jobs=st.integers(5, 25))
@looking_at(4)
def test_rates_that_do_not_follow_from_who_shares_nodes_are_found(seed: int, jobs: int) -> None:
    """All factors, rates, work and times agree with each other; only the model says that it was another one."""
    case = random_case(seed, jobs, "skip", plain=False)
    assume(not case.cluster.pool)
    options = {"requests": case.detail, "observers": ["sharing(0.5)"], **case.options}
    run = sl.simulate(case.workload(), case.cluster, case.policy_text(), validate=True, **options)
    end = dict(run.pieces.select("sequence", "end").rows())  # each has one piece
    told = {
        (sequence, time): factor for sequence, time, factor in run.rates.select("sequence", "time", "factor").rows()
    }
    assume(any(factor == 0.5 and time < end[sequence] for (sequence, time), factor in told.items()))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        run.save(folder)
        described = json.loads((folder / "run.json").read_text())
        described["execution"][0]["rate"] = 0.75
        (folder / "run.json").write_text(json.dumps(described))
        assert {offence.kind for offence in sl.check(folder)} == {"rates"}

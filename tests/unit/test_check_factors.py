"""The judge on factors that follow from who is where, and its sweep over who was together with whom."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.planned_runs import Plan, found, read, simulated, start, write

import schedlab as sl
from schedlab.engine.check.neighbours import company_of

TIMES = np.arange(0, 13, 0.5)


def random_places(seed: int) -> tuple[Any, Any]:
    """Stays on up to three nodes each, some of no length."""
    rng = np.random.default_rng(seed)
    count = rng.integers(0, 12)
    begin = rng.integers(0, 8, count).astype(float)
    pairs = [(stay, node) for stay in range(count) for node in rng.choice(3, rng.integers(1, 4), replace=False)]
    stay, node = (np.array([pair[k] for pair in pairs], np.int64) for k in (0, 1))
    stays = SimpleNamespace(begin=begin, end=begin + rng.integers(0, 5, count))
    return stays, SimpleNamespace(stay=stay, node=node)


@pytest.mark.parametrize("seed", range(20))
def test_the_sweep_against_looking_at_every_time(seed: int) -> None:
    stays, places = random_places(seed)
    company = company_of(stays, places)
    owner, parts = company.everybody()
    place, begin, end, crowded = company.stretches(company.jobs > 1)
    for node in range(3):
        for time in TIMES:
            there = (places.node == node) & (stays.begin[places.stay] <= time) & (time < stays.end[places.stay])
            here = np.flatnonzero(there).tolist()
            part = np.flatnonzero((company.node == node) & (company.begin <= time) & (time < company.end)).tolist()
            assert len(part) == bool(here)
            if here:
                assert company.jobs[part[0]] == len(here) and sorted(owner[parts == part[0]]) == here
            for each in here:
                now = np.flatnonzero((place == each) & (begin <= time) & (time < end))
                assert len(now) == 1 and crowded[now[0]] == (len(here) > 1)
                stay = places.stay[each]
                assert stays.begin[stay] <= begin[now[0]] and end[now[0]] <= stays.end[stay]


def shared_run() -> sl.Run:
    """Job 1 has both nodes, job 2 the first one from 10 on, job 3 the second one from 20 to 30: 10 s at half speed are
    5 s of work. Job 4 is suspended at 40 and goes on where nobody is."""
    plan: Plan = {
        0.0: start(1, [(0, 2), (1, 2)]),
        10.0: start(2, [(0, 1)]),
        20.0: start(3, [(1, 1)]),
        30.0: start(4, [(2, 1)]),
        40.0: lambda view: view.suspend(next(job for job in view.running if job.id == 4)),
        50.0: lambda view: view.resume(next(iter(view.suspended)), nodes=[(2, 1)]),
    }

    jobs = {"submit": [0] * 4, "runtime": [40, 10, 5, 20], "limit": [500] * 4, "count": [4, 1, 1, 1]}
    return simulated(plan, observers=["sharing(0.5)"], **jobs)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    run = shared_run()
    assert run.rates.select("time", "job", "factor").rows() == [
        (10.0, 1, 0.5),
        (10.0, 2, 0.5),
        (20.0, 3, 0.5),
        (30.0, 1, 1.0),
    ]
    run.save(tmp_path / "run")
    assert sl.check(tmp_path / "run") == []
    return tmp_path / "run"


def test_another_rate_of_the_model(folder: Path) -> None:
    described = json.loads((folder / "run.json").read_text())
    described["execution"][0]["rate"] = 0.25
    (folder / "run.json").write_text(json.dumps(described))
    assert found(folder) == {("rates", 1), ("rates", 2), ("rates", 3)}
    message = "its factor by sharing is 0.5, those who are on its nodes make it 0.25"
    assert {offence.message for offence in sl.check(folder)} == {message}


def test_a_change_that_comes_too_late(folder: Path) -> None:
    """Job 1 is alone from 30 on, and slow until 32: 1 s of work is missing, so it would end 1 s later."""
    rates, pieces, jobs = (read(folder, table) for table in ("rates", "pieces", "jobs"))
    next(row for row in rates if row["job"] == 1 and row["time"] == 30)["time"] = 32.0
    for table, rows, column in (("rates", rates, ""), ("pieces", pieces, "end"), ("jobs", jobs, "end")):
        for row in rows:
            if column and row["job"] == 1:
                row[column] += 1.0
        write(folder, table, rows)
    assert ("rates", 1) in found(folder)


def test_rates_that_are_left_out(folder: Path) -> None:
    write(folder, "rates", [row for row in read(folder, "rates") if row["job"] != 3])
    assert ("rates", 3) in found(folder)


def test_a_model_that_is_not_known_here_is_believed(folder: Path) -> None:
    described = json.loads((folder / "run.json").read_text())
    described["execution"][0] |= {"model": "gossip", "rate": 0.25}
    (folder / "run.json").write_text(json.dumps(described))
    assert found(folder) == set()

"""The judge on reasons for waiting: what the engine says passes, and lies are found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.planned_runs import Row, read, write

import schedlab as sl
from schedlab.engine.check import check

Lie = Callable[[list[Row]], Any]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Job 2 waits for job 1's cores, job 3 would delay it, job 4 is held by job 1, job 5 starts at once."""
    rows = [(0, 6, 10), (1, 8, 10), (2, 3, 9), (3, 1, 100), (30, 1, 1)]
    submit, count, runtime = zip(*rows, strict=True)
    columns = {"submit": submit, "count": count, "runtime": runtime, "limit": runtime, "after": [-1, -1, -1, 1, -1]}
    jobs = sl.Workload.of(**columns)
    sl.simulate(jobs, "pool:10", "easy", dependencies="follow", reasons=True, out=tmp_path / "run")
    return tmp_path / "run"


def test_what_the_engine_says_passes(run: Path) -> None:
    told = [(row["job"], row["from"], row["until"], row["why"], row["who"]) for row in read(run, "reasons")]
    assert sorted(told) == [
        (2, 1, 10, "not enough free", None),
        (3, 2, 10, "would delay job", 2),
        (3, 10, 20, "not enough free", None),
        (4, 3, 10, "dependency", 1),
    ]
    assert check(run) == []


def of(job: int, begin: float, rows: list[Row]) -> Row:
    return next(row for row in rows if (row["job"], row["from"]) == (job, begin))


def set_(job: int, begin: float, /, **values: Any) -> Lie:
    return lambda rows: of(job, begin, rows).update(values)


def also(job: int, begin: float, until: float) -> Lie:
    extra = {"job": job, "sequence": job - 1, "from": begin, "until": until, "why": "limit", "who": None, "words": None}
    return lambda rows: rows.append(extra)


@pytest.mark.parametrize(
    ("lie", "job", "message"),
    [
        pytest.param(set_(2, 1, why="lazy"), 2, "not one that a job can have", id="unknown word"),
        pytest.param(lambda rows: rows.remove(of(2, 1, rows)), 2, "no reason says why", id="row missing"),
        pytest.param(set_(2, 1, until=9.0), 2, "no reason says why", id="ends early"),
        pytest.param(set_(3, 10, **{"from": 11.0}), 3, "no reason says why", id="gap"),
        pytest.param(set_(3, 2, until=11.0), 3, "another reason had not ended", id="overlap"),
        pytest.param(set_(2, 1, until=12.0), 2, "did not wait all that time", id="beyond its start"),
        pytest.param(set_(2, 1, **{"from": 0.0}), 2, "before it was eligible", id="before it came"),
        pytest.param(also(5, 30, 31), 5, "did not wait all that time", id="of one that started at once"),
        pytest.param(also(5, 30, 30), 5, "which is not later", id="no length"),
        pytest.param(set_(2, 1, sequence=7), 2, "there is no row for the job", id="unknown job"),
        pytest.param(set_(2, 1, job=3), 3, "there is no row for the job", id="another job"),
        pytest.param(set_(3, 2, who=None), 3, "nothing says which", id="nobody in the way"),
        pytest.param(set_(3, 2, who=99), 3, "not in the results", id="unknown who"),
        pytest.param(set_(3, 2, who=5), 3, "which was there from 30", id="who had not come"),
        pytest.param(set_(3, 10, who=1), 3, "which was there from 0", id="who had left"),
        pytest.param(set_(3, 2, who=3), 3, "because of itself", id="itself"),
        pytest.param(set_(2, 1, why="gate"), 2, "nothing says what or who", id="gate without a name"),
        pytest.param(set_(2, 1, words="well"), 2, "words of its own", id="words"),
        pytest.param(set_(2, 1, why="dependency"), 2, "and was eligible at 1", id="dependency too late"),
        pytest.param(set_(4, 3, why="limit", who=None), 4, "before it was eligible", id="limit before eligible"),
        pytest.param(set_(2, 1, why="budget"), 2, "nothing of the kind", id="no budget"),
        pytest.param(set_(2, 1, why="calendar"), 2, "nothing of the kind", id="no calendar"),
        pytest.param(set_(2, 1, why="closed nodes"), 2, "nothing of the kind", id="no closed nodes"),
        pytest.param(set_(2, 1, why="limit"), 2, "as the timeline has it", id="it did not fit"),
        pytest.param(set_(3, 2, why="not enough free", who=None), 3, "as the timeline has it", id="it did fit"),
    ],
)
def test_lies_are_found(run: Path, lie: Lie, job: int, message: str) -> None:
    rows = read(run, "reasons")
    lie(rows)
    write(run, "reasons", rows)
    offences = [offence for offence in check(run) if offence.kind == "waiting" and offence.job == job]
    assert any(message in offence.message for offence in offences), check(run)


def test_the_table_is_missing(run: Path) -> None:
    (run / "reasons.parquet").unlink()
    assert "reasons.parquet is missing" in {offence.message for offence in check(run)}

"""The judge on reasons: why jobs were rejected, or killed although their run times fit their limits."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.planned_runs import NODES, Plan, Row, all_of, found, job, read, simulated, start, write

import schedlab as sl
from schedlab.execution.failures import Failures
from schedlab.execution.power import Power
from schedlab.model.states import BY_DECISION, BY_POLICY, OVER_BUDGET, PREEMPTED, SLOWED, TIME_LIMIT

Lie = Callable[[list[Row]], None]


def many_fates() -> sl.Run:
    """Job 1 is too large, 2 rejected by the policy, 3 slowed to its limit, 4 killed at its limit, 5 by the policy.

    Job 6 is requeued, and its restart takes it to the limit; 7 completes; 8 is suspended, and killed there.
    """

    def reject(view: Any) -> None:
        view.reject(job(view, 2))

    plan: Plan = {
        0.0: all_of(reject, *(start(number) for number in (3, 4, 5, 6, 7, 8))),
        5.0: all_of(lambda view: view.set_rate(job(view, 3), 0.5), lambda view: view.suspend(job(view, 8))),
        6.0: lambda view: view.requeue(job(view, 6), saved=2.0, cost=20.0),
        7.0: start(6),
        10.0: all_of(lambda view: view.kill(job(view, 5), reason="preempted"), lambda view: view.kill(job(view, 8))),
    }
    return simulated(
        plan,
        submit=[0] * 8,
        runtime=[5, 5, 20, 30, 40, 15, 10, 10],
        limit=[5, 5, 25, 20, 50, 30, 10, 10],
        count=[99, 1, 1, 1, 1, 1, 1, 1],
    )


def set_(number: int, reason: str | None) -> Lie:
    def lie(rows: list[Row]) -> None:
        next(row for row in rows if row["job"] == number)["reason"] = reason

    return lie


def test_every_fate_has_its_reason(tmp_path: Path) -> None:
    run = many_fates()
    said = dict(run.jobs.sort("job").select("job", "reason").rows())
    assert said == {1: "larger than the cluster", 2: BY_POLICY, 3: SLOWED} | {
        **dict.fromkeys((4, 7)),
        5: PREEMPTED,
        6: SLOWED,
        8: BY_DECISION,
    }
    assert run.pieces.filter(how="requeued")["reason"].to_list() == [BY_DECISION]
    killed = {SLOWED: 2, BY_DECISION: 1, PREEMPTED: 1, TIME_LIMIT: 1}  # the last one, 4, at its own limit
    assert run.summary["reasons"] == {"larger than the cluster": 1, BY_POLICY: 1} | killed
    assert run.summary["requeues"] == {BY_DECISION: 1}
    assert sl.check(run) == sl.check(run.save(tmp_path / "run")) == []


@pytest.mark.parametrize(
    ("lie", "number"),
    [
        pytest.param(set_(1, None), 1, id="rejected without a reason"),
        pytest.param(set_(2, None), 2, id="rejected by the policy without a reason"),
        pytest.param(set_(1, "it was late"), 1, id="no such reason"),
        pytest.param(set_(1, SLOWED), 1, id="rejected for being slow"),
        pytest.param(set_(1, BY_POLICY), 1, id="rejected by the policy before it waited"),
        pytest.param(set_(2, "unknown partition"), 2, id="unknown partition after it waited"),
        pytest.param(set_(1, OVER_BUDGET), 1, id="over a budget that is not there"),
        pytest.param(set_(3, None), 3, id="slowed without a reason"),
        pytest.param(set_(6, None), 6, id="restarted without a reason"),
        pytest.param(set_(3, "unknown partition"), 3, id="killed for a partition"),
        pytest.param(set_(4, SLOWED), 4, id="slowed, but needs more than its limit"),
        pytest.param(set_(5, SLOWED), 5, id="slowed, but killed before the limit"),
        pytest.param(set_(8, SLOWED), 8, id="slowed, but killed while it was suspended"),
        pytest.param(set_(7, SLOWED), 7, id="slowed, but completed"),
        pytest.param(set_(7, BY_POLICY), 7, id="completed, but rejected"),
        pytest.param(set_(7, PREEMPTED), 7, id="completed, but preempted"),
        pytest.param(set_(5, None), 5, id="killed early without a reason"),
    ],
)
def test_lies_about_reasons(tmp_path: Path, lie: Lie, number: int) -> None:
    folder = many_fates().save(tmp_path / "run")
    rows = read(folder, "jobs")
    lie(rows)
    write(folder, "jobs", rows)
    assert found(folder) == {("reason", number)}


def test_an_engine_that_forgets_the_reason_is_found(tmp_path: Path) -> None:
    """The only job that should have it: what the file could have said shows that the run knew the word."""
    jobs = sl.Workload.of(submit=[0], runtime=[100], limit=[120], count=[1])
    sl.simulate(jobs, NODES, "easy", observers=[Failures(checkpoint=20, cost=5)], out=tmp_path / "run")
    path = tmp_path / "run" / "jobs.parquet"
    table = pq.read_table(path)
    words = table["reason"].chunk(0).dictionary
    assert SLOWED in words.to_pylist()
    empty = pa.DictionaryArray.from_arrays(pa.array([None], pa.int8()), words)
    pq.write_table(table.set_column(table.column_names.index("reason"), "reason", empty), path)
    assert ("reason", 1) in found(tmp_path / "run")


def test_runs_of_before_are_judged_by_what_they_say(tmp_path: Path) -> None:
    """Older runs do not know that jobs can be slowed to their limits, or have no reasons at all."""
    jobs = sl.Workload.of(submit=[0, 0], runtime=[100, 1], limit=[120, 1], count=[1, 99])
    folder = tmp_path / "run"
    sl.simulate(jobs, NODES, "easy", observers=[Failures(checkpoint=20, cost=5)], out=folder)
    rows = read(folder, "jobs")
    next(row for row in rows if row["job"] == 1)["reason"] = None
    write(folder, "jobs", rows)  # as plain texts, one of which is that of job 2
    assert sl.check(folder) == []
    path = folder / "jobs.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["reason"]), path)
    assert {offence.kind for offence in sl.check(folder)} == {"file"}  # it is another file than run.json says, no more


def test_a_reason_that_is_a_budget_needs_one_with_a_limit(tmp_path: Path) -> None:
    jobs = sl.Workload.of(submit=[0], runtime=[10], count=[8])
    folder = tmp_path / "run"
    sl.simulate(jobs, NODES, "easy", observers=[Power(per_core=10, cap=50)], out=folder)
    assert sl.check(folder) == [] and read(folder, "jobs")[0]["reason"] == OVER_BUDGET
    described = json.loads((folder / "run.json").read_text())
    described["budget"]["limit"] = None
    (folder / "run.json").write_text(json.dumps(described))
    assert found(folder) == {("reason", 1)}

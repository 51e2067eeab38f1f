"""Rates with owners: a product of factors, each set by one, and work that the engine counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.planned_runs import Plan, all_of, found, job, read, simulated, start, write

import schedlab as sl

ONE = sl.Cluster.uniform(1, cores=4)


class Factors(sl.Observer):
    """At each time it says how fast jobs are to be, as far as it has a say."""

    def __init__(self, name: str, plan: dict[float, float]) -> None:
        self.name, self._plan = name, plan
        self.seen: list[tuple[float, float, float, dict[str, float]]] = []

    def begin(self, view: Any) -> None:
        for time in self._plan:
            view.wake_at(time)

    def before(self, view: Any) -> None:
        for each in view.running:
            if view.now in self._plan and each.id == 1:
                view.set_rate(each, self._plan[view.now])
            self.seen.append((view.now, each.done, each.remaining, each.factors))


def slowed_twice() -> tuple[sl.Run, Factors, Factors]:
    """100 s of work: 10 at rate 1, 10 at 0.5, 10 at 0.25, 10 at 0.5 (of the second alone), then at 1."""
    first = Factors("zephyr", {10.0: 0.5, 30.0: 1.0})
    second = Factors("anchor", {20.0: 0.5, 40.0: 1.0})
    jobs = sl.Workload.of(submit=[0], runtime=[100], limit=[500], count=[4])
    run = sl.simulate(jobs, ONE, "easy", observers=[first, second], validate=True)
    return run, first, second


def test_two_observers_do_not_overwrite_each_other() -> None:
    run, first, second = slowed_twice()
    # 10 + 5 + 2.5 + 5 are done by 40; 77.5 are left.
    assert run.jobs.select("end", "state").row(0) == (117.5, "completed")
    assert run.rates.select("job", "sequence", "piece", "time", "owner", "factor", "rate").rows() == [
        (1, 0, 0, 10.0, "zephyr", 0.5, 0.5),
        (1, 0, 0, 20.0, "anchor", 0.5, 0.25),
        (1, 0, 0, 30.0, "zephyr", 1.0, 0.5),
        (1, 0, 0, 40.0, "anchor", 1.0, 1.0),
    ]
    assert run.pieces.select("begin", "end", "how", "work", "done").rows() == [(0.0, 117.5, "completed", 100.0, 100.0)]
    assert first.seen == [
        (10.0, 10.0, 90.0, {"zephyr": 0.5}),
        (20.0, 15.0, 85.0, {"zephyr": 0.5}),
        (30.0, 17.5, 82.5, {"anchor": 0.5}),
        (40.0, 22.5, 77.5, {"anchor": 0.5}),
    ]
    assert second.seen[1] == (20.0, 15.0, 85.0, {"anchor": 0.5, "zephyr": 0.5}) and second.seen[3][3] == {}
    assert sl.check(run) == []


def test_the_product_is_in_the_order_of_names() -> None:
    """0.1 x 0.2 x 0.3 is not 0.3 x 0.2 x 0.1: who came first does not matter."""
    jobs = sl.Workload.of(submit=[0], runtime=[10], limit=[5000], count=[4])
    factors = {"a": 0.1, "b": 0.2, "c": 0.3}
    ends = set()
    for order in ("abc", "cab", "bca"):
        observers = [Factors(name, {1.0 + i: factors[name]}) for i, name in enumerate(order)]
        rates = sl.simulate(jobs, ONE, "easy", observers=observers, validate=True).rates
        ends.add(rates["rate"].to_list()[-1])
    assert ends == {0.1 * 0.2 * 0.3}


def test_observers_of_one_name_have_factors_of_their_own() -> None:
    jobs = sl.Workload.of(submit=[0], runtime=[10], limit=[500], count=[4])
    observers = [Factors("twin", {2.0: 0.5}), Factors("twin", {2.0: 0.5}), Factors("policy", {2.0: 0.5})]
    run = sl.simulate(jobs, ONE, "easy", observers=observers, validate=True)
    assert run.rates["owner"].to_list() == ["twin", "twin (2)", "policy (2)"]
    assert run.rates["rate"].to_list() == [0.5, 0.25, 0.125] and sl.check(run) == []


def test_a_policy_is_an_owner_also_while_it_allows() -> None:
    class Slow(sl.Policy):
        def decide(self, view: Any, events: Any) -> None:
            for waiting in view.queue:
                view.start(waiting)
                view.set_rate(waiting, 0.5)

        def allows(self, view: Any, job: Any, nodes: Any) -> bool:
            assert view.owner == "policy"
            return True

    class Gate(sl.Observer):
        name = "gate"

        def allows(self, view: Any, job: Any, nodes: Any) -> bool:
            assert view.owner == "gate" and job.remaining == 10  # nothing is done yet
            return True

    jobs = sl.Workload.of(submit=[0], runtime=[10], limit=[500], count=[4])
    run = sl.simulate(jobs, ONE, Slow(), observers=[Gate()], validate=True)
    assert run.rates.select("owner", "rate").rows() == [("policy", 0.5)] and run.jobs["end"].to_list() == [20.0]


def test_a_policy_does_not_know_what_is_left() -> None:
    class Curious(sl.Policy):
        def decide(self, view: Any, events: Any) -> None:
            view.start(view.queue[0])
            assert view.running[0].remaining

    with pytest.raises(sl.PolicyError, match="cannot know what is left of a job"):
        sl.simulate(sl.Workload.of(submit=[0], runtime=[10], count=[4]), ONE, Curious())


def act(name: str, *arguments: Any, **more: Any) -> Any:
    return lambda view: getattr(view, name)(job(view, 1), *arguments, **more)


def test_factors_end_with_the_stay_but_a_change_of_shape_keeps_them() -> None:
    """Suspended, requeued: at rate 1 again. 40 s of work, twice as many on half the cores."""
    seen = []

    def look(view: Any) -> None:
        seen.append((job(view, 1).factors, job(view, 1).rate))

    plan: Plan = {
        0.0: all_of(start(1), act("set_rate", 0.5)),
        10.0: all_of(act("suspend"), look),  # 35 s are left
        20.0: all_of(act("resume"), look, act("set_rate", 0.25)),
        40.0: all_of(act("reshape", 1), look),  # 30 s of 40, so 60 s of 80
        60.0: all_of(act("requeue"), look),
        70.0: all_of(start(1, shape=0), look),
    }
    shapes = [[sl.Shape(count=2, runtime=80, limit=1000)]]
    run = simulated(plan, ONE, submit=[0], runtime=[40], limit=[500], count=[4], shapes=shapes, malleable=[True])
    assert seen == [({}, 1.0), ({}, 1.0), ({"policy": 0.25}, 0.25), ({}, 1.0), ({}, 1.0)]
    assert run.rates.select("piece", "time", "rate").rows() == [(0, 0.0, 0.5), (1, 20.0, 0.25)]
    assert run.pieces.select("begin", "end", "how", "work", "done").rows() == [
        (0.0, 10.0, "suspended", 40.0, 5.0),
        (20.0, 40.0, "reshaped", 35.0, 5.0),
        (40.0, 60.0, "requeued", 60.0, 5.0),
        (70.0, 110.0, "completed", 40.0, 40.0),
    ]
    assert sl.check(run) == []


def test_a_job_that_ends_as_believed_after_all_is_not_corrected() -> None:
    """It was to end at 20, and is fast enough to end at 10 in the end; with a pass for each event it is gone then."""
    seen = []

    class Look(sl.Observer):
        def before(self, view: Any) -> None:
            seen.append((view.now, [running.id for running in view.running]))

    plan = Factors("plan", {0.5: 0.5, 2.0: 8.5 / 8})
    jobs = sl.Workload.of(submit=[0, 0, 15], runtime=[9.75, 50, 1], limit=[10, 60, 1], count=[1, 1, 1])
    run = sl.simulate(jobs, ONE, "easy", observers=[plan, Look()], passes="event", overrun="run", validate=True)
    assert run.jobs["end"].to_list()[0] == 10.0
    assert [jobs for now, jobs in seen if now == 15.0] == [[2]]


def test_lies_about_two_owners(tmp_path: Path) -> None:
    folder = slowed_twice()[0].save(tmp_path / "run")
    rows = read(folder, "rates")
    for change in ({"factor": 0.4}, {"rate": 0.3}, {"owner": "zephyr"}):
        write(folder, "rates", [{**row, **change} if row["time"] == 20 else row for row in rows])
        assert ("rates", 1) in found(folder)
    write(folder, "rates", rows)
    assert found(folder) == set()


def in_format_1(folder: Path) -> list[dict[str, Any]]:
    """The pieces as they were told before there was a table of rates: one ends "slowed" where the rate changes."""
    pieces, rates = read(folder, "pieces"), read(folder, "rates")
    old = []
    for piece in pieces:
        work, rate, begin = piece["work"], 1.0, piece["begin"]
        for change in rates:
            old.append({**piece, "begin": begin, "end": change["time"], "how": "slowed", "work": work, "rate": rate})
            work, rate, begin = work - rate * (change["time"] - begin), change["rate"], change["time"]
        old.append({**piece, "begin": begin, "work": work, "rate": rate})
    for row in old:
        del row["done"]
    return old


def as_older(folder: Path, rows: list[dict[str, Any]]) -> None:
    (folder / "rates.parquet").unlink(missing_ok=True)
    described = json.loads((folder / "run.json").read_text())
    described["files"].pop("rates.parquet", None)
    (folder / "run.json").write_text(json.dumps(described))
    schema = pa.Table.from_pylist(rows).schema
    pq.write_table(pa.Table.from_pylist(rows), folder / "pieces.parquet")
    assert "rate" in schema.names
    write(folder, "pieces", rows)


def test_runs_of_format_1_are_judged_too(tmp_path: Path) -> None:
    folder = slowed_twice()[0].save(tmp_path / "run")
    rows = in_format_1(folder)
    assert [row["work"] for row in rows] == [100, 90, 85, 82.5, 77.5]
    as_older(folder, rows)
    assert found(folder) == set()
    lies: list[tuple[int, dict[str, Any], str]] = [
        (1, {"begin": 11.0}, "pieces"),
        (1, {"nodes": "n1*3"}, "pieces"),
        (1, {"count": 3, "cores": 3, "nodes": "n1*3"}, "pieces"),
        (2, {"work": 85.1}, "work"),
        (2, {"work": 84.9}, "work"),
        (2, {"rate": 0.3}, "work"),
        (2, {"rate": -1.0}, "rates"),
        (4, {"how": "slowed"}, "pieces"),
        (4, {"end": 118.0}, "work"),
        (0, {"work": 101.0}, "work"),
    ]
    for which, columns, kind in lies:
        as_older(folder, [{**row, **columns} if number == which else row for number, row in enumerate(rows)])
        assert (kind, 1) in found(folder), columns

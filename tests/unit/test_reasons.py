"""Why jobs wait, worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import schedlab as sl
from schedlab.engine.simulate import Simulation
from schedlab.model.states import WAIT_REASONS

Told = tuple[float, float, str, int | None]

# Ten cores. Job 1 takes 6 until 10. Job 2 (8 cores) has to wait for it: shadow time 10, extra 2. Job 3 (3 cores, 9 s)
# would end at 11 and job 2 would lack a core; job 4 (1 core, 100 s) may have one that is over.
QUEUE = [(0, 6, 10), (1, 8, 10), (2, 3, 9), (3, 1, 100)]


def workload(rows: list[tuple[float, int, float]], **more: Any) -> sl.Workload:
    submit, count, runtime = zip(*rows, strict=True)
    return sl.Workload.of(submit=submit, count=count, runtime=runtime, limit=runtime, **more)


def told(run: sl.Run) -> dict[int, list[Told]]:
    found: dict[int, list[Told]] = {}
    for job, *row in run.reasons.sort("sequence", "from").select("job", "from", "until", "why", "who").rows():
        found.setdefault(job, []).append(tuple(row))
    return found


def reasons(policy: Any, rows: list[tuple[float, int, float]] = QUEUE, **options: Any) -> dict[int, list[Told]]:
    columns = {name: options.pop(name) for name in ("after", "think", "request", "requests") if name in options}
    machine = options.pop("cluster", "pool:10")
    return told(sl.simulate(workload(rows, **columns), machine, policy, reasons=True, validate=True, **options))


def test_in_order_everybody_stands_behind_the_first() -> None:
    assert reasons("fcfs") == {
        2: [(1, 10, "not enough free", None)],
        3: [(2, 10, "behind job", 2), (10, 20, "not enough free", None)],
        4: [(3, 10, "behind job", 2), (10, 20, "behind job", 3)],
    }


def test_under_easy_who_fits_would_delay_the_head() -> None:
    assert reasons("easy") == {
        2: [(1, 10, "not enough free", None)],
        3: [(2, 10, "would delay job", 2), (10, 20, "not enough free", None)],
    }


def test_who_uses_extra_cores_too_is_held_back_by_easy_strict() -> None:
    assert reasons("easy-strict")[4] == [(3, 10, "would delay job", 2), (10, 20, "would delay job", 3)]


def test_under_conservative_a_later_reservation_is_in_the_way() -> None:
    # Job 3 (all cores) gets [20, 25). Job 4 (2 cores, 20 s) fits beside job 2 from now on, but would delay job 3.
    rows = [(0, 6, 10), (1, 8, 10), (2, 10, 5), (3, 2, 20)]
    assert reasons("conservative", rows)[4] == [(3, 20, "would delay job", 3), (20, 25, "not enough free", None)]


def test_depth_is_a_limit() -> None:
    # Jobs 3 and 4 do not fit beside job 1; job 5 would, and nobody looks at it.
    rows = [(0, 6, 10), (1, 10, 10), (1, 5, 1), (1, 5, 1), (1, 4, 1)]
    found = reasons("easy:depth=2", rows)
    assert found[5][0] == (1, 10, "limit", None)
    assert found[4][0] == (1, 20, "not enough free", None)


def test_a_predecessor_and_then_its_think_time() -> None:
    rows = [(0, 10, 10), (1, 1, 5), (3, 4, 5)]
    found = reasons("easy", rows, after=[-1, 1, -1], think=[0, 4, 0], dependencies="follow")
    assert found == {
        2: [(1, 10, "dependency", 1), (10, 14, "dependency", None)],
        3: [(3, 10, "not enough free", None)],
    }


def test_nodes_that_it_may_not_have_are_free() -> None:
    fast = sl.NodeGroup("fast", 1, {"cores": 4}, prefix="f", features=frozenset({"fast"}))
    cluster = sl.Cluster((sl.NodeGroup("plain", 1, {"cores": 4}), fast))
    requests = [sl.Request(), sl.Request(features=frozenset({"fast"}))]
    rows = [(0, 4, 10), (1, 4, 5), (2, 8, 5)]
    found = reasons("skip", rows, cluster=cluster, requests=requests, request=[1, 1, 0])
    assert found == {2: [(1, 10, "partition or features", None)], 3: [(2, 15, "not enough free", None)]}


def test_closed_nodes_the_calendar_and_a_budget() -> None:
    from schedlab.execution.maintenance import Maintenance, Reservation
    from schedlab.execution.power import Power

    rows = [(0, 4, 10), (1, 4, 10)]
    ahead = reasons("fcfs", rows, cluster="1x8", observers=[Reservation("n1", 5, 15, [9])])
    assert ahead == {1: [(0, 20, "calendar", None)], 2: [(1, 20, "behind job", 1)]}
    during = reasons("skip", [(6, 4, 10)], cluster="1x8", observers=[Maintenance("n1", 5, 15)])
    assert during == {1: [(6, 20, "closed nodes", None)]}
    capped = reasons("skip", rows, cluster="1x8", observers=[Power(per_core=10, cap=50)])
    assert capped == {2: [(1, 10, "budget", None)]}


class Wednesday(sl.Observer):
    def allows(self, view: Any, job: Any, nodes: Any) -> bool:
        if view.now < 30:
            view.wake_at(30.0)
        return bool(view.now >= 30)


def test_an_observer_that_refuses_is_named() -> None:
    run = sl.simulate(workload([(0, 1, 5)]), "pool:10", "easy", observers=[Wednesday()], reasons=True)
    assert run.reasons.select("from", "until", "why", "words").rows() == [(0, 30, "gate", "Wednesday")]


class Shy(sl.Policy):
    """Starts nothing before 20."""

    def decide(self, view: Any, events: Any) -> None:
        if view.now < 20:
            view.wake_at(20.0)
            return
        for job in view.queue:
            view.start(job)


class Frank(Shy):
    def decide(self, view: Any, events: Any) -> None:
        for job in view.queue:
            view.explain(job, "too early" if job.id == 1 else "behind job", None if job.id == 1 else view.queue[0])
        super().decide(view, events)


def test_a_policy_in_python_that_says_nothing() -> None:
    assert reasons(Shy(), [(0, 8, 5), (1, 8, 5), (2, 11, 5)][:2]) == {
        1: [(0, 20, "not started by the policy", None)],
        2: [(1, 20, "not started by the policy", None), (20, 25, "not enough free", None)],
    }


def test_a_policy_in_python_in_its_own_words() -> None:
    run = sl.simulate(workload([(0, 8, 5), (1, 8, 5)]), "pool:10", Frank(), reasons=True)
    assert run.reasons.sort("job").select("job", "from", "until", "why", "who", "words").rows() == [
        (1, 0, 20, "own words", None, "too early"),
        (2, 1, 25, "behind job", 1, None),
    ]
    assert len(sl.simulate(workload([(0, 8, 5)]), "pool:10", Frank()).reasons) == 0


@pytest.mark.parametrize(
    ("say", "message"),
    [
        (lambda view: view.explain(view.queue[0], "behind job"), "which job is in the way"),
        (lambda view: view.start(view.queue[0]) and view.explain(view.running[0], "tired"), "it does not wait"),
    ],
)
def test_what_cannot_be_said(say: Any, message: str) -> None:
    policy = type("Says", (sl.Policy,), {"decide": lambda self, view, events: say(view)})
    with pytest.raises(sl.SchedlabError, match=message):
        sl.simulate(workload([(0, 8, 5)]), "pool:10", policy())


class OnEasy(sl.Policy):
    def __init__(self) -> None:
        self.native = sl.Native("easy")

    def decide(self, view: Any, events: Any) -> None:
        self.native.decide(view)


def test_what_builds_on_a_native_policy_has_its_reasons() -> None:
    assert reasons(OnEasy()) == reasons("easy")
    stepper = sl.Stepper(workload(QUEUE), "pool:10", "easy", reasons=True)
    while stepper.advance():
        stepper.decide()
    assert told(stepper.finish()) == reasons("easy")


def test_a_job_that_a_decision_holds() -> None:
    class Holding(sl.Policy):
        def decide(self, view: Any, events: Any) -> None:
            for job in list(view.queue):
                if job.id == 2 and view.now < 4:
                    view.hold(job)
                    view.wake_at(4.0)
                    self.held = job
                else:
                    view.start(job)
            if view.now == 4 and self.held.state == "held":
                view.release(self.held)

    scenario = sl.Scenario(workload([(0, 6, 10), (1, 8, 10)]), sl.Cluster.of_cores(10), Holding(), reasons=True)
    assert told(Simulation(scenario).run()) == {2: [(1, 4, "held", None), (4, 10, "not enough free", None)]}


def test_reservations_of_a_policy_in_python() -> None:
    class Reserving(sl.Policy):
        def decide(self, view: Any, events: Any) -> None:
            for job in view.queue:
                if not view.start(job):
                    view.reserve(job)

    assert reasons(Reserving())[3][0] == (2, 10, "would delay job", 2)


def test_the_table_is_there_when_it_was_asked_for(tmp_path: Path) -> None:
    one = sl.simulate(workload(QUEUE[:1]), "pool:10", "easy", reasons=True, out=tmp_path / "asked")
    other = sl.simulate(workload(QUEUE), "pool:10", "easy", out=tmp_path / "not")
    assert one.config["reasons"] and (tmp_path / "asked" / "reasons.parquet").is_file() and len(one.reasons) == 0
    assert "reasons" not in other.config and not (tmp_path / "not" / "reasons.parquet").exists()
    assert other.reasons.columns == one.reasons.columns


def test_the_core_knows_the_same_words() -> None:
    class Says(sl.Policy):
        def decide(self, view: Any, events: Any) -> None:
            for job in view.queue:
                view.explain(job, WAIT_REASONS[job.id - 1], view.queue[0] if job.id > 1 else None)
            if view.now >= 1:
                for job in view.queue:
                    view.start(job)
            else:
                view.wake_at(1.0)

    rows = [(0.0, 1, 5.0)] * len(WAIT_REASONS)
    # Not judged: most of it cannot be true.
    run = Simulation(sl.Scenario(workload(rows), sl.Cluster.of_cores(100), Says(), reasons=True)).run()
    said = run.reasons.sort("job")["why"].to_list()
    expected = ["own words" if word == "gate" else word for word in WAIT_REASONS]
    assert said == expected

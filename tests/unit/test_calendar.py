"""Nodes that are set aside for a time bind whoever chooses nodes; against schedules worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.planned_runs import Plan, job

import schedlab as sl
from schedlab import _core
from schedlab.execution.maintenance import Maintenance, Reservation

TWO = sl.Cluster.uniform(2, cores=4)
PLACEMENTS = """
def backwards(job, cluster):
    return range(cluster.nodes)[::-1]

def second(job, cluster):
    return [(1, job.count)]

def with_care(job, cluster):
    usable = cluster.usable(job)
    return [(node, job.count) for node in range(cluster.nodes) if usable[node] and cluster.free[node] >= job.count][-1:]
"""


def planned(plan: Plan, *observers: Any, **given: Any) -> sl.Run:
    """A run under a policy that does at each time what the plan says."""

    def decide(view: Any, events: Any) -> None:
        if not view.data:
            view.data["woken"] = [view.wake_at(time) for time in plan if time > view.now]
        if view.now in plan:
            plan.pop(view.now)(view)

    policy = type("Planned", (), {"decide": staticmethod(decide)})()
    return sl.simulate(sl.Workload.of(**given), TWO, policy, observers=observers, validate=True)


@pytest.fixture
def placements(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(PLACEMENTS)
    return path


def test_a_start_on_named_nodes_is_refused_with_all_that_one_has_to_know() -> None:
    with pytest.raises(sl.DecisionError) as caught:
        planned(
            {5.0: lambda view: view.start(job(view, 1), [(0, 4), (1, 4)])},
            Maintenance("n2", 50, "1m"),
            submit=[5],
            runtime=[10],
            limit=[60],
            count=[8],
        )
    message = "cannot start job 1 at 5 s: node n2 is set aside by maintenance from 50 s until 110 s"
    assert str(caught.value).startswith(f"{message}, and the job would be there until 65 s\n")


@pytest.mark.parametrize(("limit", "user", "good"), [(45, 1, True), (46, 1, False), (46, 7, True), (1000, 7, True)])
def test_named_nodes_may_be_used_in_time_and_by_those_they_are_for(limit: int, user: int, good: bool) -> None:
    given = {"submit": [5], "runtime": [10], "limit": [limit], "count": [4], "user": [user]}
    seen: list[Any] = []

    def act(view: Any) -> None:
        one = job(view, 1)
        seen.extend([view.cluster.usable(one).tolist(), view.cluster.usable_until(one).tolist(), view.fits(one)])
        try:
            seen.append(view.start(one, [(1, 4)]))
        except _core.DecisionError:
            seen.append(False)

    planned({5.0: act}, Reservation("n2", 50, 60, users=[7, 8]), **given)
    never = float("inf")
    assert seen == [[True, good], [never, never if user == 7 else 50.0], True, good]


def test_until_when_nodes_can_be_had() -> None:
    """Node 1 is closed, node 2 set aside twice: at 70 s the first time is over."""
    seen: dict[float, list[float]] = {}

    def look(view: Any) -> None:
        seen[view.now] = view.cluster.usable_until(job(view, 1)).tolist()
        if view.now == 60.0:
            view.close(0)

    planned(
        {5.0: look, 60.0: look, 70.0: look, 71.0: look},
        Reservation("n2", 100, 10),
        Reservation("n2", 50, 20),
        submit=[5],
        runtime=[10],
        count=[4],
    )
    never = float("inf")
    assert seen == {5.0: [never, 50.0], 60.0: [never, 60.0], 70.0: [70.0, 100.0], 71.0: [71.0, 100.0]}


@pytest.mark.parametrize(("begins", "good"), [(109, False), (110, True)])
@pytest.mark.parametrize("named", [True, False])
def test_a_job_that_is_resumed_needs_its_nodes_for_what_is_left_of_its_estimate(
    begins: float, good: bool, named: bool
) -> None:
    """60 of 100 s are over: from 70 s on it is believed to take 40 s."""
    plan: Plan = {
        0.0: lambda view: view.start(job(view, 1), [(0, 4)]),
        60.0: lambda view: view.suspend(job(view, 1)),
        70.0: lambda view: view.resume(job(view, 1), [(1, 4)] if named else None),
    }
    given: dict[str, Any] = {"submit": [0], "runtime": [90], "limit": [100], "count": [4]}
    observers = Reservation("n2", begins, 50), Reservation("n1", 100, 60)
    if good or not named:
        run = planned(plan, *observers, **given)
        assert run.jobs["state"].to_list() == ["completed" if good else "suspended"]
        assert run.pieces["expected_end"].to_list() == ([100.0, 110.0] if good else [100.0])
    else:
        with pytest.raises(sl.DecisionError, match=r"cannot resume job 1 at 70 s: node n2 .* there until 110 s"):
            planned(plan, *observers, **given)


@pytest.mark.parametrize(("begins", "good"), [(139, False), (140, True)])
@pytest.mark.parametrize("named", [True, False])
def test_a_job_that_is_reshaped_needs_its_nodes_for_what_is_left_of_its_estimate(
    begins: float, good: bool, named: bool
) -> None:
    """At 60 s, 40 of its 100 s are left: in the other shape, with twice the limit, 80 s."""
    plan: Plan = {
        0.0: lambda view: view.start(job(view, 1), [(0, 4)]),
        60.0: lambda view: view.reshape(job(view, 1), 1, [(1, 2)] if named else None),
    }
    shapes = [[sl.Shape(count=2, runtime=180, limit=200)]]
    given: dict[str, Any] = {"submit": [0], "runtime": [90], "limit": [100], "count": [4], "malleable": [True]}
    observers = Reservation("n2", begins, 50), Reservation("n1", 100, 60)
    if good or not named:
        run = planned(plan, *observers, shapes=shapes, **given)
        assert run.jobs["nodes"].to_list() == ["n2*2" if good else "n1*4"]
        assert run.pieces["expected_end"].to_list() == ([100.0, 140.0] if good else [])
    else:
        with pytest.raises(sl.DecisionError, match=r"cannot reshape job 1 at 60 s: node n2 .* there until 140 s"):
            planned(plan, *observers, shapes=shapes, **given)


# Node 2 is set aside from 100 to 200 s. Job 1 (150 s) may only have node 1, job 2 (150 s) has to wait, job 3 has 50 s.
QUEUE: dict[str, Any] = {
    "submit": [0, 1, 2],
    "runtime": [150, 150, 50],
    "limit": [150, 150, 90],
    "count": [4, 4, 4],
}
BUILT_IN = ("none", "skip", "easy", "easy-strict", "conservative")


@pytest.mark.parametrize("backfill", BUILT_IN)
def test_a_placement_in_python_passes_over_nodes_that_are_set_aside(placements: Path, backfill: str) -> None:
    for function in ("backwards", "with_care"):
        policy = f"{backfill}:place={placements}:{function}"
        run = sl.simulate(sl.Workload.of(**QUEUE), TWO, policy, observers=[Maintenance("n2", 100, 100)], validate=True)
        rows = run.jobs.select("start", "nodes").rows()
        assert rows[:2] == [(0.0, "n1*4"), (150.0, "n1*4")]
        assert rows[2] == ((200.0 if backfill == "none" else 2.0), "n2*4")
        assert sl.check(run) == []


@pytest.mark.parametrize("backfill", BUILT_IN)
def test_a_placement_in_python_that_says_how_much_goes_where_is_refused(placements: Path, backfill: str) -> None:
    with pytest.raises(sl.DecisionError, match="cannot place job 1 at 0 s: node n2 is set aside by maintenance from"):
        policy = f"{backfill}:place={placements}:second"
        sl.simulate(sl.Workload.of(**QUEUE), TWO, policy, observers=[Maintenance("n2", 100, 100)])


@pytest.mark.parametrize("policy", ["easy:reservations=2", "conservative"])
def test_a_placement_in_python_is_asked_where_plans_are_made_by_nodes(placements: Path, policy: str) -> None:
    """Two chunks a node. Job 3 (8 s) fits beside job 1 and is gone when job 2 starts."""
    text = f"{policy}{',' if ':' in policy else ':'}place={placements}:backwards"
    pair = [sl.Request({"cores": 2})]
    jobs = sl.Workload.of(
        requests=pair,
        submit=[0, 1, 2],
        runtime=[10, 20, 8],
        count=[3, 3, 1],
        request=[0, 0, 0],
    )
    run = sl.simulate(jobs, TWO, text, validate=True)
    assert run.jobs.select("start", "nodes").rows() == [(0.0, "n2*2,n1"), (10.0, "n2*2,n1"), (2.0, "n1")]


MAINTAINED: dict[str, Any] = {
    "submit": [0, 20, 20],
    "runtime": [50, 85, 80],
    "count": [8, 4, 4],
}


@pytest.mark.parametrize("policy", ["easy", "conservative", "easy:reservations=2", "native"])
def test_who_waits_for_the_end_of_maintenance_keeps_his_reservation_during_it(policy: str) -> None:
    """Job 1 needs both nodes and has them from 100 s on. Job 2 would still be on node 1 then, job 3 would not."""

    class Inside(sl.Policy):
        def __init__(self) -> None:
            self.inner = sl.Native("easy")

        def decide(self, view: Any, events: Any) -> None:
            self.inner.decide(view)

    decider: Any = Inside() if policy == "native" else policy
    run = sl.simulate(sl.Workload.of(**MAINTAINED), TWO, decider, observers=[Maintenance("n2", 10, 90)], validate=True)
    assert run.jobs["start"].to_list() == [100.0, 150.0, 20.0]


def test_a_window_that_ends_lets_jobs_start_in_the_first_pass_of_its_instant() -> None:
    """passes=event: at 10 s a job comes, and the pass after its submission already starts the one that waits."""
    jobs = sl.Workload.of(submit=[0, 10], runtime=[30, 30], count=[8, 8])
    run = sl.simulate(jobs, TWO, "skip", passes="event", observers=[Reservation("n[1-2]", 5, 5)], validate=True)
    assert run.jobs["start"].to_list() == [10.0, 40.0]


def test_a_requeued_job_keeps_an_estimate_below_a_second() -> None:
    """It is believed to take half a second: it fits before 61 s, when its node is set aside again."""
    jobs = sl.Workload.of(submit=[0], runtime=[10], limit=[0.5], count=[4])
    observers = [Maintenance("n1", 5, 55.0), Maintenance("n2", 0, 90), Reservation("n1", 60.5, 10)]
    run = sl.simulate(jobs, TWO, "easy", overrun="run", observers=observers, validate=True)
    assert run.jobs["start"].to_list() == [60.0]


def test_the_victims_of_all_maintenance_are_counted() -> None:
    jobs = sl.Workload.of(submit=[0, 0], runtime=[90, 90], limit=[50, 50], count=[4, 4])
    observers = [Maintenance("n1", 60, 100, "kill"), Maintenance("n2", 70, 100, "kill"), Maintenance("n2", 80, 5)]
    run = sl.simulate(jobs, TWO, "easy", observers=observers, overrun="run")
    assert run.summary["observed"]["maintenance_victims"] == 2


def test_a_node_that_is_not_there_names_the_observer() -> None:
    with pytest.raises(sl.InputError, match="observer maintenance: there is no node 'n3'"):
        sl.simulate(
            sl.Workload.of(submit=[0], runtime=[1], count=[1]), TWO, "easy", observers=[Maintenance("n3", 1, 1)]
        )


def test_the_run_records_the_calendar(tmp_path: Path) -> None:
    class Own(sl.Observer):
        def calendar(self, cluster: sl.Cluster) -> Any:
            return [([1, 0], 500, float("inf"), [])]

    observers = [Maintenance("n2", 100, 50, "drain"), Reservation("n[1-2]", 200, 50, users=[3]), Own()]
    jobs = sl.Workload.of(submit=[0], runtime=[1], count=[1])
    run = sl.simulate(jobs, TWO, "easy", observers=observers, out=tmp_path / "run")
    own = f"{Own.__qualname__}"
    windows = [
        {"nodes": ["n2"], "from": 100.0, "until": 150.0, "users": [], "by": "maintenance", "victims": "drain"},
        {"nodes": ["n1", "n2"], "from": 200.0, "until": 250.0, "users": [3], "by": "reservation", "victims": ""},
        {"nodes": ["n1", "n2"], "from": 500.0, "until": None, "users": [], "by": own, "victims": ""},
    ]
    assert run.config["calendar"] == sl.read_run(tmp_path / "run").config["calendar"] == windows
    assert sl.check(tmp_path / "run") == []
    assert "calendar" not in sl.simulate(jobs, TWO, "easy").config


@pytest.mark.parametrize(
    ("window", "message"),
    [
        (([2], 0, 1, []), r"the calendar of .*Own has a node number that is not there: \[2\]\n.*from 0 to 1"),
        (([0], 5, 4, []), "has a time from 5.0 until 4.0"),
        (([0], float("nan"), 4, []), "has a time from nan"),
    ],
)
def test_a_calendar_without_sense_is_refused(window: Any, message: str) -> None:
    class Own(sl.Observer):
        def calendar(self, cluster: sl.Cluster) -> Any:
            return [window]

    with pytest.raises(sl.InputError, match=message):
        sl.simulate(sl.Workload.of(submit=[0], runtime=[1], count=[1]), TWO, "easy", observers=[Own()])


def test_maintenance_is_a_surprise_to_a_decider_that_cannot_be_told_of_it() -> None:
    class Elsewhere(sl.Policy):
        knows_calendar = False

        def decide(self, view: Any, events: Any) -> None:
            for each in view.queue:
                if view.cluster.up.all():
                    view.start(each, [(1, 4)])

    jobs = sl.Workload.of(submit=[0], runtime=[100], count=[4])
    run = sl.simulate(jobs, TWO, Elsewhere(), observers=[Maintenance("n2", 50, 25)])
    assert run.pieces["how"].to_list() == ["requeued", "completed"] and run.jobs["start"].to_list() == [75.0]
    assert sl.check(run) == [] and "calendar" not in run.config
    with pytest.raises(sl.InputError, match="cannot keep nodes for a reservation"):
        sl.simulate(jobs, TWO, Elsewhere(), observers=[Reservation("n2", 50, 25)])


def test_a_reservation_names_its_users() -> None:
    """As an accounting dump has them: by name. The job of bob has to wait until the reservation is over."""
    jobs = sl.Workload.of(submit=[0, 0], runtime=[10, 10], count=[2, 2], user=[0, 1], labels={"user": ["alice", "bob"]})
    for users in ("'alice'", "['alice']", "[0]", "0"):
        reserved = f"reservation('n1', start=0, duration=100, users={users})"
        run = sl.simulate(jobs, sl.Cluster.uniform(1, 2), "easy", observers=[reserved])
        assert run.jobs["start"].to_list() == [0.0, 100.0], users
    for users, hint in (("'alcie'", "alice"), ("[1.5]", "its users are alice, bob")):
        with pytest.raises(sl.InputError) as error:
            sl.simulate(jobs, "1x2", "easy", observers=[f"reservation('n1', start=0, duration=1, users={users})"])
        assert "who is not in the log" in str(error.value) and hint in str(error.value)

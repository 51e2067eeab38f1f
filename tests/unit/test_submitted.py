"""Jobs that are submitted, held, released and withdrawn while a simulation runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import schedlab as sl
from schedlab.model.workload import JobBatch

LOG = {"submit": [0, 5, 10], "runtime": [4, 4, 4], "count": [1, 1, 2]}


class Doing(sl.Observer):
    """Does something at a time, before or after the pass, once."""

    def __init__(self, time: float, act: Callable[[Any], Any], after: bool = False) -> None:
        self.time, self.act, self.is_after, self.done = time, act, after, False

    def begin(self, view: Any) -> None:
        view.wake_at(self.time)

    def _act(self, view: Any) -> None:
        if view.now == self.time and not self.done:
            self.done = True
            self.act(view)

    def before(self, view: Any) -> None:
        if not self.is_after:
            self._act(view)

    def after(self, view: Any) -> None:
        if self.is_after:
            self._act(view)

    def more_may_come(self, view: Any) -> bool:
        return not self.done


def simulate(*observers: Any, policy: Any = "easy", jobs: Any = LOG, cluster: str = "pool:2", **options: Any) -> sl.Run:
    return sl.simulate(sl.Workload.of(**jobs), cluster, policy, observers=observers, validate=True, **options)


def starts(run: sl.Run) -> dict[int, float | None]:
    return dict(zip(run.jobs["job"].to_list(), run.jobs["start"].to_list(), strict=True))


def test_a_job_that_is_submitted_is_a_job_like_any_other() -> None:
    run = simulate(Doing(3, lambda view: view.submit(runtime=7, count=2, user=4, limit=9)))
    job = run.jobs.filter(pl.col("job") == 10**12).row(0, named=True)
    assert (job["sequence"], job["submit"], job["start"], job["end"]) == (1, 3.0, 4.0, 11.0)
    assert (job["user"], job["limit"], job["count"]) == (4, 9.0, 2)
    assert starts(run) == {1: 0.0, 10**12: 4.0, 2: 11.0, 3: 15.0}
    assert run.table("submitted").rows() == [(1, 10**12, 3.0, None)]
    assert sl.check(run) == []


def test_a_job_for_later_enters_after_those_of_the_log() -> None:
    class Early(sl.Observer):
        def begin(self, view: Any) -> None:
            self.job = view.submit(1, at=5.0)
            self.seen = (self.job.state, self.job.sequence)

        def submitted(self, view: Any, job: Any) -> None:
            if job.id == 10**12:
                self.same = job == self.job and hash(job) == hash(self.job) and self.job.sequence == 2

    observer = Early()
    run = simulate(observer)
    assert observer.seen == ("coming", -1) and observer.same
    assert run.jobs["job"].to_list() == [1, 2, 10**12, 3]
    assert run.table("submitted").rows() == [(2, 10**12, None, None)]


def test_a_decider_sees_its_job_at_once_and_is_told_in_another_round() -> None:
    class Submitting(sl.Policy):
        def __init__(self) -> None:
            self.told: list[Any] = []

        def decide(self, view: Any, events: Any) -> None:
            self.told.append((view.now, [(kind, getattr(job, "id", None)) for kind, job in events]))
            if len(self.told) == 1:
                job = view.submit(2)
                assert [one.id for one in view.queue] == [1, job.id]
            for job in view.queue:
                view.start(job)

    policy = Submitting()
    run = simulate(policy=policy, jobs={"submit": [0], "runtime": [4]})
    assert policy.told[:2] == [(0.0, [("submitted", 1)]), (0.0, [("submitted", 10**12)])]
    assert starts(run) == {1: 0.0, 10**12: 0.0}


def test_the_run_stays_open_while_more_may_come() -> None:
    run = simulate(Doing(1000, lambda view: view.submit(5)))
    assert starts(run)[10**12] == 1000.0


def test_a_run_that_nothing_can_wake_is_an_error_that_says_who_waits() -> None:
    class Hopeful(sl.Observer):
        def more_may_come(self, view: Any) -> bool:
            return True

    with pytest.raises(sl.DecisionError, match=r"Hopeful says at .* that more jobs may come"):
        simulate(Hopeful())


def test_who_is_asked_does_nothing() -> None:
    class Busy(sl.Observer):
        def more_may_come(self, view: Any) -> bool:
            view.submit(1)
            return True

    with pytest.raises(sl.DecisionError, match="more_may_come is a question"):
        simulate(Busy())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"runtime": -1}, "its runtime is -1, expected a duration"),
        ({"runtime": 1, "limit": float("nan")}, "its limit is nan"),
        ({"runtime": 1, "count": 0}, "its count is 0, expected at least 1 chunk"),
        ({"runtime": 1, "at": 2.0}, "its submission is 2, expected a time that is not in the past"),
        ({"runtime": 1, "request": 7}, "there is no request 7, only 1"),
        ({"runtime": 1, "id": 1}, "there is a job 1 already"),
        ({"runtime": 1, "id": -1}, "an id is a number that is not negative"),
    ],
)
def test_what_cannot_be_submitted(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(sl.DecisionError, match=message):
        simulate(Doing(3, lambda view: view.submit(**arguments)))


def test_before_anything_has_happened_a_time_is_needed() -> None:
    class Hasty(sl.Observer):
        def begin(self, view: Any) -> None:
            view.submit(1)

    with pytest.raises(sl.DecisionError, match="nothing has happened yet"):
        simulate(Hasty())


def test_an_id_is_given_once() -> None:
    def twice(view: Any) -> None:
        view.submit(1, id=77)
        view.submit(1, id=77)

    with pytest.raises(sl.DecisionError, match="there is a job 77 already"):
        simulate(Doing(3, twice))
    with pytest.raises(sl.DecisionError, match="job 2 of the workload comes at 5 s, but its id was given"):
        simulate(Doing(3, lambda view: view.submit(1, id=2)))


def test_a_job_that_is_too_large_is_rejected_with_a_reason() -> None:
    seen = []
    run = simulate(Doing(3, lambda view: seen.append(view.submit(1, count=3).state)))
    job = run.jobs.filter(pl.col("job") == 10**12).row(0, named=True)
    assert (job["state"], job["reason"], seen) == ("rejected", "larger than the cluster", ["gone"])


def test_many_as_columns(tmp_path: Path) -> None:
    def many(view: Any) -> None:
        ids = view.submit_many(
            runtime=[3.0, 2.0, 1.0], at=[9.0, 3.0, 6.0], count=1, user=np.array([1, 2, 3]), name=["a", None, "c"]
        )
        assert ids.tolist() == [10**12, 10**12 + 1, 10**12 + 2]

    run = simulate(Doing(3, many), out=tmp_path / "run")
    assert run.table("submitted").select("job", "name").rows() == [(10**12 + 1, None), (10**12 + 2, "c"), (10**12, "a")]
    assert run.jobs.filter(pl.col("job") >= 10**12)["submit"].to_list() == [3.0, 6.0, 9.0]
    assert sl.check(run) == []
    with pytest.raises(sl.DecisionError, match="cannot submit 2 jobs: the column user has 3 values"):
        simulate(Doing(3, lambda view: view.submit_many(runtime=[1, 1], user=[1, 2, 3])))


def test_requests_that_become_known_during_the_run() -> None:
    big = sl.Request({"cores": 1, "memory": 4})

    def act(view: Any) -> None:
        number = view.request_number(big)
        assert view.request_number(None) == 0
        assert view.request_number(sl.Request({"cores": 1, "memory": 4})) == number
        view.submit(1, 2, big)
        view.submit(1, 2, number)
        view.submit(1, request=sl.Request(partition="none"))

    cluster = sl.Cluster((sl.NodeGroup("n", 2, {"cores": 2, "memory": 4}),))
    workload = sl.Workload.of(submit=[0], runtime=[4])
    run = sl.simulate(workload, cluster, "easy", observers=[Doing(3, act)], requests="full", validate=True)
    assert [request.chunk for request in run.requests] == [{"cores": 1}, {"cores": 1, "memory": 4}, {"cores": 1}]
    assert run.jobs["request"].to_list() == [0, 1, 1, 2]
    assert run.jobs["start"].to_list() == [0.0, 3.0, 4.0, None]
    assert run.jobs["reason"].to_list()[-1] == "unknown partition"


def test_names_where_the_log_has_them() -> None:
    batch = JobBatch.of(submit=[0.0], runtime=[4.0], names=("x.1",))
    workload = sl.Workload("named", lambda: iter((batch,)))

    def act(view: Any) -> None:
        view.submit(1, name="mine")
        view.submit(1)

    run = sl.simulate(workload, "pool:1", "easy", observers=[Doing(3, act)])
    assert run.jobs["name"].to_list() == ["x.1", "mine", str(10**12 + 1)]


def test_orders_in_python_are_asked_for_submitted_jobs(tmp_path: Path) -> None:
    file = tmp_path / "orders.py"
    file.write_text("def largest(jobs):\n    return -jobs.cores * jobs.limit\n")

    def act(view: Any) -> None:
        for count in (1, 2, 3):
            view.submit(10, count)

    for order in (f"{file}:largest", "-cores*limit"):
        run = simulate(
            Doing(1, act),
            jobs={"submit": [0], "runtime": [5], "count": [3]},
            policy=f"none:order={order}",
            cluster="pool:3",
        )
        assert starts(run) == {1: 0.0, 10**12 + 2: 5.0, 10**12 + 1: 15.0, 10**12: 15.0}


def test_history_and_estimates_know_submitted_jobs() -> None:
    class Four(sl.Observer):
        def begin(self, view: Any) -> None:
            for time in (0.0, 10.0, 20.0):
                view.submit(runtime=4, limit=9, user=3, at=time)

    run = simulate(Four(), jobs={"submit": [100], "runtime": [5]}, estimate="last-two")
    assert run.jobs["estimate"].to_list() == [9.0, 9.0, 4.0, 5.0]


def test_hold_and_release() -> None:
    class Holding(sl.Observer):
        def submitted(self, view: Any, job: Any) -> None:
            if job.id == 2 and view.now == 5:
                view.hold(job)
                assert job.state == "held" and [one.id for one in view.held] == [2]
                view.wake_at(30)

        def before(self, view: Any) -> None:
            if view.now == 30:
                view.release(view.held[0])

    run = simulate(Holding())
    assert starts(run) == {1: 0.0, 2: 30.0, 3: 10.0}
    assert run.jobs["eligible"].to_list() == [0.0, 30.0, 10.0]
    assert run.table("holds").rows() == [(1, 2, 5.0, 5.0, 30.0)]
    assert sl.check(run) == []


def test_who_is_held_at_the_end_says_so() -> None:
    run = simulate(Doing(5, lambda view: [view.hold(job) for job in view.queue]))
    assert run.jobs["state"].to_list() == ["completed", "held", "completed"]
    assert sl.check(run) == []


def test_withdraw() -> None:
    class Withdrawing(sl.Observer):
        def begin(self, view: Any) -> None:
            self.coming = view.submit(1, at=7.0)

        def submitted(self, view: Any, job: Any) -> None:
            if job.id == 2:
                view.withdraw(job)
                view.withdraw(self.coming)

    run = simulate(Withdrawing())
    assert run.jobs["job"].to_list() == [1, 2, 3]
    assert run.jobs.select("state", "reason").rows()[1] == ("cancelled", "withdrawn")
    assert sl.check(run) == []


@pytest.mark.parametrize("act", ["hold", "release", "withdraw"])
def test_what_cannot_be_done_to_a_running_job(act: str) -> None:
    with pytest.raises(sl.DecisionError, match=f"cannot {act} job 1 at 3 s"):
        simulate(Doing(3, lambda view: getattr(view, act)(view.running[0])))


# Attachments.


def test_attachments_reach_who_asks_for_them() -> None:
    seen: dict[int, Any] = {}

    class Reading(sl.Observer):
        wants_attachments = True

        def submitted(self, view: Any, job: Any) -> None:
            seen[job.id] = job.attachments

    jobs = {"submit": [0, 1], "runtime": [1, 1], "attachments": [{"stage": "ü", "parts": [1, 2.5, None]}, None]}
    simulate(Reading(), Doing(3, lambda view: view.submit(1, attachments={"of": 1})), jobs=jobs)
    assert seen == {1: {"stage": "ü", "parts": [1, 2.5, None]}, 2: {}, 10**12: {"of": 1}}
    Reading.wants_attachments = False
    simulate(Reading(), jobs=jobs)
    assert seen[1] == {}


@pytest.mark.parametrize("wrong", [{"x": float("nan")}, {"x": {1, 2}}, {1: 2}])
def test_attachments_are_json(wrong: Any) -> None:
    with pytest.raises(sl.PolicyError):
        simulate(Doing(3, lambda view: view.submit(1, attachments=wrong)))

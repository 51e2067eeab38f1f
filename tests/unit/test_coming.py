"""Jobs that were submitted for later, as whoever submitted them knows them; the ways to give `submit` its arguments."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import schedlab as sl
from schedlab import _core

FIRST = 10**12


class Beginning(sl.Observer):
    """Does something before anything happens, and perhaps more at time 20."""

    wants_attachments = True

    def __init__(self, act: Callable[[Any], Any], later: Callable[[Any, Any], Any] | None = None) -> None:
        self.act, self.later = act, later

    def begin(self, view: Any) -> None:
        assert view.request_number(None) == 0
        self.made = self.act(view)
        view.wake_at(20)

    def before(self, view: Any) -> None:
        if view.now == 20 and self.later:
            self.later(view, self.made)
            self.later = None

    def more_may_come(self, view: Any) -> bool:
        return self.later is not None


def simulate(*observers: Any, **options: Any) -> sl.Run:
    log = sl.Workload.of(submit=[0], runtime=[4])
    return sl.simulate(log, "pool:2", "easy", observers=observers, validate=True, **options)


def test_a_job_that_is_coming_can_be_looked_at() -> None:
    def act(view: Any) -> None:
        job = view.submit(5, 2, limit=9, at=20.0, user=3, attachments={"a": 1})
        other = view.submit(6, at=21.0)
        assert (job.id, job.count, job.cores, job.limit, job.submit, job.user) == (FIRST, 2, 2, 9.0, 20.0, 3)
        assert (job.state, job.sequence, job.attachments, job.waits_for, job.nodes) == ("coming", -1, {"a": 1}, [], [])
        assert math.isnan(job.start) and math.isnan(job.estimate)
        assert (other.id, other.attachments, job == other, repr(job)) == (FIRST + 1, {}, False, f"<Job {FIRST} coming>")
        assert not view.fits(job)

    simulate(Beginning(act))


def test_it_is_the_same_job_when_it_has_entered() -> None:
    seen = []

    def later(view: Any, job: Any) -> None:
        (waiting,) = view.queue
        assert waiting == job and job == waiting and hash(job) == hash(waiting) and waiting in {job}
        assert (job.state, job.sequence, job.estimate) == ("waiting", 1, 5.0)
        view.hold(job)
        view.release(job)
        seen.append(job)

    def act(view: Any) -> Any:
        view.submit(1, at=30.0)
        return view.submit(5, at=20.0)

    simulate(Beginning(act, later))
    assert len(seen) == 1
    with pytest.raises(_core.DecisionError, match="the simulation is over"):
        _ = seen[0].state


def test_a_job_that_has_left_or_was_withdrawn_is_gone() -> None:
    def act(view: Any) -> Any:
        left, withdrawn = view.submit(1, at=5.0), view.submit(1, at=30.0)
        view.withdraw(withdrawn)
        assert view.announced == 1
        view.submit(1, at=10.0)  # takes the slot of the one that has left
        return left, withdrawn

    def later(view: Any, jobs: Any) -> None:
        assert jobs[0] != jobs[1]
        for job in jobs:
            with pytest.raises(_core.DecisionError, match="left the system some time ago"):
                _ = job.id
            with pytest.raises(_core.DecisionError, match="left the system some time ago"):
                view.withdraw(job)

    assert simulate(Beginning(act, later)).jobs["job"].to_list() == [1, FIRST, FIRST + 2]


@pytest.mark.parametrize("act", ["start", "hold", "release", "kill", "reserve", "reject"])
def test_what_cannot_be_done_to_a_job_that_is_coming(act: str) -> None:
    with pytest.raises(sl.DecisionError, match=f"job {FIRST} has not entered yet"):
        simulate(Beginning(lambda view: getattr(view, act)(view.submit(1, at=5.0))))


def test_many_of_whom_some_are_held_on_to_and_some_are_withdrawn() -> None:
    def act(view: Any) -> list[Any]:
        jobs = [view.submit(0.01, at=20.0 + (7 * i) % 500) for i in range(500)]
        for job in jobs[::3]:
            view.withdraw(job)
        return [job for i, job in enumerate(jobs) if i % 50 == 1 and i % 3]

    def later(view: Any, jobs: list[Any]) -> None:
        assert [job.state for job in jobs] == ["coming"] * len(jobs)
        assert [job.id - FIRST for job in jobs] == [i for i in range(500) if i % 50 == 1 and i % 3]

    run = simulate(Beginning(act, later))
    expected = sorted(((7 * i) % 500, i) for i in range(500) if i % 3)
    assert run.jobs["job"].to_list() == [1, *(FIRST + i for _, i in expected)]
    assert sl.check(run) == []


WAYS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((5.0, 2, 0, 9.0, 7.0, 3), {}),
    ((5, 2, None, 9, 7, 3), {}),
    ((5.0,), {"user": 3, "at": 7.0, "limit": 9.0, "count": 2}),
    ((), {"user": 3, "at": 7, "limit": 9, "count": 2, "runtime": 5, "request": None, "queue": -1}),
    ((np.float64(5), 2, sl.Request({"cores": 1}), np.float64(9), np.float32(7)), {"user": np.int64(3)}),
    ((5.0, 2, 0, 9.0, 7.0, 3), {"cancel": None, "attachments": None, "predecessors": []}),
]


@pytest.mark.parametrize(("given", "named"), WAYS)
def test_arguments_in_whatever_form_they_come(given: tuple[Any, ...], named: dict[str, Any]) -> None:
    job = simulate(Beginning(lambda view: view.submit(*given, **named))).jobs.row(1, named=True)
    found = [job[name] for name in ("runtime", "count", "request", "limit", "submit", "user", "queue")]
    assert found == [5.0, 2, 0, 9.0, 7.0, 3, None]


WRONG: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {"at": 5.0}),
    ((None,), {"at": 5.0}),
    (("5",), {"at": 5.0}),
    ((5.0, 1.5), {"at": 5.0}),
    ((5.0, None), {"at": 5.0}),
    ((5.0, 2**70), {"at": 5.0}),
    ((5.0, 1), {"at": 5.0, "user": 2**40}),
    ((5.0, 1), {"at": 5.0, "count": 1}),
    ((5.0, 1), {"at": 5.0, "colour": 1}),
    ((5.0, 1, 0, 9.0, 5.0, 1, 1, 1, 1, 1), {}),
]


@pytest.mark.parametrize(("given", "named"), WRONG)
def test_arguments_that_are_wrong(given: tuple[Any, ...], named: dict[str, Any]) -> None:
    def act(view: Any) -> None:
        with pytest.raises(TypeError, match="incompatible function arguments"):
            view.submit(*given, **named)
        with pytest.raises(_core.DecisionError, match="its runtime is -1"):
            view.submit(-1.0, at=5.0)
        assert view.announced == 0
        view.submit(1.0, at=5.0)

    assert simulate(Beginning(act)).jobs["job"].to_list() == [1, FIRST]

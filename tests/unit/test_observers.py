"""Observers that fail or refuse are named; those that ask to be woken are."""

from __future__ import annotations

from typing import Any

import pytest

import schedlab as sl

TWO = sl.Cluster.uniform(2, cores=4)
ONE_JOB: dict[str, Any] = {"submit": [5], "runtime": [50], "count": [4]}


def hooked(hook: str, act: Any, **attributes: Any) -> Any:
    return type("Curious", (sl.Observer,), {hook: act, **attributes})()


@pytest.mark.parametrize("hook", ["begin", "submitted", "before", "after", "started", "stopped", "ended", "allows"])
@pytest.mark.parametrize("name", ["", "my-observer"])
def test_an_error_names_the_observer(hook: str, name: str) -> None:
    def fail(self: Any, view: Any, *more: Any) -> Any:
        raise ZeroDivisionError("in my observer")

    observers = [sl.Observer(), hooked(hook, fail, name=name)]
    with pytest.raises(sl.PolicyError, match=f"^observer {name or 'Curious'}: ZeroDivisionError: in my observer"):
        sl.simulate(sl.Workload.of(**ONE_JOB), TWO, "easy", observers=observers)


def test_an_impossible_decision_names_the_observer_that_made_it() -> None:
    def fail(self: Any, view: Any) -> None:
        view.open(0)

    with pytest.raises(sl.DecisionError, match=r"^observer Curious: cannot open node 0 at 5 s: it is open"):
        sl.simulate(sl.Workload.of(**ONE_JOB), TWO, "easy", observers=[hooked("before", fail)])


def test_a_mistake_of_the_policy_is_not_an_observers() -> None:
    class Hasty(sl.Policy):
        def decide(self, view: Any, events: Any) -> None:
            view.start(view.queue[0], [(7, 4)])

    with pytest.raises(sl.DecisionError, match=r"^cannot start job 1 at 5 s: there is no such node"):
        sl.simulate(sl.Workload.of(**ONE_JOB), TWO, Hasty(), observers=[hooked("before", lambda *_: None)])


def test_a_refusal_names_the_observer() -> None:
    seen: list[str] = []

    class Asking(sl.Policy):
        def decide(self, view: Any, events: Any) -> None:
            seen.append(view.refusal)
            for job in view.queue:
                view.start(job)
            seen.append(view.refusal)

    observer = hooked("allows", lambda self, view, job, nodes: job.id != 2 or view.now >= 50, name="quiet-hours")
    jobs = sl.Workload.of(submit=[0, 5], runtime=[50, 50], count=[4, 4])
    sl.simulate(jobs, TWO, Asking(), observers=[observer])
    assert seen[:3] == ["", "", ""]
    assert seen[3] == "observer quiet-hours refused the start of job 2 at 5 s"


@pytest.mark.parametrize("policy", ["easy", "easy-strict", "easy:reservations=2", "conservative", "skip"])
def test_a_job_that_is_refused_waits_and_is_asked_for_again(policy: str) -> None:
    """Job 2 heads the queue until 100 s; job 3 fits beside job 1, and may start from 50 s on."""

    def allows(self: Any, view: Any, job: Any, nodes: Any) -> bool:
        return bool(job.id != 3 or view.now >= 50)

    observer = hooked("allows", allows, begin=lambda self, view: view.wake_at(50))
    jobs = sl.Workload.of(
        requests=[sl.Request({"cores": 2})], submit=[0, 1, 2], runtime=[100, 10, 10], count=[3, 4, 1], request=[0] * 3
    )
    run = sl.simulate(jobs, TWO, policy, observers=[observer], validate=True)
    assert run.jobs["start"].to_list() == [0.0, 100.0, 50.0]


@pytest.mark.parametrize("hook", ["budget", "calendar"])
def test_an_error_before_the_run_names_the_observer(hook: str) -> None:
    def fail(self: Any, cluster: Any) -> Any:
        raise ZeroDivisionError("in my observer")

    with pytest.raises(sl.PolicyError, match=r"^observer mine: ZeroDivisionError: in my observer\n.*line \d+, in fail"):
        sl.simulate(sl.Workload.of(**ONE_JOB), TWO, "easy", observers=[hooked(hook, fail, name="mine")])


def test_woken_is_called_at_the_times_that_the_observer_asked_for() -> None:
    """Once at each, before the others' `before`; what others ask for does not wake it."""
    told: list[tuple[str, float]] = []

    class Alarm(sl.Observer):
        def __init__(self, name: str, *times: float) -> None:
            self.name, self.times = name, times

        def begin(self, view: Any) -> None:
            for time in self.times:
                view.wake_at(time)

        def woken(self, view: Any) -> None:
            told.append((self.name, view.now))

    class Others(sl.Observer):
        def begin(self, view: Any) -> None:
            view.wake_at(4.0)

        def before(self, view: Any) -> None:
            told.append(("before", view.now))

    jobs = sl.Workload.of(submit=[0.0, 1.0], runtime=[9.0, 1.0])
    sl.simulate(jobs, sl.Cluster.of_cores(2), "easy", observers=[Others(), Alarm("a", 3.0, 5.0, 5.0), Alarm("b", 5.0)])
    expected = [("before", 0.0), ("before", 1.0), ("before", 2.0), ("a", 3.0), ("before", 3.0), ("before", 4.0)]
    assert told == [*expected, ("a", 5.0), ("b", 5.0), ("before", 5.0), ("before", 9.0)]
    told.clear()
    sl.simulate(jobs, sl.Cluster.of_cores(2), "easy", observers=[Alarm("a", 3.0)])
    assert told == [("a", 3.0)]

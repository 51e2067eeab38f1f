"""A simulation whose clock is led by another world: messages say what happens and when."""

from __future__ import annotations

import math
from typing import Any

import pytest

import schedlab as sl


def world(policy: Any, cluster: str = "pool:4", **options: Any) -> sl.Stepper:
    return sl.Stepper(sl.Workload.of(submit=[], runtime=[], count=[]), cluster, policy, overrun="run", **options)


def passes(stepper: sl.Stepper) -> list[list[str]]:
    """What is told in each pass of the instant."""
    told = []
    while stepper.advance():
        told.append([kind for kind, _ in stepper.events])
        stepper.decide()
    return told


def submit(stepper: sl.Stepper, count: int, limit: float) -> Any:
    return stepper.view.submit(math.inf, count, limit=limit)


def test_what_is_done_is_told_in_one_pass_and_at_its_time() -> None:
    stepper = world("easy")
    stepper.lead(3.0)
    first, second, third = (submit(stepper, *job) for job in ((4, 100.0), (4, 50.0), (1, 10.0)))
    assert passes(stepper) == [["submitted"] * 3]
    assert [job.state for job in (first, second, third)] == ["running", "waiting", "waiting"]
    stepper.lead(20.0)
    stepper.view.complete(first)
    fourth = submit(stepper, 1, 5.0)
    assert passes(stepper) == [["completed", "submitted"]]
    assert (second.state, second.start, fourth.state) == ("running", 20.0, "waiting")
    stepper.lead(20.0)  # the same time once more
    stepper.view.complete(second)
    assert passes(stepper) == [["completed"]]
    assert (third.start, fourth.start) == (20.0, 20.0)
    run = stepper.finish()
    assert run.jobs["start"].to_list() == [3, 20, 20, 20]


def test_nothing_happens_where_nothing_is_said() -> None:
    stepper = world("easy")
    for time in (0.0, 5.0, 5.0, 7.5):
        stepper.lead(time)
        assert passes(stepper) == []
        assert stepper.view.now == time
    stepper.leave()


def test_an_estimate_that_has_run_out_is_corrected_late_and_not_of_who_ends() -> None:
    stepper = world("conservative")
    stepper.lead(0.0)
    first, second = submit(stepper, 2, 100.0), submit(stepper, 2, 100.0)
    passes(stepper)
    stepper.lead(104.0)
    stepper.view.complete(first)
    assert passes(stepper) == [["completed", "corrected"]]
    assert second.estimated_end == 160.0  # the first of the steps: a minute more than was believed
    stepper.leave()


def test_an_estimate_that_has_run_out_long_ago_is_corrected_once() -> None:
    """Of 100 s and then 1, 5, 15, 30 min, 1, 2, 5, 10, 20, 50, 100 h more; past these, 100 h from now on."""
    stepper = world("fcfs")
    stepper.lead(0.0)
    job = submit(stepper, 2, 100.0)
    passes(stepper)
    for time, end in ((5000.0, 7300.0), (7300.0, 18100.0), (1e6, 1e6 + 360_000), (1e30, math.inf)):
        stepper.lead(time)
        assert passes(stepper) == [["corrected"]]
        assert job.estimated_end == end
    stepper.leave()


def test_wake_ups_are_told_and_may_come_early_or_late() -> None:
    stepper = world("conservative")
    stepper.lead(0.0)
    first = submit(stepper, 3, 100.0)
    second, third = submit(stepper, 2, 100.0), submit(stepper, 1, 100.0)
    passes(stepper)
    assert [job.state for job in (first, second, third)] == ["running", "waiting", "running"]
    assert stepper.wakes() == [100.0]
    assert stepper.wakes() == []
    stepper.lead(60.0)
    assert passes(stepper) == []
    stepper.lead(100.0)
    stepper.view.complete(first)
    assert passes(stepper) == [["completed", "corrected", "woken"]]
    assert second.start == 100.0
    stepper.leave()


def test_wake_ups_of_before_the_first_message_are_told_too() -> None:
    class Early(sl.Observer):
        def begin(self, view: Any) -> None:
            view.wake_at(12.0)

    stepper = world("easy", observers=[Early()])
    stepper.lead(0.0)
    assert stepper.wakes() == [12.0]
    stepper.lead(12.0)
    assert passes(stepper) == [["woken"]]
    stepper.leave()


def test_nodes_close_and_open_at_the_time_of_the_message() -> None:
    stepper = world("conservative", "4x1")
    stepper.lead(10.0)
    stepper.view.close(0, "down")
    job = submit(stepper, 4, 5.0)
    assert passes(stepper) == [["closed", "submitted"]]
    stepper.lead(30.0)
    stepper.view.open(0)
    assert passes(stepper) == [["opened"]]
    assert job.start == 30.0
    stepper.view.complete(job)
    assert stepper.finish().nodes.select("time", "state").rows() == [(10.0, "down"), (30.0, "up")]


@pytest.mark.parametrize("time", [4.0, math.inf, math.nan, -math.inf])
def test_time_goes_one_way(time: float) -> None:
    stepper = world("easy")
    stepper.lead(5.0)
    with pytest.raises(Exception, match=r"time cannot be led from 5 s to"):
        stepper.lead(time)
    stepper.leave()


def test_an_instant_is_finished_first() -> None:
    stepper = world("easy")
    stepper.lead(0.0)
    submit(stepper, 1, 1.0)
    assert stepper.advance()
    with pytest.raises(Exception, match="there is more to decide first"):
        stepper.lead(1.0)
    stepper.leave()

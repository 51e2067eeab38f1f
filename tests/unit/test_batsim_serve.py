"""A policy of ours drives a simulator that speaks Batsim's protocol."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.batsim_world import Delay, World

import schedlab as sl
from schedlab.bridge.batsim import told
from schedlab.bridge.batsim.errors import BatsimError
from schedlab.bridge.batsim.mirror import Mirror
from schedlab.model.errors import InputError, PolicyError


class Served:
    """Asks a mirror without a socket in between."""

    def __init__(self, policy: Any) -> None:
        self.policy, self.mirror = policy, None

    def __call__(self, content: bytes) -> bytes:
        message = told.read_message(content)
        if self.mirror is None:
            self.mirror = Mirror(self.policy, told.read_begins(message.events[0]))
        return self.mirror.answer(message)


def play(policy: Any, jobs: list[Delay], hosts: int, **options: Any) -> World:
    world = World(jobs, hosts, **options)
    served = Served(policy)
    try:
        world.play(served)
    finally:
        if served.mirror is not None:
            served.mirror.close()
    return world


def starts(world: World) -> list[float | None]:
    return [job.start for job in world.jobs.values()]


def test_easy_by_hand() -> None:
    """Job 2 is promised 100; 3 would delay it, 4 ends before; when 1 ends early, at 60, 2 starts, and 3 after it."""
    jobs = [
        Delay("w0!1", 0, 60, 100, 3),
        Delay("w0!2", 1, 20, 20, 4),
        Delay("w0!3", 2, 110, 110, 1),
        Delay("w0!4", 3, 10, 10, 1),
    ]
    world = play("easy", jobs, 4)
    assert starts(world) == [0, 60, 80, 3]
    assert [job.on for job in world.jobs.values()] == [[0, 1, 2], [0, 1, 2, 3], [0], [3]]
    assert world.heard[1]["events"] == [
        {"timestamp": 0.0, "type": "EXECUTE_JOB", "data": {"job_id": "w0!1", "alloc": "0-2"}}
    ]
    assert world.heard[-1] == {"now": 190.0, "events": []}


def test_a_job_ends_at_its_walltime_when_the_simulator_says_so() -> None:
    world = play("fcfs", [Delay("w0!1", 0, 60, 10, 2), Delay("w0!2", 0, 5, 10, 2)], 2)
    assert starts(world) == [0, 10]


def test_a_job_without_a_walltime_is_believed_to_run_for_ever() -> None:
    """So whatever fits beside it is backfilled: nothing that ends could delay the second one."""
    jobs = [Delay("w0!1", 0, 60, -1, 2), Delay("w0!2", 1, 5, 5, 3), Delay("w0!3", 2, 500, 500, 1)]
    assert starts(play("easy", jobs, 3)) == [0, 502, 2]


def test_what_does_not_fit_the_machine_is_rejected() -> None:
    world = play("easy", [Delay("w0!1", 0, 60, 100, 3), Delay("w0!2", 1, 20, 25, 2)], 2)
    assert [job.state for job in world.jobs.values()] == ["REJECTED", "COMPLETED_SUCCESSFULLY"]


def test_wake_ups_of_the_policy_are_calls() -> None:
    """The second job is promised the end of the first one's walltime, the third at last that of the second's."""
    jobs = [Delay("w0!1", 0, 50, 100, 2), Delay("w0!2", 0, 10, 10, 2), Delay("w0!3", 20, 10, 10, 2)]
    world = play("conservative", jobs, 2)
    asked = [
        event["data"]["timestamp"]
        for reply in world.heard
        for event in reply["events"]
        if event["type"] == "CALL_ME_LATER"
    ]
    assert starts(world) == [0, 50, 60]
    assert asked == [100.0, 60.0]
    assert world.now == 100.0  # the simulator waits for calls


def test_a_call_that_comes_a_little_early_is_the_one_that_was_meant() -> None:
    class At(sl.Policy):
        def decide(self, view: Any, events: Any) -> None:
            if view.now < 0.3:
                view.wake_at(0.3)
                return
            for job in list(view.queue):
                view.start(job)

    served = Served(At())
    begins = {"compute_resources": [{"id": 0, "name": "a"}]}

    def ask(now: float, kind: str, data: Any) -> list[dict[str, Any]]:
        message = {"now": now, "events": [{"timestamp": now, "type": kind, "data": data}]}
        return json.loads(served(json.dumps(message).encode()))["events"]

    assert ask(0.0, "SIMULATION_BEGINS", begins) == []
    said = ask(0.1, "JOB_SUBMITTED", {"job_id": "w0!1", "job": {"res": 1, "walltime": 5}})
    assert [(event["type"], event["data"]) for event in said] == [("CALL_ME_LATER", {"timestamp": 0.3})]
    (started,) = ask(0.2999995, "REQUESTED_CALL", {})
    assert (started["type"], started["timestamp"]) == ("EXECUTE_JOB", 0.2999995)
    assert ask(0.2999999, "JOB_COMPLETED", {"job_id": "w0!1", "job_state": "COMPLETED_SUCCESSFULLY"}) == []


def test_hosts_that_fail_and_come_back() -> None:
    note = [{"type": "event_machine_unavailable", "resources": "0 2"}]
    back = [{"type": "event_machine_available", "resources": "0 2"}]
    jobs = [Delay("w0!1", 1, 10, 10, 2), Delay("w0!2", 20, 10, 10, 2), Delay("w0!3", 21, 5, 5, 1)]
    world = play("easy", jobs, 3, events={15.0: note, 40.0: back})
    assert starts(world) == [1, 40, 21]
    assert world.jobs["w0!3"].on == [1]


def test_hosts_that_sleep_from_the_beginning_get_no_jobs() -> None:
    world = World([Delay("w0!1", 1, 10, 10, 1)], 2)
    world.states = {0: "sleeping"}
    world.play(Served("fcfs"))
    assert world.jobs["w0!1"].on == [1]


def test_registration_is_finished_at_once() -> None:
    """Else the simulation would never end."""
    world = World([Delay("w0!1", 1, 10, 10, 1)], 2)
    world.config = {"dynamic-jobs-enabled": True}
    world.play(Served("fcfs"))
    assert world.heard[0]["events"] == [{"timestamp": 0.0, "type": "NOTIFY", "data": {"type": "registration_finished"}}]


class Impatient(sl.Policy):
    """A job that waits has the nodes of whoever runs, who is killed."""

    def decide(self, view: Any, events: Any) -> None:
        for job in list(view.queue):
            while not view.start(job):
                view.kill(next(iter(view.running)))


def test_who_is_killed_has_left_before_the_next_one_starts() -> None:
    world = play(Impatient(), [Delay("w0!1", 0, 60, 100, 2), Delay("w0!2", 10, 20, 25, 2)], 3)
    assert [(job.start, job.end, job.state) for job in world.jobs.values()] == [
        (0, 10, "COMPLETED_KILLED"),
        (10, 30, "COMPLETED_SUCCESSFULLY"),
    ]
    kinds = [[event["type"] for event in reply["events"]] for reply in world.heard]
    assert kinds == [[], ["EXECUTE_JOB"], ["KILL_JOB"], ["EXECUTE_JOB"], [], []]


def test_who_is_killed_before_it_could_start_is_rejected() -> None:
    """Job 1 is killed for job 2, which waits for that; in the same pass job 2 is killed for job 3."""
    jobs = [Delay("w0!1", 0, 60, 100, 2), Delay("w0!2", 10, 20, 20, 2), Delay("w0!3", 10, 20, 25, 2)]
    world = play(Impatient(), jobs, 3)
    assert [(job.start, job.state) for job in world.jobs.values()] == [
        (0, "COMPLETED_KILLED"),
        (None, "REJECTED"),
        (10, "COMPLETED_SUCCESSFULLY"),
    ]


def test_policies_see_whose_job_it_is_and_what_it_carries() -> None:
    seen: list[tuple[int, dict[str, Any]]] = []

    class Looks(sl.Policy):
        wants_attachments = True

        def decide(self, view: Any, events: Any) -> None:
            for job in list(view.queue):
                seen.append((job.user, job.attachments))
                view.start(job) if job.attachments["colour"] == "red" else view.reject(job)

    fields = [{"user": "ann", "colour": "red"}, {"user": 7, "colour": "blue"}, {"user_id": "ann", "colour": "red"}]
    jobs = [Delay(f"w0!{n}", n, 1, 5, 1, fields=more) for n, more in enumerate(fields)]
    play(Looks(), jobs, 1)
    assert [job.state for job in jobs] == ["COMPLETED_SUCCESSFULLY", "REJECTED", "COMPLETED_SUCCESSFULLY"]
    users = [user for user, _ in seen]
    assert users[1] == 7 and users[0] == users[2] >= 2**30
    assert [attached["colour"] for _, attached in seen] == ["red", "blue", "red"]


class Does(sl.Policy):
    """Starts everybody, then does something to the first."""

    def __init__(self, what: str) -> None:
        self.what = what

    def decide(self, view: Any, events: Any) -> None:
        for job in list(view.queue):
            view.start(job)
        if self.what != "submit":
            getattr(view, self.what)(view.running[0])
        elif not view.submitted > 1:
            view.submit(5.0)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("requeue", "has put back into the queue job 'w0!1'"),
        ("suspend", "has suspended job 'w0!1'"),
        ("submit", "has started job 1000000000001, which is none of the simulator's"),
    ],
)
def test_what_batsim_cannot_do_is_said(what: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        play(Does(what), [Delay("w0!1", 0, 60, 100, 2)], 3)


def test_a_policy_that_fails_is_named_with_its_line() -> None:
    class Fails(sl.Policy):
        def decide(self, view: Any, events: Any) -> None:
            raise ZeroDivisionError("oops")

    with pytest.raises(
        PolicyError, match=r"Fails: ZeroDivisionError: oops\n.*test_batsim_serve.*\n  at simulated time 3 s"
    ):
        play(Fails(), [Delay("w0!1", 3, 60, 100, 2)], 3)


BEGINS = {"timestamp": 0, "type": "SIMULATION_BEGINS", "data": {"compute_resources": [{"id": 0, "name": "a"}]}}
JOB = {"timestamp": 0, "type": "JOB_SUBMITTED", "data": {"job_id": "w0!1", "job": {"res": 1, "walltime": 5}}}


def submitted(**job: Any) -> dict[str, Any]:
    return JOB | {"data": {"job_id": "w0!1", "job": job}}


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (
            JOB | {"timestamp": 3},
            r"event 0 of the simulator's message is of 3.* expected a time from 0.* to 1",
        ),
        (submitted(res="1"), "job w0!1 is not as the protocol has it: Expected `int`, got `str`"),
        (submitted(res=0), "submits job 'w0!1' for 0 hosts"),
        (submitted(res=1, walltime="x"), "Expected `float | null`"),
        (JOB | {"data": {"job": {}}}, "JOB_SUBMITTED is not as the protocol has it"),
        ({"timestamp": 0, "type": "JOB_COMPLETED", "data": {}}, "JOB_COMPLETED is not as the protocol has it"),
        ({"timestamp": 0, "type": "JOB_KILLED", "data": {"job_ids": "x"}}, "JOB_KILLED is not as the protocol has it"),
        ({"timestamp": 0, "type": "JOB_KILLED"}, "message is not as the protocol has it"),
        (
            {"timestamp": 0, "type": "NOTIFY", "data": {"type": "event_machine_unavailable", "resources": "a-b"}},
            "event_machine_unavailable has hosts that cannot be read: 'a-b'",
        ),
    ],
)
def test_messages_that_make_no_sense_are_quoted(event: dict[str, Any], said: str) -> None:
    served = Served("fcfs")
    served(json.dumps({"now": 0, "events": [BEGINS]}).encode())
    with pytest.raises(BatsimError, match=said):
        served(json.dumps({"now": 1, "events": [event]}).encode())


def test_the_same_job_twice_and_an_end_of_one_that_waits() -> None:
    served = Served("none:every=100")
    served(json.dumps({"now": 0, "events": [BEGINS, JOB]}).encode())
    done = {"timestamp": 1, "type": "JOB_COMPLETED", "data": {"job_id": "w0!1"}}
    with pytest.raises(BatsimError, match="job 'w0!1' a second time"):
        served(json.dumps({"now": 1, "events": [JOB]}).encode())
    served = Served("none:every=100")
    served(json.dumps({"now": 0.5, "events": [BEGINS, JOB | {"timestamp": 0.5}]}).encode())
    with pytest.raises(BatsimError, match="job 'w0!1' has ended, and nobody has started it"):
        served(json.dumps({"now": 1, "events": [done]}).encode())

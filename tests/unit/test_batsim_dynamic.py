"""Batsim's protocol: jobs and profiles that schedulers register, states that they change, what they ask and note."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.batsim_talk import (
    Fcfs,
    Message,
    Said,
    Talk,
    call,
    execute,
    notify,
    register_job,
    register_profile,
    submitted,
    talk,
    types,
    write_workload,
)

from schedlab._core import View
from schedlab.bridge.batsim.errors import BatsimError
from schedlab.bridge.batsim.rules import Rules
from schedlab.engine.observer import Observer

FINISHED = notify("registration_finished")
DELAY = register_profile("five", type="delay", delay=5)


def after_begin(tmp_path: Path, said: list[Said], rules: Rules, jobs: list[Message] | None = None) -> Talk:
    """What is said to SIMULATION_BEGINS; jobs of the workload start when they come."""

    def answer(message: Message) -> list[Said]:
        if "SIMULATION_BEGINS" in types(message):
            return said
        own = [job for job in submitted(message) if job["id"].startswith("w0!")]
        return [execute(job["id"], "3") for job in own]

    return talk(write_workload(tmp_path, jobs if jobs is not None else [{"id": 1}]), answer, rules=rules)


def test_a_registered_job_can_start_in_the_same_reply(tmp_path: Path) -> None:
    said = [DELAY, register_job("dyn!a", res=2, profile="five"), execute("dyn!a", "0-1"), FINISHED]
    heard = after_begin(tmp_path, said, Rules(dynamic=True))
    assert heard.times()["dyn!a"] == (0, 5)
    (event,) = [event for event in heard.events("JOB_COMPLETED") if event["data"]["job_id"] == "dyn!a"]
    assert event["now"] == 5 and event["data"]["alloc"] == "0-1"


def test_without_acknowledgement_nothing_is_told_of_a_registered_job(tmp_path: Path) -> None:
    said = [DELAY, register_job("dyn!a", res=1, profile="five"), execute("dyn!a", "0"), FINISHED]
    heard = after_begin(tmp_path, said, Rules(dynamic=True))
    assert [event["data"]["job_id"] for event in heard.events("JOB_SUBMITTED")] == ["w0!1"]


def test_with_acknowledgement_it_is_submitted_in_the_next_message_of_the_same_time(tmp_path: Path) -> None:
    said = [DELAY, register_job("dyn!a", res=1, profile="five", color="red"), execute("dyn!a", "0"), FINISHED]
    heard = after_begin(tmp_path, said, Rules(dynamic=True, acknowledge=True, forward_profiles=True))
    (told,) = [event for event in heard.events("JOB_SUBMITTED") if event["data"]["job_id"] == "dyn!a"]
    assert told["now"] == 1e-9
    job = {"id": "dyn!a", "subtime": 0, "res": 1, "profile": "five", "color": "red"}
    assert told["data"] == {"job_id": "dyn!a", "job": job, "profile": {"type": "delay", "delay": 5}}


def test_the_id_inside_a_registered_job_may_leave_out_the_workload(tmp_path: Path) -> None:
    kind, data = register_job("dyn!a", res=1, profile="five")[:2]
    data["job"]["id"] = "a"
    said: list[Said] = [DELAY, (kind, data), execute("dyn!a", "0"), FINISHED]
    heard = after_begin(tmp_path, said, Rules(dynamic=True, acknowledge=True))
    assert "dyn!a" in [event["data"]["job"]["id"] for event in heard.events("JOB_SUBMITTED")]


def test_jobs_may_be_registered_in_a_workload_that_was_given(tmp_path: Path) -> None:
    said = [register_job("w0!more", res=1, profile="ten"), execute("w0!more", "0"), FINISHED]
    heard = after_begin(tmp_path, said, Rules(dynamic=True))
    assert heard.times()["w0!more"] == (0, 10)


def test_registered_profiles_are_timed_where_jobs_are_put(tmp_path: Path) -> None:
    profile = register_profile("cpu", type="parallel_homogeneous_total", cpu=9e9, com=0)
    said = [profile, register_job("dyn!a", res=1, profile="cpu"), execute("dyn!a", "0-2"), FINISHED]
    heard = after_begin(tmp_path, said, Rules(dynamic=True))
    assert heard.times()["dyn!a"] == (0, 3)


def test_walltimes_of_registered_jobs_hold(tmp_path: Path) -> None:
    said = [DELAY, register_job("dyn!a", res=1, profile="five", walltime=2), execute("dyn!a", "0"), FINISHED]
    heard = after_begin(tmp_path, said, Rules(dynamic=True))
    assert heard.events("JOB_COMPLETED")[0]["data"]["job_state"] == "COMPLETED_WALLTIME_REACHED"
    assert heard.times()["dyn!a"] == (0, 2)


def test_a_job_is_registered_at_the_time_of_the_event(tmp_path: Path) -> None:
    job, start = register_job("dyn!a", res=1, profile="five"), execute("dyn!a", "0")
    said: list[Said] = [(*DELAY[:2], 2.0), (*job[:2], 2.0), (*start[:2], 3.0), (*FINISHED[:2], 3.0)]
    heard = after_begin(tmp_path, said, Rules(dynamic=True, acknowledge=True))
    assert heard.events("JOB_SUBMITTED")[1]["timestamp"] == 2
    assert heard.run.jobs["submit"].to_list() == [0, 2]
    assert heard.times()["dyn!a"] == (3, 8)


def test_the_simulation_waits_for_registration_to_be_finished(tmp_path: Path) -> None:
    def answer(message: Message) -> list[Said]:
        if message["now"] == 40:
            return [DELAY, register_job("dyn!a", res=1, profile="five"), execute("dyn!a", "0"), FINISHED]
        return [*(execute(job["id"], "0") for job in submitted(message)), *([call(40)] if submitted(message) else [])]

    heard = talk(write_workload(tmp_path, [{"id": 1}]), answer, rules=Rules(dynamic=True))
    assert heard.times()["dyn!a"] == (40, 45)
    assert heard.heard[-1]["now"] == 45


def test_registration_that_is_never_finished_ends_with_an_error(tmp_path: Path) -> None:
    with pytest.raises(BatsimError, match="registration_finished"):
        after_begin(tmp_path, [], Rules(dynamic=True))


def test_registration_may_be_continued(tmp_path: Path) -> None:
    said = [FINISHED, notify("continue_registration"), DELAY, FINISHED]
    assert after_begin(tmp_path, said, Rules(dynamic=True)).times() == {"1": (0, 10)}


def test_metadata_of_jobs_is_kept_with_the_run(tmp_path: Path) -> None:
    def answer(message: Message) -> list[Said]:
        if submitted(message):
            return [execute("w0!1", "0"), ("SET_JOB_METADATA", {"job_id": "w0!1", "metadata": "moved, twice"})]
        return []

    heard = talk(write_workload(tmp_path, [{"id": 1}]), answer, out=tmp_path / "run")
    assert heard.run.evidence("batsim/jobs.json") == b'{"metadata":{"1":"moved, twice"}}'


def change(job: str, state: str) -> Said:
    return "CHANGE_JOB_STATE", {"job_id": job, "job_state": state}


def test_a_job_whose_state_is_changed_to_running_has_no_hosts(tmp_path: Path) -> None:
    """The scheduler runs it as jobs of its own, and says when it has ended; nothing is told of that."""

    def answer(message: Message) -> list[Said]:
        if submitted(message):
            return [change("w0!1", "RUNNING"), execute("w0!2", "0-3")]
        return [change("w0!1", "COMPLETED_SUCCESSFULLY")] if "JOB_COMPLETED" in types(message) else []

    heard = talk(write_workload(tmp_path, [{"id": 1, "res": 4}, {"id": 2, "res": 4}]), answer)
    assert [event["data"]["job_id"] for event in heard.events("JOB_COMPLETED")] == ["w0!2"]
    assert heard.times() == {"1": (None, 10), "2": (0, 10)}
    assert heard.run.summary["states"]["cancelled"] == 1


def test_a_submitted_job_whose_state_is_changed_to_rejected_is_rejected(tmp_path: Path) -> None:
    heard = talk(
        write_workload(tmp_path, [{"id": 1}]),
        lambda message: [change("w0!1", "REJECTED")] if submitted(message) else [],
    )
    assert heard.run.summary["states"]["rejected"] == 1


def test_answers_that_nobody_asked_for_and_messages_to_jobs_do_no_harm(tmp_path: Path) -> None:
    def answer(message: Message) -> list[Said]:
        if submitted(message):
            return [
                ("ANSWER", {"estimate_waiting_time": {"job_id": "w0!1", "estimated_waiting_time": 56}}),
                ("TO_JOB_MSG", {"job_id": "w0!1", "msg": "hello"}),
                execute("w0!1", "0"),
            ]
        return []

    over = talk(write_workload(tmp_path, [{"id": 1}]), answer)
    assert over.times() == {"1": (0, 10)}
    assert over.run.config["decider"]["unread_messages_to_jobs"] == 1  # so that nobody wonders


class Submits(Observer):
    """A job more, at 5 s."""

    def begin(self, view: View) -> None:
        view.wake_at(5.0)

    def woken(self, view: View) -> None:
        view.submit(10.0, 1)


def test_a_job_that_an_observer_submits_has_no_profile_and_is_refused(tmp_path: Path) -> None:
    file = write_workload(tmp_path, [{"id": 1}, {"id": 2, "subtime": 8}])
    with pytest.raises(BatsimError, match="job 1000000000000 is none of the workload's: an observer has submitted it"):
        talk(file, Fcfs(), observers=[Submits()])


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ([register_job("dyn!a", res=1, profile="five")], "there is no workload 'dyn'"),
        ([DELAY, DELAY], "there is a profile 'five' already"),
        ([DELAY, register_job("dyn!a", res=1, profile="six")], "there is no profile 'six'"),
        ([register_job("w0!1", res=1, profile="ten")], "there is a job 'w0!1' already"),
        ([DELAY, *[register_job("dyn!a", res=1, profile="five")] * 2], "there is a job 'dyn!a' already"),
        ([register_job("a", res=1, profile="ten")], "'a' is not the id of a job"),
        ([DELAY, register_job("dyn!a", res=-1, profile="five")], "'res' is -1"),
        ([DELAY, register_job("dyn!a", res=1, profile="five", walltime=0)], "'walltime' is 0"),
        ([register_profile("p", type="delay", delay=0)], "'delay' is 0"),
        ([register_profile("p", type="dream")], "dream"),
        ([FINISHED, DELAY], "its registration is finished"),
        ([notify("tea_time")], "'tea_time' is not known"),
    ],
)
def test_registrations_that_cannot_be(tmp_path: Path, said: list[Said], words: str) -> None:
    with pytest.raises(BatsimError, match=words):
        after_begin(tmp_path, said, Rules(dynamic=True))


@pytest.mark.parametrize("said", [DELAY, register_job("w0!2", res=1, profile="ten")])
def test_nothing_can_be_registered_where_that_is_not_enabled(tmp_path: Path, said: Said) -> None:
    with pytest.raises(BatsimError, match="--enable-dynamic-jobs"):
        after_begin(tmp_path, [said], Rules())

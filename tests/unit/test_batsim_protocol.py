"""Batsim's protocol, the simulator's side: a test for each event that is told and each rule of its order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.batsim_talk import (
    Fcfs,
    Message,
    Said,
    call,
    execute,
    kill,
    reject,
    small_platform,
    submitted,
    talk,
    types,
    write_workload,
)

from schedlab.bridge.batsim.messages import told_time
from schedlab.bridge.batsim.platform import Host, Platform
from schedlab.bridge.batsim.rules import Rules


def at_once(message: Message) -> list[Said]:
    """Each job on the host of its number."""
    return [execute(job["id"], str(int(job["id"].partition("!")[2]) % 4)) for job in submitted(message)]


def test_first_message_is_simulation_begins_alone_and_the_last_one_simulation_ends(tmp_path: Path) -> None:
    heard = talk(write_workload(tmp_path, [{"id": 1}]), at_once)
    assert heard.types() == [
        ["SIMULATION_BEGINS"],
        ["JOB_SUBMITTED"],
        ["NOTIFY"],
        ["JOB_COMPLETED"],
        ["SIMULATION_ENDS"],
    ]
    assert [message["now"] for message in heard.heard] == [0, 1e-9, 1e-9, 10, 10]


def test_what_happens_at_time_0_is_told_a_moment_later_and_jobs_start_at_0(tmp_path: Path) -> None:
    """pybatsim asserts that jobs start after 0; Batsim is late by itself, where hosts have links."""
    heard = talk(write_workload(tmp_path, [{"id": 1}]), at_once)
    assert [event["timestamp"] for event in heard.events("JOB_SUBMITTED")] == [1e-9]
    assert submitted(heard.heard[1])[0]["subtime"] == 0
    assert heard.times() == {"1": (0, 10)}


def test_simulation_begins_has_the_machine_the_rules_and_the_profiles(tmp_path: Path) -> None:
    hosts = [Host("a0", (1e9,), properties={"role": "compute_node"}, zone_properties={"dc": "x"}), Host("a1", (1e9,))]
    storage = [Host("pfs", (1.0,), properties={"role": "storage"}, role="storage")]
    file = write_workload(tmp_path, [{"id": 1}])
    rules = Rules(acknowledge=True, scheduler_config="fast", storage_sharing=False)
    heard = talk(file, at_once, platform=Platform(hosts, storage), rules=rules)
    (begins,) = heard.heard[0]["events"]
    assert begins["timestamp"] == 0
    assert begins["data"] == {
        "nb_resources": 3,
        "nb_compute_resources": 2,
        "nb_storage_resources": 1,
        "allow_compute_sharing": False,
        "allow_storage_sharing": False,
        "config": {
            "redis-enabled": False,
            "redis-hostname": "127.0.0.1",
            "redis-port": 6379,
            "redis-prefix": "default",
            "profiles-forwarded-on-submission": False,
            "dynamic-jobs-enabled": False,
            "dynamic-jobs-acknowledged": True,
            "profile-reuse-enabled": False,
            "sched-config": "fast",
            "forward-unknown-events": False,
        },
        "compute_resources": [
            {
                "id": 0,
                "name": "a0",
                "state": "idle",
                "properties": {"role": "compute_node"},
                "zone_properties": {"dc": "x"},
            },
            {"id": 1, "name": "a1", "state": "idle", "properties": {"role": ""}, "zone_properties": {}},
        ],
        "storage_resources": [
            {"id": 2, "name": "pfs", "state": "idle", "properties": {"role": "storage"}, "zone_properties": {}}
        ],
        "workloads": {"w0": str(file)},
        "profiles": {"w0": {"ten": {"type": "delay", "delay": 10}}},
    }


def test_job_submitted_has_the_job_as_it_is_written_with_its_full_id(tmp_path: Path) -> None:
    job = {"id": "7", "subtime": 5.5, "walltime": 60, "res": 1, "profile": "ten", "color": {"name": "red", "n": [1]}}
    heard = talk(write_workload(tmp_path, [job]), at_once)
    (event,) = heard.events("JOB_SUBMITTED")
    assert event["now"] == event["timestamp"] == 5.5
    assert event["data"] == {"job_id": "w0!7", "job": {**job, "id": "w0!7"}}


def test_job_submitted_has_the_profile_where_profiles_are_forwarded(tmp_path: Path) -> None:
    heard = talk(write_workload(tmp_path, [{"id": 1}]), at_once, rules=Rules(forward_profiles=True))
    (event,) = heard.events("JOB_SUBMITTED")
    assert event["data"]["profile"] == {"type": "delay", "delay": 10}
    assert heard.heard[0]["events"][0]["data"]["config"]["profiles-forwarded-on-submission"] is True


def test_jobs_of_one_time_come_in_the_order_of_their_ids_as_texts(tmp_path: Path) -> None:
    jobs = [{"id": number, "subtime": 3} for number in (9, 10, 1, 100)]
    heard = talk(write_workload(tmp_path, jobs), Fcfs())
    assert [event["data"]["job_id"] for event in heard.events("JOB_SUBMITTED")] == ["w0!1", "w0!10", "w0!100", "w0!9"]


def test_jobs_of_several_workloads_come_workload_by_workload(tmp_path: Path) -> None:
    files = [write_workload(tmp_path, [{"id": 1}, {"id": 2}], name=name) for name in ("one.json", "two.json")]
    heard = talk(files, Fcfs())
    assert [event["data"]["job_id"] for event in heard.events("JOB_SUBMITTED")] == ["w0!1", "w0!2", "w1!1", "w1!2"]
    assert heard.heard[0]["events"][0]["data"]["workloads"] == {"w0": str(files[0]), "w1": str(files[1])}
    assert heard.times() == dict.fromkeys(["w0!1", "w0!2", "w1!1", "w1!2"], (0, 10))


def test_at_one_time_submissions_come_before_ends_and_those_before_notes(tmp_path: Path) -> None:
    heard = talk(write_workload(tmp_path, [{"id": 1}, {"id": 2, "subtime": 10}]), at_once)
    told = [types(message) for message in heard.heard if message["now"] == 10]
    assert told == [["JOB_SUBMITTED", "JOB_COMPLETED"], ["NOTIFY"]]


def test_profiles_that_no_job_has_are_not_told(tmp_path: Path) -> None:
    ten = {"type": "delay", "delay": 10}
    profiles = {"twice": {"type": "composed", "repeat": 2, "seq": ["ten"]}, "ten": ten, "unused": ten}
    heard = talk(write_workload(tmp_path, [{"id": 1, "profile": "twice"}], profiles), at_once)
    (begins,) = heard.heard[0]["events"]
    assert list(begins["data"]["profiles"]["w0"]) == ["twice", "ten"]


def test_delays_end_well_where_seconds_are_too_small_for_the_clock(tmp_path: Path) -> None:
    """At 1e17 s there is a time every 16 s: a delay of 20.2 s ends before a walltime of 30 s, as Batsim has it."""
    profiles = {"some": {"type": "delay", "delay": 20.2}}
    heard = talk(write_workload(tmp_path, [{"id": 1, "subtime": 1e17, "walltime": 30}], profiles), at_once)
    (event,) = heard.events("JOB_COMPLETED")
    assert event["data"]["job_state"] == "COMPLETED_SUCCESSFULLY"


def test_notify_that_no_more_static_jobs_come_is_right_after_the_last_of_them(tmp_path: Path) -> None:
    heard = talk(write_workload(tmp_path, [{"id": 1}, {"id": 2, "subtime": 4}]), at_once)
    (event,) = heard.events("NOTIFY")
    assert event["now"] == 4 and event["data"] == {"type": "no_more_static_job_to_submit"}


def test_what_is_said_to_simulation_begins_brings_the_note_into_the_message_of_the_jobs(tmp_path: Path) -> None:
    """As Batsim 4.2.1 does, with links and without: batsched's `submitter` starts one job a message."""

    def answer(message: Message) -> list[Said]:
        return [call(5.0)] if "SIMULATION_BEGINS" in types(message) else at_once(message)

    heard = talk(write_workload(tmp_path, [{"id": 1}]), answer)
    assert heard.types() == [
        ["SIMULATION_BEGINS"],
        ["JOB_SUBMITTED", "NOTIFY"],
        ["REQUESTED_CALL"],
        ["JOB_COMPLETED"],
        ["SIMULATION_ENDS"],
    ]


@pytest.mark.parametrize(
    ("profile", "walltime", "state", "code", "end"),
    [
        ({"type": "delay", "delay": 10}, 11, "COMPLETED_SUCCESSFULLY", 0, 10),
        ({"type": "delay", "delay": 10}, -1, "COMPLETED_SUCCESSFULLY", 0, 10),
        ({"type": "delay", "delay": 10, "ret": 3}, 11, "COMPLETED_FAILED", 3, 10),
        ({"type": "delay", "delay": 10}, 10, "COMPLETED_WALLTIME_REACHED", -1, 10),
        ({"type": "delay", "delay": 10, "ret": 3}, 9.5, "COMPLETED_WALLTIME_REACHED", -1, 9.5),
        ({"type": "parallel_homogeneous", "cpu": 3e9, "com": 0}, 11, "COMPLETED_SUCCESSFULLY", 0, 3),
        ({"type": "parallel_homogeneous", "cpu": 3e9, "com": 0, "ret": 1}, 11, "COMPLETED_FAILED", 1, 3),
        ({"type": "parallel_homogeneous", "cpu": 3e9, "com": 0}, 2, "COMPLETED_WALLTIME_REACHED", -1, 2),
    ],
)
def test_job_completed_tells_state_return_code_and_hosts(
    tmp_path: Path, profile: Message, walltime: float, state: str, code: int, end: float
) -> None:
    jobs = [{"id": 1, "res": 3, "walltime": walltime, "profile": "p"}]
    heard = talk(
        write_workload(tmp_path, jobs, {"p": profile}),
        lambda message: [execute("w0!1", "3 0 1")] if submitted(message) else [],
    )
    (event,) = heard.events("JOB_COMPLETED")
    assert event["timestamp"] == event["now"] == end
    assert event["data"] == {"job_id": "w0!1", "job_state": state, "return_code": code, "alloc": "0-1 3"}
    assert heard.times() == {"1": (0, end)}


def test_requested_call_comes_at_the_time_that_was_asked_for(tmp_path: Path) -> None:
    def answer(message: Message) -> list[Said]:
        if submitted(message):
            return [call(2.5), call(4)]
        return [execute("w0!1", "0")] if message["now"] == 4 else []

    heard = talk(write_workload(tmp_path, [{"id": 1}]), answer)
    assert [(event["now"], event["data"]) for event in heard.events("REQUESTED_CALL")] == [(2.5, {}), (4, {})]
    assert heard.times() == {"1": (4, 14)}


def test_the_simulation_goes_on_until_the_last_call(tmp_path: Path) -> None:
    heard = talk(
        write_workload(tmp_path, [{"id": 1}]),
        lambda message: [execute("w0!1", "0"), call(50)] if submitted(message) else [],
    )
    assert heard.types()[-2:] == [["REQUESTED_CALL"], ["SIMULATION_ENDS"]]
    assert [message["now"] for message in heard.heard[-2:]] == [50, 50]


def test_a_call_at_the_time_of_an_end_is_in_one_message_with_it(tmp_path: Path) -> None:
    heard = talk(
        write_workload(tmp_path, [{"id": 1}]),
        lambda message: [execute("w0!1", "0"), call(10)] if submitted(message) else [],
    )
    assert heard.types()[3] == ["JOB_COMPLETED", "REQUESTED_CALL"]


def test_nothing_is_told_of_a_rejected_job_and_it_is_rejected(tmp_path: Path) -> None:
    heard = talk(
        write_workload(tmp_path, [{"id": 1, "res": 9}, {"id": 2}]),
        lambda message: [reject("w0!1"), execute("w0!2", "3")] if submitted(message) else [],
    )
    assert [event["data"]["job_id"] for event in heard.events("JOB_COMPLETED")] == ["w0!2"]
    assert heard.run.summary["states"]["rejected"] == 1
    assert heard.run.config["refusals"] == {"rejected by the scheduler": [1]}


def test_a_killed_job_is_told_as_completed_and_then_as_killed_with_its_progress(tmp_path: Path) -> None:
    def answer(message: Message) -> list[Said]:
        if submitted(message):
            return [execute("w0!1", "1"), call(4)]
        return [kill("w0!1")] if "REQUESTED_CALL" in types(message) else []

    heard = talk(write_workload(tmp_path, [{"id": 1}]), answer)
    assert heard.types()[4:] == [["JOB_COMPLETED", "JOB_KILLED"], ["SIMULATION_ENDS"]]
    completed, killed = heard.heard[4]["events"]
    state = {"job_id": "w0!1", "job_state": "COMPLETED_KILLED", "return_code": -1, "alloc": "1"}
    assert completed["data"] == state and completed["timestamp"] == 4
    progress = {"w0!1": {"profile_name": "ten", "progress": 0.4}}
    assert killed["data"] == {"job_ids": ["w0!1"], "job_progress": progress}
    assert heard.times() == {"1": (0, 4)}


def test_the_progress_of_a_sequence_names_its_part(tmp_path: Path) -> None:
    profiles = {
        "all": {"type": "composed", "repeat": 2, "seq": ["short", "ten"]},
        "short": {"type": "delay", "delay": 2},
        "ten": {"type": "delay", "delay": 10},
    }

    def answer(message: Message) -> list[Said]:
        if submitted(message):
            return [execute("w0!1", "1"), call(19)]
        return [kill("w0!1")] if "REQUESTED_CALL" in types(message) else []

    heard = talk(write_workload(tmp_path, [{"id": 1}], profiles), answer)
    (event,) = heard.events("JOB_KILLED")
    assert event["data"]["job_progress"]["w0!1"] == {
        "profile_name": "all",
        "current_task_index": 3,
        "current_task": {"profile_name": "ten", "progress": 0.5},
    }


def test_a_job_that_ended_before_it_could_be_killed_is_named_without_progress(tmp_path: Path) -> None:
    """The kill is for 12 s, when the job has ended and the scheduler, busy until 13 s, has not been told of it."""

    def answer(message: Message) -> list[Said] | Message:
        if submitted(message):
            return {
                "now": 13,
                "events": [
                    {"timestamp": 0, "type": "EXECUTE_JOB", "data": {"job_id": "w0!1", "alloc": "0"}},
                    {"timestamp": 0, "type": "EXECUTE_JOB", "data": {"job_id": "w0!2", "alloc": "1"}},
                    {"timestamp": 12, "type": "KILL_JOB", "data": {"job_ids": ["w0!1", "w0!2"]}},
                ],
            }
        return []

    profiles = {"ten": {"type": "delay", "delay": 10}, "long": {"type": "delay", "delay": 48}}
    heard = talk(write_workload(tmp_path, [{"id": 1}, {"id": 2, "profile": "long"}], profiles), answer)
    message = heard.heard[2]
    assert message["now"] == 13
    assert [(event["type"], event["timestamp"]) for event in message["events"]] == [
        ("NOTIFY", 1e-9),
        ("JOB_COMPLETED", 10),
        ("JOB_COMPLETED", 12),
        ("JOB_KILLED", 12),
    ]
    progress = {"w0!2": {"profile_name": "long", "progress": 0.25}}
    assert message["events"][3]["data"] == {"job_ids": ["w0!1", "w0!2"], "job_progress": progress}


def test_a_second_kill_of_the_same_job_says_nothing(tmp_path: Path) -> None:
    heard = talk(
        write_workload(tmp_path, [{"id": 1}]),
        lambda message: [execute("w0!1", "0"), kill("w0!1"), kill("w0!1")] if submitted(message) else [],
    )
    assert len(heard.events("JOB_KILLED")) == 1
    assert heard.times() == {"1": (0, 0)}


def test_events_of_a_reply_are_done_at_their_own_times(tmp_path: Path) -> None:
    heard = talk(
        write_workload(tmp_path, [{"id": 1}, {"id": 2}]),
        lambda message: [(*execute("w0!1", "0"), 3.0), (*execute("w0!2", "1"), 5.5)] if submitted(message) else [],
    )
    assert heard.times() == {"1": (3, 13), "2": (5.5, 15.5)}


def test_a_scheduler_is_busy_until_the_time_of_its_reply(tmp_path: Path) -> None:
    """What happens until 20 s waits for it, with its own times, in one message."""

    def answer(message: Message) -> list[Said] | Message:
        if message["now"] < 1 and submitted(message):
            start = {"timestamp": 1, "type": "EXECUTE_JOB", "data": {"job_id": "w0!1", "alloc": "0"}}
            return {"now": 20, "events": [start]}
        return [execute(job["id"], "1") for job in submitted(message)]

    heard = talk(write_workload(tmp_path, [{"id": 1}, {"id": 2, "subtime": 7}]), answer)
    message = heard.heard[2]
    assert message["now"] == 20
    told = [(event["timestamp"], event["type"]) for event in message["events"]]
    assert told == [(7, "JOB_SUBMITTED"), (7, "NOTIFY"), (11, "JOB_COMPLETED")]
    assert heard.times() == {"1": (1, 11), "2": (20, 30)}


@pytest.mark.parametrize(
    ("time", "told"),
    [
        (0.0, b"0.0"),
        (1e-9, b"1e-09"),
        (12.5, b"12.5"),
        (123456789.012345, b"123456789.012345"),
        (0.1 + 0.2, b"0.300000000000001"),
        (30.000000001 + 10, b"40.0000000010001"),
        (2 / 3, b"0.666666666666667"),
        (99.99999999999999, b"100"),
        (-1 / 3, b"-0.333333333333333"),
    ],
)
def test_times_are_told_in_15_digits_and_rounded_up(time: float, told: bytes) -> None:
    assert told_time(time) == told


def test_a_scheduler_that_reads_15_digits_is_never_told_a_time_before_its_own(tmp_path: Path) -> None:
    """batsched's `killer`, with RapidJSON: it takes longer numbers for others, and gives up where time goes back."""
    own = []

    def answer(message: Message) -> list[Said]:
        now = float(f"{message['now']:.15g}")
        assert now == message["now"] and now >= max(own, default=0)
        own.append(now)
        said: list[Said] = []
        for job in submitted(message):
            own.append(now + 7)
            said += [execute(job["id"], "0"), (*kill(job["id"])[:2], now + 7)]
        return said

    first, second = 1 / 3, 22 / 3
    jobs = [{"id": 1, "subtime": first}, {"id": 2, "subtime": second + 1}]
    heard = talk(write_workload(tmp_path, jobs), answer)
    ends = 0.333333333333334 + 7, 8.33333333333334 + 7
    assert heard.times() == {"1": (first, ends[0]), "2": (second + 1, ends[1])}
    assert [event["now"] for event in heard.events("JOB_KILLED")] == [7.33333333333334, 15.3333333333334]


def test_what_is_said_for_the_time_that_was_told_is_done_in_the_same_instant(tmp_path: Path) -> None:
    said: list[float] = []

    def answer(message: Message) -> list[Said]:
        said.append(message["now"])
        return at_once(message)

    heard = talk(write_workload(tmp_path, [{"id": 1, "subtime": 0.1 + 0.2}]), answer)
    assert said == [0.0, 0.300000000000001, 0.300000000000001, 10.3, 10.3]
    assert heard.times() == {"1": (0.1 + 0.2, 10.3)}


def test_a_scheduler_that_is_busy_after_the_last_end_delays_simulation_ends(tmp_path: Path) -> None:
    def answer(message: Message) -> list[Said] | Message:
        return {"now": 25, "events": []} if "JOB_COMPLETED" in types(message) else at_once(message)

    heard = talk(write_workload(tmp_path, [{"id": 1}]), answer)
    assert (heard.heard[-1]["now"], heard.types()[-1]) == (25, ["SIMULATION_ENDS"])


def test_a_job_may_have_executors_that_share_hosts(tmp_path: Path) -> None:
    """Two of three executors are on host 2, which takes their work one after the other: 2 × 3 s."""
    profiles = {"p": {"type": "parallel_homogeneous", "cpu": 3e9, "com": 0}}
    mapping = {"0": "1", "1": 0, "2": "1"}
    heard = talk(
        write_workload(tmp_path, [{"id": 1, "res": 3}], profiles),
        lambda message: [execute("w0!1", "1-2", mapping=mapping)] if submitted(message) else [],
    )
    assert heard.times() == {"1": (0, 6)}
    assert heard.events("JOB_COMPLETED")[0]["data"]["alloc"] == "1-2"


def test_a_job_whose_work_is_divided_may_get_any_number_of_hosts(tmp_path: Path) -> None:
    profiles = {"p": {"type": "parallel_homogeneous_total", "cpu": 12e9, "com": 0}}
    heard = talk(
        write_workload(tmp_path, [{"id": 1, "res": 4}, {"id": 2, "res": 1}], profiles),
        lambda message: [execute("w0!1", "0"), execute("w0!2", "1-3")] if submitted(message) else [],
    )
    assert heard.times() == {"1": (0, 12), "2": (0, 4)}


def test_hosts_can_be_shared_where_that_is_enabled(tmp_path: Path) -> None:
    """Delays do not mind; computations have half of the host each, until one has left."""
    profiles = {"cpu": {"type": "parallel_homogeneous", "cpu": 10e9, "com": 0}, "ten": {"type": "delay", "delay": 10}}
    jobs = [{"id": 1, "profile": "ten"}, {"id": 2, "profile": "cpu"}, {"id": 3, "subtime": 5, "profile": "cpu"}]
    heard = talk(
        write_workload(tmp_path, jobs, profiles),
        lambda message: [execute(job["id"], "2") for job in submitted(message)],
        rules=Rules(compute_sharing=True),
    )
    assert heard.heard[0]["events"][0]["data"]["allow_compute_sharing"] is True
    assert heard.times() == {"1": (0, 10), "2": (0, 15), "3": (5, 20)}


def test_external_events_are_notes_and_close_hosts(tmp_path: Path) -> None:
    """The job that runs there goes on; the note that there will be no more comes with the last one."""
    events = tmp_path / "events.txt"
    lines = [
        {"type": "machine_available", "resources": "0-1", "timestamp": 6},
        {"type": "machine_unavailable", "resources": "0 1", "timestamp": 4},
    ]
    events.write_text("\n".join(map(json.dumps, lines)) + "\n")
    heard = talk(write_workload(tmp_path, [{"id": 1}, {"id": 2, "subtime": 6}]), at_once, events=[events])
    notes = [(event["now"], event["data"]) for event in heard.events("NOTIFY")]
    assert notes == [
        (4, {"type": "event_machine_unavailable", "resources": "0-1"}),
        (6, {"type": "event_machine_available", "resources": "0-1"}),
        (6, {"type": "no_more_static_job_to_submit"}),
        (6, {"type": "no_more_external_event_to_occur"}),
    ]
    assert heard.times() == {"1": (0, 10), "2": (6, 16)}


def test_unknown_external_events_are_passed_on_as_they_are(tmp_path: Path) -> None:
    events = tmp_path / "events.txt"
    one = {"type": "flood", "timestamp": 30, "level": [1, 2]}
    events.write_text(json.dumps(one))
    rules = Rules(forward_unknown_events=True)
    heard = talk(write_workload(tmp_path, [{"id": 1}]), at_once, events=[events], rules=rules)
    assert [event["data"] for event in heard.events("NOTIFY") if event["now"] == 30] == [
        one,
        {"type": "no_more_external_event_to_occur"},
    ]
    assert heard.types()[-1] == ["SIMULATION_ENDS"] and heard.heard[-1]["now"] == 30


def test_a_workload_without_jobs_begins_and_ends(tmp_path: Path) -> None:
    heard = talk(write_workload(tmp_path, []), lambda message: [])
    assert heard.types() == [["SIMULATION_BEGINS"], ["NOTIFY"], ["SIMULATION_ENDS"]]


def test_hosts_are_numbered_as_the_platform_has_them(tmp_path: Path) -> None:
    platform = small_platform(12)
    heard = talk(
        write_workload(tmp_path, [{"id": 1, "res": 3}]),
        lambda message: [execute("w0!1", "2-3 11")] if submitted(message) else [],
        platform=platform,
    )
    assert heard.run.jobs["nodes"].to_list() == ["a[2-3,11]"]

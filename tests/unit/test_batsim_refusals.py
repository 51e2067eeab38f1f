"""What schedulers ask for and cannot have: one error that says why and quotes them, and the run as far as it got."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from tests.batsim_talk import Message, Said, call, execute, kill, reject, submitted, talk, write_workload

from schedlab.bridge.batsim.errors import BatsimError
from schedlab.bridge.batsim.rules import Rules
from schedlab.engine.store import read_run


def refused(tmp_path: Path, said: list[Said] | Message | bytes, rules: Rules | None = None) -> BatsimError:
    """What comes of saying this when job 2 is submitted, 5 s after job 1 has started on host 0."""

    def answer(message: Message) -> list[Said] | Message | bytes:
        jobs = [job["id"] for job in submitted(message)]
        if "w0!2" in jobs:
            return said
        return [execute("w0!1", "0")] if jobs else []

    file = write_workload(tmp_path, [{"id": 1}, {"id": 2, "subtime": 5, "res": 2}])
    with pytest.raises(BatsimError) as error:
        talk(file, answer, out=tmp_path / "run", rules=rules)
    return error.value


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (execute("w0!1", "1"), "job 'w0!1' cannot start: it is RUNNING"),
        (execute("w0!2", "0-1"), "job 'w0!2' cannot have host 0 (a0): job 'w0!1' runs there"),
        (execute("w0!2", "3-4"), "cannot have host 4: there are 4, from 0 on"),
        (execute("w0!2", "2"), "asks for 2 hosts and gets 1 hosts"),
        (execute("w0!2", "1-3"), "asks for 2 hosts and gets 3 hosts"),
        (execute("w0!2", ""), "'' is neither a number nor a range"),
        (execute("w0!2", "1,2"), "'1,2' is neither a number nor a range"),
        (execute("w0!2", "3-2"), "'3-2' is not a range of hosts"),
        (execute("w0!3", "1"), "there is no job 'w0!3'"),
        (execute("tea", "1"), "there is no job 'tea'"),
        (execute("w0!2", "1", mapping={"0": 0}), "gets 1 executors in its mapping"),
        (execute("w0!2", "1", mapping={"0": 0, "2": 0}), "of each executor, from 0 on"),
        (execute("w0!2", "1", mapping={"0": 0, "1": 1}), "executor 1 of job 'w0!2' is on host 1 of the 1"),
        (execute("w0!2", "1", mapping={"0": 0, "1": "x"}), "something that is no number"),
        (reject("w0!1"), "job 'w0!1' cannot be rejected: it is RUNNING"),
        (reject("w0!7"), "there is no job 'w0!7'"),
        (kill("w0!2"), "job 'w0!2' cannot be killed: it does not run"),
        (kill("w0!9"), "there is no job 'w0!9'"),
        (kill(), "there is no job to be killed"),
        (call(5), "it wants to be called at 5 s, and that is not in the future"),
        (("SET_RESOURCE_STATE", {"resources": "1", "state": "1"}), "--energy"),
        (("QUERY", {"requests": {"consumed_energy": {}}}), "--energy"),
        (("QUERY", {"requests": {"the_time": {}}}), "'the_time' cannot be asked"),
        (("ANSWER", {"weather": {}}), "'weather' is no answer"),
        (("TO_JOB_MSG", {"job_id": "w0!5", "msg": "x"}), "there is no job 'w0!5'"),
        (("SET_JOB_METADATA", {"job_id": "w0!5", "metadata": "x"}), "there is no job 'w0!5'"),
        (("SET_JOB_METADATA", {"job_id": "w0!1", "metadata": 'a"b'}), "no double quotes"),
        (("CHANGE_JOB_STATE", {"job_id": "w0!1", "job_state": "COMPLETED_KILLED"}), "on hosts; it can be killed"),
        (("CHANGE_JOB_STATE", {"job_id": "w0!2", "job_state": "NOT_SUBMITTED"}), "cannot become NOT_SUBMITTED"),
    ],
)
def test_what_cannot_be_done_is_said_with_time_reason_and_the_very_words(
    tmp_path: Path, said: Said, words: str
) -> None:
    error = refused(tmp_path, [said])
    assert words in str(error)
    assert "at 5 s" in str(error)
    assert said[0] in str(error)
    run = read_run(tmp_path / "run")
    assert run.config["failed"] is True and run.config["incomplete"] == str(error)
    assert run.config["decider"]["protocol"]
    assert error.exit_code != 0


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (b"", "is not JSON"),
        (b"tea", "is not JSON"),
        (b'{"now": 5, "events": [', "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"[]", "Expected `object`, got `array`"),
        (b'{"events": []}', "missing required field `now`"),
        (b'{"now": 5}', "missing required field `events`"),
        (b'{"now": "5", "events": []}', "Expected `float`, got `str` - at `$.now`"),
        (b'{"now": 5, "events": {}}', "Expected `array`, got `object` - at `$.events`"),
        (b'{"now": 5, "events": [5]}', "at `$.events[0]`"),
        (b'{"now": 5, "events": [{"timestamp": 5, "data": {}}]}', "missing required field `type`"),
        (b'{"now": 5, "events": [{"timestamp": 5, "type": "TEA", "data": {}}]}', "Invalid value 'TEA'"),
        (b'{"now": 5, "events": [{"timestamp": 5, "type": "KILL_JOB"}]}', "missing required field `data`"),
        (b'{"now": 5, "events": [{"timestamp": 5, "type": "KILL_JOB", "data": {}}]}', "`job_ids`"),
        (
            b'{"now": 5, "events": [{"timestamp": 9, "type": "NOTIFY", "data": {"type": ""}}]}',
            "later than the reply's own time",
        ),
        (b'{"now": NaN, "events": []}', "is not JSON"),
        (b'{"now": 1e999, "events": []}', "is not"),
    ],
)
def test_a_reply_that_is_no_reply_is_quoted(tmp_path: Path, said: bytes, words: str) -> None:
    error = refused(tmp_path, said)
    assert words in str(error)
    assert said.decode("utf-8", "replace") in str(error)


def test_long_replies_are_shortened(tmp_path: Path) -> None:
    error = refused(tmp_path, json.dumps({"now": 5, "events": "x" * 100_000}).encode())
    assert len(str(error)) < 1000 and "[…]" in str(error)


def test_what_is_said_for_a_time_that_is_over_is_done_now(tmp_path: Path) -> None:
    """As Batsim does it. batsim-py leaves out parts of seconds."""

    def answer(message: Message) -> Message:
        now = int(message["now"])
        starts = [{"job_id": job["id"], "alloc": "0"} for job in submitted(message)]
        return {"now": now, "events": [{"timestamp": now, "type": "EXECUTE_JOB", "data": start} for start in starts]}

    heard = talk(write_workload(tmp_path, [{"id": 1, "subtime": 7.75}]), answer)
    assert heard.times() == {"1": (7.75, 17.75)}


def test_times_with_six_digits_are_accepted(tmp_path: Path) -> None:
    """As C++ writes them by default: 123457 instead of 123456.789, and 123456 for 123456.4."""

    def answer(message: Message) -> Message | list[Said]:
        if not submitted(message):
            return []
        start = {"timestamp": 123456, "type": "EXECUTE_JOB", "data": {"job_id": "w0!1", "alloc": "0"}}
        return {"now": 123456, "events": [start]}

    heard = talk(write_workload(tmp_path, [{"id": 1, "subtime": 123456.4}]), answer)
    assert heard.times() == {"1": (123456.4, 123466.4)}


def test_a_scheduler_that_keeps_silent_is_given_up_and_what_happened_is_kept(tmp_path: Path) -> None:
    def answer(message: Message) -> list[Said]:
        if "w0!2" in [job["id"] for job in submitted(message)]:
            time.sleep(1)
        return [execute("w0!1", "0")] if submitted(message) else []

    file = write_workload(tmp_path, [{"id": 1}, {"id": 2, "subtime": 5}])
    words = 'has not answered in 0.3 s; it was asked {"now":5.0,"events":[{"timestamp":5.0,"type":"JOB_SUBMITTED"'
    with pytest.raises(BatsimError, match=re.escape(words)):
        talk(file, answer, out=tmp_path / "run", deadline=0.3)
    assert read_run(tmp_path / "run").jobs["start"].to_list() == [0, None]


def test_jobs_that_nobody_starts_end_the_run_with_an_error(tmp_path: Path) -> None:
    file = write_workload(tmp_path, [{"id": 1}, {"id": 2, "subtime": 5}])
    with pytest.raises(BatsimError, match="at 5 s 2 jobs wait, nothing will happen any more"):
        talk(file, lambda message: [])


def test_a_closed_host_takes_no_job(tmp_path: Path) -> None:
    events = tmp_path / "events.txt"
    events.write_text('{"type": "machine_unavailable", "resources": "2", "timestamp": 0}\n')
    with pytest.raises(BatsimError, match=r"cannot have host 2 \(a2\): it is down"):
        talk(
            write_workload(tmp_path, [{"id": 1, "subtime": 1}]),
            lambda message: [execute("w0!1", "2")] if submitted(message) else [],
            events=[events],
        )


def test_a_host_cannot_become_available_twice(tmp_path: Path) -> None:
    events = tmp_path / "events.txt"
    events.write_text('{"type": "machine_available", "resources": "2", "timestamp": 3}\n')
    with pytest.raises(BatsimError, match="external event at 3 s: host 2 is available already"):
        talk(
            write_workload(tmp_path, [{"id": 1}]),
            lambda message: [execute("w0!1", "0")] if submitted(message) else [],
            events=[events],
        )

"""`schedlab batsim` without Python says, does and writes the same as with it, which is shown elsewhere to be right."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from tests.batsim_doors import HOSTS, Played, compare, twice
from tests.batsim_scheduler import Fcfs


@pytest.mark.parametrize("first", range(0, 120, 40))
@pytest.mark.parametrize("garbled", [False, True])
def test_the_same_conversations_files_and_mistakes(first: int, garbled: bool, tmp_path: Path) -> None:
    codes = []
    for seed in range(first, first + 40):
        played = compare(random.Random(seed), tmp_path, garbled=garbled)
        codes.append(None if played is None else played.code)
    least, most = (
        (1, 20) if garbled else (8, 36)
    )  # which go well; others are not carried, or a scheduler talks nonsense
    assert least <= codes.count(0) <= most and (garbled or None not in codes)


# ---- what chance does not come upon ----

PLATFORM = """<platform version="4.1"><zone id="z" routing="Full"><host id="master_host" speed="1Gf"/>
<cluster id="c" prefix="a" suffix="" radical="0-3" speed="1Gf" bw="1Gbps" lat="1us"/></zone></platform>"""
JOBS = '{"id": 1, "subtime": 0, "res": 1, "profile": "ten"}, {"id": 2, "subtime": 5, "res": 2, "profile": "ten"}'
WORKLOAD = '{"nb_res": 4, "jobs": [%s], "profiles": {"ten": {"type": "delay", "delay": 10}}}'


class Saying:
    """First come, first served, but for what it says when job 2 comes."""

    def __init__(self, reply: bytes) -> None:
        self.decide, self.reply = Fcfs(HOSTS), reply

    def exchange(self, message: bytes) -> bytes:
        heard = json.loads(message)
        said = self.decide(heard)
        if self.reply and b'"job_id":"w0!2"' in message and b"JOB_SUBMITTED" in message:
            return self.reply
        events = [{"timestamp": heard["now"], "type": kind, "data": data} for kind, data in said]
        return json.dumps({"now": heard["now"], "events": events}).encode()


def played(
    folder: Path, *, platform: str = PLATFORM, workload: str = WORKLOAD % JOBS, reply: bytes = b""
) -> Played | None:
    (folder / "p.xml").write_text(platform)
    (folder / "w.json").write_text(workload)
    words = ["-p", str(folder / "p.xml"), "-w", str(folder / "w.json")]
    return twice(words, lambda: Saying(reply), folder)


EXECUTE = b'{"timestamp": 5, "type": "EXECUTE_JOB", "data": {"job_id": "w0!2", "alloc": "1-2"%s}}'
OTHER = b'{"timestamp": 5, "type": "%s", "data": %s}'


@pytest.mark.parametrize(
    "events",
    [
        EXECUTE % b', "mapping": {"0": 7}, "mapping": null',
        EXECUTE % b', "mapping": {"0": 7, "0": 0, "1": 1}',
        EXECUTE % b', "mapping": {"0": "1", "1": 0}, "storage_mapping": {"a": 0.5}',
        EXECUTE % b', "additional_io_job": {"alloc": "0", "profile_name": "x", "profile": 7}',
        EXECUTE % b', "additional_io_job": {"alloc": "0", "alloc": "0"}',
        EXECUTE % b', "tea": "\xff"',
        EXECUTE % b', "tea": "\\ud800"',
        EXECUTE % b', "alloc": "2 1"',
        EXECUTE % b"" + b"," + OTHER % (b"KILL_JOB", b'{"job_ids": ["w0!9"], "job_ids": ["w0!2", "w0!2"]}'),
        OTHER % (b"CALL_ME_LATER", b'{"timestamp": 20, "job_id": 7}') + b"," + EXECUTE % b"",
        OTHER % (b"QUERY", b'{"requests": {"tea": {}}, "requests": {}}') + b"," + EXECUTE % b"",
        OTHER % (b"SET_JOB_METADATA", b'{"job_id": "w0!1", "metadata": "a\\u0000b\\u00e4"}') + b"," + EXECUTE % b"",
        OTHER % (b"REJECT_JOB", b'{"job_id": "no\\nsuch job"}'),
        OTHER % (b"ANSWER", b"{}"),  # and does nothing about job 2
    ],
)
def test_replies_that_are_read_in_one_way(events: bytes, tmp_path: Path) -> None:
    assert played(tmp_path, reply=b'{"now": 5, "events": [%b]}' % events)


def test_of_two_lists_of_events_the_last_one_counts(tmp_path: Path) -> None:
    assert played(tmp_path, reply=b'{"now": 5, "events": [5], "events": [%b]}' % EXECUTE % b"") is not None


def test_times_of_any_size(tmp_path: Path) -> None:
    far = JOBS.replace('"subtime": 5', '"subtime": 1e60')
    assert played(tmp_path, workload=WORKLOAD % far)
    assert played(tmp_path, reply=b'{"now": 1e60, "events": []}')


@pytest.mark.parametrize(
    "job",
    [
        '"res": 1, "res": 2',
        '"note": "\\ud800"',
        '"note": 1e400',
        '"subtime": 9007199254740993',
        '"subtime": null',
        '"walltime": 0',
        '"walltime": 1e309',
        '"id": "w1!3"',
        '"id": "w0!1"',
        '"profile": "none"',
    ],
)
def test_jobs_that_are_left_to_python(job: str, tmp_path: Path) -> None:
    fields = dict.fromkeys(("id", "subtime", "res", "profile"))
    known = {"id": "3", "subtime": "5", "res": "1", "profile": '"ten"'}
    kept = ", ".join(f'"{name}": {known[name]}' for name in fields if f'"{name}": ' not in job)
    assert played(tmp_path, workload=WORKLOAD % f"{JOBS}, {{{kept}, {job}}}") is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (' lat="1us"', ""),
        ('speed="1Gf" bw', 'speed=".f" bw'),
        ('speed="1Gf" bw', 'speed="1e300Yf" bw'),
        ('radical="0-3"', 'radical="3-0"'),
        ("<cluster", '<host id="b" speed="1f"><prop id="core" value="1e18"/></host><cluster'),
        ("<cluster", '<host id="a2" speed="1f"/><cluster'),
        ("<cluster", '<route src="a0" dst="a1"><link_ctn id="l"/></route><cluster'),
        ("</zone>", '<zone id="y" routing="Full"><route src="a" dst="a"><link_ctn id="l"/></route></zone><zone id="x" '
         'routing="Full"><link id="l" bandwidth="1Bps"/></zone></zone>'),
        ("</zone>", "\uffff</zone>"),
    ],
)  # fmt: skip
def test_platforms_that_are_left_to_python(old: str, new: str, tmp_path: Path) -> None:
    assert old in PLATFORM and played(tmp_path, platform=PLATFORM.replace(old, new)) is None

"""Slurm's messages: captured ones are read, ours are those of Slurm's programs, and no bytes can do harm."""

import contextlib
import random
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.slurm_programs import slurm_programs
from tests.unit.slurm_wire.programs import Controller

from schedlab.model.errors import InputError
from schedlab.slurm.wire import client, node, reports
from schedlab.slurm.wire.buffer import Reader, WireError
from schedlab.slurm.wire.header import Frames, Incoming, Returned, message, parse
from schedlab.slurm.wire.release import SLURM_22_05 as RELEASE
from schedlab.slurm.wire.release import release_of

LINES = (Path(__file__).parent / "slurm_wire" / "messages.txt").read_text().splitlines()[1:]
CAPTURED = {name: bytes.fromhex(data) for name, data in (line.split(": ") for line in LINES)}


def captured(name: str) -> Incoming:
    return parse(RELEASE, CAPTURED[name])


def test_launches() -> None:
    expected = {
        "101": node.Launch(101, 0, None, 0, 0, "p", "n[1-4]", (8, 8, 8, 8), 0),
        "102": node.Launch(102, 0, None, 0, 0, "p", "g1", (8,), 0),
        "109": node.Launch(109, 106, 0, 0, 0, "p", "n4", (1,), 0),
    }
    found = {job: node.order(RELEASE, captured(f"REQUEST_BATCH_JOB_LAUNCH {job}")) for job in expected}
    assert found == expected


def test_orders() -> None:
    failed_and_completing = 5 | 1 << 15
    for name, expected in (
        ("REQUEST_TERMINATE_JOB 101", node.Termination(101, 0, failed_and_completing, 3 << 8, "n[1-4]")),
        ("REQUEST_TERMINATE_JOB 102", node.Termination(102, 0, failed_and_completing, 3 << 8, "g1")),
        ("REQUEST_SUSPEND_INT 101", node.Suspension(101, resume=False)),
        ("REQUEST_SIGNAL_TASKS 101", node.Signal(101, 10)),
        ("REQUEST_LAUNCH_PROLOG", node.Prolog(101, 0, "g1,n[1-4]")),
        ("REQUEST_NODE_REGISTRATION_STATUS", None),
    ):
        assert node.order(RELEASE, captured(name)) == expected


def test_reports() -> None:
    assert client.submitted(RELEASE, captured("answer to REQUEST_SUBMIT_BATCH_JOB")) == client.Submitted(101, 0, "")
    assert client.return_code(RELEASE, captured("answer to REQUEST_PING")) == 0
    (job,) = reports.jobs(RELEASE, captured("answer to REQUEST_JOB_INFO_SINGLE"))
    assert (job.job, job.state, job.priority, job.nodes, job.cpus) == (103, "CANCELLED", 95275, "n[3-4]", 10)
    (priority,) = reports.priorities(RELEASE, captured("answer to REQUEST_PRIORITY_FACTORS"))
    assert (priority.priority, priority.fairshare, priority.tres) == (75165, 50000, {"cpu": 15})
    shares = reports.shares(RELEASE, captured("answer to REQUEST_SHARE_INFO"))
    assert [(share.account, share.user, share.raw_shares) for share in shares[:4]] == [
        ("root", "", None),
        ("root", "root", 1),
        ("account1", "", 100),
        ("account1", "user1", 1),
    ]
    counters = reports.statistics(RELEASE, captured("answer to REQUEST_STATS_INFO"))
    assert (counters["jobs_submitted"], counters["bf_cycle_sum"], counters["bf_backfilled_het_jobs"]) == (9, 1266, 0)


def test_every_node_answers() -> None:
    incoming = captured("REQUEST_TERMINATE_JOB 101")
    assert node.other_nodes(incoming) == ["n2", "n3"]
    whole = node.answer(RELEASE, incoming, code=node.ALREADY_COMPLETE)
    code = struct.pack(">I", 4002)
    entry = struct.pack(">IHI", 0, 8001, 3)
    assert whole == struct.pack(">IHHHIHH", len(whole) - 4, 38 << 8, 0, 8001, 4, 0, 2) + (
        entry
        + b"n2\0"
        + code
        + entry
        + b"n3\0"
        + code
        + struct.pack(">HIIII", 0, 100, 0, 0, 10)
        + b"localhost\0"
        + code
    )
    # What the first nodes are asked comes in an older protocol, with one more number in the header.
    first = captured("REQUEST_NODE_REGISTRATION_STATUS")
    assert (first.protocol, first.forward_to, first.body) == (36 << 8, "n[1-2]", b"")


def test_frames() -> None:
    messages = [message(RELEASE, "REQUEST_PING", uid=5, gid=6), message(RELEASE, "REQUEST_SHUTDOWN", b"\0\2")]
    for step in (1, 7, 1000):
        frames = Frames()
        stream = b"".join(messages)
        found = [frame for at in range(0, len(stream), step) for frame in frames.feed(stream[at : at + step])]
        assert [b"".join((struct.pack(">I", len(frame)), frame)) for frame in found] == messages
        assert [(parse(RELEASE, frame).name, parse(RELEASE, frame).uid) for frame in found] == [
            ("REQUEST_PING", 5),
            ("REQUEST_SHUTDOWN", 0),
        ]
    with pytest.raises(WireError, match="not Slurm's protocol"):
        Frames().feed(b"GET / HTTP/1.1")


def test_what_is_not_a_message() -> None:
    for data, words in (
        (b"", "the message ends early: 2 bytes expected at byte 0 of 0"),
        (struct.pack(">H", 41 << 8), "protocol 41 is not that of Slurm 22.05, 38"),
        (message(RELEASE, "REQUEST_PING")[4:-1], "header of a message"),
        (message(RELEASE, "REQUEST_PING", returned=[Returned("n1", "RESPONSE_SLURM_RC", b"")])[4:], "only nodes send"),
    ):
        with pytest.raises(WireError, match=words):
            parse(RELEASE, data)
    number = message(RELEASE, "REQUEST_PING")[4:].replace(struct.pack(">H", 1008), struct.pack(">H", 7777), 1)
    assert parse(RELEASE, number).name == "message 7777"
    with pytest.raises(WireError, match="RESPONSE_STATS_INFO expected, slurmctld answers with code 0"):
        reports.statistics(RELEASE, captured("answer to REQUEST_PING"))


@pytest.mark.parametrize("text", ["22.05", "22.05.8", "slurm-wlm 22.05.8", "slurm 22.05.11\n"])
def test_releases_that_are_spoken(text: str) -> None:
    assert release_of(text) is RELEASE


@pytest.mark.parametrize("text", ["24.11.5", "slurm-wlm 21.08.5", "", "122.05", "22.050", "2.2.05"])
def test_releases_that_are_not(text: str) -> None:
    with pytest.raises(InputError, match=r"the releases that are: 22\.05"):
        release_of(text)


def test_registration() -> None:
    """The gres part is what slurmctld takes apart itself: amounts by type, and the number of the plug-in."""
    facts = node.NodeFacts("g1", 2, 8, 2, 96000, gres=(node.NodeGres("gpu", 2, "a100", "0-7", has_file=True),))
    body = node.registration(RELEASE, facts, now=2000, boot_time=500, jobs=[7])
    reader = Reader(body)
    assert [reader.time(), reader.time(), reader.u32()] == [2000, 500, 0]
    assert [reader.text() for _ in range(7)] == [None, None, "g1", "g1", "x86_64", None, "Linux"]
    assert [reader.u16() for _ in range(5)] == [32, 1, 2, 8, 2]
    assert [reader.u64(), reader.u32(), reader.u32()] == [96000, 0, 1500]
    assert [reader.u32(), reader.u32(), reader.u64()] == [0xFFFFFFFE, 0, 96000]
    assert [reader.u32() for _ in range(4)] == [1, 7, 0xFFFFFFFB, 0xFFFFFFFE]
    assert reader.u16() == 0
    assert reader.u32() == int.from_bytes(reader.data[reader.position : reader.position + 4])
    gres = Reader(reader.memory())
    assert [gres.u16(), gres.u16(), gres.u32(), gres.u64()] == [38 << 8, 1, 0x438A34D4, 2]
    assert [gres.u32(), gres.u32(), gres.u32()] == [32, 0b10110, int.from_bytes(b"gpu\0", "little")]
    assert [gres.text() for _ in range(5)] == ["0-7", None, "gpu", "a100", None]
    reader.take(40)
    assert reader.text() == "22.05.8"


@pytest.fixture(scope="module")
def controller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Controller]:
    listener = Controller(tmp_path_factory.mktemp("programs"), slurm_programs())
    yield listener
    listener.close()


@pytest.mark.parametrize(
    ("command", "name", "body"),
    [
        (["scancel", "17"], "REQUEST_KILL_JOB", client.kill_job(RELEASE, 17)),
        (["scancel", "17_3"], "REQUEST_KILL_JOB", client.kill_job(RELEASE, "17_3")),
        (
            ["scontrol", "update", "nodename=n[1-3]", "state=down", "reason=broken fan"],
            "REQUEST_UPDATE_NODE",
            client.update_nodes(RELEASE, "n[1-3]", "down", reason="broken fan"),
        ),
        (
            ["scontrol", "update", "nodename=n1", "state=drain", "reason=x"],
            "REQUEST_UPDATE_NODE",
            client.update_nodes(RELEASE, "n1", "drain", reason="x"),
        ),
        (
            ["scontrol", "update", "nodename=n1", "state=resume"],
            "REQUEST_UPDATE_NODE",
            client.update_nodes(RELEASE, "n1", "resume"),
        ),
        (
            ["scontrol", "update", "nodename=n1", "state=undrain"],
            "REQUEST_UPDATE_NODE",
            client.update_nodes(RELEASE, "n1", "undrain"),
        ),
        (["scontrol", "shutdown", "slurmctld"], "REQUEST_SHUTDOWN", client.shut_down(RELEASE)),
        (["scontrol", "ping"], "REQUEST_PING", b""),
        (["sdiag"], "REQUEST_STATS_INFO", client.ask_statistics()),
        (["scontrol", "-a", "-d", "show", "job", "17"], "REQUEST_JOB_INFO_SINGLE", client.ask_job(17)),
        (["squeue", "-a"], "REQUEST_JOB_INFO", client.ask_jobs()),
        (["sshare", "-a", "-l"], "REQUEST_SHARE_INFO", client.ask_shares()),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_requests_are_those_of_slurms_programs(
    controller: Controller, command: list[str], name: str, body: bytes
) -> None:
    controller.heard.clear()
    controller.run(*command)
    assert (name, body) in [(incoming.name, incoming.body) for _, incoming in controller.heard]


READERS: dict[str, Callable[..., Any]] = {
    "answer to REQUEST_JOB_INFO_SINGLE": reports.jobs,
    "answer to REQUEST_PRIORITY_FACTORS": reports.priorities,
    "answer to REQUEST_SHARE_INFO": reports.shares,
    "answer to REQUEST_STATS_INFO": reports.statistics,
    "answer to REQUEST_SUBMIT_BATCH_JOB": client.submitted,
    "answer to REQUEST_PING": client.return_code,
}


def _read(name: str, data: bytes) -> None:
    incoming = parse(RELEASE, data)
    READERS.get(name, node.order)(RELEASE, incoming)
    node.answer(RELEASE, incoming)


@pytest.mark.parametrize("name", CAPTURED)
def test_truncated_messages_are_refused(name: str) -> None:
    data = CAPTURED[name]
    for end in range(len(data)):
        with pytest.raises(WireError):
            _read(name, data[:end])
    incoming = parse(RELEASE, data)
    for end in range(len(incoming.body)):  # the header is right, the body too short
        short = Incoming(incoming.name, incoming.body[:end], "", 0, 0, incoming.protocol)
        try:
            READERS.get(name, node.order)(RELEASE, short)
        except WireError as error:
            assert "ends early" in str(error) or "bytes" in str(error)


@pytest.mark.parametrize("name", CAPTURED)
def test_spoilt_messages_are_read_or_refused(name: str) -> None:
    dice = random.Random(name)
    for _ in range(400):
        data = bytearray(CAPTURED[name])
        for _ in range(dice.randint(1, 4)):
            data[dice.randrange(len(data))] = dice.choice((0, 1, 127, 255, dice.randrange(256)))
        with contextlib.suppress(WireError):
            _read(name, bytes(data))


@given(st.binary(max_size=300), st.sampled_from(sorted(CAPTURED)))
def test_any_bytes_are_read_or_refused(data: bytes, name: str) -> None:
    incoming = captured(name)
    for reading in (
        lambda: parse(RELEASE, data),
        lambda: READERS.get(name, node.order)(RELEASE, Incoming(incoming.name, data, "", 0, 0, RELEASE.protocol)),
        lambda: Frames().feed(data),
        lambda: RELEASE.layouts.job_description.read(Reader(data)),
    ):
        with contextlib.suppress(WireError):
            reading()

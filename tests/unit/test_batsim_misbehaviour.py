"""Schedulers that die, hang or do not speak the language: an error that quotes what was asked, and never a hang."""

from __future__ import annotations

import re
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.batsim_talk import Answer, Fcfs, Message, Scripted, small_platform, submitted, types, write_workload

from schedlab.bridge.batsim.decider import Batsim
from schedlab.bridge.batsim.documents import Documents
from schedlab.bridge.batsim.errors import BatsimError
from schedlab.bridge.batsim.link import Link
from schedlab.bridge.batsim.listener import Listener
from schedlab.bridge.batsim.process import free_port
from schedlab.bridge.batsim.zmtp import GREETING
from schedlab.engine.scenario import Scenario
from schedlab.engine.simulate import simulate
from schedlab.engine.store import read_run
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.run import Run

SOON = 0.4  # seconds that an answer may take here
READY = b"\x04\x19\x05READY\x0bSocket-Type\0\0\0\x03REP"
QUESTION = b'{"now":0.0,"events":[{"timestamp":0.0,"type":"REQUESTED_CALL","data":{}}]}'


def frame(content: bytes, flags: int = 0) -> bytes:
    if len(content) < 256:
        return bytes((flags, len(content))) + content
    return bytes((flags | 2,)) + struct.pack(">Q", len(content)) + content


def answer(content: bytes) -> bytes:
    """A reply on the wire."""
    return frame(b"", 1) + frame(content)


class Wire(threading.Thread):
    """Somebody at the other end of a plain socket, who does what he likes with it."""

    def __init__(self, acts: Callable[[socket.socket], Any]) -> None:
        super().__init__(daemon=True)
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"tcp://127.0.0.1:{self.listening.getsockname()[1]}"
        self.acts = acts
        self.over = threading.Event()
        self.start()

    def run(self) -> None:
        connection, _ = self.listening.accept()
        with connection:
            try:
                self.acts(connection)
            except OSError:
                return
            self.over.wait(20)

    def close(self) -> None:
        self.over.set()
        self.listening.close()


def met(connection: socket.socket) -> None:
    """The handshake, and the first question."""
    connection.sendall(GREETING + READY)
    heard = b""
    while QUESTION not in heard:
        heard += connection.recv(1 << 16)


def asked(acts: Callable[[socket.socket], Any], deadline: float = SOON) -> bytes:
    """What becomes of a question."""
    wire = Wire(acts)
    link = Link(wire.endpoint, deadline)
    try:
        return link.exchange(QUESTION)
    finally:
        link.close()
        wire.close()


def says(content: bytes) -> Callable[[socket.socket], None]:
    def acts(connection: socket.socket) -> None:
        met(connection)
        connection.sendall(content)

    return acts


def leaves(content: bytes = b"") -> Callable[[socket.socket], None]:
    def acts(connection: socket.socket) -> None:
        met(connection)
        connection.sendall(content)
        connection.close()

    return acts


def dribbles(connection: socket.socket) -> None:
    met(connection)
    for byte in answer(b'{"now":0,"events":[]}'):
        connection.sendall(bytes((byte,)))
        time.sleep(0.001)


def never_ends(connection: socket.socket) -> None:
    """There is never silence, and never an answer."""
    met(connection)
    connection.sendall(frame(b"", 1) + b"\x02" + struct.pack(">Q", 1 << 20))
    while True:
        connection.sendall(b" ")
        time.sleep(0.01)


def pings(connection: socket.socket) -> None:
    met(connection)
    while True:
        connection.sendall(frame(b"\x04PING\0\0", 4))
        time.sleep(0.01)


def test_a_slow_answer_is_an_answer() -> None:
    assert asked(dribbles, deadline=20) == b'{"now":0,"events":[]}'
    assert asked(says(frame(b"\x04PING\0\0", 4) + answer(b"later"))) == b"later"


@pytest.mark.parametrize(
    ("acts", "said"),
    [
        (lambda connection: None, "has not answered in 0.4 s"),
        (
            lambda connection: connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" + bytes(64)),
            "does not speak ZeroMQ",
        ),
        (lambda connection: connection.sendall(bytes(200)), "does not speak ZeroMQ"),
        (lambda connection: connection.sendall(GREETING.replace(b"\x7f\x03", b"\x7f\x02") + READY), "version 2"),
        (lambda connection: connection.sendall(GREETING.replace(b"NULL ", b"PLAIN")), "has not answered"),
        (lambda connection: connection.sendall(GREETING.replace(b"NULL\0", b"PLAIN") + READY), "wants a password"),
        (lambda connection: connection.sendall(GREETING + frame(b"\x05ERROR\x04nope", 4)), "does not want to talk"),
        (lambda connection: connection.sendall(GREETING + READY.replace(b"REP", b"PUB")), "not a REP socket"),
        (lambda connection: connection.close(), "broke"),
        (says(b""), "has not answered in 0.4 s"),
        (never_ends, "has not answered in 0.4 s"),
        (pings, "has not answered in 0.4 s"),
        (leaves(), "broke: it is closed"),
        (leaves(answer(b'{"now":0')[:-3]), "broke: it is closed"),
        (says(frame(b"", 1) + frame(b"a", 1) + frame(b"b")), "3 parts, expected one message"),
        (says(frame(b"one frame")), "1 parts, expected one message"),
        (says(frame(b"x", 1) + frame(b"b")), "2 parts, expected one message"),
        (says(frame(b"", 1) + b"\x02" + struct.pack(">Q", 1 << 62)), "its answer has 4,611,686,018,427,387,904 bytes"),
    ],
)
def test_whoever_does_not_speak_the_language(acts: Callable[[socket.socket], Any], said: str) -> None:
    began = time.monotonic()
    with pytest.raises(BatsimError) as error:
        asked(acts)
    assert said in str(error.value)
    assert time.monotonic() - began < 15  # far more than it takes, far less than for ever


def test_nobody_comes() -> None:
    link = Link(f"tcp://127.0.0.1:{free_port()}", 0.1)
    with pytest.raises(BatsimError, match=r"no scheduler has come to .* in 0\.1 s; it has to bind a REP socket"):
        link.exchange(QUESTION)


def test_a_second_answer_to_one_question_is_not_taken_for_that_to_the_next() -> None:
    def twice(connection: socket.socket) -> None:
        met(connection)
        connection.sendall(answer(b"first") + answer(b"second"))

    wire = Wire(twice)
    link = Link(wire.endpoint, SOON)
    assert link.exchange(QUESTION) == b"first"
    with pytest.raises(BatsimError, match="has said something that it was not asked"):
        link.exchange(QUESTION)
    link.close()
    wire.close()


# ---- whole runs ----


@pytest.fixture
def scripted() -> Iterator[Callable[[Answer], Scripted]]:
    """Schedulers that do not outlive the test."""
    made: list[Scripted] = []

    def make(answer: Answer) -> Scripted:
        made.append(Scripted(answer))
        return made[-1]

    yield make
    for scheduler in made:
        scheduler.dismiss()


def run_under(tmp_path: Path, **scheduler: Any) -> Run:
    file = write_workload(tmp_path, [{"id": 1}, {"id": 2, "subtime": 5}])
    platform = small_platform()
    documents = Documents.read([file], platform)
    policy = Batsim(platform=platform, documents=documents, **{"deadline": SOON, **scheduler})
    return simulate(Scenario(documents.workload(), Cluster.uniform(1), policy, out=tmp_path / "run"))


def failure(tmp_path: Path, **scheduler: Any) -> str:
    """The error, which is what the folder of the run says, too."""
    with pytest.raises(BatsimError) as error:
        run_under(tmp_path, **scheduler)
    assert read_run(tmp_path / "run").config["incomplete"] == str(error.value).partition("\n")[0]
    return str(error.value)


PYTHON_SCHEDULER = """
import json, os, signal, sys, time, zmq
socket = zmq.Context().socket(zmq.REP)
socket.bind(sys.argv[1])
for number in range(100):
    message = json.loads(socket.recv())
    kinds = [event["type"] for event in message["events"]]
    jobs = [event["data"]["job_id"] for event in message["events"] if event["type"] == "JOB_SUBMITTED"]
    {acts}
    said = [dict(timestamp=message["now"], type="EXECUTE_JOB", data=dict(job_id=job, alloc=job[-1])) for job in jobs]
    socket.send_string(json.dumps(dict(now=message["now"], events=said)))
    if "SIMULATION_ENDS" in kinds:
        break
"""


def program(tmp_path: Path, acts: str) -> dict[str, Any]:
    """A scheduler that is started, and does something when it has heard a message, before it answers."""
    file = tmp_path / "scheduler.py"
    file.write_text(PYTHON_SCHEDULER.replace("{acts}", acts))
    return {"command": [sys.executable, str(file), "{socket}"], "deadline": 30}


def test_a_program_that_does_as_it_should(tmp_path: Path) -> None:
    run = run_under(tmp_path, **program(tmp_path, "pass"))
    assert run.jobs["start"].to_list() == [0, 5]
    assert run.config["decider"]["cpu_seconds"] > 0


@pytest.mark.parametrize(
    ("acts", "said"),
    [
        ("if jobs: print('out of luck'); sys.exit(3)", "has ended with exit code 3 (its last words: out of luck)"),
        ("if jobs: raise ValueError('oops')", "has ended with exit code 1 (its last words: ValueError: oops)"),
        ("if jobs: os.kill(os.getpid(), signal.SIGKILL)", "was killed by SIGKILL"),
        ("if jobs: socket.close(0); time.sleep(60)", "broke: it is closed"),
    ],
)
def test_a_program_that_dies(tmp_path: Path, acts: str, said: str) -> None:
    error = failure(tmp_path, **program(tmp_path, acts))
    assert said in error
    assert re.search(r'it was asked \{"now":.*,"events":\[\{"timestamp":.*,"type":"JOB_SUBMITTED"', error)


def test_a_program_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has all the time that it needs for its first answer."""

    class Impatient(Listener):
        def received(self, message: bytes) -> None:
            for link in links:
                link._deadline = SOON

    links: list[Any] = []
    patient = Link.__init__
    monkeypatch.setattr(Link, "__init__", lambda self, *given: (patient(self, *given), links.append(self))[0])
    mark = tmp_path / "pid"
    acts = f"open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(60 if jobs else 0)"
    error = failure(tmp_path, **program(tmp_path, acts), listeners=[Impatient()])
    assert "has not answered in 0.4 s; it was asked" in error and "JOB_SUBMITTED" in error
    assert not Path("/proc", mark.read_text()).exists()  # and it does not stay


def test_a_program_that_is_not_there_or_ends_at_once(tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"cannot start '\./no-such-program': No such file or directory"):
        run_under(tmp_path, command=["./no-such-program", "{socket}"])
    error = failure(tmp_path, command=["sh", "-c", "echo wrong option >&2; exit 2", "{socket}"], deadline=20)
    assert "has ended with exit code 2 (its last words: wrong option)" in error


def test_a_program_that_cannot_listen_because_another_one_does(
    tmp_path: Path, scripted: Callable[[Answer], Scripted]
) -> None:
    """The other one would be asked in its place."""
    other = scripted(Fcfs())
    with pytest.raises(InputError, match=r"somebody listens at .* already"):
        run_under(tmp_path, **program(tmp_path, "pass") | {"socket": other.endpoint})


@pytest.mark.parametrize("last", [b"tea", b"", b'{"now":1e9,"events":[{"timestamp":0,"type":"TEA","data":{}}]}', None])
def test_what_is_said_after_the_end_does_not_matter(
    tmp_path: Path, scripted: Callable[[Answer], Scripted], last: bytes | None
) -> None:
    fcfs = Fcfs()
    scheduler = scripted(lambda message: last if "SIMULATION_ENDS" in types(message) else fcfs(message))
    run = run_under(tmp_path, socket=scheduler.endpoint)
    assert run.jobs["start"].to_list() == [0, 5]


def test_a_huge_message_is_read_or_quoted_in_short(tmp_path: Path, scripted: Callable[[Answer], Scripted]) -> None:
    fcfs = Fcfs()

    def calls(message: Message) -> Any:
        """Half a million calls, and nonsense of ten megabytes."""
        if message["now"] == 5:
            return b'"' + b"x" * 10_000_000 + b'"'
        said = [("CALL_ME_LATER", {"timestamp": 5})] * (50_000 if message["now"] == 0 and submitted(message) else 0)
        return [*said, *fcfs(message)]

    error = failure(tmp_path, socket=scripted(calls).endpoint, deadline=20)
    assert "Expected `object`, got `str`" in error and len(error) < 1000


def test_two_simulations_at_one_scheduler(tmp_path: Path, scripted: Callable[[Answer], Scripted]) -> None:
    """A REP socket answers both in turn. One that knows only one simulation mixes them up, which is told to both."""
    scheduler = scripted(Fcfs(100))
    results: list[Any] = []

    def simulation(folder: Path) -> None:
        folder.mkdir()
        try:
            results.append(run_under(folder, socket=scheduler.endpoint, deadline=5))
        except BatsimError as error:
            results.append(error)

    threads = [threading.Thread(target=simulation, args=(tmp_path / name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(results) == 2 and not any(thread.is_alive() for thread in threads)

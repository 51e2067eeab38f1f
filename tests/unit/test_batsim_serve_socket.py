"""The scheduler's end of the socket: who comes, who goes, who says what."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zmq
from tests.batsim_world import Delay, World
from tests.commands import schedlab

from schedlab.bridge.batsim import serve
from schedlab.bridge.batsim.errors import BatsimError
from schedlab.model.errors import InputError

JOBS = [("w0!1", 0, 60, 100, 3), ("w0!2", 1, 20, 20, 4), ("w0!3", 2, 110, 110, 1), ("w0!4", 3, 10, 10, 1)]
STARTS = [0, 60, 80, 3]


class Simulator:
    """The other end."""

    def __init__(self, endpoint: str) -> None:
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.REQ)
        self.socket.setsockopt(zmq.RCVTIMEO, 20_000)
        self.socket.connect(endpoint)

    def __call__(self, content: bytes) -> bytes:
        self.socket.send(content)
        return self.socket.recv()

    def leave(self) -> None:
        self.context.destroy(linger=0)


class Serving(threading.Thread):
    def __init__(self, endpoint: str, policy: str = "easy") -> None:
        super().__init__(daemon=True)
        self.endpoint, self.policy = endpoint, policy
        self.places: queue.Queue[str] = queue.Queue()
        self.result: Any = None

    def run(self) -> None:
        try:
            self.result = serve.serve_policy(self.policy, self.endpoint, self.places.put)
        except Exception as error:
            self.result = error


@pytest.fixture
def serving(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Serving, Simulator]]:
    monkeypatch.setattr(serve, "GRACE", 0.05)
    monkeypatch.setattr(serve, "LOOK_EVERY", 20)
    thread = Serving("tcp://127.0.0.1:*")
    thread.start()
    simulator = Simulator(thread.places.get(timeout=20))
    yield thread, simulator
    simulator.leave()
    thread.join(20)
    assert not thread.is_alive()


def test_a_simulation_from_begin_to_end(serving: tuple[Serving, Simulator]) -> None:
    thread, simulator = serving
    world = World([Delay(*job) for job in JOBS], 4)
    world.play(simulator)
    assert [job.start for job in world.jobs.values()] == STARTS
    thread.join(20)
    assert thread.result == serve.Served(time=190.0, submitted=4, started=4, rejected=0, messages=len(world.told))


def test_a_simulator_that_goes_away_is_missed(serving: tuple[Serving, Simulator]) -> None:
    thread, simulator = serving
    begins = {"compute_resources": [{"id": 0, "name": "a"}]}
    simulator(
        json.dumps({"now": 0, "events": [{"timestamp": 0, "type": "SIMULATION_BEGINS", "data": begins}]}).encode()
    )
    simulator.leave()
    thread.join(20)
    assert isinstance(thread.result, BatsimError)
    said = 'has gone before its simulation was over; the last answer was {"now":0.0,"events":[]}'
    assert said in str(thread.result)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"hello", "message is not JSON .*: hello"),
        (b"\xff\xfe", "message is not JSON"),
        (b"[" * 100_000, "message is not"),
        (b'{"now": 0}', "Object missing required field `events`"),
        (b'{"now": 0, "events": []}', 'has to be SIMULATION_BEGINS, this is {"now": 0, "events": ..}'),
        (
            b'{"now": 0, "events": [{"timestamp": 0, "type": "JOB_SUBMITTED", "data": {}}]}',
            "has to be SIMULATION_BEGINS",
        ),
        (
            b'{"now": 0, "events": [{"timestamp": 0, "type": "SIMULATION_BEGINS", "data": {"compute_resources": []}}]}',
            "no hosts that compute",
        ),
    ],
)
def test_a_first_message_that_makes_no_sense(serving: tuple[Serving, Simulator], content: bytes, said: str) -> None:
    thread, simulator = serving
    simulator.socket.send(content)
    thread.join(20)
    assert isinstance(thread.result, BatsimError)
    with pytest.raises(BatsimError, match=said):
        raise thread.result


def test_places_where_nobody_can_listen(tmp_path: Path) -> None:
    for endpoint in ("tcp://127.0.0.1", "tcp://nowhere.invalid:1", "28000", "ftp://x:1"):
        with pytest.raises(InputError, match="cannot listen at"):
            serve.serve_policy("easy", endpoint)
    first = serve.Server("tcp://127.0.0.1:*")
    with pytest.raises(InputError, match=r"cannot listen at .*in use"):
        serve.serve_policy("easy", first.endpoint)
    first.close()


def test_the_command(tmp_path: Path) -> None:
    place = f"ipc://{tmp_path}/socket"
    found: list[Any] = []
    command = threading.Thread(target=lambda: found.append(schedlab("serve-policy", "easy", "--socket", place)))
    command.start()
    simulator = Simulator(place)
    world = World([Delay(*job) for job in JOBS], 4)
    world.play(simulator)
    simulator.leave()
    command.join(60)
    assert [job.start for job in world.jobs.values()] == STARTS
    assert found[0].returncode == 0
    assert found[0].stderr == f"easy listens at {place}\n"
    assert "easy: 4 jobs in" in found[0].stdout and "4 started, 0 rejected" in found[0].stdout


def test_mistakes_of_the_command_are_said_at_once() -> None:
    done = schedlab("serve-policy", "esy")
    assert done.returncode == 2 and "did you mean 'easy'?" in done.stderr
    done = schedlab("serve-policy", "easy", "--socket", "28000")
    assert done.returncode == 2 and "cannot listen at '28000'" in done.stderr

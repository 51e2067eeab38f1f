"""A policy of ours behind a socket: whoever simulates asks (REQ) and connects, we answer (REP) and bind."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import zmq
from zmq.utils.monitor import recv_monitor_message

from schedlab.bridge.batsim import messages as say
from schedlab.bridge.batsim import told
from schedlab.bridge.batsim.errors import BatsimError, quoted
from schedlab.bridge.batsim.mirror import Mirror
from schedlab.model.errors import InputError

LOOK_EVERY = 200  # milliseconds of silence after which it is looked whether the simulator is still there
GRACE = 2.0  # seconds for it to come back after its connection broke


@dataclass(frozen=True, slots=True)
class Served:
    """A simulation that was served from begin to end."""

    time: float  # simulated seconds
    submitted: int
    started: int
    rejected: int
    messages: int


class Server:
    """Our end of the socket."""

    def __init__(self, endpoint: str) -> None:
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.REP)
        self._socket.setsockopt(zmq.LINGER, 1000)  # the last answer is to arrive
        self._socket.setsockopt(zmq.RCVTIMEO, LOOK_EVERY)
        self._monitor = self._socket.get_monitor_socket(zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED)
        self._there = 0
        try:
            self._socket.bind(endpoint)
        except zmq.ZMQError as error:
            self.close()
            hint = "write it as tcp://127.0.0.1:28000 or ipc:///path/of/a/socket; nobody else may listen there"
            raise InputError(f"cannot listen at '{endpoint}': {error}", hint=hint) from None
        self.endpoint: str = self._socket.getsockopt_string(zmq.LAST_ENDPOINT)

    def receive(self, after: bytes = b"") -> bytes:
        """The next message. Before the first one we wait as long as it takes; `after` is what was answered last."""
        gone = 0.0
        while True:
            try:
                return self._socket.recv()
            except zmq.Again:
                pass
            while self._monitor.poll(0):
                kind = recv_monitor_message(self._monitor)["event"]
                self._there += 1 if kind == zmq.EVENT_ACCEPTED else -1
            gone = 0.0 if self._there > 0 else gone or time.monotonic()
            if after and gone and time.monotonic() - gone > GRACE:
                said = quoted(after)
                raise BatsimError(f"the simulator has gone before its simulation was over; the last answer was {said}")

    def send(self, message: bytes) -> None:
        self._socket.send(message)

    def close(self) -> None:
        self._socket.disable_monitor()
        self._monitor.close(0)
        self._socket.close()
        self._context.term()


def serve_policy(policy: str, endpoint: str, listening: Callable[[str], None] | None = None) -> Served:
    """Answers one simulator until its simulation ends; `listening` is told where, once it may connect."""
    server = Server(endpoint)
    mirror: Mirror | None = None
    reply, count = b"", 0
    try:
        if listening is not None:
            listening(server.endpoint)
        while True:
            content = server.receive(reply)
            message = told.read_message(content)
            count += 1
            kinds = [event.type for event in message.events]
            if mirror is None:
                mirror = Mirror(policy, _first(message, content))
            reply = mirror.answer(message)
            if "SIMULATION_ENDS" in kinds:
                server.send(say.message(say.time_text(message.now), ()))
                return Served(message.now, mirror.submitted, mirror.started, mirror.rejected, count)
            server.send(reply)
    finally:
        if mirror is not None:
            mirror.close()
        server.close()


def _first(message: told.Message, content: bytes) -> told.Begins:
    if not message.events or message.events[0].type != "SIMULATION_BEGINS":
        raise BatsimError(f"the first event of a simulator has to be SIMULATION_BEGINS, this is {quoted(content)}")
    return told.read_begins(message.events[0])

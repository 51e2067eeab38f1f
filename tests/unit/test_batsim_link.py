"""Our end of the socket: schedulers that are not there, keep silent, leave, or speak something else."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import zmq

from schedlab.bridge.batsim.errors import BatsimError
from schedlab.bridge.batsim.link import Link
from schedlab.bridge.batsim.process import free_port
from schedlab.bridge.batsim.zmtp import GREETING
from schedlab.model.errors import InputError


@contextmanager
def answering(kind: int, act: Callable[[zmq.Socket[bytes]], None], endpoint: str = "") -> Iterator[str]:
    """A socket of ZeroMQ that does something, in a thread; what it waits for may never come."""
    context = zmq.Context()
    here = context.socket(kind)
    here.setsockopt(zmq.RCVTIMEO, 5000)
    if endpoint:
        here.bind(endpoint)
    else:
        endpoint = f"tcp://127.0.0.1:{here.bind_to_random_port('tcp://127.0.0.1')}"

    over = threading.Event()

    def acting() -> None:
        with suppress(zmq.Again):
            act(here)
        over.wait()
        here.close(0)  # in this thread: a socket that another one waits at cannot be closed

    thread = threading.Thread(target=acting, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        over.set()
        thread.join()
        context.term()


@contextmanager
def raw(act: Callable[[socket.socket], None]) -> Iterator[str]:
    """A plain socket that does something with the first connection."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(10)

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            act(connection)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"tcp://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        thread.join(10)
        listener.close()


def echo(times: int) -> Callable[[zmq.Socket[bytes]], None]:
    def act(here: zmq.Socket[bytes]) -> None:
        for _ in range(times):
            here.send(here.recv())

    return act


@pytest.fixture
def linked() -> Iterator[Callable[..., Link]]:
    made: list[Link] = []

    def make(endpoint: str, deadline: float = 10.0, ended: Callable[[], str] | None = None) -> Link:
        made.append(Link(endpoint, deadline, ended))
        return made[-1]

    yield make
    for link in made:
        link.close()


@pytest.mark.parametrize("size", [0, 1, 255, 256, 65_531, 65_532, 65_536, 3_000_000])
def test_messages_of_all_sizes_come_back_whole(size: int, linked: Callable[..., Link]) -> None:
    message = bytes(i % 251 for i in range(size))
    with answering(zmq.REP, echo(2)) as endpoint:
        link = linked(endpoint)
        assert link.exchange(message) == message
        assert link.exchange(b"again") == b"again"


def test_sockets_may_be_files(tmp_path: Path, linked: Callable[..., Link]) -> None:
    with answering(zmq.REP, echo(1), f"ipc://{tmp_path}/s") as endpoint:
        assert linked(endpoint).exchange(b"x") == b"x"


def test_a_scheduler_may_come_later(linked: Callable[..., Link]) -> None:
    endpoint = f"tcp://127.0.0.1:{free_port()}"
    answers: list[bytes] = []
    asking = threading.Thread(target=lambda: answers.append(linked(endpoint).exchange(b"x")))
    asking.start()
    time.sleep(0.1)
    with answering(zmq.REP, echo(1), endpoint):
        asking.join(10)
    assert answers == [b"x"]


def test_nobody_comes(linked: Callable[..., Link]) -> None:
    endpoint = f"tcp://127.0.0.1:{free_port()}"
    with pytest.raises(BatsimError, match=rf"no scheduler has come to {endpoint} in 0.1 s"):
        linked(endpoint, 0.1).exchange(b"x")


def test_a_scheduler_that_does_not_answer_is_given_up_with_what_it_was_asked(linked: Callable[..., Link]) -> None:
    words = r"has not answered in 0\.3 s; it was asked what is it"
    silent = answering(zmq.REP, lambda here: here.recv() and None)
    with silent as endpoint, pytest.raises(BatsimError, match=words):
        linked(endpoint, 0.3).exchange(b"what is\n it")


def test_a_scheduler_that_leaves_is_not_waited_for(linked: Callable[..., Link]) -> None:
    def leave(here: zmq.Socket[bytes]) -> None:
        here.recv()
        here.close(0)

    words = r"the connection to the scheduler at .* broke.*; it was asked x"
    with answering(zmq.REP, leave) as endpoint, pytest.raises(BatsimError, match=words):
        linked(endpoint, 600).exchange(b"x")


def test_what_became_of_a_process_that_left_is_said(linked: Callable[..., Link]) -> None:
    def leave(here: zmq.Socket[bytes]) -> None:
        here.recv()
        here.close(0)

    words = "the scheduler has ended with exit code 3, and did not answer"
    with answering(zmq.REP, leave) as endpoint, pytest.raises(BatsimError, match=words):
        linked(endpoint, 600, lambda: "has ended with exit code 3").exchange(b"x")


def test_a_process_that_ends_before_it_listens_is_known(linked: Callable[..., Link]) -> None:
    with pytest.raises(BatsimError, match="the scheduler has ended with exit code 3"):
        linked(f"tcp://127.0.0.1:{free_port()}", 60, lambda: "has ended with exit code 3").exchange(b"x")


def test_nothing_depends_on_the_last_answer(linked: Callable[..., Link]) -> None:
    """Nor on whether it was heard: a slow machine may not even have connected then."""

    def hears(here: zmq.Socket[bytes]) -> None:
        if here.poll(1000):
            here.recv()

    with answering(zmq.REP, hears) as endpoint:
        assert linked(endpoint).exchange_last(b"x", 0.1) == b""


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n" + b" " * 40, "does not speak ZeroMQ's protocol"),
        (GREETING[:10] + b"\x01" + GREETING[11:], "speaks version 1"),
        (GREETING[:12] + b"PLAIN".ljust(20, b"\0") + GREETING[32:], "wants a password"),
        (GREETING + b"\x04\x0a\x05ERROR\x03no!", "does not want to talk"),
        (GREETING + b"\x00\x02hi", "does not want to talk"),
    ],
)
def test_others_than_schedulers_are_not_talked_to(said: bytes, words: str, linked: Callable[..., Link]) -> None:
    def act(connection: socket.socket) -> None:
        connection.sendall(said)
        while connection.recv(1000):
            pass

    with raw(act) as endpoint:
        link = linked(endpoint)
        with pytest.raises(BatsimError, match=words):
            link.exchange(b"x")
        link.close()


def test_a_socket_that_asks_too_is_no_scheduler(linked: Callable[..., Link]) -> None:
    with answering(zmq.PULL, lambda here: None) as endpoint, pytest.raises(BatsimError, match="not a REP socket"):
        linked(endpoint).exchange(b"x")


def test_an_answer_of_several_parts_is_none(linked: Callable[..., Link]) -> None:
    twice = answering(zmq.REP, lambda here: here.send_multipart([here.recv(), b"more"]))
    with twice as endpoint, pytest.raises(BatsimError, match="its answer has 3 parts"):
        linked(endpoint).exchange(b"x")


def test_answers_may_come_in_pieces_and_with_signs_of_life(linked: Callable[..., Link]) -> None:
    metadata = b"\x05READY\x0bSocket-Type\0\0\0\x03REP"

    def act(connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in GREETING + bytes((4, len(metadata))) + metadata:
            connection.sendall(bytes((byte,)))
        heard = b""
        while not heard.endswith(b"\x00\x01x"):
            heard += connection.recv(1000)
        for byte in b"\x04\x07\x04PING\0\0" + b"\x01\x00" + b"\x00\x05hello":
            connection.sendall(bytes((byte,)))
        while connection.recv(1000):
            pass

    with raw(act) as endpoint:
        link = linked(endpoint)
        assert link.exchange(b"x") == b"hello"
        link.close()


@pytest.mark.parametrize(
    "endpoint",
    ["", "localhost:28000", "tcp://localhost", "tcp://:28000", "tcp://localhost:x", "tcp://h:70000", "ipc://"],
)
def test_places_where_no_scheduler_can_be(endpoint: str) -> None:
    with pytest.raises(InputError, match="tcp://localhost:28000"):
        Link(endpoint, 1.0)

"""What tests of attacks on the pages' server share: people, somebody else who is served meanwhile, raw connections."""

from __future__ import annotations

import socket
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
from tests.system.test_web_process import children
from tests.web_process import Process

SECOND, LEAST = 1.0, 20


@contextmanager
def person(server: Process) -> Iterator[httpx2.Client]:
    """Somebody with the token and a space."""
    with httpx2.Client(base_url=server.place, headers=server.allowed, timeout=300) as client:
        client.get("/api/files").raise_for_status()
        yield client


def space_of(client: httpx2.Client) -> str:
    """The name of the folder, which those of its files have."""
    name: str = client.put("/api/files/mine.txt?replace", content=b"x").json()["name"]
    return name.rpartition("/")[0]


class Watched:
    """How long somebody else waits for pages, until it is looked at."""

    def __init__(self, server: Process) -> None:
        self._server, self._end = server, threading.Event()
        self._thread = threading.Thread(target=self._ask)
        self.waits: list[float] = []

    def _ask(self) -> None:
        with person(self._server) as client:
            while len(self.waits) < LEAST or not self._end.is_set():
                for path in ("/", "/setup", "/static/dom.js", "/api/files", "/api/work"):
                    begun = time.monotonic()
                    client.get(path).raise_for_status()
                    self.waits.append(time.monotonic() - begun)
                time.sleep(0.01)

    def __enter__(self) -> Watched:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()


@contextmanager
def another_works(server: Process) -> Iterator[None]:
    """His pages come in a second; on a machine that does much else, most of them."""
    with Watched(server) as before:
        time.sleep(1)
    with Watched(server) as meanwhile:
        yield
    usual, found = (statistics.quantiles(each.waits, n=10)[-1] for each in (before, meanwhile))
    assert found < max(SECOND, 10 * usual), (usual, sorted(meanwhile.waits)[-20:])


def refusal(answer: httpx2.Response) -> str:
    assert 400 <= answer.status_code < 500, (answer.status_code, answer.text[:2000])
    found = answer.json()
    assert set(found) == {"error", "hint"}
    return str(found["error"])


def memory_of(pids: list[int]) -> int:
    """Bytes that they have of their own."""
    total = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Private_Dirty:"))
    return total


@contextmanager
def most_memory(server: Process) -> Iterator[Callable[[], int]]:
    """Of the server and all that it has started."""
    most, end = [0], threading.Event()

    def measure() -> None:
        while not end.wait(0.1):
            most[0] = max(most[0], memory_of([server.process.pid, *children(server.process.pid)]))

    thread = threading.Thread(target=measure)
    thread.start()
    try:
        yield lambda: most[0]
    finally:
        end.set()
        thread.join()


def request(server: Process, line: str, *headers: str) -> bytes:
    """The head of a request, without its end."""
    own = (f"Host: 127.0.0.1:{server.port}", f"Authorization: {server.allowed['authorization']}", *headers)
    return "\r\n".join((f"{line} HTTP/1.1", *own)).encode()


def closed(connection: socket.socket, seconds: float) -> bool:
    """By the server, in time; what it says before that is read."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        connection.settimeout(left)
        try:
            if not connection.recv(1 << 16):
                return True
        except TimeoutError:
            return False
        except OSError:
            return True
    return False

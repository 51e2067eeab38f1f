"""A running server of a small cluster for tests, in a thread of its own, and plain sockets that talk to it."""

from __future__ import annotations

import json
import resource
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.kube_cluster import Cluster

from schedlab.bridge.kubernetes.transport import Limits, Server, new_loop

PATIENCE = 30.0  # seconds


class Running:
    """Where the server is, and what it has; `cluster` may be looked at while nobody asks it anything."""

    def __init__(self, cluster: Cluster, server: Server, port: int, thread: int) -> None:
        self.cluster, self.server, self.port, self._thread = cluster, server, port, thread

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """The code and the document of the answer to one request on a connection of its own."""
        with self.connect() as client:
            client.sendall(request(method, path, body, **headers))
            return answer(client)

    def cpu(self) -> float:
        """Seconds that the thread of the server has worked."""
        return time.clock_gettime(time.pthread_getcpuclockid(self._thread))

    @contextmanager
    def others_are_served(self, within: float = 1.0) -> Iterator[None]:
        """Meanwhile somebody else asks all the time, and never waits for more than a second of the server's work."""
        over, waits = threading.Event(), []

        def go_on() -> None:
            while not over.is_set():
                begin = self.cpu()
                assert self.ask("GET", "/api/v1/nodes")[0] == 200
                waits.append(self.cpu() - begin)

        thread = threading.Thread(target=go_on)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join(PATIENCE)
        assert not thread.is_alive() and waits
        assert max(waits) < within, f"{max(waits):.2f} s"


@contextmanager
def running(cluster: Cluster | None = None, limits: Limits | None = None, **settings: Any) -> Iterator[Running]:
    cluster = cluster or Cluster("n1")
    server = Server(cluster.api, limits, **settings)
    loop = new_loop()
    ready = threading.Event()
    port = 0

    async def serve() -> None:
        nonlocal port
        port = await server.start()
        ready.set()
        await over
        await server.stop()

    over = loop.create_future()
    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    assert ready.wait(PATIENCE) and thread.ident is not None
    try:
        yield Running(cluster, server, port, thread.ident)
    finally:
        loop.call_soon_threadsafe(over.set_result, None)
        thread.join(PATIENCE)
        loop.close()
    assert not server.connections and not server.watches and not server.receiving


def request(method: str, path: str, body: Any = None, **headers: str) -> bytes:
    data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    usual = {"Host": "localhost", "Content_Type": "application/json", "Content_Length": str(len(data))}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in {**usual, **headers}.items() if value]
    return f"{method} {path} HTTP/1.1\r\n".encode() + "\r\n".join([*lines, "", ""]).encode() + data


def answer(client: socket.socket) -> tuple[int, Any]:
    """The next answer, whose length is said."""
    code, _, document = whole_answer(client)
    return code, document


def whole_answer(client: socket.socket) -> tuple[int, str, Any]:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = client.recv(65536)
        assert piece, f"the server hung up after {data!r:.200}"
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    size = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    while len(body) < size:
        piece = client.recv(1 << 20)
        assert piece
        body += piece
    text = body.decode()
    return int(head.split()[1]), head.decode(), json.loads(text) if text.startswith("{") else text


def hangs_up(client: socket.socket) -> bool:
    """Whether the server closes the connection, whatever it says before."""
    try:
        while client.recv(1 << 20):
            pass
    except ConnectionResetError:
        pass
    except TimeoutError:
        return False
    return True


def peak_memory() -> int:
    """The most bytes that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

"""The connections of one scheduler in exact time: every byte is counted, and nothing is answered before it is time."""

from __future__ import annotations

import array
import fcntl
import select
import socket
import termios
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from schedlab.bridge.kubernetes.http import (
    CONTINUE,
    WATCH_END,
    WATCH_HEAD,
    HttpReader,
    RefusedError,
    chunk,
    response_bytes,
)
from schedlab.bridge.kubernetes.messages import Request, Response, failure
from schedlab.bridge.kubernetes.store import Watch
from schedlab.bridge.kubernetes.visitors import Visitors

Handlers = dict[int, Callable[[], None]]  # by descriptor: what to do when there is something to read

_PIECE = 1 << 18
_BACKLOG = 128


@dataclass(slots=True, eq=False)
class Connection:
    """One of several that a scheduler has: it asks one thing at a time, and a watch is the last thing that it asks."""

    socket: socket.socket
    reader: HttpReader = field(default_factory=lambda: HttpReader(Visitors().check))
    unsent: bytearray = field(default_factory=bytearray)
    watch: Watch | None = None
    closed: bool = False


class Link:
    """Listens for one scheduler. What it asked, and nobody has answered, is in `asked`."""

    def __init__(self, poll: select.epoll, handlers: Handlers) -> None:
        self.sent = 0  # bytes, since it began
        self.received = 0
        self.requests = 0
        self.asked: list[tuple[Request, Connection]] = []
        self.unwatch: Callable[[Watch], None] = lambda watch: None
        self._poll, self._handlers = poll, handlers
        self._connections: set[Connection] = set()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
        self._listener.setblocking(False)
        self._register(self._listener, self._accept)

    @property
    def port(self) -> int:
        port: int = self._listener.getsockname()[1]
        return port

    def answer(self, connection: Connection, request: Request, response: Response | Watch) -> None:
        if isinstance(response, Watch):
            connection.watch = response
            self._send(connection, WATCH_HEAD)
        else:
            close = not connection.reader.keeps_alive
            self._send(connection, response_bytes(response, head_only=request.method == "HEAD", close=close))

    def tell(self, connection: Connection, frame: bytes) -> None:
        """A frame of the watch that it has."""
        self._send(connection, chunk(frame))

    def end_watch(self, connection: Connection) -> None:
        connection.watch = None
        self._send(connection, WATCH_END)

    def has_arrived(self) -> bool:
        """Whether all bytes are at the other end, read or not."""
        return not any(connection.unsent or _under_way(connection.socket) for connection in self._connections)

    def close(self) -> None:
        for connection in list(self._connections):
            self._close(connection)
        self._unregister(self._listener)
        self._listener.close()

    def _register(self, found: socket.socket, handler: Callable[[], None]) -> None:
        self._handlers[found.fileno()] = handler
        self._poll.register(found, select.EPOLLIN)

    def _unregister(self, found: socket.socket) -> None:
        del self._handlers[found.fileno()]
        self._poll.unregister(found)

    def _accept(self) -> None:
        while True:
            try:
                found, _ = self._listener.accept()
            except BlockingIOError:
                return
            found.setblocking(False)
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = Connection(found)
            self._connections.add(connection)
            self._register(found, lambda connection=connection: self._serve(connection))  # type: ignore[misc]

    def _serve(self, connection: Connection) -> None:
        if connection.unsent:
            self._flush(connection)
        try:
            data = connection.socket.recv(_PIECE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._close(connection)
            return
        self.received += len(data)
        try:
            requests = connection.reader.feed(data)
        except RefusedError as refused:
            self._send(connection, response_bytes(failure(refused.error), close=True))
            return
        if connection.reader.expects:
            connection.reader.expects = False
            self._send(connection, CONTINUE)
        self.requests += len(requests)
        self.asked += [(request, connection) for request in requests]

    def _send(self, connection: Connection, data: bytes) -> None:
        if connection.closed:
            return
        self.sent += len(data)
        if connection.unsent:
            connection.unsent += data
            return
        try:
            done = connection.socket.send(data)
        except BlockingIOError:
            done = 0
        except OSError:  # it has hung up; what it has not read is counted on its side
            self.sent -= len(data)
            return
        if done < len(data):
            connection.unsent += data[done:]
            self._poll.modify(connection.socket, select.EPOLLIN | select.EPOLLOUT)

    def _flush(self, connection: Connection) -> None:
        with suppress(BlockingIOError, ConnectionError):
            done = connection.socket.send(connection.unsent)
            del connection.unsent[:done]
        if not connection.unsent:
            self._poll.modify(connection.socket, select.EPOLLIN)

    def _close(self, connection: Connection) -> None:
        if connection.closed:
            return
        connection.closed = True
        self.sent -= len(connection.unsent)
        self._connections.discard(connection)
        self.asked = [pair for pair in self.asked if pair[1] is not connection]
        if connection.watch is not None:
            self.unwatch(connection.watch)
            connection.watch = None
        self._unregister(connection.socket)
        connection.socket.close()


def _under_way(found: socket.socket) -> int:
    """Bytes that the other end's system has not acknowledged."""
    count = array.array("i", [0])
    fcntl.ioctl(found, termios.TIOCOUTQ, count)
    return count[0]

"""The sockets between slurmctld and us: what it says to its nodes, and what we say to it.

Both ends are Unix sockets on this machine (docs/virtual-clock.md): what one side has written, the other side has. So
once slurmctld is idle, everything that it has said is here.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from schedlab.slurm.wire.header import Frames

Reply = Callable[[bytes], None]

_PIECE = 1 << 20
_BACKLOG = 4096


@dataclass(slots=True)
class Connection:
    """One connection carries one message there and one back."""

    socket: socket.socket
    on_reply: Reply | None = None  # None: slurmctld asks, we answer
    frames: Frames = field(default_factory=Frames)


class Link:
    """All connections of one slurmctld. `sockets` is the folder where ports are files."""

    def __init__(self, sockets: Path, node_port: int, controller_port: int) -> None:
        self._controller = str(sockets / str(controller_port))
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(sockets / str(node_port)))
        self._listener.listen(_BACKLOG)
        self._listener.setblocking(False)
        self._poll = select.poll()
        self._poll.register(self._listener, select.POLLIN)
        self._connections: dict[int, Connection] = {}
        self.partial = False  # whether parts of messages came last time: the rest comes when slurmctld has run again

    @property
    def unanswered(self) -> int:
        """How many of our messages slurmctld has not answered yet."""
        return sum(connection.on_reply is not None for connection in self._connections.values())

    def send(self, message: bytes, on_reply: Reply) -> None:
        """Say something to slurmctld; `on_reply` is called, from `receive`, with the answer."""
        connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connected.connect(self._controller)
            connected.sendall(message)
        except BaseException:
            connected.close()
            raise
        self._add(Connection(connected, on_reply))

    def receive(self) -> list[tuple[Connection, bytes]]:
        """Hand over the answers that have come, and return what slurmctld asks of its nodes."""
        asked: list[tuple[Connection, bytes]] = []
        self.partial = False
        while ready := self._poll.poll(0):
            for descriptor, _ in ready:
                if descriptor == self._listener.fileno():
                    self._add(Connection(self._listener.accept()[0]))
                else:
                    self._read(self._connections[descriptor], asked)
        return asked

    def answer(self, connection: Connection, message: bytes) -> None:
        with suppress(OSError):  # slurmctld did not wait for it: it often does not
            connection.socket.sendall(message)
        connection.socket.close()

    def close(self) -> None:
        for connection in self._connections.values():
            connection.socket.close()
        self._listener.close()

    def _add(self, connection: Connection) -> None:
        self._connections[connection.socket.fileno()] = connection
        self._poll.register(connection.socket, select.POLLIN)

    def _read(self, connection: Connection, asked: list[tuple[Connection, bytes]]) -> None:
        try:
            data = connection.socket.recv(_PIECE)
        except ConnectionError:
            data = b""
        messages = connection.frames.feed(data) if data else []
        self.partial |= bool(data and not messages)
        if messages or not data:
            self._poll.unregister(connection.socket)
            del self._connections[connection.socket.fileno()]
            if connection.on_reply is not None:
                connection.socket.close()
                connection.on_reply(messages[0] if messages else b"")
            elif messages:
                asked.append((connection, messages[0]))
            else:
                connection.socket.close()

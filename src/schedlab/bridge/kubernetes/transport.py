"""The server on a socket, in real time: asyncio, one thread.

The loop is uvloop's: with asyncio's own, half of the CPU time of a small request is the loop's. Its clock stands still
while something runs, so times are those of `time.monotonic`.
"""

from __future__ import annotations

import asyncio
import time
from typing import cast

import uvloop

from schedlab.bridge.kubernetes.api import Api
from schedlab.bridge.kubernetes.http import (
    CONTINUE,
    WATCH_END,
    WATCH_HEAD,
    HttpReader,
    RefusedError,
    chunk,
    response_bytes,
)
from schedlab.bridge.kubernetes.messages import Request, failure
from schedlab.bridge.kubernetes.store import Watch
from schedlab.model.errors import InputError

BOOKMARK_INTERVAL = 60.0  # seconds, as kube-apiserver has it
BACKLOG = 4096  # connections: Go's clients make one for every request that is under way
MOST_UNREAD = 64 * 1024 * 1024  # bytes that a client has not read: then its watch is ended
MOST_DISCARDED = 1024**3  # bytes of a request that was refused: then the connection is cut


def new_loop() -> asyncio.AbstractEventLoop:
    return uvloop.new_event_loop()


class Server:
    """Listens for clients of an API. `requests` counts what was asked, `heard` is when something last was."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.requests = 0
        self.heard = 0.0
        self.connections: set[Connection] = set()
        self._server: asyncio.Server | None = None
        self._bookmarks: asyncio.TimerHandle | None = None

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> int:
        """The port, which the system chooses for 0."""
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(lambda: Connection(self), host, port, backlog=BACKLOG)
        except OSError as error:
            raise InputError(
                f"cannot listen on {host}:{port}: {error.strerror}",
                hint="another program may have the port; choose another one, or 0 for one that is free",
            ) from None
        self._bookmarks = loop.call_later(BOOKMARK_INTERVAL, self._send_bookmarks)
        return cast(int, self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        if self._bookmarks is not None:
            self._bookmarks.cancel()
        for connection in list(self.connections):
            connection.cut()
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
        while self.connections:
            await asyncio.sleep(0)

    def _send_bookmarks(self) -> None:
        """Tells quiet watches how far they are, so that a client that comes back need not list everything again."""
        for connection in self.connections:
            watch = connection.watch
            if watch is not None and watch.bookmarks and not watch.ended:
                watch.bookmark(self.api.store.version)
        self._bookmarks = asyncio.get_running_loop().call_later(BOOKMARK_INTERVAL, self._send_bookmarks)


class Connection(asyncio.Protocol):
    """One client: its requests are answered one after the other, a watch is its last one."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._reader = HttpReader()
        self._transport: asyncio.Transport | None = None
        self.watch: Watch | None = None
        self._asked = False  # whether the frames of the watch are going to be sent
        self._discarded = -1  # bytes of a request that was refused; -1: none was
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        # Answers go out at once, not when everybody has been heard: until then a client opens another connection.
        self._transport.set_write_buffer_limits(high=0)
        self._server.connections.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._server.connections.discard(self)
        self._forget_watch()
        self._transport = None

    def cut(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        transport = self._transport
        assert transport is not None
        if self._discarded >= 0:
            self._discarded += len(data)
            if self._discarded > MOST_DISCARDED:
                self.cut()
            return
        try:
            requests = self._reader.feed(data)
        except RefusedError as refused:
            # The client may still be sending, and reads the answer only afterwards: the rest is taken and thrown away.
            transport.write(response_bytes(failure(refused.error), close=True))
            transport.write_eof()
            self._discarded = 0
            return
        if self._reader.expects:
            self._reader.expects = False
            transport.write(CONTINUE)
        for request in requests:
            if self.watch is None:
                self._answer(request)

    def eof_received(self) -> bool:
        return False  # the client has hung up: close

    def _answer(self, request: Request) -> None:
        transport = self._transport
        assert transport is not None
        server = self._server
        server.requests += 1
        server.heard = time.monotonic()
        answer = server.api.handle(request)
        if isinstance(answer, Watch):
            self._serve(answer)
            return
        close = not self._reader.keeps_alive
        transport.write(response_bytes(answer, head_only=request.method == "HEAD", close=close))
        if close:
            transport.close()

    def _serve(self, watch: Watch) -> None:
        assert self._transport is not None
        self.watch = watch
        self._transport.write(WATCH_HEAD)
        watch.notify = self._due
        if watch.timeout:
            self._timer = self._loop.call_later(watch.timeout, self._end_watch)
        self._send()

    def _due(self, _: Watch) -> None:
        """Frames of one turn of the loop are sent together."""
        if not self._asked:
            self._asked = True
            self._loop.call_soon(self._send)

    def _send(self) -> None:
        self._asked = False
        transport, watch = self._transport, self.watch
        if transport is None or watch is None:
            return
        if frames := watch.frames():
            transport.write(b"".join([chunk(frame) for frame in frames]))
        if watch.ended or transport.get_write_buffer_size() > MOST_UNREAD:
            self._end_watch()

    def _end_watch(self) -> None:
        """The answer is complete; the connection can be asked for other things."""
        self._forget_watch()
        if self._transport is not None:
            self._transport.write(WATCH_END)

    def _forget_watch(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self.watch is not None:
            self._server.api.store.unwatch(self.watch)
            self.watch = None

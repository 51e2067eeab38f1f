"""The server on a socket, in real time: asyncio, one thread.

The loop is uvloop's: with asyncio's own, half of the CPU time of a small request is the loop's. Its clock stands still
while something runs, so times are those of `time.monotonic`.

Everybody waits for the request that is being answered, so each is bounded (http.py, patches.py, store.py), and between
two of one client the others have their turn.
"""

from __future__ import annotations

import asyncio
import resource
import time
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass
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
from schedlab.bridge.kubernetes.messages import Request, Response, failure
from schedlab.bridge.kubernetes.status import StatusError, shortened
from schedlab.bridge.kubernetes.store import Watch
from schedlab.bridge.kubernetes.visitors import Visitors
from schedlab.model.errors import InputError

BOOKMARK_INTERVAL = 60.0  # seconds, as kube-apiserver has it
BACKLOG = 4096  # connections: Go's clients make one for every request that is under way
MEBIBYTE = 1024 * 1024
_LONGEST_TIMER = 31_536_000.0  # seconds
_SMALL = 64 * 1024  # bytes of a request that is always read


@dataclass(frozen=True, slots=True)
class Limits:
    """What clients may take of the server. Times are seconds; those of kube-apiserver where it has such a bound:
    ReadHeaderTimeout and IdleTimeout in pkg/server/secure_serving.go of k8s.io/apiserver, `--request-timeout`."""

    head: float = 32.0  # until the head of a request is there
    idle: float = 90.0  # between two requests
    request: float = 60.0  # until its body is there, or until a client has read some more of what it asked for
    connections: int = 2000
    watches: int = 1500
    unread: int = 64 * MEBIBYTE  # bytes that wait for a client: then its watch is ended
    receiving: int = 256 * MEBIBYTE  # bytes of requests that have not come whole, of all clients together
    sending: int = 512 * MEBIBYTE  # bytes of answers that clients have not read, of all together: large ones wait
    discarded: int = 1024 * MEBIBYTE  # bytes of a request that was refused: then the connection is cut
    look: float = 1.0  # between two looks at who waits for how long


def new_loop() -> asyncio.AbstractEventLoop:
    return uvloop.new_event_loop()


class Server:
    """Listens for clients of an API. `requests` counts what was asked, `heard` is when something last was.

    `names` are further ones that clients call this machine by.
    """

    def __init__(self, api: Api, limits: Limits | None = None, names: Collection[str] = ()) -> None:
        self.api = api
        self.limits = limits or Limits()
        self.requests = 0
        self.heard = 0.0
        self.connections: set[Connection] = set()
        self.accepted = 0  # connections
        self.watches = 0
        self.receiving = 0  # bytes
        self.visitors = Visitors()
        self._names = names
        self._most = self.limits.connections
        self._server: asyncio.Server | None = None
        self._timers: list[asyncio.TimerHandle] = []

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> int:
        """The port, which the system chooses for 0."""
        loop = asyncio.get_running_loop()
        self.visitors = Visitors(host, self._names)
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if files != resource.RLIM_INFINITY:  # a few are needed for other things
            self._most = max(min(self._most, files - 64), 16)
        try:
            self._server = await loop.create_server(lambda: Connection(self), host, port, backlog=BACKLOG)
        except OSError as error:
            raise InputError(
                f"cannot listen on {host}:{port}: {error.strerror}",
                hint="another program may have the port; choose another one, or 0 for one that is free",
            ) from None
        self._timers = [
            loop.call_later(BOOKMARK_INTERVAL, self._send_bookmarks),
            loop.call_later(self.limits.look, self._look),
        ]
        self.api.later = lambda: loop.call_soon(self._settle)
        return cast(int, self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        for timer in self._timers:
            timer.cancel()
        for connection in list(self.connections):
            connection.cut()
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
        while self.connections:
            await asyncio.sleep(0)

    def make_room(self, newest: Connection) -> None:
        """Who has waited longest without a request, or for the rest of one, gives way to who comes."""
        if len(self.connections) <= self._most:
            return
        others = [one for one in self.connections if one is not newest and one.gives_way]
        (max(others, key=lambda one: (one.waited, -one.number)) if others else newest).cut()

    @property
    def sending(self) -> int:
        """Bytes that clients have not read yet."""
        return sum(one.unread for one in self.connections)

    def _send_bookmarks(self) -> None:
        """Tells quiet watches how far they are, so that a client that comes back need not list everything again."""
        for connection in self.connections:
            watch = connection.watch
            if watch is not None and watch.bookmarks and not watch.ended:
                watch.bookmark(self.api.store.version)
        self._timers[0] = asyncio.get_running_loop().call_later(BOOKMARK_INTERVAL, self._send_bookmarks)

    def _look(self) -> None:
        """Who keeps us waiting? Looks are counted, not seconds: a loop that stood still has heard nobody meanwhile."""
        for connection in list(self.connections):
            connection.look(self.limits.look)
        self._timers[1] = asyncio.get_running_loop().call_later(self.limits.look, self._look)

    def _settle(self) -> None:
        """What follows from changes, in pieces: others have their turn in between."""
        if self.api.settle():
            asyncio.get_running_loop().call_soon(self._settle)


class Connection(asyncio.Protocol):
    """One client: its requests are answered one after the other, and nothing else while it has a watch."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._limits = server.limits
        self._loop = asyncio.get_running_loop()
        self._reader = HttpReader(lambda host, headers: server.visitors.check(host, headers))
        self._transport: asyncio.Transport | None = None
        self.watch: Watch | None = None
        self._asked: deque[Request] = deque()
        self._turn_due = False  # whether the next request is going to be answered
        self._frames_due = False  # whether the frames of the watch are going to be sent
        self._full = False  # whether the client has not read what was sent
        self._paused = False  # whether nothing more is read from it
        self._closes = False  # after the answer that was sent
        self._receiving = 0
        self._discarded = -1  # bytes of a request that was refused; -1: none was
        self._timer: asyncio.TimerHandle | None = None
        self.waited = 0.0  # seconds, in which nothing came that was due
        self._seen: tuple[object, ...] = ()
        self._answered = 0
        server.accepted += 1
        self.number = server.accepted

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        # Answers go out at once, not when everybody has been heard: until then a client opens another connection.
        self._transport.set_write_buffer_limits(high=0)
        self._server.connections.add(self)
        self._server.make_room(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._server.connections.discard(self)
        self._server.receiving -= self._receiving
        self._receiving = 0
        self._asked.clear()
        self._forget_watch()
        self._transport = None

    def cut(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    @property
    def unread(self) -> int:
        return self._transport.get_write_buffer_size() if self._transport is not None else 0

    # Time.

    @property
    def gives_way(self) -> bool:
        """Whether nothing of it is being answered."""
        return self.watch is None and not self._asked and not self._full

    def look(self, passed: float) -> None:
        """Some time has passed; who lets it wait too long is cut off."""
        transport = self._transport
        if transport is None:
            return
        limit, what = self._waits_for(transport)
        self.waited = self.waited + passed if what == self._seen else 0.0
        self._seen = what
        if self.waited >= limit:
            if what[0] == "body":
                message = "Timeout: request did not complete within the allotted timeout"
                transport.write(response_bytes(failure(StatusError(408, message)), close=True))
                transport.close()
                self._seen = ()
            else:
                self.cut()

    def _waits_for(self, transport: asyncio.Transport) -> tuple[float, tuple[object, ...]]:
        """For how long at most, and for what."""
        limits = self._limits
        if self._full or self._closes:
            return limits.request, ("reading", transport.get_write_buffer_size())
        if self._discarded >= 0:
            return limits.request, ("end",)
        if self.watch is not None or self._asked:
            return float("inf"), ("us",)
        if self._reader.reads_body:
            return limits.request, ("body", self._answered)
        if self._reader.under_way or not self._answered:
            return limits.head, ("head", self._answered)
        return limits.idle, ("request", self._answered)

    # Reading.

    def data_received(self, data: bytes) -> None:
        transport = self._transport
        assert transport is not None
        if self._discarded >= 0:
            self._discarded += len(data)
            if self._discarded > self._limits.discarded:
                self.cut()
            return
        try:
            self._asked += self._reader.feed(data)
            self._count_received()
        except RefusedError as refused:
            # The client may still be sending, and reads the answer only afterwards: the rest is taken and thrown away.
            transport.write(response_bytes(failure(refused.error), close=True))
            transport.write_eof()
            self._discarded = 0
            self._reader = HttpReader()
            self._count_received()
            return
        if self._reader.expects:
            self._reader.expects = False
            transport.write(CONTINUE)
        self._turn()

    def _count_received(self) -> None:
        held = self._reader.held
        self._server.receiving += held - self._receiving
        self._receiving = held
        if held > _SMALL and self._server.receiving > self._limits.receiving:
            raise RefusedError(_busy())

    def eof_received(self) -> bool:
        return False  # the client has hung up: close

    def pause_writing(self) -> None:
        self._full = True

    def resume_writing(self) -> None:
        self._full = False
        if self.watch is not None:
            self._due(self.watch)
        elif self._asked:
            self._turn_later()

    # Answering.

    def _turn(self) -> None:
        """Answers one request; of several that came together, each has a turn of its own."""
        self._turn_due = False
        transport = self._transport
        if transport is None:
            return
        if self._asked and self.watch is None and not self._full:
            self._answer(self._asked.popleft())
        if self._asked and not self._turn_due and self.watch is None and not self._full:
            self._turn_later()
        if bool(self._asked) is not self._paused and not transport.is_closing():
            self._paused = bool(self._asked)
            (transport.pause_reading if self._paused else transport.resume_reading)()

    def _turn_later(self) -> None:
        if not self._turn_due:
            self._turn_due = True
            self._loop.call_soon(self._turn)

    def _answer(self, request: Request) -> None:
        transport = self._transport
        assert transport is not None
        server = self._server
        server.requests += 1
        self._answered += 1
        server.heard = time.monotonic()
        self.waited = 0.0
        answer = self._handled(request)
        if isinstance(answer, Watch):
            if server.watches < self._limits.watches:
                self._serve(answer)
                return
            server.api.store.unwatch(answer)
            answer = failure(_busy())
        if len(answer.body) > _SMALL and server.sending > self._limits.sending:
            answer = failure(_busy())
        close = not self._reader.keeps_alive and not self._asked
        transport.write(response_bytes(answer, head_only=request.method == "HEAD", close=close))
        if close:
            self._closes = True
            transport.close()

    def _handled(self, request: Request) -> Response | Watch:
        try:
            return self._server.api.handle(request)
        except Exception as error:  # a defect of ours: told here, and the others are served as before
            what = f"{request.method} {shortened(request.path)} could not be answered"
            self._loop.call_exception_handler({"message": what, "exception": error, "protocol": self})
            message = "This request caused apiserver to panic. Look in the logs for details."
            return failure(StatusError(500, message))

    # Watches.

    def _serve(self, watch: Watch) -> None:
        assert self._transport is not None
        self.watch = watch
        self._server.watches += 1
        self._transport.write(WATCH_HEAD)
        watch.notify = self._due
        if watch.timeout:
            self._timer = self._loop.call_later(min(watch.timeout, _LONGEST_TIMER), self._end_watch)
        self._send()

    def _due(self, _: Watch) -> None:
        """Frames of one turn of the loop are sent together."""
        if not self._frames_due:
            self._frames_due = True
            self._loop.call_soon(self._send)

    def _send(self) -> None:
        self._frames_due = False
        transport, watch = self._transport, self.watch
        if transport is None or watch is None:
            return
        if self._full:
            if watch.unread > self._limits.unread:
                self.cut()
            return
        if frames := watch.frames(MEBIBYTE):
            transport.write(b"".join([chunk(frame) for frame in frames]))
        if watch.due:
            self._due(watch)
        elif watch.ended:
            self._end_watch()

    def _end_watch(self) -> None:
        """The answer is complete; the connection can be asked for other things."""
        self._forget_watch()
        if self._transport is not None:
            self._transport.write(WATCH_END)
            self._turn_later()

    def _forget_watch(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self.watch is not None:
            self._server.watches -= 1
            self._server.api.store.unwatch(self.watch)
            self.watch = None


def _busy() -> StatusError:
    """As kube-apiserver says it when too much is under way (pkg/server/filters/maxinflight.go)."""
    message = "Too many requests, please try again later."
    return StatusError(429, message, details={"retryAfterSeconds": 1})

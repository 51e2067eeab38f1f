"""Connections: what one may take of time and of memory, whoever is at its other end.

A head comes within seconds and is small. A body comes, and an answer is taken, at a speed that any network has. Of too
many connections the one that has waited longest without a request is closed.
"""

from __future__ import annotations

import time
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST = 1000  # at once
HEAD = 10.0  # seconds until a request has been asked for
LARGEST_HEAD = 64 << 10  # bytes
WINDOW, LEAST = 20.0, 20 << 10  # of a body, and of an answer: so many bytes in so many seconds
LINGER = 5.0  # seconds of a body that nobody wants any more
LOOK = 1.0  # seconds between two looks at a connection


class Connection(HttpToolsProtocol):
    """Heads, bodies and answers with time-outs. Requests come one after the other: a browser sends the next one when
    it has its answer, and who does not is not waited for."""

    _in_head = True
    _head = 0  # bytes
    _body = 0
    _drained = 0  # how often what was to be sent has become little

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._since = self._asked = time.monotonic()  # of this window; since it has been waited for a request
        self._before = (0, 0, 0)
        self._timer = self.loop.call_later(LOOK, self._look)
        if len(self.connections) > MOST:
            idle = [each for each in self.connections if isinstance(each, Connection) and not each.busy]
            min(idle, key=lambda each: each._asked, default=self).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    @property
    def busy(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def data_received(self, data: bytes) -> None:
        if self._in_head:
            self._head += len(data)
        else:
            self._body += len(data)
        super().data_received(data)
        if self._in_head and self._head > LARGEST_HEAD and not self.transport.is_closing():
            self.send_400_response("The head of this request is too large.")

    def on_message_begin(self) -> None:
        if self.busy:
            self.transport.abort()
        self._in_head, self._head = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head, self._body = False, 0
        if not self.transport.is_closing():
            super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_head, self._head = True, 0
        self._asked = time.monotonic()
        if self.cycle is not None:
            super().on_message_complete()

    def on_response_complete(self) -> None:
        self._asked = time.monotonic()
        super().on_response_complete()

    def resume_writing(self) -> None:
        self._drained += 1
        super().resume_writing()

    def _look(self) -> None:
        now = time.monotonic()
        unsent = self.transport.get_write_buffer_size()
        if not (unsent or self.busy) and now - self._asked > (HEAD if self._in_head else LINGER):
            self.transport.abort()
            return
        waits = self.busy and not self._in_head and not self.flow.read_paused  # for more of a body
        if not (unsent or waits):
            self._since = now
        elif now - self._since >= WINDOW:
            body, drained, before = self._before
            slow_body = waits and self._body - body < LEAST
            slow_reader = unsent and self._drained == drained and before - unsent < LEAST
            if slow_body or slow_reader:
                self.transport.abort()
                return
            self._since = now
        if self._since == now:
            self._before = self._body, self._drained, unsent
        self._timer = self.loop.call_later(LOOK, self._look)

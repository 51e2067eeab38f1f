"""Who is served when many want what takes time: a few of each person at once, the others wait their turn.

Nobody can take all there is: who has the fewest under way is next, and who asks for too much is told so. Whoever waits
holds no thread, so pages of others come at once.
"""

from __future__ import annotations

import asyncio
import functools
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from schedlab.web.errors import RefusedError


@dataclass(slots=True)
class _Waiting:
    who: str
    loop: asyncio.AbstractEventLoop
    turn: asyncio.Future[None]


@dataclass
class Turns:
    each: int  # of one person at once
    all: int  # of everybody
    waiting: int  # of one person, besides
    _running: Counter[str] = field(default_factory=Counter)
    _queue: list[_Waiting] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    @asynccontextmanager
    async def turn(self, who: str) -> AsyncIterator[None]:
        mine = self._ask(who)
        try:
            if mine is not None:
                await mine.turn
        except asyncio.CancelledError:
            with self._lock:
                waited = mine in self._queue
                if waited and mine is not None:
                    self._queue.remove(mine)
            if not waited:
                self._end(who)
            raise
        try:
            yield
        finally:
            self._end(who)

    def _ask(self, who: str) -> _Waiting | None:
        """None if it is one's turn at once."""
        with self._lock:
            if self._running[who] < self.each and self._running.total() < self.all:
                self._running[who] += 1
                return None
            if sum(one.who == who for one in self._queue) >= self.waiting:
                mine = self._running[who] + self.waiting
                told = (
                    f"{mine} requests of yours are" if mine else f"{self._running.total()} such requests of others are"
                )
                hint = "wait for their answers, then ask again"
                raise RefusedError(f"{told} under way already", status=429, hint=hint)
            loop = asyncio.get_running_loop()
            waits = _Waiting(who, loop, loop.create_future())
            self._queue.append(waits)
            return waits

    def _end(self, who: str) -> None:
        with self._lock:
            self._running[who] -= 1
            if not self._running[who]:
                del self._running[who]
            able = [one for one in self._queue if self._running[one.who] < self.each]
            if able and self._running.total() < self.all:
                chosen = min(able, key=lambda one: self._running[one.who])
                self._queue.remove(chosen)
                self._running[chosen.who] += 1
                chosen.loop.call_soon_threadsafe(_wake, chosen.turn)


def _wake(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)


async def in_turn(request: Request, turns: str, do: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """In a thread, when it is one's turn: `turns` says of which kind (`Kinds`)."""
    kind: Turns = getattr(request.app.state.turns, turns)
    async with kind.turn(request.state.space.id):
        return await run_sync(functools.partial(do, *arguments, **options), limiter=CapacityLimiter(1))


def taking(turns: str) -> Callable[[Callable[[Request], Response]], Callable[[Request], Any]]:
    """A handler that takes time."""

    def waits(handler: Callable[[Request], Response]) -> Callable[[Request], Any]:
        @functools.wraps(handler)
        async def handled(request: Request) -> ASGIApp:
            kinds: Kinds = request.app.state.turns
            async with AsyncExitStack() as stack:
                await stack.enter_async_context(kinds.answers.turn(request.state.space.id))
                return _Taken(await in_turn(request, turns, handler, request), stack.pop_all())

        return handled

    return waits


@dataclass(frozen=True, slots=True)
class _Taken:
    """An answer, which may be large: it counts until the last byte of it has been taken."""

    answer: ASGIApp
    turn: AsyncExitStack

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self.turn:
            await self.answer(scope, receive, send)


@dataclass(frozen=True)
class Kinds:
    """What takes a moment, while somebody types; what one waits for; blocks of the explorer (a browser has six
    connections); streams of events, which end when the page is left: nobody waits for one; files that come. Besides,
    until the last byte has been taken: answers of these, which lie in memory, and requests of all kinds."""

    moment: Turns = field(default_factory=lambda: Turns(each=3, all=12, waiting=20))
    long: Turns = field(default_factory=lambda: Turns(each=2, all=6, waiting=10))
    blocks: Turns = field(default_factory=lambda: Turns(each=6, all=24, waiting=100))
    streams: Turns = field(default_factory=lambda: Turns(each=20, all=200, waiting=0))
    uploads: Turns = field(default_factory=lambda: Turns(each=6, all=60, waiting=20))
    answers: Turns = field(default_factory=lambda: Turns(each=8, all=200, waiting=100))
    requests: Turns = field(default_factory=lambda: Turns(each=128, all=2000, waiting=0))

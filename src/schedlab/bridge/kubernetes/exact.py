"""Schedulers and the API server in exact time: who is told what, and when, never depends on who was quicker.

Nothing happens to a scheduler while something in it can run. When all of them are at rest, which is counted
(clock.py), one thing is delivered: a frame of a watch, or the answer to one request; of several requests that wait, the
one that comes first in the order of their texts. Only what no decision depends on, the answers to events, goes along;
and while no pod waits for a node, everything may be told at once (`hurry`).
"""

from __future__ import annotations

import select
import time
from collections import deque
from collections.abc import Callable

from schedlab.bridge.kubernetes.api import Api
from schedlab.bridge.kubernetes.clock import ClockLost
from schedlab.bridge.kubernetes.errors import KubernetesError
from schedlab.bridge.kubernetes.link import Connection, Handlers
from schedlab.bridge.kubernetes.messages import Request
from schedlab.bridge.kubernetes.process import SchedulerProcess
from schedlab.bridge.kubernetes.store import Watch

MILLISECOND = 1_000_000  # nanoseconds; timers fire at whole ones, so that looks at the clock have room in between
HUNG = 60.0  # seconds, of CPU time or without any, in which a scheduler should have come to rest
_LOOK = 1.0  # seconds between looks at a scheduler that does not come to rest

Asked = tuple[SchedulerProcess, Request, Connection]


class Exact:
    """Times are nanoseconds since 1970. `cpu`: nanoseconds that pass for one of CPU time. `latency`: what a binding
    takes from the scheduler's request to its effect."""

    def __init__(self, api: Api, now: int, *, cpu: float = 0.0, latency: int = 0) -> None:
        self.api, self.now = api, now
        self.poll = select.epoll()
        self.handlers: Handlers = {}
        self.schedulers: list[SchedulerProcess] = []
        self._cpu, self._latency = cpu, latency
        self._used: dict[str, float] = {}
        self._watches: dict[Watch, tuple[SchedulerProcess, Connection]] = {}
        self._due: deque[Watch] = deque()  # watches with a frame, one entry for each frame
        self._asked: list[Asked] = []
        self._events: list[Asked] = []  # those that bring events
        self._later: list[tuple[int, Asked]] = []  # bindings and when they take effect
        self._hurried = False

    def add(self, scheduler: SchedulerProcess) -> None:
        scheduler.link.unwatch = self._unwatch
        self.schedulers.append(scheduler)
        self._used[scheduler.name] = scheduler.cpu_seconds()

    def watches_of(self, scheduler: SchedulerProcess) -> list[Watch]:
        return [watch for watch, (owner, _) in self._watches.items() if owner is scheduler]

    @property
    def next(self) -> int | None:
        """When something will happen in a scheduler if nothing happens outside; None: never."""
        timers = [_rounded_up(due) for one in self.schedulers if (due := one.clock.next) is not None]
        times = timers + [due for due, _ in self._later]
        return max(min(times), self.now) if times else None

    def advance(self, to: int, until: Callable[[], bool] = lambda: False) -> None:
        """It is `to` now, for everybody."""
        self.now = max(self.now, to)
        for scheduler in self.schedulers:
            self._set(scheduler)
        self.settle(until)

    def settle(self, until: Callable[[], bool] = lambda: False) -> None:
        """Until nothing more happens at this time, or until it is said to be enough."""
        self._hurried = False
        while not until():
            self._rest()
            if not self._deliver():
                return

    def hurry(self) -> None:
        """Tell everything that there is to tell, at once and without waiting: nobody decides anything now, so that it
        does not matter in which order it is heard of. `catch_up` waits for it."""
        self._hurried = True
        self._postpone_bindings()
        self._answer_events()
        for one in sorted(self._asked, key=_order):
            self._answer(one)
        self._asked.clear()
        while self._due:
            self._tell(self._due.popleft())

    def catch_up(self) -> None:
        """Until what was told in a hurry has been heard."""
        if self._hurried:
            self.settle()

    def close(self) -> None:
        for scheduler in self.schedulers:
            scheduler.stop()
        self.poll.close()

    # Waiting.

    def _rest(self) -> None:
        """Until all schedulers are at rest, and what they asked is here."""
        began = used = 0.0
        for scheduler in self.schedulers:
            try:
                while not scheduler.at_rest():
                    ready = self.poll.poll(_LOOK)
                    for descriptor, _ in ready:
                        if handler := self.handlers.get(descriptor):
                            handler()
                    if not ready:
                        began, used = self._look_at(scheduler, began, used)
            except ClockLost:
                raise self._dead().died() from None
        for scheduler in self.schedulers:
            self._time_passes(scheduler)
            asked, scheduler.link.asked = scheduler.link.asked, []
            for request, connection in asked:
                of_events = request.path.endswith("/events") and request.method == "POST"
                (self._events if of_events else self._asked).append((scheduler, request, connection))

    def _look_at(self, scheduler: SchedulerProcess, began: float, used: float) -> tuple[float, float]:
        """A second without a word: is it thinking, and for how long? It is asked again."""
        now, cpu = time.monotonic(), scheduler.cpu_seconds()
        scheduler.clock.set(scheduler.clock.now)
        if not began:
            return now, cpu
        if cpu - used > HUNG or (now - began > HUNG and cpu - used < HUNG / 100):
            raise KubernetesError(
                f"the scheduler {scheduler.name} hangs: in {now - began:.0f} s, {cpu - used:.0f} s of CPU time, it did "
                f"not come to rest; {scheduler.last_words()}"
            )
        return began, used

    def _dead(self) -> SchedulerProcess:
        """The one that has closed its clock."""
        for scheduler in self.schedulers:
            try:
                scheduler.clock.receive()
            except ClockLost:
                return scheduler
        return self.schedulers[0]

    def _time_passes(self, scheduler: SchedulerProcess) -> None:
        """Looks at the clock may cost time, and thinking may."""
        report = scheduler.clock.report
        if report is not None and report.now > self.now:
            self.now = report.now
        if self._cpu:
            used = scheduler.cpu_seconds()
            self.now += round((used - self._used[scheduler.name]) * 1e9 * self._cpu)
            self._used[scheduler.name] = used

    # Delivering.

    def _deliver(self) -> bool:
        """Deliver one thing; False if there is none."""
        self._postpone_bindings()
        while self._due:
            self._answer_events()
            if self._tell(self._due.popleft()):
                return True
        ready = [pair for pair in self._later if pair[0] <= self.now]
        if ready:
            first = min(ready, key=lambda pair: (pair[0], _order(pair[1])))
            self._later.remove(first)
            self._answer_events()
            self._answer(first[1])
            return True
        if self._asked:
            self._asked.sort(key=_order)
            self._answer_events()
            self._answer(self._asked.pop(0))
            return True
        return False

    def _tell(self, watch: Watch) -> bool:
        """The next frame of a watch; False if nobody wants it any more."""
        owner = self._watches.get(watch)
        frame = watch.next_frame()
        if owner is None or frame is None:
            return False
        scheduler, connection = owner
        self._set(scheduler)
        scheduler.link.tell(connection, frame)
        if watch.ended and not watch.due:
            self._unwatch(watch)
            scheduler.link.end_watch(connection)
        return True

    def _answer_events(self) -> None:
        """With something else: nobody waits for these answers, and until then the scheduler keeps its next events."""
        for one in sorted(self._events, key=_order):
            self._answer(one)
        self._events.clear()

    def _postpone_bindings(self) -> None:
        if self._latency:
            bindings = [one for one in self._asked if one[1].path.endswith("/binding")]
            self._later += [(self.now + self._latency, one) for one in bindings]
            self._asked = [one for one in self._asked if not one[1].path.endswith("/binding")]

    def _answer(self, asked: Asked) -> None:
        scheduler, request, connection = asked
        self._set(scheduler)
        response = self.api.handle(request)
        scheduler.link.answer(connection, request, response)
        if isinstance(response, Watch):
            self._watches[response] = (scheduler, connection)
            self._due.extend([response] * response.due)
            response.notify = self._due.append

    def _set(self, scheduler: SchedulerProcess) -> None:
        clock = scheduler.clock
        if clock.now >= self.now:
            return
        if (clock.next is None or clock.next > self.now) and scheduler.at_rest():
            clock.show(self.now)
            return
        try:
            clock.set(self.now)
        except ClockLost:
            raise scheduler.died() from None

    def _unwatch(self, watch: Watch) -> None:
        self._watches.pop(watch, None)
        self.api.store.unwatch(watch)


def _order(asked: Asked) -> tuple[str, str, str, bytes]:
    scheduler, request, _ = asked
    return request.path, request.method, scheduler.name, request.body


def _rounded_up(nanoseconds: int) -> int:
    return -(-nanoseconds // MILLISECOND) * MILLISECOND

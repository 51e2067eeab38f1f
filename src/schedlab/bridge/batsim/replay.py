"""Replays of traces: the ranks of a job side by side, on hosts and links that they have for themselves."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf

from schedlab.bridge.batsim.course import Task, Use
from schedlab.bridge.batsim.fluid import Capacity, Flow, Fluid
from schedlab.bridge.batsim.network import Traffic
from schedlab.bridge.batsim.platform import Platform
from schedlab.bridge.batsim.ranks import Rank, Waitable
from schedlab.bridge.batsim.tasks import Tasks, link_capacity
from schedlab.bridge.batsim.traces import Trace
from schedlab.model.errors import InputError

ENVELOPE = 16  # bytes that a message of MPI has besides what is sent
LAST_WORD = 4  # bytes with which each rank tells the job that it has ended


@dataclass(slots=True, eq=False)
class Request:
    """Something that goes on until it is `done`."""

    done: bool = False
    waits: bool = True  # whether whoever began it waits for its end


@dataclass(slots=True, eq=False)
class _Posted:
    request: Request
    size: float = 0.0


@dataclass(slots=True, eq=False)
class _Program:
    """A rank, and what it waits for."""

    rank: int
    steps: Iterator[Sequence[Waitable]]
    waiting: Sequence[Waitable] = ()


class Replay:
    """One job: rank i is on `hosts[i]`, and tells the host `home` when it has ended."""

    def __init__(self, platform: Platform, tasks: Tasks, trace: Trace, hosts: Sequence[int], home: int) -> None:
        self._platform, self._tasks, self._hosts, self._home = platform, tasks, hosts, home
        self._fluid = Fluid(self._capacity)
        self._ends: dict[Flow, list[Request]] = {}  # what is done when a flow has ended
        self._work: dict[Flow, tuple[int, float]] = {}  # of computations: their host, and the flops of all its cores
        self._uses: dict[Flow, Use] = {}  # that last, until now
        self._used: list[Use] = []
        self._sends: dict[tuple[int, int, int], deque[_Posted]] = {}
        self._receives: dict[tuple[int, int, int], deque[_Posted]] = {}
        self._farewells: deque[int] = deque()  # hosts whose rank has ended and has not said so
        self._hearing: Request | None = None
        self._now = 0.0
        count = len(trace.ranks)
        self._programs = [_Program(n, Rank(n, count, actions, self).run()) for n, actions in enumerate(trace.ranks)]

    def task(self, name: str) -> Task:
        """All of it as one step."""
        going = list(self._programs)
        while True:
            for program in list(going):
                if self._go_on(program):
                    going.remove(program)
                    self._farewells.append(self._hosts[program.rank])
            self._say_farewell()
            self._fluid.settle()
            seconds = self._fluid.next_in()
            if seconds == inf:
                break
            self._pass(seconds)
        if going:
            ranks = ", ".join(str(program.rank) for program in going[:10])
            raise InputError(f"profile '{name}': its ranks {ranks} wait for ever", hint="messages without a partner?")
        return Task(name, self._now, uses=tuple(_merged(self._used)), measured=False)

    def _go_on(self, program: _Program) -> bool:
        """Until it waits for something; whether it has ended."""
        while all(one.done for one in program.waiting):
            try:
                program.waiting = next(program.steps)
            except StopIteration:
                return True
        return False

    def _say_farewell(self) -> None:
        """One after the other, as the job listens to one at a time."""
        if self._farewells and (self._hearing is None or self._hearing.done):
            self._hearing = Request()
            self._transfer(self._farewells.popleft(), self._home, LAST_WORD, [self._hearing])

    def _pass(self, seconds: float) -> None:
        if seconds > 0:
            self._note_uses(seconds)
        self._now += seconds
        for flow in self._fluid.advance(seconds):
            self._work.pop(flow, None)
            if flow in self._uses:
                self._used.append(self._uses.pop(flow))
            for request in self._ends.pop(flow):
                request.done = True

    def _note_uses(self, seconds: float) -> None:
        until = self._now + seconds
        for flow, (host, flops) in self._work.items():
            if flow.latency > 0 or not flow.rate > 0:
                continue
            load = flow.rate * flops / (self._tasks.speed(host) * self._tasks.cores(host))
            last = self._uses.get(flow)
            if last is not None and last.load == load:
                self._uses[flow] = Use(last.begin, until, load, last.hosts)
            else:
                if last is not None:
                    self._used.append(last)
                self._uses[flow] = Use(self._now, until, load, frozenset((host,)))

    def _capacity(self, resource: Hashable) -> Capacity:
        if isinstance(resource, int):
            return Capacity(self._tasks.speed(resource) * self._tasks.cores(resource))
        return link_capacity(self._platform, str(resource))

    def _begin(self, flow: Flow, requests: list[Request]) -> None:
        self._ends[flow] = requests
        self._fluid.add(flow)

    # What ranks do:

    def cores(self, rank: int) -> int:
        return self._tasks.cores(self._hosts[rank])

    def compute(self, rank: int, flops: float, cores: int = 1) -> Request:
        host, request = self._hosts[rank], Request()
        flow = Flow(((host, flops),) * cores, self._tasks.speed(host) / flops) if flops > 0 else Flow(())
        self._work[flow] = (host, flops * cores)
        self._begin(flow, [request])
        return request

    def sleep(self, rank: int, seconds: float) -> Request:
        request = Request()
        self._begin(Flow((), latency=seconds), [request])
        return request

    def send(self, source: int, target: int, tag: int, size: float, *, detached: bool) -> Request:
        request = Request(done=detached, waits=not detached)
        self._post(self._sends, self._receives, (source, target, tag), _Posted(request, size + ENVELOPE))
        return request

    def receive(self, source: int, target: int, tag: int) -> Request:
        request = Request()
        self._post(self._receives, self._sends, (source, target, tag), _Posted(request))
        return request

    def _post(
        self,
        ours: dict[tuple[int, int, int], deque[_Posted]],
        theirs: dict[tuple[int, int, int], deque[_Posted]],
        key: tuple[int, int, int],
        posted: _Posted,
    ) -> None:
        """Messages with the same key meet in the order in which they were posted."""
        source, target = self._host(key[0]), self._host(key[1])
        if not theirs.get(key):
            ours.setdefault(key, deque()).append(posted)
            return
        partner = theirs[key].popleft()
        requests = [one.request for one in (posted, partner) if one.request.waits]
        self._transfer(source, target, posted.size + partner.size, requests)

    def _host(self, rank: int) -> int:
        if not 0 <= rank < len(self._hosts):
            raise InputError(f"there is no rank {rank}: the trace has {len(self._hosts)}")
        return self._hosts[rank]

    def _transfer(self, source: int, target: int, size: float, requests: list[Request]) -> None:
        routing = self._platform.routing
        if routing is None:
            self._begin(Flow(()), requests)
            return
        hosts = self._platform.hosts
        traffic = Traffic(routing)
        traffic.add([(hosts[source].name, hosts[target].name, size)])
        bound = Tasks.demand((), traffic).most(self._tasks.speed)
        self._begin(Flow(tuple(traffic.bytes.items()), bound, traffic.latency), requests)


def _merged(uses: Sequence[Use]) -> list[Use]:
    """Ranks that are on the same host at the same time load it together."""
    found = []
    for host in sorted({host for use in uses for host in use.hosts}):
        changes: dict[float, float] = {}
        for use in uses:
            if host in use.hosts:
                changes[use.begin] = changes.get(use.begin, 0.0) + use.load
                changes[use.end] = changes.get(use.end, 0.0) - use.load
        load, times = 0.0, sorted(changes)
        for begin, end in pairwise(times):
            load += changes[begin]
            if load > 1e-12:
                found.append(Use(begin, end, load, frozenset((host,))))
    return sorted(found, key=lambda use: use.begin)

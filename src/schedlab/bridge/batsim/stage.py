"""What everybody in a conversation with a scheduler knows: machine, rules, workloads, jobs, and what is to be told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from schedlab._core import Job, View
from schedlab.bridge.batsim import messages
from schedlab.bridge.batsim.document import DYNAMIC, Document, full_id, job_reader
from schedlab.bridge.batsim.listener import Listener
from schedlab.bridge.batsim.live import KILLED, Live
from schedlab.bridge.batsim.platform import Platform
from schedlab.bridge.batsim.power import Power
from schedlab.bridge.batsim.resources import hosts_text
from schedlab.bridge.batsim.rules import Rules
from schedlab.bridge.batsim.switches import Request

# As which time 0 is told once the simulation has begun: pybatsim takes a job that would start at 0 for a mistake, and
# Batsim itself is a few microseconds late where hosts have links. Jobs start at 0 all the same.
ZERO = 1e-9
CANCELLED = -2  # the exit code of a job that was killed in a parallel task


class Source(Protocol):
    """Where jobs come from, and what is told of them."""

    by_name: dict[str, Document]

    def __len__(self) -> int: ...

    def meet(self, job: Job) -> tuple[Live, bytes]:
        """A job that is submitted now, and its description; a `KeyError` if it is none of these."""

    def knows(self, identity: str) -> bool:
        """Whether there is a job of that full id, submitted or not."""


class Refused(Exception):  # noqa: N818 - it is caught, and said in other words
    """The scheduler asks for something that cannot be done: why."""


class Stage:
    def __init__(self, rules: Rules, platform: Platform, source: Source, listeners: Sequence[Listener]) -> None:
        self.rules, self.platform, self.source = rules, platform, source
        self.listeners = tuple(listeners)
        self.documents: dict[str, Document] = dict(source.by_name)  # those that the scheduler makes, too
        self.live: dict[str, Live] = {}
        self.of_job: dict[int, Live] = {}  # the same, by the engine's ids
        self.registered: set[str] = set()  # ids of jobs that the scheduler has registered
        self.unheard: set[int] = set()  # of these, the engine's ids of those that the engine will tell of
        self.news: list[bytes] = []  # events that the scheduler is to be told
        self.later: list[bytes] = []  # those that come in a message of their own, after these
        self.registering = rules.dynamic  # whether it may register more
        self.failed: dict[int, int] = {}  # exit codes, where they are not 0: for what is kept with the run
        self.metadata: dict[int, str] = {}
        self.rejected: list[int] = []
        self.unavailable: set[int] = set()  # hosts that external events have taken away
        self.unread = 0  # messages to jobs, which none of these reads
        self.power = Power(platform, self.listeners, self.unavailable) if rules.energy else None
        self.moves = 0  # how many jobs have come, and how many have left
        self.time, self.now = -1.0, b""
        self.told = 0.0  # what `now` says: never before `time`

    def clock(self, time: float) -> bytes:
        """The time as it is written in messages."""
        if time != self.time:
            self.time, self.now = time, messages.told_time(time)
            self.told = float(self.now)
        return self.now

    def begun(self) -> None:
        """The simulation has begun: what else happens at 0 is told a moment later."""
        if self.time == 0.0:
            self.now, self.told = repr(ZERO).encode(), ZERO

    def join(self, live: Live) -> None:
        self.live[live.id] = self.of_job[live.job.id] = live
        self.moves += 1
        if self.power is not None:
            self.power.submitted(self.time)
        for listener in self.listeners:
            listener.submitted(self.time, live)

    def workload(self, name: str, file: str = DYNAMIC) -> Document:
        """The one of that name, made if it is not there."""
        if name not in self.documents:
            self.documents[name] = Document(name, file)
            self.documents[name].settle(self.platform)
        return self.documents[name]

    def enter(self, view: View, identity: str, job: bytes | msgspec.Raw, *, tell: bool) -> None:
        """A job that is not of the files is submitted now; `tell` the scheduler, too. Its workload is there."""
        workload = identity.partition("!")[0]
        document = self.documents[workload]
        try:
            line = job_reader.decode(job)
            limit, seconds = line.limit(), document.usual_seconds(line)
        except (msgspec.ValidationError, ValueError) as error:
            raise Refused(str(error)) from None
        if full_id(line.id, workload) != identity:
            raise Refused(f"the job is called '{line.id}' inside")
        entered = view.submit(seconds, max(line.res, 1), limit=limit, name=identity)
        self.unheard.add(entered.id)
        self.registered.add(identity)
        subtime = view.now if line.subtime is None else line.subtime
        text, res = messages.text(identity), line.res
        live = Live(identity, text, workload, entered, profile=line.profile, res=res, subtime=subtime, walltime=limit)
        self.join(live)
        if tell:
            fields = msgspec.json.decode(job) | {"id": identity}
            profile = bytes(document.profiles[line.profile]) if self.rules.forward_profiles else None
            self.news.append(messages.job_submitted(self.now, text, msgspec.json.encode(fields), profile))

    def leave(self, live: Live, state: str, code: int) -> None:
        """It has ended, in one of Batsim's states."""
        live.state, live.returns = state, code
        self.moves += 1
        if self.power is not None and live.hosts:
            self.power.ended(self.time, live)
        del self.live[live.id], self.of_job[live.job.id]
        if code > 0:
            self.failed[live.job.id] = code
        if live.metadata:
            self.metadata[live.job.id] = live.metadata
        for listener in self.listeners:
            listener.ended(self.time, live)

    def tell_end(self, live: Live, state: str, code: int) -> None:
        self.leave(live, state, code)
        self.news.append(messages.job_completed(self.now, live.text, state, code, live.alloc))

    def tell_state(self, request: Request) -> None:
        """Hosts are in the power state that the scheduler wanted."""
        self.news.append(messages.resource_state_changed(self.now, hosts_text(request.hosts), request.state))

    def find(self, identity: str) -> Live:
        """The job of that id, if the scheduler knows it and it has not left."""
        found = self.live.get(identity)
        if found is not None:
            return found
        if identity in self.registered or self.source.knows(identity):
            raise Refused(f"job '{identity}' is not there: it has left, or has not been submitted")
        raise Refused(f"there is no job '{identity}'")

    def killed(self, live: Live) -> None:
        self.tell_end(live, KILLED, CANCELLED if live.in_parallel_task() else -1)

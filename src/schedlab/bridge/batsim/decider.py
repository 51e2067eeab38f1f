"""A scheduler at the other end of a socket as a policy: the engine owns jobs, hosts and time, the scheduler decides.

What happens is told in messages, one for an instant; what the scheduler says comes into effect at the times that it
gives. While it is busy (its reply has a later time than the question), events wait for it with their own times.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from schedlab._core import View
from schedlab.bridge.batsim import messages as say
from schedlab.bridge.batsim.begins import simulation_begins
from schedlab.bridge.batsim.contention import Contention
from schedlab.bridge.batsim.conversation import Conversation
from schedlab.bridge.batsim.decisions import Decisions
from schedlab.bridge.batsim.documents import Documents
from schedlab.bridge.batsim.errors import BatsimError, quoted
from schedlab.bridge.batsim.execution import Courses, SharedCourses
from schedlab.bridge.batsim.external import External, read_external
from schedlab.bridge.batsim.flows import Flow
from schedlab.bridge.batsim.happenings import Happenings
from schedlab.bridge.batsim.link import Link, Partner
from schedlab.bridge.batsim.listener import Listener
from schedlab.bridge.batsim.machine import nodes_of, single_cores
from schedlab.bridge.batsim.platform import Platform
from schedlab.bridge.batsim.process import SOCKET, Scheduler
from schedlab.bridge.batsim.rules import Rules
from schedlab.bridge.batsim.spoken import Spoken
from schedlab.bridge.batsim.stage import Source, Stage
from schedlab.bridge.batsim.starts import Starts
from schedlab.engine.decider import Event, Policy
from schedlab.engine.observer import Observer
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.workload import Workload

DEADLINE = 300.0  # seconds without an answer
FIRST_NOTE, NOTE_EVERY = 1000, 10_000  # messages
LAST_DEADLINE = 10.0  # for the answer to SIMULATION_ENDS, on which nothing depends any more


class Batsim(Observer, Policy):  # in this order: of hooks that both have, an observer's cost nothing
    """A scheduler that speaks Batsim's protocol decides: one that runs, or one that is started.

    `socket` is where it listens; `command` starts it, with {socket} and {port} put in. After `deadline` seconds without
    an answer the run ends with an error. `platform` is a SimGrid platform that takes the place of the cluster, `events`
    are files of external events; the other arguments are those of `Rules`: dynamic=True, compute_sharing=True, …
    """

    overrun = "kill"
    resumable = False
    knows_calendar = False
    knows_budget = False
    wants_history = False
    own_amounts = True

    def __init__(
        self,
        socket: str = "",
        command: str | Sequence[str] = (),
        platform: Platform | str | Path | None = None,
        *,
        deadline: float = DEADLINE,
        events: str | Path | Sequence[str | Path] = (),
        documents: Documents | None = None,
        flows: Sequence[Flow] = (),
        listeners: Sequence[Listener] = (),
        link: Partner | None = None,
        rules: Rules | None = None,
        **options: Any,
    ) -> None:
        self._command = shlex.split(command) if isinstance(command, str) else list(command)
        self._socket = socket if socket or self._command else SOCKET
        given = {"socket": socket, "command": shlex.join(self._command)}
        self.name = f"batsim({', '.join(f'{name}={value!r}' for name, value in given.items() if value)})"
        self._deadline = deadline
        self._files = [Path(file) for file in ([events] if isinstance(events, str | Path) else events)]
        self._platform = Platform.read(Path(platform)) if isinstance(platform, str | Path) else platform
        self._documents, self._listeners = documents, listeners
        self._rules = Rules.of(options) if rules is None else rules
        self._flows = flows
        self._scheduler: Scheduler | None = None
        self._link: Partner | None = link
        self._begun = False
        self._next_note = FIRST_NOTE
        self.observers: Sequence[object] = ()

    def adapt(self, workload: Workload, cluster: Cluster) -> tuple[Workload, Cluster]:
        if workload.brings is not None:
            raise InputError("tasks of workflows cannot come when they are ready here", where="batsim")
        platform, source, workload = self._told(workload, cluster)
        self._external: list[External] | None = None
        if self._files:
            forward = self._rules.forward_unknown_events
            self._external = read_external(self._files, len(platform.compute), unknown=forward)
        self._stage = Stage(self._rules, platform, source, self._listeners)
        for flow in self._flows:
            self._stage.workload(flow.name, flow.file)
        if self._rules.dynamic or not all(document.only_delays for document in source.by_name.values()):
            self.observers = [self._execution(platform)]
        return replace(workload, fares=None), nodes_of(platform, cluster.name)

    def _told(self, workload: Workload, cluster: Cluster) -> tuple[Platform, Source, Workload]:
        """The hosts, and who tells of jobs: those of a Batsim workload ask for hosts, others for cores."""
        if self._documents is not None:
            return self._documents.platform, self._documents, workload
        if workload.path is not None:
            platform = self._platform or Platform.of(cluster)
            documents = Documents.read([workload.path], platform)
            return platform, documents, documents.adopt(workload)
        platform = self._platform or single_cores(cluster)
        spoken = Spoken(workload, platform)
        return platform, spoken, spoken.accounted()

    def _execution(self, platform: Platform) -> Courses:
        """What says how long jobs take. Without links, on hosts of their own, they are in nobody's way."""
        stage, power = self._stage, self._stage.power
        if platform.routing is None and not self._rules.compute_sharing and power is None:
            return Courses(stage.of_job)
        contention = Contention(platform, platform.speed if power is None else power.speed)
        if power is not None:
            power.contention = contention
        return SharedCourses(stage.of_job, contention, None if power is None else power.meter)

    def open(self, view: View, next_event: Callable[[], float]) -> None:
        if self._command:
            self._scheduler = Scheduler(self._command, self._socket)
            self._socket = self._scheduler.endpoint
        if self._link is None:
            ended = None if self._scheduler is None else self._scheduler.ended
            self._link = Link(self._socket, self._deadline, ended)
        self._talk = Conversation(self._stage, self._link, Decisions(self._stage, Starts(self._stage)))
        self._happenings = Happenings(self._stage, self._talk, self._external, self._flows)
        view.wake_at(min(0.0, next_event()))

    def decide(self, view: View, events: list[Event]) -> None:
        now = self._stage.clock(view.now)
        if not self._begun:
            self._begun = True
            begins = simulation_begins(self._stage.platform, self._rules, self._stage.documents.values())
            self._talk.ask(view, [say.event(now, b"SIMULATION_BEGINS", begins)])
            self._stage.begun()
        self._happenings.hear(view, events)
        self._talk.go_on(view)
        if self._scheduler is not None and self._talk.exchanges >= self._next_note:
            self._next_note += NOTE_EVERY
            self._scheduler.note()

    def more_may_come(self, view: View) -> bool:
        stage = self._stage
        if not self._begun or self._talk.busy(view.now) or self._happenings.more(view.now):
            return True
        if stage.power is not None and stage.power.switching:
            return True
        if stage.live:
            jobs = f"{len(stage.live):,} jobs wait" if len(stage.live) > 1 else f"job '{next(iter(stage.live))}' waits"
            raise BatsimError(
                f"at {view.now:.15g} s {jobs}, nothing will happen any more, and the scheduler does nothing about it; "
                f"its last reply was {quoted(self._talk.last)}"
            )
        if stage.registering:
            raise BatsimError(
                "nothing will happen any more, and the scheduler has not said that it will register no more jobs "
                f"(NOTIFY registration_finished); its last reply was {quoted(self._talk.last)}"
            )
        return False

    def finish(self, view: View) -> dict[str, float]:
        assert self._link is not None
        last = say.message(self._stage.clock(view.now), [say.event(self._stage.now, b"SIMULATION_ENDS")])
        for listener in self._listeners:
            listener.sent(last)
        if self._scheduler is not None:
            self._scheduler.note()
        answer = self._link.exchange_last(last, min(self._deadline, LAST_DEADLINE))
        for listener in self._listeners:
            listener.received(answer)
        if self._scheduler is not None:
            self._scheduler.finish()
        return {}

    def close(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None
        if self._scheduler is not None:
            self._scheduler.close()
            self._scheduler = None

    def evidence(self) -> dict[str, bytes]:
        """What the scheduler wrote, and what Batsim says of jobs that tables of ours have no place for."""
        files = {}
        if self._scheduler is not None:
            self._scheduler.finish(0.0)  # all is done: what it wrote is whole, and what it took is known
            if written := self._scheduler.output():
                files["batsim/scheduler.txt"] = written
        stage = self._stage
        if noted := {key: value for key in ("failed", "metadata") if (value := getattr(stage, key))}:
            files["batsim/jobs.json"] = msgspec.json.encode(noted)
        return files

    def refusals(self) -> dict[str, list[int]]:
        return {"rejected by the scheduler": self._stage.rejected} if self._stage.rejected else {}

    def facts(self) -> dict[str, Any]:
        found: dict[str, Any] = {"protocol": "Batsim 4 (JSON)", "socket": self._socket}
        if self._begun:
            found["messages"] = self._talk.exchanges
        if self._stage.unread:
            found["unread_messages_to_jobs"] = self._stage.unread
        if self._scheduler is not None:
            found |= {"command": shlex.join(self._scheduler.command), **self._scheduler.usage()}
        return found

"""What happens in the simulation, as a scheduler is told of it: events become news, in Batsim's order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import msgspec

from schedlab._core import Job, View
from schedlab.bridge.batsim import messages as say
from schedlab.bridge.batsim.conversation import Conversation
from schedlab.bridge.batsim.errors import BatsimError
from schedlab.bridge.batsim.external import AVAILABLE, External
from schedlab.bridge.batsim.flows import Flow
from schedlab.bridge.batsim.live import AT_WALLTIME, FAILED, KILLED, SUCCESSFULLY, Live
from schedlab.bridge.batsim.resources import hosts_text
from schedlab.bridge.batsim.stage import Stage
from schedlab.engine.decider import Event

# Events of the engine that are nothing to a scheduler of Batsim.
_UNTOLD = ("woken", "corrected", "held", "cancelled")


class Happenings:
    """`external` are None where there are no external events to be noted."""

    def __init__(
        self, stage: Stage, talk: Conversation, external: Sequence[External] | None, flows: Sequence[Flow]
    ) -> None:
        self._stage, self._talk = stage, talk
        self._forward = stage.rules.forward_profiles
        self._external = list(reversed(external or ()))  # the next one is the last
        self._notes_external = external is not None
        self._flows = {flow.name: flow for flow in flows}
        # Jobs that have not come yet; without any workload nothing is noted.
        self._static_left = len(stage.source) if stage.source.by_name or flows else -1

    def more(self, now: float) -> bool:
        """Whether something will happen that jobs have no part in."""
        return bool(self._external) or any(now < flow.start for flow in self._flows.values())

    def hear(self, view: View, events: list[Event]) -> None:
        """Submissions, then ends, then hosts, then calls, then what else is noted, as Batsim has it in one instant."""
        stage = self._stage
        ended: list[Job] = []
        for kind, which in events:
            if kind == "submitted":
                self._submitted(cast(Job, which))
            elif kind == "completed":
                ended.append(cast(Job, which))
            elif kind not in _UNTOLD:
                self._something_else(kind, which)
        for job in ended:
            live = stage.of_job[job.id]
            stage.tell_end(live, *_end(live, stage.time))
            if live.workload in self._flows:
                self._flows[live.workload].completed(live.id)
        for flow in self._flows.values():
            flow.submit(view, stage)
        if stage.power is not None:
            for request in stage.power.due(view):
                stage.tell_state(request)
        self._talk.call(stage.time)
        if self._external:
            self._happen(view)
        if self._static_left == 0 and all(flow.done for flow in self._flows.values()):
            self._static_left = -1
            stage.later.append(say.notify(stage.now, type="no_more_static_job_to_submit"))
        if self._notes_external and not self._external:
            self._notes_external = False
            stage.later.append(say.notify(stage.now, type="no_more_external_event_to_occur"))

    def _submitted(self, job: Job) -> None:
        stage = self._stage
        if stage.unheard and job.id in stage.unheard:
            stage.unheard.remove(job.id)
            return
        try:
            live, description = stage.source.meet(job)
        except KeyError:
            raise BatsimError(
                f"job {job.id} is none of the workload's: an observer has submitted it, and no profile tells the "
                "scheduler what it does. Put it into the workload, or let the scheduler register it"
            ) from None
        stage.join(live)
        profile = bytes(stage.documents[live.workload].profiles[live.profile]) if self._forward else None
        stage.news.append(say.job_submitted(stage.now, live.text, description, profile))
        self._static_left -= 1

    def _something_else(self, kind: str, which: Job | int | None) -> None:
        """Nodes that observers close and open are told as external events; of a requeued job nothing can be told."""
        if kind in ("closed", "opened"):
            self._note(kind == "opened", str(which))
            return
        assert isinstance(which, Job)
        raise BatsimError(f"job {which.id} is {kind}, and Batsim's protocol has no word for that")

    def _happen(self, view: View) -> None:
        """External events that are due."""
        stage = self._stage
        while self._external and self._external[-1].time <= stage.time:
            one = self._external.pop()
            if one.hosts is None:
                stage.news.append(say.event(stage.now, b"NOTIFY", msgspec.json.encode(one.told)))
            else:
                self._change(view, list(one.hosts), one.kind == AVAILABLE)
        if self._external:
            view.wake_at(self._external[-1].time)

    def _change(self, view: View, hosts: list[int], opens: bool) -> None:
        """Whatever their power state, hosts that are not available have no new jobs."""
        power, unavailable = self._stage.power, self._stage.unavailable
        for host in hosts:
            if (host not in unavailable) == opens:
                state = "available" if opens else "unavailable"
                raise BatsimError(f"external event at {self._stage.time:.15g} s: host {host} is {state} already")
            if not opens:
                unavailable.add(host)
                view.close(host)
                continue
            unavailable.remove(host)
            if power is None or power.computes(host):
                view.open(host)
            else:
                power.close(view, host)
        for listener in self._stage.listeners:
            listener.availability(self._stage.time, hosts, opens)
        self._note(opens, hosts_text(hosts))

    def _note(self, opens: bool, hosts: str) -> None:
        kind = "event_machine_available" if opens else "event_machine_unavailable"
        self._stage.news.append(say.notify(self._stage.now, type=kind, resources=hosts))


def _end(live: Live, now: float) -> tuple[str, int]:
    """The state of a job that has ended, and its exit code."""
    ran, slack = now - live.start, 1e-15 * now
    if live.course is None:  # a delay: how long it takes is known exactly, also where the clock is coarse
        if live.seconds < live.walltime and ran >= live.seconds - slack:
            return _ended(live)
        return (AT_WALLTIME if ran >= live.walltime - slack else KILLED), -1
    in_time = not live.course.ends_with_delay and live.job.done >= live.seconds - slack
    if ran >= live.walltime - slack and not in_time:  # a delay has to be shorter than the walltime, a task may end then
        return AT_WALLTIME, -1
    if ran < live.seconds - slack and live.job.done < live.seconds - slack:
        return KILLED, -1  # by an observer
    return _ended(live)


def _ended(live: Live) -> tuple[str, int]:
    """By itself."""
    return FAILED if live.returns > 0 else SUCCESSFULLY, live.returns

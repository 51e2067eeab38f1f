"""A simulator of a few lines that speaks Batsim's protocol: delays on hosts, and whoever decides is asked."""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from schedlab.bridge.batsim.resources import hosts_text, parse_hosts

Ask = Callable[[bytes], bytes]


@dataclass
class Delay:
    id: str
    submit: float
    seconds: float
    walltime: float
    hosts: int
    fields: dict[str, Any] = field(default_factory=dict)  # others of its description
    start: float | None = None
    end: float | None = None
    on: list[int] = field(default_factory=list)
    state: str = ""


class World:
    """Plays jobs to the end; `told` has all messages, `heard` all replies."""

    def __init__(self, jobs: list[Delay], hosts: int, *, events: dict[float, list[dict[str, Any]]] | None = None):
        self.jobs = {job.id: job for job in jobs}
        self.hosts, self.busy = hosts, dict[int, str]()
        self.now = 0.0
        self.told: list[dict[str, Any]] = []
        self.heard: list[dict[str, Any]] = []
        # Time, rank (submissions, completions, notes, calls), order, what.
        self.coming: list[tuple[float, int, int, Any]] = []
        self.pushed = 0
        for job in jobs:
            self.push(job.submit, 0, job)
        for time, some in (events or {}).items():
            for event in some:
                self.push(time, 2, event)
        self.killed: list[str] = []
        self.config: dict[str, Any] = {}
        self.states: dict[int, str] = {}

    def push(self, time: float, rank: int, what: Any) -> None:
        self.pushed += 1
        heapq.heappush(self.coming, (time, rank, self.pushed, what))

    def play(self, ask: Ask) -> None:
        resources = [
            {"id": n, "name": f"host{n}", "state": self.states.get(n, "idle"), "properties": {}}
            for n in range(self.hosts)
        ]
        begins = {"nb_resources": self.hosts, "config": self.config, "compute_resources": resources}
        self.tell(ask, [self.event("SIMULATION_BEGINS", begins)])
        while self.coming or self.killed:
            news = []
            if self.killed:
                news += [self.completed(self.jobs[name], "COMPLETED_KILLED") for name in self.killed]
                news.append(self.event("JOB_KILLED", {"job_ids": self.killed, "job_progress": {}}))
                self.killed = []
            else:
                self.now = self.coming[0][0]
                while self.coming and self.coming[0][0] == self.now:
                    news += self.happens(*heapq.heappop(self.coming)[1::2])
            if news:
                self.tell(ask, news)
        assert not self.busy
        self.tell(ask, [self.event("SIMULATION_ENDS", {})])

    def happens(self, rank: int, what: Any) -> list[dict[str, Any]]:
        if rank == 0:
            job = {"id": what.id, "subtime": what.submit, "res": what.hosts, "walltime": what.walltime, **what.fields}
            return [self.event("JOB_SUBMITTED", {"job_id": what.id, "job": job})]
        if rank == 1:
            if what.state:  # killed meanwhile
                return []
            late = what.seconds >= what.walltime > 0
            return [self.completed(what, "COMPLETED_WALLTIME_REACHED" if late else "COMPLETED_SUCCESSFULLY")]
        return [self.event("NOTIFY", what)] if rank == 2 else [self.event("REQUESTED_CALL", {})]

    def completed(self, job: Delay, state: str) -> dict[str, Any]:
        job.end, job.state = self.now, state
        for host in job.on:
            del self.busy[host]
        data = {"job_id": job.id, "job_state": state, "return_code": 0, "alloc": hosts_text(job.on)}
        return self.event("JOB_COMPLETED", data)

    def event(self, kind: str, data: dict[str, Any]) -> dict[str, Any]:
        return {"timestamp": self.now, "type": kind, "data": data}

    def tell(self, ask: Ask, events: list[dict[str, Any]]) -> None:
        self.told.append({"now": self.now, "events": events})
        reply = json.loads(ask(json.dumps(self.told[-1]).encode()))
        self.heard.append(reply)
        assert reply["now"] == self.now
        for event in reply["events"]:
            assert event["timestamp"] == self.now
            getattr(self, f"on_{event['type'].lower()}")(event["data"])

    def on_execute_job(self, data: dict[str, Any]) -> None:
        job = self.jobs[data["job_id"]]
        assert job.start is None and not job.state, f"{job.id} is started twice"
        job.start, job.on = self.now, parse_hosts(data["alloc"])
        assert len(job.on) == job.hosts and job.on[-1] < self.hosts
        for host in job.on:
            assert host not in self.busy, f"host {host} of {job.id} has {self.busy[host]}"
            self.busy[host] = job.id
        length = min(job.seconds, job.walltime) if job.walltime > 0 else job.seconds
        self.push(self.now + length, 1, job)

    def on_reject_job(self, data: dict[str, Any]) -> None:
        job = self.jobs[data["job_id"]]
        assert job.start is None and not job.state
        job.state = "REJECTED"

    def on_kill_job(self, data: dict[str, Any]) -> None:
        self.killed += [name for name in data["job_ids"] if not self.jobs[name].state]

    def on_call_me_later(self, data: dict[str, Any]) -> None:
        assert data["timestamp"] > self.now
        self.push(data["timestamp"], 3, None)

    def on_notify(self, data: dict[str, Any]) -> None:
        assert data == {"type": "registration_finished"}

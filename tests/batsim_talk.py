"""Conversations with scripted schedulers over a real socket: what is said to each message, and what was heard."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zmq
from tests.batsim_scheduler import Fcfs as Fcfs

from schedlab.bridge.batsim.decider import Batsim
from schedlab.bridge.batsim.documents import Documents
from schedlab.bridge.batsim.platform import Host, Platform
from schedlab.bridge.batsim.rules import Rules
from schedlab.engine.scenario import Scenario
from schedlab.engine.simulate import simulate
from schedlab.model.cluster import Cluster
from schedlab.model.run import Run

Message = dict[str, Any]
Said = tuple[str, dict[str, Any]] | tuple[str, dict[str, Any], float]  # type, data and time; now, if none is given
Answer = Callable[[Message], "list[Said] | Message | bytes | None"]  # None: it falls silent
DEADLINE = 20.0


def execute(job: str, alloc: str, **more: Any) -> Said:
    return "EXECUTE_JOB", {"job_id": job, "alloc": alloc, **more}


def reject(job: str) -> Said:
    return "REJECT_JOB", {"job_id": job}


def kill(*jobs: str) -> Said:
    return "KILL_JOB", {"job_ids": list(jobs)}


def call(time: float) -> Said:
    return "CALL_ME_LATER", {"timestamp": time}


def notify(kind: str) -> Said:
    return "NOTIFY", {"type": kind}


def register_profile(name: str, workload: str = "dyn", **profile: Any) -> Said:
    return "REGISTER_PROFILE", {"workload_name": workload, "profile_name": name, "profile": profile}


def register_job(job: str, **fields: Any) -> Said:
    return "REGISTER_JOB", {"job_id": job, "job": {"id": job, "subtime": 0, **fields}}


def types(message: Message) -> list[str]:
    return [event["type"] for event in message["events"]]


def submitted(message: Message) -> list[Message]:
    """What is told of the jobs that a message submits."""
    return [event["data"]["job"] for event in message["events"] if event["type"] == "JOB_SUBMITTED"]


class Scripted(threading.Thread):
    """A scheduler that answers as it is told. It ends after SIMULATION_ENDS, or when it has fallen silent."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(daemon=True)
        self.answer = answer
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.REP)
        self.endpoint = f"tcp://127.0.0.1:{self.socket.bind_to_random_port('tcp://127.0.0.1')}"
        self.heard: list[Message] = []
        self.dismissed = threading.Event()  # nobody will ask any more
        self.start()

    def run(self) -> None:
        try:
            self.talk()
        finally:
            self.socket.close(1000)
            self.context.term()

    def dismiss(self) -> None:
        self.dismissed.set()
        self.join(DEADLINE)

    def talk(self) -> None:
        over = False
        while not over:
            if not self.socket.poll(20):
                over = self.dismissed.is_set()
                continue
            message = json.loads(self.socket.recv())
            self.heard.append(message)
            over = "SIMULATION_ENDS" in types(message)
            said = self.answer(message)
            if said is None:
                break
            self.socket.send(said if isinstance(said, bytes) else json.dumps(_reply(message, said)).encode())


def _reply(message: Message, said: list[Said] | Message) -> Message:
    if isinstance(said, dict):
        return said
    events = [(one[0], one[1], one[2] if len(one) > 2 else message["now"]) for one in said]
    return {
        "now": max([message["now"], *(time for _, _, time in events)]),
        "events": [{"timestamp": time, "type": kind, "data": data} for kind, data, time in events],
    }


@dataclass
class Talk:
    """A conversation that is over."""

    run: Run
    heard: list[Message] = field(default_factory=list)

    def types(self) -> list[list[str]]:
        return [types(message) for message in self.heard]

    def events(self, kind: str) -> list[Message]:
        """All events of a type, with the time of their message."""
        found = [(message["now"], event) for message in self.heard for event in message["events"]]
        return [{"now": now, **event} for now, event in found if event["type"] == kind]

    def times(self) -> dict[str, tuple[float | None, float | None]]:
        """Start and end of each job, by the id as it is written."""
        table, registered = self.run.jobs, self.run.table("submitted")
        called = dict(zip(registered["job"], registered["name"], strict=True))
        names = table["name"] if "name" in table.columns else table["job"]
        found = zip(table["job"], names, table["start"], table["end"], strict=True)
        return {called.get(job) or str(name): (start, end) for job, name, start, end in found}


def small_platform(hosts: int = 4, **more: Any) -> Platform:
    return Platform([Host(f"a{number}", (1e9,)) for number in range(hosts)], **more)


def write_workload(
    folder: Path, jobs: Sequence[Message], profiles: dict[str, Message] | None = None, name: str = "w.json"
) -> Path:
    """Jobs of one host each that take ten seconds, unless they say otherwise."""
    known = {"ten": {"type": "delay", "delay": 10}} if profiles is None else profiles
    filled = [{"subtime": 0, "res": 1, "profile": next(iter(known)), **job} for job in jobs]
    path = folder / name
    path.write_text(json.dumps({"nb_res": 4, "jobs": filled, "profiles": known}))
    return path


def talk(
    files: Path | Sequence[Path],
    answer: Answer,
    *,
    platform: Platform | None = None,
    rules: Rules | None = None,
    events: Sequence[Path] = (),
    deadline: float = DEADLINE,
    **options: Any,
) -> Talk:
    """Simulate with a scripted scheduler."""
    scheduler = Scripted(answer)
    machine = platform or small_platform()
    documents = Documents.read([files] if isinstance(files, Path) else files, machine)
    policy = Batsim(
        scheduler.endpoint,
        platform=machine,
        documents=documents,
        events=events,
        deadline=deadline,
        rules=rules,
    )
    try:
        run = simulate(Scenario(documents.workload(), Cluster.uniform(1), policy, **{"validate": True, **options}))
    finally:
        policy.close()
        scheduler.dismiss()
    return Talk(run, scheduler.heard)

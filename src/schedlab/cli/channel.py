"""A command that another program watches: lines of JSON about how far it is, and what it is told meanwhile.

`SCHEDLAB_CHANNEL=OUT:IN` names two file descriptors that the command was started with. It writes to OUT, a line for
each thing that is to be known; IN has lines such as `{"pace": 3600, "frames": true}`: so many simulated seconds a
second at most (null: as fast as possible, 0: it waits), and whether pictures of the machine and the queue are wanted.
The first of them is waited for. When IN ends, whoever watched is gone, and the command stops as after SIGTERM.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from contextlib import suppress
from functools import cache
from typing import Any, TextIO

import numpy as np

from schedlab.cli.progress import date
from schedlab.engine.snapshot import Snapshot

VARIABLE = "SCHEDLAB_CHANNEL"
EVERY = 0.2  # seconds between two lines of the same kind
CELLS = 120  # points of the past
MOST_NODES = 4096  # beyond, neighbouring nodes are added up


@cache
def channel() -> Channel | None:
    """That of this process, if it was started with one."""
    numbers = os.environ.pop(VARIABLE, "")  # not for programs that it starts
    if not numbers:
        return None
    out, _, into = numbers.partition(":")
    return Channel(os.fdopen(int(out), "w", encoding="utf-8"), os.fdopen(int(into), encoding="utf-8"))


class Channel:
    def __init__(self, out: TextIO, into: TextIO) -> None:
        self.pace: float | None = None
        self.frames = False
        self.runs, self.run = 1, 0  # how many runs the command makes, and how many are over
        self._out, self._into = out, into
        self._said: dict[str, float] = {}
        self._obey(into.readline())
        threading.Thread(target=self._listen, daemon=True).start()

    def tell(self, what: str, **facts: Any) -> None:
        self._said[what] = time.monotonic()
        with suppress(BrokenPipeError):  # then the other one ends as well, and says so
            self._out.write(json.dumps({"what": what, **facts}, allow_nan=False) + "\n")
            self._out.flush()

    def due(self, what: str) -> bool:
        return time.monotonic() - self._said.get(what, 0.0) >= EVERY

    def reading(self, name: str, done: int, size: int) -> None:
        if self.due("reading"):
            self.tell("reading", name=name, done=done, size=size)

    def progress(self, policy: str, when: str, done: int, jobs: int, words: list[str]) -> None:
        if self.due("progress"):
            self._progress(policy, when, done, jobs, words)

    def ended(self, policy: str, jobs: int) -> None:
        self._progress(policy, "", jobs, jobs, [])
        self.run += 1

    def _progress(self, policy: str, when: str, done: int, jobs: int, words: list[str]) -> None:
        self.tell("progress", policy=policy, date=when, done=done, jobs=jobs, words=words, run=self.run, runs=self.runs)

    def study(self, planned: int, done: int, failed: int) -> None:
        self.tell("study", planned=planned, done=done, failed=failed)

    def frame(self, snapshot: Snapshot) -> None:
        self.tell("frame", **frame(snapshot))

    def _listen(self) -> None:
        for line in self._into:
            self._obey(line)
        os.kill(os.getpid(), signal.SIGTERM)

    def _obey(self, line: str) -> None:
        if line.strip():
            asked = json.loads(line)
            self.pace, self.frames = asked.get("pace"), bool(asked.get("frames"))


def frame(snapshot: Snapshot) -> dict[str, Any]:
    """The machine and the queue at one moment, as what is shown of them needs it."""
    facts, past = snapshot.facts, snapshot.past
    together = -(-len(snapshot.total) // MOST_NODES)
    cell = past.length / CELLS
    begin = float(past.time[0]) if len(past.time) else 0.0
    return {
        "policy": facts.policy,
        "log": facts.log,
        "cluster": facts.cluster.name,
        "pool": facts.cluster.pool,
        "groups": [] if facts.cluster.pool else [[group.name, group.count] for group in facts.cluster.groups],
        "now": snapshot.now,
        "date": date(facts.origin, snapshot.now),
        "done": snapshot.done,
        "jobs": snapshot.jobs,
        "busy": snapshot.busy,
        "cores": facts.cluster.cores,
        "nodes_together": together,
        "free": _sums(snapshot.free, together),
        "total": _sums(snapshot.total, together),
        "states": list(snapshot.states) if together == 1 else [],
        "queued": snapshot.queued,
        "queued_cores": snapshot.queued_cores,
        "queue": [[job.id, job.cores, job.estimate, job.since] for job in snapshot.queue],
        "running": snapshot.running,
        "ending": [[job.id, job.cores, job.start, job.end] for job in snapshot.ending],
        "suspended": snapshot.suspended,
        "time_speed": snapshot.time_speed,
        "job_speed": snapshot.job_speed,
        "others": [[used.name, used.busy, used.total] for used in snapshot.others],
        "past": {
            "begin": begin,
            "cell": cell,
            "busy": _means(snapshot, past.busy, begin, cell),
            "waiting": _means(snapshot, past.waiting, begin, cell),
        },
    }


def _sums(values: Any, together: int) -> list[int]:
    if together == 1:
        return [int(value) for value in values]
    return [int(value) for value in np.add.reduceat(values, np.arange(0, len(values), together))]


def _means(snapshot: Snapshot, values: Any, begin: float, cell: float) -> list[float | None]:
    if cell <= 0:
        return []
    found = snapshot.past.cells(values, begin, cell, CELLS)
    return [None if np.isnan(value) else round(float(value), 3) for value in found]

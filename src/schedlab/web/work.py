"""Runs and studies of everybody: some at once, the others queue; each a command in a process of its own."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from schedlab.model.confined import VARIABLE, as_text, confined
from schedlab.model.errors import SchedlabError
from schedlab.web.child import Child
from schedlab.web.errors import RefusedError
from schedlab.web.settings import Settings
from schedlab.web.space import SPACES, Space
from schedlab.web.task import (
    CANCELLED,
    INTERRUPTED,
    OPEN,
    Record,
    Status,
    Task,
    close_interrupted,
    find,
    new_record,
    records,
)
from schedlab.web.upload import check_room, clear_parts

MOST_WAITING = 50  # of one space
SHOWN = 200  # the latest ones
KEPT = 500  # what is older is forgotten, its results are not


@dataclass(slots=True)
class Waiting:
    record: Record
    orders: dict[str, Any]


class Work:
    def __init__(self, folder: Path, settings: Settings) -> None:
        self.folder, self._settings = folder, settings
        self._lock = threading.Condition()
        self._waiting: list[Waiting] = []
        self._children: dict[str, Child] = {}
        self._threads: list[threading.Thread] = []
        self._unwritten: dict[str, Status] = {}  # what became of those whose end could not be written down
        self.closed = False
        self._versions: dict[str, int] = {}  # how often each has changed, of those that are open
        for path in (folder / SPACES).glob("*"):
            close_interrupted(Space(folder, path.name))
        clear_parts(folder / SPACES)

    # ---- what people ask for ----

    def start(self, space: Space, task: Task, *, pace: float | None = None) -> dict[str, Any]:
        check_room(space, self._settings)
        with self._lock:
            if self.closed:
                raise RefusedError("the server is ending", status=503)
            if sum(one.record.space == space for one in self._waiting) >= MOST_WAITING:
                raise RefusedError(
                    f"{MOST_WAITING} of yours are waiting already", status=429, hint="let some of them end"
                )
            if self._uses(space.folder / task.out):
                raise RefusedError("is being written to", status=409, where=task.out, hint="choose another name")
            record = new_record(space, task)
            self._versions[record.id] = 0
            self._waiting.append(Waiting(record, {"pace": pace, "frames": False}))
        self._forget_old(space)
        self._next()
        return self.document(space, record.id)

    def again(self, space: Space, id: str) -> dict[str, Any]:
        """The same command; a study goes on where it was."""
        record = find(space, id)
        if self.status(record).state in OPEN:
            raise RefusedError("is not over", status=409, where=record.task.title)
        return self.start(space, record.task)

    def cancel(self, space: Space, id: str) -> dict[str, Any]:
        record = find(space, id)
        with self._lock:
            waiting = next((one for one in self._waiting if one.record.id == id), None)
            if waiting is not None:
                self._waiting.remove(waiting)
                record.write(replace(record.status(), state=CANCELLED, ended=time.time()))
                self._versions.pop(id, None)
            child = self._children.get(id)
        if child is not None:
            child.stop(CANCELLED)
            self._settled(id)
        return self.document(space, id)

    def pace(self, space: Space, id: str, pace: float | None) -> dict[str, Any]:
        record = find(space, id)
        with self._lock:
            child = self._children.get(id)
            for one in self._waiting:
                if one.record.id == id:
                    one.orders["pace"] = pace
        if child is not None:
            child.order(pace=pace)
        return self.document(space, record.id)

    @contextmanager
    def watched(self, id: str) -> Iterator[None]:
        """Pictures are made only while somebody looks."""
        self._look(id, 1)
        try:
            yield
        finally:
            self._look(id, -1)

    # ---- what is known ----

    def document(self, space: Space, id: str, *, output: bool = False) -> dict[str, Any]:
        record = find(space, id)
        document = record.document(self.status(record))
        document["ahead"] = self._ahead(id)
        if output:
            child = self._children.get(id)
            document |= record.output() if child is None else child.output()
        return document

    def documents(self, space: Space) -> list[dict[str, Any]]:
        """The latest first."""
        found = [(self.status(record), record) for record in records(space)]
        found.sort(key=lambda one: one[0].created, reverse=True)
        return [record.document(status) | {"ahead": self._ahead(record.id)} for status, record in found[:SHOWN]]

    def status(self, record: Record) -> Status:
        child = self._children.get(record.id)
        if child is not None:
            return child.status
        return self._unwritten.get(record.id) or record.status()

    def open(self, space: Space) -> dict[str, int]:
        """What runs or waits, and how often it has changed."""
        with self._lock:
            records = [*(child.record for child in self._children.values()), *(one.record for one in self._waiting)]
            return {record.id: self._versions.get(record.id, 0) for record in records if record.space == space}

    def frame(self, id: str) -> dict[str, Any] | None:
        child = self._children.get(id)
        return None if child is None else child.frame

    def using(self, path: Path) -> str:
        """What reads this file, or is writing there or below, by its title."""
        with self._lock:
            return self._uses(path)

    # ---- processes ----

    def close(self) -> None:
        """End everything; returns when no process is left."""
        with self._lock:
            self.closed = True
            children, threads = list(self._children.values()), list(self._threads)
            for waiting in self._waiting:
                status = replace(waiting.record.status(), state=INTERRUPTED, ended=time.time())
                waiting.record.write(replace(status, error="the server ended before it began", hint="start it again"))
            self._waiting.clear()
        if children:
            with ThreadPoolExecutor(len(children)) as pool:
                list(pool.map(lambda child: child.stop(INTERRUPTED), children))
        for thread in threads:
            thread.join()

    def _next(self) -> None:
        """Start what can be: of those whose people have the fewest running, the one that has waited longest. Who has
        none does not wait for those who have more: as many as there are places, once more."""
        with confined(None), self._lock:  # whoever asks, it may be somebody else's turn
            while self._waiting and not self.closed:
                running = Counter(child.record.space for child in self._children.values())
                chosen = min(self._waiting, key=lambda one: running[one.record.space])
                places = self._settings.at_once
                if max(running.values(), default=0) >= min(places, 2) and not running[chosen.record.space]:
                    places *= 2
                if running.total() >= places:
                    return
                self._waiting.remove(chosen)
                self._begin(chosen)

    def _begin(self, chosen: Waiting) -> None:
        record = chosen.record
        task = self._on_its_cores(record.task)
        child = Child(
            replace(record, task=task), chosen.orders, self._environment(record), lambda: self._changed(record.id)
        )
        child.record = record
        self._children[record.id] = child
        thread = threading.Thread(target=self._follow, args=(child,), name=f"work {record.id}")
        self._threads.append(thread)
        thread.start()

    def _follow(self, child: Child) -> None:
        try:
            child.follow()
        except (OSError, SchedlabError):  # the disk is full
            self._unwritten[child.record.id] = child.status
        finally:
            with self._lock:
                del self._children[child.record.id]
                self._versions.pop(child.record.id, None)
                self._threads.remove(threading.current_thread())
                self._lock.notify_all()
            self._next()

    def _settled(self, id: str) -> None:
        """Wait until what became of it is written down."""
        with self._lock:
            self._lock.wait_for(lambda: id not in self._children, timeout=10)

    def _on_its_cores(self, task: Task) -> Task:
        """A study has workers of its own: as many as its share of the cores, unless it says how many."""
        if task.kind != "study" or "--workers" in task.arguments:
            return task
        share = max(1, (os.cpu_count() or 1) // (1 + len(self._children) + len(self._waiting)))
        return replace(task, arguments=(*task.arguments, "--workers", str(share)))

    def _environment(self, record: Record) -> dict[str, str]:
        """Nothing is imported from the served folder, and nothing else is read or written than the space allows."""
        bounds = record.space.bounds(self._settings, free=record.task.program)
        own = {"PYTHONSAFEPATH": "1", VARIABLE: as_text(bounds), "TMPDIR": str(record.folder)}
        return {**os.environ, **own, "NO_COLOR": "1", "COLUMNS": "200"}

    def _changed(self, id: str) -> None:
        if id in self._versions:
            self._versions[id] += 1

    def _look(self, id: str, change: int) -> None:
        with self._lock:
            child = self._children.get(id)
            waiting = next((one for one in self._waiting if one.record.id == id), None)
            orders = child.orders if child else waiting.orders if waiting else None
            if orders is not None:
                orders["watchers"] = orders.get("watchers", 0) + change
                orders["frames"] = orders["watchers"] > 0
        if child is not None:
            child.order()

    def _ahead(self, id: str) -> int | None:
        """How many begin before it; None if it does not wait."""
        return next((at for at, one in enumerate(self._waiting) if one.record.id == id), None)

    def _uses(self, path: Path) -> str:
        running = [child.record for child in self._children.values() if child.status.state in OPEN]
        open_ones = [*running, *(one.record for one in self._waiting)]
        for record in open_ones:
            out = record.space.folder / record.task.out
            reads = path in [record.space.folder / argument for argument in record.task.arguments]
            if reads or out.is_relative_to(path) or path.is_relative_to(out):
                return record.task.title
        return ""

    def _forget_old(self, space: Space) -> None:
        closed = [
            (record.status().created, record) for record in records(space) if self.status(record).state not in OPEN
        ]
        for _, record in sorted(closed, key=lambda one: one[0])[: max(len(closed) - KEPT, 0)]:
            shutil.rmtree(record.folder, ignore_errors=True)

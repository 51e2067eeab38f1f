"""A command of schedlab that somebody set up, and what is kept of it: one folder on disk, so that a restart knows."""

from __future__ import annotations

import json
import secrets
import shlex
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from schedlab.files.whole_file import whole_file
from schedlab.model.errors import SchedlabError
from schedlab.web.space import NotThereError, Space

FOLDER = ".work"  # in a space: hidden from lists of files
QUEUED, RUNNING, DONE, FAILED, CANCELLED, INTERRUPTED = (
    "queued",
    "running",
    "done",
    "failed",
    "cancelled",
    "interrupted",
)
OPEN = frozenset({QUEUED, RUNNING})


@dataclass(frozen=True, slots=True)
class Task:
    """What to start. Paths in `arguments` are relative to the served folder, as `Space.name` gives them."""

    title: str
    arguments: tuple[str, ...]  # of `schedlab`: ("run", "demo.swf", "--policy", "easy", "--out", "spaces/…/easy")
    out: str  # the folder of the results
    program: bool = False  # it starts a program that was named when the server was started

    @property
    def kind(self) -> str:
        return "study" if self.arguments[:2] == ("experiment", "run") else "run"

    @property
    def command(self) -> str:
        return shlex.join(["schedlab", *self.arguments])


@dataclass(frozen=True, slots=True)
class Status:
    """How far it is; times in seconds since 1970."""

    state: str = QUEUED
    created: float = field(default_factory=time.time)
    started: float | None = None
    ended: float | None = None
    share: float | None = None  # that is done
    left: float | None = None  # seconds, about
    text: str = ""  # what it is at
    code: int | None = None  # with which it ended
    error: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """One task on disk."""

    id: str
    space: Space
    task: Task

    @property
    def folder(self) -> Path:
        return self.space.own / FOLDER / self.id

    def write(self, status: Status, output: Mapping[str, str] | None = None) -> None:
        """`output`: what it printed."""
        document = {"task": asdict(self.task), "status": asdict(status), "output": dict(output or {})}
        with whole_file(self.folder / "task.json") as file:
            file.write(json.dumps(document).encode())

    def status(self) -> Status:
        return Status(**_read(self.folder)["status"])

    def output(self) -> dict[str, str]:
        """Once it is over."""
        found: dict[str, str] = _read(self.folder)["output"]
        return {"stdout": "", "stderr": "", **found}

    def document(self, status: Status) -> dict[str, Any]:
        """For the browser."""
        return {
            "id": self.id,
            "title": self.task.title,
            "kind": self.task.kind,
            "command": self.task.command,
            "out": self.task.out,
            "there": (self.space.folder / self.task.out).is_dir(),
            **asdict(status),
        }


def new_record(space: Space, task: Task) -> Record:
    record = Record(secrets.token_hex(6), space, task)
    space.make()
    record.folder.mkdir(parents=True, mode=0o700)
    try:
        record.write(Status())
    except (OSError, SchedlabError):  # the disk is full
        shutil.rmtree(record.folder, ignore_errors=True)
        raise
    return record


def find(space: Space, id: str) -> Record:
    if not (id.isalnum() and len(id) <= 40 and (space.own / FOLDER / id).is_dir()):
        raise NotThereError("there is no such work of yours", where=id[:40])
    return _record(space, space.own / FOLDER / id)


def records(space: Space) -> Iterator[Record]:
    top = space.own / FOLDER
    for folder in top.iterdir() if top.is_dir() else ():
        with suppress(OSError, ValueError, KeyError):  # half made when the machine stopped
            yield _record(space, folder)


def close_interrupted(space: Space) -> None:
    """What an earlier server had begun and did not end."""
    for record in records(space):
        status = record.status()
        if status.state in OPEN:
            again = "start it again" + (": what is done is kept" if record.task.kind == "study" else "")
            ended = replace(status, state=INTERRUPTED, ended=time.time(), error="the server ended before it did")
            record.write(replace(ended, left=None, hint=again))


def _record(space: Space, folder: Path) -> Record:
    found = _read(folder)["task"]
    return Record(folder.name, space, Task(**{**found, "arguments": tuple(found["arguments"])}))


def _read(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    return document

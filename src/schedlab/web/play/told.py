"""A play as data: what a page draws and says. Times are seconds, rows are cores, from the machine's first one on."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

Rows = list[tuple[int, int]]  # unbroken sets of rows: from the first to before the last


@dataclass(frozen=True, slots=True)
class News:
    """Something that happened to a job."""

    job: int
    what: str  # "submitted", "held", "released", "ended", "killed", "cancelled", "rejected"
    words: str


@dataclass(frozen=True, slots=True)
class Start:
    """A job that was started, and by what right."""

    job: int
    backfilled: bool
    words: str


@dataclass(frozen=True, slots=True)
class Wait:
    """A job that still waits: the reason of `schedlab why`, and the same in words with numbers."""

    job: int
    why: str
    who: int | None
    words: str


@dataclass(frozen=True, slots=True)
class Reserved:
    """A reservation in the plan."""

    job: int
    start: float
    end: float
    spare: int | None  # cores that are left over beside it then
    rows: Rows = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Running:
    """A job that runs, until its believed end."""

    job: int
    end: float
    rate: float | None = None  # where jobs change each other's speed


@dataclass(frozen=True, slots=True)
class Step:
    """One instant: what happened, then what was decided. The queue is in the policy's order."""

    time: float
    news: list[News]
    queue_before: list[int]
    free_before: int
    starts: list[Start]
    waits: list[Wait]
    running: list[Running]
    plan: list[Reserved]
    free: int  # cores, after the decisions


@dataclass(frozen=True, slots=True)
class Bar:
    """A stay of a job on unbroken rows, as it was in the end."""

    job: int
    begin: float
    end: float
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class PlayedJob:
    id: int
    label: str
    submit: float
    cores: int
    runtime: float
    estimate: float
    start: float | None
    end: float
    state: str
    user: str = ""
    application: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    name: str
    first: int
    rows: int


@dataclass(frozen=True, slots=True)
class Play:
    """One scenario from its first instant to its last."""

    policy: str
    machine: str
    nodes: list[Node]
    jobs: list[PlayedJob]
    bars: list[Bar]
    steps: list[Step]
    metrics: dict[str, str]  # of the run's summary, as they are shown
    command: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

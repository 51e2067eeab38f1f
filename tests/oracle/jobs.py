"""What goes into the oracle and what comes out, and the order of a queue."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, reduce
from types import CodeType
from typing import Any

import numpy as np

from schedlab.model.request import SINGLE_CORE, Request

WORD = 2**64
GOLDEN = 0x9E3779B97F4A7C15


@dataclass(eq=False)
class Job:
    """A job of the workload, and what becomes of it."""

    id: int
    sequence: int
    submit: float
    runtime: float
    limit: float
    count: int = 1
    request: Request = SINGLE_CORE
    user: int = -1
    cancel: float = math.inf
    predecessors: list[tuple[int, int, float]] = field(default_factory=list)  # id, condition, delay
    any: bool = False  # one of them suffices
    group: int = -1
    queue: int = -1
    application: int = -1
    rank_cores: int = 0  # as what it is ranked in the queue: so many cores, such a limit; 0: as itself
    rank_limit: float = 0.0

    eligible: float = math.nan
    estimate: float = math.nan  # the first one
    believed: float = math.nan  # the estimate as corrected
    estimated_end: float = math.nan  # if beliefs follow rates
    corrections: int = 0
    start: float = math.nan
    end: float = math.nan  # when it will end, once it has started
    backfilled: bool = False
    priority: float = math.nan
    waiting: int = 0  # how many jobs waited when the pass began,
    fill: float = 0.0  # and how much of what was free then it takes
    user_usage: float = 0.0  # what its user has used, in equal shares,
    group_usage: float = 0.0
    machine: int = 0  # cores of the machine
    key: float = math.nan  # in the queue, where keys are not computed anew in each pass
    started: int = 0  # grows from start to start
    nodes: dict[int, int] = field(default_factory=dict)  # node number -> chunks
    granted: dict[int, dict[str, int]] | None = None  # node number -> amounts, where they are not chunks of its request
    attempt: int = 0  # grows when it is requeued, or ends otherwise than by itself
    first_start: float = math.nan
    waits: list[tuple[Job, str, float]] = field(default_factory=list)  # for those of its predecessors that are known
    release: float = math.inf  # when it is to be let go, as far as that is known
    hopeless: bool = False  # its condition can never hold
    released: bool = False  # passes=event: gone as believed, its completion not delivered yet
    state: str = ""
    # How it works on its nodes: what was left to do, and what it was believed to be, at `since`, at which rate.
    since: float = math.nan
    left: float = math.nan
    left_as_believed: float = math.nan
    ran: float = 0.0  # seconds, by then
    factors: dict[str, float] = field(default_factory=dict)  # owner -> his factor
    follows_rates: bool = False  # what is believed of it

    @property
    def rate(self) -> float:
        return math.prod(self.factors[owner] for owner in sorted(self.factors))

    @property
    def cores(self) -> int:
        return self.count * self.request.chunk.get("cores", 0)

    @property
    def ranked_since(self) -> float:
        return self.submit if self.rank_cores else self.eligible

    @property
    def believed_end(self) -> float:
        return self.estimated_end if self.follows_rates else self.start + self.believed


@dataclass(frozen=True)
class Window:
    """Nodes that are set aside from `start` until `until`, except for the jobs of some users.

    With `victims` they are closed then, and who is still there is requeued, killed, or may end (drain).
    """

    nodes: frozenset[int]
    start: float
    until: float
    users: frozenset[int] = frozenset()
    victims: str = ""

    def keeps_off(self, job: Job, begin: float, end: float) -> bool:
        return job.user not in self.users and self.start < end and begin < self.until


@dataclass(frozen=True)
class Change:
    """What somebody does to the rate of a job at a time, if it runs then."""

    time: float
    job: int
    owner: str
    factor: float


Order = str | Callable[[Job, float], float]


@dataclass(frozen=True, eq=False)
class Act:
    """What somebody does at a time, before or after the policy's pass: submit a job, or hold, release, withdraw,
    complete one."""

    time: float
    when: str
    what: str
    job: Job | int  # to be submitted; or the id of one


@dataclass(frozen=True)
class Policy:
    """backfill × order × placement. An order is a name, an expression, or a function (job, now) -> key.

    Two placements are not built in. `last-fit` is asked only where a job starts: plans are made with first-fit, and the
    job goes where its plan has it unless last-fit's place is free in the plan. `careless` is first-fit without a look
    at the calendar: a job that gets nodes it may not have is refused, and waits.
    """

    backfill: str = "easy"
    order: Order = "fcfs"
    scan: Order | None = None
    place: str = "first-fit"
    exclusive: bool = False
    depth: int | None = None
    reservations: int = 1
    fraction: Fraction | None = None  # of every socket, for jobs side by side
    threshold: float = 0.0
    every: float = 0.0  # periods in seconds; 0: whenever something happens
    backfill_every: float = 0.0
    keys_every: float = 0.0
    half_life: float = 604800.0


@dataclass(frozen=True)
class Result:
    """One row of the answer; `nodes` is empty for a job that never started."""

    id: int
    sequence: int
    state: str
    eligible: float
    start: float
    end: float
    estimate: float
    backfilled: bool
    priority: float
    hopeless: bool
    nodes: dict[str, int]


ORDERS = {
    "fcfs": "eligible",
    "sjf": "estimate",
    "ljf": "-estimate",
    "smallest": "cores",
    "largest": "-cores",
    "saf": "cores * estimate",
    "lxf": "-(wait + estimate) / max(estimate, 1)",
    "wfp3": "-(wait / max(estimate, 1))**3 * cores",
    "unicef": "-wait / (log2(max(cores, 2)) * max(estimate, 1))",
    "f1": "log10(max(estimate, 1)) * cores + 870 * log10(max(submit, 1))",
    "f2": "sqrt(estimate) * cores + 25600 * log10(max(submit, 1))",
    "f3": "estimate * cores + 6860000 * log10(max(submit, 1))",
    "filler": "-fill * waiting / (sequence + 1)",
    "f4": "estimate * sqrt(cores) + 530000 * log10(max(submit, 1))",
}


def sort_key(order: Order, job: Job, now: float) -> tuple[float, float, int]:
    """(key, eligible time, sequence): smaller goes first."""
    return key_of(order, job, now), job.ranked_since, job.sequence


def key_of(order: Order, job: Job, now: float) -> float:
    if callable(order):
        key = order(job, now)
    elif seed := seed_of(order):
        key = random_key(int(seed), job.sequence)
    else:
        expression = ORDERS.get(order, order)
        values = columns(job, now, compiled(expression).co_names)
        key = evaluate(expression, values, lambda seconds: max(job.ranked_since, now - seconds))
    return math.inf if math.isnan(key) else key


COLUMNS = (
    "submit",
    "eligible",
    "estimate",
    "limit",
    "cores",
    "count",
    "user",
    "group",
    "queue",
    "sequence",
    "waiting",
    "fill",
    "user_usage",
    "group_usage",
    "machine",
)


def columns(job: Job, now: float, wanted: Collection[str]) -> dict[str, float]:
    own = {name: getattr(job, name) for name in COLUMNS if name in wanted or name == "sequence"}
    if job.rank_cores:
        ranked = {"eligible": job.submit, "cores": job.rank_cores, "count": job.rank_cores}
        own |= ranked | {"estimate": job.rank_limit, "limit": job.rank_limit}
    asked = {name: job.count * job.request.chunk.get(name, 0) for name in ("memory", "gpus") if name in wanted}
    return {**own, **asked, "wait": now - job.ranked_since, "now": now}


def evaluate(
    expression: str, values: dict[str, float], aged: Callable[[float], float] = lambda seconds: math.nan
) -> float:
    """In the arithmetic of NumPy's numbers, where 1/0 is infinite and 0/0 is not a number, as in the core's."""
    names: dict[str, Any] = {name: np.float64(value) for name, value in values.items()}
    names["random"] = lambda seed: random_key(int(seed), int(values["sequence"]))
    names["aged"] = lambda seconds: np.float64(aged(seconds))
    with np.errstate(all="ignore"):
        return float(eval(compiled(expression), dict(FUNCTIONS), names))


@lru_cache
def compiled(expression: str) -> CodeType:
    return compile(expression, "order", "eval")


def ieee(function: Callable[[float], float]) -> Callable[[float], np.float64]:
    """A function of `math` that answers with infinity or not-a-number instead of raising."""

    def safe(x: float) -> np.float64:
        try:
            return np.float64(function(x))
        except OverflowError:
            return np.float64(math.inf)
        except ValueError:
            return np.float64(-math.inf if x == 0 else math.nan)

    return safe


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "min": lambda *values: reduce(np.fmin, values),
    "max": lambda *values: reduce(np.fmax, values),
    "abs": abs,
}
FUNCTIONS |= {name: ieee(getattr(math, name)) for name in ("sqrt", "log", "log2", "log10", "exp", "floor")}


@lru_cache
def seed_of(name: str) -> str:
    """`random(7)` has the seed 7, `random` the seed 0, anything else none."""
    match = re.fullmatch(r"random(?:\((\d+)\))?", name)
    return (match.group(1) or "0") if match else ""


def random_key(seed: int, sequence: int) -> float:
    return (mix(seed, sequence) >> 11) / 2.0**53


def mix(a: int, b: int) -> int:
    """splitmix64 of (a × golden ratio + b)."""
    z = (a * GOLDEN + b + GOLDEN) % WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % WORD
    return z ^ (z >> 31)

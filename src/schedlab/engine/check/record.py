"""What a run says happened, as plain columns."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from schedlab.engine.check.models import RECOMPUTE
from schedlab.engine.check.nodesets import NodeSets
from schedlab.engine.check.told import Told
from schedlab.model.cluster import Cluster
from schedlab.model.request import Request
from schedlab.model.states import PIECE_ENDS, STATES


@dataclass(frozen=True)
class Span:
    """The part of the time that is judged: what happens after one moment, until another one and at it."""

    after: float = -np.inf
    until: float = np.inf

    def has(self, time: NDArray[np.float64]) -> NDArray[np.bool_]:
        return np.asarray((time > self.after) & (time <= self.until))


@dataclass(frozen=True)
class Window:
    """Nodes that were set aside for a time, except for the jobs of some users."""

    nodes: list[int]  # positions in the cluster
    start: float
    until: float
    users: list[int]
    by: str
    victims: str


@dataclass(frozen=True)
class Pieces:
    """Stretches of the lives of jobs, those of one job together and in the order in which they are told."""

    job: NDArray[np.int64]
    sequence: NDArray[np.int64]
    cores: NDArray[np.int64]
    count: NDArray[np.int64]
    request: NDArray[np.int64]
    begin: NDArray[np.float64]
    end: NDArray[np.float64]
    work: NDArray[np.float64]
    done: NDArray[np.float64]
    whole: NDArray[np.float64]  # work of the whole job there; not a number in runs of format 1
    expected_end: NDArray[np.float64]  # as believed when it took these nodes; not a number in older runs
    how: NDArray[np.int8]  # position in PIECE_ENDS
    decided: NDArray[np.bool_]  # a decision has ended it
    nodes: NDArray[np.int64]  # position in `node_sets` of the record; -1 if none are named
    row: NDArray[np.int64]  # position of the job in the record

    def __len__(self) -> int:
        return len(self.job)

    def ended(self, *names: str) -> NDArray[np.bool_]:
        return np.isin(self.how, [PIECE_ENDS.index(name) for name in names])

    def same_shape(self, count: NDArray[np.int64], request: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether it has the shape of its job's row, which is that of the last piece."""
        return np.asarray((self.count == count[self.row]) & (self.request == request[self.row]))

    @property
    def last(self) -> NDArray[np.bool_]:
        """Whether it is its job's last one."""
        return np.append(self.sequence[1:] != self.sequence[:-1], True)[: len(self)]

    @property
    def first(self) -> NDArray[np.bool_]:
        return np.insert(self.sequence[1:] != self.sequence[:-1], 0, True)[: len(self)]


@dataclass(frozen=True)
class Predecessors:
    """Whom jobs had to wait for; empty if dependencies were not followed."""

    row: NDArray[np.int64]  # position in the record of the job that waited
    predecessor: NDArray[np.int64]  # id
    condition: NDArray[np.int8]  # position in CONDITIONS
    delay: NDArray[np.float64]
    any: NDArray[np.bool_]  # one of the job's sufficed
    known: NDArray[np.bool_]  # it had a say


@dataclass(frozen=True)
class Rates:
    """Changes of the rates of jobs, those of one piece together and in the order in which they are told."""

    job: NDArray[np.int64]
    sequence: NDArray[np.int64]
    at: NDArray[np.int64]  # position of its piece
    time: NDArray[np.float64]
    owner: NDArray[np.int64]  # position in `owners`
    factor: NDArray[np.float64]
    rate: NDArray[np.float64]
    owners: list[str]

    def __len__(self) -> int:
        return len(self.job)

    @property
    def first(self) -> NDArray[np.bool_]:
        """Whether it is the first one of its piece."""
        return np.insert(self.at[1:] != self.at[:-1], 0, True)[: len(self)]

    @property
    def last(self) -> NDArray[np.bool_]:
        return np.append(self.at[1:] != self.at[:-1], True)[: len(self)]

    @property
    def first_of_job(self) -> NDArray[np.bool_]:
        return np.insert(self.sequence[1:] != self.sequence[:-1], 0, True)[: len(self)]


@dataclass(frozen=True)
class NodeChanges:
    """What nodes became, in the order in which it is told."""

    time: NDArray[np.float64]
    node: NDArray[np.int64]  # position in the cluster; -1 if there is no such node
    name: list[str]
    state: NDArray[np.int8]  # position in NODE_STATES


@dataclass(frozen=True)
class Submitted:
    """Jobs that were submitted during the run, as they are told."""

    sequence: NDArray[np.int64]
    job: NDArray[np.int64]
    called: NDArray[np.float64]  # not a number: before anything happened
    row: NDArray[np.int64]  # position of the job in the record; -1 if it is not there


@dataclass(frozen=True)
class Holds:
    """Stretches during which decisions held jobs, those of one job together and in order."""

    sequence: NDArray[np.int64]
    job: NDArray[np.int64]
    eligible: NDArray[np.float64]  # since when it had been so
    begin: NDArray[np.float64]
    end: NDArray[np.float64]
    row: NDArray[np.int64]

    @property
    def first(self) -> NDArray[np.bool_]:
        """Whether it is its job's first one."""
        return np.insert(self.sequence[1:] != self.sequence[:-1], 0, True)[: len(self.job)]

    @property
    def last(self) -> NDArray[np.bool_]:
        return np.append(self.sequence[1:] != self.sequence[:-1], True)[: len(self.job)]


@dataclass(frozen=True)
class Waits:
    """What jobs waited for, as it is told."""

    job: NDArray[np.int64]
    sequence: NDArray[np.int64]
    begin: NDArray[np.float64]
    end: NDArray[np.float64]
    why: NDArray[np.int8]  # position in WAIT_REASONS; -1 if it is not there
    who: NDArray[np.int64]  # -1 if nobody is named
    worded: NDArray[np.bool_]  # there are words besides


@dataclass(frozen=True)
class Record:
    """The jobs of a part of the run, and what is known of the whole."""

    span: Span  # no job that is not here, or was in a part that was looked at before, does anything in it
    last_end: float  # of all jobs
    beliefs: bool  # an estimate is told of every job
    cluster: Cluster
    requests: list[Request]
    options: dict[str, Any]
    exclusive: bool  # every job is alone on its nodes
    fraction: Fraction | None  # of every socket, for jobs side by side
    threshold: float  # no pair of jobs shares a node of which one would be slower
    incomplete: bool  # it ended before its time
    flexible: bool  # some jobs may have had another shape while they waited than when they ran
    budget: dict[str, Any] | None  # of the whole machine, if it has one
    execution: list[dict[str, Any]]  # models of how placed jobs fare
    job: NDArray[np.int64]
    sequence: NDArray[np.int64]
    cores: NDArray[np.int64]
    count: NDArray[np.int64]
    request: NDArray[np.int64]
    submit: NDArray[np.float64]
    eligible: NDArray[np.float64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    runtime: NDArray[np.float64]
    limit: NDArray[np.float64]
    estimate: NDArray[np.float64]
    user: NDArray[np.int32]  # -1 if it is not known
    application: NDArray[np.int64]  # its place in the heatmap; -1 if it has none
    state: NDArray[np.int8]  # position in STATES
    reason: NDArray[np.int8] | None  # position in REASONS, -1 if it is not there; None if the run has none
    known_reasons: set[str]  # to whoever wrote the run
    predecessors: Predecessors
    nodes: NDArray[np.int64]  # position in `node_sets`; -1 if none are named
    node_sets: pa.StringArray
    reader: NodeSets
    pieced: NDArray[np.bool_]  # its life is told in pieces
    pieces: Pieces
    rates: Rates
    node_changes: NodeChanges
    windows: list[Window]  # the calendar
    told: Told  # the table of places
    all_places: bool  # it tells of every job
    own_amounts: bool  # whoever decided may grant less than jobs ask for
    submitted: Submitted
    holds: Holds
    waits: Waits | None  # None: the run was not asked
    workflows: pa.Table | None  # None: there are none
    tasks: pa.Table | None
    timeline: dict[str, NDArray[Any]]

    def in_state(self, *names: str) -> NDArray[np.bool_]:
        wanted = np.zeros(len(STATES) + 1, bool)  # the last: a state that is not known, -1
        wanted[[STATES.index(name) for name in names]] = True
        return np.asarray(wanted[self.state])

    @property
    def placed(self) -> NDArray[np.bool_]:
        """Whether the table of places tells of a job: its cores are those that it had, not those that it asked for."""
        found = np.zeros(len(self.job), bool)
        found[self.told.row] = True
        return found

    def asked_cores(self, count: NDArray[np.int64], request: NDArray[np.int64]) -> NDArray[np.int64]:
        """Of so many chunks; 0 for a request that is not there."""
        per_chunk = np.array([each.chunk.get("cores", 0) for each in self.requests] or [0])
        known = (request >= 0) & (request < len(self.requests))
        return np.asarray(count * np.where(known, per_chunk[np.where(known, request, 0)], 0))

    @property
    def started(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.start)

    @property
    def decides_work(self) -> bool:
        """Whether a model may have said how much work jobs are; of one that does not say so, who knows."""
        return any(model.get("model") not in RECOMPUTE for model in self.execution)

    @property
    def kills(self) -> bool:
        """Jobs end at their limits."""
        return bool(self.options.get("overrun", "kill") == "kill")

"""When the jobs and tasks of workflows ran, and on how many cores, read from the tables of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.job_rows import JobRows
from schedlab.analysis.machine import Machine
from schedlab.analysis.workflow_kinds import Flags, Floats, KindArrays, Kinds, Members, Numbers
from schedlab.analysis.workflow_log import LogKinds
from schedlab.model.nodeset import expand
from schedlab.model.request import Request
from schedlab.model.run import Tables
from schedlab.model.states import STATES

if TYPE_CHECKING:
    import polars as pl

COMPLETED = STATES.index("completed")


@dataclass(frozen=True, slots=True)
class Stretches:
    """From when to when jobs of workflows had cores; several for one that was interrupted or submitted again."""

    owner: Numbers  # the workflow, by its place
    begin: Floats
    end: Floats
    cores: Floats  # that it asked for, as utilisation counts them
    held: Floats  # that nobody else could have: of whole nodes all


class WorkflowJobs:
    """Who the jobs of workflows are, and what became of them. `row` is a place in the table of jobs, -1 if none."""

    def __init__(self, tables: Tables, machine: Machine) -> None:
        self._tables, self._machine = tables, machine
        self.start_of, self.end_of = tables.column("start"), tables.column("end")
        self.kinds: KindArrays
        if len(tables.column("first", "workflows")):
            self.kinds = Kinds(tables.frame("tasks"))
            self.kind: Numbers = _kinds_of(tables, self.kinds.names)
            self.submit: Floats = tables.column("submit", "workflows")
            self.members: Members = self.kinds.members(self.kind, self.kinds.jobs)
            self.attempts = self._rows(tables.column("first", "workflows"))
        else:
            self.kinds = of_log = LogKinds(tables)
            self.kind, self.submit = np.arange(len(of_log.jobs)), of_log.submit
            self.members = self.kinds.members(self.kind, self.kinds.jobs)
            self.attempts = [of_log.rows]

    def __len__(self) -> int:
        return len(self.kind)

    def _rows(self, first: Numbers) -> list[Numbers]:
        """For each attempt: of each job its row."""
        look_up = JobRows(self._tables.column("job"))
        owner = self.members.owner
        own = first[owner] + self.kinds.place[self.members.which]
        most, jobs = self.kinds.attempts[self.kind][owner], self.kinds.jobs[self.kind][owner]
        return [
            np.where(most > attempt, look_up.of(own + attempt * jobs), -1)
            for attempt in range(int(most.max(initial=1)))
        ]

    @property
    def last(self) -> Numbers:
        """The row of the last attempt of each job."""
        found = self.attempts[0]
        for rows in self.attempts[1:]:
            found = np.where(rows >= 0, rows, found)
        return found

    def start(self) -> Floats:
        return _taken(self.start_of, self.last)

    def end(self) -> Floats:
        return _taken(self.end_of, self.last)

    def finished(self) -> Flags:
        """Of each workflow: whether all its jobs have completed, and so all its tasks."""
        last = self.last
        done = (last >= 0) & (self._tables.column("state")[last] == COMPLETED)
        return np.asarray(self.sums(~done) == 0)

    def sums(self, values: NDArray[Any], members: Members | None = None) -> Floats:
        owner = (members or self.members).owner
        return np.asarray(np.bincount(owner, values, len(self)), np.float64)

    def of_rows(self) -> Numbers:
        """Of each row of the table of jobs: whose workflow's it is, -1 if nobody's."""
        found = np.full(len(self.start_of), -1, np.int64)
        for rows in self.attempts:
            found[rows[rows >= 0]] = self.members.owner[rows >= 0]
        return found

    def are(self) -> Flags:
        """Which rows of the table of jobs are those of workflows."""
        return self.of_rows() >= 0

    def stretches(self) -> Stretches:
        """Simply from start to end, or the pieces of a job."""
        rows = np.concatenate(self.attempts)
        owner = np.tile(self.members.owner, len(self.attempts))[rows >= 0]
        rows = rows[rows >= 0]
        tables = self._tables
        begin, end = self.start_of[rows], self.end_of[rows]
        cores, held = tables.column("cores")[rows].astype(np.float64), self._held(rows)
        sequence = tables.column("sequence")[rows]
        of_pieces = tables.column("sequence", "pieces")
        simple = ~np.isnan(begin)
        if not len(of_pieces):
            return Stretches(owner[simple], begin[simple], end[simple], cores[simple], held[simple])
        simple &= ~np.isin(sequence, of_pieces)
        order = np.argsort(sequence)
        place = np.minimum(np.searchsorted(sequence, of_pieces, sorter=order), len(sequence) - 1)
        job = order[place]
        own = sequence[job] == of_pieces
        job = job[own]
        of_piece, usual = tables.column("cores", "pieces")[own].astype(np.float64), np.maximum(cores[job], 1)
        return Stretches(
            np.append(owner[simple], owner[job]),
            np.append(begin[simple], tables.column("begin", "pieces")[own]),
            np.append(end[simple], tables.column("end", "pieces")[own]),
            np.append(cores[simple], of_piece),
            np.append(held[simple], of_piece * held[job] / usual),
        )

    def tasks(self) -> tuple[Members, list[tuple[Floats, Floats]]]:
        """Of each task of each workflow: from when to when it ran, attempt by attempt; NaN if it did not."""
        kinds = self.kinds
        tasks = kinds.members(self.kind, kinds.tasks)
        job = self.members.first[tasks.owner] + kinds.task_job[tasks.which]
        begin, runtime, alone = (column[tasks.which] for column in (kinds.begin, kinds.runtime, kinds.alone))
        found = []
        for rows in self.attempts:
            start, end = _taken(self.start_of, rows[job]), _taken(self.end_of, rows[job])
            since = np.where(alone, start, start + begin)
            until = np.where(alone, end, np.minimum(since + runtime, end))
            ran = until >= since
            found.append((np.where(ran, since, np.nan), np.where(ran, until, np.nan)))
        return tasks, found

    def _held(self, rows: Numbers) -> Floats:
        tables, machine = self._tables, self._machine
        cores = tables.column("cores")[rows].astype(np.float64)
        alone = np.array([each.exclusive or machine.exclusive for each in machine.requests] or [machine.exclusive])
        request = tables.column("request")[rows]
        whole = alone[request] & ~np.isnan(self.start_of[rows])
        if machine.cluster.pool or not whole.any():
            return cores
        first, *others = machine.cluster.groups
        if all(other.resources == first.resources for other in others):
            per_node = np.array([_per_node(each, first.resources) for each in machine.requests] or [1])
            nodes = -(-tables.column("count")[rows] // per_node[request])
            return np.where(whole, np.maximum(nodes * first.resources.get("cores", 0), cores), cores)
        cores[whole] = _cores_of_nodes(tables.frame("jobs"), tables.column("sequence")[rows[whole]], machine)
        return cores


def _kinds_of(tables: Tables, names: Sequence[tuple[str, str]]) -> Numbers:
    """Of each workflow: the place of its kind."""
    import polars as pl

    number = {kind: at for at, kind in enumerate(names)}
    texts = tables.frame("workflows").select(pl.col("kind", "handling").cast(pl.String))
    place = texts.unique(maintain_order=True)
    which = pl.Series("which", [number[row] for row in place.iter_rows()], pl.Int64)
    found: Numbers = texts.join(place.with_columns(which), on=["kind", "handling"], how="left")["which"].to_numpy()
    return found


def _taken(values: Floats, rows: Numbers) -> Floats:
    return np.where(rows >= 0, values[rows], np.nan) if len(values) else np.full(len(rows), np.nan)


def _per_node(request: Request, resources: dict[str, int]) -> int:
    """How many chunks an empty node takes."""
    fits = [resources.get(name, 0) // amount for name, amount in request.chunk.items() if amount]
    return max(min([*fits, *([request.per_node_max] if request.per_node_max else [])], default=1), 1)


def _cores_of_nodes(jobs: pl.DataFrame, sequence: Numbers, machine: Machine) -> Floats:
    """Of nodes that are not alike: those that each job had."""
    size = {name: group.resources.get("cores", 0) for group in machine.cluster.groups for name in group.node_names()}
    texts = dict(zip(jobs["sequence"].to_list(), jobs["nodes"].to_list(), strict=True))
    known: dict[str | None, float] = {None: 0.0}
    for text in {texts[each] for each in sequence.tolist()} - {None}:
        known[text] = float(sum(size[name] for name, _ in expand(str(text))))
    return np.array([known[texts[each]] for each in sequence.tolist()], np.float64)

"""What a run says happened, as plain columns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from schedlab.engine.check.files import Tables, read_files
from schedlab.engine.check.offences import Offences
from schedlab.engine.check.older import as_stays
from schedlab.engine.check.told import Told, read_told
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.predecessors import CONDITIONS
from schedlab.model.request import Request
from schedlab.model.run import Run
from schedlab.model.states import NODE_STATES, PIECE_ENDS, REASONS, STATES, WAIT_REASONS

NUMBERS = ("job", "sequence", "cores", "count", "request")
TIMES = ("submit", "eligible", "start", "end", "runtime", "limit")
PIECE_TIMES = ("begin", "end", "work")


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
    cluster: Cluster
    requests: list[Request]
    options: dict[str, Any]
    exclusive: bool  # every job is alone on its nodes
    incomplete: bool  # it ended before its time
    flexible: bool  # some jobs may have had another shape while they waited than when they ran
    budget: dict[str, Any] | None  # of the whole machine, if it has one
    execution: list[dict[str, Any]]  # models of how placed jobs fare
    jobs: int | None  # how many there should be, if the run says so
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
    state: NDArray[np.int8]  # position in STATES
    reason: NDArray[np.int8] | None  # position in REASONS, -1 if it is not there; None if the run has none
    known_reasons: set[str]  # to whoever wrote the run
    predecessors: Predecessors
    nodes: NDArray[np.int64]  # position in `node_sets`; -1 if none are named
    node_sets: pa.StringArray
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
    timeline: dict[str, NDArray[Any]]

    def in_state(self, *names: str) -> NDArray[np.bool_]:
        return np.isin(self.state, [STATES.index(name) for name in names])

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
        return any(model.get("model") != "sharing" for model in self.execution)

    @property
    def kills(self) -> bool:
        """Jobs end at their limits."""
        return bool(self.options.get("overrun", "kill") == "kill")


def read_record(run: Run | str | Path, offences: Offences) -> Record | None:
    """The record of a run; None if its files cannot be read, which is then among the offences."""
    found = read_files(run, offences)
    if found is None:
        return None
    try:
        record = _record(*found, offences)
    except (KeyError, TypeError, ValueError) as error:
        where = str(run.path or "") if isinstance(run, Run) else str(run)
        raise InputError(f"cannot make sense of the run ({error!r})", where=where) from error
    del found
    pa.default_memory_pool().release_unused()  # the tables; Arrow would keep their memory for others like them
    return record


def _exclusive(config: dict[str, Any]) -> bool:
    """Whether every job has whole nodes; runs of older versions tell it in the text of the policy."""
    if "placement" in config:
        return bool(config["placement"]["exclusive"])
    return re.search(r"[:,]nodes=exclusive\b", config["policy"]) is not None


def _record(config: dict[str, Any], tables: Tables, offences: Offences) -> Record:
    jobs, timeline, stretches = tables["jobs"], tables["timeline"], tables.get("pieces")
    cluster = Cluster.from_dict(config["cluster"])
    _require("jobs", jobs, (*NUMBERS, *TIMES, "state", "nodes"))
    columns: dict[str, Any] = {name: _numbers(jobs[name], -1, np.int64) for name in NUMBERS}
    columns |= {name: _numbers(jobs[name], np.nan, np.float64) for name in TIMES}
    columns["estimate"] = _optional(jobs, "estimate")
    columns["user"] = _numbers(jobs["user"], -1, np.int32) if "user" in jobs.column_names else np.full(len(jobs), -1)
    reasons = jobs["reason"].cast(pa.string()) if "reason" in jobs.column_names else None
    columns["predecessors"] = _predecessors(tables.get("predecessors"), jobs, columns, config["options"], offences)

    texts = [jobs["nodes"].cast(pa.string()).combine_chunks()]
    if stretches is not None:
        _require("pieces", stretches, (*NUMBERS, *PIECE_TIMES, "how", "nodes"))
        texts.append(stretches["nodes"].cast(pa.string()).combine_chunks())
    sets = (pa.concat_arrays(texts) if stretches is not None else texts[0]).dictionary_encode()
    codes = _numbers(sets.indices, -1, np.int64)
    pieces, rates = _pieces(stretches, tables.get("rates"), codes[len(jobs) :], columns["sequence"], offences)
    pieced = np.zeros(len(jobs), bool)
    pieced[pieces.row] = True
    return Record(
        cluster=cluster,
        requests=[Request.from_dict(request) for request in config["requests"]],
        options=config["options"],
        exclusive=_exclusive(config),
        incomplete=bool(config.get("incomplete")),
        flexible=bool(config.get("workload", {}).get("flexible")),
        budget=config.get("budget"),
        execution=config.get("execution", []),
        jobs=config.get("workload", {}).get("report", {}).get("kept"),
        state=_words(jobs["state"], STATES),
        reason=_words(pc.fill_null(reasons, ""), REASONS) if reasons is not None else None,
        known_reasons=_vocabulary(jobs["reason"]) if reasons is not None else set(),
        nodes=codes[: len(jobs)],
        node_sets=sets.dictionary,
        pieced=pieced,
        pieces=pieces,
        rates=rates,
        node_changes=_node_changes(tables.get("nodes"), cluster),
        told=read_told(tables.get("places"), columns["sequence"], list(cluster.resource_names), offences),
        all_places=bool(config.get("places")),
        own_amounts=bool(config.get("own_amounts")),
        waits=_waits(tables.get("reasons"), config, offences),
        windows=_windows(config.get("calendar", []), cluster, offences),
        submitted=_submitted(tables.get("submitted"), columns["sequence"]),
        holds=_holds(tables.get("holds"), columns["sequence"]),
        timeline={name: timeline[name].to_numpy() for name in timeline.column_names},
        **columns,
    )


def _predecessors(
    table: pa.Table | None, jobs: pa.Table, columns: dict[str, Any], options: dict[str, Any], offences: Offences
) -> Predecessors:
    if "after" in jobs.column_names and options.get("dependencies") == "follow":
        # Format 1: one for each job, which had to have ended.
        after = _numbers(jobs["after"], -1, np.int64)
        row = np.flatnonzero(after >= 0)
        delay = _numbers(jobs["think"], 0.0, np.float64)[row]
        sequence, by_id = columns["sequence"], np.lexsort((columns["sequence"], columns["job"]))
        first = np.append(by_id, -1)[np.searchsorted(columns["job"][by_id], after[row])]
        known = np.append(columns["job"], -1)[first] == after[row]
        known &= np.append(sequence, -1)[first] < sequence[row]
        nothing = np.zeros(len(row), np.int8)
        return Predecessors(row, after[row], nothing, delay, nothing.astype(bool), known)
    if table is None:
        none = np.empty(0, np.int64)
        return Predecessors(none, none, none.astype(np.int8), np.empty(0), none.astype(bool), none.astype(bool))
    _require("predecessors", table, ("job", "sequence", "predecessor", "condition", "delay", "any", "known"))
    job, sequence = (_numbers(table[name], -1, np.int64) for name in ("job", "sequence"))
    row, there = _rows_of(sequence, columns["sequence"])
    delay = _numbers(table["delay"], np.nan, np.float64)
    offences.add_where("dependency", ~there, job, delay, lambda i: "there is no row for the job that waits")
    flags = (_numbers(table[name], False, np.bool_) for name in ("any", "known"))
    found = (row, _numbers(table["predecessor"], -1, np.int64), _words(table["condition"], CONDITIONS), delay, *flags)
    return Predecessors(*(column[there] for column in found))


def _rows_of(sequence: NDArray[np.int64], jobs: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The positions of the jobs with these sequences, and whether there are such jobs."""
    by_sequence = np.argsort(jobs, kind="stable")
    row = np.append(by_sequence, -1)[np.searchsorted(jobs[by_sequence], sequence)]
    return row, (row >= 0) & (np.append(jobs, -1)[row] == sequence)


def _pieces(
    table: pa.Table | None,
    changes: pa.Table | None,
    nodes: NDArray[np.int64],
    sequences: NDArray[np.int64],
    offences: Offences,
) -> tuple[Pieces, Rates]:
    if table is None:
        numbers, times = np.empty(0, np.int64), np.empty(0)
        columns: dict[str, Any] = dict.fromkeys(NUMBERS, numbers) | dict.fromkeys(
            (*PIECE_TIMES, "done", "whole"), times
        )
        columns["expected_end"] = times
        none = Pieces(how=np.empty(0, np.int8), nodes=numbers, row=numbers, **columns)
        return none, _rates(changes, none, offences)
    of_format_1 = "rate" in table.column_names
    own = (*PIECE_TIMES, *(("rate",) if of_format_1 else ("done", "whole")))
    _require("pieces", table, own)
    columns = {name: _numbers(table[name], -1, np.int64) for name in NUMBERS}
    columns |= {name: _numbers(table[name], np.nan, np.float64) for name in own}
    columns |= {"how": _words(table["how"], PIECE_ENDS), "nodes": nodes}
    columns["expected_end"] = _optional(table, "expected_end")
    columns["row"], known = _rows_of(columns["sequence"], sequences)
    offences.add_where("pieces", ~known, columns["job"], columns["begin"], lambda i: "there is no row for the job")
    order = np.argsort(columns["sequence"], kind="stable")
    order = order[known[order]]
    columns = {name: column[order] for name, column in columns.items()}
    if of_format_1:
        columns, told = as_stays(columns, offences)
        return Pieces(**columns), Rates(**told, owners=[""])
    pieces = Pieces(**columns)
    return pieces, _rates(changes, pieces, offences)


def _rates(table: pa.Table | None, pieces: Pieces, offences: Offences) -> Rates:
    if table is None:
        numbers, values = np.empty(0, np.int64), np.empty(0)
        return Rates(numbers, numbers, numbers, values, numbers, values, values, [])
    _require("rates", table, ("job", "sequence", "piece", "time", "owner", "factor", "rate"))
    columns: dict[str, Any] = {name: _numbers(table[name], -1, np.int64) for name in ("job", "sequence", "piece")}
    columns |= {name: _numbers(table[name], np.nan, np.float64) for name in ("time", "factor", "rate")}
    owners = table["owner"].cast(pa.string()).combine_chunks().dictionary_encode()
    columns["owner"] = _numbers(owners.indices, -1, np.int64)
    number, firsts = columns.pop("piece"), np.flatnonzero(pieces.first)
    place = np.searchsorted(pieces.sequence[firsts], columns["sequence"])
    known = np.append(pieces.sequence[firsts], -1)[place] == columns["sequence"]
    columns["at"] = np.where(known, np.append(firsts, 0)[place] + number, 0)
    in_job = np.append(pieces.sequence, -1)[np.clip(columns["at"], 0, len(pieces))] == columns["sequence"]
    known &= (number >= 0) & in_job
    offences.add_where("rates", ~known, columns["job"], columns["time"], lambda i: f"the job has no piece {number[i]}")
    order = np.lexsort((columns["at"], columns["sequence"]))
    order = order[known[order]]
    return Rates(**{name: column[order] for name, column in columns.items()}, owners=owners.dictionary.to_pylist())


def _node_changes(table: pa.Table | None, cluster: Cluster) -> NodeChanges:
    if table is None:
        return NodeChanges(np.empty(0), np.empty(0, np.int64), [], np.empty(0, np.int8))
    _require("nodes", table, ("time", "node", "state"))
    numbers = {name: number for number, name in enumerate(cluster.node_names())}
    names = table["node"].to_pylist()
    nodes = np.array([numbers.get(name, -1) for name in names], np.int64)
    return NodeChanges(_numbers(table["time"], np.nan, np.float64), nodes, names, _words(table["state"], NODE_STATES))


def _rare(name: str, table: pa.Table | None, numbers: tuple[str, ...], times: tuple[str, ...]) -> dict[str, Any]:
    """The columns of a table that most runs do without."""
    if table is None:
        return dict.fromkeys(numbers, np.empty(0, np.int64)) | dict.fromkeys(times, np.empty(0))
    _require(name, table, (*numbers, *times))
    columns: dict[str, Any] = {column: _numbers(table[column], -1, np.int64) for column in numbers}
    return columns | {column: _numbers(table[column], np.nan, np.float64) for column in times}


def _rows(sequences: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where jobs stand in the record; -1 if they do not."""
    order = np.argsort(sequences, kind="stable")
    place = np.searchsorted(sequences[order], wanted)
    found = np.append(order, -1)[place]
    return np.where(np.append(sequences, -1)[found] == wanted, found, -1)


def _submitted(table: pa.Table | None, sequences: NDArray[np.int64]) -> Submitted:
    columns = _rare("submitted", table, ("sequence", "job"), ("called",))
    return Submitted(row=_rows(sequences, columns["sequence"]), **columns)


def _holds(table: pa.Table | None, sequences: NDArray[np.int64]) -> Holds:
    columns = _rare("holds", table, ("sequence", "job"), ("eligible", "begin", "end"))
    order = np.lexsort((columns["end"], columns["begin"], columns["sequence"]))
    columns = {name: column[order] for name, column in columns.items()}
    return Holds(row=_rows(sequences, columns["sequence"]), **columns)


def _waits(table: pa.Table | None, config: dict[str, Any], offences: Offences) -> Waits | None:
    if table is None:
        if config.get("reasons"):
            offences.add("file", "reasons.parquet is missing")
        return None
    _require("reasons", table, ("job", "sequence", "from", "until", "why", "who", "words"))
    return Waits(
        job=_numbers(table["job"], -1, np.int64),
        sequence=_numbers(table["sequence"], -1, np.int64),
        begin=_numbers(table["from"], np.nan, np.float64),
        end=_numbers(table["until"], np.nan, np.float64),
        why=_words(table["why"], WAIT_REASONS),
        who=_numbers(table["who"], -1, np.int64),
        worded=~np.asarray(table["words"].is_null()),
    )


def _windows(described: list[dict[str, Any]], cluster: Cluster, offences: Offences) -> list[Window]:
    numbers = {name: number for number, name in enumerate(cluster.node_names())}
    windows = []
    for each in described:
        unknown = [name for name in each["nodes"] if name not in numbers]
        if unknown:
            offences.add("calendar", f"there is no node {unknown[0]}")
        until = float("inf") if each["until"] is None else float(each["until"])
        known = [numbers[name] for name in each["nodes"] if name in numbers]
        windows.append(Window(known, float(each["from"]), until, each["users"], each["by"], each["victims"]))
    return windows


def _optional(table: pa.Table, name: str) -> NDArray[np.float64]:
    """A column that older runs do not have."""
    return _numbers(table[name], np.nan, np.float64) if name in table.column_names else np.full(len(table), np.nan)


def _require(name: str, table: pa.Table, columns: tuple[str, ...]) -> None:
    missing = [column for column in columns if column not in table.column_names]
    if missing:
        raise InputError(f"{name}.parquet lacks the columns {', '.join(missing)}")


def _words(column: pa.ChunkedArray, words: tuple[str, ...]) -> NDArray[np.int8]:
    """Positions of words; -1 for one that is not among them."""
    return _numbers(pc.index_in(column.cast(pa.string()), value_set=pa.array(words)), -1, np.int8)


def _vocabulary(column: pa.ChunkedArray) -> set[str]:
    """All words that might have been in the column, if it says so; at least those that are."""
    if not pa.types.is_dictionary(column.type):
        return set(column.unique().to_pylist())
    return {word for chunk in column.chunks for word in chunk.dictionary.to_pylist()}


def _numbers(column: pa.ChunkedArray | pa.Array, unknown: float, dtype: Any) -> NDArray[Any]:
    typed = pc.fill_null(column.cast(pa.from_numpy_dtype(dtype)), unknown)
    return np.asarray(typed.to_numpy() if isinstance(typed, pa.ChunkedArray) else typed.to_numpy(zero_copy_only=False))

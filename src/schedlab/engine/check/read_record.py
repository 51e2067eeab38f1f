"""Reads the tables of a run into its record."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from schedlab.engine.check.files import Tables, read_files
from schedlab.engine.check.offences import Offences
from schedlab.engine.check.older import as_stays
from schedlab.engine.check.record import (
    Holds,
    NodeChanges,
    Pieces,
    Predecessors,
    Rates,
    Record,
    Submitted,
    Waits,
    Window,
)
from schedlab.engine.check.told import read_told
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.predecessors import CONDITIONS
from schedlab.model.request import Request
from schedlab.model.run import Run
from schedlab.model.states import NODE_STATES, PIECE_ENDS, REASONS, STATES, WAIT_REASONS

NUMBERS = ("job", "sequence", "cores", "count", "request")
TIMES = ("submit", "eligible", "start", "end", "runtime", "limit")
PIECE_TIMES = ("begin", "end", "work")


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


def _placement(config: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = config.get("placement", {})
    return found


def _applications(
    jobs: pa.Table, config: dict[str, Any], columns: dict[str, Any], offences: Offences
) -> NDArray[np.int64]:
    """Places in the heatmap."""
    if "application" not in jobs.column_names:
        return np.full(len(jobs), -1)
    found = _numbers(jobs["application"], -1, np.int64)
    known = len(config.get("workload", {}).get("labels", {}).get("application", ()))
    wrong = (found < -1) | (found >= known)
    offences.add_where(
        "application", wrong, columns["job"], columns["submit"], lambda i: f"the heatmap has no application {found[i]}"
    )
    return np.where(wrong, -1, found)


def _record(config: dict[str, Any], tables: Tables, offences: Offences) -> Record:
    jobs, timeline, stretches = tables["jobs"], tables["timeline"], tables.get("pieces")
    cluster = Cluster.from_dict(config["cluster"])
    _require("jobs", jobs, (*NUMBERS, *TIMES, "state", "nodes"))
    columns: dict[str, Any] = {name: _numbers(jobs[name], -1, np.int64) for name in NUMBERS}
    columns |= {name: _numbers(jobs[name], np.nan, np.float64) for name in TIMES}
    columns["estimate"] = _optional(jobs, "estimate")
    columns["user"] = _numbers(jobs["user"], -1, np.int32) if "user" in jobs.column_names else np.full(len(jobs), -1)
    columns["application"] = _applications(jobs, config, columns, offences)
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
        fraction=None if (fraction := _placement(config).get("fraction")) is None else Fraction(fraction),
        threshold=float(_placement(config).get("threshold", 0)),
        incomplete=bool(config.get("incomplete") or "until" in config),
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
        workflows=tables.get("workflows"),
        tasks=tables.get("tasks"),
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
        none = Pieces(how=np.empty(0, np.int8), decided=np.empty(0, bool), nodes=numbers, row=numbers, **columns)
        return none, _rates(changes, none, offences)
    of_format_1 = "rate" in table.column_names
    own = (*PIECE_TIMES, *(("rate",) if of_format_1 else ("done", "whole")))
    _require("pieces", table, own)
    columns = {name: _numbers(table[name], -1, np.int64) for name in NUMBERS}
    columns |= {name: _numbers(table[name], np.nan, np.float64) for name in own}
    columns |= {"how": _words(table["how"], PIECE_ENDS), "nodes": nodes}
    columns["expected_end"] = _optional(table, "expected_end")
    reasons = table["reason"].is_valid().to_numpy() if "reason" in table.column_names else np.zeros(len(table), bool)
    columns["decided"] = reasons
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


def _known_rows(sequence: NDArray[np.int64], jobs: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same; -1 where there is none."""
    row, known = _rows_of(sequence, jobs)
    return np.where(known, row, -1)


def _submitted(table: pa.Table | None, sequences: NDArray[np.int64]) -> Submitted:
    columns = _rare("submitted", table, ("sequence", "job"), ("called",))
    return Submitted(row=_known_rows(columns["sequence"], sequences), **columns)


def _holds(table: pa.Table | None, sequences: NDArray[np.int64]) -> Holds:
    columns = _rare("holds", table, ("sequence", "job"), ("eligible", "begin", "end"))
    order = np.lexsort((columns["end"], columns["begin"], columns["sequence"]))
    columns = {name: column[order] for name, column in columns.items()}
    return Holds(row=_known_rows(columns["sequence"], sequences), **columns)


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

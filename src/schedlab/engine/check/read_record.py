"""Reads the tables of a run into its record."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from schedlab.engine.check.columns import numbers, optional, require, words
from schedlab.engine.check.files import Files, Rows
from schedlab.engine.check.nodesets import NodeSets
from schedlab.engine.check.offences import Offences
from schedlab.engine.check.older import as_stays
from schedlab.engine.check.record import (
    Holds,
    NodeChanges,
    Pieces,
    Predecessors,
    Rates,
    Record,
    Span,
    Submitted,
    Waits,
    Window,
)
from schedlab.engine.check.survey import Survey
from schedlab.engine.check.told import read_told
from schedlab.model.cluster import Cluster
from schedlab.model.predecessors import CONDITIONS
from schedlab.model.request import Request
from schedlab.model.states import NODE_STATES, PIECE_ENDS, REASONS, STATES, WAIT_REASONS

NUMBERS = ("job", "sequence", "cores", "count", "request")
TIMES = ("submit", "eligible", "start", "end", "runtime", "limit")
PIECE_TIMES = ("begin", "end", "work")


def records(files: Files, survey: Survey) -> Iterator[tuple[Record, Offences]]:
    """The parts of a run, the last one first: each with the offences that were found while it was read."""
    cluster = Cluster.from_dict(files.config["cluster"])
    timeline = _Backwards(files.timeline, survey.timeline_parts)
    constant: dict[str, Any] = {}
    last = len(survey.bounds) - 1
    for part in range(last, -1, -1):
        offences = Offences()
        columns = _of_jobs(files, files.jobs.read(part, _columns(files.jobs)), cluster, offences)
        constant = constant or _constant(files, survey, cluster, offences)
        span = Span(survey.bounds[part - 1] if part else -np.inf, survey.bounds[part] if part < last else np.inf)
        yield Record(**constant, **columns, timeline=timeline.after(span.after), span=span), offences
        pa.default_memory_pool().release_unused()  # Arrow would keep the memory for other tables like it


class _Backwards:
    """The rows of the timeline, the last ones first."""

    def __init__(self, rows: Rows, parts: int) -> None:
        self._rows, self._part = rows, parts
        self._waiting = rows.schema.empty_table()

    def after(self, moment: float) -> dict[str, NDArray[Any]]:
        """Those that are later, and were not given before."""
        while self._part and not (len(self._waiting) and self._waiting["time"][0].as_py() <= moment):
            self._part -= 1
            self._waiting = pa.concat_tables([self._rows.read(self._part), self._waiting])
        given, self._waiting = self._waiting, self._waiting.slice(0, 0)
        if moment > -np.inf:
            earlier = int(np.searchsorted(given["time"].to_numpy(), moment, side="right"))
            given, self._waiting = given.slice(earlier), given.slice(0, earlier)
        return {name: given[name].to_numpy() for name in given.column_names}


def _columns(jobs: Rows) -> list[str]:
    own = (*NUMBERS, *TIMES, "state", "nodes", "estimate", "user", "application", "reason", "after", "think")
    return [name for name in own if name in jobs.schema.names]


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
    found = numbers(jobs["application"], -1, np.int64)
    known = len(config.get("workload", {}).get("labels", {}).get("application", ()))
    wrong = (found < -1) | (found >= known)
    offences.add_where(
        "application", wrong, columns["job"], columns["submit"], lambda i: f"the heatmap has no application {found[i]}"
    )
    return np.where(wrong, -1, found)


def _constant(files: Files, survey: Survey, cluster: Cluster, offences: Offences) -> dict[str, Any]:
    """What is the same for all jobs."""
    config = files.config
    return {
        "cluster": cluster,
        "reader": NodeSets(cluster),
        "requests": [Request.from_dict(request) for request in config["requests"]],
        "options": config["options"],
        "exclusive": _exclusive(config),
        "fraction": None if (fraction := _placement(config).get("fraction")) is None else Fraction(fraction),
        "threshold": float(_placement(config).get("threshold", 0)),
        "incomplete": bool(config.get("incomplete") or "until" in config),
        "flexible": bool(config.get("workload", {}).get("flexible")),
        "budget": config.get("budget"),
        "execution": config.get("execution", []),
        "known_reasons": survey.reasons,
        "last_end": survey.last_end,
        "beliefs": survey.beliefs,
        "node_changes": _node_changes(files.rare.get("nodes"), cluster),
        "all_places": bool(config.get("places")),
        "own_amounts": bool(config.get("own_amounts")),
        "workflows": files.rare.get("workflows"),
        "tasks": files.rare.get("tasks"),
        "waits": _waits(files.rare.get("reasons"), config, offences),
        "windows": _windows(config.get("calendar", []), cluster, offences),
    }


def _of_jobs(files: Files, jobs: pa.Table, cluster: Cluster, offences: Offences) -> dict[str, Any]:
    """The columns of these jobs, and what other tables say of them."""
    config, rare, stretches = files.config, files.rare, files.rare.get("pieces")
    columns: dict[str, Any] = {name: numbers(jobs[name], -1, np.int64) for name in NUMBERS}
    columns |= {name: numbers(jobs[name], np.nan, np.float64) for name in TIMES}
    columns["estimate"] = optional(jobs, "estimate")
    columns["user"] = numbers(jobs["user"], -1, np.int32) if "user" in jobs.column_names else np.full(len(jobs), -1)
    columns["application"] = _applications(jobs, config, columns, offences)
    reasons = jobs["reason"].cast(pa.string()) if "reason" in jobs.column_names else None
    columns["predecessors"] = _predecessors(rare.get("predecessors"), jobs, columns, config["options"], offences)

    texts = [jobs["nodes"].cast(pa.string()).combine_chunks()]
    if stretches is not None:
        require("pieces", stretches.column_names, (*NUMBERS, *PIECE_TIMES, "how", "nodes"))
        texts.append(stretches["nodes"].cast(pa.string()).combine_chunks())
    sets = (pa.concat_arrays(texts) if stretches is not None else texts[0]).dictionary_encode()
    codes = numbers(sets.indices, -1, np.int64)
    sequence = columns["sequence"]
    pieces, rates = _pieces(stretches, rare.get("rates"), codes[len(jobs) :], sequence, offences)
    pieced = np.zeros(len(jobs), bool)
    pieced[pieces.row] = True
    return columns | {
        "state": words(jobs["state"], STATES),
        "reason": words(pc.fill_null(reasons, ""), REASONS) if reasons is not None else None,
        "nodes": codes[: len(jobs)],
        "node_sets": sets.dictionary,
        "pieced": pieced,
        "pieces": pieces,
        "rates": rates,
        "told": read_told(rare.get("places"), sequence, list(cluster.resource_names), offences),
        "submitted": _submitted(rare.get("submitted"), sequence),
        "holds": _holds(rare.get("holds"), sequence),
    }


def _predecessors(
    table: pa.Table | None, jobs: pa.Table, columns: dict[str, Any], options: dict[str, Any], offences: Offences
) -> Predecessors:
    if "after" in jobs.column_names and options.get("dependencies") == "follow":
        # Format 1: one for each job, which had to have ended.
        after = numbers(jobs["after"], -1, np.int64)
        row = np.flatnonzero(after >= 0)
        delay = numbers(jobs["think"], 0.0, np.float64)[row]
        sequence, by_id = columns["sequence"], np.lexsort((columns["sequence"], columns["job"]))
        first = np.append(by_id, -1)[np.searchsorted(columns["job"][by_id], after[row])]
        known = np.append(columns["job"], -1)[first] == after[row]
        known &= np.append(sequence, -1)[first] < sequence[row]
        nothing = np.zeros(len(row), np.int8)
        return Predecessors(row, after[row], nothing, delay, nothing.astype(bool), known)
    if table is None:
        none = np.empty(0, np.int64)
        return Predecessors(none, none, none.astype(np.int8), np.empty(0), none.astype(bool), none.astype(bool))
    require(
        "predecessors", table.column_names, ("job", "sequence", "predecessor", "condition", "delay", "any", "known")
    )
    job, sequence = (numbers(table[name], -1, np.int64) for name in ("job", "sequence"))
    row, there = _rows_of(sequence, columns["sequence"])
    delay = numbers(table["delay"], np.nan, np.float64)
    offences.add_where("dependency", ~there, job, delay, lambda i: "there is no row for the job that waits")
    flags = (numbers(table[name], False, np.bool_) for name in ("any", "known"))
    found = (row, numbers(table["predecessor"], -1, np.int64), words(table["condition"], CONDITIONS), delay, *flags)
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
        nothing, times = np.empty(0, np.int64), np.empty(0)
        columns: dict[str, Any] = dict.fromkeys(NUMBERS, nothing) | dict.fromkeys(
            (*PIECE_TIMES, "done", "whole"), times
        )
        columns["expected_end"] = times
        none = Pieces(how=np.empty(0, np.int8), decided=np.empty(0, bool), nodes=nothing, row=nothing, **columns)
        return none, _rates(changes, none, offences)
    of_format_1 = "rate" in table.column_names
    own = (*PIECE_TIMES, *(("rate",) if of_format_1 else ("done", "whole")))
    require("pieces", table.column_names, own)
    columns = {name: numbers(table[name], -1, np.int64) for name in NUMBERS}
    columns |= {name: numbers(table[name], np.nan, np.float64) for name in own}
    columns |= {"how": words(table["how"], PIECE_ENDS), "nodes": nodes}
    columns["expected_end"] = optional(table, "expected_end")
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
        nothing, values = np.empty(0, np.int64), np.empty(0)
        return Rates(nothing, nothing, nothing, values, nothing, values, values, [])
    require("rates", table.column_names, ("job", "sequence", "piece", "time", "owner", "factor", "rate"))
    columns: dict[str, Any] = {name: numbers(table[name], -1, np.int64) for name in ("job", "sequence", "piece")}
    columns |= {name: numbers(table[name], np.nan, np.float64) for name in ("time", "factor", "rate")}
    owners = table["owner"].cast(pa.string()).combine_chunks().dictionary_encode()
    columns["owner"] = numbers(owners.indices, -1, np.int64)
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
    require("nodes", table.column_names, ("time", "node", "state"))
    position = {name: number for number, name in enumerate(cluster.node_names())}
    names = table["node"].to_pylist()
    nodes = np.array([position.get(name, -1) for name in names], np.int64)
    return NodeChanges(numbers(table["time"], np.nan, np.float64), nodes, names, words(table["state"], NODE_STATES))


def _rare(name: str, table: pa.Table | None, whole: tuple[str, ...], times: tuple[str, ...]) -> dict[str, Any]:
    """The columns of a table that most runs do without."""
    if table is None:
        return dict.fromkeys(whole, np.empty(0, np.int64)) | dict.fromkeys(times, np.empty(0))
    require(name, table.column_names, (*whole, *times))
    columns: dict[str, Any] = {column: numbers(table[column], -1, np.int64) for column in whole}
    return columns | {column: numbers(table[column], np.nan, np.float64) for column in times}


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
    require("reasons", table.column_names, ("job", "sequence", "from", "until", "why", "who", "words"))
    return Waits(
        job=numbers(table["job"], -1, np.int64),
        sequence=numbers(table["sequence"], -1, np.int64),
        begin=numbers(table["from"], np.nan, np.float64),
        end=numbers(table["until"], np.nan, np.float64),
        why=words(table["why"], WAIT_REASONS),
        who=numbers(table["who"], -1, np.int64),
        worded=~np.asarray(table["words"].is_null()),
    )


def _windows(described: list[dict[str, Any]], cluster: Cluster, offences: Offences) -> list[Window]:
    position = {name: number for number, name in enumerate(cluster.node_names())}
    windows = []
    for each in described:
        unknown = [name for name in each["nodes"] if name not in position]
        if unknown:
            offences.add("calendar", f"there is no node {unknown[0]}")
        until = float("inf") if each["until"] is None else float(each["until"])
        known = [position[name] for name in each["nodes"] if name in position]
        windows.append(Window(known, float(each["from"]), until, each["users"], each["by"], each["victims"]))
    return windows

"""Batsim workloads (JSON): jobs, each with a profile of what it does. `docs/formats/batsim.md` states the rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.files.bytestream import ByteStream
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.mistakes import SHOWN
from schedlab.model.request import Request
from schedlab.model.workload import ReadReport, Workload
from schedlab.workload.batsim.jobs import JobTable
from schedlab.workload.batsim.profiles import REPLAY, STAGING, STORAGE, TIERS, UNKNOWN, Profiles, types_hint
from schedlab.workload.batsim.reference import REFERENCE_SPEED, why_none
from schedlab.workload.batsim.values import is_whole, shown
from schedlab.workload.batsim.write import write_batsim
from schedlab.workload.options import ReadOptions
from schedlab.workload.stream import Known, stem

__all__ = ["REFERENCE_SPEED", "looks_like", "read_batsim", "write_batsim"]

FARES = "schedlab.bridge.batsim.profile_times:ProfileTimes"  # by name: it lives further up
RANKS = "smpi_ranks_to_hosts_mapping"
ON_MACHINES = (*REPLAY, *STORAGE, *TIERS, *STAGING)  # types that only a machine can time

_EXPECTED = "a Batsim workload is a JSON object with nb_res, jobs (a list) and profiles (an object)"


def looks_like(start: str, name: str) -> bool:
    text = start.lstrip()
    return text.startswith("{") and (
        any(key in text for key in ('"nb_res"', '"subtime"')) or ('"profiles"' in text and '"type"' in text)
    )


def read_batsim(path: Path, options: ReadOptions, *, speed: float = REFERENCE_SPEED) -> Workload:
    """The jobs of a Batsim workload; a host is one core, or as many as its profile's `cpu` says (Batkube).

    Computations take the time that they need on hosts of `speed` flops a second, communication left out. Jobs with a
    profile that has no run time by itself (storage, traces, messages) are refused, or dropped and counted with
    `bad_rows="drop"`.
    """
    if not 0 < speed < float("inf"):
        raise InputError(f"speed cannot be {speed!r}", hint="flops a second, above 0")
    stream = ByteStream(path, options.progress)
    document = _document(path, b"".join(stream))
    profiles = Profiles(document["profiles"], str(path))
    table = JobTable(document["jobs"], profiles, speed, str(path))
    if options.bad_rows == "fail":
        table.check_all(profiles)
        _refuse(table, profiles, options)
    report = ReadReport(records=len(table.jobs))
    rows, runtime = _kept(table, options, report)
    moving = np.array([one.depends_on_machine for one in table.profiles])[table.profile[rows]] & (options.hosts > 0)
    if not len(rows):
        raise _nothing_left(path, report, options)
    limit = _limits(table.walltime[rows], runtime, moving, options, report)
    if options.clean == "strict":
        _count(report.filled, "run time: cut to the requested time", runtime > limit)
        runtime = np.minimum(runtime, limit)
    _count(report.filled, "run time: as the machine has it", moving)
    runtime = np.where(np.isnan(runtime), np.where(limit < np.inf, limit, 1.0), runtime)
    known = Known()
    columns: dict[str, Any] = _identities(table, rows) | table.labels(known, rows)
    columns |= {"submit": table.submit[rows], "runtime": runtime, "limit": limit, "count": table.count[rows]}
    columns["request"] = _requests(table, rows, known, options, report)
    if moving.any():
        columns["attachments"] = _carried(table, rows, moving)
    workload = Workload.of(name=stem(path), labels=known.labels, requests=known.requests, **columns)
    _count_the_rest(document, table, rows, speed, report)
    workload.header = _header(document, table.count[rows], report)
    workload.report = report
    workload.content_hash = stream.sha256
    workload.path = path
    if moving.any():
        workload.fares = FARES, {"table": document["profiles"], "folder": str(path.parent), "where": str(path)}
    return workload


def _document(path: Path, data: bytes) -> dict[str, Any]:
    import json

    where = str(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError("is not UTF-8 text", where=f"{where}, line {line}", hint=_EXPECTED) from None
    if text.lstrip().startswith("<"):
        raise _xml(where, text)
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        place = f"{where}, line {error.lineno}, column {error.colno}"
        raise InputError(f"is not JSON: {error.msg}", where=place, hint=_EXPECTED) from None
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, thousands of brackets
        raise InputError(f"cannot be read as JSON: {error}", where=where, hint=_EXPECTED) from None
    if not isinstance(document, dict):
        raise InputError(f"is JSON, but {shown(document)}, expected an object", where=where, hint=_EXPECTED)
    wrong = []
    for key, kind, word in (("jobs", list, "a list of jobs"), ("profiles", dict, "an object of profiles")):
        if not isinstance(document.get(key), kind):
            wrong.append(InputError(f"'{key}' is {shown(document.get(key))}, expected {word}", where=where))
    size = document.get("nb_res")
    if size is not None and not is_whole(size, 1):
        wrong.append(InputError(f"'nb_res' is {shown(size)}, expected a whole number from 1 up", where=where))
    if wrong:
        raise InputErrors(wrong)
    if not document["jobs"]:
        raise InputError("'jobs' is empty: there is nothing to simulate", where=where, hint="is it the right file?")
    return document


def _xml(where: str, text: str) -> InputError:
    if "<platform" in text[:4096]:
        return InputError("is a SimGrid platform, not a workload", where=where, hint=f"--cluster {Path(where).name}")
    return InputError("is XML, not a workload", where=where, hint=_EXPECTED)


def _refuse(table: JobTable, profiles: Profiles, options: ReadOptions) -> None:
    """All mistakes at once, and every type of profile that has no run time."""
    errors = [*profiles.mistakes[:SHOWN], *table.mistakes]
    more = len(profiles.mistakes) + table.mistake_count - len(errors)
    if more:
        errors.append(InputError(f"and {more:,} more mistakes", where=table.file))
    for kind, rows in _without_runtime(table, options).items():
        job = table.jobs[rows[0]]
        part = table.profiles[table.profile[rows[0]]].without_runtime[kind]
        through = "is" if part == job["profile"] else f"contains '{part}'"
        count = f"; {len(rows):,} jobs have it" if len(rows) > 1 else ""
        why = f"which has no run time: {why_none(kind)}{count}"
        message = f"profile '{job['profile']}' {through} of type {kind}, {why}"
        remedy = types_hint(kind) if why_none(kind) == UNKNOWN else ""
        if kind in ON_MACHINES:
            remedy = "a SimGrid platform tells (--cluster platform.xml); or"
        hint = f'{remedy} leave such jobs out: --bad-rows drop (bad_rows="drop")'.strip()
        errors.append(InputError(message, where=f"{table.file}, {table.label(rows[0])}", hint=hint))
    if errors:
        raise errors[0] if len(errors) == 1 else InputErrors(errors)


def _without_runtime(table: JobTable, options: ReadOptions) -> dict[str, list[int]]:
    """Types of profiles without a run time, and the jobs that have them."""
    found: dict[str, list[int]] = {}
    for place, profile in enumerate(table.profiles):
        for kind in profile.without_runtime:
            if not (options.hosts and kind in ON_MACHINES):
                found.setdefault(kind, []).extend(np.flatnonzero(table.profile == place).tolist())
    return {kind: sorted(rows) for kind, rows in found.items()}


def _kept(table: JobTable, options: ReadOptions, report: ReadReport) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The jobs to keep, and how long they run. The first reason to drop one is counted."""
    report.bad_rows = [str(mistake).removeprefix(f"{table.file}, ") for mistake in table.mistakes]
    fixed, spread = (
        np.array([getattr(p, name) for p in table.profiles])[table.profile] for name in ("fixed", "spread")
    )
    runtime = fixed + spread / np.maximum(table.count, 1)
    if options.hosts:
        unknown = np.array([bool(p.without_runtime) or (p.communicates and not p.computes) for p in table.profiles])
        runtime[unknown[table.profile]] = np.nan
    reasons: list[tuple[str, NDArray[np.bool_]]] = [("bad row", table.bad)]
    for kind, rows in _without_runtime(table, options).items():
        having = np.zeros(len(table.jobs), bool)
        having[rows] = True
        reasons.append((f"profile type {kind}: {why_none(kind)}", having))
    reasons.append(("asks for 0 hosts", table.count < 1))
    if options.clean == "strict" and options.max_procs:
        reasons.append(("larger than the machine", table.count > options.max_procs))
    if options.clean != "none":
        silent = np.array([p.communicates and not p.computes for p in table.profiles])[table.profile]
        reasons.append(("run time 0: its profile only communicates", silent & (runtime <= 0)))
        reasons.append(("run time 0 or unknown", runtime <= 0))
    if options.clean == "strict":
        reasons.append(("requested time 0 or unknown", np.isnan(table.walltime)))
    keep = np.ones(len(table.jobs), bool)
    for name, having in reasons:
        _count(report.dropped, name, keep & having)
        keep &= ~having
    rows_kept = np.flatnonzero(keep)
    report.kept = len(rows_kept)
    return rows_kept, runtime[rows_kept]


def _limits(
    walltime: NDArray[np.float64],
    runtime: NDArray[np.float64],
    moving: NDArray[np.bool_],  # whose run time is the machine's to say
    options: ReadOptions,
    report: ReadReport,
) -> NDArray[np.float64]:
    missing = np.isnan(walltime)
    if isinstance(options.missing_limit, str):
        _count(report.filled, "limit: run time", missing & ~moving)
        _count(report.filled, "limit: none", missing & moving)
        return np.where(missing, np.where(moving, np.inf, runtime), walltime)
    _count(report.filled, "limit: given number", missing)
    return np.where(missing, float(options.missing_limit), walltime)


def _carried(table: JobTable, rows: NDArray[np.intp], moving: NDArray[np.bool_]) -> list[dict[str, Any] | None]:
    """What jobs carry along for whoever says how long they take: their profile, and where ranks of traces are."""
    return [
        {key: job[key] for key in ("profile", RANKS) if key in job} if on_machine else None
        for job, on_machine in zip((table.jobs[row] for row in rows.tolist()), moving.tolist(), strict=True)
    ]


def _identities(table: JobTable, rows: NDArray[np.intp]) -> dict[str, Any]:
    """Numbers where all ids are numbers; else names, numbered in the order of submission."""
    ids = [table.ids[row] for row in rows.tolist()]
    if all(text.isascii() and text.isdigit() and len(text) <= 18 and str(int(text)) == text for text in ids):
        return {"id": np.array([int(text) for text in ids], np.int64)}
    numbers = np.empty(len(ids), np.int64)
    numbers[np.argsort(table.submit[rows], kind="stable")] = np.arange(1, len(ids) + 1)
    return {"id": numbers, "names": tuple(ids)}


def _requests(
    table: JobTable, rows: NDArray[np.intp], known: Known, options: ReadOptions, report: ReadReport
) -> NDArray[np.int32]:
    """What a host of each job is: cores, and memory where that counts."""
    cores = np.array([profile.cores for profile in table.profiles])
    memory = np.array([profile.memory for profile in table.profiles], np.int64)
    used = table.profile[rows]
    _count(report.filled, "cores of a host: rounded up to whole ones", (cores != np.ceil(cores))[used])
    if not options.full:
        _count(report.unkept, "memory of the profile", (memory > 0)[used])
        memory[:] = 0
    places = np.zeros(len(cores), np.int32)
    for which in np.unique(used).tolist():
        asked = {"cores": int(np.ceil(cores[which]))} | ({"memory": int(memory[which])} if memory[which] else {})
        whole = options.max_procs > options.hosts > 0 and asked == {"cores": 1}  # hosts of several cores
        places[which] = known.request(Request(asked, per_node_max=1, exclusive=True) if whole else Request(asked))
    return places[used]


def _count_the_rest(
    document: dict[str, Any], table: JobTable, rows: NDArray[np.intp], speed: float, report: ReadReport
) -> None:
    used = table.profile[rows]
    for name, attribute in (
        (f"run time: computation at {speed / 1e9:g} Gf/s", "computes"),
        ("run time: without communication", "communicates"),
    ):
        _count(report.filled, name, np.array([bool(getattr(p, attribute)) for p in table.profiles])[used])
    _count(report.unkept, "return code of the profile", np.array([bool(p.returns) for p in table.profiles])[used])
    for key in sorted(frozenset().union(*(profile.unread for profile in table.profiles))):
        _count(
            report.unkept, f"field '{key}' of the profile", np.array([key in p.unread for p in table.profiles])[used]
        )
    for key, count in table.other_fields(rows).items():
        report.unkept[f"field '{key}'"] = count
    for key in document:
        if key not in ("nb_res", "jobs", "profiles", "description"):
            report.unkept[f"field '{key}' of the file"] = len(rows)


def _header(document: dict[str, Any], count: NDArray[np.float64], report: ReadReport) -> dict[str, str]:
    size = document.get("nb_res")
    if size is None:
        size = int(count.max())
        report.filled["machine: as large as the largest job (no nb_res)"] = 1
    header = {"MaxProcs": str(size)}
    if isinstance(document.get("description"), str):
        header["Note"] = document["description"]
    return header


def _count(counts: dict[str, int], name: str, which: NDArray[np.bool_]) -> None:
    if number := int(np.count_nonzero(which)):
        counts[name] = number


def _nothing_left(path: Path, report: ReadReport, options: ReadOptions) -> InputError:
    reasons = "; ".join(f"{count:,} {name}" for name, count in report.dropped.items())
    hints = report.bad_rows[:1]
    if options.clean != "none" and any("run time 0" in name or "requested" in name for name in report.dropped):
        hints.append("--clean none keeps more")
    message = f"no usable job among {report.records:,}: {reasons}"
    return InputError(message, where=str(path), hint="; ".join(hints))

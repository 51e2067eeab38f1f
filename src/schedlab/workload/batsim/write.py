"""Write jobs as a Batsim workload: each with a delay profile of its run time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.files.whole_file import whole_file
from schedlab.model.errors import InputError
from schedlab.model.request import SINGLE_CORE
from schedlab.model.workload import JobBatch, Workload
from schedlab.workload.swf.header import header_number

PIECE = 1 << 13  # jobs turned into text at a time
LABELLED = ("user", "group", "queue", "partition")  # Batsim hands them to the scheduler


def write_batsim(path: Path, workload: Workload) -> list[str]:
    """Write a workload; what Batsim has no place for is said in the sentences that come back."""
    losses = _Losses()
    delays: dict[float, str] = {}
    largest = 1
    cores = np.array([max(request.chunk.get("cores", 0), 1) for request in workload.requests], np.int64)
    with whole_file(path) as file:
        file.write(_opening(workload))
        separator = ""
        for batch in workload.batches():
            losses.see(batch, workload)
            hosts = batch.count * cores[batch.request]
            largest = max(largest, int(hosts.max(initial=1)))
            for text in _jobs(batch, hosts, workload.labels, delays):
                file.write(f"{separator}\n{text}".encode())
                separator = ","
        file.write(b'\n  ],\n  "profiles": {')
        separator = ""
        for delay, name in delays.items():
            file.write(f'{separator}\n    "{name}": {{"type": "delay", "delay": {_text(delay)}}}'.encode())
            separator = ","
        size = header_number(workload.header, "MaxProcs") or largest
        file.write(f'\n  }},\n  "nb_res": {size}\n}}\n'.encode())
    return losses.sentences(workload)


def _opening(workload: Workload) -> bytes:
    import json

    description = workload.header.get("Note")
    said = "" if description is None else f'  "description": {json.dumps(description, ensure_ascii=False)},\n'
    return f'{{\n{said}  "jobs": ['.encode()


def _jobs(
    batch: JobBatch, hosts: NDArray[np.int64], labels: dict[str, list[str]], delays: dict[float, str]
) -> Iterator[str]:
    """The lines of jobs, some thousands at a time; `delays` gets the run times that occur."""
    import json

    early = np.flatnonzero(batch.submit < 0)
    if len(early):
        row = early[0]
        message = f"job {batch.id[row]} is submitted at {batch.submit[row]} s, and Batsim's time begins at 0"
        raise InputError(message, hint="shift the submit times")
    columns = (batch.submit, batch.runtime, batch.limit, hosts)
    for start in range(0, len(batch), PIECE):
        piece = slice(start, start + PIECE)
        ids: list[Any] = batch.id[piece].tolist() if batch.names is None else list(batch.names[piece])
        numbers = (column[piece].tolist() for column in columns)
        marks = (_label_texts(name, getattr(batch, name)[piece], labels.get(name)) for name in LABELLED)
        lines = []
        for name, submit, runtime, limit, res, *more in zip(ids, *numbers, *marks, strict=True):
            profile = delays.setdefault(runtime, f"delay_{_text(runtime)}")
            walltime = f', "walltime": {_text(limit)}' if 0 < limit < np.inf else ""
            lines.append(
                f'    {{"id": {json.dumps(name, ensure_ascii=False)}, "subtime": {_text(submit)}{walltime}, '
                f'"res": {res}, "profile": "{profile}"{"".join(more)}}}'
            )
        yield ",\n".join(lines)


def _label_texts(key: str, column: NDArray[np.int32], names: list[str] | None) -> list[str]:
    """`, "user": "alice"`, or the number where it has no name; nothing where it is not known."""
    import json

    known: dict[int, str] = {-1: ""}
    for number in np.unique(column).tolist():
        if number >= 0:
            value = names[number] if names is not None and number < len(names) else number
            known[number] = f', "{key}": {json.dumps(value, ensure_ascii=False)}'
    return [known.get(number, "") for number in column.tolist()]


def _text(seconds: float) -> str:
    """As short as it can be read back."""
    return str(int(seconds)) if seconds.is_integer() and seconds < 2.0**53 else repr(seconds)


class _Losses:
    """What jobs have and a Batsim workload has no place for."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def see(self, batch: JobBatch, workload: Workload) -> None:
        special = np.array([request != SINGLE_CORE for request in workload.requests], bool)
        self._add("requests: a job asks for hosts and nothing else, one for each core", special[batch.request])
        self._add("executables: there is no place for them", batch.executable >= 0)
        self._add("statuses: there is no place for them", batch.status >= 0)
        self._add("recorded waits: there is no place for them", ~np.isnan(batch.wait))
        self._add("cancellations: there is no place for them", np.isfinite(batch.cancel))
        self._add("predecessors: there is no place for them", batch.dependent)
        endless = ~((batch.limit > 0) & (batch.limit < np.inf))
        self._add("limits that are 0 or endless: written without walltime", endless)
        self._add("run times of 0: Batsim refuses such delays", batch.runtime <= 0)
        if batch.shapes is not None:
            others = np.diff(np.concatenate([[0], batch.shapes.end])) > 0
            self._add("other shapes: Batsim's jobs are rigid", others)

    def _add(self, what: str, which: NDArray[np.bool_]) -> None:
        if number := int(np.count_nonzero(which)):
            self._counts[what] = self._counts.get(what, 0) + number

    def sentences(self, workload: Workload) -> list[str]:
        said = []
        for what, count in self._counts.items():
            thing, _, why = what.partition(": ")
            said.append(f"{thing} ({count:,} {'job' if count == 1 else 'jobs'}): {why}")
        if workload.origin is not None:
            said.append("the date of second 0: there is no place for it")
        if others := sorted(workload.header.keys() - {"MaxProcs", "Note"}):
            said.append(f"header lines ({', '.join(others)}): there is no place for them")
        if workload.phases:
            said.append("phases: there is no place for them")
        return said

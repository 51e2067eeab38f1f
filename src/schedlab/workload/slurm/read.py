"""Event files of the Slurm simulator: a job a line, with the options of its `sbatch`. Rules: docs/formats/slurm.md."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.files.bytestream import ByteStream
from schedlab.files.slurm_values import shown
from schedlab.model.errors import InputError
from schedlab.model.workload import ReadReport, Workload
from schedlab.workload.options import ReadOptions
from schedlab.workload.slurm.event import SUBMISSION, Event, parse_event
from schedlab.workload.slurm.order import array_tasks
from schedlab.workload.slurm.sbatch import SHAPING, Asked, ask
from schedlab.workload.slurm.waiting import Waiting
from schedlab.workload.stream import Known, stem

SHOWN_BAD_ROWS = 20

_EXAMPLE = f"a line is like: -dt 49 -e {SUBMISSION} | -J jobid_1002 -sim-walltime 1201 -t 00:30:00 -n 1 x.job"
_EVENT_LINE = re.compile(r"^[ \t]*+-(?:dt|e)[ \t]++\S++[ \t]++-(?:dt|e)[ \t]++[^\s|]++[ \t]*+\|", re.MULTILINE)


def looks_like(start: str, name: str) -> bool:
    return name.endswith(".events") or _EVENT_LINE.search(start) is not None


def read_slurm_events(path: Path, options: ReadOptions) -> Workload:
    """The jobs of an event file. All of them are meant to run: `clean` leaves out some only if it is "strict"."""
    data = ByteStream(path, options.progress)
    text = b"".join(data).decode(errors="replace").removeprefix("\ufeff")
    lines = enumerate(text.split("\n"), 1)
    found = of_lines(path, ((number, line) for number, line in lines if not _is_empty(line)), options)
    found.content_hash = data.sha256
    return found


def of_lines(path: Path, lines: Iterable[tuple[int, str]], options: ReadOptions) -> Workload:
    """The jobs of lines of events, each with the number of the line of the file that it is from."""
    reading = _Reading(path, options)
    for number, line in lines:
        reading.add(number, line)
    return reading.workload()


def _is_empty(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


class _Reading:
    """What has been read so far, in the order of the file."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self._path, self._options = path, options
        self._events: list[Event] = []
        self._lines: dict[int, int] = {}  # of numbered jobs
        self._asked: dict[tuple[str | None, ...], Asked] = {}
        self._records = 0
        self._dropped: Counter[str] = Counter()
        self._filled: Counter[str] = Counter()
        self._for_slurm: Counter[str] = Counter()
        self._bad_rows: list[str] = []

    def add(self, number: int, line: str) -> None:
        self._records += 1
        try:
            event = parse_event(line, self._ask)
            if isinstance(event, Event) and event.job in self._lines:
                raise ValueError(f"job {event.job} has occurred before, on line {self._lines[event.job]}")
        except ValueError as error:
            self._bad(number, str(error))
            return
        reason = f"event {shown(event)}" if isinstance(event, str) else self._why_not(event)
        if reason or isinstance(event, str):
            self._dropped[reason] += 1
            return
        self._fill(event)
        if event.job is not None:
            self._lines[event.job] = number
        if event.tasks:
            self._records += event.tasks - 1
            event.for_slurm.append("array: a job for each of its tasks")
        self._filled.update(dict.fromkeys(event.assumed, event.tasks or 1))
        self._for_slurm.update(dict.fromkeys(event.for_slurm, event.tasks or 1))
        self._events.append(event)

    def _ask(self, values: Mapping[str, str]) -> Asked:
        key = tuple(values.get(name) for name in SHAPING)
        if key not in self._asked:
            self._asked[key] = ask(values)
        return self._asked[key]

    def _bad(self, number: int, problem: str) -> None:
        if self._options.bad_rows == "fail":
            hint = 'correct the line, or leave such lines out: --bad-rows drop (bad_rows="drop")'
            hint = hint if self._events else _EXAMPLE
            raise InputError(problem, where=f"{self._path}, line {number}", hint=hint)
        self._dropped["bad row"] += 1
        if len(self._bad_rows) < SHOWN_BAD_ROWS:
            self._bad_rows.append(f"line {number}: {problem}")

    def _why_not(self, event: Event) -> str:
        """Why an event is left out; "" if it is not."""
        if event.runtime is None and event.limit is None and self._options.missing_limit == "runtime":
            return "neither run time nor limit"
        if self._options.clean != "strict":
            return ""
        most, cores = self._options.max_procs, event.asked.count * event.asked.request.chunk["cores"]
        if most and cores > most:
            return "larger than the machine"
        if event.runtime == 0:
            return "run time 0 or unknown"
        return "requested time 0 or unknown" if event.limit is None else ""

    def _fill(self, event: Event) -> None:
        """The durations that the file does not say."""
        missing = self._options.missing_limit
        if event.limit is None:
            event.limit = event.runtime if isinstance(missing, str) else float(missing)
            event.assumed.append("limit: run time" if isinstance(missing, str) else "limit: given number")
        if event.runtime is None:
            event.runtime = event.limit
            event.assumed.append("run time: the limit, into which the job runs")
        elif self._options.clean == "strict" and event.limit is not None and event.runtime > event.limit:
            event.runtime = event.limit
            event.assumed.append("run time: cut to the requested time")

    def workload(self) -> Workload:
        if not self._events:
            reasons = ", ".join(f"{count:,} {reason}" for reason, count in self._dropped.items())
            hint = self._bad_rows[0] if self._bad_rows else _EXAMPLE
            raise InputError(f"holds no job: {reasons or 'no events'}", where=str(self._path), hint=hint)
        known = Known(single_core=False)
        columns = self._columns(known)
        found = Workload.of(name=stem(self._path), requests=known.requests, labels=known.labels, **columns)
        counts = {"dropped": self._dropped, "filled": self._filled, "for_slurm": self._for_slurm}
        told = {name: dict(count) for name, count in counts.items()}
        found.report = ReadReport(self._records, len(columns["id"]), bad_rows=self._bad_rows, **told)
        found.asked = self._asked_by(columns["id"])
        waiting = ((job, options.get("dependency", "")) for job, options in found.asked.items())
        found.dependencies = {job: text for job, text in waiting if text}
        return found

    def _asked_by(self, ids: NDArray[Any]) -> dict[int, Mapping[str, str]]:
        """The options of each job, as written; the tasks of an array share theirs."""
        asked: dict[int, Mapping[str, str]] = {}
        numbers = iter(ids.tolist())
        for event in self._events:
            options = event.values | event.unused
            if event.job is not None:
                options["job-number"] = str(event.job)  # its number in the file, by which others call it
            asked.update(dict.fromkeys(itertools.islice(numbers, event.tasks or 1), options))
        return asked

    def _columns(self, known: Known) -> dict[str, Any]:
        rows = [_row(event, known) for event in self._events]
        tasks = [event.tasks or 1 for event in self._events]
        columns: dict[str, Any] = {name: np.repeat(np.array([row[name] for row in rows]), tasks) for name in rows[0]}
        last = np.cumsum(tasks)  # the place of the last job of each event, counted from 1
        if all(event.job is not None and not event.tasks for event in self._events):
            ids = np.array([event.job for event in self._events])
        else:
            ids = np.arange(1, last[-1] + 1)
            self._filled["job number: the place in the file"] += len(ids)
            if any(event.job is not None for event in self._events):
                columns["names"] = self._written(ids.tolist())
        before = Waiting(self._events, ids.tolist(), self._filled).predecessors()
        return columns | {"id": ids, "predecessors": before}

    def _written(self, ids: list[int]) -> tuple[str, ...]:
        """What the file calls the jobs: 1001, and 1001_7 if it is of an array; its place if it has no number."""
        found: list[str] = []
        for event in self._events:
            tasks = [task for some in array_tasks(event.values["array"]) for task in some] if event.tasks else []
            if event.job is None:
                found += map(str, ids[len(found) : len(found) + (event.tasks or 1)])
            else:
                found += [f"{event.job}_{task}" for task in tasks] or [str(event.job)]
        return tuple(found)


def _row(event: Event, known: Known) -> dict[str, Any]:
    values, asked = event.values, event.asked
    return {
        "submit": event.submit,
        "runtime": event.runtime,
        "limit": event.limit,
        "cancel": event.submit + event.cancel_in,
        "count": asked.count,
        "request": known.request(asked.request),
        "user": known.number("user", values.get("uid", "")),
        "group": known.number("group", values.get("account", "")),
        "queue": known.number("queue", values.get("qos", "")),
        "partition": known.number("partition", asked.request.partition or ""),
        "executable": known.number("executable", event.name),
    }

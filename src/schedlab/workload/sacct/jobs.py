"""Which records of an accounting dump become jobs, and what stands in for what they lack. `docs/formats/sacct.md`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.workload.options import ReadOptions
from schedlab.workload.sacct.columns import (
    JOB_EXPECTED,
    Floats,
    JobNumbers,
    Mask,
    Problems,
    Texts,
    read_times,
    text_at,
)
from schedlab.workload.sacct.fields import (
    CANCELLED,
    PENDING,
    RUNNING,
    UNKNOWN,
    parse_duration,
    parse_minutes,
    parse_seconds,
    parse_state,
)
from schedlab.workload.sacct.requests import Amounts, Requests, Wishes
from schedlab.workload.sacct.rows import Header
from schedlab.workload.sacct.submissions import Submissions
from schedlab.workload.stream import Columns, Known

LABELS = ("user", "group", "queue", "partition")
DURATIONS = {"elapsedraw": parse_seconds, "timelimitraw": parse_minutes}
HELD = (b"JobHeldUser", b"JobHeldAdmin")


class Counts(NamedTuple):
    """What is counted while reading, each by what it is."""

    dropped: Counter[str]
    filled: Counter[str]
    for_slurm: Counter[str]


class Jobs:
    """Turns blocks of records into columns of jobs, and counts what it drops and fills in."""

    def __init__(self, header: Header, options: ReadOptions, known: Known, counts: Counts) -> None:
        self._header, self._options, self._known = header, options, known
        self._dropped, self._filled = counts.dropped, counts.filled
        self._states = Texts(parse_state, 3)
        self._durations = {
            what: Texts(DURATIONS.get(header.name(what).casefold(), parse_duration))
            for what in ("elapsed", "suspended", "limit")
            if what in header.places
        }
        self._amounts = Amounts(header, options)
        self._requests = Requests(known, options, header, counts.filled, counts.for_slurm)
        self._submissions = Submissions(header, counts.filled, counts.for_slurm)

    def read(
        self, table: Any, numbers: JobNumbers, problems: Problems, renumber: Callable[..., Mask]
    ) -> tuple[Columns, NDArray[np.intp]]:
        """The jobs of records that are not steps, and the rows that they stand in.

        `problems` gets the bad ones. `renumber` makes job numbers unique, and says which records are to be kept.
        """
        problems.value(numbers.bad, self._header.name("id"), numbers.column, lambda _: JOB_EXPECTED)
        found: dict[str, Any] = {
            what: self._times(table, what, problems) for what in ("submit", "eligible", "start", "end")
        }
        states = self._states.read(self._column(table, "state"), self._header.name("state"), problems)
        found["status"], life, known_state = states.T
        found["limit"] = self._duration(table, "limit", problems)
        found["runtime"] = self._runtime(table, found, life == CANCELLED, problems)
        unstarted = np.isnan(found["start"]) & ("start" in self._header.places)
        found["never"] = ~(found["runtime"] > 0) & ((life == CANCELLED) | unstarted)
        asked = self._amounts.read(table, problems)
        kept = np.flatnonzero(self._chosen(found, life, asked.cpus, numbers.bundle, problems.bad))
        ids = numbers.number[kept]
        unique = renumber(ids, *(found[what][kept] for what in ("submit", "start", "end")))
        self._count(self._dropped, "the same record again", ~unique)
        ids, kept = ids[unique], kept[unique]
        if len(kept) < table.num_rows:
            table, asked = table.take(kept), asked.take(kept)
        self._fill("status: the state is not known, counts as failed", known_state[kept] == 0)
        self._fill("components of heterogeneous jobs scheduled on their own", numbers.component[kept])
        self._fill("processors: the other of requested and allocated", asked.other_cpus)
        found = {what: column[kept] for what, column in found.items()}
        jobs = {"id": ids, **self._labels(table)}
        before = self._submissions.before(table, ids, ~found["never"])
        if before is not None:
            jobs["before"] = before
        follows = np.zeros(len(ids), bool) if before is None else before.astype(bool)
        jobs |= self._moments(found, follows, self._held(table, found))
        columns = {what: self._column_if_any(table, what) for what in ("features", "partition", "licences")}
        wishes = Wishes(**columns, line=self._submissions.options(table), withdrawn=found["never"])
        others, lines = list(self._amounts.others), self._submissions.different
        jobs["count"], jobs["request"] = self._requests.read(asked, others, wishes, lines)
        self._fill("reservations: left out", self._told(table, "reservation"))
        return jobs, kept

    def dependencies(self) -> dict[int, str]:
        """What jobs wait for, in Slurm's words. For the end of a pass."""
        return self._submissions.told()

    def named(self) -> dict[tuple[int, int | None], list[int]]:
        """The ids of elements of arrays that others wait for. For the end of a pass."""
        return self._submissions.named()

    def _column_if_any(self, table: Any, what: str) -> Any:
        return self._column(table, what) if what in self._header.places else None

    def _told(self, table: Any, what: str, texts: tuple[bytes, ...] | None = None) -> Mask:
        """Which records have one of these texts in a column, or anything at all."""
        column = self._column_if_any(table, what)
        if column is None:
            return np.zeros(table.num_rows, bool)
        known = column.dictionary.to_pylist()
        wanted = [text.decode(errors="replace") not in UNKNOWN if texts is None else text in texts for text in known]
        found: Mask = np.array([*wanted, False], bool)[column.indices.to_numpy()]
        return found

    def _held(self, table: Any, found: dict[str, Any]) -> Mask:
        """Withdrawn before anybody could have started them."""
        unready = np.isnan(found["eligible"]) & ("eligible" in self._header.places)
        held: Mask = found["never"] & (unready | self._told(table, "reason", HELD))
        return held

    def _column(self, table: Any, what: str) -> Any:
        return table.column(what).combine_chunks()

    def _times(self, table: Any, what: str, problems: Problems) -> Floats:
        if what not in self._header.places:
            return np.full(table.num_rows, np.nan)
        return read_times(self._column(table, what), self._header.name(what), problems)

    def _duration(self, table: Any, what: str, problems: Problems) -> Floats:
        if what not in self._durations:
            return np.full(table.num_rows, np.nan)
        return self._durations[what].read(self._column(table, what), self._header.name(what), problems)

    def _runtime(self, table: Any, times: dict[str, Floats], cancelled: Mask, problems: Problems) -> Floats:
        """From start to end less the time suspended, or the time elapsed; adds the start or end that is not there."""
        elapsed = self._duration(table, "elapsed", problems)
        start, end = times["start"], times["end"]
        backwards = end < start
        names = ("End", "Start")
        if backwards.any():
            texts = [table.column(what) for what in ("end", "start")]

            def message(row: int) -> str:
                told = (f'{name} ("{text_at(text, row)}")' for name, text in zip(names, texts, strict=True))
                return " is before ".join(told)

            problems.note(backwards & ~cancelled, message)
        if "elapsed" not in self._header.places:
            suspended = np.nan_to_num(self._duration(table, "suspended", problems))
            return np.maximum(end - start - suspended, 0.0)
        if "start" not in self._header.places:
            times["start"] = end - elapsed
        if "end" not in self._header.places:
            times["end"] = start + elapsed
        return elapsed

    def _chosen(self, found: dict[str, Any], life: Floats, cpus: Floats, bundle: Mask, bad: Mask) -> Mask:
        """Which records become jobs. The first reason against it counts."""
        clean, largest = self._options.clean, self._options.max_procs
        reasons = {
            "bad row": bad,
            "still running when the dump was made": life == RUNNING,
            "still pending when the dump was made": life == PENDING,
            "elements of a job array that never started": bundle,
            "submit time unknown": np.isnan(found["submit"]),
            "processors unknown": np.isnan(cpus),
        }
        if clean == "strict" and largest:
            reasons["larger than the machine"] = cpus > largest
        if clean != "none":
            reasons["cancelled before it started"] = found["never"]
            reasons["run time 0 or unknown"] = ~(found["runtime"] > 0)
        else:
            reasons["cancelled before it started, nobody knows when"] = found["never"] & np.isnan(found["end"])
        if clean == "strict":
            reasons["requested time 0 or unknown"] = ~(found["limit"] > 0)
        chosen = np.ones(len(life), bool)
        for reason, which in reasons.items():
            self._count(self._dropped, reason, chosen & which)
            chosen &= ~which
        return chosen

    def _moments(self, found: dict[str, Any], follows: Mask, held: Mask) -> Columns:
        """Submit, wait, run time, limit, cancellation and status of jobs."""
        submit, never = found["submit"], found["never"]
        start = np.where(never, np.nan, found["start"])
        # What counts for a scheduler is when it may first consider a job. For a job that follows another one the
        # simulation finds that out.
        eligible = np.where(np.isnan(found["eligible"]), submit, found["eligible"])
        eligible = np.fmax(np.fmin(eligible, np.where(never, found["end"], start)), submit)
        eligible = np.where(held, np.fmax(found["end"], submit), eligible)
        moved = (eligible > submit) & ~follows
        self._fill("submit: when it became eligible (held, begin time, dependency)", moved)
        submit = np.where(moved, eligible, submit)
        self._fill("wait: 0, it started before it was submitted", start < submit)
        self._fill("run time: unknown counts as 0", np.isnan(found["runtime"]) & ~never)
        limit, runtime = self._limit(found["limit"], np.nan_to_num(found["runtime"]))
        return {
            "submit": submit,
            "wait": np.maximum(start - eligible, 0.0),
            "runtime": runtime,
            "limit": limit,
            "cancel": np.where(never, np.fmax(found["end"], submit), np.inf),
            "status": found["status"].astype(np.int8),
        }

    def _limit(self, limit: Floats, runtime: Floats) -> tuple[Floats, Floats]:
        missing, given = ~(limit > 0), self._options.missing_limit
        if isinstance(given, str):
            self._fill("limit: run time", missing & (runtime > 0))
            self._fill("limit: 0, run time unknown too", missing & ~(runtime > 0))
        else:
            self._fill("limit: given number", missing)
        limit = np.where(missing, runtime if isinstance(given, str) else float(given), limit)
        if self._options.clean == "strict":
            self._fill("run time: cut to the requested time", runtime > limit)
            runtime = np.minimum(runtime, limit)
        return limit, runtime

    def _labels(self, table: Any) -> Columns:
        found = {}
        for label in LABELS:
            if label in self._header.places:
                column = self._column(table, label)
                codes = column.indices.to_numpy()
                numbers = np.full(len(column.dictionary), -1, np.int32)
                texts = column.dictionary.to_pylist()
                first = np.full(len(texts), -1)
                first[codes[::-1]] = np.arange(len(codes))[::-1]  # of several rows the last to be written stays
                for code in np.argsort(first)[np.count_nonzero(first < 0) :].tolist():
                    numbers[code] = self._known.number(label, texts[code].decode(errors="replace"))
                found[label] = numbers[codes]
        return found

    def _fill(self, what: str, which: Mask) -> None:
        self._count(self._filled, what, which)

    def _count(self, counts: Counter[str], what: str, which: Mask) -> None:
        if number := int(np.count_nonzero(which)):
            counts[what] += number

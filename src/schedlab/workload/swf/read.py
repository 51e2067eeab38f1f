"""One pass over a log in the Standard Workload Format. `docs/swf.md` states the rules; the parser is native."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab import _core
from schedlab.files.bytestream import ByteStream
from schedlab.model.errors import InputError
from schedlab.model.request import Request
from schedlab.model.workload import ReadReport, Workload
from schedlab.workload.notes import ODD
from schedlab.workload.options import ReadOptions
from schedlab.workload.stream import Columns, Known, ReadAgain, stream
from schedlab.workload.swf.header import origin, parse_header

CHUNK = 1 << 14  # jobs


def looks_like(start: str, name: str) -> bool:
    """18 columns, of which the second and the fourth are times; there may be a line of titles above them."""
    rows = [line.strip() for line in start.splitlines() if line.strip() and line.lstrip()[0] != ";"]
    return any(_is_record(row) for row in rows[:2]) or (not rows and name.endswith(".swf"))


def _is_record(row: str) -> bool:
    fields = row.rstrip(",;").split(next((mark for mark in ",;" if mark in row), None))
    try:
        float(fields[1]), float(fields[3])
    except (IndexError, ValueError):
        return False
    return len(fields) == 18


def read_swf(path: Path, options: ReadOptions) -> Workload:
    """The jobs of a log in the Standard Workload Format."""
    log = SwfLog(path, options)
    return stream(path, log.scan, options, log.known, origin=origin)


@dataclass
class SwfReport(ReadReport):
    """Also: how many records lack each field, and how many stand below one that was submitted later."""

    unknown: dict[str, int] = field(default_factory=dict)
    out_of_order: int = 0


class SwfLog:
    """What all passes over a file share."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.path, self.options = path, options
        self.known = Known()
        self.amounts = _Amounts(self.known)
        self.named = False  # whether job ids are names

    def scan(self) -> SwfScan:
        return SwfScan(self)


class _Amounts:
    """The requests of jobs by the bytes that they ask for, for each processor."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._amounts, self._places = np.zeros(1, np.int64), np.zeros(1, np.int32)  # in order; 0 is one core

    def places(self, memory: NDArray[np.int64]) -> NDArray[np.int32]:
        at = self._at(memory)
        new = memory[self._amounts[at] != memory]
        if len(new):
            amounts = list(dict.fromkeys(new.tolist()))  # in the order in which they first occur
            places = [self._known.request(Request({"cores": 1, "memory": amount})) for amount in amounts]
            both = np.append(self._amounts, amounts)
            order = np.argsort(both)
            self._amounts, self._places = both[order], np.append(self._places, np.array(places, np.int32))[order]
            at = self._at(memory)
        return self._places[at]

    def _at(self, memory: NDArray[np.int64]) -> NDArray[np.intp]:
        return np.minimum(np.searchsorted(self._amounts, memory), len(self._amounts) - 1)


class SwfScan:
    """One pass over a file: chunks of jobs in its order. What else there is to know is complete when the pass is."""

    def __init__(self, log: SwfLog) -> None:
        options = log.options
        self.path = log.path
        self._log = log
        self._bytes = ByteStream(log.path, options.progress)
        self._parser = _core.SwfParser(
            clean=options.clean,
            procs=options.procs,
            missing_limit=-1.0 if isinstance(options.missing_limit, str) else float(options.missing_limit),
            drop_bad_rows=options.bad_rows == "drop",
            max_procs=options.max_procs,
            named=log.named,
            memory=options.full,
        )

    def __iter__(self) -> Iterator[Columns]:
        parser = self._parser
        for piece in self._bytes:
            if not parser.feed(piece):
                raise self._stopped()
            if parser.ready >= CHUNK:
                yield self._take()
        if not parser.finish():
            raise self._stopped()
        if parser.ready:
            yield self._take()

    @property
    def kept(self) -> int:
        return self._parser.kept

    @property
    def sha256(self) -> str:
        return self._bytes.sha256

    @property
    def header(self) -> dict[str, str]:
        return parse_header(self._parser.header)

    @property
    def report(self) -> SwfReport:
        parser = self._parser
        return SwfReport(
            records=parser.records,
            kept=parser.kept,
            dropped=parser.dropped,
            filled=parser.filled | {f"{field}: {ODD}": count for field, count in parser.odd.items()},
            bad_rows=[f"line {line}: {problem}" for line, problem in parser.bad_rows],
            unkept=parser.unkept,
            unknown=parser.unknown,
            out_of_order=parser.out_of_order,
        )

    def _take(self) -> Columns:
        self._log.named = self._parser.named
        columns: dict[str, Any] = self._parser.take()
        if self._log.named:
            columns["names"] = np.array(columns["names"], dtype=object)
        columns["request"] = self._requests(columns.pop("memory"))
        return columns

    def _requests(self, memory: NDArray[np.int64]) -> NDArray[np.int32]:
        """The requests of jobs that ask for so many bytes a processor."""
        if not self._log.options.full or not memory.any():
            return np.zeros(len(memory), np.int32)
        return self._log.amounts.places(memory)

    def _stopped(self) -> Exception:
        failure = self._parser.failure
        if failure is None:  # a job id is a name although those before were numbers
            self._log.named = True
            return ReadAgain()
        line, problem = failure
        hint = 'correct the line, or leave such records out: --bad-rows drop (bad_rows="drop")'
        if self._parser.records == 1 and not _is_about_a_number(problem):
            hint = (
                "is this an SWF log? It has one job a line: 18 numbers (job, submit time, wait, run time, …) separated "
                "by blanks, below header lines that begin with a semicolon"
            )
        return InputError(problem, where=f"{self.path}, line {line}", hint=hint)


def _is_about_a_number(problem: str) -> bool:
    """Whether a column has one, and it is none that could be: run time (column 4) is "1e15", expected seconds …"""
    try:
        float(problem.partition('"')[2].partition('"')[0])
    except ValueError:
        return False
    return "(column " in problem

"""One pass over a log in the Standard Workload Format. `docs/swf.md` states the rules; the parser is native."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab import _core
from schedlab.model.errors import InputError
from schedlab.model.suggest import did_you_mean
from schedlab.model.workload import ReadReport
from schedlab.workload.bytestream import ByteStream, Progress
from schedlab.workload.header import parse_header

CLEANINGS = {
    "pwa": "drop what did not run: run time, processors or submit time unknown or 0 (the archive's advice)",
    "strict": "the filter of Gaussier et al., SC'15: also drop jobs without a requested time or larger than the "
    "machine, and cut run times to the requested time",
    "none": "keep every record that has a submit time and processors, cancelled jobs too",
}
CHUNK = 1 << 16  # jobs

# Job columns by name (those of JobBatch but `request`), `memory` in bytes, and `names` where ids are names.
Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class SwfOptions:
    """How to read: what to drop, and what to put in the place of what is missing."""

    clean: str = "pwa"
    procs: str = "requested"  # or "allocated": which of the two counts first
    missing_limit: str | float = "runtime"  # or seconds: the limit of a job without a requested time
    bad_rows: str = "fail"  # or "drop"
    max_procs: int = 0  # machine size for clean="strict"; 0: do not check

    def __post_init__(self) -> None:
        _one_of("clean", self.clean, tuple(CLEANINGS))
        _one_of("procs", self.procs, ("requested", "allocated"))
        _one_of("bad_rows", self.bad_rows, ("fail", "drop"))
        limit = self.missing_limit
        if limit != "runtime" and not (isinstance(limit, int | float) and math.isfinite(limit) and limit > 0):
            raise InputError(f"missing_limit cannot be {limit!r}", hint='"runtime", or a number of seconds above 0')
        if self.max_procs < 0:
            raise InputError(
                f"max_procs cannot be {self.max_procs}", hint="the processors of the machine; 0: do not check"
            )

    def parser(self, *, named: bool) -> _core.SwfParser:
        return _core.SwfParser(
            clean=self.clean,
            procs=self.procs,
            missing_limit=-1.0 if isinstance(self.missing_limit, str) else float(self.missing_limit),
            drop_bad_rows=self.bad_rows == "drop",
            max_procs=self.max_procs,
            named=named,
        )


@dataclass
class SwfReport(ReadReport):
    """Also: how many records lack each field, and how many stand below one that was submitted later."""

    unknown: dict[str, int] = field(default_factory=dict)
    out_of_order: int = 0


class NamedIdsError(Exception):
    """A job id is a name although those before were numbers: read the file again with `named=True`."""


class SwfReader:
    """One pass over a file: chunks of jobs in its order. What else there is to know is complete when the pass is."""

    def __init__(
        self, path: Path, options: SwfOptions, *, named: bool = False, progress: Progress | None = None
    ) -> None:
        self.path = path
        self.named = named
        self._bytes = ByteStream(path, progress)
        self._parser = options.parser(named=named)

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
            filled=parser.filled,
            bad_rows=[f"line {line}: {problem}" for line, problem in parser.bad_rows],
            unknown=parser.unknown,
            out_of_order=parser.out_of_order,
        )

    def _take(self) -> Columns:
        self.named = self._parser.named
        columns: dict[str, Any] = self._parser.take()
        if self.named:
            columns["names"] = np.array(columns["names"], dtype=object)
        return columns

    def _stopped(self) -> Exception:
        failure = self._parser.failure
        if failure is None:
            return NamedIdsError()
        line, problem = failure
        hint = 'correct the line, or leave such records out: --bad-rows drop (bad_rows="drop")'
        if self._parser.records == 1:
            hint = (
                "is this an SWF log? It has one job a line: 18 numbers (job, submit time, wait, run time, …) separated "
                "by blanks, below header lines that begin with a semicolon"
            )
        return InputError(problem, where=f"{self.path}, line {line}", hint=hint)


def _one_of(option: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        hint = did_you_mean(str(value), known, f"one of {', '.join(known)}")
        raise InputError(f"{option} cannot be {value!r}", hint=hint)

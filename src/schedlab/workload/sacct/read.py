"""Read Slurm's accounting: what `sacct -P --format=…` prints. `docs/formats/sacct.md` states the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.files.bytestream import ByteStream
from schedlab.model.errors import InputError
from schedlab.model.workload import ReadReport, Workload
from schedlab.workload.options import ReadOptions
from schedlab.workload.sacct.blocks import Block, Blocks
from schedlab.workload.sacct.columns import SAMPLES, JobNumbers, Problems
from schedlab.workload.sacct.jobs import Counts, Jobs
from schedlab.workload.sacct.repeats import Repeats, Seen, mark_repeated
from schedlab.workload.sacct.rows import SACCT_COMMAND, Header, header_of, in_columns, without_header
from schedlab.workload.slurm.dependency import predecessors
from schedlab.workload.stream import Columns, Known, ReadAgain, stream

__all__ = ["SACCT_COMMAND", "looks_like", "read_sacct"]


def looks_like(start: str, name: str) -> bool:
    """Whether a text begins as what sacct prints: a header or, with some options, none, or columns of one width."""
    lines = [line.rstrip("\r") for line in start.lstrip("\ufeff \r\n").split("\n")[:2]]
    header = header_of(lines[0])
    return (header is not None and "id" in header.places) or without_header(lines[0]) or in_columns(lines)


def read_sacct(path: Path, options: ReadOptions) -> Workload:
    """The jobs of a Slurm accounting dump."""
    log = SacctLog(path, options)
    workload = stream(path, log.scan, options, log.known, settle=log.settle)
    workload.dependencies = log.dependencies
    return workload


class SacctLog:
    """What all passes over a file share."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.path, self.options = path, options
        self.known = Known()
        self.dependencies: dict[int, str] = {}
        self.elements: dict[tuple[int, int | None], list[int]] = {}  # of arrays that others wait for: their ids
        self.named = False  # whether ids have to be kept as they are written
        self.repeated: NDArray[np.int64] | None = None  # job numbers that occur again; None: not known yet

    def settle(self, columns: Columns) -> None:
        """A pass is over: whom dependencies name is known."""
        written = columns.get("before")
        if written is None:
            return
        before = np.full(len(written), None, object)
        for row in np.flatnonzero(written.astype(bool)).tolist():
            dependency, task, ran = written[row]
            before[row] = predecessors(dependency, self._ids_of, task=task, ran=ran)
        columns["before"] = before

    def _ids_of(self, job: int, task: int | None) -> Sequence[int]:
        """A job that is no array is looked for by its number when it is simulated."""
        return self.elements.get((job, task), [job] if task is None else [])

    def scan(self) -> SacctScan:
        return SacctScan(self)


class SacctScan:
    """One pass over a file. What else there is to know is complete when the pass is."""

    header: dict[str, str] = {}  # noqa: RUF012 - a dump has none

    def __init__(self, log: SacctLog) -> None:
        self._log = log
        self._bytes = ByteStream(log.path, log.options.progress)
        self._jobs: Jobs | None = None
        self._seen, self._again = Seen(), [np.empty(0, np.int64)]
        self._repeats = Repeats(np.empty(0, np.int64) if log.repeated is None else log.repeated)
        self._records, self._kept = 0, 0
        self._dropped: Counter[str] = Counter()
        self._filled: Counter[str] = Counter()
        self._for_slurm: Counter[str] = Counter()
        self._bad_rows: list[str] = []

    def __iter__(self) -> Iterator[Columns]:
        blocks = Blocks(self._bytes)
        for block in blocks:
            assert blocks.header is not None  # known with the first block
            if self._jobs is None:
                counts = Counts(self._dropped, self._filled, self._for_slurm)
                self._jobs = Jobs(blocks.header, self._log.options, self._log.known, counts)
                if blocks.header.assumed:
                    self._filled["header, which is not there: columns as in the command for sacct"] += 1
            columns = self._read(block, blocks.header, self._jobs)
            if len(columns["id"]):
                yield columns
        if self._log.repeated is None:
            self._log.repeated = np.unique(np.concatenate(self._again))
            if len(self._log.repeated):
                raise ReadAgain
        if self._jobs is not None:
            self._log.dependencies.update(self._jobs.dependencies())
            self._log.elements = self._jobs.named()

    @property
    def kept(self) -> int:
        return self._kept

    @property
    def sha256(self) -> str:
        return self._bytes.sha256

    @property
    def report(self) -> ReadReport:
        counts = {"dropped": self._dropped, "filled": self._filled, "for_slurm": self._for_slurm}
        ordered = {name: _ordered(some) for name, some in counts.items()}
        return ReadReport(self._records, self._kept, bad_rows=self._bad_rows, **ordered)

    def _read(self, block: Block, header: Header, rules: Jobs) -> Columns:
        table, rows = self._without_steps(block, header)
        numbers, names = self._numbers(table, header)
        problems = Problems(table.num_rows)
        jobs, kept = rules.read(table, numbers, problems, self._renumber)
        self._tell(block, rows, problems)
        if names is not None:
            jobs["names"] = np.array(names.take(kept).to_pylist(), dtype=object)
            mark_repeated(jobs["names"], jobs["id"])
        self._kept += len(kept)
        return jobs

    def _without_steps(self, block: Block, header: Header) -> tuple[Any, NDArray[np.intp]]:
        """Records of jobs and their rows in the block. Steps are counted; headers of further dumps are no records."""
        import pyarrow.compute as pc

        ids = block.table.column("id")
        steps = pc.match_substring(ids, ".").to_numpy(zero_copy_only=False)
        headers = pc.equal(ids, header.name("id")).to_numpy(zero_copy_only=False)
        self._records += len(ids) - int(headers.sum()) + len(block.bad_rows)
        if steps.any():
            self._dropped["step of a job, not a job of its own"] += int(steps.sum())
        if block.mended:
            self._filled["rows with | inside a field: put together"] += block.mended
        rows = np.flatnonzero(~(steps | headers))
        return (block.table if len(rows) == len(ids) else block.table.take(rows)), rows

    def _numbers(self, table: Any, header: Header) -> tuple[JobNumbers, Any]:
        """Job numbers; and, where they do not say it all, the ids as they are written."""
        numbers = JobNumbers(table.column("id").combine_chunks())
        if "shown" not in header.places:
            return numbers, None
        if header.places["shown"] != header.places["id"]:
            written = JobNumbers(table.column("shown").combine_chunks())
            numbers.bundle, numbers.component = written.bundle, written.component
            return numbers, None
        if not self._log.named and bool((numbers.element | numbers.component).any()):
            self._log.named = True
            raise ReadAgain
        return numbers, table.column("shown").combine_chunks() if self._log.named else None

    def _renumber(self, ids: NDArray[np.int64], *times: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Give records of jobs that occur again numbers of their own; which records to keep."""
        if self._log.repeated is None:
            self._again.append(self._seen.add(ids))
        return self._repeats.renumber(ids, *times)

    def _tell(self, block: Block, rows: NDArray[np.intp], problems: Problems) -> None:
        """Stop at the first bad row, or remember some."""
        found = block.bad_rows + [(block.line(int(rows[row])), said) for row, said in problems.messages.items()]
        if not found:
            return
        found.sort()
        if self._log.options.bad_rows == "fail":
            line, problem = found[0]
            hint = f'leave such rows out: --bad-rows drop (bad_rows="drop"), or make the dump with: {SACCT_COMMAND}'
            raise InputError(problem, where=f"{self._log.path}, line {line}", hint=hint)
        if block.bad_rows:
            self._dropped["bad row"] += len(block.bad_rows)
        room = SAMPLES - len(self._bad_rows)
        self._bad_rows += [f"line {line}: {problem}" for line, problem in found[:room]]


def _ordered(counts: Counter[str]) -> dict[str, int]:
    """The largest first, whatever came first in the file."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

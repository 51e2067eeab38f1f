"""One pass over a table: rows in, chunks of job columns out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.files.slurm_values import shown
from schedlab.model.errors import InputError
from schedlab.model.workload import LABELLED, ReadReport
from schedlab.workload.options import ReadOptions
from schedlab.workload.stream import Columns, Known, ReadAgain
from schedlab.workload.table.columns import Cells, features
from schedlab.workload.table.files import Chunk, TableFile
from schedlab.workload.table.mapping import Column, Mapping
from schedlab.workload.table.own import NAME, Noted
from schedlab.workload.table.predecessors import EXPECTED, from_text
from schedlab.workload.table.requests import intern, own_sizes, sizes
from schedlab.workload.table.rows import Seen, complete, drops, times

SAMPLES = 20  # of bad rows
TIMES = ("submit", "runtime", "limit", "wait", "cancel", "think")

Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]


class TableLog:
    """What all passes over a table share."""

    def __init__(self, path: Path, options: ReadOptions, table: TableFile, mapping: Mapping) -> None:
        self.path, self.options, self.table, self.mapping = path, options, table, mapping
        self.noted = Noted.read(table.metadata, path) if mapping.own else Noted()
        self.known = Known(single_core=False)
        self.noted.seed(self.known)
        self.named = False  # whether job ids are names
        self.features: list[frozenset[str]] = []
        self.partitions: list[str] = []

    def scan(self) -> TableScan:
        return TableScan(self)


class TableScan:
    """Chunks of jobs in the order of the table."""

    def __init__(self, log: TableLog) -> None:
        self._log, self._mapping, self._options = log, log.mapping, log.options
        self._report = ReadReport()
        self._seen = Seen()
        self._numbers: dict[str, int] = {}  # of jobs whose ids are names, if others may wait for them

    @property
    def kept(self) -> int:
        return self._report.kept

    @property
    def report(self) -> ReadReport:
        return self._report

    @property
    def header(self) -> dict[str, str]:
        return dict(self._log.noted.header)

    @property
    def sha256(self) -> str:
        return self._log.table.sha256

    def __iter__(self) -> Iterator[Columns]:
        for chunk in self._log.table.chunks(self._mapping.titles):
            with np.errstate(invalid="ignore", over="ignore"):  # what is not finite is noted as such
                jobs = self._jobs(chunk)
            if len(jobs["id"]):
                yield jobs

    def _jobs(self, chunk: Chunk) -> Columns:
        mapping, own, log = self._mapping, self._mapping.own, self._log
        cells = Cells(chunk, mapping.missing, str(log.path), trim=not own)
        rows = np.arange(chunk.rows) + self._report.records + 1
        self._report.records += chunk.rows + len(chunk.broken)
        found = times(cells, mapping)
        size = own_sizes(cells, mapping) if own else sizes(cells, mapping, memory=self._options.full)
        status = self._codes(cells, "status", _status(mapping.columns.get("status")))
        wanted = self._codes(cells, "features", self._feature_place)
        ids, names = self._ids(cells, rows)
        after, strangers = self._after(cells, ids, names)
        before = self._before(cells)
        numbers = {name: self._label_numbers(cells, name) for name in LABELLED if self._is_numbered(name)}
        if own:
            _check_own(cells, {name: getattr(found, name) for name in ("submit", "runtime", "limit")}, size.count)
            found.think = np.nan_to_num(found.think)
        keep = self._keep(chunk, cells, {} if own else drops(found, status, size.count, size.cores, self._options))
        if not own:
            complete(found, status, self._options)
        filled = found.filled | size.filled
        filled["status: not in the lists, counts as unknown"] = status == -2
        filled["features: alternatives cannot be asked for, left out"] = wanted == -2
        filled["preceding job: name not seen before, counts as none"] = strangers
        self._count(filled, keep)
        jobs: dict[str, Any] = {name: getattr(found, name)[keep] for name in TIMES}
        jobs |= {"id": ids[keep], "after": after[keep], "count": size.count[keep]}
        jobs["status"] = np.maximum(status, -1).astype(np.int8)[keep]
        jobs["request"] = intern(
            log.known, size, (np.maximum(wanted, -1), log.features), (self._partitions(cells), log.partitions), keep
        )
        for name in LABELLED:
            if name in numbers:
                jobs[name] = numbers[name][keep]
            elif name in mapping.columns:
                jobs[name] = cells.names(mapping.columns[name], _numbering(log.known, name), keep)
        if names is not None:
            jobs["names"] = names[keep]
        if before is not None:
            jobs["before"] = before[keep]
        return jobs

    def _keep(self, chunk: Chunk, cells: Cells, reasons: dict[str, Mask]) -> Rows:
        """The rows that become jobs; the others are counted, or the first bad one ends everything."""
        report, word = self._report, self._log.table.word
        bad = [(chunk.number(row), problem) for row, problem in sorted(cells.problems.items())[:SAMPLES]]
        bad = sorted([*chunk.broken, *bad])
        if bad and self._options.bad_rows == "fail":
            hint = 'correct it, or leave such rows out: --bad-rows drop (bad_rows="drop")'
            raise InputError(bad[0][1], where=f"{self._log.path}, {word} {bad[0][0]}", hint=hint)
        room = SAMPLES - len(report.bad_rows)
        report.bad_rows += [f"{word} {number}: {problem}" for number, problem in bad[:room]]
        left = np.ones(chunk.rows, bool)
        left[list(cells.problems)] = False
        counts = {"bad row": len(chunk.broken) + len(cells.problems)}
        for reason, these in reasons.items():
            counts[reason] = int(np.count_nonzero(left & these))
            left &= ~these
        _add(report.dropped, counts)
        keep = np.flatnonzero(left)
        report.kept += len(keep)
        return keep

    def _count(self, filled: dict[str, Mask], keep: Rows) -> None:
        _add(self._report.filled, {what: int(np.count_nonzero(these[keep])) for what, these in filled.items()})

    def _codes(self, cells: Cells, name: str, code: Callable[[str], float]) -> NDArray[np.int32]:
        """A number for each text; -1 where there is none."""
        column = self._mapping.columns.get(name)
        if column is None:
            return np.full(cells.rows, -1, np.int32)
        found = cells.codes(name, column, code)
        return np.where(np.isnan(found), -1, found).astype(np.int32)

    def _feature_place(self, text: str) -> float:
        """The place of these features in the log's list; -2 for what a request cannot say."""
        found = frozenset(text.split("&")) if self._mapping.own else features(text)
        return -2 if found is None else _place(self._log.features, found)

    def _partitions(self, cells: Cells) -> NDArray[np.int32]:
        return self._codes(cells, "request_partition", lambda name: _place(self._log.partitions, name))

    def _ids(self, cells: Cells, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.object_] | None]:
        """Job numbers, and names if the table has those."""
        columns, log = self._mapping.columns, self._log
        names = _texts(cells, columns["name"]) if "name" in columns else None
        column = columns.get("id")
        if column is None:
            return rows, names
        ids = None if log.named else cells.ids(column)
        if ids is None:
            if not log.named:
                log.named = True
                raise ReadAgain
            ids, names = rows, _texts(cells, column)
            missing = names == ""
        else:
            missing = ids < 0
            again = np.zeros(cells.rows, bool)
            again[~missing] = self._seen.repeated(ids[~missing])
            remedy = "a mapping without id numbers the rows"
            cells.note(again, lambda row: f"id ({column.shown}) {ids[row]} has occurred before; {remedy}")
        cells.note(missing, lambda _row: f"id ({column.shown}) is missing")
        return ids, names

    def _after(
        self, cells: Cells, ids: NDArray[np.int64], names: NDArray[np.object_] | None
    ) -> tuple[NDArray[np.int64], Mask]:
        """The jobs to wait for, and where such a job is not known."""
        column, nobody = self._mapping.columns.get("after"), np.full(cells.rows, -1, np.int64)
        if column is None:
            return nobody, np.zeros(cells.rows, bool)
        if not self._log.named or names is None:
            numbers = cells.ids(column)
            if numbers is not None:
                return numbers, np.zeros(cells.rows, bool)
            return nobody, _texts(cells, column) != ""
        self._numbers.update(zip(names.tolist(), ids.tolist(), strict=True))
        found = self._codes(cells, "after", lambda name: self._numbers.get(name, -2))
        return np.maximum(found, -1).astype(np.int64), found == -2

    def _before(self, cells: Cells) -> NDArray[np.object_] | None:
        """The predecessors of jobs, if the table has the column that schedlab writes."""
        column = self._mapping.columns.get("predecessors")
        if column is None:
            return None
        found, wrong = np.full(cells.rows, None, object), np.zeros(cells.rows, bool)
        texts = _texts(cells, column)
        for row in np.flatnonzero(texts != "").tolist():
            try:
                found[row] = from_text(texts[row])
            except ValueError:
                wrong[row] = True
        cells.note(wrong, lambda row: f"predecessors is {shown(texts[row])}, expected {EXPECTED}")
        return found

    def _is_numbered(self, name: str) -> bool:
        """Tables of schedlab have numbers in `user` and names in `user_name`; others have names."""
        column = self._mapping.columns.get(name)
        return self._mapping.own and column is not None and not column.column.endswith(NAME)

    def _label_numbers(self, cells: Cells, name: str) -> NDArray[np.int32]:
        values, _ = cells.amounts(name, self._mapping.columns[name], 2.0**31 - 1)
        return np.where((values >= 0) & (values < 2.0**31), values, -1).astype(np.int32)


def _status(column: Column | None) -> Callable[[str], float]:
    """The code of a word; -2 for one that nobody has explained."""
    words = {word.casefold(): code for word, code in column.words} if column else {}
    words = words or {str(code): code for code in range(6)}

    def code(text: str) -> float:
        folded = text.casefold()
        begin = folded.split()[0] if folded else ""  # "CANCELLED by 1000"
        return words.get(folded, words.get(begin, -2))

    return code


def _numbering(known: Known, column: str) -> Callable[[str], int]:
    return lambda name: known.number(column, name)


def _texts(cells: Cells, column: Column) -> NDArray[np.object_]:
    return np.array(cells.texts(column).fill_null("").to_pylist(), object)


def _check_own(cells: Cells, needed: dict[str, NDArray[np.float64]], count: NDArray[np.int64]) -> None:
    """What schedlab writes has no gaps."""
    for name, values in needed.items():
        cells.note(np.isnan(values), f"{name} is missing".format)
    cells.note(count < 1, lambda _row: "count is missing or 0")


def _add(counts: dict[str, int], more: dict[str, int]) -> None:
    for what, count in more.items():
        if count:
            counts[what] = counts.get(what, 0) + count


def _place(known: list[Any], one: Any) -> int:
    if one not in known:
        known.append(one)
    return known.index(one)

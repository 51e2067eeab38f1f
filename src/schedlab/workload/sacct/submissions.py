"""How jobs were submitted: options in the command line that no column tells, and the jobs to wait for."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.workload.notes import ABSENT
from schedlab.workload.sacct.columns import ELEMENT_BITS, ELEMENTS, REPEATED, JobNumbers, element_number
from schedlab.workload.sacct.requests import LINE_OPTIONS
from schedlab.workload.sacct.rows import Header
from schedlab.workload.slurm.dependency import (
    ARRAY_OR,
    DEPENDENCY_OPTION,
    FAILED_THERE,
    WHOLE_ARRAY_FAILS,
    Dependency,
    dependency_of_line,
    parse_dependency,
)
from schedlab.workload.slurm.sbatch import passed_on, split_options

_OPTION = rf"\s(?:--(?:{'|'.join(LINE_OPTIONS)})\b|-[Lwx])"
_ELEMENT = re.compile(r"(?<![0-9])[0-9]++_[0-9]++")
_FOLLOWED = "predecessors: from its dependency (simulate with dependencies=follow)"
_LOST = "dependencies: left out, singleton, expand or no number of a job"


class Written(NamedTuple):
    """What a job waits for, as it is written; its number in its array; whether it ran in the end."""

    dependency: Dependency
    task: int | None
    ran: bool


class Submissions:
    """Reads SubmitLine and Dependency, where a dump has them."""

    def __init__(self, header: Header, filled: Counter[str], for_slurm: Counter[str]) -> None:
        self._header, self._filled, self._for_slurm = header, filled, for_slurm
        # Where jobs have raw numbers, an element of an array has another one than its JobID says.
        self._raw = header.places["id"] != header.places.get("shown")
        self._elements: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []  # what JobID says, and raw numbers
        self._named: set[int] = set()  # jobs that others wait for
        self._if_arrays: list[tuple[str, int]] = []  # what is simpler than it was if these jobs are arrays
        self._told: dict[int, str] = {}  # job -> what Slurm can be told of its dependencies
        self._known: dict[tuple[tuple[str, str], ...], int] = {(): 0}

    @property
    def different(self) -> list[dict[str, str]]:
        """The options that have occurred."""
        return [dict(options) for options in self._known]

    def options(self, table: Any) -> NDArray[np.int64]:
        """The place, in `different`, of what the command line of each job asks for and no column tells."""
        found = np.zeros(table.num_rows, np.int64)
        for row, line in self._lines(table, _OPTION):
            try:
                values, unused = split_options(shlex.split(line)[1:])
            except ValueError:  # a quotation mark that is not closed, an option without its value
                continue
            said = values | passed_on(unused)
            options = tuple(sorted((name, value) for name, value in said.items() if name in LINE_OPTIONS))
            found[row] = self._known.setdefault(options, len(self._known))
        return found

    def before(self, table: Any, ids: NDArray[np.int64], ran: NDArray[np.bool_]) -> NDArray[np.object_] | None:
        """What jobs wait for, as written: whom that means is known when the pass is over. None: no column tells it."""
        if "dependency" not in self._header.places and "line" not in self._header.places:
            return None
        tasks = self._see_elements(table, ids)
        before = np.full(table.num_rows, None, object)
        for row, dependency in self._found(table):
            if dependency.told:
                self._told[int(ids[row])] = dependency.told
            self._count(self._filled, _LOST, dependency.lost)
            if dependency.waits:
                task = None if tasks is None or tasks[row] < 0 else int(tasks[row])
                before[row] = written = Written(dependency, task, bool(ran[row]))
                self._note_simpler(written)
                self._named.update(wait.job for wait in dependency.waits)
        self._count(self._for_slurm, _FOLLOWED, int(np.count_nonzero(before.astype(bool))))
        return before

    def named(self) -> dict[tuple[int, int | None], list[int]]:
        """The ids of the elements of arrays that dependencies name, one or all of them. For the end of a pass."""
        jobs = np.fromiter(self._named, np.int64)
        found: dict[tuple[int, int | None], list[int]] = {}
        for numbers, ids in self._elements:
            array, task = (numbers - ELEMENTS) >> ELEMENT_BITS, numbers & ((1 << ELEMENT_BITS) - 1)
            rows = np.flatnonzero(np.isin(array, jobs))
            for job, element, number in zip(array[rows].tolist(), task[rows].tolist(), ids[rows].tolist(), strict=True):
                if number < REPEATED or number >= ELEMENTS:  # of several attempts the first counts
                    found.setdefault((job, element), []).append(number)
                    found.setdefault((job, None), []).append(number)
        for what, job in self._if_arrays:
            self._count(self._for_slurm, what, int(len(found.get((job, None), ())) > 1))
        return found

    def _note_simpler(self, written: Written) -> None:
        """What Slurm is told and predecessors cannot say."""
        for wait in written.dependency.waits:
            fails = wait.kind == "afternotok"
            self._count(self._for_slurm, FAILED_THERE, int(fails and written.ran))
            if wait.task is None and fails and not written.ran:
                self._if_arrays.append((WHOLE_ARRAY_FAILS, wait.job))
            if wait.task is None and written.dependency.any:
                self._if_arrays.append((ARRAY_OR, wait.job))

    def told(self) -> dict[int, str]:
        """What Slurm can be told of the dependencies of jobs, in their numbers. For the end of a pass."""
        raw = self._raw_numbers() if self._raw else None
        found = {}
        for job, text in self._told.items():
            if "_" in text:
                text, lost = _in_numbers(text, raw)
                self._count(self._filled, ABSENT, lost)
            if text:
                found[job] = text
        return found

    def _see_elements(self, table: Any, ids: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """The numbers of jobs in their arrays, -1 for others; None if there are no arrays."""
        if "shown" not in self._header.places:
            return None
        written = JobNumbers(table.column("shown").combine_chunks())
        if not written.element.any():
            return None
        self._elements.append((written.number[written.element], ids[written.element]))
        return np.where(written.element, written.number & ((1 << ELEMENT_BITS) - 1), -1)

    def _raw_numbers(self) -> dict[int, int]:
        """Of the elements of arrays that dependencies name."""
        named = {_number(text) for told in self._told.values() for text in _ELEMENT.findall(told)}
        wanted = np.fromiter(named, np.int64, len(named))
        found: dict[int, int] = {}
        for numbers, ids in reversed(self._elements):  # of several attempts the first counts
            rows = np.flatnonzero(np.isin(numbers, wanted))[::-1]
            found |= dict(zip(numbers[rows].tolist(), ids[rows].tolist(), strict=True))
        return found

    def _count(self, counts: Counter[str], what: str, number: int) -> None:
        if number:
            counts[what] += number

    def _found(self, table: Any) -> list[tuple[int, Dependency]]:
        if "dependency" not in self._header.places:
            return [(row, dependency_of_line(line)) for row, line in self._lines(table, DEPENDENCY_OPTION)]
        column = table.column("dependency").combine_chunks()
        different = [parse_dependency(text.decode(errors="replace")) for text in column.dictionary.to_pylist()]
        codes = column.indices.to_numpy()
        telling = np.array([bool(dependency.told or dependency.lost) for dependency in different], bool)
        return [(row, different[codes[row]]) for row in np.flatnonzero(telling[codes]).tolist()]

    def _lines(self, table: Any, pattern: str) -> list[tuple[int, str]]:
        """The command lines that fit, with their rows."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if "line" not in self._header.places:
            return []
        column = table.column("line").combine_chunks()
        fits = pc.match_substring_regex(column, pattern)
        lines = [line.decode(errors="replace") for line in column.filter(fits).cast(pa.binary()).to_pylist()]
        return list(zip(np.flatnonzero(fits.to_numpy(zero_copy_only=False)).tolist(), lines, strict=True))


def _in_numbers(text: str, raw: Mapping[int, int] | None) -> tuple[str, int]:
    """Of `afterok:12_3:13`: each element of an array by its number; and how many are not among the raw ones."""
    separator, lost, conditions = "?" if "?" in text else ",", 0, []
    for condition in text.split(separator):
        kind, *jobs = condition.split(":")
        numbers = {job: _number(job) for job in jobs if _ELEMENT.fullmatch(job)}
        if raw is not None:
            numbers = {job: raw.get(number, -1) for job, number in numbers.items()}
        kept = [str(numbers.get(job, job)) for job in jobs if numbers.get(job) != -1]
        lost += len(jobs) - len(kept)
        if kept:
            conditions.append(":".join([kind, *kept]))
    return separator.join(conditions), lost


def _number(element: str) -> int:
    job, _, task = element.partition("_")
    number: int = element_number(int(job), int(task))
    return number

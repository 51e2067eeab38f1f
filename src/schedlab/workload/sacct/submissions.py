"""How jobs were submitted: options in the command line that no column tells, and the jobs to wait for."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.workload.notes import ABSENT
from schedlab.workload.sacct.columns import JobNumbers, element_number
from schedlab.workload.sacct.fields import DEPENDENCY_OPTION, Dependency, dependency_of_line, parse_dependency
from schedlab.workload.sacct.requests import LINE_OPTIONS
from schedlab.workload.sacct.rows import Header
from schedlab.workload.slurm.sbatch import passed_on, split_options

_OPTION = rf"\s(?:--(?:{'|'.join(LINE_OPTIONS)})\b|-[Lwx])"
_ELEMENT = re.compile(r"[0-9]+_[0-9]+")
_FOLLOWED = "preceding job: from its dependency (simulate with dependencies=follow)"
_FIRST_ONLY = "dependencies: only on the end of one job, others are not used"
_LOST = "dependencies: left out, singleton, expand or no number of a job"


class Submissions:
    """Reads SubmitLine and Dependency, where a dump has them."""

    def __init__(self, header: Header, filled: Counter[str], for_slurm: Counter[str]) -> None:
        self._header, self._filled, self._for_slurm = header, filled, for_slurm
        # Where jobs have raw numbers, an element of an array has another one than its JobID says.
        self._raw = header.places["id"] != header.places.get("shown")
        self._elements: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []  # what JobID says, and raw numbers
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

    def after(self, table: Any, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """The jobs to wait for: only the first of several can be represented."""
        after = np.full(table.num_rows, -1, np.int64)
        self._see_elements(table, ids)
        if found := self._found(table):
            rows = [row for row, _ in found]
            dependencies = [dependency for _, dependency in found]
            after[rows] = self._predecessors(dependencies)
            self._told |= {int(ids[row]): dependency.told for row, dependency in found if dependency.told}
            unused = sum(one.others + bool(one.job and after[row] < 0) for row, one in found)
            self._count(self._for_slurm, _FIRST_ONLY, unused)
            self._count(self._filled, _LOST, sum(one.lost for one in dependencies))
        self._count(self._for_slurm, _FOLLOWED, int(np.count_nonzero(after >= 0)))
        return after

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

    def _see_elements(self, table: Any, ids: NDArray[np.int64]) -> None:
        places = self._header.places
        if self._raw and "shown" in places and ("dependency" in places or "line" in places):
            written = JobNumbers(table.column("shown").combine_chunks())
            if written.element.any():
                self._elements.append((written.number[written.element], ids[written.element]))

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

    def _predecessors(self, dependencies: list[Dependency]) -> NDArray[np.int64]:
        """The numbers of jobs to wait for, -1 for none."""
        import pyarrow as pa

        named = JobNumbers(pa.array([dependency.job for dependency in dependencies]))
        return np.where(named.bad | (named.element & self._raw), -1, named.number)


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

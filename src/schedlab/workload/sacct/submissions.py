"""How jobs were submitted: options in the command line that no column tells, and the jobs to wait for."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.workload.sacct.columns import JobNumbers
from schedlab.workload.sacct.fields import DEPENDENCY_OPTION, Dependency, dependency_of_line, parse_dependency
from schedlab.workload.sacct.requests import LINE_OPTIONS
from schedlab.workload.sacct.rows import Header
from schedlab.workload.slurm.sbatch import passed_on, split_options

_OPTION = rf"\s(?:--(?:{'|'.join(LINE_OPTIONS)})\b|-[Lwx])"


class Submissions:
    """Reads SubmitLine and Dependency, where a dump has them. `dependencies` gets what Slurm can be told of them."""

    def __init__(self, header: Header, filled: Counter[str], dependencies: dict[int, str]) -> None:
        self._header, self._filled, self._dependencies = header, filled, dependencies
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
        if found := self._found(table):
            rows = [row for row, _ in found]
            after[rows], lost = self._predecessors([dependency for _, dependency in found])
            self._dependencies |= {int(ids[row]): dependency.told for row, dependency in found if dependency.told}
            if lost:
                self._filled["dependencies: left out, more than one, or not on the end of a job"] += lost
        if known := int(np.count_nonzero(after >= 0)):
            self._filled["preceding job: from its dependency (simulate with dependencies=follow)"] += known
        return after

    def _found(self, table: Any) -> list[tuple[int, Dependency]]:
        if "dependency" not in self._header.places:
            return [(row, dependency_of_line(line)) for row, line in self._lines(table, DEPENDENCY_OPTION)]
        column = table.column("dependency").combine_chunks()
        different = [parse_dependency(text.decode(errors="replace")) for text in column.dictionary.to_pylist()]
        codes = column.indices.to_numpy()
        telling = np.array([bool(dependency.job or dependency.others) for dependency in different], bool)
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

    def _predecessors(self, dependencies: list[Dependency]) -> tuple[NDArray[np.int64], int]:
        """The numbers of jobs to wait for, -1 for none; and how many conditions are lost."""
        import pyarrow as pa

        named = JobNumbers(pa.array([dependency.job for dependency in dependencies]))
        # Where jobs have raw numbers, that of an array's element is not known here.
        raw = self._header.places["id"] != self._header.places.get("shown")
        unknown = named.bad | named.bundle | (named.element & raw)
        lost = sum(one.others + bool(one.job and none) for one, none in zip(dependencies, unknown, strict=True))
        return np.where(unknown, -1, named.number), lost

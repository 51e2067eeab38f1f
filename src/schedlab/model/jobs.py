"""Jobs of runs that are read piece by piece: some of them, or all of them in another order than that of the table.

The table has them in the order in which they left, which is nearly that of the workload: what is near in one is near in
the other, and few pieces have to be looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.model.run import Tables

Columns = dict[str, NDArray[Any]]

AT_ONCE = 1 << 17  # jobs
_BINS = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class JobSet:
    """Some of the jobs of a workload: a mark for each place in it."""

    marks: NDArray[np.bool_]

    @classmethod
    def of(cls, sequences: Iterable[NDArray[Any]]) -> JobSet:
        """Those at these places, which come in pieces."""
        marks = np.zeros(0, bool)
        for places in sequences:
            most = int(places.max(initial=-1)) + 1
            if most > len(marks):
                marks = np.append(marks, np.zeros(max(most, 2 * len(marks)) - len(marks), bool))
            marks[places] = True
        return cls(marks)

    def __len__(self) -> int:
        return int(np.count_nonzero(self.marks))

    def has(self, sequences: NDArray[Any]) -> NDArray[np.bool_]:
        inside = sequences < len(self.marks)
        inside[inside] = self.marks[sequences[inside]]
        return np.asarray(inside)

    def __and__(self, other: JobSet) -> JobSet:
        both = min(len(self.marks), len(other.marks))
        return JobSet(self.marks[:both] & other.marks[:both])

    def places(self) -> Iterator[NDArray[np.int64]]:
        """In their order, piece by piece."""
        for first in range(0, len(self.marks), AT_ONCE):
            yield np.flatnonzero(self.marks[first : first + AT_ONCE]) + first


def jobs_at(tables: Tables, names: Sequence[str], sequences: NDArray[Any]) -> Columns:
    """Columns of the jobs at these places of the workload, in this order."""
    wanted, place = np.unique(sequences, return_inverse=True)
    if not len(wanted):
        return {name: np.empty(0) for name in names}
    found: Columns = {}
    within = {"sequence": (int(wanted[0]), int(wanted[-1]))}
    for batch in tables.batches(tuple(dict.fromkeys((*names, "sequence"))), "jobs", within):
        at = np.minimum(np.searchsorted(wanted, batch["sequence"]), len(wanted) - 1)
        here = wanted[at] == batch["sequence"]
        for name in names:
            found.setdefault(name, np.empty(len(wanted), batch[name].dtype))[at[here]] = batch[name][here]
    return {name: values[place] for name, values in found.items()}


def in_order(
    runs: Sequence[Tables],
    names: Sequence[str],
    by: str = "sequence",
    *,
    table: str = "jobs",
    at_once: int | None = None,
) -> Iterator[list[Columns]]:
    """Jobs (rows of another table) in the order of `by`, whole numbers, about so many at once: of each run those with
    numbers in one range. Equal ones stay in the order of the table."""
    for least, most in _ranges(runs, by, table, at_once or AT_ONCE):
        yield [rows_between(tables, names, by, least, most, table) for tables in runs]


def rows_between(tables: Tables, names: Sequence[str], by: str, least: int, most: int, table: str = "jobs") -> Columns:
    """Those with numbers in a range, in their order."""
    pieces: list[Columns] = []
    for batch in tables.batches(tuple(dict.fromkeys((*names, by))), table, {by: (least, most)}):
        inside = (batch[by] >= least) & (batch[by] <= most)
        if inside.any():
            pieces.append({name: values[inside] for name, values in batch.items()})
    if not pieces:
        return {name: np.empty(0) for name in (*names, by)}
    found = {name: np.concatenate([piece.pop(name) for piece in pieces]) for name in list(pieces[0])}
    order = np.argsort(found[by], kind="stable")
    for name, values in found.items():
        found[name] = values[order]
    return found


def _ranges(runs: Sequence[Tables], by: str, table: str, at_once: int) -> Iterator[tuple[int, int]]:
    """The least and the greatest number of each; more than so many jobs have one only if it is the same for all."""
    jobs, least, most = 0, 0, 0
    for tables in runs:
        for batch in tables.batches((by,), table):
            if len(numbers := batch[by]):
                low, high = int(numbers.min()), int(numbers.max())
                least, most = (min(least, low), max(most, high)) if jobs else (low, high)
                jobs += len(numbers)
    if jobs > at_once:
        yield from _cut(runs, by, table, least, most, at_once)
    elif jobs:
        yield least, most


def _cut(runs: Sequence[Tables], by: str, table: str, least: int, most: int, at_once: int) -> Iterator[tuple[int, int]]:
    """By counting how many there are in each of some steps; steps with too many are cut in turn."""
    width = -(-(most - least + 1) // _BINS)
    counts = np.zeros(_BINS, np.int64)
    for tables in runs:
        for batch in tables.batches((by,), table, {by: (least, most)}):
            numbers = batch[by][(batch[by] >= least) & (batch[by] <= most)].astype(np.int64).view(np.uint64)
            steps = (numbers - np.uint64(least % 2**64)) // np.uint64(width)  # modulo 2^64, in which it is right
            counts += np.bincount(steps.view(np.int64), minlength=_BINS)
    upto = np.concatenate([[0], np.cumsum(counts)])
    first = 0
    while first < _BINS and upto[first] < upto[-1]:
        last = int(np.searchsorted(upto, upto[first] + at_once, side="right")) - 1
        begin = least + first * width
        if last > first:
            if upto[last] > upto[first]:
                yield begin, min(least + last * width - 1, most)
        else:  # one step alone has too many
            last, end = first + 1, min(begin + width - 1, most)
            yield from [(begin, end)] if width == 1 else _cut(runs, by, table, begin, end, at_once)
        first = last


def without_gaps(tables: Tables) -> bool:
    """Whether the jobs, which are all different, are those at the places from 0 on."""
    jobs, least, most = 0, 0, -1
    for batch in tables.batches(("sequence",), "jobs"):
        jobs += len(batch["sequence"])
        least = min(least, int(batch["sequence"].min(initial=0)))
        most = max(most, int(batch["sequence"].max(initial=-1)))
    return least == 0 and most == jobs - 1


def rows_of_jobs(tables: Tables, sequences: NDArray[Any]) -> NDArray[np.int64]:
    """Which rows jobs have, in the order of the workload: in a run that broke off some may be missing."""
    if without_gaps(tables):
        return np.asarray(sequences, np.int64)
    return np.searchsorted(np.sort(tables.column("sequence")), sequences)


def jobs_of_rows(tables: Tables, rows: NDArray[Any]) -> NDArray[np.int64]:
    """And back."""
    if without_gaps(tables):
        return np.asarray(rows, np.int64)
    return np.asarray(np.sort(tables.column("sequence"))[rows], np.int64)


def in_pieces(tables: Tables, sequences: NDArray[Any]) -> NDArray[np.bool_]:
    """Which of the jobs at these places of the workload, all different, did not simply run from start to end."""
    found, order = np.zeros(len(sequences), bool), None
    if not len(sequences):
        return found
    within = {"sequence": (int(sequences.min()), int(sequences.max()))}
    for batch in tables.batches(("sequence",), "pieces", within):
        if order is None:
            order = np.argsort(sequences)
        at = np.minimum(np.searchsorted(sequences, batch["sequence"], sorter=order), len(order) - 1)
        found[order[at]] |= sequences[order[at]] == batch["sequence"]
    return found


def interrupted(tables: Tables) -> int:
    """How many jobs have more than one stretch."""
    pieces = in_order([tables], ("job",), "job", table="pieces")
    return sum(int((np.unique(own["job"], return_counts=True)[1] > 1).sum()) for (own,) in pieces)


def has_column(tables: Tables, name: str) -> bool:
    """Whether jobs have a column that not those of all runs have."""
    try:
        next(tables.batches((name,), "jobs"), None)
    except KeyError:
        return False
    return True


def name_column(tables: Tables) -> str:
    """Which column has what the log calls its jobs: where ids are numbers, there are no names."""
    return "name" if has_column(tables, "name") else "job"


def names_of(tables: Tables, numbers: NDArray[Any]) -> dict[int, str]:
    """What the log calls the jobs of these numbers."""
    if (name := name_column(tables)) == "job" or not len(numbers):
        return {number: str(number) for number in numbers.tolist()}
    found: dict[int, str] = {}
    for batch in tables.batches(("job", name), "jobs", {"job": (int(numbers.min()), int(numbers.max()))}):
        here = np.isin(batch["job"], numbers)
        found |= zip(batch["job"][here].tolist(), map(str, batch[name][here].tolist()), strict=True)
    return found


def job_names(tables: Tables, rows: NDArray[Any] | None = None) -> list[str]:
    """Jobs of these rows (all of them, if none are named) as their log writes them."""
    try:
        found = _picked(tables, "name", rows)
    except KeyError:  # their ids are numbers
        found = _picked(tables, "job", rows)
    return [str(name) for name in found]


def _picked(tables: Tables, column: str, rows: NDArray[Any] | None) -> list[Any]:
    if rows is None:
        return list(tables.column(column).tolist())
    order, begin = np.argsort(rows, kind="stable"), 0
    ordered, found = rows[order], np.empty(len(rows), object)
    for batch in tables.batches((column,), "jobs"):
        end = begin + len(batch[column])
        here = slice(*np.searchsorted(ordered, (begin, end)))
        found[order[here]] = np.asarray(batch[column], object)[ordered[here] - begin]
        begin = end
    return list(found.tolist())

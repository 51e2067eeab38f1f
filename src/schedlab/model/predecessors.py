"""Whom jobs have to wait for: any number of other jobs each, with conditions and delays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from schedlab.model.arguments import shown
from schedlab.model.errors import InputError
from schedlab.model.job_columns import as_column, lists_of

ENDED, COMPLETED, NOT_COMPLETED, STARTED = range(4)
CONDITIONS = ("ended", "completed", "not completed", "started")  # the core's codes are positions here


class HasId(Protocol):
    """A job, as policies and observers know it."""

    @property
    def id(self) -> int: ...


class Predecessor(NamedTuple):
    """Another job, what has to become of it, and how many seconds after that this one may be eligible.

    The job is named by its id; where a job is submitted during a run, it may be the job itself. The condition is one of
    CONDITIONS, or its position there.
    """

    job: Any
    condition: int | str = ENDED
    delay: float = 0.0


def _code(predecessor: Predecessor) -> int:
    condition = predecessor.condition
    if isinstance(condition, int) and 0 <= condition < len(CONDITIONS):
        return condition
    if isinstance(condition, str) and condition in CONDITIONS:
        return CONDITIONS.index(condition)
    expected = ", ".join(CONDITIONS)
    raise InputError(
        f"a predecessor (job {_id(predecessor.job)}) has the condition {shown(condition)}, expected {expected}"
    )


def _id(job: Any) -> int:
    try:
        found = job.__index__() if isinstance(job, SupportsIndex) else job.id
        if -(2**63) <= found < 2**63:
            return int(found)
    except (TypeError, AttributeError):
        pass  # it is told below
    raise InputError(f"a predecessor is {shown(job)}, expected the id of a job", hint="predecessors=[[], [1]]")


def plain(given: Iterable[Predecessor | SupportsIndex | HasId]) -> list[tuple[int, int, float]]:
    """Id, code of the condition and delay of each; a job or a number alone has to have ended."""
    found = [one if isinstance(one, Predecessor) else Predecessor(one) for one in given]
    return [(_id(one.job), _code(one), _delay(one)) for one in found]


def _delay(predecessor: Predecessor) -> float:
    try:
        return float(predecessor.delay)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"a predecessor (job {_id(predecessor.job)}) has the delay {shown(predecessor.delay)}, expected seconds"
        ) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Predecessors:
    """The predecessors of the jobs of a batch: those of job i are from `end[i - 1]` to `end[i]`.

    `any` says of each job whether one of them suffices; otherwise it waits for all.
    """

    end: NDArray[np.int64]
    job: NDArray[np.int64]  # its id
    condition: NDArray[np.uint8]  # position in CONDITIONS
    delay: NDArray[np.float64]
    any: NDArray[np.uint8]

    @classmethod
    def of(
        cls, lists: Sequence[Iterable[Predecessor | SupportsIndex]], any: Sequence[bool] | None = None
    ) -> Predecessors:
        """From a list for each job; a number alone is a job that has to have ended."""
        found = [plain(some) for some in lists_of(lists, "predecessors", object, "predecessors=[[], [1], [1, 2]]")]
        flat = [predecessor for some in found for predecessor in some]
        return cls(
            end=np.cumsum([len(some) for some in found], dtype=np.int64),
            job=np.array([job for job, _, _ in flat], np.int64),
            condition=np.array([condition for _, condition, _ in flat], np.uint8),
            delay=np.array([delay for _, _, delay in flat], np.float64),
            any=as_column("any", [False] * len(found) if any is None else any, np.uint8),
        )

    @classmethod
    def single(cls, after: NDArray[np.int64], think: NDArray[np.float64] | None = None) -> Predecessors | None:
        """At most one for each job, which has to have ended: its id (-1: none) and a think time. None: nobody has."""
        have = after >= 0
        number = int(np.count_nonzero(have))
        if not number:
            return None
        return cls(
            end=np.cumsum(have, dtype=np.int64),
            job=np.ascontiguousarray(after[have], np.int64),
            condition=np.zeros(number, np.uint8),
            delay=np.zeros(number) if think is None else np.ascontiguousarray(think[have], np.float64),
            any=np.zeros(len(after), np.uint8),
        )

    @classmethod
    def none(cls, jobs: int) -> Predecessors:
        empty = np.zeros(0)
        return cls(
            end=np.zeros(jobs, np.int64),
            job=empty.astype(np.int64),
            condition=empty.astype(np.uint8),
            delay=empty,
            any=np.zeros(jobs, np.uint8),
        )

    @classmethod
    def joined(cls, parts: Sequence[tuple[Predecessors | None, int]]) -> Predecessors | None:
        """Of batches in a row, each with its number of jobs. None: nobody has any."""
        if all(part is None for part, _ in parts):
            return None
        found = [cls.none(jobs) if part is None else part for part, jobs in parts]
        before = np.cumsum([0, *(len(part.job) for part in found[:-1])])
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in found])
            for name in ("job", "condition", "delay", "any")
        }
        return cls(end=np.concatenate([part.end + shift for part, shift in zip(found, before, strict=True)]), **columns)

    @property
    def number(self) -> NDArray[np.int64]:
        """How many each job has."""
        return np.diff(self.end, prepend=0)

    @property
    def row(self) -> NDArray[np.intp]:
        """Of each predecessor: the row of the job that waits for it."""
        return np.repeat(np.arange(len(self.end)), self.number)

    @property
    def first(self) -> NDArray[np.int64]:
        """The id of each job's first one; -1 if it has none."""
        begin = self.end - self.number
        return np.where(self.number > 0, np.append(self.job, -1)[np.minimum(begin, len(self.job))], -1)

    @property
    def plain(self) -> bool:
        """Whether nobody has more than one, and it only has to have ended: what `after` and `think` can say."""
        return not (self.condition.any() or (self.number > 1).any())

    def lists(self) -> list[list[Predecessor]]:
        flat = list(map(Predecessor, self.job.tolist(), self.condition.tolist(), self.delay.tolist()))
        ends = self.end.tolist()
        return [flat[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]

    def take(self, rows: NDArray[np.intp]) -> Predecessors | None:
        """Of these jobs, in this order. None: they have none."""
        number, begin = self.number[rows], (self.end - self.number)[rows]
        end = np.cumsum(number, dtype=np.int64)
        if not len(end) or not end[-1]:
            return None
        which = np.arange(end[-1]) + np.repeat(begin - (end - number), number)
        return Predecessors(
            end=end, job=self.job[which], condition=self.condition[which], delay=self.delay[which], any=self.any[rows]
        )

    def where(self, kept: NDArray[np.bool_]) -> Predecessors | None:
        """The same jobs without the others of their predecessors. None: nobody has any left."""
        if not kept.any():
            return None
        number = np.bincount(self.row[kept], minlength=len(self.end))
        columns: dict[str, Any] = {name: getattr(self, name)[kept] for name in ("job", "condition", "delay")}
        return replace(self, end=np.cumsum(number, dtype=np.int64), **columns)

    def columns(self) -> dict[str, NDArray[Any]]:
        """As the core takes them."""
        return {f"before_{name}": getattr(self, name) for name in ("end", "job", "condition", "delay", "any")}

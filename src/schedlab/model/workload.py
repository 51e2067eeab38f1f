"""A workload: jobs in submit order, delivered in batches of columns so that a log never has to fit in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.model.arguments import shown
from schedlab.model.attachments import Attachments
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.job_columns import JOB_COLUMNS, LABELLED, as_column, as_tuple, lists_of, refuse_unequal
from schedlab.model.predecessors import CONDITIONS, Predecessors
from schedlab.model.request import SINGLE_CORE, Request
from schedlab.model.suggest import did_you_mean

if TYPE_CHECKING:
    import polars as pl

    from schedlab.model.workflow_record import WorkflowRecord

__all__ = ["JOB_COLUMNS", "LABELLED", "JobBatch", "Phase", "Ranks", "ReadReport", "Shape", "Shapes", "Workload"]

LONGEST = 1e12  # seconds, 30,000 years: as in logs


@dataclass(frozen=True, slots=True, kw_only=True)
class Shapes:
    """The other shapes that jobs of a batch may have: those of job i are from `end[i - 1]` to `end[i]`.

    A job's own columns are its first shape. `malleable` jobs may change while they run, every `interval` seconds (0: at
    any time).
    """

    end: NDArray[np.int64]
    count: NDArray[np.int64]
    request: NDArray[np.int32]
    runtime: NDArray[np.float64]
    limit: NDArray[np.float64]
    malleable: NDArray[np.uint8]
    interval: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        shapes: Sequence[Sequence[Shape]],
        malleable: Sequence[bool] | None = None,
        interval: Sequence[float] | None = None,
    ) -> Shapes:
        """From a list of shapes for each job."""
        given = lists_of(shapes, "shapes", Shape, "shapes=[[Shape(count=8, runtime=60)], []]")
        flat = [shape for some in given for shape in some]
        limits = [shape.runtime if shape.limit is None else shape.limit for shape in flat]
        return cls(
            end=np.cumsum([len(some) for some in given], dtype=np.int64),
            count=as_column("count of shapes", [shape.count for shape in flat], np.int64),
            request=as_column("request of shapes", [shape.request for shape in flat], np.int32),
            runtime=as_column("runtime of shapes", [shape.runtime for shape in flat], np.float64),
            limit=as_column("limit of shapes", limits, np.float64),
            malleable=as_column("malleable", [False] * len(given) if malleable is None else malleable, np.uint8),
            interval=as_column("interval", [0.0] * len(given) if interval is None else interval, np.float64),
        )

    def take(self, rows: NDArray[np.intp]) -> Shapes:
        begin = np.concatenate([[0], self.end[:-1]])
        picked = [np.arange(begin[row], self.end[row]) for row in rows]
        which = np.concatenate([*picked, np.empty(0, np.int64)]).astype(np.int64)
        return Shapes(
            end=np.cumsum([len(some) for some in picked], dtype=np.int64),
            count=self.count[which],
            request=self.request[which],
            runtime=self.runtime[which],
            limit=self.limit[which],
            malleable=self.malleable[rows],
            interval=self.interval[rows],
        )

    @classmethod
    def joined(cls, parts: Sequence[tuple[Shapes | None, int]]) -> Shapes | None:
        """Of batches in a row, each with its number of jobs. None: all jobs are rigid."""
        if all(part is None for part, _ in parts):
            return None
        found = [cls.of([()] * jobs) if part is None else part for part, jobs in parts]
        before = np.cumsum([0, *(len(part.count) for part in found[:-1])])
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in found])
            for name in ("count", "request", "runtime", "limit", "malleable", "interval")
        }
        return cls(end=np.concatenate([part.end + shift for part, shift in zip(found, before, strict=True)]), **columns)

    def columns(self) -> dict[str, NDArray[Any]]:
        """As the core takes them."""
        own: dict[str, NDArray[Any]] = {"malleable": self.malleable, "interval": self.interval}
        return own | {f"shape_{name}": getattr(self, name) for name in ("end", "count", "request", "runtime", "limit")}


@dataclass(frozen=True, slots=True)
class Shape:
    """Another way to run a job: so many chunks, and how long that takes; the limit is the runtime if not given."""

    count: int
    runtime: float
    limit: float | None = None
    request: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranks:
    """As what jobs are ranked in queues, where not as themselves: a job of so many cores and such a limit, eligible
    since it was submitted. The tasks of a workflow are ranked as the workflow is."""

    cores: NDArray[np.int64]  # 0: as themselves
    limit: NDArray[np.float64]

    def take(self, rows: NDArray[np.intp]) -> Ranks | None:
        taken = Ranks(cores=self.cores[rows], limit=self.limit[rows])
        return taken if taken.cores.any() else None

    @classmethod
    def joined(cls, parts: Sequence[tuple[Ranks | None, int]]) -> Ranks | None:
        """Of batches in a row, each with its number of jobs. None: all are ranked as themselves."""
        if all(part is None for part, _ in parts):
            return None
        found = [
            cls(cores=np.zeros(jobs, np.int64), limit=np.zeros(jobs)) if part is None else part for part, jobs in parts
        ]
        return cls(
            cores=np.concatenate([one.cores for one in found]), limit=np.concatenate([one.limit for one in found])
        )

    def columns(self) -> dict[str, NDArray[Any]]:
        """As the core takes them."""
        return {"rank_cores": self.cores, "rank_limit": self.limit}


@dataclass(frozen=True, slots=True, kw_only=True)
class JobBatch:
    """Some jobs as columns of equal length. `request` points into the workload's `requests`."""

    id: NDArray[np.int64]
    submit: NDArray[np.float64]
    runtime: NDArray[np.float64]
    limit: NDArray[np.float64]
    count: NDArray[np.int64]
    request: NDArray[np.int32]
    user: NDArray[np.int32]
    group: NDArray[np.int32]
    queue: NDArray[np.int32]
    partition: NDArray[np.int32]
    executable: NDArray[np.int32]
    status: NDArray[np.int8]
    wait: NDArray[np.float64]
    cancel: NDArray[np.float64]
    names: tuple[str, ...] | None = None  # the ids as written, where they are not numbers
    shapes: Shapes | None = None  # of jobs that are not rigid
    predecessors: Predecessors | None = None  # whom jobs have to wait for; None: nobody for anybody
    attachments: tuple[Attachments | None, ...] | None = None  # what jobs carry along (`job.attachments`)
    ranks: Ranks | None = None  # as what they are ranked in queues; None: all as themselves

    def __len__(self) -> int:
        return len(self.id)

    @classmethod
    def of(
        cls,
        *,
        names: tuple[str, ...] | None = None,
        shapes: Shapes | None = None,
        predecessors: Predecessors | None = None,
        attachments: Sequence[Attachments | None] | None = None,
        ranks: Ranks | None = None,
        **columns: Any,
    ) -> JobBatch:
        """A batch from whatever columns there are; the others get their "unknown" value, `id` counts from 1.

        `after` (ids, -1 for none) and `think` (seconds) are a short way to say predecessors: one, which has to end.
        """
        after, think = (columns.pop(name, None) for name in ("after", "think"))
        if after is not None and predecessors is None:
            delay = None if think is None else as_column("think", think, np.float64)
            predecessors = Predecessors.single(as_column("after", after, np.int64), delay)
        for name in columns.keys() - JOB_COLUMNS.keys():
            raise InputError(
                f"jobs have no column '{name}'",
                hint=did_you_mean(name, JOB_COLUMNS, f"they have {', '.join(JOB_COLUMNS)}"),
            )
        known = {name: as_column(name, given, JOB_COLUMNS[name][0]) for name, given in columns.items()}
        refuse_unequal(known)
        length = len(next(iter(known.values()), ()))
        full = {
            name: known[name] if name in known else np.full(length, unknown, dtype)
            for name, (dtype, unknown) in JOB_COLUMNS.items()
        }
        if "id" not in known:
            full["id"] = np.arange(1, length + 1)
        if "limit" not in known:
            full["limit"] = full["runtime"]
        carried = None if attachments is None else as_tuple("attachments", attachments, length, dict | None)
        names = None if names is None else as_tuple("names", names, length, str)
        if not isinstance(ranks, Ranks | None):
            raise InputError(f"ranks is {shown(ranks)}, expected Ranks")
        return cls(names=names, shapes=shapes, attachments=carried, predecessors=predecessors, ranks=ranks, **full)

    @classmethod
    def joined(cls, batches: Sequence[JobBatch]) -> JobBatch:
        """Batches in a row as one. Where only some have names, the others' are their numbers."""
        if len(batches) == 1:
            return batches[0]
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(batch, name) for batch in batches]) for name in JOB_COLUMNS
        }
        names = carried = None
        if any(batch.names is not None for batch in batches):
            names = tuple(name for batch in batches for name in batch.names or map(str, batch.id.tolist()))
        if any(batch.attachments is not None for batch in batches):
            carried = tuple(one for batch in batches for one in batch.attachments or [None] * len(batch))
        return cls(
            names=names,
            attachments=carried,
            shapes=Shapes.joined([(batch.shapes, len(batch)) for batch in batches]),
            predecessors=Predecessors.joined([(batch.predecessors, len(batch)) for batch in batches]),
            ranks=Ranks.joined([(batch.ranks, len(batch)) for batch in batches]),
            **columns,
        )

    def take(self, rows: NDArray[np.intp]) -> JobBatch:
        """These rows, in this order."""
        columns: dict[str, Any] = {name: column[rows] for name, column in self.columns().items()}
        names = None if self.names is None else tuple(self.names[row] for row in rows)
        shapes = None if self.shapes is None else self.shapes.take(rows)
        before = None if self.predecessors is None else self.predecessors.take(rows)
        carried = None if self.attachments is None else tuple(self.attachments[row] for row in rows)
        ranks = None if self.ranks is None else self.ranks.take(rows)
        return JobBatch(names=names, shapes=shapes, predecessors=before, attachments=carried, ranks=ranks, **columns)

    def columns(self) -> dict[str, NDArray[Any]]:
        return {name: getattr(self, name) for name in JOB_COLUMNS}

    @property
    def dependent(self) -> NDArray[np.bool_]:
        """Which jobs have predecessors."""
        return np.zeros(len(self), bool) if self.predecessors is None else self.predecessors.number > 0


@dataclass
class ReadReport:
    """What reading a log met: records seen and kept, what was dropped or filled in and why, samples of bad rows.

    `unkept` says what records tell that a workload has no place for, and how many do; `for_slurm` what was made simpler
    for everybody but the real Slurm, which is told as it is written.
    """

    records: int = 0
    kept: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    filled: dict[str, int] = field(default_factory=dict)
    bad_rows: list[str] = field(default_factory=list)
    unkept: dict[str, int] = field(default_factory=dict)
    for_slurm: dict[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {name: copy(getattr(self, name)) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of a workload with a purpose of its own (fill, stabilisation, experiment, drain), by submit time."""

    name: str
    begin: float
    end: float


@dataclass
class Workload:
    """Jobs sorted by submit time, ties by job number. `batches()` may be called again for another run over them.

    `requests`, `labels` and `report` are complete once a pass over the batches is. Numbers in the columns of `LABELLED`
    are places in `labels`, where the file has names: Slurm's accounts are groups, its QOS are queues.
    """

    name: str
    source: Callable[[], Iterator[JobBatch]]
    requests: list[Request] = field(default_factory=lambda: [SINGLE_CORE])
    origin: datetime | None = None  # UTC time of second 0
    header: dict[str, str] = field(default_factory=dict)
    report: ReadReport = field(default_factory=ReadReport)
    content_hash: str = ""  # sha256 of the file it came from
    flexible: bool = False  # whether some of its jobs may have several shapes
    labels: dict[str, list[str]] = field(default_factory=dict)  # column -> names of its numbers
    phases: tuple[Phase, ...] = ()
    more: Callable[[], Iterator[JobBatch]] | None = None  # other jobs of the model that these come from, without end
    asked: dict[int, Mapping[str, str]] = field(default_factory=dict)  # job id -> options of its sbatch, as written
    dependencies: dict[int, str] = field(default_factory=dict)  # job id -> what it waits for, in Slurm's words
    workflows: WorkflowRecord | None = None  # those whose tasks are among its jobs
    brings: Callable[[], Sequence[Any]] | None = None  # makes observers for a run, which submit more of its jobs
    fares: tuple[str, Mapping[str, Any]] | None = None  # the observer that says how long its jobs take, and for what
    path: Path | None = None  # of a file in whose own words somebody may have to be told of its jobs

    def batches(self) -> Iterator[JobBatch]:
        """None of them is empty, whatever the source gives."""
        return (batch for batch in self.source() if len(batch))

    @classmethod
    def of(
        cls,
        *,
        name: str = "jobs",
        requests: list[Request] | None = None,
        labels: dict[str, list[str]] | None = None,
        **columns: Any,
    ) -> Workload:
        """A workload from columns in memory; sorted by submit time here.

        `shapes` has for each job a list of other `Shape`s that it may have; `malleable` and `interval` say of each
        whether it may change while it runs, and every how many seconds. `predecessors` has for each job a list of
        `Predecessor`s, or of ids of jobs that have to have ended; `any` says of each whether one of them suffices.
        `attachments` are what each carries along, a dictionary of JSON values or None.
        """
        if not isinstance(name, str):
            raise InputError(f"the name of a workload is a text, not {shown(name)}", hint='name="jobs"')
        if "runtime" not in columns:
            raise InputError("jobs need a runtime", where=name, hint="Workload.of(submit=[0, 60], runtime=[300, 20])")
        shapes = columns.pop("shapes", None)
        before, suffices = columns.pop("predecessors", None), columns.pop("any", None)
        if before is not None and not isinstance(before, Predecessors):
            before = Predecessors.of(before, suffices)
        ways = {name: columns.pop(name) for name in ("malleable", "interval") if name in columns}
        made = None if shapes is None else Shapes.of(shapes, **ways)
        batch = JobBatch.of(shapes=made, predecessors=before, **columns)
        if not isinstance(requests, Sequence | None) or isinstance(requests, str):
            raise InputError(f"requests is {shown(requests)}, expected a list of Request", where=name)
        requests = [SINGLE_CORE] if requests is None else list(requests)
        _refuse_bad_labels(name, labels)
        _refuse_nonsense(name, batch, requests)
        _refuse_bad_shapes(name, batch, len(requests))
        _refuse_bad_predecessors(name, batch)
        order = np.lexsort((batch.id, batch.submit))
        ordered = batch.take(order)
        report = ReadReport(records=len(batch), kept=len(batch))
        return cls(
            name,
            lambda: iter((ordered,)),
            requests,
            report=report,
            flexible=shapes is not None,
            labels=labels or {},
        )

    def cores(self, batch: JobBatch) -> NDArray[np.int64]:
        """How many cores each job of a batch asks for."""
        width = np.array([request.chunk.get("cores", 0) for request in self.requests] or [1], np.int64)
        found: NDArray[np.int64] = batch.count * width[batch.request]
        return found

    @cached_property
    def jobs(self) -> pl.DataFrame:
        """All jobs as one polars table (reads everything); `predecessors` are lists of ids."""
        import polars as pl

        tables = [pl.DataFrame(batch.columns()).with_columns(_before(batch)) for batch in self.batches()]
        return pl.concat(tables) if tables else pl.DataFrame()

    def __len__(self) -> int:
        return len(self.jobs)


def _before(batch: JobBatch) -> pl.Series:
    import polars as pl

    before = batch.predecessors
    ids = [[]] * len(batch) if before is None else [[one.job for one in some] for some in before.lists()]
    return pl.Series("predecessors", ids, pl.List(pl.Int64))


def _refuse_nonsense(name: str, batch: JobBatch, requests: Sequence[object]) -> None:
    """What no simulation can make sense of: times that are not numbers, negative durations, jobs of no chunk."""
    errors = [
        InputError(
            f"requests has {shown(one)} at position {place}", where=name, hint="Request({'cores': 4, 'gpus': 1})"
        )
        for place, one in enumerate(requests)
        if not isinstance(one, Request)
    ][:1]
    duration = f"a duration, seconds from 0 to {LONGEST:g}, or inf"
    wrong = (
        ("submit", ~np.isfinite(batch.submit), "a time"),
        ("runtime", ~_is_duration(batch.runtime), duration),
        ("limit", ~_is_duration(batch.limit), duration),
        ("cancel", np.isnan(batch.cancel), "a time, or inf for never"),
        ("count", batch.count < 1, "at least 1 chunk"),
        ("request", (batch.request < 0) | (batch.request >= len(requests)), f"a position in {len(requests)} requests"),
        ("id", (batch.id < 0), "a number from 0 on"),
    )
    for column, bad, expected in wrong:
        for row in np.flatnonzero(bad)[:1]:
            found = getattr(batch, column)[row]
            where = f"{name}, job {batch.id[row]}"
            hint = "" if batch.id[row] == row + 1 else f"it is in row {row}"
            errors.append(InputError(f"{column} is {found}, expected {expected}", where=where, hint=hint))
    if errors:
        raise InputErrors(errors)


def _is_duration(seconds: NDArray[np.float64]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = ((seconds >= 0) & (seconds <= LONGEST)) | (seconds == np.inf)
    return found


def _refuse_bad_labels(name: str, labels: Any) -> None:
    names = labels.items() if isinstance(labels, Mapping) else [("", None)] if labels is not None else []
    for column, listed in names:
        right = isinstance(listed, list | tuple) and all(isinstance(one, str) for one in listed)
        if not right or column not in LABELLED:
            said = f"labels is {shown(labels)}" if column == "" else f"labels has {shown(listed)} for {shown(column)}"
            hint = f"names of numbers in the columns {', '.join(LABELLED)}: labels={{'user': ['anna', 'bob']}}"
            raise InputError(said, where=name, hint=hint)


def _refuse_bad_predecessors(name: str, batch: JobBatch) -> None:
    before = batch.predecessors
    if before is None:
        return
    if len(before.end) != len(batch):
        raise InputError(f"predecessors are given for {len(before.end)} jobs, there are {len(batch)}", where=name)
    wrong = (
        ("a delay", before.delay, ~np.isfinite(before.delay) | (before.delay < 0), "a duration"),
        ("a condition", before.condition, before.condition >= len(CONDITIONS), "a position in CONDITIONS"),
    )
    for what, values, bad, expected in wrong:
        for place in np.flatnonzero(bad)[:1].tolist():
            where = f"{name}, job {batch.id[before.row[place]]}"
            raise InputError(f"{what} of its predecessors is {values[place]}, expected {expected}", where=where)


def _refuse_bad_shapes(name: str, batch: JobBatch, requests: int) -> None:
    shapes = batch.shapes
    if shapes is None:
        return
    if len(shapes.end) != len(batch):
        raise InputError(f"shapes are given for {len(shapes.end)} jobs, there are {len(batch)}", where=name)
    errors: list[InputError] = []
    begin = 0
    for row, end in enumerate(shapes.end.tolist()):
        where, seen = f"{name}, job {batch.id[row]}", {(int(batch.count[row]), int(batch.request[row]))}
        for shape in range(begin, end):
            size = (int(shapes.count[shape]), int(shapes.request[shape]))
            if size[0] < 1 or not shapes.runtime[shape] >= 0 or not shapes.limit[shape] >= 0:
                errors.append(InputError("a shape needs at least 1 chunk, a runtime and a limit", where=where))
            if not 0 <= size[1] < requests:
                errors.append(InputError(f"a shape has request {size[1]}, there are {requests}", where=where))
            if size in seen:
                errors.append(InputError(f"two shapes have {size[0]} chunks of request {size[1]}", where=where))
            seen.add(size)
        begin = end
    if errors:
        raise InputErrors(errors)

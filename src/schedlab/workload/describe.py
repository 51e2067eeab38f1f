"""What is in a log: `schedlab inspect`. One pass over the jobs, in memory that does not grow with the log."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.model.cluster import Cluster
from schedlab.model.request import Request
from schedlab.model.resources import resources_named, resources_of
from schedlab.model.workload import JobBatch, Workload
from schedlab.workload.notes import RUN_AS_LIMIT
from schedlab.workload.offered import amounts, offered_load
from schedlab.workload.read import read_workload
from schedlab.workload.swf.header import machine_size
from schedlab.workload.swf.read import SwfReport
from schedlab.workload.tally import Spread, Tally


@dataclass(frozen=True, slots=True)
class Asked:
    """What jobs ask for of a resource. Memory in bytes; shares of a GPU or core are parts of whole ones."""

    jobs: int  # that ask for some
    amounts: Spread  # of these jobs, in all
    work: float  # amount × seconds
    total: float | None  # of the machine; None if nothing is known of it
    offered_load: float | None  # work / (total × span)

    def to_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {"jobs": self.jobs, "amounts": self.amounts.to_dict(), "work": self.work}
        return found | {"total": self.total, "offered_load": self.offered_load}


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """The numbers. Times in seconds; a spread is None where nothing is known."""

    name: str
    header: dict[str, str]
    records: int
    jobs: int
    dropped: dict[str, int]
    filled: dict[str, int]
    unkept: dict[str, int]
    for_slurm: dict[str, int]
    bad_rows: list[str]
    unknown: dict[str, float]  # share of records without the field
    out_of_order: int
    first_submit: float
    last_submit: float
    first_date: datetime | None  # UTC
    last_date: datetime | None
    processors: int  # of the machine
    processors_from: str
    work: float  # processor-seconds
    offered_load: float | None  # work / (processors × span)
    sizes: Spread
    serial: float  # share of jobs
    power_of_two: float  # share of jobs, the serial ones included
    runtimes: Spread
    limits: Spread | None  # requested times
    accuracy: Spread | None  # run time / requested time
    at_limit: float  # share of those jobs that ran exactly as long as requested
    over_limit: float  # share that ran longer
    waits: Spread | None  # as recorded
    interarrivals: Spread | None
    cancelled: int  # kept jobs that their users withdrew
    dependent: int  # kept jobs with a preceding job
    users: int
    groups: int
    queues: int
    partitions: int
    executables: int
    busiest_user: float  # share of jobs of the user with most
    resources: dict[str, Asked]  # what jobs ask for besides cores, by name

    @property
    def span(self) -> float:
        """First to last submittal."""
        return self.last_submit - self.first_submit

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        plain: dict[str, Any] = {}
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if isinstance(value, Spread):
                value = value.to_dict()
            elif isinstance(value, datetime):
                value = value.isoformat()
            elif name == "resources":
                value = {resource: asked.to_dict() for resource, asked in value.items()}
            plain[name] = value
        return {**plain, "span": self.span}

    def table(self) -> list[tuple[str, str, str]]:
        """Rows to print: section, name, value."""
        from schedlab.workload.describe_table import rows

        return rows(self)


def describe(
    source: Workload | str | os.PathLike[str],
    *,
    processors: int | None = None,
    cluster: Cluster | None = None,
    **options: Any,
) -> Description:
    """A workload, or a log read with `options` (those of `read_workload`), in numbers.

    The machine is `cluster`, or has `processors`; if neither is said, the header's MaxProcs or MaxNodes, or as many as
    the largest job.
    """
    reading = {"in_memory": False, "requests": "full", **options}
    workload = source if isinstance(source, Workload) else read_workload(source, **reading)
    if cluster is not None:
        processors = cluster.cores
    # Where a run time stands in for a missing request, it must not look like an accurate request.
    count = _Count(stand_ins=workload.report.filled.get(RUN_AS_LIMIT, 0))
    for batch in workload.batches():
        count.add(batch, workload)
    return count.result(workload, processors, cluster)


@dataclass
class _Count:
    """Everything that one pass adds up."""

    stand_ins: int
    jobs: int = 0
    cancelled: int = 0
    dependent: int = 0
    at_limit: int = 0
    over_limit: int = 0
    first: float = 0.0
    last: float = 0.0
    work: float = 0.0
    asked: dict[str, Tally] = field(default_factory=dict)  # amounts of resources besides cores
    work_of: dict[str, float] = field(default_factory=dict)
    tallies: dict[str, Tally] = field(
        default_factory=lambda: {
            name: Tally()
            for name in (
                *("cores", "runtime", "limit", "accuracy", "wait", "interarrival"),
                *("user", "group", "queue", "partition", "executable"),
            )
        }
    )

    def add(self, batch: JobBatch, workload: Workload) -> None:
        if not len(batch):
            return
        cores = self._add_resources(batch, workload.requests)
        before = self.last if self.jobs else float(batch.submit[0])
        gaps = np.diff(batch.submit, prepend=before)
        self.tallies["interarrival"].add(gaps if self.jobs else gaps[1:])
        if not self.jobs:
            self.first = float(batch.submit[0])
        self.last = float(batch.submit[-1])
        self.jobs += len(batch)
        self.work += float(cores @ batch.runtime)
        self.cancelled += int(np.isfinite(batch.cancel).sum())
        self.dependent += int(np.count_nonzero(batch.dependent))
        self._add_requests(batch.runtime[batch.limit > 0], batch.limit[batch.limit > 0])
        self.tallies["cores"].add(cores)
        for name in ("runtime", "wait"):
            self.tallies[name].add(getattr(batch, name))
        for name in ("user", "group", "queue", "partition", "executable"):
            numbers = getattr(batch, name)
            self.tallies[name].add(numbers[numbers >= 0])

    def _add_resources(self, batch: JobBatch, requests: Sequence[Request]) -> NDArray[np.float64]:
        """What is asked for besides cores; gives the cores of each job."""
        names = dict.fromkeys(name for request in requests for name, amount in request.chunk.items() if amount)
        cores, *others = resources_named(names)
        for resource in others:
            asked = amounts(resource, requests, batch)
            self.asked.setdefault(resource.name, Tally()).add(asked[asked > 0])
            self.work_of[resource.name] = self.work_of.get(resource.name, 0.0) + float(asked @ batch.runtime)
        return amounts(cores, requests, batch)

    def _add_requests(self, runtime: NDArray[np.float64], limit: NDArray[np.float64]) -> None:
        equal = runtime == limit
        self.at_limit += int(equal.sum())
        self.over_limit += int((runtime > limit).sum())
        real = ~equal if self.stand_ins else slice(None)  # the few exact requests among stand-ins cannot be told
        self.tallies["limit"].add(limit[real])
        self.tallies["accuracy"].add((runtime / limit)[real])

    def result(self, workload: Workload, processors: int | None, cluster: Cluster | None) -> Description:
        report, tallies = workload.report, self.tallies
        sizes = tallies["cores"].values
        size = sizes.astype(np.int64)
        whole = sizes == size
        machine, source = _machine(workload.header, processors, int(size.max(initial=0)))
        span = self.last - self.first
        if self.stand_ins:
            self.at_limit -= self.stand_ins
            tallies["accuracy"].add(np.ones(max(self.at_limit, 0)))
        judged = max(len(tallies["accuracy"]), 1)
        unknown = report.unknown if isinstance(report, SwfReport) else {}
        users = tallies["user"].counts
        return Description(
            name=workload.name,
            header=workload.header,
            records=report.records,
            jobs=self.jobs,
            dropped=report.dropped,
            filled=report.filled,
            unkept=report.unkept,
            for_slurm=report.for_slurm,
            bad_rows=report.bad_rows,
            unknown={name: number / max(report.records, 1) for name, number in unknown.items()},
            out_of_order=report.out_of_order if isinstance(report, SwfReport) else 0,
            first_submit=self.first,
            last_submit=self.last,
            first_date=_date(workload.origin, self.first),
            last_date=_date(workload.origin, self.last),
            processors=machine,
            processors_from=source,
            work=self.work,
            offered_load=None if source == LARGEST else offered_load(self.work, machine, span),
            sizes=_known(tallies["cores"]),
            serial=tallies["cores"].share(whole & (size == 1)),
            power_of_two=tallies["cores"].share(whole & (size > 0) & (size & (size - 1) == 0)),
            runtimes=_known(tallies["runtime"]),
            limits=tallies["limit"].spread(),
            accuracy=tallies["accuracy"].spread(),
            at_limit=self.at_limit / judged,
            over_limit=self.over_limit / judged,
            waits=tallies["wait"].spread(),
            interarrivals=tallies["interarrival"].spread(),
            cancelled=self.cancelled,
            dependent=self.dependent,
            users=len(tallies["user"].values),
            groups=len(tallies["group"].values),
            queues=len(tallies["queue"].values),
            partitions=len(tallies["partition"].values),
            executables=len(tallies["executable"].values),
            busiest_user=float(users.max() / users.sum()) if len(users) else 0.0,
            resources={name: self._asked(name, cluster, span) for name in self.asked},
        )

    def _asked(self, name: str, cluster: Cluster | None, span: float) -> Asked:
        totals = {} if cluster is None else {each.name: each.total(cluster) for each in resources_of(cluster)}
        total = None if cluster is None else totals.get(name, 0.0)
        load = offered_load(self.work_of[name], total or 0.0, span)
        return Asked(len(self.asked[name]), _known(self.asked[name]), self.work_of[name], total, load)


LARGEST = "the largest job: the log does not say"


def _machine(header: dict[str, str], processors: int | None, largest: int) -> tuple[int, str]:
    if processors:
        return processors, "as given"
    if found := machine_size(header):
        return found[0], f"{found[1]} of the header"
    return largest, LARGEST


def _date(origin: datetime | None, seconds: float) -> datetime | None:
    try:
        return origin.astimezone(UTC) + timedelta(seconds=seconds) if origin else None
    except OverflowError:
        return None


def _known(tally: Tally) -> Spread:
    return tally.spread() or Spread(0, 0.0, 0.0, 0.0, {})

"""What of a workload a Slurm accounting dump cannot hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from schedlab.model.request import Request
from schedlab.model.workload import JobBatch, Workload
from schedlab.workload.sacct.columns import LARGEST_JOB
from schedlab.workload.sacct.fields import parse_features

KILOBYTE = 1 << 10
MEGABYTE = 1 << 20
LABELS = ("user", "group", "queue", "partition")
HELD = ("constraint", "hold", "licenses", "mem-per-cpu", "partition")  # of the options of sbatch
_GENERIC = re.compile(r"[\w.-]+(?::[\w.-]+)?")


def plain_memory(amount: int) -> str:
    """Bytes as Slurm writes them; rounded up to whole kilobytes."""
    if amount % MEGABYTE == 0:
        return f"{amount // MEGABYTE}M" if amount else "0"
    return f"{-(-amount // KILOBYTE)}K"


def plain_features(request: Request) -> str:
    """Features as a constraint, if they can be written as one."""
    if "constraint" in (own := dict(request.sbatch)):
        return own["constraint"]
    text = "&".join(sorted(request.features))
    return text if parse_features(text) == request.features else ""


def tres_name(resource: str) -> str:
    """What a generic resource is called in a list of resources; "" if it has no place there."""
    if resource == "gpus":
        return "gres/gpu"
    return f"gres/{resource}" if resource not in ("cores", "memory") and _GENERIC.fullmatch(resource) else ""


def licences(text: str) -> dict[str, int]:
    """Of `matlab:2,ansys`, as a list of resources has them."""
    found = (item.partition(":") for item in text.split(",") if item)
    return {f"license/{name}": int(amount or 1) for name, _, amount in found if not amount or amount.isdigit()}


def plain_name(name: str) -> str:
    """A name without what separates fields and rows."""
    return "".join("_" if letter in "|\r\n" else letter for letter in name)


class Losses:
    """Counts what jobs have and a dump has no place for."""

    def __init__(self, workload: Workload) -> None:
        self._workload = workload
        self._counts: dict[str, int] = {}
        self.numbered_anew = False
        self._numbers: set[str] = set()  # columns with numbers that have no names

    def see(self, batch: JobBatch) -> None:
        requests = self._workload.requests
        self.numbered_anew |= bool(((batch.id < 0) | (batch.id >= LARGEST_JOB)).any())
        self._add("recorded waits: not known, written as 0", np.isnan(batch.wait) & ~_never(batch))
        self._add("programs: there is no place for them", batch.executable >= 0)
        self._add("predecessors: there is no place for them", batch.dependent)
        self._add("names: the number of the job remains", np.full(len(batch), batch.names is not None))
        self._add("statuses: not known, or of a part of a job; written as COMPLETED", ~np.isin(batch.status, (0, 1, 5)))
        withdrawn = np.isfinite(batch.cancel) & ~_never(batch)
        self._add("cancellations: there is no place for that of a job that runs if it starts in time", withdrawn)
        self._add("fractions of seconds: rounded", _fractions(batch))
        endless = ~(np.isfinite(batch.limit) & (batch.limit > 0)) & (batch.limit != batch.runtime)
        self._add("limits: 0 or endless, written as UNLIMITED", endless)
        several = batch.count > 1
        spread = _of_requests(requests, lambda one: one.per_node_max == 1)[batch.request]
        single = _of_requests(requests, lambda one: one.chunk.get("cores", 0) == 1 and not one.chunk.get("gpus", 0))
        bounded = _of_requests(requests, lambda one: one.per_node_min > 1 or one.per_node_max > 1)[batch.request]
        grouped = bounded | (several & ~spread & ~single[batch.request])
        self._add("cores grouped on nodes: only their number remains", grouped)
        for what, test in _SPECIAL.items():
            self._add(what, _of_requests(requests, test)[batch.request])
        labels = self._workload.labels
        unnamed = {name for name in LABELS if bool((getattr(batch, name) >= len(labels.get(name, ()))).any())}
        self._numbers |= unnamed
        if batch.shapes is not None:
            others = np.diff(np.concatenate([[0], batch.shapes.end])) > 0
            self._add("other shapes: Slurm's jobs are rigid", others)

    def sentences(self) -> list[str]:
        said = []
        for what, count in self._counts.items():
            thing, _, why = what.partition(": ")
            said.append(f"{thing} ({count:,} {'job' if count == 1 else 'jobs'}): {why}")
        if self.numbered_anew:
            said.append("job numbers: Slurm's have 32 bits; jobs are numbered anew, from 1")
        if any(plain_name(name) != name for names in self._workload.labels.values() for name in names):
            said.append("names with | or a line break: written with _ instead")
        said += [f"numbers in column {name}: read back as names" for name in LABELS if name in self._numbers]
        if self._workload.origin is None:
            said.append("dates: not known, second 0 is written as 2000-01-01")
        if self._workload.header:
            said.append("header: there is no place for it")
        if self._workload.phases:
            said.append("phases: there is no place for them")
        return said

    def _add(self, what: str, which: NDArray[np.bool_]) -> None:
        if number := int(np.count_nonzero(which)):
            self._counts[what] = self._counts.get(what, 0) + number


def _never(batch: JobBatch) -> NDArray[np.bool_]:
    """Jobs that were cancelled before they started."""
    never: NDArray[np.bool_] = np.isfinite(batch.cancel) & (batch.runtime <= 0)
    return never


def _fractions(batch: JobBatch) -> NDArray[np.bool_]:
    found = np.zeros(len(batch), bool)
    for column in (batch.submit, batch.runtime, batch.limit, batch.wait, batch.cancel):
        known = np.where(np.isfinite(column), column, 0.0)
        found |= known != np.rint(known)
    return found


def _of_requests(requests: Sequence[Request], test: Callable[[Request], bool]) -> NDArray[np.bool_]:
    return np.array([test(request) for request in requests], bool)


_SPECIAL: dict[str, Callable[[Request], bool]] = {
    "requests without cores: written with one": lambda one: one.chunk.get("cores", 0) < 1,
    "requests for whole nodes: there is no place for them": lambda one: one.exclusive,
    "features: they cannot be written as a constraint": lambda one: bool(one.features) and not plain_features(one),
    "other resources: there is no place for them": lambda one: any(
        amount and name not in ("cores", "memory") and not tres_name(name) for name, amount in one.chunk.items()
    ),
    "options of sbatch: there is no place for them": lambda one: any(name not in HELD for name, _ in one.sbatch),
    "memory: rounded up to whole kilobytes": lambda one: one.chunk.get("memory", 0) % KILOBYTE != 0,
}

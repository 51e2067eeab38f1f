"""The empirical model: what was seen in a log, as histograms, and jobs drawn from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from schedlab.generate.checks import Checks
from schedlab.generate.empirical.arrivals import Arrivals
from schedlab.generate.empirical.histogram import REMEDY
from schedlab.generate.empirical.independent import Independent
from schedlab.generate.empirical.joint import COMMON, Joint
from schedlab.generate.streams import numbered
from schedlab.model.errors import InputError
from schedlab.model.random import random_stream
from schedlab.model.request import Request
from schedlab.model.workload import JobBatch, Workload
from schedlab.workload.swf.header import machine_size

DRAWS = ("uniform", "mid")
KEYS = ("source", "processors", "draws", "requests", "labels", "arrivals", "joint", "independent")


@dataclass(frozen=True, kw_only=True)
class Empirical:
    """`draws` says where in a bin a drawn value lies: anywhere ("uniform"), or in the middle ("mid")."""

    kind: ClassVar[str] = "empirical"
    jobs: Joint | Independent
    arrivals: Arrivals
    requests: list[Request]
    labels: dict[str, list[str]] = field(default_factory=dict)
    processors: int = 0
    draws: str = "uniform"
    source: dict[str, Any] = field(default_factory=dict)  # what it was fitted to

    @classmethod
    def fit(
        cls, workload: Workload, *, joint: bool = True, draws: str = "uniform", processors: int | None = None
    ) -> Self:
        """A model of the workload. `joint` keeps what belongs together, else each variable is drawn on its own.

        All jobs are held in memory at once, about 100 bytes each.
        """
        if draws not in DRAWS:
            raise InputError(f"draws is '{draws}'", where="fit", hint=f"choose one of: {', '.join(DRAWS)}")
        columns = _columns(workload)
        if len(columns["submit"]) < 2:
            raise InputError("has fewer than 2 jobs: no times between submissions", where=workload.name)
        model: Joint | Independent
        if joint:
            model, repeats = Joint.fit(columns)
        else:
            model, repeats = Independent.fit(columns), np.zeros(len(columns["submit"]), np.bool_)
        submit = columns["submit"]
        return cls(
            jobs=model,
            arrivals=Arrivals.fit(submit, repeats, workload.origin, cycle=joint),
            requests=list(workload.requests),
            labels={name: list(labels) for name, labels in workload.labels.items() if name in COMMON},
            processors=processors or _machine(workload, columns),
            draws=draws,
            source={
                "name": workload.name,
                "jobs": len(submit),
                "span": float(submit[-1] - submit[0]),
                "sha256": workload.content_hash,
            },
        )

    def batches(self, seed: int, *, jobs: int | None = None, span: float | None = None) -> Iterator[JobBatch]:
        if jobs is None and self.arrivals.endless:
            hint = "say how many jobs to generate"
            raise InputError("all jobs of the model come at once: no span is ever over", where="generate", hint=hint)
        return numbered(self._stream(seed), jobs, span)

    def _stream(self, seed: int) -> Iterator[JobBatch]:
        mid, now = self.draws == "mid", 0.0
        clock = random_stream(seed, "empirical", "arrivals")
        for columns in self.jobs.draw(random_stream(seed, "empirical", "jobs"), mid=mid):
            repeats: NDArray[np.bool_] = columns.pop("repeats")
            submit = self.arrivals.times(now, self.arrivals.places(clock, repeats), repeats, mid=mid)
            now = float(submit[-1])
            known: dict[str, Any] = {**columns, "submit": submit, "status": np.ones(len(submit), np.int8)}
            yield JobBatch.of(**known)

    def facts(self) -> list[str]:
        """What was fitted, in a few sentences."""
        bins = len(self.arrivals.gaps.low)
        found = [f"{self.source['jobs']:,} jobs in {self.source['span'] / 86_400:,.1f} days"]
        if isinstance(self.jobs, Joint):
            kinds, pools = len(self.jobs.kinds["jobs"]), len(self.jobs.ratio)
            found.append(f"{kinds:,} kinds of jobs (user, size, limit …) that come in sessions")
            found.append(f"{pools:,} pools of them, with {len(self.jobs.runtimes.low):,} bins of run times")
            found.append(f"{bins:,} bins of times between submissions in {self.arrivals.groups} groups of hours")
        else:
            numbers = ", ".join(f"{name} {len(one.low):,}" for name, one in self.jobs.histograms.items())
            found.append(f"each variable on its own; bins: {numbers}, times between submissions {bins:,}")
        return found

    def to_dict(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "processors": self.processors,
            "draws": self.draws,
            "requests": [request.to_dict() for request in self.requests],
            "labels": self.labels,
            "arrivals": self.arrivals.to_dict(),
            "joint" if isinstance(self.jobs, Joint) else "independent": self.jobs.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], where: str) -> Self:
        mistakes = Checks(where)
        mistakes.keys(data, KEYS)
        mistakes.whole("processors", data.get("processors", 0))
        mistakes.choice("draws", data.get("draws", "uniform"), DRAWS)
        if ("joint" in data) == ("independent" in data):
            mistakes.add("expected either the key joint or the key independent")
        for key in ("source", "labels", "arrivals", "joint", "independent"):
            if not isinstance(data.get(key, {}), dict):
                mistakes.add(f"{key} = {str(data[key])[:60]}: expected a table")
        mistakes.raise_all()
        part: type[Joint | Independent] = Joint if "joint" in data else Independent
        key = part.__name__.lower()
        jobs = part.from_dict(data[key], f"{where}, {key}")
        return cls(
            jobs=jobs,
            arrivals=Arrivals.from_dict(data.get("arrivals", {}), f"{where}, arrivals"),
            requests=_requests(data.get("requests"), jobs.largest_request, where),
            labels=data.get("labels", {}),
            processors=data.get("processors", 0),
            draws=data.get("draws", "uniform"),
            source=data.get("source", {}),
        )


def _columns(workload: Workload) -> dict[str, NDArray[Any]]:
    """What the model is fitted to. A job without a limit gets its run time as one."""
    names = (*COMMON, "submit", "runtime", "limit")
    batches = [{name: getattr(batch, name) for name in names} for batch in workload.batches()]
    if not batches:
        raise InputError("holds no jobs", where=workload.name)
    found = {name: np.concatenate([batch.pop(name) for batch in batches]) for name in names}
    found["limit"] = np.maximum(np.where(found["limit"] > 0, found["limit"], found["runtime"]), 1.0)
    return found


def _machine(workload: Workload, columns: dict[str, NDArray[Any]]) -> int:
    """Processors as the header says, or as many as the largest job has."""
    if said := machine_size(workload.header):
        return said[0]
    cores = np.array([request.chunk.get("cores", 0) for request in workload.requests], np.int64)
    return int((columns["count"] * cores[columns["request"]]).max())


def _requests(data: Any, largest: int, where: str) -> list[Request]:
    try:
        found = [Request.from_dict(one) for one in data]
    except (TypeError, ValueError, KeyError) as error:
        raise InputError(f"requests cannot be understood: {error}", where=where, hint=REMEDY) from None
    if len(found) <= largest:
        raise InputError(f"jobs have request {largest}, there are {len(found)}", where=where, hint=REMEDY)
    return found

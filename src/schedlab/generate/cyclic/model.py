"""Jobs with a daily, weekly and yearly cycle, whose runtimes come from the work they do (after AccaSim's generator)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from schedlab.generate.base import BATCH
from schedlab.generate.checks import Checks
from schedlab.generate.cyclic.clock import SLOTS, SlotClock
from schedlab.generate.cyclic.jobs import Chunks, Resource, Work, check_resources, runtimes
from schedlab.generate.gaps import Gaps
from schedlab.generate.redraw import Redraw
from schedlab.generate.streams import numbered
from schedlab.model.random import random_stream
from schedlab.model.request import Request
from schedlab.model.workload import JobBatch

if TYPE_CHECKING:
    from schedlab.model.workload import Workload

_REQUIRED = ("gaps", "nodes", "resources", "work")
_KEYS = (*_REQUIRED, "serial", "together", "half_hours", "weekdays", "months", "processors")


@dataclass(frozen=True, kw_only=True)
class Cyclic:
    """`gaps`: between submissions at the average rate, before the cycle stretches and squeezes them.

    `nodes`: number of nodes (chunks) of a parallel job -> its weight. `serial`: share of jobs of one core. `together`:
    share of jobs that come at the same second as the one before. Weights of half-hours from midnight, of weekdays from
    Monday and of months from January; only their ratios matter.
    """

    kind: ClassVar[str] = "cyclic"
    gaps: Gaps
    nodes: Mapping[int, float]
    resources: Mapping[str, Resource]
    work: Work
    serial: float = 0.0
    together: float = 0.0
    half_hours: Sequence[float] = (1.0,) * SLOTS
    weekdays: Sequence[float] = (1.0,) * 7
    months: Sequence[float] = (1.0,) * 12
    processors: int = 0
    requests: list[Request] = field(default_factory=list, init=False, repr=False)
    labels: dict[str, list[str]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        mistakes = Checks("model cyclic")
        if not self.nodes:
            mistakes.add("nodes: expected at least one number of nodes and its weight")
        for number in self.nodes:
            mistakes.whole("a key of nodes", number, low=1)
        mistakes.numbers("nodes", list(self.nodes.values()), len(self.nodes))
        mistakes.number("serial", self.serial, low=0, high=1)
        mistakes.number("together", self.together, low=0, high=0.999)
        mistakes.numbers("half_hours", self.half_hours, SLOTS)
        mistakes.numbers("weekdays", self.weekdays, 7)
        mistakes.numbers("months", self.months, 12)
        mistakes.whole("processors", self.processors)
        if self.gaps.mean <= 0:
            mistakes.add("gaps: expected a mean above 0 seconds", "share of simultaneous jobs: together")
        self.work.check(mistakes)
        check_resources(mistakes, self.resources)
        mistakes.raise_all()
        self.requests.extend(Chunks(self.resources).requests())

    def batches(self, seed: int, *, jobs: int | None = None, span: float | None = None) -> Iterator[JobBatch]:
        return numbered(self._stream(seed), jobs, span)

    def _stream(self, seed: int) -> Iterator[JobBatch]:
        chunks = Chunks(self.resources)
        draws, work = random_stream(seed, "cyclic", "job"), Redraw(seed, "cyclic", "work")
        numbers = np.array(list(self.nodes), np.int64)
        weights = np.array(list(self.nodes.values()), np.float64)
        shares = np.cumsum(weights) / weights.sum()
        for submit in self._arrivals(seed):
            uniform = draws.random((BATCH, 2 + 2 * len(self.resources)))
            serial = uniform[:, 0] < self.serial
            nodes = np.where(serial, 1, numbers[np.searchsorted(shares, uniform[:, 1], side="right")])
            request, cores, gflops = chunks.draw(uniform[:, 2:], serial, nodes)
            if self.processors:
                nodes = np.minimum(nodes, np.maximum(1, self.processors // cores))
            yield JobBatch.of(
                submit=submit, runtime=runtimes(work, self.work, nodes * gflops), count=nodes, request=request
            )

    def _arrivals(self, seed: int) -> Iterator[NDArray[np.float64]]:
        clock = SlotClock(self.half_hours, self.weekdays, self.months)
        lengths, together = random_stream(seed, "cyclic", "gap"), random_stream(seed, "cyclic", "together")
        passed = 0.0
        while True:
            gaps = np.where(together.random(BATCH) < self.together, 0.0, self.gaps.draw(lengths, BATCH))
            even = np.cumsum(np.concatenate([[passed], gaps]))[1:]
            passed = float(even[-1])
            yield np.floor(clock.time(even))

    @classmethod
    def fit(
        cls,
        workload: Workload,
        *,
        gflops: Mapping[str, float] | None = None,
        resources: Mapping[str, Resource] | None = None,
        cores_per_node: int = 0,
    ) -> Self:
        """From a log: its cycles, gaps, sizes and work.

        `gflops`: what one unit of a resource computes in a second (1 for cores). `resources`: amounts per chunk, if not
        those of the log: to add GPUs, for example. `cores_per_node`: puts the single processors of a log onto nodes.
        """
        from schedlab.generate.cyclic.fit import fitted

        return cls(**fitted(workload, gflops or {"cores": 1.0}, resources, cores_per_node))

    def to_dict(self) -> dict[str, Any]:
        return {
            "gaps": self.gaps.to_dict(),
            "nodes": {str(number): weight for number, weight in self.nodes.items()},
            "resources": {name: asdict(resource) for name, resource in self.resources.items()},
            "work": asdict(self.work),
            "serial": self.serial,
            "together": self.together,
            "half_hours": list(self.half_hours),
            "weekdays": list(self.weekdays),
            "months": list(self.months),
            "processors": self.processors,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], where: str) -> Self:
        mistakes = Checks(where)
        mistakes.keys(data, _KEYS)
        for key in _REQUIRED:
            if key not in data:
                mistakes.add(f"{key} is missing")
        mistakes.raise_all()
        given = dict(data)
        given["gaps"] = mistakes.take(lambda: Gaps.from_dict(data["gaps"]))
        given["nodes"] = _nodes(data["nodes"], mistakes)
        given["work"] = _record(Work, data["work"], "work", mistakes)
        given["resources"] = {}
        if isinstance(data["resources"], dict):
            given["resources"] = {
                name: _record(Resource, values, f"resources.{name}", mistakes)
                for name, values in data["resources"].items()
            }
        mistakes.raise_all()
        model = mistakes.take(lambda: cls(**given))
        mistakes.raise_all()
        assert model is not None
        return model


def _nodes(data: Any, mistakes: Checks) -> dict[int, float]:
    if not isinstance(data, dict) or not all(str(key).isdigit() for key in data):
        mistakes.add(f"nodes = {data!r}: expected a table of numbers of nodes and their weights")
        return {}
    return {int(key): weight for key, weight in data.items()}


def _record(kind: type[Any], data: Any, inside: str, mistakes: Checks) -> Any:
    """A dataclass from a table of its fields."""
    if not mistakes.keys(data, [f.name for f in fields(kind)], inside):
        return None
    try:
        return kind(**data)
    except TypeError as problem:
        mistakes.add(f"{inside}: {str(problem).partition('() ')[2]}")
        return None

"""The model of rigid jobs of Lublin and Feitelson (JPDC 63(11), 2003)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from schedlab.generate.base import BATCH
from schedlab.generate.checks import Checks
from schedlab.generate.cyclic.clock import SlotClock
from schedlab.generate.lublin.parameters import (
    LONGEST_GAP,
    LONGEST_RUNTIME,
    PARAMETERS,
    LublinParameters,
    published,
)
from schedlab.generate.redraw import Redraw, Stream
from schedlab.generate.streams import merged, numbered
from schedlab.model.random import random_stream
from schedlab.model.request import SINGLE_CORE, Request
from schedlab.model.workload import JobBatch

# What `jobs` may be, and which of the three sets of parameters that takes. Simultaneous jobs come in this order.
JOBS = {
    "whole": ("whole",),
    "batch": ("batch",),
    "interactive": ("interactive",),
    "both": ("interactive", "batch"),
}
QUEUES = ("interactive", "batch")


@dataclass(frozen=True, kw_only=True)
class Lublin:
    """`jobs`: "whole" has one kind of jobs, "both" mixes batch and interactive jobs, each from a stream of its own.

    `parameters` changes published values: `{"batch": {"serial": 0.5}}`.
    """

    kind: ClassVar[str] = "lublin"
    processors: int = 128
    jobs: str = "whole"
    parameters: dict[str, dict[str, Any]] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=lambda: [SINGLE_CORE], init=False, repr=False)
    labels: dict[str, list[str]] = field(default_factory=dict, init=False, repr=False)
    used: dict[str, LublinParameters] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        mistakes = Checks("model lublin")
        mistakes.whole("processors", self.processors, low=1, high=2**40)
        if mistakes.choice("jobs", self.jobs, JOBS):
            mistakes.keys(self.parameters, JOBS[self.jobs], "parameters")
        mistakes.raise_all()
        for name in JOBS[self.jobs]:
            changed = self.parameters.get(name, {})
            if mistakes.keys(changed, PARAMETERS, f"parameters.{name}"):
                tuples: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in changed.items()}
                self.used[name] = replace(published(name, self.processors), **tuples)
                self.used[name].check(mistakes, f"parameters.{name}", self.processors)
        mistakes.raise_all()
        if self.jobs != "whole":
            self.labels["queue"] = list(QUEUES)

    def batches(self, seed: int, *, jobs: int | None = None, span: float | None = None) -> Iterator[JobBatch]:
        streams = [self._stream(seed, name) for name in JOBS[self.jobs]]
        return numbered(streams[0] if len(streams) == 1 else merged(streams), jobs, span)

    def _stream(self, seed: int, name: str) -> Iterator[JobBatch]:
        given = self.used[name]
        queue = QUEUES.index(name) if name in QUEUES else -1
        sizes = random_stream(seed, "lublin", name, "size")
        runtimes = Redraw(seed, "lublin", name, "runtime")
        for submit in _arrivals(Redraw(seed, "lublin", name, "gap"), given):
            count = _sizes(sizes, given, self.processors)
            runtime = _runtimes(runtimes, given, count)
            yield JobBatch.of(submit=submit, runtime=runtime, count=count, queue=np.full(BATCH, queue))

    def to_dict(self) -> dict[str, Any]:
        parameters = {name: given.to_dict() for name, given in self.used.items()}
        return {"processors": self.processors, "jobs": self.jobs, "parameters": parameters}

    @classmethod
    def from_dict(cls, data: dict[str, Any], where: str) -> Self:
        mistakes = Checks(where)
        model = None
        if mistakes.keys(data, ("processors", "jobs", "parameters")):
            model = mistakes.take(lambda: cls(**data))
        mistakes.raise_all()
        assert model is not None
        return model


def _arrivals(redraw: Redraw, given: LublinParameters) -> Iterator[NDArray[np.float64]]:
    """Whole seconds, as the authors' program gives them."""
    clock = SlotClock(given.half_hours())
    shape, scale = given.gap[0] * given.gap_ratio, given.gap[1]

    def logarithms(stream: Stream, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        return stream("gamma").gamma(shape, scale, len(rows))

    passed = 0.0
    while True:
        gaps = np.exp(redraw.within(0.0, LONGEST_GAP, BATCH, logarithms))
        even = np.cumsum(np.concatenate([[passed], gaps]))[1:]
        passed = even[-1]
        yield np.floor(clock.time(even))


def _sizes(stream: np.random.Generator, given: LublinParameters, processors: int) -> NDArray[np.int64]:
    kind, stage, place = stream.random((BATCH, 3)).T
    lower = stage <= given.size_low_share
    begin = np.where(lower, given.size_low, given.size_medium)
    end = np.where(lower, given.size_medium, given.size_high)
    logarithm = begin + place * (end - begin)
    power = kind <= given.serial + given.power_of_two
    # The next power of two may not exist on a machine whose size is none.
    largest = processors.bit_length() - 1
    logarithm = np.where(power, np.minimum(np.floor(logarithm + 0.5), largest), logarithm)
    size = np.minimum(np.floor(np.exp2(logarithm) + 0.5), processors)
    return np.where(kind <= given.serial, 1, size).astype(np.int64)


def _runtimes(redraw: Redraw, given: LublinParameters, count: NDArray[np.int64]) -> NDArray[np.float64]:
    share = given.short_share + given.short_share_slope * count

    def logarithms(stream: Stream, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        short = stream("short").random(len(rows)) <= share[rows]
        shape = np.where(short, given.runtime_short[0], given.runtime_long[0])
        scale = np.where(short, given.runtime_short[1], given.runtime_long[1])
        return stream("gamma").standard_gamma(shape) * scale

    return np.floor(np.exp(redraw.within(0.0, LONGEST_RUNTIME, len(count), logarithms)))

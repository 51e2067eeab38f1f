"""What a job of the cyclic model asks for and how long it runs: chunks, amounts of each resource, work in GFLOP."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.generate.checks import Checks
from schedlab.generate.redraw import Redraw, Stream
from schedlab.model.request import Request

MOST_REQUESTS = 100_000  # different chunks

Columns = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Resource:
    """Amounts of a resource in one chunk: any of low, low + step, … high, each as likely as the others.

    `share` is the share of the parallel jobs that ask for it at all. `gflops` is what one unit computes in a second, 0
    for what does not compute, such as memory.
    """

    low: int = 1
    high: int = 1
    step: int = 1
    share: float = 1.0
    gflops: float = 0.0

    def check(self, mistakes: Checks, inside: str) -> None:
        good = [mistakes.whole(f"{inside}.{name}", getattr(self, name), low=1) for name in ("low", "high", "step")]
        mistakes.number(f"{inside}.share", self.share, low=0, high=1)
        mistakes.number(f"{inside}.gflops", self.gflops, low=0)
        if all(good) and self.high < self.low:
            mistakes.add(f"{inside}.high = {self.high}: expected at least low, {self.low}")

    @property
    def amounts(self) -> NDArray[np.int64]:
        return np.arange(self.low, self.high + 1, self.step)

    @property
    def number(self) -> int:
        """How many amounts there are; they may be too many to be listed."""
        return len(range(self.low, self.high + 1, self.step))


@dataclass(frozen=True, kw_only=True)
class Work:
    """GFLOP of a job: its natural logarithm is normal, of mean `mu + slope * ln(GFLOPS of all that the job asks for)`.

    A slope of 0 makes work independent of size (as AccaSim has it), a slope of 1 makes the runtime so. Jobs that would
    run for less than a second or longer than `longest` get other work.
    """

    mu: float
    sigma: float
    slope: float = 0.0
    longest: float = 30 * 86_400.0

    def check(self, mistakes: Checks) -> None:
        mistakes.number("work.mu", self.mu)
        mistakes.number("work.sigma", self.sigma, low=0)
        mistakes.number("work.slope", self.slope)
        mistakes.number("work.longest", self.longest, low=1)


class Chunks:
    """All the chunks that jobs may ask for, as requests; the place of a chunk says its amounts."""

    def __init__(self, resources: Mapping[str, Resource]) -> None:
        self.resources = resources
        # Serial jobs take one core and nothing else that computes; other jobs may do without what has a share below 1.
        self.options = {name: _options(name, resource) for name, resource in resources.items()}

    @property
    def number(self) -> int:
        return math.prod(len(options) for options in self.options.values())

    def requests(self) -> list[Request]:
        names = list(self.options)
        return [
            Request({name: int(amount) for name, amount in zip(names, amounts, strict=True) if amount})
            for amounts in itertools.product(*self.options.values())
        ]

    def draw(
        self, uniform: Columns, serial: NDArray[np.bool_], nodes: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], Columns]:
        """The place of each job's chunk, its cores and its GFLOPS; two columns of `uniform` for each resource."""
        place = np.zeros(len(serial), np.int64)
        cores = np.ones(len(serial), np.int64)
        gflops = np.zeros(len(serial))
        for column, (name, resource) in enumerate(self.resources.items()):
            wanted, which = uniform[:, 2 * column], uniform[:, 2 * column + 1]
            amounts = resource.amounts
            amount = amounts[(which * len(amounts)).astype(np.int64)]
            amount = np.where(wanted < resource.share, amount, 0)
            if name == "cores":
                # A parallel job on one node has more cores than one, if there are any.
                several = amounts[amounts > 1][:1]
                amount = np.where((nodes == 1) & (amount == 1) & (several.size > 0), several.max(initial=1), amount)
                cores = amount = np.where(serial, 1, amount)
            elif resource.gflops > 0:
                amount = np.where(serial, 0, amount)
            gflops += amount * resource.gflops
            place = place * len(self.options[name]) + np.searchsorted(self.options[name], amount)
        return place.astype(np.int32), cores, gflops


def runtimes(redraw: Redraw, work: Work, gflops: Columns) -> Columns:
    """Whole seconds: the work over the GFLOPS."""
    power = np.log(gflops)

    def logarithms(stream: Stream, rows: NDArray[np.intp]) -> Columns:
        total = work.mu + work.slope * power[rows] + work.sigma * stream("work").standard_normal(len(rows))
        return total - power[rows]

    return np.floor(np.exp(redraw.within(0.0, math.log(work.longest), len(gflops), logarithms)))


def check_resources(mistakes: Checks, resources: Mapping[str, Any]) -> None:
    for name, resource in resources.items():
        resource.check(mistakes, f"resources.{name}")
    if mistakes:
        return
    cores = resources.get("cores")
    if cores is None or cores.gflops <= 0 or cores.share < 1:
        mistakes.add("resources.cores: expected cores with gflops above 0 and a share of 1")
    elif (number := math.prod(resource.number for resource in resources.values())) > MOST_REQUESTS or (
        number := Chunks(resources).number
    ) > MOST_REQUESTS:
        hint = "give resources such as memory a larger step"
        mistakes.add(f"resources: {number} different chunks, expected at most {MOST_REQUESTS}", hint)


def _options(name: str, resource: Resource) -> NDArray[np.int64]:
    if name == "cores":
        return np.union1d([1], resource.amounts)
    without = resource.share < 1 or resource.gflops > 0
    return np.union1d([0], resource.amounts) if without else resource.amounts

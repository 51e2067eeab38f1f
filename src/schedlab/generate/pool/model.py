"""A pool of applications with known sizes and run times, from which jobs are drawn (as ELiSE does)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from schedlab.generate.base import BATCH
from schedlab.generate.checks import Checks
from schedlab.generate.gaps import Gaps
from schedlab.generate.streams import numbered
from schedlab.model.errors import InputError
from schedlab.model.random import random_stream
from schedlab.model.request import SINGLE_CORE, Request
from schedlab.model.suggest import did_you_mean
from schedlab.model.workload import JobBatch

DRAWS = ("uniform", "frequencies", "counts", "list")
_KEYS = ("applications", "draw", "frequencies", "counts", "order", "shuffle", "arrivals", "limit_factor")
_APPLICATION_KEYS = ("name", "processes", "runtime")


@dataclass(frozen=True)
class Application:
    name: str
    processes: int
    runtime: float


@dataclass(frozen=True, kw_only=True)
class Pool:
    """`draw`: "uniform" takes any application, "frequencies" in proportion to `frequencies`, "counts" each as often as
    `counts` says, "list" those of `order` in turn. The last two begin anew when they are through; with `shuffle` each
    round has an order of its own. A job may run `limit_factor` times as long as its application takes.
    """

    kind: ClassVar[str] = "pool"
    applications: Sequence[Application]
    draw: str = "uniform"
    frequencies: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    order: Sequence[str] = field(default_factory=list)
    shuffle: bool = False
    arrivals: Gaps = field(default_factory=lambda: Gaps("zero"))
    limit_factor: float = 1.4
    processors: int = field(default=0, init=False)
    requests: list[Request] = field(default_factory=lambda: [SINGLE_CORE], init=False, repr=False)
    labels: dict[str, list[str]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        mistakes = Checks("model pool")
        self._check(mistakes)
        mistakes.raise_all()
        self.labels["executable"] = [application.name for application in self.applications]

    def batches(self, seed: int, *, jobs: int | None = None, span: float | None = None) -> Iterator[JobBatch]:
        if jobs is None and self.arrivals.mean == 0:
            raise InputError(
                "all jobs arrive at once, which no span ends",
                where="model pool",
                hint="say how many jobs, or give arrivals another distribution than 'zero'",
            )
        return numbered(self._stream(seed), jobs, span)

    def _stream(self, seed: int) -> Iterator[JobBatch]:
        gaps, names = random_stream(seed, "pool", "gap"), random_stream(seed, "pool", "application")
        processes = np.array([application.processes for application in self.applications])
        runtimes = np.array([application.runtime for application in self.applications])
        passed = 0.0
        for which in self._choices(names):
            submit = np.cumsum(np.concatenate([[passed], self.arrivals.draw(gaps, BATCH)]))[1:]
            runtime = runtimes[which]
            yield JobBatch.of(
                submit=submit,
                runtime=runtime,
                limit=runtime * self.limit_factor,
                count=processes[which],
                executable=which,
            )
            passed = float(submit[-1])

    def _choices(self, stream: np.random.Generator) -> Iterator[NDArray[np.intp]]:
        """The places in `applications` of one batch of jobs after the other."""
        names = [application.name for application in self.applications]
        if self.draw in ("list", "counts"):
            yield from self._rounds(stream, names)
        weights = np.ones(len(names))
        if self.draw == "frequencies":
            weights = np.array([self.frequencies.get(name, 0.0) for name in names])
        shares = np.cumsum(weights) / weights.sum()
        while True:
            yield np.searchsorted(shares, stream.random(BATCH), side="right")

    def _rounds(self, stream: np.random.Generator, names: list[str]) -> Iterator[NDArray[np.intp]]:
        """The list again and again, in batches."""
        if self.draw == "list":
            order = np.array([names.index(name) for name in self.order], np.intp)
        else:
            order = np.repeat(np.arange(len(names)), [self.counts.get(name, 0) for name in names])
        rounds = max(1, -(-BATCH // len(order)))
        ready = np.empty(0, np.intp)
        while True:
            while len(ready) < BATCH:
                more = [stream.permutation(order) if self.shuffle else order for _ in range(rounds)]
                ready = np.concatenate([ready, *more])
            yield ready[:BATCH]
            ready = ready[BATCH:]

    def _check(self, mistakes: Checks) -> None:
        if not self.applications:
            mistakes.add("applications: expected at least one")
        seen: list[str] = []
        for place, application in enumerate(self.applications):
            inside = f"applications[{place}]"
            if not isinstance(application.name, str) or not application.name or application.name in seen:
                mistakes.add(f"{inside}.name = {application.name!r}: expected a name of its own")
            seen.append(application.name)
            mistakes.whole(f"{inside}.processes", application.processes, low=1)
            mistakes.number(f"{inside}.runtime", application.runtime, low=0)
        mistakes.choice("draw", self.draw, DRAWS)
        mistakes.number("limit_factor", self.limit_factor, above=0)
        for name, weight in self.frequencies.items():
            _check_known("frequencies", name, seen, mistakes)
            mistakes.number(f"frequencies.{name}", weight, low=0)
        for name in self.order:
            _check_known("order", name, seen, mistakes)
        for name, count in self.counts.items():
            _check_known("counts", name, seen, mistakes)
            mistakes.whole(f"counts.{name}", count, low=0)
        if not isinstance(self.shuffle, bool):
            mistakes.add(f"shuffle = {self.shuffle!r}: expected true or false")
        elif self.shuffle and self.draw not in ("list", "counts"):
            mistakes.add(f"shuffle: draw = '{self.draw}' is random already")
        if self.draw == "counts" and not any(self.counts.values()):
            mistakes.add("counts: draw = 'counts' needs how often each application is to come")
        if self.draw == "frequencies" and not any(self.frequencies.values()):
            mistakes.add("frequencies: draw = 'frequencies' needs at least one above 0")
        if self.draw == "list" and not self.order:
            mistakes.add("order: draw = 'list' needs the names of the applications in the order of submission")

    def to_dict(self) -> dict[str, Any]:
        return {
            "applications": [{key: getattr(one, key) for key in _APPLICATION_KEYS} for one in self.applications],
            "draw": self.draw,
            "frequencies": dict(self.frequencies),
            "counts": dict(self.counts),
            "order": list(self.order),
            "shuffle": self.shuffle,
            "arrivals": self.arrivals.to_dict(),
            "limit_factor": self.limit_factor,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], where: str) -> Self:
        mistakes = Checks(where)
        if not mistakes.keys(data, _KEYS):
            mistakes.raise_all()
        rows = data.get("applications")
        if not isinstance(rows, list):
            mistakes.add("applications: expected a list of tables with name, processes and runtime")
            mistakes.raise_all()
        table = "a table of names and numbers"
        for key, kind, words in (("frequencies", dict, table), ("counts", dict, table), ("order", list, "names")):
            if not isinstance(data.get(key, kind()), kind):
                mistakes.add(f"{key} = {data[key]!r}: expected {words}")
        given = {key: value for key, value in data.items() if key not in ("applications", "arrivals")}
        applications = [_application(row, place, mistakes) for place, row in enumerate(rows or [])]
        if "arrivals" in data:
            given["arrivals"] = mistakes.take(lambda: Gaps.from_dict(data["arrivals"]))
        mistakes.raise_all()
        model = mistakes.take(lambda: cls(applications=[one for one in applications if one], **given))
        mistakes.raise_all()
        assert model is not None
        return model

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """From a TOML or JSON file with the keys of `to_dict`; run times may have units ("5m")."""
        from schedlab.generate.pool.files import read_table

        path = Path(path)
        return cls.from_dict(read_table(path), str(path))

    @classmethod
    def from_heatmap(cls, path: str | Path, **options: Any) -> Self:
        """From a heatmap that says how long applications run alone, as ELiSE's do; `options` as for `Pool`."""
        from schedlab.generate.pool.files import read_measured

        applications = [Application(*found) for found in read_measured(Path(path))]
        return cls(applications=applications, **options)


def _application(row: Any, place: int, mistakes: Checks) -> Application | None:
    from schedlab.model.units import parse_duration

    inside = f"applications[{place}]"
    if not mistakes.keys(row, _APPLICATION_KEYS, inside):
        return None
    missing = [key for key in _APPLICATION_KEYS if key not in row]
    for key in missing:
        mistakes.add(f"{inside} has no {key}")
    if missing:
        return None
    runtime = row["runtime"]
    if isinstance(runtime, str):
        runtime = mistakes.take(lambda: parse_duration(row["runtime"]))
    return Application(row["name"], row["processes"], runtime)


def _check_known(inside: str, name: Any, names: Sequence[str], mistakes: Checks) -> None:
    if name not in names:
        mistakes.add(f"{inside} names '{name}', which is no application", did_you_mean(str(name), names))

"""When to inject jobs into a workload, and which ones: patterns of times, sequences and choices of templates."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from schedlab.generate.checks import Checks
from schedlab.generate.gaps import Gaps
from schedlab.model.request import SINGLE_CORE, Request
from schedlab.model.workflow import Submission


@dataclass(frozen=True, kw_only=True)
class JobTemplate:
    """A job to inject; its limit is its runtime if not given."""

    name: str
    runtime: float
    count: int = 1
    limit: float | None = None
    request: Request = SINGLE_CORE

    def __post_init__(self) -> None:
        mistakes = Checks(f"job template {self.name!r}")
        if not isinstance(self.name, str) or not self.name:
            mistakes.add(f"name = {self.name!r}: expected a name")
        mistakes.number("runtime", self.runtime, low=0)
        mistakes.whole("count", self.count, low=1)
        if self.limit is not None:
            mistakes.number("limit", self.limit, low=0)
        mistakes.raise_all()


Template: TypeAlias = JobTemplate | Submission  # a job, or the jobs of a workflow, which come together


@dataclass(frozen=True)
class Injection:
    """One job or workflow injected: the how manieth it is (from 0), when, and what it was made from."""

    number: int
    time: float
    template: Template


class Trigger(Protocol):
    """Says when to inject next. It keeps no state, so that every pass over a workload gets the same jobs."""

    @property
    def endless(self) -> bool:
        """Whether only the end of the workload ends it."""
        ...

    def next_time(self, last: Injection | None, stream: np.random.Generator) -> float | None:
        """The time of the injection after `last` (None: of the first one); None if that was all."""
        ...


@dataclass(frozen=True, kw_only=True)
class Periodic:
    """Every so many seconds from `start`, `count` times or as long as it is not later than `until`."""

    every: float
    start: float = 0.0
    count: int | None = None
    until: float | None = None

    def __post_init__(self) -> None:
        mistakes = Checks("trigger periodic")
        mistakes.number("every", self.every, above=0)
        _check_range(mistakes, self.start, self.count, self.until)
        mistakes.raise_all()

    @property
    def endless(self) -> bool:
        return self.count is None and self.until is None

    def next_time(self, last: Injection | None, stream: np.random.Generator) -> float | None:
        number = 0 if last is None else last.number + 1
        return _in_range(self.start + number * self.every, number, self.count, self.until)


@dataclass(frozen=True)
class AtTimes:
    """At these seconds, in this order."""

    times: Sequence[float]

    def __post_init__(self) -> None:
        mistakes = Checks("trigger at times")
        for place, time in enumerate(self.times):
            if mistakes.number(f"times[{place}]", time, low=0) and place and time < self.times[place - 1]:
                mistakes.add(f"times[{place}] = {time!r}: expected no time before the one in front of it")
        mistakes.raise_all()

    @property
    def endless(self) -> bool:
        return False

    def next_time(self, last: Injection | None, stream: np.random.Generator) -> float | None:
        number = 0 if last is None else last.number + 1
        return self.times[number] if number < len(self.times) else None


@dataclass(frozen=True, kw_only=True)
class AtRandom:
    """After random gaps, the first of them after `start`."""

    gaps: Gaps
    start: float = 0.0
    count: int | None = None
    until: float | None = None

    def __post_init__(self) -> None:
        mistakes = Checks("trigger at random")
        _check_range(mistakes, self.start, self.count, self.until)
        if self.gaps.mean == 0 and self.count is None:
            mistakes.add("gaps of 0 seconds never end", "give a count")
        mistakes.raise_all()

    @property
    def endless(self) -> bool:
        return self.count is None and self.until is None

    def next_time(self, last: Injection | None, stream: np.random.Generator) -> float | None:
        number, before = (0, self.start) if last is None else (last.number + 1, last.time)
        return _in_range(before + float(self.gaps.draw(stream, 1)[0]), number, self.count, self.until)


@dataclass(frozen=True)
class Programmed:
    """First at `first`; then `after` says, from each injection, when the next one is (None: that was all).

    `Programmed(0, lambda last: last.time + last.template.runtime + 60)` waits a minute after each job's runtime. (Of a
    workflow the template is a `Submission`.)
    """

    first: float
    after: Callable[[Injection], float | None]

    @property
    def endless(self) -> bool:
        return True

    def next_time(self, last: Injection | None, stream: np.random.Generator) -> float | None:
        return self.first if last is None else self.after(last)


class What(Protocol):
    """Says which template an injection is made from."""

    @property
    def templates(self) -> Sequence[Template]: ...

    def pick(self, number: int, stream: np.random.Generator) -> Template: ...


@dataclass(frozen=True)
class InTurn:
    """One after the other, and again from the first."""

    templates: Sequence[Template]

    def __post_init__(self) -> None:
        _check_templates("in turn", self.templates).raise_all()

    def pick(self, number: int, stream: np.random.Generator) -> Template:
        return self.templates[number % len(self.templates)]


@dataclass(frozen=True)
class OneOf:
    """Any of them, in proportion to their weights."""

    templates: Sequence[Template]
    weights: Sequence[float]

    def __post_init__(self) -> None:
        mistakes = _check_templates("one of", self.templates)
        mistakes.numbers("weights", self.weights, len(self.templates))
        mistakes.raise_all()

    def pick(self, number: int, stream: np.random.Generator) -> Template:
        shares = np.cumsum(self.weights) / math.fsum(self.weights)
        return self.templates[int(np.searchsorted(shares, stream.random(), side="right"))]


def _in_range(time: float, number: int, count: int | None, until: float | None) -> float | None:
    over = (count is not None and number >= count) or (until is not None and time > until)
    return None if over else time


def _check_range(mistakes: Checks, start: float, count: int | None, until: float | None) -> None:
    mistakes.number("start", start, low=0)
    if count is not None:
        mistakes.whole("count", count)
    if until is not None:
        mistakes.number("until", until, low=0)


def _check_templates(name: str, templates: Sequence[Template]) -> Checks:
    mistakes = Checks(f"templates {name}")
    if not templates:
        mistakes.add("expected at least one job template")
    return mistakes

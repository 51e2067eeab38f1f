"""What a schedule made of a workload, in a few numbers, and whether two workloads fare alike under one policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.interval import Interval, student_interval
from schedlab.model.run import Run

WAIT, SLOWDOWN, UTILISATION = 0.15, 0.30, 0.05  # how far ratios (utilisation: shares) may be off and count as alike
NOBODY_WAITS = 60.0  # seconds: ratios of shorter mean waits say nothing
STRETCH = 0.25  # of the span: with a queue that long never empty, a policy does not keep up
STARVED = 0.1  # of the span: who waits longer starves,
RARE = 20  # if the mean wait is so many times shorter
FEW, MOST_WAITING = 0.001, 0.5  # if so few of the jobs hold so much of all waiting, the mean rests on them

Trouble = Literal["", "behind", "starving", "few"]
Answer = Literal["alike", "different", "unknown"]
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run. Mean wait in seconds, mean bounded slowdown, utilisation; why its means are no property of the jobs."""

    wait: float
    bounded_slowdown: float
    utilisation: float
    longest_wait: float
    started: int
    rejected: int
    trouble: Trouble = ""


def outcome_of(run: Run) -> Outcome | None:
    """None if no job was started."""
    found = run.summary
    if not found["started"]:
        return None
    return Outcome(
        wait=found["wait"]["mean"],
        bounded_slowdown=found["bounded_slowdown"]["mean"],
        utilisation=found["utilisation"] or 0.0,
        longest_wait=found["wait"]["max"],
        started=found["started"],
        rejected=found["jobs"] - found["started"],
        trouble=trouble_of(run.tables.column("eligible"), run.tables.column("start")),
    )


def trouble_of(eligible: Numbers, start: Numbers) -> Trouble:
    """Why the mean wait of these jobs would be another one in a longer or shorter log.

    behind: the queue is not empty for a quarter of the time, in one stretch: waits follow the length of the log.
    starving: some wait for a tenth of the whole time, twenty times as long as the others. few: half of all waiting is
    that of one job in a thousand.
    """
    began = ~np.isnan(start)
    order = np.argsort(eligible[began], kind="stable")
    eligible, start = eligible[began][order], start[began][order]
    wait = start - eligible
    span = float(eligible[-1] - eligible[0]) if len(eligible) else 0.0
    if span <= 0 or wait.mean() < NOBODY_WAITS:
        return ""
    longest = float(wait.max())
    if longest > STARVED * span and wait.mean() < longest / RARE:
        return "starving"
    if _longest_queue(eligible, start) > STRETCH * span:
        return "behind"
    few = np.sort(wait)[-max(1, int(FEW * len(wait))) :]
    return "few" if few.sum() > MOST_WAITING * wait.sum() else ""


def _longest_queue(eligible: Numbers, start: Numbers) -> float:
    """The longest time for which somebody always waits; jobs in order of submission."""
    waits = start > eligible
    begin, end = eligible[waits], np.maximum.accumulate(start[waits])
    if not len(begin):
        return 0.0
    first = np.flatnonzero(np.concatenate([[True], begin[1:] > end[:-1]]))
    last = np.concatenate([first[1:] - 1, [len(begin) - 1]])
    return float((end[last] - begin[first]).max())


@dataclass(frozen=True)
class OutcomeComparison:
    """A policy on a reference and on one or more workloads that should be like it: another log, seeds of a model."""

    policy: str
    machine: str
    reference_name: str
    reference: Outcome
    runs: tuple[Outcome, ...]
    seeds: bool  # whether the runs are seeds of one model

    @cached_property
    def wait_ratios(self) -> Numbers:
        return _ratios([run.wait for run in self.runs], self.reference.wait)

    @cached_property
    def slowdown_ratios(self) -> Numbers:
        return _ratios([run.bounded_slowdown for run in self.runs], self.reference.bounded_slowdown)

    @property
    def wait(self) -> float:
        """Mean over the runs, in terms of the reference."""
        return float(self.wait_ratios.mean())

    @property
    def bounded_slowdown(self) -> float:
        return float(self.slowdown_ratios.mean())

    @property
    def utilisation(self) -> float:
        """Mean over the runs."""
        return float(np.mean([run.utilisation for run in self.runs]))

    @property
    def nobody_waits(self) -> bool:
        return max(self.reference.wait, float(np.mean([run.wait for run in self.runs]))) < NOBODY_WAITS

    @cached_property
    def trouble(self) -> Trouble:
        """Why means say nothing: of the reference; else of most of the runs."""
        found = [run.trouble for run in self.runs]
        return self.reference.trouble or max(sorted(set(found)), key=found.count)

    @cached_property
    def answer(self) -> Answer:
        """Whether schedules behave alike; unknown where means say nothing, or seeds are too few to tell."""
        if self.nobody_waits:
            busy = np.array([run.utilisation for run in self.runs])
            return _judged(busy, self.reference.utilisation, UTILISATION)
        if self.reference.trouble:
            return "unknown"
        judged = (_judged(self.wait_ratios, 1.0, WAIT), _judged(self.slowdown_ratios, 1.0, SLOWDOWN))
        if "different" in judged:  # also where it is the other one with which the policy does not keep up
            return "different"
        return "unknown" if "unknown" in judged or self.trouble else "alike"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        from schedlab.analysis.outcome_words import sentence

        return {
            "policy": self.policy,
            "machine": self.machine,
            "answer": self.answer,
            "trouble": self.trouble or None,
            "sentence": sentence(self),
            "wait_ratio": _spread(self.wait_ratios),
            "bounded_slowdown_ratio": _spread(self.slowdown_ratios),
            "reference": asdict(self.reference),
            "runs": [asdict(run) for run in self.runs],
        }


def _ratios(values: Sequence[float], reference: float) -> Numbers:
    """Waits of 0 are 0 times, or 1 time, or infinitely many times as long."""
    have = np.array(values, np.float64)
    if reference > 0:
        return have / reference
    return np.where(have > 0, np.inf, 1.0)


def _judged(values: Numbers, wanted: float, most: float) -> Answer:
    """By the 95 % interval of the mean, where there are several values; by the value itself where there is one."""
    low, high = wanted - most, wanted + most
    found: Interval | None = student_interval(values) if np.isfinite(values).all() else None
    ends = (float(values.mean()),) * 2 if found is None else (found.low, found.high)
    if low <= ends[0] and ends[1] <= high:
        return "alike"
    return "different" if ends[1] < low or ends[0] > high else "unknown"


def _spread(values: Numbers) -> dict[str, float | None]:
    finite = np.isfinite(values).all()
    found = {"mean": values.mean(), "low": values.min(), "high": values.max()}
    return {name: float(value) if finite else None for name, value in found.items()}

"""How alike two workloads are: `compare_workloads`, of a generated or transformed workload against its reference."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.analysis.fidelity_distances import (
    Numbers,
    autocorrelation,
    correlation,
    distances,
    share_distance,
)
from schedlab.analysis.fidelity_sample import Sample, read_sample
from schedlab.analysis.outcome import OutcomeComparison
from schedlab.model.errors import InputError
from schedlab.model.workload import Workload
from schedlab.workload.transform.machine import processors as processors_of

if TYPE_CHECKING:
    from schedlab.analysis.fidelity_words import Verdict

# Variable, unit ("" for plain numbers).
VARIABLES = {"runtime": "s", "limit": "s", "accuracy": "", "count": "", "interarrival": "s", "area": "core-s"}
CORRELATIONS = (("count", "runtime"), ("runtime", "limit"), ("count", "accuracy"))
REMEMBERED = ("interarrival", "count", "runtime")
LAGS = (1, 2, 5, 10, 20, 50, 100)
QUANTILES = {"p5": 0.05, "p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95, "p99": 0.99}
CURVE = np.linspace(0, 1, 801)  # shares at which the curves of the figure are known

# Of the workload, and of its reference.
Pair = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two workloads in a few numbers."""

    name: str
    jobs: int
    span: float  # first to last submittal, seconds
    offered_load: float | None  # work / (processors × span)
    users: int
    busiest_user: float | None  # share of jobs
    jobs_per_user: float | None  # median


@dataclass(frozen=True, slots=True)
class Variable:
    """One quantity of the jobs in both workloads."""

    name: str
    unit: str
    mean: Pair
    quantiles: dict[str, Pair]
    ks: float
    wasserstein: float  # in the unit
    curves: tuple[Numbers, Numbers]  # values at the shares of CURVE


@dataclass(frozen=True)
class Fidelity:
    """Pairs are of the workload and of its reference. Correlations and autocorrelations are of ranks."""

    workload: Side
    reference: Side
    processors: int
    variables: dict[str, Variable]
    correlations: dict[str, Pair]  # "count–runtime" …
    autocorrelations: dict[str, dict[int, Pair]]  # variable -> lag -> pair
    weeks: tuple[Numbers, Numbers]  # shares of jobs in the 168 hours of the week
    outcomes: tuple[OutcomeComparison, ...] = ()  # what schedulers made of both; empty if nothing was simulated

    @cached_property
    def hours(self) -> tuple[Numbers, Numbers]:
        """Shares of jobs in the hours of the day."""
        one, other = (week.reshape(7, 24).sum(axis=0) for week in self.weeks)
        return one, other

    @cached_property
    def days(self) -> tuple[Numbers, Numbers]:
        """Shares of jobs on the days of the week, from Monday."""
        one, other = (week.reshape(7, 24).sum(axis=1) for week in self.weeks)
        return one, other

    @property
    def hours_moved(self) -> float:
        """The share of jobs that come at another hour of the day."""
        return share_distance(*self.hours)

    @property
    def days_moved(self) -> float:
        return share_distance(*self.days)

    @property
    def largest_ks(self) -> float:
        return max((variable.ks for variable in self.variables.values()), default=0.0)

    def verdicts(self) -> list[Verdict]:
        """What is kept and what is lost, in words."""
        from schedlab.analysis.fidelity_words import verdicts

        return verdicts(self)

    def table(self) -> list[tuple[str, str, str, str, str]]:
        """Rows to print: section, name, workload, reference, difference."""
        from schedlab.analysis.fidelity_words import rows

        return rows(self)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        variables = {
            name: {
                "unit": one.unit,
                "ks": one.ks,
                "wasserstein": one.wasserstein,
                "mean": _named(one.mean),
                "quantiles": {key: _named(pair) for key, pair in one.quantiles.items()},
            }
            for name, one in self.variables.items()
        }
        return {
            "workload": asdict(self.workload),
            "reference": asdict(self.reference),
            "processors": self.processors,
            "outcomes": [outcome.to_dict() for outcome in self.outcomes],
            "variables": variables,
            "correlations": {name: _named(pair) for name, pair in self.correlations.items()},
            "autocorrelations": {
                name: {str(lag): _named(pair) for lag, pair in lags.items()}
                for name, lags in self.autocorrelations.items()
            },
            "hours_moved": self.hours_moved,
            "days_moved": self.days_moved,
            "hours": _named((self.hours[0].tolist(), self.hours[1].tolist())),
            "days": _named((self.days[0].tolist(), self.days[1].tolist())),
            "verdicts": [asdict(verdict) for verdict in self.verdicts()],
        }


def compare_workloads(
    workload: Workload,
    reference: Workload,
    processors: int | None = None,
    outcomes: Iterable[OutcomeComparison] = (),
) -> Fidelity:
    """How alike a workload is to a reference. All jobs of both are held in memory, about 100 bytes each.

    `outcomes` is what simulations of both gave (`experiment.outcomes`): columns say nothing about waiting.
    `processors` is for the offered load; else the header of the reference or of the workload tells, or the largest job.
    """
    samples = [read_sample(one) for one in (workload, reference)]
    for one, sample in zip((workload, reference), samples, strict=True):
        if len(sample) < 2:
            raise InputError("has fewer than 2 jobs: nothing to compare", where=one.name)
    machine = (
        processors or processors_of(reference) or processors_of(workload) or max(sample.largest for sample in samples)
    )
    first, second = samples
    return Fidelity(
        workload=_side(first, machine),
        reference=_side(second, machine),
        processors=machine,
        variables={name: _variable(name, first, second) for name in VARIABLES},
        correlations={
            f"{one}–{other}": _pair(*(correlation(sample.ranks[one], sample.ranks[other]) for sample in samples))
            for one, other in CORRELATIONS
        },
        autocorrelations={name: _autocorrelations(name, first, second) for name in REMEMBERED},
        weeks=(first.week, second.week),
        outcomes=tuple(outcomes),
    )


def _side(sample: Sample, processors: int) -> Side:
    work, users = float(sample.values["area"].sum()), sample.user_jobs
    return Side(
        name=sample.name,
        jobs=len(sample),
        span=sample.span,
        offered_load=work / (processors * sample.span) if sample.span > 0 and processors else None,
        users=len(users),
        busiest_user=float(users.max() / len(sample)) if len(users) else None,
        jobs_per_user=float(np.median(users)) if len(users) else None,
    )


def _variable(name: str, first: Sample, second: Sample) -> Variable:
    one, other = first.values[name], second.values[name]
    shares = list(QUANTILES.values())
    ks, wasserstein = distances(one, other)
    quantiles = zip(QUANTILES, np.quantile(one, shares).tolist(), np.quantile(other, shares).tolist(), strict=True)
    return Variable(
        name=name,
        unit=VARIABLES[name],
        mean=_pair(float(one.mean()), float(other.mean())),
        quantiles={key: _pair(low, high) for key, low, high in quantiles},
        ks=ks,
        wasserstein=wasserstein,
        curves=(np.quantile(one, CURVE), np.quantile(other, CURVE)),
    )


def _autocorrelations(name: str, first: Sample, second: Sample) -> dict[int, Pair]:
    one, other = first.ranks[name], second.ranks[name]
    return {lag: _pair(autocorrelation(one, lag), autocorrelation(other, lag)) for lag in LAGS}


def _pair(one: float | None, other: float | None) -> Pair:
    return one, other


def _named(pair: tuple[Any, Any]) -> dict[str, Any]:
    return {"workload": pair[0], "reference": pair[1]}

"""Power and energy: what nodes draw, which jobs it is drawn for, and a cap on all of it.

A node that is up draws `idle` watts without jobs, and `active` + `per_core` x (cores in use) with jobs. A node that is
off or down draws `off`, one that boots draws `boot`. A job is charged `per_core` for its own cores and its share, by
cores, of `active` on each of its nodes; what nodes draw without jobs is charged to nobody. The core keeps the books:
power is a budget of the whole machine (`engine/budget.py`), with a limit if there is a cap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import inf

import numpy as np
from numpy.typing import NDArray

from schedlab._core import View
from schedlab.engine.budget import Budget, Rates
from schedlab.engine.observer import Observer, PerJob
from schedlab.execution.groups import by_group
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.states import NODE_STATES

JOULES_PER_KWH = 3.6e6
MOST_WATTS = 1e9  # of anything


@dataclass(frozen=True, slots=True)
class Watts:
    """What a node of a group draws."""

    idle: float = 0.0
    active: float | None = None  # with jobs, before their cores count; as `idle` if not given
    per_core: float = 0.0
    off: float = 0.0
    boot: float | None = None  # while it boots; as `idle` if not given

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and (not isinstance(value, int | float) or not 0 <= value <= MOST_WATTS):
                hint = f"give watts, 0 or more, at most {MOST_WATTS:g}"
                raise InputError(f"power: {field.name} cannot be {value!r}", hint=hint)

    def rates(self) -> Rates:
        others = {"off": self.off, "down": self.off, "booting": self.idle if self.boot is None else self.boot}
        idle = {state: others.get(state, self.idle) for state in NODE_STATES}
        return Rates(idle, self.idle if self.active is None else self.active, self.per_core)


class Power(Observer):
    """Watts now in `view.data["power"]`; energy, mean and peak power in the summary; `energy` (J) of each job.

    `groups` has other numbers for some node groups: {"gpu": {"idle": 300, "per_core": 8}}. With a `cap` in watts, jobs
    that would exceed it wait as if they did not fit, and reservations are made with it; one that would exceed it all
    alone is rejected.
    """

    name = "power"

    def __init__(
        self,
        idle: float = 0.0,
        active: float | None = None,
        per_core: float = 0.0,
        off: float = 0.0,
        boot: float | None = None,
        groups: Mapping[str, Mapping[str, float]] | None = None,
        cap: float | None = None,
    ) -> None:
        if cap is not None and not 0 < cap <= MOST_WATTS:
            raise InputError(f"power: cap cannot be {cap!r}", hint="give watts, above 0")
        self._default = Watts(idle, active, per_core, off, boot)
        self._groups = groups or {}
        self._cap = inf if cap is None else float(cap)
        self._levels: tuple[NDArray[np.float64], NDArray[np.float64]] = (np.empty(0), np.empty(0))

    def budget(self, cluster: Cluster) -> Budget:
        names = [group.name for group in cluster.groups]
        watts = by_group("power", self._default, self._groups, names)
        for name, one in zip(names, watts, strict=True):
            if self._cap < inf and one.active is not None and one.active < one.idle:
                hint = "with a cap, active has to be at least idle: a job that ends must not raise the power"
                raise InputError(f"power: group {name} draws {one.idle} W idle, {one.active} W active", hint=hint)
        self._check_cap(cluster, watts)
        return Budget("power", tuple(one.rates() for one in watts), self._cap)

    def _check_cap(self, cluster: Cluster, watts: Sequence[Watts]) -> None:
        """Jobs are asked of a machine with all nodes up: would the cap leave anything to any of them?"""
        groups = list(zip(cluster.groups, watts, strict=True))
        idle = round(sum(group.count * one.idle for group, one in groups), 6)
        costs_nothing = any(
            not group.resources.get("cores") or (one.per_core == 0 and one.active in (None, one.idle))
            for group, one in groups
        )
        if self._cap < idle or (self._cap == idle and not costs_nothing):
            hint = "give a higher cap, or fewer nodes; nodes that sleep count as if they were up"
            raise InputError(f"power: cap is {self._cap:.15g} W, the idle machine alone draws {idle:.15g} W", hint=hint)

    def finish(self, view: View) -> dict[str, float]:
        books = view.budget_books()
        self._levels = books["time"], books["level"]
        self._sequences, self._joules = _summed(books["sequence"], books["taken"])
        span = view.now - float(books["time"][0]) if len(books["time"]) else 0.0
        return {
            "energy_kwh": books["total"] / JOULES_PER_KWH,
            "unused_energy_kwh": (books["total"] - float(self._joules.sum())) / JOULES_PER_KWH,
            "mean_power_watts": books["total"] / span if span > 0 else books["now"],
            "peak_power_watts": books["peak"],
        }

    def per_job(self) -> dict[str, PerJob]:
        return {"energy": (self._sequences, self._joules)}

    @property
    def timeline(self) -> list[tuple[float, float]]:
        """(time, watts) from each change on, when the run is over."""
        times, watts = self._levels
        return list(zip(times.tolist(), watts.tolist(), strict=True))


def _summed(sequences: NDArray[np.int64], joules: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Jobs that ran, and the joules of each over all its stays."""
    ran = np.flatnonzero(np.bincount(sequences)).astype(np.int64)
    return ran, np.asarray(np.bincount(sequences, joules)[ran], np.float64)

"""A cap on what the whole system draws: jobs that would exceed it wait as if they did not fit."""

from __future__ import annotations

from typing import Any

from schedlab._core import Job, View
from schedlab.engine.build import Native
from schedlab.engine.decider import Event, Policy
from schedlab.engine.observer import Nodes
from schedlab.execution.power import Power
from schedlab.model.errors import InputError


class PowerCap(Policy):
    """Another policy under a cap of `watts`; the other arguments are those of the power model.

    A job that would exceed the cap all alone is rejected.
    """

    name = "power-cap"

    def __init__(self, watts: float, policy: str = "easy", **power: Any) -> None:
        if not watts > 0:
            raise InputError(f"power-cap: watts cannot be {watts!r}", hint="give watts, above 0")
        self._cap, self._inner, self._power = watts, Native(policy), Power(**power)
        self.placement = self._inner.placement
        self.observers = [self._power]

    def decide(self, view: View, events: list[Event]) -> None:
        for kind, job in events:
            if kind == "submitted" and isinstance(job, Job) and self._power.least_with(job) > self._cap:
                view.reject(job)
        self._inner.decide(view)

    def allows(self, view: View, job: Job, nodes: Nodes) -> bool:
        return self._power.with_job(job, nodes) <= self._cap

    def recall(self, view: View) -> None:
        self._inner.recall(view)

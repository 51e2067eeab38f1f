"""A simulation that waits for its decisions: for learning, for other processes, for trying things out by hand."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from schedlab._core import View
from schedlab.engine.decider import Decider, Event, Policy
from schedlab.engine.scenario import Scenario
from schedlab.engine.simulate import Planned, Simulation
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.run import Run
from schedlab.model.workload import Workload
from schedlab.policy.spec import PolicySpec


class Stepper:
    """`while stepper.advance(): stepper.view.start(…)`, then `stepper.finish()` gives the run.

    It takes what `simulate` takes, a `Scenario` too. With a policy, `stepper.decide()` leaves a pass to it: to look at
    every decision, or to make some of them differently. Without one, `placement` (first-fit) says where jobs go that
    are started without naming nodes, and `name` what the run is called. `finish` may be called at any time: jobs that
    are still there stay as they are.
    """

    def __init__(
        self,
        workload: Scenario | Workload | str | os.PathLike[str],
        cluster: Cluster | str | os.PathLike[str] | None = None,
        policy: str | PolicySpec | Decider | None = None,
        *,
        placement: str = "",
        name: str = "",
        **options: Any,
    ) -> None:
        if policy is None and (placement or not isinstance(workload, Scenario)):
            policy, name = _Outside(placement or "first-fit"), name or "stepper"
        scenario = Scenario.of(workload, cluster, policy, **({"name": name} if name else {}), **options)
        if scenario.checkpoint is not None:
            hint = "leave the checkpoint out, or call simulate"
            raise InputError("a run that is made step by step cannot be taken up again", hint=hint)
        self._policy, self._simulation = scenario.policy, Simulation(scenario)
        self.view: View = self._simulation.core.view
        self._decide: Callable[[View, list[Event]], None] = self._simulation.decider()
        self._simulation.begin()

    @property
    def events(self) -> list[Event]:
        """What is told in this pass."""
        return self._simulation.core.events()

    def advance(self) -> bool:
        """Go on to the next pass; False when nothing will happen any more."""
        return self._simulation.advance()

    def lead(self, time: float) -> None:
        """Another world has the clock: time passes until then, and nothing happens on the way.

        What is done to jobs and nodes now is told in the first pass that `advance` comes to, with whatever has become
        due; `advance` says False where all is done that there is to do until this time, and the world may lead further.
        """
        self._simulation.core.lead(time)

    def wakes(self) -> list[float]:
        """Of one that is led: the times of wake-ups that were asked for since this was last asked."""
        return self._simulation.core.take_wakes()

    def decide(self) -> None:
        """Leave this pass to the policy."""
        if isinstance(self._policy, _Outside):
            raise InputError("there is no policy to decide", hint="start jobs yourself: view.start(job); or name one")
        self._decide(self.view, self.events)

    def plan(self) -> list[Planned]:
        """After `decide`: all who wait, in the policy's order, with their reservations. Other policies than built-in
        ones keep their plans to themselves: of them it is the queue."""
        return self._simulation.plan()

    def finish(self) -> Run:
        return self._simulation.end()

    def leave(self) -> None:
        """Instead of `finish`, if nobody wants the run: nothing of it is kept."""
        self._simulation.leave()


class _Outside(Policy):
    """Whoever holds the stepper decides."""

    def __init__(self, placement: str) -> None:
        self.placement = placement

    def decide(self, view: View, events: list[Event]) -> None:
        pass

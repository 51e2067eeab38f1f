"""A simulation that waits for its decisions: for learning, for other processes, for trying things out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from schedlab._core import View
from schedlab.engine.build import chosen
from schedlab.engine.decider import Event, Policy
from schedlab.engine.options import Dependencies, Options, Overrun, Passes
from schedlab.engine.simulate import Simulated
from schedlab.model.cluster import Cluster
from schedlab.model.run import Run
from schedlab.model.workload import Workload


class Stepper:
    """`while stepper.advance(): stepper.view.start(…)`, then `stepper.finish()` gives the run.

    `finish` may be called at any time: jobs that are still there stay as they are.
    """

    def __init__(
        self,
        workload: Workload,
        cluster: Cluster,
        *,
        placement: str = "first-fit",
        estimate: str | object = "limit",
        overrun: Overrun = "kill",
        passes: Passes = "instant",
        dependencies: Dependencies = "ignore",
        observers: Sequence[Any] = (),
        name: str = "stepper",
    ) -> None:
        decider = _Outside()
        decider.placement = placement
        choice = replace(chosen(decider, estimate), name=name)
        options = Options(choice.estimate_text, overrun, passes, dependencies)
        self._simulation = Simulated(workload, cluster, choice, options, observers)
        self.view: View = self._simulation.core.view
        self._simulation.begin()

    @property
    def events(self) -> list[Event]:
        """What is told in this pass."""
        return self._simulation.core.events()

    def advance(self) -> bool:
        """Go on to the next pass; False when nothing will happen any more."""
        return self._simulation.advance()

    def finish(self) -> Run:
        return self._simulation.end()


class _Outside(Policy):
    """Whoever holds the stepper decides."""

    def decide(self, view: View, events: list[Event]) -> None:
        pass

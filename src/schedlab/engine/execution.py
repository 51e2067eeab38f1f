"""Execution models: observers that say how placed jobs fare, in the core or in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab import _core
from schedlab._core import Job, View
from schedlab.engine.observer import Nodes, Observer, Observers, in_turn
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.hooks import defines
from schedlab.model.workload import JobBatch, Workload


class Execution(Observer):
    """An observer that says how placed jobs fare. Define `work`, `rate` or both; its other hooks are an observer's.

    Both may look at all of the view, also at `job.total_work` and `job.remaining`, and change nothing.
    """

    def work(self, view: View, job: Job, nodes: Nodes) -> float | None:
        """Seconds of work (at rate 1) of the whole job on these nodes; None: as many as `job.total_work` says.

        Asked whenever a job takes nodes: at its start, and when it is resumed or reshaped; what it has done until then
        counts in proportion. `job.total_work` is the run time, or what a model before this one has said.
        """
        return None

    def rate(self, view: View, job: Job, neighbours: list[Job]) -> float:
        """Its factor of the rate of a running job that has these other jobs on its nodes.

        Asked after a pass, only about jobs on whose nodes somebody has come or gone.
        """
        return 1.0

    def pairs(self, fraction: float) -> _core.Pairs | None:
        """How fast applications run beside one another, if it knows: for placements, and `view.speedup`.

        `fraction` is how much of a node a job has, under a policy that lets jobs share nodes.
        """
        return None

    def applications(self, workload: Workload) -> Callable[[JobBatch], NDArray[np.int32]] | None:
        """Of a model that has pairs: what says the application of each job of a batch, by its place among them."""
        return None

    def native(self, owner: str, cluster: Cluster) -> _core.Execution | None:
        """The same in the core, where it has one: then `work` and `rate` are not asked."""
        return None

    def facts(self) -> dict[str, Any]:
        """What of it determines the run: with its name in `execution` of run.json."""
        return {}


def models_of(observers: Observers) -> list[tuple[str, Execution]]:
    """The models among them, by their names as owners of factors."""
    return [(owner, one) for owner, one in zip(observers.owners, observers, strict=True) if isinstance(one, Execution)]


@dataclass(frozen=True, slots=True)
class Pairing:
    """Which jobs slow which down."""

    pairs: _core.Pairs
    applications: Callable[[JobBatch], NDArray[np.int32]] | None
    names: list[str]


def pairing(observers: Observers, workload: Workload, fraction: float) -> Pairing | None:
    """What the one model that has pairs says of them; None if there is none."""
    found = [(owner, model, pairs) for owner, model in models_of(observers) if (pairs := model.pairs(fraction))]
    if not found:
        return None
    if len(found) > 1:
        owners = " and ".join(owner for owner, _, _ in found)
        raise InputError(f"{owners} both say how fast jobs run beside one another", hint="leave one of them out")
    (_, model, pairs), *_ = found
    return Pairing(pairs, model.applications(workload), pairs.names)


def native_models(observers: Observers, cluster: Cluster) -> list[_core.Execution | None]:
    """What the core has of each; None of one that is asked in Python."""
    return [model.native(owner, cluster) for owner, model in models_of(observers)]


def teach(
    core: _core.Simulation, observers: Observers, natives: Sequence[_core.Execution | None]
) -> list[dict[str, Any]]:
    """Tell the core of them; what run.json says of each."""
    told = []
    for (owner, model), native in zip(models_of(observers), natives, strict=True):
        if native is not None:
            core.add_execution(native)
        else:
            work, rate = (
                partial(in_turn, model, owner, hook) if defines(model, hook, Execution) else None
                for hook in ("work", "rate")
            )
            core.add_python_execution(owner, work, rate)
        told.append({"name": owner, **model.facts()})
    return told

"""What the three studies have in common: pools of applications, and runs against their compact twins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import schedlab as sl
from schedlab.generate.base import generate
from schedlab.generate.pool.model import Application, Pool
from schedlab.model.heatmap import Heatmap

COMPACT = "easy:nodes=exclusive"  # every job on whole nodes


@dataclass(frozen=True)
class Case:
    """Jobs in equal shares of some applications on a machine; a shuffle is an order of the same jobs."""

    heatmap: Heatmap
    applications: Sequence[Application]
    machine: str
    jobs: int = 500

    def workload(self, shuffle: int) -> sl.Workload:
        each, more = divmod(self.jobs, len(self.applications))
        counts = {one.name: each + (place < more) for place, one in enumerate(self.applications)}
        pool = Pool(applications=self.applications, draw="counts", counts=counts, shuffle=True)
        return generate(pool, seed=shuffle, jobs=self.jobs, name=f"shuffle {shuffle}")

    def run(self, policy: str, shuffle: int) -> sl.Run:
        """Jobs that others slow down may run over their limits: nothing is killed, the work is the same."""
        return sl.simulate(self.workload(shuffle), self.machine, policy, heatmap=self.heatmap, overrun="run")


def makespan(run: sl.Run) -> float:
    """All jobs are submitted at 0."""
    return float(run.tables.column("end").max())


def of_heatmap(heatmap: Heatmap, names: Sequence[str]) -> list[Application]:
    """With the run times and processes that were measured."""
    places = [heatmap.number(name) for name in names]
    return [Application(heatmap.names[at], int(heatmap.processes[at]), float(heatmap.runtimes[at])) for at in places]

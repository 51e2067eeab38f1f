"""A workload for an experiment: its load held, the machine filled first, as commands and study files ask for it."""

from __future__ import annotations

from dataclasses import dataclass

from schedlab.generate.fill import fill, phase_lengths
from schedlab.generate.load import hold_pressure
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.workload import Workload

SPARE = 1.1  # jobs for so much more than the phases need: holding a load leaves some out


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """What is to be done to jobs for a machine of `cores`; None: not that. Times in seconds."""

    cores: int
    pressure: tuple[float, float] | None = None  # jobs are put in below the first, left out above the second
    fill: float | None = None  # the wait that the fill is for
    fill_cores: int | None = None  # as wait and machine have it
    node_cores: int = 1  # of the machine: fill jobs are whole nodes
    stabilisation: float | None = None
    experiment: float | None = None
    drain: float | None = None

    def __post_init__(self) -> None:
        if (self.fill is None) != (self.experiment is None):
            hint = "say for which wait the machine is filled (fill 4h), and how long the experiment is (experiment 7d)"
            raise InputError("fill and experiment belong together", hint=hint)

    @property
    def span(self) -> float | None:
        """For how long jobs have to be generated."""
        if self.fill is None or self.experiment is None:
            return None
        stabilisation, drain = phase_lengths(self.fill, self.stabilisation, self.drain)
        return SPARE * (stabilisation + self.experiment + drain)

    def apply(self, jobs: Workload, seed: int = 0) -> Workload:
        if self.pressure is not None:
            low, high = self.pressure
            jobs = hold_pressure(jobs, self.cores, low=low, high=high, seed=seed)
        if self.fill is None or self.experiment is None:
            return jobs
        return fill(
            jobs,
            self.cores,
            wait=self.fill,
            experiment=self.experiment,
            job_cores=self.fill_cores,
            node_cores=self.node_cores,
            stabilisation=self.stabilisation,
            drain=self.drain,
            seed=seed,
        )


def node_cores(cluster: Cluster) -> int:
    """The cores of a node, where all have as many; else 1."""
    different = {group.resources.get("cores", 0) for group in cluster.groups}
    return 1 if cluster.pool or len(different) != 1 else max(*different, 1)


def parse_pressure(value: str | float, where: str = "") -> tuple[float, float]:
    """`1.0`, or a band: `1.0..1.1`."""
    first, dots, last = str(value).partition("..")
    try:
        low = float(first)
        high = float(last) if dots else low
    except ValueError:
        raise InputError(f"'{value}' is not a job pressure", where=where, hint="write 1.0, or 1.0..1.1") from None
    if not 0 < low <= high < 100:
        raise InputError(f"'{value}' is not a job pressure", where=where, hint="from above 0, the larger one last")
    return low, high

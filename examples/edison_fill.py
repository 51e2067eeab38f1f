"""A machine of Edison's size under a load of 1.0, filled so that jobs wait four hours; drawn as ScSF's paper does.

The jobs come from edison_model.py.
"""

import sys

from edison_model import NODE_CORES, NODES, EdisonLike

import schedlab as sl
from schedlab.analysis.compare import summary_of
from schedlab.analysis.trim import InPhase
from schedlab.generate.base import generate
from schedlab.generate.fill import fill
from schedlab.generate.load import hold_pressure
from schedlab.plot.baseline import plot_baseline

CORES = NODES * NODE_CORES
HOUR, DAY = 3600.0, 86_400.0
WAIT = 4 * HOUR


def experiment(seed, pressure=1.0):
    """A day to become stable, seven days that count, and eight hours in which the load goes on."""
    jobs = generate(EdisonLike(), span=8.5 * DAY, seed=seed)
    jobs = hold_pressure(jobs, CORES, low=pressure, high=pressure, seed=seed)
    filled = fill(
        jobs, CORES, wait=WAIT, node_cores=NODE_CORES, stabilisation=DAY, experiment=7 * DAY, drain=8 * HOUR, seed=seed
    )
    return filled, sl.simulate(filled, sl.Cluster.uniform(NODES, cores=NODE_CORES), "easy")


if __name__ == "__main__":
    figure = sys.argv[1] if len(sys.argv) > 1 else "edison_fill.png"
    jobs, run = experiment(seed=1)
    for what, count in (jobs.report.filled | jobs.report.dropped).items():
        print(f"{count:,} {what}")
    for phase in jobs.phases:
        found = summary_of(run, trim=InPhase(phase.name))
        jobs_busy = f"{found['jobs']:>7,} jobs, utilisation {found['utilisation']:.3f}"
        print(f"{phase.name:<13} {jobs_busy}, median wait {found['wait']['median'] / HOUR:.2f} h")
    title = f"Edison's size ({NODES:,} nodes of {NODE_CORES} cores), job pressure 1.0, EASY backfilling"
    plot_baseline(run, jobs.phases, figure, asked=WAIT, title=title)
    print(f"the picture is in {figure}")

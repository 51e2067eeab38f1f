"""A machine of Edison's size under a load of 1.0, filled so that jobs wait four hours; drawn as ScSF's paper does.

The jobs are in the style of Edison's (NERSC), not fitted to a log: six in ten use one node, one in ten more than
seven, and the limits are up to ten times the run times.
"""

import sys

import numpy as np

import schedlab as sl
from schedlab.analysis.compare import summary_of
from schedlab.analysis.trim import InPhase
from schedlab.generate.fill import fill
from schedlab.generate.load import hold_pressure
from schedlab.model.random import random_stream
from schedlab.plot.baseline import plot_baseline

NODES, NODE_CORES = 5576, 24
CORES = NODES * NODE_CORES
HOUR, DAY = 3600.0, 86_400.0
WAIT = 4 * HOUR


def edison_like(span, seed):
    """Jobs for 0.95 of the machine: log-normal widths (whole nodes) and run times, Poisson arrivals."""
    random, number = random_stream(seed, "edison-like"), 250_000
    nodes = np.clip(np.round(random.lognormal(0.0, 1.6, number)), 1, 512).astype(int)
    runtime = np.round(np.clip(random.lognormal(np.log(45 * 60), 1.3, number), 30, DAY))
    limit = np.minimum(np.ceil(runtime / random.uniform(0.1, 1.0, number) / 1800) * 1800, DAY)
    gap = (nodes * runtime).mean() / (0.95 * NODES)
    submit = np.round(np.cumsum(random.exponential(gap, number)))
    first = slice(np.searchsorted(submit, span))
    return sl.Workload.of(
        name="edison-like",
        submit=submit[first],
        runtime=runtime[first],
        limit=limit[first],
        count=nodes[first] * NODE_CORES,
    )


def experiment(seed, pressure=1.0):
    """A day to become stable, seven days that count, and eight hours in which the load goes on."""
    jobs = hold_pressure(edison_like(8.5 * DAY, seed), CORES, low=pressure, high=pressure, seed=seed)
    filled = fill(
        jobs, CORES, wait=WAIT, job_cores=NODE_CORES, stabilisation=DAY, experiment=7 * DAY, drain=8 * HOUR, seed=seed
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

"""How the time grows with the jobs, and with the nodes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks import once
from benchmarks.measure import Spent, interleaved, middle
from benchmarks.report import Line
from benchmarks.settings import Settings
from benchmarks.workload import LogSpec

POLICIES = ("fcfs", "easy")


def jobs_lines(settings: Settings) -> Iterator[Line]:
    """Ten times the jobs of the same kind on the same machine."""
    few, many = LogSpec(settings.jobs(200_000)), LogSpec(settings.jobs(2_000_000))
    for policy, short, long in _compare(few, many, settings):
        yield Line(
            "scaling",
            f"{many.jobs:,} jobs against {few.jobs:,}, {policy}, {few.nodes} × {few.cores} cores",
            long / short,
            at_most=12,
            note=f"{long:.3f} s : {short:.4f} s",
        )


def nodes_lines(settings: Settings) -> Iterator[Line]:
    """A hundred times the nodes, each as loaded as before; as many jobs, and of the same sizes."""
    small = LogSpec(settings.jobs(1_000_000), nodes=256)
    large = LogSpec(small.jobs, nodes=25_600)
    for policy, short, long in _compare(small, large, settings):
        yield Line(
            "nodes",
            f"time per job on {large.nodes:,} nodes against {small.nodes}, {policy}, {small.jobs:,} jobs",
            long / short,
            at_most=3,
            note=f"{long / large.jobs * 1e6:.2f} µs : {short / small.jobs * 1e6:.2f} µs a job",
        )


def _compare(first: LogSpec, second: LogSpec, settings: Settings) -> Iterator[tuple[str, float, float]]:
    """For each policy, seconds of `simulate()` for both."""
    for policy in POLICIES:
        calls = [partial(_time, spec, policy) for spec in (first, second)]
        one, other = (middle(found).on(settings.clock) for found in interleaved(settings.repeats, *calls))
        yield policy, one, other


def _time(spec: LogSpec, policy: str) -> Spent:
    return once.simulate(spec, policy)[0]

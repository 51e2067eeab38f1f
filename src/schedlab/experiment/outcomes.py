"""Simulating a log and what was made after it, to see whether their schedules behave alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from schedlab.analysis.outcome import OutcomeComparison, outcome_of
from schedlab.engine import simulate as engine
from schedlab.generate.base import Model, generate
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.workload import Workload
from schedlab.workload.swf.header import machine_size

SEEDS = 5
HOPELESS_SEEDS = 2  # where the log alone shows that its mean wait says nothing
POLICIES = ("easy",)

Tell = Callable[[int, str], None]  # runs that are done, what is simulated now


def compare_outcomes(
    workload: Workload | Model,
    reference: Workload,
    cluster: Cluster,
    policies: Sequence[str] = POLICIES,
    *,
    seeds: Sequence[int] = range(SEEDS),
    tell: Tell = lambda done, what: None,
) -> list[OutcomeComparison]:
    """Under each policy, the reference and the workload: another log, or a model, of which several seeds are simulated.

    What a model makes is as long as the reference.
    """
    found = []
    done = 0
    span = span_of(reference)
    for policy in policies:
        tell(done, f"{policy}: {reference.name}")
        of_reference = outcome_of(engine.simulate(on_machine(reference, cluster), cluster, policy))
        done += 1
        if of_reference is None:
            raise InputError("no job can be started", where=f"{reference.name} on {cluster.name}")
        few = len(seeds) if not of_reference.trouble else min(len(seeds), HOPELESS_SEEDS)
        runs = []
        for jobs in _workloads(workload, span, seeds[:few]):
            tell(done, f"{policy}: {jobs.name}")
            outcome = outcome_of(engine.simulate(on_machine(jobs, cluster), cluster, policy))
            done += 1
            if outcome is None:
                raise InputError("no job can be started", where=f"{jobs.name} on {cluster.name}")
            runs.append(outcome)
        found.append(
            OutcomeComparison(
                policy=policy,
                machine=cluster.name,
                workload_name=workload.name if isinstance(workload, Workload) else f"{workload.kind} model",
                reference_name=reference.name,
                reference=of_reference,
                runs=tuple(runs),
                seeds=not isinstance(workload, Workload),
            )
        )
    return found


def on_machine(workload: Workload, cluster: Cluster) -> Workload:
    """Jobs that ask for what the machine has: without memory, partitions and features where it knows of none."""
    if cluster.more_than_cores:
        return workload
    return replace(workload, requests=[request.plain() for request in workload.requests])


def machine_of(workload: Workload) -> Cluster:
    """The pool that the log's header tells; else one that holds its largest job."""
    if said := machine_size(workload.header):
        return Cluster.of_cores(said[0])
    largest = max((int(workload.cores(batch).max()) for batch in workload.batches() if len(batch)), default=1)
    return Cluster.of_cores(max(largest, 1))


def _workloads(workload: Workload | Model, span: float, seeds: Sequence[int]) -> Iterator[Workload]:
    if isinstance(workload, Workload):
        yield workload
        return
    for seed in seeds:
        yield generate(workload, span=span, seed=seed, name=f"seed {seed}")


def span_of(workload: Workload) -> float:
    """First to last submittal, in seconds."""
    ends = [(batch.submit[0], batch.submit[-1]) for batch in workload.batches() if len(batch)]
    return max(float(ends[-1][1] - ends[0][0]), 1.0) if ends else 1.0

"""Simulating a log and what was made after it, to see whether their schedules behave alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from schedlab.analysis.outcome import Outcome, OutcomeComparison, outcome_of
from schedlab.engine import simulate as engine
from schedlab.generate.base import Model, generate
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.workload import Workload

SEEDS = 5
MOST_SEEDS = 20
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
    most: int = MOST_SEEDS,
    tell: Tell = lambda done, what: None,
) -> list[OutcomeComparison]:
    """Under each policy, the reference and the workload: another log, or a model, of which several seeds are simulated.

    What a model makes is as long as the reference. While the `seeds` do not tell whether schedules behave alike, as
    many again are simulated, the numbers after the last, up to `most` in all.
    """
    found = []
    done = 0
    span = span_of(reference)

    def simulated(jobs: Workload, policy: str) -> Outcome:
        nonlocal done
        tell(done, f"{policy}: {jobs.name}")
        outcome = outcome_of(engine.simulate(jobs, cluster, policy))
        done += 1
        if outcome is None:
            raise InputError("no job can be started", where=f"{jobs.name} on {cluster.name}")
        return outcome

    for policy in policies:
        of_reference = simulated(reference, policy)
        compared = OutcomeComparison(
            policy=policy,
            machine=cluster.name,
            reference_name=reference.name,
            reference=of_reference,
            runs=(),
            seeds=not isinstance(workload, Workload),
        )
        if isinstance(workload, Workload):
            found.append(replace(compared, runs=(simulated(workload, policy),)))
            continue
        next_seeds = list(seeds)[: HOPELESS_SEEDS if of_reference.trouble else None]
        while next_seeds:
            made = (generate(workload, span=span, seed=seed, name=f"seed {seed}") for seed in next_seeds)
            compared = replace(compared, runs=(*compared.runs, *(simulated(jobs, policy) for jobs in made)))
            open_question = compared.answer == "unknown" and not compared.trouble
            room = min(len(seeds), most - len(compared.runs)) if open_question else 0
            next_seeds = [next_seeds[-1] + 1 + place for place in range(room)]
        found.append(compared)
    return found


def span_of(workload: Workload) -> float:
    """First to last submittal, in seconds."""
    ends = [(batch.submit[0], batch.submit[-1]) for batch in workload.batches() if len(batch)]
    return max(float(ends[-1][1] - ends[0][0]), 1.0) if ends else 1.0

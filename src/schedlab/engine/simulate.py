"""Simulating one policy on one workload: from the nouns of the model to the native core and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from schedlab import _core
from schedlab.engine.decider import Decider
from schedlab.engine.feed import Feed
from schedlab.engine.store import MemoryWriter, RunWriter
from schedlab.model.cluster import Cluster
from schedlab.model.errors import DecisionError, InputError, InvariantError
from schedlab.model.run import Run
from schedlab.model.suggest import did_you_mean
from schedlab.model.workload import Workload
from schedlab.policy.estimates import parse_estimate
from schedlab.policy.spec import PolicySpec, parse_policy

Overrun = Literal["kill", "run"]
Passes = Literal["instant", "event"]
Dependencies = Literal["ignore", "follow"]
Progress = Callable[[float, int], None]  # simulated time, jobs that have left


@dataclass(frozen=True, slots=True)
class Options:
    """The rules of time (docs/semantics.md)."""

    estimate: str = "limit"
    overrun: Overrun = "kill"
    passes: Passes = "instant"
    dependencies: Dependencies = "ignore"

    def __post_init__(self) -> None:
        for name, allowed in (("overrun", Overrun), ("passes", Passes), ("dependencies", Dependencies)):
            value, choices = getattr(self, name), get_args(allowed)
            if value not in choices:
                hint = did_you_mean(str(value), choices, f"one of {', '.join(choices)}")
                raise InputError(f"{name} cannot be {value!r}", hint=hint)


def simulate(
    workload: Workload,
    cluster: Cluster,
    policy: str | PolicySpec | Decider = "easy",
    *,
    estimate: str = "limit",
    overrun: Overrun = "kill",
    passes: Passes = "instant",
    dependencies: Dependencies = "ignore",
    validate: bool = False,
    out: str | Path | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Run:
    """Replay `workload` on `cluster` under `policy`: its text (`easy:order=sjf`), or an object that decides.

    With `out` the run streams into that folder and memory stays small; without, it is kept in memory. `validate` checks
    the engine's invariants at every step (slow). `progress` is called a few times a second.
    """
    spec, text, decide = _understood(policy)
    options = Options(estimate, overrun, passes, dependencies)
    simulation = _simulation(cluster, spec, options, validate, repeat_workload=out is not None)
    feed = Feed(workload, cluster, simulation, keep=out is None)
    follow = options.dependencies == "follow"
    writer = (
        MemoryWriter(cluster, dependencies=follow)
        if out is None
        else RunWriter(out, cluster, force=force, dependencies=follow)
    )
    with writer:
        try:
            seconds = simulation.run(
                decide=decide,
                batches=feed.batches(),
                write_jobs=lambda batch: writer.write_jobs(feed.complete(batch)),
                write_timeline=writer.write_timeline,
                progress=progress,
            )
        except _core.DecisionError as error:
            raise DecisionError(str(error)) from error
        except _core.InvariantError as error:
            raise InvariantError(str(error)) from error
        return writer.finish(
            {
                "policy": text,
                "options": asdict(options),
                "workload": _described(workload),
                "requests": list(workload.requests),
                "timing": {"engine": seconds},
            }
        )


def _understood(policy: str | PolicySpec | Decider) -> tuple[PolicySpec, str, Callable[..., None] | None]:
    """What the core has to know, the policy's name, and who decides if not the core."""
    if isinstance(policy, str):
        policy = parse_policy(policy)
    if isinstance(policy, PolicySpec):
        return policy, policy.text, None
    return parse_policy("fcfs"), type(policy).__qualname__, policy.decide  # only its placement, first-fit, matters


def _simulation(
    cluster: Cluster, policy: PolicySpec, options: Options, validate: bool, repeat_workload: bool
) -> _core.Simulation:
    estimate = parse_estimate(options.estimate)
    names = cluster.resource_names
    return _core.Simulation(
        resources=list(names),
        groups=[(group.count, [group.resources.get(name, 0) for name in names]) for group in cluster.groups],
        backfill=policy.backfill,
        order=list(policy.order.program),
        scan=None if policy.scan is None else list(policy.scan.program),
        depth=-1 if policy.depth is None else policy.depth,
        reservations=policy.reservations,
        placement=policy.place.name,
        placement_seed=policy.place.seed,
        exclusive=policy.exclusive,
        estimate=estimate.kind,
        estimate_factor=estimate.factor,
        pass_per_event=options.passes == "event",
        kill_at_limit=options.overrun == "kill",
        follow_dependencies=options.dependencies == "follow",
        validate=validate,
        repeat_workload=repeat_workload,
    )


def _described(workload: Workload) -> dict[str, Any]:
    return {
        "name": workload.name,
        "sha256": workload.content_hash,
        "origin": workload.origin.isoformat() if workload.origin else None,
        "report": asdict(workload.report),
    }

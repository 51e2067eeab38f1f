"""Simulating one policy on one workload: from the nouns of the model to the native core and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from schedlab import _core
from schedlab.engine.decider import Decider
from schedlab.engine.store import MemoryWriter, RunWriter
from schedlab.model.cluster import Cluster
from schedlab.model.errors import DecisionError, InputError, InvariantError
from schedlab.model.request import Request
from schedlab.model.run import Run
from schedlab.model.states import REASONS
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
    simulation = _simulation(cluster, spec, options, validate)
    feed = _Feed(workload, cluster, simulation)
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
                write_jobs=lambda batch: writer.write_jobs(feed.named(batch)),
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


def _simulation(cluster: Cluster, policy: PolicySpec, options: Options, validate: bool) -> _core.Simulation:
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
    )


class _Feed:
    """Hands the workload's batches to the core, and new kinds of requests before the first job that uses them."""

    def __init__(self, workload: Workload, cluster: Cluster, simulation: _core.Simulation) -> None:
        self._workload, self._cluster, self._simulation = workload, cluster, simulation
        self._known = 0
        self._names: dict[int, str] = {}

    def batches(self) -> Iterator[dict[str, Any]]:
        for batch in self._workload.batches():
            for request in self._workload.requests[self._known :]:
                self._add(request)
            if batch.names is not None:
                self._names.update(zip(batch.id.tolist(), batch.names, strict=True))
            yield batch.columns()

    def named(self, batch: dict[str, Any]) -> dict[str, Any]:
        """The batch of results, with the jobs' names where their ids are not numbers."""
        if self._names:
            batch["name"] = [self._names[job] for job in batch["id"].tolist()]
        return batch

    def _add(self, request: Request) -> None:
        names, groups, reason = self._cluster.resource_names, *self._eligible(request)
        self._known += 1
        self._simulation.add_request(
            chunk=[request.chunk.get(name, 0) for name in names],
            per_node_min=request.per_node_min,
            per_node_max=request.per_node_max,
            exclusive=request.exclusive,
            groups=groups,
            reason=REASONS.index(reason),
        )

    def _eligible(self, request: Request) -> tuple[list[bool], str]:
        """Which node groups may serve the request, or why none may."""
        cluster = self._cluster
        everywhere = [True] * len(cluster.groups)
        if any(amount > 0 and name not in cluster.resource_names for name, amount in request.chunk.items()):
            return everywhere, "unknown resource"
        wanted = [
            p for p in cluster.partitions if (p.default if request.partition is None else p.name == request.partition)
        ]
        if request.partition is not None and not wanted:
            return everywhere, "unknown partition"
        inside = {name for partition in wanted for name in partition.groups} or {g.name for g in cluster.groups}
        groups = [group.name in inside and request.features <= group.features for group in cluster.groups]
        return groups, "" if any(groups) else "no node has the features"


def _described(workload: Workload) -> dict[str, Any]:
    return {
        "name": workload.name,
        "sha256": workload.content_hash,
        "origin": workload.origin.isoformat() if workload.origin else None,
        "report": asdict(workload.report),
    }

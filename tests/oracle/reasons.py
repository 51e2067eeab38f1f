"""Why each job waits, at the end of every instant: docs/semantics.md ("Why a job waits") written out, slowly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from tests.oracle.jobs import Job, Policy, Window, sort_key
from tests.oracle.machine import Cap, Claim, capacity, place, rooms
from tests.oracle.passes import earliest, fits_at, shadow_time
from tests.oracle.simulator import Options, Simulation

from schedlab.model.cluster import Cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

Reason = tuple[str, int | None]  # in words, and the id of the job in the way


class Row(NamedTuple):
    begin: float
    end: float
    why: str
    who: int | None


def explain(
    jobs: list[Job],
    cluster: Cluster,
    policy: Policy,
    *,
    estimate: str = "limit",
    overrun: str = "kill",
    passes: str = "instant",
    dependencies: str = "ignore",
    cap: Cap | None = None,
    windows: Sequence[Window] = (),
) -> dict[int, list[Row]]:
    """By sequence: what each job waited for, and from when until when. What lasts to the end of the run never ends."""
    options = Options(estimate, overrun, passes, dependencies)
    simulation = Explained(jobs, cluster, policy, options, cap, windows)
    simulation.run()
    rows: dict[int, list[Row]] = {}
    for job in jobs:
        for time, reason in simulation.told.get(job, []):
            told = rows.setdefault(job.sequence, [])
            if told and told[-1].end == math.inf:
                told[-1] = told[-1]._replace(end=time)
            if reason is not None:
                told.append(Row(time, math.inf, *reason))
    return {sequence: merged(told) for sequence, told in rows.items() if merged(told)}


def merged(rows: list[Row]) -> list[Row]:
    found: list[Row] = []
    for row in rows:
        if row.begin == row.end:
            continue
        if found and found[-1].end == row.begin and found[-1][2:] == row[2:]:
            found[-1] = found[-1]._replace(end=row.end)
        else:
            found.append(row)
    return found


class Explained(Simulation):
    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.told: dict[Job, list[tuple[float, Reason | None]]] = {}

    def instant_is_over(self, asked: bool) -> None:
        for job in self.told:
            if job not in self.waiting and job not in self.held:
                self.tell(job, None)
        for job in self.held:
            self.tell(job, ("dependency", awaited_by(job)))
        if asked:
            queue = sorted(self.waiting, key=lambda job: sort_key(self.policy.order, job, self.now))
            for job in queue:
                self.tell(job, why(self, job, queue))

    def tell(self, job: Job, reason: Reason | None) -> None:
        told = self.told.setdefault(job, [])
        if not told or told[-1][1] != reason:
            told.append((self.now, reason))


def awaited_by(job: Job) -> int | None:
    """The first of its predecessors of which it is not known whether its condition holds; None if only time is."""
    if job.release < math.inf:
        return None
    for other, condition, _ in job.waits:
        started = condition == "started" and not math.isnan(other.first_start)
        if not (other.state or started):
            return other.id
    return None


def why(sim: Simulation, job: Job, queue: list[Job]) -> Reason:
    head = queue[0]
    if sim.policy.backfill == "none" and job is not head:
        return "behind job", head.id
    if (obstacle := obstacle_of(sim, job)) is not None:
        return obstacle, None
    delayed = None
    match sim.policy.backfill:
        case "easy" if sim.policy.reservations > 1 or sim.windows:
            most = sim.policy.reservations
            if sim.policy.depth is not None:
                most = min(most, sim.policy.depth + 1)
            delayed = first_in_the_way(sim, job, planned(sim, queue[:most]))
        case "easy" | "easy-strict" if job is not head:
            delayed = head if would_delay(sim, job, head) else None
        case "conservative":
            claims = sim.reservations.claims
            order = sorted(claims, key=lambda other: (claims[other].begin, other.sequence))
            delayed = first_in_the_way(sim, job, [claims[other] for other in order])
    return ("limit", None) if delayed is None else ("would delay job", delayed.id)


def obstacle_of(sim: Simulation, job: Job) -> str | None:
    """What is left out of account, one after the other; the last before the job fits is what it waits for."""
    if fits(sim, job):
        return None
    left_out: dict[str, bool] = {}
    for name in ("budget", "calendar", "closed nodes", "partition or features"):
        left_out[name] = True
        if fits(sim, job, left_out):
            return name
    return "not enough free"


def fits(sim: Simulation, job: Job, left_out: dict[str, bool] | None = None) -> bool:
    return place_now(sim, job, left_out or {}) is not None


def place_now(sim: Simulation, job: Job, left_out: dict[str, bool]) -> dict[int, int] | None:
    request, partition = job.request, sim.default_partition
    if "partition or features" in left_out:
        request, partition = replace(request, features=frozenset(), partition=None), None
    without = frozenset() if "calendar" in left_out else sim.kept_off(job, sim.now, sim.now + job.estimate)
    if "closed nodes" not in left_out:
        without = without | sim.closed.keys()
    held = sim.held_now()
    free = rooms(sim.nodes, held)
    exclusive = sim.is_exclusive(job)
    capacities = [
        0 if number in without else capacity(node, room, request, exclusive, partition)
        for number, (node, room) in enumerate(zip(sim.nodes, free, strict=True))
    ]
    placement = "first-fit" if sim.policy.place in ("last-fit", "careless") else sim.policy.place
    nodes = place(placement, free, capacities, job, exclusive)
    if nodes is None or sim.cap is None or "budget" in left_out:
        return nodes
    own = Claim(job, request, nodes, sim.now, math.inf, exclusive)
    return nodes if sim.cap.allows([*held, own]) else None


def would_delay(sim: Simulation, job: Job, head: Job) -> bool:
    """Under `easy`: it would not be gone at the head's shadow time, and the head would not fit beside it then."""
    shadow = shadow_time(sim, head)
    if sim.now + job.estimate <= shadow:
        return False
    if sim.policy.backfill == "easy-strict":
        return True
    nodes = place_now(sim, job, {})
    assert nodes is not None
    return not fits_at(sim, head, shadow, beside=(job, nodes))


# Reservations.


def planned(sim: Simulation, jobs: list[Job]) -> list[Claim]:
    """The earliest reservation of each, beside those before it."""
    made: list[Claim] = []
    for job in jobs:
        with reservations(sim, made):
            made.append(earliest(sim, job))
    return made


def first_in_the_way(sim: Simulation, job: Job, claims: list[Claim]) -> Job | None:
    """The first reservation with which, beside those before it, the job could not have its whole estimate from now."""
    for number, claim in enumerate(claims):
        others = [other for other in claims[: number + 1] if other.job is not job]
        with reservations(sim, others):
            if earliest(sim, job).begin > sim.now:
                return claim.job
    return None


@contextmanager
def reservations(sim: Simulation, claims: list[Claim]) -> Iterator[None]:
    """As if these were all there are."""
    kept = sim.reservations.claims
    sim.reservations.claims = {claim.job: claim for claim in claims}
    yield
    sim.reservations.claims = kept

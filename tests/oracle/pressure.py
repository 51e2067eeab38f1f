"""What orders may ask of the whole machine: how full it is, and what users have had of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tests.oracle.jobs import Job
from tests.oracle.machine import rooms

if TYPE_CHECKING:
    from tests.oracle.simulator import Simulation


def look_at_the_machine(sim: Simulation) -> None:
    """Writes it down for the waiting jobs, where an order asks for it."""
    asked = f"{sim.policy.order} {sim.policy.scan}"
    if "filler" in asked:
        look_at_the_fill(sim)
    if "usage" in asked:
        look_at_the_usage(sim, "user")
        look_at_the_usage(sim, "group")
    if "machine" in asked:
        for job in sim.waiting:
            job.machine = sum(node.total["cores"] for node in sim.nodes)


def look_at_the_fill(sim: Simulation) -> None:
    """How many jobs wait, and how much of what is free each of them takes: what the order `filler` looks at."""
    free = sum(0 if room.closed else room.free.get("cores", 0) for room in rooms(sim.nodes, sim.held_now()))
    for job in sim.waiting:
        job.waiting = len(sim.waiting)
        job.fill = 1.0 if free <= 0 else -1.0 if job.cores > free else job.cores / free


def look_at_the_usage(sim: Simulation, kind: str) -> None:
    """What users or groups have used, the older the less, as multiples of an equal share."""
    half_life = sim.policy.half_life
    used: dict[int, float] = {}
    for job in sim.ran:
        since, until = (2 ** ((time - sim.now) / half_life) for time in (job.start, min(job.end, sim.now)))
        who = getattr(job, kind)
        used[who] = used.get(who, 0.0) + allocated(sim, job) * (until - since) * half_life / math.log(2)
    total = sum(used.values())
    for job in sim.waiting:
        own = used.get(getattr(job, kind), 0.0)
        setattr(job, f"{kind}_usage", own * len(used) / total if total > 0 else 0.0)


def allocated(sim: Simulation, job: Job) -> int:
    """Cores; of whole nodes all."""
    if sim.is_exclusive(job):
        return sum(sim.nodes[number].total["cores"] for number in job.nodes)
    return job.cores

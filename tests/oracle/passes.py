"""One pass of each backfill discipline over the waiting jobs."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tests.oracle.jobs import Job, sort_key
from tests.oracle.machine import Claim, Node, Plan, capacity, is_eligible, least
from tests.oracle.pressure import look_at_the_machine

from schedlab.model.request import SINGLE_CORE

if TYPE_CHECKING:
    from tests.oracle.simulator import Simulation


@dataclass
class Reservations:
    """What `conservative` keeps from one pass to the next."""

    claims: dict[Job, Claim] = field(default_factory=dict)
    counted: bool = True  # as numbers of cores; False: on nodes
    compress: bool = False  # a job has ended early, or a waiting job has left
    woken: float = -math.inf  # when it last asked to be
    remake: bool = False  # an estimate was corrected, or nodes matter from now on

    def give_up(self, job: Job) -> None:
        """It leaves the queue without running. Nobody can gain by a start that would never have come."""
        claim = self.claims.pop(job, None)
        self.compress |= claim is not None and claim.begin < math.inf


@dataclass
class Periods:
    """What is owed where passes have their times: one at all, and one with backfilling."""

    a_pass: bool = False
    backfill: bool = False
    woken: float = -math.inf
    keys_of: float = -math.inf  # the number of the period in which keys were last computed


def ask(sim: Simulation, news: bool = True) -> None:
    """`news`: something else has happened than that somebody is woken."""
    look_at_the_machine(sim)
    policy = sim.policy
    if policy.every or policy.backfill_every or policy.keys_every:
        ask_in_time(sim, news)
    else:
        decide(sim, sorted(sim.waiting, key=lambda job: sort_key(policy.order, job, sim.now)))


def ask_in_time(sim: Simulation, news: bool) -> None:
    policy, owed = sim.policy, sim.periods
    for job in sim.waiting:
        if math.isnan(job.key):
            job.key = sort_key(policy.order, job, sim.now)[0]
    news |= policy.backfill == "conservative"  # whose jobs start at reserved times
    owed.a_pass |= news
    owed.backfill |= news
    # Where there are times of passes, those of backfilling are every so many-th of them.
    unit = policy.every or policy.backfill_every
    units = round(policy.backfill_every / unit) if policy.backfill_every else 1
    is_time = not policy.every or is_multiple(sim.now, policy.every, 1)
    with_backfill = owed.backfill and (not unit or is_multiple(sim.now, unit, units))
    if is_time and (owed.a_pass or with_backfill):
        period = last_multiple(sim.now, policy.keys_every) if policy.keys_every else math.nan
        if period != owed.keys_of:
            owed.keys_of = period
            for job in sim.waiting:
                job.key = sort_key(policy.order, job, sim.now)[0]
        queue = sorted(sim.waiting, key=lambda job: (job.key, job.ranked_since, job.sequence))
        if with_backfill:
            decide(sim, queue)
        else:
            start_while_they_fit(sim, queue)
        owed.a_pass, owed.backfill = False, owed.backfill and not with_backfill
    if not sim.waiting:
        owed.a_pass = owed.backfill = False
    times = [next_multiple(sim.now, policy.every, 1)] if owed.a_pass else []
    if owed.backfill:
        times.append(next_multiple(sim.now, unit, units))
    if times and not sim.now < owed.woken <= min(times):
        owed.woken = min(times)
        sim.set_event("wake-up", owed.woken, None)


def last_multiple(now: float, period: float) -> int:
    """The largest k of which k × period, as a float, is not after now."""
    around = round(now / period)
    return max(k for k in range(around - 2, around + 3) if k * period <= now)


def is_multiple(now: float, period: float, units: int) -> bool:
    """Of `units` × period."""
    k = last_multiple(now, period)
    return k * period == now and k % units == 0


def next_multiple(now: float, period: float, units: int) -> float:
    k = last_multiple(now, period)
    return (k - k % units + units) * period


def decide(sim: Simulation, queue: list[Job]) -> None:
    match sim.policy.backfill:
        case "none":
            start_while_they_fit(sim, queue)
        case "skip":
            skip(sim, queue)
        case "easy" if sim.policy.reservations > 1 or sim.windows:
            easy_with_reservations(sim, queue)
        case "easy" | "easy-strict":
            easy(sim, queue, use_extra=sim.policy.backfill == "easy")
        case "conservative":
            conservative(sim, queue)
        case "reject":
            for job in queue:
                sim.waiting.remove(job)
                sim.leave(job, "rejected")


def see(sim: Simulation, job: Job) -> None:
    """It is eligible: from the first job on of which numbers of cores do not say all, plans are made on nodes."""
    if sim.reservations.counted and not is_plain(sim, job):
        sim.reservations.counted, sim.reservations.remake = False, True


def start_while_they_fit(sim: Simulation, queue: list[Job]) -> list[Job]:
    """Start jobs in order; what is left begins with the first that does not fit."""
    for position, job in enumerate(queue):
        nodes = sim.fit_now(job)
        if nodes is None:
            return queue[position:]
        sim.start(job, nodes, queue)
    return []


def skip(sim: Simulation, queue: list[Job]) -> None:
    rest = start_while_they_fit(sim, queue)[1:]
    for job in rest[: sim.policy.depth]:
        nodes = sim.fit_now(job)
        if nodes is not None:
            sim.start(job, nodes, queue)


def easy(sim: Simulation, queue: list[Job], use_extra: bool) -> None:
    blocked = start_while_they_fit(sim, queue)
    if not blocked:
        return
    head, candidates = blocked[0], in_scan_order(sim, blocked[1:])
    shadow = shadow_time(sim, head)
    for job in candidates[: sim.policy.depth]:
        nodes = sim.fit_now(job)
        if nodes is None:
            continue
        ends_before = sim.now + job.estimate <= shadow
        if ends_before or (use_extra and fits_at(sim, head, shadow, beside=(job, nodes))):
            sim.start(job, nodes, queue)


def in_scan_order(sim: Simulation, jobs: list[Job]) -> list[Job]:
    scan = sim.policy.scan
    return jobs if scan is None else sorted(jobs, key=lambda job: sort_key(scan, job, sim.now))


def shadow_time(sim: Simulation, head: Job) -> float:
    ends = sorted(claim.end for claim in sim.held_now())
    return next((end for end in ends if fits_at(sim, head, end)), math.inf)  # never: it waits for the calendar


def fits_at(sim: Simulation, job: Job, time: float, beside: tuple[Job, dict[int, int]] | None = None) -> bool:
    """Whether the job fits when all running jobs with an estimated end <= `time` have left."""
    claims = [claim for claim in sim.held_now() if claim.end > time]
    if beside is not None:
        other, nodes = beside
        claims.append(Claim(other, other.request, nodes, sim.now, math.inf, sim.is_exclusive(other)))
    return sim.fit(job, [sim.moment(claims)], closed=True) is not None


# Reservations.


def conservative(sim: Simulation, queue: list[Job]) -> None:
    kept = sim.reservations
    reserved = [job for job in queue if job in kept.claims]
    if kept.remake:
        kept.claims.clear()
        for job in reserved:
            kept.claims[job] = earliest(sim, job)
    elif kept.compress:
        for job in sorted(reserved, key=lambda job: (kept.claims[job].begin, job.sequence)):
            old = kept.claims.pop(job)
            new = earliest(sim, job)
            # Later only if a node that is the last of `old` has not the minimum that a new allocation would need.
            kept.claims[job] = new if new.begin <= old.begin else old
    kept.remake = kept.compress = False
    for job in queue:
        if job not in kept.claims:
            kept.claims[job] = earliest(sim, job)
    for job in queue:
        start_if_due(sim, job, queue)
    if kept.claims:
        next_start = min(claim.begin for claim in kept.claims.values())
        if next_start > sim.now and not sim.now < kept.woken <= next_start:  # else it is asked before that
            kept.woken = next_start
            sim.set_event("wake-up", next_start, None)


def easy_with_reservations(sim: Simulation, queue: list[Job]) -> None:
    """Plan from scratch, in order, until K jobs hold a reservation; the others may start now or not at all."""
    claims = sim.reservations.claims
    claims.clear()
    left = len(queue) if sim.policy.depth is None else sim.policy.depth  # that may be looked at after the first of them
    for position, job in enumerate(queue):
        if claims:
            if left == 0:
                break
            left -= 1
        claims[job] = earliest(sim, job)
        start_if_due(sim, job, queue)
        if len(claims) == sim.policy.reservations:
            for candidate in in_scan_order(sim, queue[position + 1 :])[:left]:
                claims[candidate] = earliest(sim, candidate)
                start_if_due(sim, candidate, queue)
                claims.pop(candidate, None)
            break


def start_if_due(sim: Simulation, job: Job, queue: list[Job]) -> None:
    claim = sim.reservations.claims[job]
    if claim.begin > sim.now:
        return
    nodes = sim.fit_now(job) if sim.reservations.counted else claim.nodes
    assert nodes is not None, "what is reserved is free"
    del sim.reservations.claims[job]
    if not sim.reservations.counted and sim.policy.place == "last-fit":
        wanted = sim.fit_now(job)
        assert wanted is not None, "there is at least as much room now as there is for the whole time"
        nodes = wanted if has_place_in_plan(sim, job, wanted) else nodes
    sim.start(job, nodes, queue)


def has_place_in_plan(sim: Simulation, job: Job, nodes: dict[int, int]) -> bool:
    """Whether these nodes have room for it until its estimated end beside the running jobs and the reservations."""
    end = sim.now + job.estimate
    plan = Plan(sim.nodes, sim.held_now() + list(sim.reservations.claims.values()))
    found = least(plan.during(sim.now, end))
    bare = replace(job.request, per_node_min=0)
    return all(
        capacity(sim.nodes[number], found[number], bare, sim.is_exclusive(job), sim.default_partition) >= chunks
        for number, chunks in nodes.items()
    )


def earliest(sim: Simulation, job: Job) -> Claim:
    """The first window beside running jobs and reservations in which the job fits for its whole estimate."""
    counted = sim.reservations.counted
    running = [counted_claim(sim, c.job, c.begin, c.end) if counted else c for c in sim.held_now()]
    claims = running + list(sim.reservations.claims.values())
    changes = {time for claim in claims for time in (claim.begin, claim.end)}
    if sim.cap is not None:
        changes = {time for time in changes if time > sim.now and changes_at(claims, time)}
    tried = changes | {window.until for window in sim.windows}
    plan = Plan([heap_of_cores(sim)] if counted else sim.nodes, claims)
    for begin in sorted({sim.now, *(time for time in tried if time > sim.now)}):
        end = begin + job.estimate
        held = plan.during(begin, end)
        if counted:
            if units(sim, job) <= least(held)[0].free["cores"]:
                return counted_claim(sim, job, begin, end)
        else:
            place = "first-fit" if sim.policy.place == "last-fit" else sim.policy.place
            nodes = sim.fit(job, held, sim.kept_off(job, begin, end), place)
            if nodes is not None:
                return Claim(job, job.request, nodes, begin, end, sim.is_exclusive(job))
    raise AssertionError("a job that fits the empty machine fits after everything else")


def changes_at(claims: list[Claim], time: float) -> bool:
    """Whether some node has something else then than just before.

    Under a cap a start may be possible where there is not more room: the placement may take another node.
    """
    before = [claim for claim in claims if claim.begin < time <= claim.end]
    after = [claim for claim in claims if claim.begin <= time < claim.end]
    return in_use(before) != in_use(after)


def in_use(claims: list[Claim]) -> dict[tuple[int, str], int]:
    """Of each node: what is taken of each resource, and how many jobs are there; one that has all of it: its cores."""
    used: dict[tuple[int, str], int] = defaultdict(int)
    for claim in claims:
        for number, chunks in claim.nodes.items():
            taken = {"cores": claim.request.chunk.get("cores", 0)} if claim.exclusive else claim.request.chunk
            for resource, amount in taken.items():
                if amount:
                    used[number, resource] += chunks * amount
            used[number, "whole" if claim.exclusive else "jobs"] += 1
    return used


# Counting: the whole machine is one heap of cores (of whole nodes, if nodes are exclusive), treated as node number 0.


def is_plain(sim: Simulation, job: Job) -> bool:
    """Whether counting is exact: any free core will do for such a job."""
    request = job.request
    if (
        sim.windows
        or non_zero(request.chunk) != {"cores": 1}
        or request.per_node_min
        or request.per_node_max
        or sim.policy.place == "contiguous"
    ):
        return False
    partition = request.partition or sim.default_partition
    if not all(is_eligible(node, request, partition) for node in sim.nodes):
        return False
    if sim.cap is not None and (
        sim.cap.cores is None or sim.policy.exclusive or any(job.request.exclusive for job in sim.jobs)
    ):
        return False
    alike = all(non_zero(node.total) == non_zero(sim.nodes[0].total) for node in sim.nodes)
    return alike if sim.policy.exclusive else not request.exclusive


def non_zero(amounts: dict[str, int]) -> dict[str, int]:
    return {resource: amount for resource, amount in amounts.items() if amount}


def heap_of_cores(sim: Simulation) -> Node:
    cores = sum(1 if sim.policy.exclusive else node.total["cores"] for node in sim.nodes)
    if sim.cap is not None and sim.cap.cores is not None:
        cores = min(cores, int(sim.cap.cores))
    return Node("heap", {"cores": cores})


def units(sim: Simulation, job: Job) -> int:
    if job.granted is not None:
        cores = sum(amounts["cores"] for amounts in job.granted.values())
        return len(job.granted) if sim.policy.exclusive else cores
    return math.ceil(job.count / sim.nodes[0].total["cores"]) if sim.policy.exclusive else job.count


def counted_claim(sim: Simulation, job: Job, begin: float, end: float) -> Claim:
    return Claim(job, SINGLE_CORE, {0: units(sim, job)}, begin, end)

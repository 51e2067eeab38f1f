"""Random clusters, workloads and policies: small, full of ties and odd cases, the same for the same seed.

Hypothesis draws the seed and how many jobs there are, not every number: that is many times faster, and a failing case
can still be made smaller by its jobs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np
from tests.oracle import Cap, Job, Policy, Window
from tests.oracle.counted import counted

from schedlab.execution.maintenance import Maintenance, Reservation
from schedlab.model.cluster import Cluster, NodeGroup, Partition
from schedlab.model.predecessors import Predecessor
from schedlab.model.request import SINGLE_CORE, Request
from schedlab.model.workload import Ranks, Workload

BACKFILLS = ("none", "skip", "easy", "easy-strict", "conservative", "reject")
ORDERS = (
    *("fcfs", "sjf", "ljf", "smallest", "largest", "saf", "lxf", "wfp3", "unicef", "f1", "f2", "f3", "f4"),
    *("random(1)", "random(12)", "-cores*estimate", "wait/cores", "memory - gpus + 2*user"),
    *("min(limit, 3) - floor(now/4)", "max(wait/wait, cores) + random(2)", "-sequence"),
)
PLACEMENTS = ("first-fit", "best-fit", "spread", "contiguous", "random(1)", "random(5)")
ESTIMATES = ("limit", "limit", "exact", "limit*0.5", "limit*2", "last-two")
FEATURES = ("fast", "big")
Columns = dict[str, list[Any]]


@dataclass(frozen=True)
class Case:
    """One simulation, for both simulators."""

    columns: Columns
    requests: list[Request]
    cluster: Cluster
    policy: Policy
    options: dict[str, Any]
    detail: str = "full"  # how much of the requests counts
    watts: dict[str, dict[str, int]] | None = None  # of each node group, under a cap
    cap_watts: int = 0

    def cap(self) -> Cap | None:
        if self.watts is None:
            return None
        numbers = [self.watts[group.name] for group in self.cluster.groups for _ in range(group.count)]
        columns = {name: [float(one[name]) for one in numbers] for name in ("idle", "active", "per_core")}
        return Cap(float(self.cap_watts), **columns)

    def workload(self) -> Workload:
        columns = dict(self.columns)
        ranks = None
        if "rank_cores" in columns:
            cores, limit = columns.pop("rank_cores"), columns.pop("rank_limit")
            ranks = Ranks(cores=np.array(cores, np.int64), limit=np.array(limit, np.float64))
        return Workload.of(requests=list(self.requests), ranks=ranks, **columns)

    def jobs(self) -> list[Job]:
        requests = [counted(request, self.cluster, self.detail) for request in self.requests]
        records = [dict(zip(self.columns, row, strict=True)) for row in zip(*self.columns.values(), strict=True)]
        return [
            Job(**{**record, "request": requests[record["request"]], "sequence": sequence})
            for sequence, record in enumerate(records)
        ]

    def policy_text(self) -> str:
        policy = self.policy
        keys = {
            "order": policy.order,
            "scan": policy.scan,
            "place": policy.place,
            "nodes": "exclusive" if policy.exclusive else None,
            "depth": policy.depth,
            "reservations": policy.reservations if policy.reservations > 1 else None,
            **{name: getattr(policy, name) or None for name in ("every", "backfill_every", "keys_every")},
            "half_life": policy.half_life if policy.half_life != 604800.0 else None,
        }
        written = ",".join(f"{key}={value}" for key, value in keys.items() if value is not None)
        return "reject" if policy.backfill == "reject" else f"{policy.backfill}:{written}"


def random_case(seed: int, jobs: int, backfill: str, plain: bool, wide: bool = False) -> Case:
    """`plain`: jobs ask for processors only, as in an SWF log. `wide`: hundreds of nodes, and jobs to match."""
    random = Random(seed)
    scale = random.randint(20, 80) if wide else 1
    requests = [SINGLE_CORE] if plain else [random_request(random) for _ in range(random.randint(1, 4))]
    return Case(
        cluster=random_cluster(random, scale),
        requests=requests,
        policy=random_policy(random, backfill),
        options={
            "estimate": random.choice(ESTIMATES),
            "overrun": random.choice(("kill", "kill", "run")),
            "passes": random.choice(("instant", "event")),
            "dependencies": random.choice(("ignore", "follow")),
        },
        columns=random_jobs(random, jobs, len(requests), scale),
        detail=random.choice(("full", "full", "auto", "cores")),
    )


def random_capped_case(seed: int, jobs: int, backfill: str, plain: bool) -> Case:
    """The same under a cap on power, with numbers of watts that make it matter."""
    case, random = random_case(seed, jobs, backfill, plain), Random(~seed)
    # Every request is used: a whole-node request that nobody makes would still keep reservations from being numbers.
    requests = case.requests[:jobs]
    used = [*range(len(requests)), *(number % len(requests) for number in case.columns["request"][len(requests) :])]
    alike, steady = random.random() < 0.6, random.random() < 0.6

    def watts() -> dict[str, int]:
        idle = random.randint(0, 5)
        return {"idle": idle, "active": idle + random.randint(0, 0 if steady else 6), "per_core": random.randint(0, 4)}

    one = watts()
    groups = {group.name: one if alike else watts() for group in case.cluster.groups}
    numbers = [(groups[group.name], group) for group in case.cluster.groups]
    idle = sum(watt["idle"] * group.count for watt, group in numbers)
    more = sum(
        (watt["active"] - watt["idle"] + watt["per_core"] * group.resources["cores"]) * group.count
        for watt, group in numbers
    )
    cap = max(idle + max(round(more * random.uniform(0.1, 1.0)), min(more, 1)), 1)  # the idle machine is below it
    columns = case.columns | {"request": used}
    return replace(case, requests=requests, columns=columns, watts=groups, cap_watts=cap)


def random_cluster(random: Random, scale: int) -> Cluster:
    kind = random.randrange(4)
    if kind == 0:
        return Cluster.of_cores(random.randint(1, 10) * scale)
    if kind == 1:
        return Cluster.uniform(random.randint(1, 6) * scale, random.randint(1, 4), memory=random.randint(0, 8))
    groups = tuple(random_group(random, letter, scale) for letter in "abc"[: random.randint(1, 3)])
    names = [group.name for group in groups]
    partitions: tuple[Partition, ...] = ()
    if random.random() < 0.5:
        usual, other = (tuple(random.sample(names, random.randint(1, len(names)))) for _ in range(2))
        partitions = (Partition("usual", usual, default=True), Partition("other", other))
    return Cluster(groups, partitions)


def random_group(random: Random, letter: str, scale: int) -> NodeGroup:
    resources = {"cores": random.randint(0, 4)}
    resources |= {name: random.randint(0, most) for name, most in (("memory", 8), ("gpus", 2)) if random.random() < 0.5}
    features = frozenset(feature for feature in FEATURES if random.random() < 0.5)
    width = random.choice((0, 2))
    return NodeGroup(letter, random.randint(1, 3) * scale, resources, f"n{letter}", 1, width, features=features)


def random_request(random: Random) -> Request:
    if random.random() < 0.35:
        return SINGLE_CORE
    chunk = {"cores": random.randint(0, 3)}
    others = (("memory", 5), ("gpus", 1), ("nothing", 0))
    chunk |= {name: random.randint(0, most) for name, most in others if random.random() < 0.33}
    least, most = random.choice((0, 0, 0, 1, 2)), random.choice((0, 0, 0, 1, 2, 3))
    return Request(
        chunk,
        per_node_min=least,
        per_node_max=max(most, least) if most else 0,
        features=frozenset([random.choice(FEATURES)] if random.random() < 0.3 else []),
        partition=random.choice(("usual", "other", "unheard-of")) if random.random() < 0.25 else None,
        exclusive=random.random() < 0.25,
    )


def random_policy(random: Random, backfill: str) -> Policy:
    scans, looks_on = backfill in ("easy", "easy-strict"), backfill in ("skip", "easy", "easy-strict")
    reservations = random.choice((1, 1, 2, 3)) if backfill == "easy" else 1
    policy = Policy(
        backfill,
        order=random.choice(ORDERS) if random.random() < 0.6 else "fcfs",
        scan=random.choice(ORDERS) if scans and random.random() < 0.4 else None,
        place=random.choice(PLACEMENTS),
        exclusive=random.random() < 0.25,
        depth=random.randint(0, 4) if looks_on and random.random() < 0.3 else None,
        reservations=reservations,
    )
    return Policy(backfill) if backfill == "reject" else policy  # it has no keys


def random_jobs(random: Random, number: int, requests: int, scale: int) -> Columns:
    time = random_clock(random)
    largest, span = random.choice((2, 4, 7, 12)), random.choice((3, 12, 12, 40))
    cancelled, following = random.choice((0, 0.2)), random.choice((0, 0.4))
    runtime = [time(12) for _ in range(number)]
    columns: Columns = {
        "id": list(range(1, number + 1)),
        "submit": sorted(time(span) for _ in range(number)),
        "runtime": runtime,
        "limit": [length if random.random() < 0.4 else time(12) for length in runtime],
        "count": [random.randint(1, largest * scale) for _ in range(number)],
        "request": [random.randrange(requests) for _ in range(number)],
        "cancel": [time(span) if random.random() < cancelled else math.inf for _ in range(number)],
        "predecessors": [random_predecessors(random, number, following, time) for _ in range(number)],
        "any": [random.random() < 0.3 for _ in range(number)],
    }
    columns |= {name: [random.randint(-1, 1) for _ in range(number)] for name in ("user", "group", "queue")}
    return columns


def random_predecessors(random: Random, jobs: int, share: float, time: Any) -> list[Predecessor]:
    """Of any kind; also jobs that come later, that are not there, the job itself, and the same one twice."""
    if random.random() >= share:
        return []
    number, conditions = random.choice((1, 1, 1, 2, 3, 5)), random.choice(((0,), (0, 1, 2, 3), (0, 1, 2, 3), (1, 2)))
    return [
        Predecessor(random.randint(1, jobs + 1), random.choice(conditions), random.choice((0.0, time(5))))
        for _ in range(number)
    ]


def random_windows(random: Random, case: Case) -> list[Window]:
    """Maintenance for all and reservations for some, over the time at which the jobs of the case come."""
    nodes = sum(group.count for group in case.cluster.groups)
    span = max([*case.columns["submit"], *case.columns["limit"], 2.0])
    # By counting cores, easy-strict takes what a draining node gives back for free.
    victims = ("requeue", "kill") if case.policy.backfill == "easy-strict" else ("requeue", "kill", "drain")
    windows = []
    for _ in range(random.randint(1, 3)):
        begin = float(random.choice((0, random.randint(0, int(span)), random.choice(case.columns["submit"]))))
        length = float(random.choice((1, random.randint(1, int(span)), random.choice(case.columns["limit"]) or 1)))
        some = frozenset(random.sample(range(nodes), random.randint(1, nodes)))
        if random.random() < 0.5:
            windows.append(Window(some, begin, begin + length, victims=random.choice(victims)))
        else:
            users = frozenset(user for user in (0, 1) if random.random() < 0.5)
            windows.append(Window(some, begin, begin + length, users))
    return windows


def observer(window: Window, cluster: Cluster) -> Reservation:
    """The same for the engine."""
    names = cluster.node_names()
    nodes, length = ",".join(names[node] for node in sorted(window.nodes)), window.until - window.start
    if window.victims:
        return Maintenance(nodes, window.start, length, window.victims)  # type: ignore[arg-type]
    return Reservation(nodes, window.start, length, sorted(window.users))


def random_clock(random: Random) -> Any:
    """A way to draw times: whole numbers with many ties, in seconds to hours; halves; any number."""
    unit = random.choice((1, 1, 1, 40, 900, 40_000))
    match random.randrange(4):
        case 0 | 1:
            return lambda most: float(random.randint(0, most) * unit)
        case 2:
            return lambda most: random.randint(0, 2 * most) / 2
        case _:
            return lambda most: random.choice((0.0, 0.1, 0.2, 0.3, 1 / 3, random.uniform(0.001, most)))

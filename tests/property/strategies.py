"""Random clusters, workloads and policies: small, full of ties and odd cases."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st
from tests.oracle import Job, Policy

from schedlab.model.cluster import Cluster, NodeGroup, Partition
from schedlab.model.request import SINGLE_CORE, Request
from schedlab.model.workload import Workload

FEATURES = ("fast", "big")
ORDERS = (
    *("fcfs", "sjf", "ljf", "smallest", "largest", "saf", "lxf", "wfp3", "unicef", "f1", "f2", "f3", "f4"),
    *(
        "random(1)",
        "random(12)",
        "-cores*estimate",
        "wait/cores",
        "memory - gpus + 2*user",
        "min(limit, 3) - floor(now/4)",
    ),
)
PLACEMENTS = ("first-fit", "best-fit", "spread", "contiguous", "random(1)", "random(5)")
BACKFILLS = ("none", "skip", "easy", "easy-strict", "conservative", "reject")


@st.composite
def node_groups(draw: st.DrawFn, number: int) -> NodeGroup:
    resources = {"cores": draw(st.integers(0, 4))}
    for name, most in (("memory", 8), ("gpus", 2)):
        if draw(st.booleans()):
            resources[name] = draw(st.integers(0, most))
    features = frozenset(draw(st.sets(st.sampled_from(FEATURES))))
    width = draw(st.sampled_from([0, 2]))
    return NodeGroup(
        f"g{number}", draw(st.integers(1, 3)), resources, f"n{chr(97 + number)}", 1, width, features=features
    )


@st.composite
def heterogeneous(draw: st.DrawFn) -> Cluster:
    groups = tuple(draw(node_groups(number)) for number in range(draw(st.integers(1, 3))))
    names = [group.name for group in groups]
    partitions: tuple[Partition, ...] = ()
    if draw(st.booleans()):
        some = st.lists(st.sampled_from(names), min_size=1, unique=True).map(tuple)
        partitions = (Partition("usual", draw(some), default=True), Partition("other", draw(some)))
    return Cluster(groups, partitions)


def uniform() -> st.SearchStrategy[Cluster]:
    return st.builds(Cluster.uniform, st.integers(1, 6), st.integers(1, 4), memory=st.integers(0, 8))


def clusters() -> st.SearchStrategy[Cluster]:
    return st.one_of(st.builds(Cluster.of_cores, st.integers(1, 10)), uniform(), heterogeneous())


@st.composite
def requests(draw: st.DrawFn) -> Request:
    if draw(st.integers(0, 2)) == 0:
        return SINGLE_CORE
    chunk = {"cores": draw(st.integers(0, 3))}
    for name, most in (("memory", 5), ("gpus", 1), ("nothing", 0)):
        if draw(st.integers(0, 2)) == 0:
            chunk[name] = draw(st.integers(0, most))
    least = draw(st.sampled_from([0, 0, 0, 1, 2]))
    most_chunks = draw(st.sampled_from([0, 0, 0, 1, 2, 3]))
    return Request(
        chunk,
        per_node_min=least,
        per_node_max=most_chunks if most_chunks == 0 else max(most_chunks, least),
        features=frozenset(draw(st.sets(st.sampled_from(FEATURES), max_size=1)))
        if draw(st.booleans())
        else frozenset(),
        partition=draw(st.sampled_from([None, None, None, "usual", "other", "unheard-of"])),
        exclusive=draw(st.sampled_from([False, False, False, True])),
    )


@dataclass(frozen=True)
class Jobs:
    """The same jobs for both simulators."""

    columns: dict[str, list[Any]]
    requests: list[Request] = field(default_factory=lambda: [SINGLE_CORE])

    def workload(self) -> Workload:
        return Workload.of(requests=list(self.requests), **self.columns)

    def for_oracle(self) -> list[Job]:
        rows = zip(*self.columns.values(), strict=True)
        records = (dict(zip(self.columns, row, strict=True)) for row in rows)
        return [
            Job(**{**record, "request": self.requests[record["request"]], "sequence": sequence})
            for sequence, record in enumerate(records)
        ]


def durations() -> st.SearchStrategy[st.SearchStrategy[float]]:
    """Ways to draw times: whole numbers with many ties, in seconds to days; halves; any number."""
    whole = [st.integers(0, 12).map(lambda n, unit=unit: float(n * unit)) for unit in (1, 1, 1, 40, 900, 40_000)]
    halves = st.integers(0, 24).map(lambda n: n / 2)
    anything = st.one_of(st.floats(0.001, 12), st.sampled_from([0.0, 0.1, 0.2, 0.3, 1 / 3]))
    return st.sampled_from([*whole, halves, anything])


@st.composite
def workloads(draw: st.DrawFn, plain: bool = False, most: int = 20) -> Jobs:
    number = draw(st.integers(1, most))
    time = draw(draw(st.just(durations())))
    asked = [SINGLE_CORE] if plain else draw(st.lists(requests(), min_size=1, max_size=4))

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=number, max_size=number))

    submit = sorted(column(time))
    runtime = column(time)
    limit = column(st.one_of(time, st.just(math.nan)))
    cancel = column(st.one_of(*[st.just(math.inf)] * 5, time))
    columns: dict[str, list[Any]] = {
        "id": list(range(1, number + 1)),
        "submit": submit,
        "runtime": runtime,
        "limit": [r if math.isnan(asked_for) else asked_for for r, asked_for in zip(runtime, limit, strict=True)],
        "count": column(st.integers(1, 7)),
        "request": column(st.integers(0, len(asked) - 1)),
        "user": column(st.integers(-1, 1)),
        "group": column(st.integers(-1, 2)),
        "queue": column(st.integers(-1, 2)),
        "cancel": cancel,
        "after": column(st.one_of(*[st.just(-1)] * 2, st.integers(1, number + 1))),
        "think": column(st.one_of(st.just(0.0), time)),
    }
    return Jobs(columns, asked)


@st.composite
def policies(draw: st.DrawFn, backfill: str) -> Policy:
    if backfill == "reject":
        return Policy(backfill)
    scans, queues = backfill in ("easy", "easy-strict"), backfill in ("skip", "easy", "easy-strict")
    reservations = draw(st.sampled_from([1, 1, 2, 3])) if backfill == "easy" else 1
    return Policy(
        backfill,
        order=draw(st.sampled_from(ORDERS)),
        scan=draw(st.one_of(st.none(), st.sampled_from(ORDERS))) if scans else None,
        place=draw(st.sampled_from(PLACEMENTS)),
        exclusive=draw(st.sampled_from([False, False, True])),
        depth=draw(st.one_of(st.none(), st.integers(0, 4))) if queues and reservations == 1 else None,
        reservations=reservations,
    )


def as_text(policy: Policy) -> str:
    keys = {
        "order": policy.order,
        "scan": policy.scan,
        "place": policy.place,
        "nodes": "exclusive" if policy.exclusive else None,
        "depth": policy.depth,
        "reservations": policy.reservations if policy.reservations > 1 else None,
    }
    written = ",".join(f"{key}={value}" for key, value in keys.items() if value is not None)
    return policy.backfill if policy.backfill == "reject" else f"{policy.backfill}:{written}"


def options() -> st.SearchStrategy[dict[str, str]]:
    return st.fixed_dictionaries(
        {
            "estimate": st.sampled_from(["limit", "limit", "exact", "limit*0.5", "limit*2", "last-two"]),
            "overrun": st.sampled_from(["kill", "run"]),
            "passes": st.sampled_from(["instant", "event"]),
            "dependencies": st.sampled_from(["ignore", "follow"]),
        }
    )

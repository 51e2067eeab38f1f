"""Jobs on parts of sockets, slower or faster beside one another: the engine and the oracle."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle import Policy
from tests.oracle.company import Heat
from tests.property.cases import ESTIMATES, ORDERS, Case, random_jobs
from tests.property.test_engine_vs_oracle import compare, looking_at, seeds
from tests.property.test_rates_vs_oracle import in_halves

from schedlab.execution.interference import Interference
from schedlab.model.cluster import Cluster, NodeGroup
from schedlab.model.heatmap import Heatmap
from schedlab.model.request import SINGLE_CORE, Request
from schedlab.model.workload import Workload

SOCKETS = ((3, 3), (4, 5), (7, 7, 8), (2, 2), (4,), (1, 4), (6, 2))
SPEEDUPS = (0.25, 0.5, 0.5, 1.0, 2.0)  # powers of 2: whatever order one computes in, nothing is rounded
DISCIPLINES = ("none", "skip", "easy", "easy-strict")


@dataclass(frozen=True)
class SideBySide(Case):
    """A case with applications."""

    heat: Heat = field(default_factory=Heat)

    @property
    def applications(self) -> list[str]:
        return [f"app{number}" for number in range(len(self.heat.cells))]

    def workload(self) -> Workload:
        columns = {"executable" if name == "application" else name: values for name, values in self.columns.items()}
        return Workload.of(requests=list(self.requests), labels={"executable": self.applications}, **columns)

    def model(self) -> Interference:
        fraction, heat = self.policy.fraction, self.heat
        alone = {float(fraction): heat.measured} if fraction is not None and heat.measured else {}
        heatmap = Heatmap.from_cells(self.applications, heat.cells, alone=alone)
        return Interference(heatmap, heat.missing, heat.alone, heat.compose, heat.cap)

    def policy_text(self) -> str:
        policy = self.policy
        if policy.fraction is None:
            return super().policy_text()
        keys = {
            "backfill": policy.backfill,
            "order": policy.order,
            "scan": policy.scan,
            "place": policy.place,
            "fraction": policy.fraction,
            "threshold": policy.threshold or None,
            "depth": policy.depth,
            "reservations": policy.reservations if policy.reservations > 1 else None,
        }
        return "cosched:" + ",".join(f"{key}={value}" for key, value in keys.items() if value is not None)


def random_sockets(random: Random, fraction: Fraction) -> Cluster:
    able = [sizes for sizes in SOCKETS if any(int(size * fraction) for size in sizes)]
    groups = []
    for letter in "ab"[: random.choice((1, 1, 2))]:
        sizes = random.choice(able)
        resources = {"cores": sum(sizes), **({"memory": random.randint(0, 8)} if random.random() < 0.3 else {})}
        groups.append(
            NodeGroup(letter, random.randint(1, 4), resources, f"n{letter}", sockets=len(sizes), socket_cores=sizes)
        )
    return Cluster(tuple(groups))


def random_request(random: Random) -> Request:
    chunk = {
        "cores": random.choice((1, 1, 2, 3)),
        **({"memory": random.randint(0, 3)} if random.random() < 0.3 else {}),
    }
    least = random.choice((0, 0, 0, 2))
    return Request(
        chunk,
        per_node_min=least,
        per_node_max=random.choice((0, 0, max(least, 1), 3)),
        exclusive=random.random() < 0.15,
    )


def random_heat(random: Random) -> Heat:
    size = random.randint(1, 4)
    gaps = random.choice((0, 0, 0.3))
    cells = [[None if random.random() < gaps else random.choice(SPEEDUPS) for _ in range(size)] for _ in range(size)]
    means = [sum(known) / len(known) for row in cells if (known := [value for value in row if value is not None])]
    exact = all(math.frexp(mean)[0] == 0.5 for mean in means)
    return Heat(
        cells,
        missing="average" if exact and random.random() < 0.7 else random.choice(SPEEDUPS),
        alone=random.choice(("maximum", 1.0, 0.5, 2.0)),
        measured=random.choice(([], [random.choice((*SPEEDUPS, None)) for _ in range(size)])),
        compose=random.choice(("min", "min", "product")),
        cap=random.random() < 0.7,
    )


def random_policy(random: Random, backfill: str, fraction: Fraction) -> Policy:
    scans = backfill in ("easy", "easy-strict")
    place = random.choice(("occupied-first", "occupied-first", "best-pair", "best-pair", "first-fit", "best-fit"))
    return Policy(
        backfill,
        order=random.choice(("fcfs", "fcfs", "filler", "filler", random.choice(ORDERS))),
        scan=random.choice(("filler", *ORDERS)) if scans and random.random() < 0.2 else None,
        place=place,
        depth=random.randint(0, 4) if backfill in ("skip", "easy", "easy-strict") and random.random() < 0.2 else None,
        fraction=fraction,
        threshold=random.choice((0.0, 0.5, 1.0)) if place != "best-fit" else 0.0,
    )


def random_case(seed: int, jobs: int, backfill: str) -> SideBySide:
    random = Random(seed)
    fraction = random.choice((Fraction(1, 2), Fraction(1, 2), Fraction(1, 3), Fraction(1, 4)))
    requests = [SINGLE_CORE, *(random_request(random) for _ in range(random.choice((0, 0, 2))))]
    heat, cluster = random_heat(random), random_sockets(random, fraction)
    columns = random_jobs(random, jobs, len(requests), 1)
    columns["count"] = [random.choice((1, 2, 4, random.randint(1, cluster.cores))) for _ in range(jobs)]
    columns["application"] = [random.randrange(len(heat.cells)) for _ in range(jobs)]
    case = SideBySide(
        cluster=cluster,
        requests=requests,
        policy=random_policy(random, backfill, fraction),
        options={
            "estimate": random.choice(ESTIMATES),
            "overrun": random.choice(("kill", "run")),
            "passes": random.choice(("instant", "instant", "event")),
            "dependencies": random.choice(("ignore", "follow")),
            "beliefs": random.choice(("limit", "rates")),
        },
        columns=columns,
        heat=heat,
    )
    halved = in_halves(case)
    assert isinstance(halved, SideBySide)
    return halved


@pytest.mark.parametrize("backfill", DISCIPLINES)
@given(seed=seeds, jobs=st.integers(1, 25))
@looking_at(60)
def test_same_schedule(backfill: str, seed: int, jobs: int) -> None:
    case = random_case(seed, jobs, backfill)
    compare(case, others=[case.model()], heat=case.heat)

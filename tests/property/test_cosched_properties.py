"""What holds of all jobs side by side, and that whatever else there is goes with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.company import Heat, lay_out, parts
from tests.oracle.machine import nodes_of
from tests.property.test_cosched_vs_oracle import SideBySide, random_case
from tests.property.test_engine_vs_oracle import looking_at, seeds
from tests.unit.test_resume_bytes import broken_off, contents

import schedlab as sl
from schedlab.execution.failures import Failures
from schedlab.execution.interference import Interference
from schedlab.execution.power import Power
from schedlab.experiment.coordinator import run_study
from schedlab.experiment.study import parse_study
from schedlab.learn import SchedulingEnv
from schedlab.model.nodeset import expand
from schedlab.workload.formats import write_workload

DISCIPLINES = ("none", "skip", "easy", "easy-strict", "conservative")


def any_case(seed: int, jobs: int, backfill: str = "") -> SideBySide:
    """With speed-ups that are any numbers."""
    random = Random(seed)
    case = random_case(seed, jobs, backfill or random.choice(DISCIPLINES))
    size = len(case.heat.cells)
    cells = [[random.uniform(0.7, 1.3) for _ in range(size)] for _ in range(size)]
    return replace(case, heat=replace(case.heat, cells=cells, missing="average"))


def simulated(case: SideBySide, *others: Any, **more: Any) -> sl.Run:
    observers = [case.model(), *others]
    options = {"requests": case.detail, **case.options, **more}
    return sl.simulate(case.workload(), case.cluster, case.policy_text(), observers=observers, validate=True, **options)


@given(seed=seeds, jobs=st.integers(1, 25))
@looking_at(40)
def test_speedups_of_1_change_nothing(seed: int, jobs: int) -> None:
    """The same as the plain engine with requests and parts of nodes that are written by hand."""
    case = random_case(seed, jobs, Random(seed).choice(DISCIPLINES))
    fraction, size = case.policy.fraction, len(case.heat.cells)
    assert fraction is not None
    policy = replace(
        case.policy, threshold=0.0, place="first-fit" if "pair" in case.policy.place else case.policy.place
    )
    case = replace(case, policy=policy, heat=Heat([[1.0] * size for _ in range(size)], alone=1.0))
    run = simulated(case)
    laid_out = case.jobs()
    for job in laid_out:
        lay_out(job, nodes_of(case.cluster), case.cluster, fraction, None)
    groups = [
        replace(group, resources={**group.resources, "parts": parts(group.socket_sizes, fraction)[1]})
        for group in case.cluster.groups
    ]
    plain = SideBySide(
        columns={
            **case.columns,
            "request": list(range(jobs)),
            "count": [job.count for job in laid_out],
        },
        requests=[replace(job.request, spread=False) for job in laid_out],
        cluster=replace(case.cluster, groups=tuple(groups)),
        policy=replace(policy, fraction=None),
        options=case.options,
        heat=case.heat,
    )
    by_hand = sl.simulate(plain.workload(), plain.cluster, plain.policy_text(), **{"requests": "full", **plain.options})
    assert run.rates.is_empty()
    columns = ["state", "eligible", "start", "end", "nodes", "backfilled", "priority"]
    assert run.jobs.select(columns).equals(by_hand.jobs.select(columns))


@given(seed=seeds, jobs=st.integers(1, 30))
@looking_at(40)
def test_work_is_conserved_and_no_core_has_two_owners(seed: int, jobs: int) -> None:
    case = any_case(seed, jobs)
    run = simulated(case)
    changes = run.rates.sort("job", "time", maintain_order=True).rows(named=True)
    for row in run.jobs.rows(named=True):
        if row["state"] == "completed":
            told = [change for change in changes if change["job"] == row["job"]]
            assert done(row, told) == pytest.approx(row["runtime"], rel=1e-9, abs=1e-9)
    assert_no_core_has_two_owners(case, run)


def done(row: dict[str, Any], changes: list[dict[str, Any]]) -> float:
    """Rate × time, from change to change."""
    work, since, rate = 0.0, row["start"], 1.0
    for change in changes:
        work += rate * (change["time"] - since)
        since, rate = change["time"], change["rate"]
    return float(work + rate * (row["end"] - since))


def assert_no_core_has_two_owners(case: SideBySide, run: sl.Run) -> None:
    """At every start: of every socket of every node, what its jobs have of it."""
    assert case.policy.fraction is not None
    sockets = {name: group.socket_sizes for group in case.cluster.groups for name in group.node_names()}
    requests = run.config["requests"]
    ran = [row for row in run.jobs.rows(named=True) if row["start"] is not None and row["end"] > row["start"]]
    for now in {row["start"] for row in ran}:
        there: dict[str, list[bool]] = {}
        for row in ran:
            if row["start"] <= now < row["end"]:
                for name, _ in expand(row["nodes"]):
                    there.setdefault(name, []).append(requests[row["request"]].get("spread", False))
        for name, spread in there.items():
            assert all(spread) or len(spread) == 1
            for size in sockets[name]:
                assert len(spread) * int(size * case.policy.fraction) <= size or spread == [False]


def worst_and_a_little(speedups: list[float]) -> float:
    return min(speedups) * 0.99 ** len(speedups)


@pytest.mark.parametrize("breaks", [[1], [4, 9], [25]])
@pytest.mark.parametrize(
    ("policy", "compose"),
    [
        ("cosched:backfill=easy,place=best-pair,threshold=0.8", "min"),
        ("cosched:backfill=none,order=filler,fraction=1/3", "product"),
        ("cosched:backfill=conservative", worst_and_a_little),
    ],
)
def test_broken_off_and_resumed(tmp_path: Path, policy: str, compose: Any, breaks: list[int]) -> None:
    case = any_case(7, 40, "easy")
    scenario: dict[str, Any] = {
        "workload": case.workload(),
        "cluster": case.cluster,
        "policy": policy,
        "observers": lambda: [Interference(case.model().heatmap, compose=compose)],
        "beliefs": "rates",
    }
    fresh = {name: make() if callable(make) else make for name, make in scenario.items()}
    sl.simulate(sl.Scenario(**fresh, out=tmp_path / "whole"))
    assert sl.check(tmp_path / "whole") == []
    broken_off(tmp_path / "again", breaks, scenario)
    assert contents(tmp_path / "again") == contents(tmp_path / "whole")


@given(seed=seeds, jobs=st.integers(5, 30))
@looking_at(25)
def test_with_power_and_failures(seed: int, jobs: int) -> None:
    case = any_case(seed, jobs)
    case = replace(case, options={**case.options, "beliefs": "rates"})
    length = max(1.0, *case.columns["submit"], *case.columns["limit"])
    others = [Power(idle=50, per_core=10), Failures(mtbf=2 * length, repair=length / 20, seed=seed % 100)]
    simulated(case, *others)  # and judged


@pytest.fixture
def heatmap(tmp_path: Path) -> str:
    path = tmp_path / "heat.json"
    path.write_text('{"names": ["a", "b"], "speedups": [[0.8, 1.1], [1.2, null]]}')
    return f'interference("{path}", applications="random(1)")'


def test_an_agent_learns_with_it(heatmap: str) -> None:
    workload = sl.Workload.of(
        submit=np.arange(30.0),
        runtime=[20.0] * 30,
        limit=[60.0] * 30,
        count=[1 + number % 4 for number in range(30)],
        requests=[sl.Request({"cores": 2}, per_node_max=1, spread=True)],
        request=[0] * 30,
    )
    env = SchedulingEnv(workload, sl.Cluster.uniform(4, cores=4), episode=30, observers=[heatmap])
    env.reset(seed=1)
    over = False
    while not over:
        _, _, over, _, _ = env.step(0)
    run = env.finish()
    assert sl.check(run) == []
    assert len(run.rates) > 30


def test_studies_have_it(tmp_path: Path, heatmap: str) -> None:
    case = any_case(7, 30, "easy")
    write_workload(tmp_path / "log.parquet", case.workload())
    text = f"""
        [workload]
        log = "log.parquet"
        [run]
        cluster = "6x8"
        policy = ["cosched:place=best-pair", "cosched:backfill=none,order=filler,threshold=0.9"]
        observe = '{heatmap}'
        beliefs = "rates"
    """
    (tmp_path / "study.toml").write_text(text)
    run_study(parse_study(text, str(tmp_path / "study.toml")), tmp_path / "out")
    runs = list((tmp_path / "out" / "runs").iterdir())
    assert len(runs) == 2
    for run in runs:
        assert sl.check(run) == []
        assert not sl.read_run(run).rates.is_empty()

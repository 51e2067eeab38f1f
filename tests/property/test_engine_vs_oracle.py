"""The native engine against the oracle: the same starts, ends, states and nodes on random workloads.

SCHEDLAB_EXAMPLES=5000 looks longer, and elsewhere each time.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.oracle import Policy, Result, simulate
from tests.property.strategies import BACKFILLS, Jobs, as_text, clusters, options, policies, workloads

import schedlab
from schedlab.model.cluster import Cluster
from schedlab.model.nodeset import expand

EXAMPLES = int(os.environ.get("SCHEDLAB_EXAMPLES", "0"))
thorough = settings(
    max_examples=EXAMPLES or 150,
    derandomize=not EXAMPLES,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

COMPARED = ("state", "eligible", "start", "end", "estimate", "backfilled", "priority", "nodes")


def by_oracle(result: Result, pool: bool) -> dict[str, Any]:
    row = {name: getattr(result, name) for name in COMPARED}
    row["nodes"] = {} if pool else result.nodes
    return comparable(row)


def by_engine(row: dict[str, Any]) -> dict[str, Any]:
    return comparable({**{name: row[name] for name in COMPARED}, "nodes": dict(expand(row["nodes"] or ""))})


def comparable(row: dict[str, Any]) -> dict[str, Any]:
    """Unknown is None; a job that was never admitted has no eligible time to compare."""
    known = {name: None if value != value else value for name, value in row.items()}
    if known["state"] in ("rejected", "held"):
        known["eligible"] = None
    return known


def compare(jobs: Jobs, cluster: Cluster, policy: Policy, **given_options: Any) -> None:
    run = schedlab.simulate(jobs.workload(), cluster, as_text(policy), validate=True, **given_options)
    found = [by_engine(row) for row in run.jobs.iter_rows(named=True)]
    expected = [
        by_oracle(result, cluster.pool) for result in simulate(jobs.for_oracle(), cluster, policy, **given_options)
    ]
    for sequence, (engine, oracle) in enumerate(zip(found, expected, strict=True)):
        assert engine == oracle, f"job at position {sequence}"
    assert schedlab.check(run) == []


@pytest.mark.parametrize("backfill", BACKFILLS)
@given(data=st.data())
@thorough
def test_processors(backfill: str, data: st.DataObject) -> None:
    """What an SWF log asks for, on a pool or on nodes."""
    jobs, cluster = data.draw(workloads(plain=True)), data.draw(clusters())
    compare(jobs, cluster, data.draw(policies(backfill)), **data.draw(options()))


@pytest.mark.parametrize("backfill", BACKFILLS)
@given(data=st.data())
@thorough
def test_requests(backfill: str, data: st.DataObject) -> None:
    """Memory, GPUs, features, partitions, bounds per node, exclusive jobs, chunks of nothing."""
    jobs, cluster = data.draw(workloads()), data.draw(clusters())
    compare(jobs, cluster, data.draw(policies(backfill)), **data.draw(options()))

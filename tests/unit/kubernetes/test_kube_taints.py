"""Taints that come and go, and what pods stand."""

from __future__ import annotations

from typing import Any

import pytest

import schedlab as sl
from schedlab.bridge.kubernetes.evictions import Tolerations
from schedlab.bridge.kubernetes.taints import Taint
from schedlab.model.errors import InputError

BATCH = {"key": "dedicated", "value": "batch", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("toleration", "stands"),
    [
        ({"key": "dedicated", "operator": "Equal", "value": "batch", "effect": "NoSchedule"}, True),
        ({"key": "dedicated", "value": "batch"}, True),  # any effect; Equal is the usual operator
        ({"key": "dedicated", "operator": "Exists"}, True),
        ({"operator": "Exists"}, True),  # any key
        ({"key": "dedicated", "value": "other"}, False),
        ({"key": "dedicated", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "old", "operator": "Exists"}, False),
    ],
)
def test_who_stands_a_taint(toleration: dict[str, Any], stands: bool) -> None:
    assert (Tolerations({"tolerations": [toleration]}).seconds(BATCH) > 0) is stands
    assert not Tolerations({}).seconds(BATCH)


def test_mistakes() -> None:
    with pytest.raises(InputError, match="'dedicated' is not a taint"):
        Taint("n1", "dedicated")
    jobs = sl.Workload.of(submit=[0], runtime=[1])
    with pytest.raises(InputError, match="there is no node 'n7'"):
        sl.simulate(jobs, "2x1", "fcfs", observers=[Taint("n7", "a=b:NoSchedule")])

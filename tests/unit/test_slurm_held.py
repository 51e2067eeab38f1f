"""What slurmctld tells of what jobs hold, read from what it really said."""

from __future__ import annotations

import pytest

from schedlab.slurm.wire.buffer import WireError
from schedlab.slurm.wire.held import Held, held_by

MIB = 2**20
TWO_NODES = {  # of Slurm 22.05: -n 9 -N 2 --mem-per-cpu=10 --gres=gpu:a100:1,nic:1
    "nodes": "g[1-2]",
    "cr_type": 20,
    "cpus": [8, 1],
    "memory_allocated": [80, 10],
    "sockets_per_node": [8],
    "cores_per_socket": [1],
    "sock_core_rep_count": [2],
    "core_bitmap": "0x01FF",
}
GRES = ["gpu:a100:1(IDX:0),nic(CNT:1)", "gpu:a100:1(IDX:0),nic(CNT:1)"]


def test_a_job_on_two_nodes() -> None:
    first, second = held_by(TWO_NODES, GRES)
    assert first == Held("g1", 8, tuple(range(8)), 8, 80 * MIB, GRES[0])
    assert (second.node, second.cpus, second.cores, second.memory) == ("g2", 1, (0,), 10 * MIB)
    assert first.gres_amounts() == {"gpus": 1, "gpu:a100": 1, "nic": 1}
    assert first.devices("gpus") == [0] and first.devices("nic") == []


def test_memory_counts_only_where_slurm_hands_it_out() -> None:
    assert [one.memory for one in held_by({**TWO_NODES, "cr_type": 4}, GRES)] == [None, None]


def test_gpus_of_two_types_and_none() -> None:
    held = Held("g1", 2, (0, 1), 8, None, "gpu:a100:2(IDX:0-1),gpu:v100:1(IDX:3),nic(CNT:0)")
    assert held.gres_amounts() == {"gpus": 3, "gpu:a100": 2, "gpu:v100": 1}
    assert held.devices("gpus") == [0, 1, 3]
    assert Held("g1", 2, (), 8, None, "gpu:2(IDX:1,3),gpu:v100:0(IDX:)").gres_amounts() == {"gpus": 2}


def test_nobody_holds_anything_while_pending() -> None:
    assert held_by(None, []) == ()


def test_what_slurm_would_not_say() -> None:
    with pytest.raises(WireError, match="resources of 2 nodes, CPUs of 1"):
        held_by({**TWO_NODES, "cpus": [8]}, GRES)
    with pytest.raises(WireError, match="'0xZZ' is not a bitmap"):
        held_by({**TWO_NODES, "core_bitmap": "0xZZ"}, GRES)

"""A cluster as a TOML file and back, and what the file may say of switches."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.cluster.formats import write_cluster
from schedlab.cluster.read import read_cluster
from schedlab.model.cluster import Cluster, NodeGroup, Partition, Switch
from schedlab.model.errors import InputError

MIXED = Cluster(
    (
        NodeGroup("thin", 100, {"cores": 32, "memory": 192 * 2**30}, "t", 1, 3, sockets=2, features=frozenset({"ib"})),
        NodeGroup("odd", 2, {"cores": 22}, "o", 1, 1, sockets=2, socket_cores=(10, 12)),
        NodeGroup("fat", 2, {"cores": 64, "memory": 10**12 + 7, "gpus": 4, "licences": 3}, "f", 10, 2, weight=70),
        NodeGroup("login", 1, {"cores": 4}, "login", numbered=False, speed=2.5e9, properties={"site": 'a "b"'}),
        NodeGroup("far", 3, {"cores": 1}, "g-", 7, 1, suffix=".example.org"),
    ),
    (Partition("all", ("thin", "fat"), default=True), Partition("big", ("fat",))),
    name="mixed",
    switches=(Switch("s1", "t[001-100]"), Switch("s2", "f[10-11]"), Switch("top", "", ("s1", "s2"))),
)


def test_everything_survives(tmp_path: Path) -> None:
    assert write_cluster(tmp_path / "mixed.toml", MIXED) == []
    assert read_cluster(tmp_path / "mixed.toml") == MIXED
    assert Cluster.from_dict(MIXED.to_dict()) == MIXED


def test_names_of_nodes() -> None:
    assert [group.node_set for group in MIXED.groups] == [
        "t[001-100]",
        "o[1-2]",
        "f[10-11]",
        "login",
        "g-[7-9].example.org",
    ]
    assert MIXED.node_names()[100:] == [
        *("o1", "o2", "f10", "f11", "login"),
        *("g-7.example.org", "g-8.example.org", "g-9.example.org"),
    ]


def test_a_pool_becomes_a_node_and_says_so(tmp_path: Path) -> None:
    assert write_cluster(tmp_path / "pool.toml", Cluster.of_cores(64)) == [
        "that its nodes do not matter (a pool is one node in a file)"
    ]
    assert read_cluster(tmp_path / "pool.toml").cores == 64


def test_an_unknown_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written in that format"):
        write_cluster(tmp_path / "cluster.doc", MIXED)


def test_mistakes_in_a_tree_of_switches(tmp_path: Path) -> None:
    nodes = '[[nodes]]\nname = "n"\ncount = 4\ncores = 1\n'
    trees = {
        '[[switches]]\nname = "a"\nnodes = "n[1-5]"\n': "5: there is no such node",
        '[[switches]]\nname = "a"\nswitches = ["bb"]\n[[switches]]\nname = "b"\n': '"bb": there is no such switch',
        '[[switches]]\nname = "a"\nnodes = "n1"\n[[switches]]\nname = "b"\nnodes = "n1"\n': "n1 is below a already",
        '[[switches]]\nname = "a"\nswitches = ["a"]\n': "switch a is below itself",
        '[[switches]]\nname = "a"\nnodes = "n[1"\n': "unexpected character",
        '[[switches]]\nname = "a"\n[[switches]]\nname = "a"\n': "there is a switch of that name already",
    }
    for text, message in trees.items():
        path = tmp_path / "tree.toml"
        path.write_text(nodes + text)
        with pytest.raises(InputError) as caught:
            read_cluster(path)
        found = str(caught.value).replace('"n5"', "5")
        assert message in found and "tree.toml:" in found

from __future__ import annotations

from pathlib import Path

import pytest

import schedlab as sl
from schedlab.cluster import read_cluster
from schedlab.model.cluster import Cluster, NodeGroup, Partition
from schedlab.model.errors import InputError

MIXED = """\
name = "mixed"
[[nodes]]            # groups in the order that first-fit walks
name = "thin"
count = 100
cores = 32
sockets = 2
memory = "192 GiB"
gpus = 0
features = ["avx512"]
prefix = "t"
[nodes.resources]
licences = 4
scratch = "2 TB"
[[nodes]]
name = "fat"
count = 4
cores = 64
[[partitions]]
name = "batch"
nodes = ["thin", "fat"]
default = true
[[partitions]]
name = "big"
nodes = ["fat"]
"""


def test_nodes_times_cores() -> None:
    for text in ("120x2", "120X2", " 120 x 2 ", "120×2"):
        cluster = read_cluster(text)
        assert (cluster.nodes, cluster.cores, cluster.name, cluster.pool) == (120, 240, "120x2", False)
        assert cluster.node_names()[::119] == ["n001", "n120"]


def test_pool() -> None:
    assert read_cluster("pool:100") == read_cluster("Pool : 100") == Cluster.of_cores(100)


def test_file(tmp_path: Path) -> None:
    path = tmp_path / "machine.toml"
    path.write_text(MIXED)
    thin = {"cores": 32, "memory": 206_158_430_208, "gpus": 0, "licences": 4, "scratch": 2 * 10**12}
    expected = Cluster(
        groups=(
            NodeGroup("thin", 100, thin, "t", first=1, width=3, sockets=2, features=frozenset({"avx512"})),
            NodeGroup("fat", 4, {"cores": 64}, "fat", first=1, width=1),
        ),
        partitions=(Partition("batch", ("thin", "fat"), default=True), Partition("big", ("fat",))),
        name="mixed",
    )
    assert read_cluster(str(path)) == read_cluster(path) == expected
    assert expected.node_names()[98:102] == ["t099", "t100", "fat1", "fat2"]
    assert Cluster.from_dict(expected.to_dict()) == expected
    path.write_bytes(b"\xef\xbb\xbf" + MIXED.replace("\n", "\r\n").encode())  # as some editors save it
    assert read_cluster(path) == expected


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("0x2", "0 nodes cannot run anything", "120x2"),
        ("-3x2", "-3 nodes cannot run anything", "120x2"),
        ("3x0", "0 cores cannot run anything", "120x2"),
        ("3x-1", "-1 cores cannot run anything", "120x2"),
        ("pool:0", "0 cores cannot run anything", "pool:100"),
        ("pool:-5", "-5 cores cannot run anything", "pool:100"),
        ("99999999999999999999999x2", "too many; expected at most 10,000,000", "120x2"),
        ("10000000x9999999999999", "too many; expected at most 922,337,203,685", "120x2"),
        ("pool:99999999999999999999", "too many", "pool:100"),
        ("", "not a cluster", "120x2"),
        ("pool:", "not a cluster", "pool:100"),
        ("3.5x2", "not a cluster", "120x2"),
        ("120x2x3", "not a cluster", "120x2"),
        ("pol:100", "not a cluster", "did you mean 'pool:100'?"),
        ("pool=100", "not a cluster", "did you mean 'pool:100'?"),
        ("120*2", "not a cluster", "did you mean '120x2'?"),
        ("120 2", "not a cluster", "did you mean '120x2'?"),
        ("100", "not a cluster", "did you mean 'pool:100' or '100x1'?"),
        ("x" * 5000, "not a cluster", "120x2"),
    ],
)
def test_refused_shorthand(text: str, message: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        read_cluster(text)
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert caught.value.where.startswith(f"cluster '{text.strip()[:70]}")
    assert len(str(caught.value)) < 500


def test_refused_files(tmp_path: Path) -> None:
    (tmp_path / "machine.toml").write_text(MIXED)
    (tmp_path / "notes.txt").write_text("NodeName=n1")
    (tmp_path / "latin.toml").write_bytes(b'# one\nname = "\xe9"\n')

    def refuse(path: str, message: str, hint: str) -> None:
        with pytest.raises(InputError) as caught:
            read_cluster(str(tmp_path / path))
        assert message in str(caught.value)
        assert hint in caught.value.hint
        assert str(tmp_path) in caught.value.where

    refuse("machin.toml", "there is no such file", f"did you mean '{tmp_path}/machine.toml'?")
    refuse("other.toml", "there is no such file", "120x2")
    refuse("nowhere/other.toml", "there is no such file", f"'{tmp_path}/nowhere' does not exist either")
    refuse("a\0b.toml", "there is no such file", "120x2")
    refuse("n" * 300 + ".toml", "there is no such file", "120x2")
    refuse(".", "this is a directory", f"did you mean '{tmp_path}/latin.toml'?")
    refuse("notes.txt", "is not a description of a cluster that is known here", "toml: schedlab's own")
    refuse("latin.toml", "latin.toml:2: this is not UTF-8 text", "save the file as UTF-8")


@pytest.mark.parametrize(
    ("second", "shared"),
    [
        (NodeGroup("fat", 3, {"cores": 8}), "n1"),  # the names that groups have if nobody says otherwise
        (NodeGroup("fat", 3, {"cores": 8}, first=4), "n4"),
        (NodeGroup("fat", 1, {"cores": 8}, prefix="n3", numbered=False), "n3"),
    ],
)
def test_node_groups_that_share_names(second: NodeGroup, shared: str) -> None:
    thin = NodeGroup("thin", 4, {"cores": 4})
    with pytest.raises(InputError) as caught:
        Cluster((thin, second), name="lab")
    message = f"the node groups 'thin' (n[1-4]) and 'fat' ({second.node_set}) both have a node {shared}"
    assert message in str(caught.value) and str(caught.value).startswith("lab: ")
    assert "'fat'" in (caught.value.hint or "")


def test_node_groups_whose_names_only_look_alike() -> None:
    groups = (
        NodeGroup("thin", 4, {"cores": 4}),
        NodeGroup("next", 4, {"cores": 4}, first=5),
        NodeGroup("padded", 4, {"cores": 4}, width=2),
        NodeGroup("other", 4, {"cores": 4}, suffix="-ib"),
    )
    assert len(set(Cluster(groups).node_names())) == 16


def test_a_node_has_as_many_cores_as_can_be_counted() -> None:
    most = 2**31 - 1
    jobs = sl.Workload.of(submit=[0.0, 1.0], runtime=[10.0, 5.0], count=[most, most])
    assert sl.simulate(jobs, Cluster.of_cores(most), "easy").jobs["start"].to_list() == [0, 10]
    with pytest.raises(InputError, match="has 3,000,000,000 cores a node, at most 2,147,483,647 are possible"):
        Cluster.of_cores(3_000_000_000)

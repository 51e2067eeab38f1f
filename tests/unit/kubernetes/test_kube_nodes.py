"""Clusters as nodes of Kubernetes, and nodes of Kubernetes as clusters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import schedlab as sl
from schedlab.bridge.kubernetes.accounting import accounted
from schedlab.bridge.kubernetes.nodes import counted, node_forms, node_objects
from schedlab.cluster.kubernetes import cluster_of
from schedlab.cluster.read import read_cluster
from schedlab.model.cluster import Cluster, NodeGroup, Partition
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.request import Request

GI = 2**30
# As Batkube's platforms are: `core` of the host is SimGrid's, the property is the pod's.
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
 <zone id="z" routing="Full">
  <host id="master" speed="1Gf" core="4"><prop id="role" value="master"/><prop id="core" value="1"/></host>
  <host id="w-1" speed="1Gf" core="4"><prop id="core" value="2"/><prop id="memory" value="750Mi"/></host>
  <host id="w-2" speed="1Gf" core="4"><prop id="core" value="2"/><prop id="memory" value="750Mi"/></host>
 </zone>
</platform>
"""


def test_a_node_has_what_its_group_has() -> None:
    cluster = Cluster(
        (
            NodeGroup("thin", 2, {"cores": 4, "memory": 8 * GI}, prefix="t", features=frozenset({"ssd"})),
            NodeGroup("gpu", 1, {"cores": 8, "gpus": 2, "licences": 3}, prefix="g", numbered=False),
        ),
        partitions=(Partition("batch", ("thin",)),),
    )
    first, second, third = node_objects(cluster)
    assert [one["metadata"]["name"] for one in (first, second, third)] == ["t1", "t2", "g"]
    assert first["status"]["allocatable"] == {"cpu": "4", "memory": "8Gi", "pods": "110"}
    assert third["status"]["capacity"] == {
        "cpu": "8",
        "nvidia.com/gpu": "2",
        "schedlab.io/licences": "3",
        "pods": "110",
    }
    labels = first["metadata"]["labels"]
    assert labels["feature.schedlab.io/ssd"] == labels["partition.schedlab.io/batch"] == "true"
    assert (labels["kubernetes.io/hostname"], labels["schedlab.io/group"]) == ("t1", "thin")
    assert "partition.schedlab.io/batch" not in third["metadata"]["labels"]


def test_what_is_allocatable_counts() -> None:
    group = NodeGroup("n", 1, {"cores": 6}, properties={"allocatable.cpu": "5.9", "pods": "30"})
    (form,) = node_forms(Cluster((group,)))
    assert (form.capacity["cpu"], form.allocatable["cpu"], form.allocatable["pods"]) == ("6", "5900m", "30")
    assert counted(Cluster((group,))).groups[0].resources == {"cores": 5, "cpu_milli": 5900}
    (form,) = node_forms(Cluster((NodeGroup("n", 1, {"cores": 6, "cpu_milli": 5900}),)))
    assert (form.capacity["cpu"], form.allocatable["cpu"]) == ("6", "5900m")


def test_labels_and_taints_are_properties() -> None:
    said = {"labels": "zone=a,disk=ssd", "taints": "dedicated=batch:NoSchedule,old:NoExecute"}
    (form,) = node_forms(Cluster((NodeGroup("n", 1, {"cores": 1}, properties=said),)))
    assert (form.labels["zone"], form.labels["disk"]) == ("a", "ssd")
    assert form.taints == (
        {"key": "dedicated", "effect": "NoSchedule", "value": "batch"},
        {"key": "old", "effect": "NoExecute"},
    )


def test_all_mistakes_of_properties_at_once() -> None:
    said = {"taints": "a=b:Sometimes", "labels": "zone", "allocatable.cpu": "many", "allocatable.gpus": "1"}
    with pytest.raises(InputErrors) as caught:
        node_forms(Cluster((NodeGroup("n", 1, {"cores": 1}, properties=said),), name="c.toml"))
    assert len(caught.value.errors) == 4 and "c.toml, node group n" in str(caught.value)


def test_a_pool_has_no_nodes() -> None:
    with pytest.raises(InputError, match="without nodes"):
        node_objects(Cluster.of_cores(8))


def test_platforms_of_batkube_say_cores_and_memory_as_properties(tmp_path: Path) -> None:
    path = tmp_path / "platform.xml"
    path.write_text(PLATFORM)
    nodes = node_objects(read_cluster(path))
    assert [one["metadata"]["name"] for one in nodes] == ["w-1", "w-2"]
    assert nodes[0]["status"]["allocatable"] == {"cpu": "2", "memory": "750Mi", "pods": "110"}


def kubernetes_node(name: str, cpu: str, taints: list[dict[str, str]] | None = None) -> dict[str, object]:
    return {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "zone": "a"}},
        "spec": {"taints": taints} if taints else {},
        "status": {
            "capacity": {"cpu": "4", "memory": "16Gi", "pods": "110", "nvidia.com/gpu": "1"},
            "allocatable": {"cpu": cpu, "memory": "15Gi", "pods": "110", "nvidia.com/gpu": "1"},
        },
    }


def test_nodes_of_a_real_cluster(tmp_path: Path) -> None:
    taint = [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]
    nodes = [kubernetes_node("node-07", "3920m"), kubernetes_node("node-08", "3920m"), kubernetes_node("x", "4", taint)]
    path = tmp_path / "nodes.json"
    path.write_text(json.dumps({"apiVersion": "v1", "items": nodes, "kind": "List"}))
    cluster = read_cluster(path)
    assert cluster.node_names() == ["node-07", "node-08", "x"]
    assert [group.count for group in cluster.groups] == [2, 1]
    assert cluster.groups[0].resources == {"cores": 3, "cpu_milli": 3920, "memory": 15 * GI, "gpus": 1}
    again = node_objects(cluster)
    assert again[0]["status"]["allocatable"] == {
        "cpu": "3920m",
        "memory": "15Gi",
        "nvidia.com/gpu": "1",
        "pods": "110",
    }
    assert again[0]["status"]["capacity"]["cpu"] == "4" and again[0]["status"]["capacity"]["memory"] == "16Gi"
    assert again[0]["metadata"]["labels"]["zone"] == "a" and again[2]["spec"]["taints"] == taint


def test_the_same_as_yaml(tmp_path: Path) -> None:
    path = tmp_path / "nodes.yaml"
    path.write_text(
        "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata:\n    name: a1\n  status:\n"
        "    allocatable: {cpu: '2', memory: 1Gi}\nkind: List\n"
    )
    assert read_cluster(path).groups[0].resources == {"cores": 2, "memory": GI}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("kind: List\nitems: 3\n", "not a list of nodes"),
        ("kind: List\nitems: []\n", "lists no nodes"),
        ("kind: List\nitems: [{kind: Pod}]\n", "not a list of nodes"),
        ("kind: List\nitems: [{metadata: {}}]\n", "has no name"),
        ("kind: List\nitems: [{metadata: {name: a}}]\n", "no allocatable cpu"),
        ("kind: List\nitems: [{metadata: {name: a}, status: {capacity: {cpu: x}}}]\n", "not a quantity"),
        ("kind: List\nitems: [\n", "is not YAML"),
    ],
)
def test_files_that_are_no_nodes(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "nodes.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        read_cluster(path)


def test_jobs_and_nodes_are_counted_in_one_unit() -> None:
    whole = sl.Workload.of(submit=[0], runtime=[1], requests=[Request({"cores": 2, "memory": GI})])
    jobs, machine = accounted(whole, Cluster.uniform(1, 4))
    assert jobs.requests[0].chunk == {"cores": 2} and machine.groups[0].resources == {"cores": 4}
    mixed = sl.Workload.of(
        submit=[0, 0], runtime=[1, 1], request=[0, 1], requests=[Request({"cores": 2}), Request({"cpu_milli": 500})]
    )
    jobs, machine = accounted(mixed, Cluster.uniform(1, 4))
    assert [one.chunk for one in jobs.requests] == [{"cpu_milli": 2000}, {"cpu_milli": 500}]
    assert machine.groups[0].resources == {"cores": 4, "cpu_milli": 4000}


def test_shares_of_cores_are_whole_ones_where_a_machine_knows_no_others() -> None:
    jobs = sl.Workload.of(submit=[0, 0, 0], runtime=[10, 10, 10], requests=[Request({"cpu_milli": 1500})])
    run = sl.simulate(jobs, "1x4", "fcfs")
    assert run.jobs["start"].to_list() == [0, 0, 10] and run.jobs["cores"].to_list() == [2, 2, 2]


def test_what_is_written_is_read_back_under_its_own_names() -> None:
    resources = {"cores": 8, "memory": 16 * GI, "gpus": 2, "gpu_milli": 2000, "licences": 3, "example.com/fpga": 1}
    cluster = Cluster((NodeGroup("g", 2, resources, prefix="g"),))
    (group,) = cluster_of({"items": node_objects(cluster)}, "again", "a test").groups
    assert (group.resources, group.count) == (resources, 2)

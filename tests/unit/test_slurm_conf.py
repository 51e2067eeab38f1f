"""Clusters from slurm.conf, gres.conf and topology.conf."""

import pytest

from schedlab.cluster.read import read_cluster
from schedlab.cluster.slurm.hosts import host_names, split_host
from schedlab.cluster.slurm.read import looks_like, read_slurm_conf
from schedlab.cluster.slurm.write import write_slurm_conf
from schedlab.model.cluster import Cluster, NodeGroup, Partition, Switch
from schedlab.model.errors import InputError

MB = 2**20


@pytest.fixture
def read(tmp_path):
    def reader(text, **beside):
        for kind, content in beside.items():
            (tmp_path / f"{kind}.conf").write_text(content)
        path = tmp_path / "slurm.conf"
        path.write_text(text)
        return read_slurm_conf(path)

    return reader


def test_host_lists():
    assert host_names("n1,n[09-11]") == ["n1", "n09", "n10", "n11"]
    assert host_names("r[1-2]n[01,03]-ib") == ["r1n01-ib", "r1n03-ib", "r2n01-ib", "r2n03-ib"]
    assert host_names("n[8-11]") == ["n8", "n9", "n10", "n11"]
    for wrong in ("", "n[", "n[]", "n[a]", "a,,b", "a,", "n[3-1]", "n[1-9999999]", "n[1-300]m[1-300]", "a b"):
        with pytest.raises(ValueError, match=r"expected names|range|more than 65,536"):
            host_names(wrong)
    assert split_host("r1n01") == ("r1n", "01", "")
    assert split_host("n01-ib") == ("n", "01", "-ib")
    assert split_host("login") == ("login", "", "")


def test_nodes_and_defaults(read):
    cluster = read("""
clustername = demo                     # keys in any case, blanks around =
NodeName=DEFAULT Sockets=2 CoresPerSocket=8 RealMemory=1000 Weight=10
NodeName=n[01-12] Feature=a,b
nodename=fat1 \\
    REALMEMORY=4000 Gres=gpu:v100:2,nvme:3
NodeName=DEFAULT CoresPerSocket=16
NodeName=login,m[1-2] Weight=2 Features="c"
PartitionName=DEFAULT Nodes=ALL
PartitionName=all Default=YES
PartitionName=thin Nodes=n[01-12]
""")
    thin = {"cores": 16, "memory": 1000 * MB}
    wide = {"cores": 32, "memory": 1000 * MB}
    c, ab = frozenset("c"), frozenset("ab")
    gpus = {"gpus": 2, "gpu:v100": 2, "nvme": 3}
    assert cluster == Cluster(
        (
            NodeGroup("login", 1, wide, prefix="login", numbered=False, sockets=2, features=c, weight=2),
            NodeGroup("m", 2, wide, prefix="m", width=1, sockets=2, features=c, weight=2),
            NodeGroup("n", 12, thin, prefix="n", width=2, sockets=2, features=ab, weight=10),
            NodeGroup("fat", 1, {"cores": 16, "memory": 4000 * MB, **gpus}, "fat", width=1, sockets=2, weight=10),
        ),
        (Partition("all", ("login", "m", "n", "fat"), default=True), Partition("thin", ("n",))),
        name="demo",
    )
    assert cluster.notes == ()


@pytest.mark.parametrize(
    ("words", "select", "cores", "sockets"),
    [
        ("", "CR_Core", 1, 1),
        ("CPUs=8", "CR_Core", 8, 8),
        ("Procs=8", "CR_Core", 8, 8),
        ("CPUs=8 ThreadsPerCore=2", "CR_Core", 4, 4),
        ("CPUs=8 ThreadsPerCore=2", "CR_CPU", 8, 4),
        ("Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", "CR_Core_Memory", 16, 2),
        ("Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", "CR_CPU_Memory", 32, 2),
        ("CPUs=32 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", "CR_Core", 16, 2),
        ("CPUs=16 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", "CR_CPU", 16, 2),
        ("CPUs=32 Sockets=2", "CR_Core", 2, 2),
        ("CPUs=32 CoresPerSocket=8", "CR_Core", 32, 4),
        ("Boards=2 SocketsPerBoard=2 CoresPerSocket=4", "CR_Core", 16, 4),
        ("Sockets=2 CoresPerSocket=8 CoreSpecCount=1", "CR_Core", 15, 2),
        ("Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 CoreSpecCount=1", "CR_CPU", 30, 2),
    ],
)
def test_cores(read, words, select, cores, sockets):
    (group,) = read(f"SelectTypeParameters={select}\nNodeName=n1 {words}\n").groups
    assert (group.resources, group.sockets) == ({"cores": cores}, sockets)


def test_memory_kept_for_the_system(read):
    (group,) = read("NodeName=n1 RealMemory=1000 MemSpecLimit=200").groups
    assert group.resources["memory"] == 800 * MB


def test_partitions_cut_groups(read):
    cluster = read("""
NodeName=n[1-10] CPUs=4
PartitionName=all Nodes=ALL Default=YES
PartitionName=debug Nodes=n[5-6]
""")
    assert [(group.name, group.node_set) for group in cluster.groups] == [
        ("n1-4", "n[1-4]"),
        ("n5-6", "n[5-6]"),
        ("n7-10", "n[7-10]"),
    ]
    assert [partition.groups for partition in cluster.partitions] == [("n1-4", "n5-6", "n7-10"), ("n5-6",)]


def test_several_brackets(read):
    cluster = read("NodeName=r[1-2]n[01-03] CPUs=4")
    assert [(group.name, group.node_set) for group in cluster.groups] == [
        ("r1n", "r1n[01-03]"),
        ("r2n", "r2n[01-03]"),
    ]


def test_node_sets(read):
    cluster = read("""
NodeName=n[1-4] CPUs=4 Feature=a
NodeName=m[1-2] CPUs=4 Feature=b
NodeSet=bees Feature=b
NodeSet=front Nodes=n[1-2]
PartitionName=p Nodes=bees,front,n4
""")
    assert [group.name for group in cluster.groups] == ["front", "n3", "n4", "bees"]
    assert cluster.partitions == (Partition("p", ("front", "n4", "bees")),)
    assert cluster.notes[-1].startswith("no partition is the default one")


def test_nodes_that_are_not_there(read):
    cluster = read("""
NodeName=n[1-4] CPUs=4
NodeName=f[1-2] CPUs=4 State=FUTURE
NodeName=d1 CPUs=4 State=DOWN
DownNodes=n4 State=DRAIN
PartitionName=p Nodes=n[1-4],f[1-2],d1 Default=YES
PartitionName=later Nodes=f[1-2]
""")
    assert cluster.node_names() == ["n1", "n2", "n3"]
    assert cluster.partitions == (Partition("p", ("n",), default=True),)
    assert cluster.notes[:3] == (
        "nodes in state DRAIN are left out: n4",
        "nodes in state FUTURE are left out: f[1-2]",
        "nodes in state DOWN are left out: d1",
    )
    assert "partitions without nodes are left out: later" in cluster.notes


def test_down_nodes_may_stand_anywhere(read):
    """As slurmctld reads them: UNKNOWN is no reason to stay out, and what is not there is passed over."""
    cluster = read("DownNodes=n1,n9\nDownNodes=n2 State=UNKNOWN\nNodeName=n[1-3] CPUs=4\nNodeName=d1 State=DRAINED")
    assert cluster.node_names() == ["n2", "n3"]
    assert cluster.notes[:3] == (
        "nodes in state DOWN are left out: n1",
        "nodes in state DRAINED are left out: d1",
        "DownNodes has nodes that are not there: n9",
    )


def test_notes(read):
    cluster = read("""
SchedulerType=sched/backfill
PriorityWeightAge=1
SchedulerTyme=5
SlurmctldHsot=x
SelectTypeParameters=CR_Core
NodeName=n1 CPUs=4 ThreadsPerCore=2 RealMemory=10 Colour=red
PartitionName=a Nodes=ALL Default=YES MaxTime=INFINITE DefMemPerCPU=100
PartitionName=b Nodes=ALL Default=YES MaxTime=1-0 State=DOWN
""")
    assert [partition.default for partition in cluster.partitions] == [False, True]  # the last one counts
    notes = "\n".join(cluster.notes)
    assert "hardware threads are not counted" in notes
    assert "DefMemPerCPU=100 (a): jobs that ask for no memory take none here" in notes
    assert "partitions are not represented: MaxTime=1-0 (b); State=DOWN (b)" in notes
    assert "SelectTypeParameters=CR_Core does not share out memory" in notes
    assert "not part of a cluster: SchedulerType, PriorityWeightAge, SchedulerTyme" in notes
    assert "SlurmctldHsot (slurm.conf, line 5, did you mean SlurmctldHost?), Colour (slurm.conf, line 7)" in notes


def test_gres_conf(read):
    nodes = "NodeName=g[1-2] CPUs=4 Gres=gpu:2\nNodeName=h1 CPUs=4\n"
    cluster = read(
        nodes,
        gres="AutoDetect=off\nName=gpu Count=9\nNodeName=g1 Name=gpu\n"
        "NodeName=h1,z9 Name=gpu Type=a100 File=/dev/nvidia[0-3]\nNodeName=h1 Name=gpu Type=v100 Count=1",
    )
    assert [group.resources for group in cluster.groups] == [
        {"cores": 4, "gpus": 2},
        {"cores": 4},
    ]
    assert "Gres= of h1 has no gpu, so Slurm does not hand out what gres.conf has of it" in cluster.notes
    assert "gres.conf has nodes that are not there: z9" in cluster.notes


def test_topology_conf(read):
    cluster = read(
        "NodeName=n[1-4] CPUs=4",
        topology="SwitchName=s1 Nodes=n[1-2] LinkSpeed=100\nSwitchName=s2 Nodes=n[3-6]\nSwitchName=top Switches=s[1-2]",
    )
    assert cluster.switches == (Switch("s1", "n[1-2]"), Switch("s2", "n[3-4]"), Switch("top", "", ("s1", "s2")))
    assert "topology.conf has nodes that are not there: n[5-6]" in cluster.notes


def test_include(read, tmp_path):
    (tmp_path / "nodes-demo.conf").write_text("NodeName=n[1-2] CPUs=4\nInclude parts.conf")
    (tmp_path / "parts.conf").write_text("PartitionName=p Nodes=ALL Default=YES")
    cluster = read('ClusterName=demo\ninclude "nodes-%c.conf"\n')
    assert (cluster.nodes, cluster.partitions) == (2, (Partition("p", ("n",), default=True),))


def test_all_mistakes_at_once(read, tmp_path):
    (tmp_path / "self.conf").write_text("Include self.conf\nNodeName=i1 CPUs=0")
    with pytest.raises(InputError) as caught:
        read(
            """\
NodeName=DEFAULT CPUs=abc
NodeName=n[1-4] RealMemory=64G Gres=gpu:a:b:2
NodeName=n[3-5] State=UPP
NodeName=x[5-1]
PartitionName=a Nodes=n[1-4] Default=maybe
PartitionName=a Nodes=n1
Include none.conf
Include self.conf
some words
NodeName=y Weight=
DownNodes=n[
KillWait=30 NodeName=z1
NodeName=w1 CPUs=4 CoreSpecCount=4
""",
            gres="NodeName=n1 Name=gpu Count=many",
            topology="SwitchName=a Nodes=n[1-2] Switches=b\nSwitchName=b Nodes=n[2-3] Switches=a,q\nSwitchName=b",
        )
    expected = [
        "slurm.conf, line 1: CPUs=abc: expected a whole number from 1",
        "slurm.conf, line 2: RealMemory=64G: expected a whole number from 0 to 1,000,000,000 (MB)",
        "slurm.conf, line 2: Gres=gpu:a:b:2: expected names with counts",
        "slurm.conf, line 3: State=UPP: expected one of FUTURE, DOWN",
        "slurm.conf, line 3: NodeName=n[3-5]: described twice: n3, n4",
        "slurm.conf, line 4: NodeName=x[5-1]: the range '5-1' goes backwards",
        "slurm.conf, line 5: Default=maybe: expected YES or NO",
        "slurm.conf, line 6: PartitionName=a: there is a partition of that name above",
        "slurm.conf, line 7: Include 'none.conf': no such file",
        "slurm.conf, line 9: 'some words': expected Key=Value",
        "slurm.conf, line 10: 'Weight=': expected Key=Value",
        "slurm.conf, line 11: DownNodes=n[: expected names such as",
        "slurm.conf, line 12: NodeName=z1: expected NodeName at the beginning of a line",
        "slurm.conf, line 13: CoreSpecCount=4: expected less than all there is, 4",
        "self.conf, line 1: Include 'self.conf': the file includes itself",
        "self.conf, line 2: CPUs=0: expected a whole number from 1",
        "gres.conf, line 1: Count=many: expected a whole number",
        "topology.conf, line 1: SwitchName=a: the switch is below itself",
        "topology.conf, line 2: Switches=a,q: there is no switch q",
        "topology.conf, line 2: SwitchName=b: node n2 is below a already",
        "topology.conf, line 3: SwitchName=b: there is a switch of that name above",
    ]
    message = str(caught.value)
    assert [text for text in expected if text not in message] == []
    assert str(tmp_path) in message


def test_unknown_nodes(read):
    with pytest.raises(InputError, match="there is no node nodd1, nodd2, nodd3…") as caught:
        read("NodeName=node1\nPartitionName=p Nodes=nodd[1-9],node1")
    assert "line 2: Nodes=nodd[1-9],node1: " in str(caught.value)
    assert "did you mean 'node1'?" in str(caught.value)


def test_a_file_without_nodes(read):
    with pytest.raises(InputError, match="describes no node"):
        read("ClusterName=x")


def test_what_looks_like_a_configuration():
    assert looks_like("# comment\nClusterName=x\n", "a-slurm.conf")
    assert looks_like("nodename = n1", "x.conf")
    assert not looks_like("NodeName=g1 Name=gpu", "gres.conf")
    assert not looks_like("key = 1", "x.conf")
    assert not looks_like("ClusterName=x", "x.toml")


def test_writing_and_reading_again(tmp_path):
    groups = (
        NodeGroup("thin", 12, {"cores": 16, "memory": 1000 * MB}, "t", width=2, sockets=2, features=frozenset("ab")),
        NodeGroup("more", 8, {"cores": 16, "memory": 1000 * MB}, "t", 13, 2, sockets=2, features=frozenset("ab")),
        NodeGroup("gpu", 2, {"cores": 8, "gpus": 3, "gpu:v100": 2, "nvme": 1}, "g", 9, 1, "-ib", weight=7),
        NodeGroup("login", 1, {"cores": 2}, "login", numbered=False, weight=9),
    )
    parts = (Partition("all", ("thin", "more", "gpu", "login"), default=True), Partition("g", ("gpu",)))
    switches = (Switch("s1", "t[01-12]"), Switch("top", "login", ("s1",)))
    cluster = Cluster(groups, parts, name="a cluster", switches=switches)
    path = tmp_path / "my-slurm.conf"
    assert write_slurm_conf(path, cluster) == []
    assert "NodeSet=more Nodes=t[13-20]" in path.read_text()
    assert (tmp_path / "my-topology.conf").is_file()
    assert read_slurm_conf(path) == cluster


def test_a_uniform_cluster(tmp_path):
    path = tmp_path / "x.conf"
    assert write_slurm_conf(path, read_cluster("12x3")) == []
    assert read_slurm_conf(path) == read_cluster("12x3")


def test_what_is_lost(tmp_path):
    first = {"cores": 3, "memory": MB + 1, "a b": 1}
    groups = (
        NodeGroup("x", 1, first, sockets=2, features=frozenset(["a,b"]), speed=1e9, weight=5, properties={"k": "v"}),
        NodeGroup("y", 1, {"cores": 0}, "y"),
    )
    cluster = Cluster(groups, (Partition("none", ()),), name='a"b', switches=(Switch("s"),))
    assert write_slurm_conf(tmp_path / "x.conf", cluster) == [
        "some characters of its name",
        "the order of node groups: Slurm takes nodes of small weight first",
        "the sockets of x: its cores cannot be shared out evenly",
        "the exact memory of x (rounded down to MB of 2^20 bytes)",
        "resources of x: a b",
        "features of x: a,b",
        "the speed of x",
        "properties of x: k",
        "that nodes of y have no core: one is written",
        "partition none, which has no nodes",
        "the switches: they are written only beside a file with slurm in its name",
    ]
    assert read_slurm_conf(tmp_path / "x.conf").node_names() == ["y1", "n1"]


@pytest.mark.traces
@pytest.mark.parametrize("name", ["slurm/ubccr-micro-slurm.conf", "slurm-real/vc_prio_size/slurm.conf"])
def test_the_micro_cluster(traces, name):
    cluster = read_slurm_conf(traces / name)
    assert (cluster.name, cluster.nodes, cluster.cores, cluster.total("gpus")) == ("micro", 10, 120, 2)
    assert cluster.node_names() == ["n1", "n2", "n3", "n4", "m1", "m2", "m3", "m4", "g1", "b1"]
    assert cluster.total("memory") == (9 * 48_000 + 512_000) * MB
    assert cluster.partitions[0].name == "normal"
    assert cluster.partitions[0].default
    assert [(switch.name, switch.nodes) for switch in cluster.switches] == [
        ("IBN", "n[1-4]"),
        ("IBM", "m[1-4]"),
        ("IBG", "g1,b1"),
        ("TOP", ""),
    ]
    assert not any("does not know" in note for note in cluster.notes)


@pytest.mark.traces
def test_ub_hpc(traces, tmp_path):
    cluster = read_slurm_conf(traces / "slurm" / "ubccr-ubhpc-slurm.conf")
    assert cluster.nodes == 217
    assert cluster.cores == 87 * 32 + 2 * 32 + 128 * 40
    assert [(group.node_set, group.weight) for group in cluster.groups] == [
        ("n[001-087]", 60),
        ("m[001-096]", 70),
        ("b[001-024]", 160),
        ("gn[001-002]", 190),
        ("g[001-008]", 190),
    ]
    assert cluster.total("gpus") == 20
    assert cluster.total("gpu:tesla_v100-pcie-32gb") == 16
    assert cluster.partitions == (
        Partition("general-compute", ("n", "m", "b", "g"), default=True),
        Partition("debug", ("gn",)),
    )
    assert cluster.switches[0] == Switch("IBN", "n[001-087],gn[001-002]")
    assert "ubccr-ubhpc-topology.conf has nodes that are not there: n[088-100],m[097-100]" in cluster.notes
    path = tmp_path / "slurm.conf"
    assert write_slurm_conf(path, cluster) == []
    assert read_slurm_conf(path) == cluster

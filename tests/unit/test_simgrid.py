"""SimGrid platforms: hosts, clusters and speeds by hand, every refusal, there and back, and all of Batsim's own."""

import gzip
import re
from dataclasses import replace

import pytest

from schedlab.cluster.simgrid.hosts import split_host_name
from schedlab.cluster.simgrid.read import looks_like, read_simgrid, write_simgrid
from schedlab.cluster.simgrid.units import format_speed, parse_radical, parse_speeds
from schedlab.model.cluster import Cluster, NodeGroup, Partition, Switch
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.network import Attachment, HostLink, Link, Route

HEAD = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
"""


def save(folder, body, head=HEAD):
    path = folder / "p.xml"
    path.write_text(f'{head}<platform version="4.1">\n{body}\n</platform>\n')
    return path


def read(folder, body, **more):
    return read_simgrid(save(folder, body, **more))


@pytest.mark.parametrize(
    ("text", "speeds"),
    [
        ("1Gf", [1e9]),
        ("100.0Mf, 50Mf", [1e8, 5e7]),
        ("2.3e9", [2.3e9]),
        ("16.673E9flops", [16.673e9]),
        ("42f", [42.0]),
        ("1e-9Mf", [1e-3]),
        ("3 kf", [3000.0]),
        ("2Ef", [2e18]),
        ("5gigaflops", [5e9]),
        ("1Mif", [1048576.0]),
    ],
)
def test_speeds(text, speeds):
    assert parse_speeds(text) == pytest.approx(speeds, rel=1e-15)


@pytest.mark.parametrize("text", ["", "fast", "1GB", "1mf", "-1Gf", "1e999Gf", "1Gf,", "1.2.3f"])
def test_what_is_no_speed(text):
    with pytest.raises(ValueError, match="is not a speed"):
        parse_speeds(text)


@pytest.mark.parametrize(("speed", "text"), [(1e9, "1Gf"), (76.296e6, "76.296Mf"), (42.0, "42.0f"), (1 / 3, None)])
def test_speeds_are_written_as_they_can_be_read(speed, text):
    assert parse_speeds(format_speed(speed)) == [speed]
    assert text in (None, format_speed(speed))


def test_radicals():
    assert parse_radical("0-15, 20,30-31") == [(0, 15), (20, 20), (30, 31)]
    for text, message in (
        ("", "not a number"),
        ("3-1", "goes backwards"),
        ("a", "not a number"),
        ("0-99999999", "more"),
    ):
        with pytest.raises(ValueError, match=message):
            parse_radical(text)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("host12", ("host", "12", "")),
        ("n007", ("n", "007", "")),
        ("7", ("", "7", "")),
        ("node-3.site.org", ("node-", "3", ".site.org")),
        ("g-1001.nancy.grid5000.fr", ("g-", "1001", ".nancy.grid5000.fr")),
        ("n1-ib", ("n", "1", "-ib")),
        ("rack2.n5", ("rack2.n", "5", "")),
        ("login.grid5000.fr", ("login.grid5000.fr", "", "")),
        ("Jupiter", ("Jupiter", "", "")),
    ],
)
def test_names_are_split(name, parts):
    assert split_host_name(name) == parts


def test_identical_hosts_with_consecutive_numbers_are_a_group(tmp_path):
    body = """<zone id="z" routing="Full">
      <host id="n08" speed="1Gf" core="4"/><host id="n09" speed="1Gf" core="4"/><host id="n10" speed="1Gf" core="4"/>
      <host id="n11" speed="2Gf" core="4"/>
      <host id="n12" speed="2Gf" core="8"/>
      <host id="n14" speed="2Gf" core="8"/>
      <host id="Tremblay" speed="100Mf"/>
    </zone>"""
    cluster = read(tmp_path, body)
    assert cluster.name == "p"
    assert cluster.groups == (
        NodeGroup("n", 3, {"cores": 4}, "n", 8, 2, speed=1e9),
        NodeGroup("n11", 1, {"cores": 4}, "n", 11, 2, speed=2e9),
        NodeGroup("n12", 1, {"cores": 8}, "n", 12, 2, speed=2e9),
        NodeGroup("n14", 1, {"cores": 8}, "n", 14, 2, speed=2e9),
        NodeGroup("Tremblay", 1, {"cores": 1}, "Tremblay", numbered=False, speed=1e8),
    )
    assert cluster.node_names() == ["n08", "n09", "n10", "n11", "n12", "n14", "Tremblay"]
    assert cluster.notes == ()


def test_padding_is_not_counting(tmp_path):
    names = ["a9", "a10", "b9", "b010", "c99", "c100"]
    cluster = read(tmp_path, "".join(f'<host id="{name}" speed="1f"/>' for name in names))
    assert [(group.node_set, group.width) for group in cluster.groups] == [
        ("a[9-10]", 1),
        ("b9", 1),
        ("b010", 3),
        ("c[99-100]", 1),
    ]
    assert cluster.node_names() == names


def test_clusters_cabinets_and_peers(tmp_path):
    body = """<AS id="AS0" routing="Full">
      <cluster id="A" prefix="a-" suffix=".org" radical="0-3,7" speed="1Gf" core="2" bw="1GBps" lat="5us">
        <prop id="wattage_per_state" value="95.0:190.7"/>
      </cluster>
      <AS id="inner" routing="Cluster">
        <cabinet id="cabinet1" prefix="x" suffix="" radical="10-11" speed="3Gf" bw="1Gbps" lat="1us"/>
        <cabinet id="cabinet1" prefix="y" suffix="" radical="10-11" speed="3Gf" bw="1Gbps" lat="1us"/>
      </AS>
      <peer id="p1" speed="5Mf" bw_in="1MBps" bw_out="1MBps" coordinates="0 0 0"/>
    </AS>"""
    cluster = read(tmp_path, body)
    watts = {"wattage_per_state": "95.0:190.7"}
    assert cluster.groups == (
        NodeGroup("A", 4, {"cores": 2}, "a-", 0, 1, ".org", speed=1e9, properties=watts),
        NodeGroup("A-2", 1, {"cores": 2}, "a-", 7, 1, ".org", speed=1e9, properties=watts),
        NodeGroup("x", 2, {"cores": 1}, "x", 10, 2, speed=3e9),
        NodeGroup("y", 2, {"cores": 1}, "y", 10, 2, speed=3e9),
        NodeGroup("p1", 1, {"cores": 1}, "p", 1, 1, speed=5e6),
    )
    assert cluster.notes == ()


def test_the_network(tmp_path):
    body = """<zone id="top" routing="Full"><prop id="dc" value="x"/>
      <cluster id="A" prefix="a" suffix="" radical="0-3" speed="1Gf" bw="100MBps" lat="4us" bb_bw="1GBps" bb_lat="2us"
               limiter_link="150MBps" loopback_bw="2GBps" loopback_lat="1us" sharing_policy="SHARED"/>
      <zone id="B" routing="cluster"><link id="up" bandwidth="8Mbps" latency="1ms"/>
        <link id="both" bandwidth="1e6" latency="2" sharing_policy="FULLDUPLEX"/>
        <host id="b1" speed="1Gf"/><host_link id="b1" up="up" down="up"/><router id="r"/>
        <cabinet id="c" prefix="k" suffix="" radical="1-2" speed="1Gf" bw="1KiBps" lat="4us"/>
        <backbone id="bb" bandwidth="1GBps" latency="0"/></zone>
      <zoneRoute src="A" dst="B" gw_src="aA_router" gw_dst="r" symmetrical="NO"><link_ctn id="both" direction="UP"/>
      </zoneRoute></zone>"""
    (top,) = read(tmp_path, body).network.zone.zones
    (route,) = top.routes
    assert (top.name, top.routing, top.properties) == ("top", "Full", {"dc": "x"})
    assert route == Route("A", "B", ("both_UP",), ("aA_router", "r"), symmetrical=False)
    first, second = top.zones
    assert first.routers == ("aA_router",)
    assert first.links == (Link("A_backbone", 1e9, 2e-6),)
    assert first.attachments == (Attachment("A", 1e8, 4e-6, False, 1.5e8, (2e9, 1e-6)),)
    assert (second.routing, second.routers, second.backbone) == ("Cluster", ("r",), "bb")
    assert second.links == (Link("up", 1e6, 1e-3), Link("both", 1e6, 2.0, "splitduplex"), Link("bb", 1e9))
    assert second.host_links == (HostLink("b1", "up", "up"),)
    assert second.attachments == (Attachment("k", 1024.0, 4e-6),)


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ('<link id="l"/>', "<link> 'l': bandwidth: '' is not a bandwidth; expected a number with a unit"),
        ('<link id="l" bandwidth="1MB"/>', "'1MB' is not a bandwidth"),
        ('<link id="l" bandwidth="1MBps" latency="soon"/>', "latency: 'soon' is not a time"),
        ('<link bandwidth="1MBps"/>', "<link>: has no id"),
        ('<link id="l" bandwidth="1Bps"/><link id="l" bandwidth="1Bps"/>', "there is a link of this name already"),
        ('<link id="l" bandwidth="1Bps" sharing_policy="FAIR"/>', "sharing_policy is 'FAIR', expected SHARED, FATPIPE"),
        ('<route src="a" dst="a"><link_ctn id="k"/></route>', "there is no link 'k' above this route"),
        (
            '<link id="l" bandwidth="1Bps"/><route src="a" dst="a"><link_ctn id="l" direction="UP"/></route>',
            "a link that is not split has no direction",
        ),
        (
            '<link id="l" bandwidth="1Bps" sharing_policy="SPLITDUPLEX"/>'
            '<route src="a" dst="a"><link_ctn id="l"/></route>',
            'a link that is split has direction="UP" or "DOWN"',
        ),
        ('<host_link id="a" up="x" down="x"/>', "there is no link 'x'"),
    ],
)
def test_mistakes_of_the_network(tmp_path, inside, message):
    body = f'<zone id="z" routing="Full"><host id="a" speed="1f"/>{inside}</zone>'
    with pytest.raises(InputError, match=re.escape(message)):
        read(tmp_path, body)


def test_topologies_that_are_not_followed(tmp_path):
    body = '<cluster id="A" prefix="a" suffix="" radical="0-3" speed="1Gf" bw="1Bps" lat="0" topology="TORUS"/>'
    cluster = read(tmp_path, f'<zone id="z" routing="Full">{body}</zone>')
    assert cluster.nodes == 4
    assert cluster.notes == ("communication along these costs nothing: topology TORUS",)


def test_roles_from_elsewhere(tmp_path):
    body = """<zone id="z" routing="Full">
      <cluster id="A" prefix="a" suffix="" radical="0-4" speed="1Gf" bw="1Bps" lat="0"/></zone>"""
    path = save(tmp_path, body)
    cluster = read_simgrid(path, {"a1": "storage", "a4": "master", "somebody": "master"})
    assert cluster.node_names() == ["a0", "a2", "a3"]
    others = [(name, group.properties["role"]) for group in cluster.network.others for name in group.node_names()]
    assert others == [("a4", "master"), ("a1", "storage")]


def test_states_of_speed(tmp_path):
    body = """<host id="a" speed="100Mf, 50Mf,20Mf"><prop id="sleep_pstates" value="1:2:2"/></host>
      <host id="b" speed="100Mf,50Mf" pstate="1"/><host id="c" power="7E6"/>"""
    a, b, c = read(tmp_path, body).groups
    assert (a.speed, a.properties) == (1e8, {"sleep_pstates": "1:2:2", "speeds": "100Mf,50Mf,20Mf"})
    assert (b.speed, b.properties) == (5e7, {"speeds": "100Mf,50Mf", "pstate": "1"})
    assert (c.speed, c.properties) == (7e6, {})


def role(name, value):
    return f'<host id="{name}" speed="1f"><prop id="role" value="{value}"/></host>'


def test_roles(tmp_path):
    body = role("m", "master") + role("s1", "storage") + role("s2", "storage") + role("c", "compute_node")
    cluster = read(tmp_path, body + '<host id="master_host" speed="1f"/>')
    assert cluster.node_names() == ["c", "master_host"]
    assert cluster.notes == ("left out: 1 master host (m)", "left out: 2 storage hosts (s1, s2)")
    assert cluster.groups[0].properties == {}


@pytest.mark.parametrize("name", ["master_host", "master_host0"])
def test_the_master_by_its_name(tmp_path, name):
    cluster = read(tmp_path, f'<host id="a" speed="1f"/><host id="{name}" speed="1f"/>')
    assert cluster.node_names() == ["a"]
    assert cluster.notes == (f"left out: 1 master host ({name})",)


def test_what_is_not_represented(tmp_path):
    body = """<config id="General"/><zone id="z" routing="Full"><prop id="Foo" value="bar"/>
      <host id="a" speed="1f" availability_file="f"><disk id="d"/></host>
      <link id="l" bandwidth="1Bps"/><route src="a" dst="a"><link_ctn id="l"/></route>
      <bypassRoute src="a" dst="a"/></zone><zone id="w" routing="Wifi"/>"""
    assert read(tmp_path, body).notes == (
        "not represented: 1 <bypassRoute>, 1 <config>, 1 <disk>",
        "not represented: attributes of hosts and clusters (availability_file)",
        "communication along these costs nothing: routing Wifi",
    )


def test_blank_lines_above_the_declaration(tmp_path):
    assert read(tmp_path, '<host id="a" speed="1f"/>', head=f"\n \n{HEAD}").nodes == 1
    with pytest.raises(InputError, match=r"p\.xml, line 6, <host> 'a': has no speed"):
        read(tmp_path, '<host id="a"/>', head=f"\n \n{HEAD}")


WRONG = [
    ("<host speed='1f'/>", "<host>: has no id"),
    ("<host id='a'/>", "<host> 'a': has no speed"),
    ("<host id='a' speed='fast'/>", "<host> 'a': speed: 'fast' is not a speed"),
    ("<host id='a' speed='1f' core='0'/>", "core is '0', expected a whole number from 1 to 1,000,000,000"),
    ("<host id='a' speed='1f' core='two'/>", "core is 'two'"),
    ("<host id='a' speed='1f,2f' pstate='2'/>", "pstate is '2', expected a whole number from 0 to 1"),
    ("<host id='a b' speed='1f'/>", "'a b' cannot be in a node set"),
    ("<host id='a' speed='1f'><prop value='x'/></host>", "<prop>: has no id"),
    (role("a", "boss"), "role 'boss' is not known; expected master, compute_node, storage"),
    ("<host id='a' speed='1f'/>\n<host id='a' speed='1f'/>", "there is a host 'a' on line 4 already"),
    ("<cluster id='A' prefix='a' speed='1f'/>", "<cluster> 'A': has no radical"),
    ("<cluster id='A' prefix='a' speed='1f' radical='4-2'/>", "radical: the range '4-2' goes backwards"),
    ("<include file='x.xml'/>", "<include> is not followed"),
]


@pytest.mark.parametrize(("body", "message"), WRONG)
def test_mistakes(tmp_path, body, message):
    with pytest.raises(InputErrors, match=rf"p\.xml, line [45](, |: )(.|\n)*{re.escape(message)}"):
        read(tmp_path, body)


def test_all_mistakes_at_once(tmp_path):
    with pytest.raises(InputErrors, match="and 10 more mistakes") as caught:
        read(tmp_path, "".join(f'<host id="n{number}" speed="?"/>' for number in range(30)))
    assert len(caught.value.errors) == 21


WRONG_FILES = [
    ("<platform>", "line 1, column 11: is not XML: no element found"),
    ("{}", "line 1, column 1: is not XML"),
    ("<adag/>", "is XML of <adag>, expected a SimGrid <platform>"),
    ("<platform/>", "describes no compute node: no <host> and no <cluster>"),
    ("<platform><host id='master_host' speed='1f'/></platform>", "only hosts that do not compute"),
    ("<!DOCTYPE platform [<!ENTITY a 'b'>]><platform/>", "an internal subset"),
    ("<!DOCTYPE platform SYSTEM 'x' [<!ENTITY a SYSTEM '/etc/passwd'>]><platform/>", "an internal subset"),
    ("<?xml version='1.0' encoding='klingon'?><platform/>", "is not XML"),
    ("<zone>" * 300 + "</zone>" * 300, "nested more than 200 deep"),
    ("<platform><cluster id='a' radical='0-9999999' speed='1f'/><host id='b' speed='1f'/></platform>", "more than 10"),
]


@pytest.mark.parametrize(("text", "message"), WRONG_FILES)
def test_wrong_files(tmp_path, text, message):
    path = tmp_path / "p.xml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_simgrid(path)


def test_recognition():
    assert looks_like(HEAD + '<platform version="4.1">', "p.xml")
    assert looks_like("\n" + HEAD + "<platform>", "p.xml")
    assert not looks_like("<?xml version='1.0'?><adag>", "x.dax")
    assert not looks_like('{"nb_res": 4}', "w.json")


@pytest.mark.parametrize("name", ["c.xml", "c.xml.gz"])
def test_there_and_back(tmp_path, name):
    power = {"wattage_per_state": '10 "a" <b> & c', "speeds": "100Mf,50Mf", "pstate": "1"}
    cluster = Cluster(
        (
            NodeGroup("thin", 12, {"cores": 4}, "thin", 1, 2, speed=2.5e9),
            NodeGroup("more", 3, {"cores": 4}, "thin", 13, 2, speed=2.5e9),
            NodeGroup("x", 4, {"cores": 1}, "x-", 8, 1, ".org", speed=1 / 3),
            NodeGroup("Jupiter", 1, {"cores": 2}, "Jupiter", numbered=False, speed=5e7, properties=power),
            NodeGroup("odd", 1, {"cores": 1}, "master_host", numbered=False, speed=1.0),
        ),
        name="my cluster",
    )
    path = tmp_path / name
    assert write_simgrid(path, cluster) == []
    again = read_simgrid(path)
    assert again == cluster
    assert again.notes[0] == "left out: 1 master host (master_host0)"


def test_what_is_lost(tmp_path):
    cluster = Cluster(
        (
            NodeGroup("a", 3, {"cores": 4, "memory": 2**30, "gpus": 2}, "a", 1, 1, sockets=2, speed=1e9),
            NodeGroup("b", 1, {"cores": 0}, "b", 1, 1, features=frozenset({"big"}), weight=5),
        ),
        (Partition("all", ("a", "b"), default=True),),
        name="c",
        switches=(Switch("s", "a[1-3]"),),
    )
    path = tmp_path / "c.xml"
    assert write_simgrid(path, cluster) == [
        "memory (3 nodes): hosts have cores only",
        "gpus (3 nodes): hosts have cores only",
        "features (1 node): there is no place for them",
        "sockets (3 nodes): there is no place for them",
        "weights (1 node): there is no place for them",
        "unknown speeds (1 node): 1 Gf is written",
        "no cores (1 node): 1 is written",
        "partitions: there is no place for them",
        "switches: the hosts are written without a network",
    ]
    assert read_simgrid(path).groups == (
        NodeGroup("a", 3, {"cores": 4}, "a", 1, 1, speed=1e9),
        NodeGroup("b", 1, {"cores": 1}, "b", 1, 1, speed=1e9),
    )
    assert write_simgrid(path, Cluster.of_cores(8))[-1] == "that its nodes do not matter: a pool is one host"
    assert read_simgrid(path).cores == 8


# Compute nodes, their groups and the speed of the first, read off the files by hand.
SAMPLES = {
    "cluster512": (512, 1, 1e9),
    "cluster512_pfs": (512, 1, 1e9),
    "cluster_energy_128": (128, 1, 1e8),
    "cluster_locality_32x16": (32 * 16, 32, 3e9),
    "cluster_locality_4x128": (4 * 128, 4, 3e9),
    "cluster_locality_8x16": (8 * 16, 8, 3e9),
    "cluster_locality_8x64": (8 * 64, 8, 3e9),
    "energy_platform": (4, 4, 1e8),
    "energy_platform_homogeneous": (4, 4, 1e8),
    "energy_platform_homogeneous_no_net": (7, 1, 1e8),
    "energy_platform_homogeneous_no_net_1": (1, 1, 1e8),
    "energy_platform_homogeneous_no_net_128": (128, 1, 1e8),
    "energy_platform_homogeneous_no_net_256": (256, 1, 1e8),
    "energy_platform_homogeneous_no_net_512": (512, 1, 1e8),
    "graphene": (39 + 35 + 30 + 40, 4, 16.673e9),
    "properties_example": (5 + 2, 3, 1e9),
    "simple_coalloc_platform": (2 + 32, 3, 76.296e6),
    "small_platform": (4, 4, 76.296e6),
    "small_platform_dvfs": (4, 4, 100.0),
    "small_platform_pfs0": (5, 5, 76.296e6),
    "small_platform_replay_usage": (4, 4, 100.0),
}


def test_all_of_batsims_own(traces, tmp_path):
    paths = sorted((traces / "batsim" / "platforms").glob("*.xml.gz"))
    assert {path.name.removesuffix(".xml.gz") for path in paths} == set(SAMPLES)
    for path in paths:
        cluster = read_simgrid(path)
        assert (cluster.nodes, len(cluster.groups), cluster.groups[0].speed) == SAMPLES[cluster.name], path.name
        with gzip.open(path, "rt") as file:
            hosts = re.findall(r'<host id="([^"]*)"', file.read())
        assert [name for name in hosts if name != "master_host"] == [
            name for name in cluster.node_names() if name in hosts
        ]
        copy = tmp_path / "copy.xml"
        assert write_simgrid(copy, cluster) == ["the network: the hosts are written without one"] * (
            cluster.network is not None
        )
        assert read_simgrid(copy) == replace(cluster, network=None)


def test_names_and_energy_of_real_platforms(traces):
    platforms = traces / "batsim" / "platforms"
    graphene = read_simgrid(platforms / "graphene.xml.gz")
    assert graphene.node_names()[0] == "graphene-1001.nancy.grid5000.fr"
    assert graphene.node_names()[-1] == "graphene-1144.nancy.grid5000.fr"
    energy = read_simgrid(platforms / "energy_platform.xml.gz")
    assert energy.node_names() == ["Mercury", "Venus", "Earth", "Mars"]
    assert energy.groups[1].properties["sleep_pstates"] == "3:4:5, 6:4:5"
    assert energy.groups[1].properties["wattage_off"] == "10"
    assert energy.groups[3].properties["speeds"] == "100.0Mf,50.0Mf,20.0Mf,1e-9Mf,0.006666667f,0.1429f"
    assert read_simgrid(platforms / "small_platform_replay_usage.xml.gz").cores == 400

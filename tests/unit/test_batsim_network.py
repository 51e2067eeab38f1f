"""Communications of one parallel task: latency, links, fat pipes, windows, storages; by hand."""

import gzip
import json
import random

import pytest
from tests.batsim_platforms import MASTER, PAIR, STAR, save

from schedlab.bridge.batsim.network import Traffic, everyone_to_everyone
from schedlab.bridge.batsim.platform import Platform
from schedlab.bridge.batsim.profiles import Profiles
from schedlab.model.errors import InputError


def seconds(folder, body, spec, hosts, mapping=None, **more):
    platform = Platform.read(save(folder, body))
    return Profiles({"p": spec}, platform, None, "w0").course("p", hosts, mapping, **more).seconds


def homogeneous(cpu, com):
    return {"type": "parallel_homogeneous", "cpu": cpu, "com": com}


def test_the_backbone_of_a_cluster(tmp_path):
    # 12 pairs x 10 MB on the backbone: 0.6 s; 30 MB each way on a host's link: 0.3 s; 1 + 2 + 1 ms of latency.
    assert seconds(tmp_path, STAR, homogeneous(5e8, 1e7), [0, 1, 2, 3]) == pytest.approx(0.604)


def test_whoever_takes_longest_decides(tmp_path):
    assert seconds(tmp_path, STAR, homogeneous(5e8, 1e7), [0, 1]) == pytest.approx(0.504)  # computing
    matrix = {"type": "parallel", "cpu": [1e8, 0], "com": [0, 5e7, 0, 0]}
    assert seconds(tmp_path, STAR, matrix, [0, 1]) == pytest.approx(0.504)  # 50 MB on a link of 100 MB/s


def test_totals_are_divided_among_executors(tmp_path):
    total = {"type": "parallel_homogeneous_total", "cpu": 0, "com": 4e7}
    assert seconds(tmp_path, STAR, total, [0, 1, 2, 3]) == pytest.approx(0.604)


def test_windows_of_long_routes(tmp_path):
    body = PAIR.replace('bandwidth="1MBps" latency="100ms"', 'bandwidth="1GBps" latency="1s"')
    matrix = {"type": "parallel", "cpu": [0, 0], "com": [0, 1e7, 0, 0]}
    assert seconds(tmp_path, body, matrix, [0, 1]) == pytest.approx(1 + 2 * 1 * 1e7 / 4_194_304)


def test_shared_fat_and_split_links(tmp_path):
    both_ways = homogeneous(0, 1e6)
    assert seconds(tmp_path, PAIR, both_ways, [0, 1]) == pytest.approx(2.1)  # one link for both directions
    assert seconds(tmp_path, PAIR, both_ways, [0, 2]) == pytest.approx(1.0)  # each has all of it
    assert seconds(tmp_path, PAIR, both_ways, [1, 2]) == pytest.approx(1.0)  # one for each direction


def test_what_a_host_sends_to_itself(tmp_path):
    # A zone with routes has a loopback of 10 GB/s, in a cluster it goes along the host's own links and the backbone.
    assert seconds(tmp_path, PAIR, homogeneous(0, 1e9), [0], [0, 0]) == pytest.approx(0.1)
    assert seconds(tmp_path, STAR, homogeneous(0, 1e8), [0], [0, 0]) == pytest.approx(2.004)


def test_reading_and_writing_a_storage(tmp_path):
    # Both executors read 5 MB and write 1 MB: 10 and 2 MB on the storage's links of 10 MB/s, one for each direction.
    spec = {"type": "parallel_homogeneous_pfs", "bytes_to_read": 5e6, "bytes_to_write": 1e6}
    assert seconds(tmp_path, STAR, spec, [0, 1]) == pytest.approx(1.0 + 0.001 + 0.002 + 0.003 + 0.001)
    assert seconds(tmp_path, STAR, spec, [0, 1], storage={"pfs": 4}) == pytest.approx(1.007)
    with pytest.raises(InputError, match="storage 'pfs' is mapped to resource 2, which is no storage"):
        seconds(tmp_path, STAR, spec, [0, 1], storage={"pfs": 2})
    with pytest.raises(InputError, match="'pfs', which is not mapped"):
        seconds(tmp_path, STAR, spec, [0, 1], storage={"nfs": 4})


def test_profiles_of_versions_1_and_2_have_a_direction(tmp_path):
    spec = {"type": "msg_par_hg_pfs_tiers", "size": 5e6, "direction": "from_storage", "host": "pfs"}
    assert seconds(tmp_path, STAR, spec, [0, 1]) == pytest.approx(1.007)


def test_staging_between_storages(tmp_path):
    body = f"""<zone id="z" routing="Full">{MASTER}<host id="a" speed="1Gf"/><host id="fast" speed="1Gf"/>
      <host id="slow" speed="1Gf"/><link id="l" bandwidth="2MBps" latency="500ms"/>
      <route src="fast" dst="slow"><link_ctn id="l"/></route></zone>"""
    platform = Platform.read(save(tmp_path, body), {"fast": "storage", "slow": "storage"})
    assert [host.name for host in platform.hosts] == ["a", "fast", "slow"]
    known = Profiles({"p": {"type": "data_staging", "nb_bytes": 1e6, "from": "x", "to": "y"}}, platform, None, "w0")
    course = known.course("p", [0], storage={"x": 1, "y": 2})
    assert course.seconds == pytest.approx(1.0)
    assert course.progress(0.75) == {"profile_name": "p", "progress": pytest.approx(0.5)}  # the latency is no progress


def test_no_way_between_zones(tmp_path):
    body = f'<zone id="z" routing="Full"><zone id="x" routing="Full">{MASTER}<host id="a" speed="1Gf"/></zone>' + (
        '<zone id="y" routing="Full"><host id="b" speed="1Gf"/></zone></zone>'
    )
    with pytest.raises(InputError, match="there is no route from 'a' to 'b'"):
        seconds(tmp_path, body, homogeneous(0, 1), [0, 1])


def test_without_links_communication_is_free(tmp_path):
    body = f'<zone id="z" routing="Vivaldi">{MASTER}<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/></zone>'
    assert seconds(tmp_path, body, homogeneous(1e9, 1e12), [0, 1]) == 1.0


def test_coordinates_are_milliseconds(tmp_path):
    body = f"""<zone id="z" routing="Vivaldi">{MASTER}<host id="a" speed="1Gf" coordinates="3 4 0"/>
      <host id="b" speed="1Gf" coordinates="0 0 1"/></zone>"""
    assert seconds(tmp_path, body, homogeneous(1e9, 1), [0, 1]) == pytest.approx(1.006)


def test_routes_with_the_fewest_links(tmp_path):
    body = """<zone id="z" routing="Floyd"><host id="master_host" speed="1Gf"/><host id="a" speed="1Gf"/>
      <host id="b" speed="1Gf"/><link id="l" bandwidth="1GBps" latency="1s"/>
      <link id="k" bandwidth="1GBps" latency="2s"/>
      <route src="master_host" dst="a"><link_ctn id="l"/></route>
      <route src="master_host" dst="b"><link_ctn id="k"/></route></zone>"""
    platform = Platform.read(save(tmp_path, body))
    assert platform.routing.route("a", "b").links == ("l", "k")
    assert platform.routing.route("b", "a").latency == 3.0


MANY = """<zone id="all" routing="Full">
  <cluster id="x" prefix="x" suffix="" radical="0-4" speed="1Gf" bw="100MBps" lat="1ms" bb_bw="2GBps" bb_lat="2ms"/>
  <cluster id="y" prefix="y" suffix="" radical="0-3" speed="1Gf" bw="50MBps" lat="2ms" sharing_policy="SHARED"
           limiter_link="60MBps" loopback_bw="1GBps" loopback_lat="1us"/>
  <zone id="k" routing="Cluster">
    <cabinet id="k1" prefix="k" suffix="" radical="0-2" speed="1Gf" bw="80MBps" lat="3ms"/>
    <cabinet id="k2" prefix="l" suffix="" radical="0-1" speed="1Gf" bw="20MBps" lat="5ms"/>
    <router id="kr"/><backbone id="kb" bandwidth="100MBps" latency="1ms"/>
  </zone>
  <link id="xy" bandwidth="1GBps" latency="3ms" sharing_policy="SPLITDUPLEX"/>
  <link id="xk" bandwidth="70MBps" latency="4ms"/>
  <zoneRoute src="x" dst="y" gw_src="xx_router" gw_dst="yy_router"><link_ctn id="xy" direction="UP"/></zoneRoute>
  <zoneRoute src="x" dst="k" gw_src="xx_router" gw_dst="kr"><link_ctn id="xk"/></zoneRoute>
  <zoneRoute src="y" dst="k" gw_src="yy_router" gw_dst="kr"><link_ctn id="xk"/></zoneRoute>
</zone>"""


def test_everyone_to_everyone_is_all_pairs(tmp_path):
    """What is counted for a whole zone is what its pairs add up to."""
    platform = Platform.read(save(tmp_path, MANY))
    names = [host.name for host in platform.compute]
    assert len(names) == 14
    chance = random.Random(7)
    for size in [1, 2, 2, 3, 3, 4, 6, 9, 14]:
        hosts = chance.sample(names, size)
        counted = everyone_to_everyone(platform.routing, hosts, 3.0)
        added = Traffic(platform.routing)
        added.add((a, b, 3.0) for a in hosts for b in hosts if a != b)
        assert {link: amount for link, amount in counted.bytes.items() if amount} == pytest.approx(added.bytes)
        assert counted.latency == pytest.approx(added.latency)
        assert counted.window == pytest.approx(added.window)


def test_tasks_that_are_done_together(tmp_path):
    """80 MB from h2 to h3 beside what two other hosts do: 0.8 s on a link of 100 MB/s; the backbone has 100 MB."""
    platform = Platform.read(save(tmp_path, STAR))
    table = {
        "work": homogeneous(5e8, 1e7),
        "io": {"type": "parallel", "cpu": [0, 0], "com": [0, 8e7, 0, 0]},
        "two": {"type": "composed", "seq": ["work", "work"]},
        "ios": {"type": "composed", "seq": ["io", "work"]},
    }
    known = Profiles(table, platform, None, "w0")
    assert known.course("work", [0, 1], io=("io", [2, 3])).seconds == pytest.approx(0.804)
    assert known.course("two", [0, 1], io=("ios", [2, 3])).seconds == pytest.approx(0.804 + 0.504)
    with pytest.raises(InputError, match="profile 'io' cannot be done together with 'two'"):
        known.course("two", [0, 1], io=("io", [2, 3]))


def test_usual_times(tmp_path):
    table = {
        "load": {"type": "parallel_homogeneous_pfs", "bytes_to_read": 5e6, "storage": "somewhere"},
        "total": {"type": "parallel_homogeneous_total", "cpu": 1e9, "com": 0},
        "totals": {"type": "composed", "seq": ["total", "total"]},
    }
    known = Profiles(table, Platform.read(save(tmp_path, STAR)), None, "w0")
    assert known.usual_seconds("load", 2) == pytest.approx(1.007)
    assert known.usual_seconds("total", 8) == 0.25  # on four hosts, two executors each
    assert [known.takes_any_number(name) for name in table] == [False, True, True]


def test_totals_of_version_5_are_divided_among_pairs(tmp_path):
    spread = {"type": "ParallelTaskHomogeneousProfile", "generation_strategy": "DefinedAmountsSpreadUniformly"}
    # 120 MB in all on the backbone of 200 MB/s, 30 MB each way on each host's link.
    assert seconds(tmp_path, STAR, spread | {"cpu": 4e8, "com": 1.2e8}, [0, 1, 2, 3]) == pytest.approx(0.604)


def test_times_that_batsims_workloads_expect(traces):
    """Parallel tasks and sequences of Batsim 5's own tests, on the platform that they are for."""
    folder = traces / "batsim"
    platform = Platform.read(folder / "platforms" / "cluster512.xml.gz")
    compared = 0
    for name in ("test_ptasks", "test_homo_ptasks", "test_compo_sequence_ptaskcomp", "test_compo_sequence_delay"):
        document = json.loads(gzip.decompress((folder / "workloads" / f"{name}.json.gz").read_bytes()))
        known = Profiles(document["profiles"], platform, None, name)
        for job in document["jobs"]:
            expected = document["profiles"][job["profile"]].get("expected_execution_time")
            if expected is not None:
                course = known.course(job["profile"], range(job["res"]))
                assert course.seconds == pytest.approx(expected, abs=1e-6), (name, job["id"])
                compared += 1
    assert compared > 60

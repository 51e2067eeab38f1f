"""Parallel tasks that want the same hosts and links: rates by hand."""

from math import inf

import pytest
from tests.batsim_platforms import STAR, save

from schedlab.bridge.batsim.contention import Contention
from schedlab.bridge.batsim.fluid import Capacity, Flow, Fluid, share
from schedlab.bridge.batsim.platform import Host, Platform
from schedlab.bridge.batsim.profiles import Profiles


def rates(capacities, *flows):
    """Of flows, each (demands, bound)."""
    made = [Flow(tuple(demands), bound) for demands, bound in flows]
    share(made, capacities.__getitem__)
    return [flow.rate for flow in made]


def test_equal_shares():
    assert rates({"x": Capacity(10)}, ([("x", 5)], inf)) == [2.0]
    assert rates({"x": Capacity(10)}, ([("x", 5)], inf), ([("x", 20)], inf)) == [1.0, 0.25]


def test_what_one_cannot_use_is_for_the_others():
    # The first is held up elsewhere: it takes 2 of x, so 8 are left for the second.
    capacities = {"x": Capacity(10), "y": Capacity(2)}
    assert rates(capacities, ([("x", 1), ("y", 1)], inf), ([("x", 1)], inf)) == pytest.approx([2.0, 8.0])


def test_bounds():
    assert rates({"x": Capacity(10)}, ([("x", 1)], 0.5)) == [0.5]


def test_each_executor_has_a_share():
    """Three executors of one task and one of another have a quarter of a host each."""
    assert rates({1: Capacity(8)}, ([(1, 2)] * 3, inf), ([(1, 2)], inf)) == pytest.approx([1.0, 1.0])


def test_fat_pipes_are_no_bottleneck():
    capacities = {"x": Capacity(10, fatpipe=True)}
    assert rates(capacities, ([("x", 5)], inf), ([("x", 10)], inf)) == pytest.approx([2.0, 1.0])


def test_time_passes():
    fluid = Fluid({"x": Capacity(10)}.__getitem__)
    first, second = Flow((("x", 10),)), Flow((("x", 10),), latency=0.5)
    fluid.add(first)
    fluid.add(second)
    fluid.settle()
    assert fluid.next_in() == 0.5
    assert fluid.advance(0.5) == []  # half of the first is done, and the second begins
    fluid.settle()
    assert (first.rate, second.rate, fluid.next_in()) == (0.5, 0.5, 1.0)
    assert fluid.advance(1.0) == [first]
    fluid.settle()
    assert (second.rate, fluid.next_in()) == (1.0, 0.5)


HOSTS = Platform([Host("a", (1e9,)), Host("b", (1e9,)), Host("c", (1e9,), cores=2)])
TABLE = {
    "work": {"type": "parallel_homogeneous", "cpu": 4e9, "com": 0},
    "rest": {"type": "delay", "delay": 10},
    "both": {"type": "composed", "seq": ["rest", "work"]},
    "send": {"type": "parallel_homogeneous", "cpu": 0, "com": 1e8},
}


def start(platform, *jobs, speed=None):
    """Jobs (name, profile, hosts), by their names."""
    known = Profiles(TABLE, platform, None, "w0")
    contention = Contention(platform, speed or platform.speed)
    for name, profile, hosts in jobs:
        contention.start(name, known.course(profile, hosts))
    return contention


def paces(contention, **done):
    return {job: (pace.factor, pace.seconds) for job, pace in contention.settle(done.__getitem__, 1e-9).items()}


def test_jobs_on_one_host():
    contention = start(HOSTS, ("x", "work", [0]), ("y", "work", [0, 1]), ("z", "work", [2]))
    assert paces(contention, x=0.0, y=0.0) == {"x": (0.5, inf), "y": (0.5, inf)}  # z is in nobody's way
    contention.stop("x")
    assert paces(contention, y=1.0) == {"y": (1.0, inf)}
    assert not contention.changed


def test_two_cores_are_enough_for_two():
    contention = start(HOSTS, ("x", "work", [2]), ("y", "work", [2]))
    assert paces(contention, x=0.0, y=0.0) == {"x": (1.0, inf), "y": (1.0, inf)}


def test_only_the_step_that_computes_is_slowed_down():
    contention = start(HOSTS, ("x", "work", [0]), ("y", "both", [0]))
    assert paces(contention, x=0.0, y=0.0) == {"x": (1.0, inf), "y": (1.0, 10.0)}
    contention.at_next_step("y")
    assert paces(contention, x=2.0, y=10.0) == {"x": (0.5, inf), "y": (0.5, inf)}


def test_a_host_whose_speed_changes():
    speeds = {0: 1e9, 1: 1e9, 2: 1e9}
    contention = start(HOSTS, ("x", "work", [0]), speed=speeds.__getitem__)
    assert paces(contention) == {}
    speeds[0] = 2.5e8
    contention.touch(0)
    assert paces(contention, x=1.0) == {"x": (0.25, inf)}


def test_links_between_other_hosts(tmp_path):
    """The backbone has 200 MB/s; each job has 200 MB for it, and 100 MB for each link of its hosts."""
    platform = Platform.read(save(tmp_path, STAR))
    contention = start(platform, ("x", "send", [0, 1]), ("y", "send", [2, 3]))
    # First the latency of 4 ms passes, whoever else is there.
    assert paces(contention, x=0.0, y=0.5) == {"x": (1.0, pytest.approx(0.004)), "y": (1.0, inf)}
    contention.at_next_step("x")
    assert paces(contention, x=0.004, y=0.504) == {"x": (pytest.approx(0.5), inf), "y": (pytest.approx(0.5), inf)}

"""Jobs of Batsim on the hosts that they have: times and progress by hand."""

import pytest

from schedlab.bridge.batsim.course import Use
from schedlab.bridge.batsim.platform import Host, Platform
from schedlab.bridge.batsim.profiles import Profiles
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError, InputErrors

PLATFORM = Platform([Host("a", (1e9,)), Host("b", (1e9,)), Host("c", (5e8,)), Host("d", (5e8, 1e8), cores=4)])


def profiles(platform=PLATFORM, **table):
    return Profiles(table, platform, None, "w0")


def test_delays_are_exact():
    assert profiles(d={"type": "delay", "delay": 20.2}).course("d", [0, 1]).seconds == 20.2


def test_the_slowest_host_decides():
    known = profiles(p={"type": "parallel_homogeneous", "cpu": 2e9, "com": 0})
    assert known.course("p", [0, 1]).seconds == 2.0
    assert known.course("p", [0, 2]).seconds == 4.0


def test_loads_of_hosts_that_wait_for_others():
    known = profiles(p={"type": "parallel", "cpu": [1e9, 5e8], "com": [0, 0, 0, 0]})
    course = known.course("p", [0, 1])
    assert course.seconds == 1.0
    assert course.uses == (Use(0.0, 1.0, 1.0, frozenset({0})), Use(0.0, 1.0, 0.5, frozenset({1})))


def test_totals_are_divided():
    known = profiles(p={"type": "parallel_homogeneous_total", "cpu": 4e9, "com": 0})
    assert [known.course("p", hosts).seconds for hosts in ([0], [0, 1], [0, 1, 2, 3])] == [4.0, 2.0, 2.0]


def test_executors_on_one_host_share_its_cores():
    known = profiles(p={"type": "parallel_homogeneous", "cpu": 1e9, "com": 0})
    assert known.course("p", [0, 1], [0, 0, 1]).seconds == 2.0  # one core
    assert known.course("p", [3], [0, 0, 0]).seconds == 2.0  # four cores: each has one
    assert known.course("p", [3], [0] * 8).seconds == 4.0
    assert known.course("p", [3], [0, 0, 0]).uses == (Use(0.0, 2.0, 0.75, frozenset({3})),)


def test_p_states():
    known = profiles(p={"type": "parallel_homogeneous", "cpu": 1e9, "com": 0})
    assert known.course("p", [3], pstates=[0, 0, 0, 1]).seconds == 10.0


def test_sequences_and_how_far_they_have_come():
    known = profiles(
        two={"type": "delay", "delay": 2},
        work={"type": "parallel_homogeneous", "cpu": 3e9, "com": 0},
        inner={"type": "composed", "seq": ["two", "work"], "repeat": 2},
        outer={"type": "composed", "seq": ["work", "inner"], "repeat": 3},
    )
    course = known.course("outer", [0])
    assert course.seconds == 3 * (3 + 2 * (2 + 3))
    # 13 s a round. At 13 + 3 + 5 + 2 + 1.5 = 24.5 the inner sequence of the second round is in its last computation.
    inner = {
        "profile_name": "inner",
        "current_task_index": 3,
        "current_task": {"profile_name": "work", "progress": 0.5},
    }
    assert course.progress(24.5) == {"profile_name": "outer", "current_task_index": 3, "current_task": inner}
    assert [(use.begin, use.end) for use in course.used(12.0)] == [(0, 3), (5, 8), (10, 12)]


def test_a_part_that_fails_is_the_last():
    known = profiles(
        good={"type": "delay", "delay": 2},
        bad={"type": "delay", "delay": 3, "ret": 4},
        seq={"type": "composed", "seq": ["good", "bad", "good"], "repeat": 5},
    )
    assert known.returns("seq") == 4
    assert known.course("seq", [0]).seconds == 5.0


def test_profiles_that_a_scheduler_registers():
    known = profiles(d={"type": "delay", "delay": 1})
    known.add("e", {"type": "composed", "seq": ["d", "d"]})
    assert known.course("e", [0]).seconds == 2.0
    with pytest.raises(InputError, match="w0: there is a profile 'e' already"):
        known.add("e", {"type": "delay", "delay": 1})
    with pytest.raises(InputError, match="profile 'f': 'delay' is missing"):
        known.add("f", {"type": "delay"})
    assert "f" not in known


def test_all_that_is_wrong_is_said_at_once():
    with pytest.raises(InputErrors) as caught:
        profiles(a={"type": "delay", "delay": 0}, b={"type": "recv"}, c={"type": "parralel"})
    first, second, third = (str(error) for error in caught.value.errors)
    assert first == "w0, profile 'a': 'delay' is 0, expected seconds above 0"
    assert second == "w0, profile 'b': type 'recv': its time depends on what the scheduler answers"
    assert "profile 'c': type 'parralel': Batsim has no such type" in third
    assert "parallel" in third


def test_hosts_are_numbered_by_their_names():
    platform = Platform.of(Cluster.uniform(12, 4))
    assert [host.name for host in platform.compute][:3] == ["n01", "n02", "n03"]
    assert platform.compute[0].cores == 4
    assert len(Platform.of(Cluster.of_cores(12)).compute) == 12

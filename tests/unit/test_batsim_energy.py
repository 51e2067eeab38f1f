"""Power states, switching, and joules: by hand."""

import pytest

from schedlab.bridge.batsim.course import Series, Task, Use
from schedlab.bridge.batsim.energy import PowerStates, Watts, power_states
from schedlab.bridge.batsim.meter import Meter
from schedlab.bridge.batsim.platform import Host, Platform
from schedlab.bridge.batsim.profiles import Profiles
from schedlab.bridge.batsim.switches import OFF, ON, Change, Switches
from schedlab.model.errors import InputError, InputErrors

# States: 1 Gf, half of it, asleep, 5 s to switch off, 20 s to switch on.
SPEEDS = (1e9, 5e8, 0.0, 0.2, 0.05)
POWER = {"wattage_per_state": "50:100:200, 40:80:120, 5:5, 70:70, 90:90", "sleep_pstates": "2:3:4"}


def platform(count=2, cores=1, **changes):
    return Platform([Host(f"h{n}", SPEEDS, 0, cores, POWER | changes) for n in range(count)])


def loaded(seconds, load=1.0, hosts=(0,)):
    return Task("p", seconds, uses=(Use(0.0, seconds, load, frozenset(hosts)),))


def meter(**given):
    machine = platform(**given)
    return Meter(machine, power_states(machine))


def test_watts_grow_from_epsilon_to_all_cores():
    watts = Watts(50, 100, 200)
    assert [watts.at(load) for load in (0, 1e-9, 0.25, 1, 1.5)] == pytest.approx([50, 100, 125, 200, 200])


def test_states_of_a_host():
    states = PowerStates.of(platform().hosts[0])
    assert states.watts[:2] == (Watts(50, 100, 200), Watts(40, 80, 120))
    assert states.watts[2] == Watts(5, 5, 5)  # two numbers: epsilon is as idle
    assert states.kinds == ("compute", "compute", "sleep", "switch", "switch")


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"wattage_per_state": "50:200"}, "'wattage_per_state' has 1 parts for 5 states"),
        ({"wattage_per_state": "50,1:2,1:2,1:2,1:2"}, "'50' is not idle:all or idle:epsilon:all"),
        ({"sleep_pstates": "2:3"}, "'sleep_pstates': '2:3'"),
        ({"sleep_pstates": "2:3:9"}, "three states from 0 to 4"),
        ({"sleep_pstates": "2:2:4"}, "2 is a sleep state and one to switch by"),
        ({"sleep_pstates": "1:3:4"}, "its state 2 has no speed above 0"),
    ],
)
def test_wrong_states(properties, message):
    with pytest.raises(InputError, match=message):
        power_states(platform(1, **properties))
    two = Platform([Host("a", SPEEDS, 0, 1, properties | {"wattage_per_state": "x"}), *platform(1, **properties).hosts])
    with pytest.raises(InputErrors):
        power_states(two)


def test_switching_off_and_on():
    machine = platform(3)
    switches = Switches(machine, power_states(machine))
    assert switches.ask([0, 1], 2, now=10.0) == ([Change(0, 3, True), Change(1, 3, True)], None)
    assert (switches.switching(0), switches.switching(2), switches.next_at()) == (OFF, "", 15.0)
    assert switches.switched(14.0) == ([], [])
    changes, (request,) = switches.switched(15.0)
    assert changes == [Change(0, 2), Change(1, 2)]
    assert (request.hosts, request.state, switches.states) == ((0, 1), 2, [2, 2, 0])
    assert [switches.computes(host) for host in range(3)] == [False, False, True]
    switches.ask([1], 1, now=20.0)
    assert (switches.switching(1), switches.next_at()) == (ON, 40.0)


def test_another_speed_is_there_at_once():
    machine = platform()
    switches = Switches(machine, power_states(machine))
    changes, request = switches.ask([0, 1], 1, now=0.0)
    assert changes == [Change(0, 1), Change(1, 1)]
    assert request is not None
    assert switches.states == [1, 1]


def test_a_request_is_fulfilled_with_its_last_host():
    hosts = [Host("a", SPEEDS, 0, 1, POWER), Host("b", (*SPEEDS[:3], 0.1, 0.05), 0, 1, POWER)]
    machine = Platform(hosts)
    switches = Switches(machine, power_states(machine))
    switches.ask([0, 1], 2, now=0.0)
    assert switches.switched(5.0) == ([Change(0, 2)], [])
    changes, (request,) = switches.switched(10.0)
    assert (changes, request.hosts) == ([Change(1, 2)], (0, 1))


@pytest.mark.parametrize(
    ("state", "message"),
    [(9, "has no state 9"), (-1, "has no state -1"), (3, "state 3 of host 0 .h0. only stands for switching")],
)
def test_what_cannot_be_asked(state, message):
    machine = platform()
    switches = Switches(machine, power_states(machine))
    with pytest.raises(InputError, match=message):
        switches.ask([0], state, now=0.0)


def test_a_host_that_switches_or_sleeps_cannot_be_put_to_sleep():
    machine = platform()
    switches = Switches(machine, power_states(machine))
    switches.ask([0], 2, now=0.0)
    with pytest.raises(InputError, match=r"host 0 \(h0\) is switching already"):
        switches.ask([0], 0, now=1.0)
    switches.switched(5.0)
    with pytest.raises(InputError, match="sleeps in state 2, and cannot go to sleep in 2"):
        switches.ask([0], 2, now=6.0)


def test_idle_hosts():
    assert meter(count=3).total(10.0) == 3 * 50 * 10


def test_a_job_has_what_its_hosts_consume():
    books = meter()
    books.start("j", loaded(10.0), [0], now=5.0)
    assert books.total(10.0) == 50 * 10 + 50 * 5 + 200 * 5
    assert books.stop("j", 15.0) == 2000.0
    assert books.total(20.0) == 50 * 20 + 50 * 10 + 2000


def test_a_delay_leaves_its_hosts_idle():
    books = meter()
    books.start("j", Task("d", 10.0), [0, 1], now=0.0)
    assert books.stop("j", 10.0) == 1000.0


def test_steps_one_after_the_other():
    course = Series("s", (loaded(10.0), Task("d", 5.0), loaded(10.0, 0.5)), 2, 50.0)
    books = meter()
    books.start("j", course, [0], now=0.0)
    once = 10 * 200 + 5 * 50 + 10 * 150
    assert books.total(12.0) == 50 * 12 + 10 * 200 + 2 * 50
    assert books.total(35.0) == 50 * 35 + once + 2000
    assert books.stop("j", 42.0) == once + 2000 + 250 + 2 * 150  # killed in its last step


def test_a_job_that_is_slowed_down_loads_its_hosts_less():
    books = meter()
    books.start("j", loaded(10.0), [0], now=0.0)
    books.change_rate("j", 0.5, now=4.0)
    assert books.stop("j", 16.0) == 4 * 200 + 12 * 150


def test_jobs_that_share_a_host():
    """Epsilon is there once, and no more than all cores can be loaded."""
    books = meter(cores=4)
    books.start("x", loaded(10.0, 0.5), [0], now=0.0)
    books.start("y", Series("s", (loaded(4.0, 0.25), Task("d", 6.0)), 1, 10.0), [0], now=2.0)
    assert books.stop("x", 10.0) == 2 * 150 + 4 * 175 + 4 * 150
    assert books.stop("y", 12.0) == 4 * 175 + 4 * 150 + 2 * 50


def test_switching_costs_energy():
    books = meter()
    books.set_state(0, 3, 10.0, busy=True)
    books.set_state(0, 2, 15.0)
    assert books.total(25.0) == 50 * 25 + (500 + 5 * 70 + 10 * 5)
    assert books.least_watts() == 100 + 5


def test_a_faster_host_is_loaded_less_by_the_same_work():
    books = meter()
    books.set_state(0, 1, 0.0)
    books.start("j", loaded(10.0), [0], now=0.0)  # all of 0.5 Gf
    books.set_state(0, 0, 5.0)  # half of 1 Gf, if the job is held up by another host
    assert books.stop("j", 10.0) == 5 * 120 + 5 * 150


def test_parallel_tasks_load_hosts_by_what_they_compute():
    machine = platform()
    known = Profiles({"p": {"type": "parallel", "cpu": [1e10, 5e9], "com": [0] * 4}}, machine, None, "w0")
    books = Meter(machine, power_states(machine))
    books.start("j", known.course("p", [0, 1]), [0, 1], now=0.0)
    assert books.stop("j", 10.0) == 10 * (200 + 150)

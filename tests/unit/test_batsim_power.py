"""Power states, energy, and shared hosts and links in runs with a scheduler: what it is told, and when."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.batsim_platforms import STAR, save
from tests.batsim_talk import Message, Said, call, execute, kill, submitted, talk, types, write_workload

from schedlab.bridge.batsim.errors import BatsimError
from schedlab.bridge.batsim.platform import Host, Platform
from schedlab.bridge.batsim.rules import Rules

# 1 Gf; half of it; asleep; 5 s to switch off; 20 s to switch on.
POWER = {"wattage_per_state": "50:100:200, 40:80:120, 5:5, 70:70, 90:90", "sleep_pstates": "2:3:4"}
PLATFORM = Platform([Host(f"a{number}", (1e9, 5e8, 0.0, 0.2, 0.05), properties=POWER) for number in range(4)])
ENERGY = Rules(energy=True)
WORK = {"work": {"type": "parallel_homogeneous", "cpu": 1e10, "com": 0}}
QUESTION: Said = ("QUERY", {"requests": {"consumed_energy": {}}})


def state(hosts: str, number: int) -> Said:
    return "SET_RESOURCE_STATE", {"resources": hosts, "state": str(number)}


class Script:
    """Says what is due at its times, and executes jobs where they say."""

    def __init__(self, *plan: tuple[float, Said]) -> None:
        self.plan = list(plan)

    def __call__(self, message: Message) -> list[Said]:
        said = [execute(job["id"], job["alloc"]) for job in submitted(message)]
        if "SIMULATION_BEGINS" in types(message):
            said += [call(time) for time in sorted({time for time, _ in self.plan}) if time > 0]
        said += [one for time, one in self.plan if time <= message["now"]]
        self.plan = [one for one in self.plan if one[0] > message["now"]]
        return said


def heard(folder: Path, jobs: list[Message], *plan: tuple[float, Said], **options: Any) -> Any:
    file = write_workload(folder, jobs, options.pop("profiles", WORK))
    return talk(file, Script(*plan), **{"platform": PLATFORM, "rules": ENERGY, **options})


def changes(over: Any) -> list[tuple[float, str, str]]:
    found = over.events("RESOURCE_STATE_CHANGED")
    return [(one["timestamp"], one["data"]["resources"], one["data"]["state"]) for one in found]


def joules(over: Any) -> list[tuple[float, float]]:
    return [(one["timestamp"], one["data"]["consumed_energy"]) for one in over.events("ANSWER")]


def test_hosts_fall_asleep_and_wake_up(tmp_path: Path) -> None:
    job = {"id": 1, "subtime": 60, "alloc": "2"}
    over = heard(tmp_path, [job], (1, state("1-2", 2)), (30, state("2", 0)))
    assert changes(over) == [(6, "1-2", "2"), (50, "2", "0")]
    assert over.times() == {"1": (60, 70)}


def test_another_speed_is_acknowledged_at_once(tmp_path: Path) -> None:
    over = heard(tmp_path, [{"id": 1, "subtime": 5, "alloc": "0"}], (1, state("0", 1)))
    assert changes(over) == [(1, "0", "1")]
    assert over.times() == {"1": (5, 25)}


def test_a_job_goes_on_at_the_speed_of_its_host(tmp_path: Path) -> None:
    """4 s at full speed, then the other six seconds of work at half of it."""
    over = heard(tmp_path, [{"id": 1, "alloc": "0"}], (4, state("0", 1)), (20, QUESTION))
    assert over.times() == {"1": (0, 16)}
    assert joules(over) == [(20, pytest.approx(3 * 50 * 20 + 4 * 200 + 12 * 120 + 4 * 40))]


def test_the_simulation_does_not_end_while_hosts_switch(tmp_path: Path) -> None:
    over = heard(tmp_path, [{"id": 1, "alloc": "0"}], (8, state("3", 2)))
    assert (over.heard[-1]["now"], types(over.heard[-1])) == (13, ["SIMULATION_ENDS"])


def test_consumed_energy(tmp_path: Path) -> None:
    over = heard(tmp_path, [{"id": 1, "subtime": 2, "alloc": "0-1", "res": 2}], (1, QUESTION), (7, QUESTION))
    assert joules(over) == [(1, 4 * 50), (7, 4 * 50 * 2 + 2 * 50 * 5 + 2 * 200 * 5)]


def test_energy_of_killed_jobs(tmp_path: Path) -> None:
    over = heard(tmp_path, [{"id": 1, "alloc": "0"}], (4, kill("w0!1")), (10, QUESTION))
    assert joules(over) == [(10, 3 * 50 * 10 + 4 * 200 + 6 * 50)]
    (killed,) = over.events("JOB_KILLED")
    assert killed["data"]["job_progress"]["w0!1"]["progress"] == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (state("0", 2), "host 0 .a0. cannot go to sleep: a job runs there"),
        (state("1", 3), "state 3 of host 1 .a1. only stands for switching"),
        (state("9", 0), "there is no host 9"),
        (state("x", 0), "a state of hosts cannot be read"),
        (("QUERY", {"requests": {"weather": {}}}), "'weather' cannot be asked"),
    ],
)
def test_what_cannot_be(tmp_path: Path, said: Said, why: str) -> None:
    with pytest.raises(BatsimError, match=why):
        heard(tmp_path, [{"id": 1, "alloc": "0"}], (4, said))


def test_a_sleeping_host_takes_no_job(tmp_path: Path) -> None:
    with pytest.raises(BatsimError, match=r"job 'w0!1' cannot have host 1 \(a1\): it is off"):
        heard(tmp_path, [{"id": 1, "subtime": 9, "alloc": "1"}], (1, state("1", 2)))


@pytest.mark.parametrize("said", [state("0", 1), QUESTION])
def test_without_energy_there_are_no_states(tmp_path: Path, said: Said) -> None:
    with pytest.raises(BatsimError, match="--energy"):
        heard(tmp_path, [{"id": 1, "alloc": "0"}], (4, said), rules=Rules())


def test_wrong_states_are_found_before_the_run(tmp_path: Path) -> None:
    hosts = [Host("a", (1e9, 5e8), properties={"wattage_per_state": "1:2"})]
    with pytest.raises(Exception, match="'wattage_per_state' has 1 parts for 2 states"):
        heard(tmp_path, [{"id": 1, "alloc": "0"}], platform=Platform(hosts))


def test_jobs_on_a_shared_host(tmp_path: Path) -> None:
    """Ten seconds of work each. From 5 s on they have half of the host: the first ends at 15 s, the second at 20 s."""
    jobs = [{"id": 1, "alloc": "0"}, {"id": 2, "subtime": 5, "alloc": "0"}]
    over = heard(tmp_path, jobs, rules=Rules(compute_sharing=True))
    assert over.times() == {"1": (0, 15), "2": (5, 20)}


def test_delays_do_not_mind(tmp_path: Path) -> None:
    jobs = [{"id": 1, "alloc": "0"}, {"id": 2, "subtime": 5, "alloc": "0", "profile": "ten"}]
    profiles = WORK | {"ten": {"type": "delay", "delay": 10}}
    over = heard(tmp_path, jobs, rules=Rules(compute_sharing=True), profiles=profiles)
    assert over.times() == {"1": (0, 10), "2": (5, 15)}


def test_energy_of_a_shared_host(tmp_path: Path) -> None:
    jobs = [{"id": 1, "alloc": "0"}, {"id": 2, "subtime": 5, "alloc": "0"}]
    over = heard(tmp_path, jobs, (20, QUESTION), rules=Rules(compute_sharing=True, energy=True))
    assert joules(over) == [(20, pytest.approx(3 * 50 * 20 + 200 * 20))]


def test_jobs_on_the_same_backbone(tmp_path: Path) -> None:
    """200 MB each on a backbone of 200 MB/s: a second alone, and two together; and 4 ms of latency."""
    jobs = [{"id": 1, "res": 2, "alloc": "0-1"}, {"id": 2, "res": 2, "alloc": "2-3"}]
    profiles = {"send": {"type": "parallel_homogeneous", "cpu": 0, "com": 1e8}}
    platform = Platform.read(save(tmp_path, STAR))
    over = heard(tmp_path, jobs, rules=Rules(), platform=platform, profiles=profiles)
    assert over.times() == {"1": (0, pytest.approx(2.004)), "2": (0, pytest.approx(2.004))}


def test_steps_of_jobs_that_meet_now_and_then(tmp_path: Path) -> None:
    """One computes for a second and then sends; the other sends all the time, 2 s alone.

    The first second of the other is alone (but for 4 ms of latency at the beginning), then both are at half speed.
    """
    profiles = {
        "work": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 0},
        "send": {"type": "parallel_homogeneous", "cpu": 0, "com": 1e8},
        "more": {"type": "parallel_homogeneous", "cpu": 0, "com": 2e8},
        "both": {"type": "composed", "seq": ["work", "send"]},
    }
    jobs = [
        {"id": 1, "res": 2, "alloc": "0-1", "profile": "both"},
        {"id": 2, "res": 2, "alloc": "2-3", "profile": "more"},
    ]
    platform = Platform.read(save(tmp_path, STAR))
    over = heard(tmp_path, jobs, rules=Rules(), platform=platform, profiles=profiles)
    # At 1.004 s the first begins to send; the other has one second of its 2 left. Both take two more.
    assert over.times() == {"1": (0, pytest.approx(3.004)), "2": (0, pytest.approx(3.004))}


def taken_away(folder: Path, until: float) -> list[Path]:
    """Host 1, from 20 s on."""
    events = folder / "events.txt"
    events.write_text(
        '{"type": "machine_unavailable", "resources": "1", "timestamp": 20}\n'
        f'{{"type": "machine_available", "resources": "1", "timestamp": {until}}}\n'
    )
    return [events]


def test_a_host_that_wakes_while_it_is_not_available_has_no_jobs_before_it_is(tmp_path: Path) -> None:
    """It is awake at 50 s, and available at 100 s."""
    plan = (1, state("1", 2)), (30, state("1", 0))
    job = {"id": 1, "subtime": 100, "alloc": "1"}
    over = heard(tmp_path, [job], *plan, events=taken_away(tmp_path, 100))
    assert changes(over) == [(6, "1", "2"), (50, "1", "0")] and over.times() == {"1": (100, 110)}
    with pytest.raises(BatsimError, match="at 60 s"):
        heard(tmp_path, [job | {"subtime": 60}], *plan, events=taken_away(tmp_path, 100))


def test_a_host_that_is_available_again_and_asleep_has_no_jobs_before_it_is_awake(tmp_path: Path) -> None:
    """It is available at 25 s, and awake at 50 s."""
    plan = (1, state("1", 2)), (30, state("1", 0))
    job = {"id": 1, "subtime": 51, "alloc": "1"}
    assert heard(tmp_path, [job], *plan, events=taken_away(tmp_path, 25)).times() == {"1": (51, 61)}
    for early in (26, 45):  # asleep, and on its way
        with pytest.raises(BatsimError, match=f"at {early} s"):
            heard(tmp_path, [job | {"subtime": early}], *plan, events=taken_away(tmp_path, 25))

"""Batsim's output files: what Batsim 4.2.1 itself wrote when these things happened, and a run of ours exported."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import schedlab as sl
from schedlab.bridge.batsim.export import export_run
from schedlab.bridge.batsim.outputs import JobRow, Outputs

# Two jobs of Batsim's test_various_profile_types.json under fcfs_fast on its small platform, and a third that rejected.
HOSTS = ["Bourassa", "Fafard", "Ginette", "Jupiter"]
DELAY = JobRow("w0", "delay", "delay", 0.0, 1, 30.0, "COMPLETED_SUCCESSFULLY", 0.000060, 20.2, "0")
LATE = JobRow("w0", "reach_walltime", "simple", 30.0, 4, 1.0, "COMPLETED_WALLTIME_REACHED", 30.000045, 1.0, "0-3")
REFUSED = JobRow("w0", "big", "simple", 31.0, 40, -1.0, "REJECTED")


def written(prefix: Path) -> dict[str, str]:
    return {path.name.removeprefix(f"{prefix.name}_"): path.read_text() for path in prefix.parent.iterdir()}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    outputs = Outputs(str(tmp_path / "out"), HOSTS, version="4.2.1")
    outputs.started(0.000060, "w0!delay", [0])
    outputs.stopped(20.200060, "w0!delay", [0])
    outputs.left(DELAY)
    outputs.started(30.000045, "w0!reach_walltime", [0, 1, 2, 3])
    outputs.stopped(31.000045, "w0!reach_walltime", [0, 1, 2, 3], killed=True)
    outputs.left(LATE)
    outputs.left(REFUSED)
    outputs.finish(31.002, simulation_seconds=0.5, scheduler_seconds=0.25)
    return written(tmp_path / "out")


def test_jobs_are_written_as_batsim_writes_them(files: dict[str, str]) -> None:
    assert files["jobs.csv"].splitlines() == [
        "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,"
        "starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,"
        "consumed_energy,metadata",
        "delay,w0,delay,0.000000,1,30.000000,1,COMPLETED_SUCCESSFULLY,0.000060,20.200000,20.200060,0.000060,20.200060,"
        '1.000003,0,-1.000000,""',
        "reach_walltime,w0,simple,30.000000,4,1.000000,0,COMPLETED_WALLTIME_REACHED,30.000045,1.000000,31.000045,"
        '0.000045,1.000045,1.000045,0-3,-1.000000,""',
        'big,w0,simple,31.000000,40,-1.000000,0,REJECTED,,,,,,,,,""',
    ]


def test_machine_states_have_a_row_for_each_start_and_end(files: dict[str, str]) -> None:
    assert files["machine_states.csv"].splitlines() == [
        "time,nb_sleeping,nb_switching_on,nb_switching_off,nb_idle,nb_computing",
        "6e-05,0,0,0,3,1",
        "20.2001,0,0,0,4,0",
        "30,0,0,0,0,4",
        "31,0,0,0,4,0",
    ]


def test_the_schedule_is_one_row(files: dict[str, str]) -> None:
    names, values = csv.reader(files["schedule.csv"].splitlines())
    assert names == sorted(names)
    found = dict(zip(names, values, strict=True))
    assert (found["nb_jobs"], found["nb_jobs_finished"]) == ("3", "2")
    assert (found["nb_jobs_killed"], found["nb_jobs_rejected"], found["success_rate"]) == ("1", "1", "0.333333")
    assert found["makespan"] == "31.000045"
    # Batsim divides by all jobs, also by those that were rejected.
    assert found["mean_waiting_time"] == f"{(0.00006 + 0.000045) / 3:f}"
    assert found["max_turnaround_time"] == "20.200060"
    # One host worked for 20.2 s, then all four for 1 s; the first one rested 9.799985 s after 0.00006 s, the others 30.
    assert found["time_computing"] == "24.200000"
    assert found["time_idle"] == f"{0.00006 + 9.799985 + 3 * 30.000045:f}"
    assert (found["simulation_time"], found["scheduling_time"]) == ("0.500000", "0.250000")


def test_the_trace_says_which_job_a_host_has(files: dict[str, str]) -> None:
    lines = files["schedule.trace"].splitlines()
    assert '2 0.000000 machine_ct m3 "Jupiter" root' in lines
    events = lines[lines.index("# Begin of events") + 5 : lines.index("# End of events, containers destruction") - 1]
    assert events[0].startswith('5 jw0!delay machine_state "w0!delay" "')
    assert events[1:3] == ["6 0.000060 machine_state m0 jw0!delay", "6 20.200060 machine_state m0 w"]
    assert events[4:8] == [f"6 30.000045 machine_state m{host} jw0!reach_walltime" for host in range(4)]
    assert events[8:10] == ['8 31.000045 kk k "w0!reach_walltime"', '8 31.000045 km m0 "w0!reach_walltime"']
    assert events[-4:] == [f"6 31.000045 machine_state m{host} w" for host in range(4)]
    assert lines[-1] == "3 31.002000 root root_ct"


def test_hosts_that_sleep_and_what_they_draw(tmp_path: Path) -> None:
    """Beginning of Batsim's run of its sleeper on energy_platform_homogeneous_no_net_128.xml, with four hosts."""
    outputs = Outputs(str(tmp_path / "out"), HOSTS, version="4.2.1", trace=False, energy=True)
    outputs.in_pstate(0.0, range(4), 0)
    outputs.consumed(0.0, 0.0, "p", 380.0)
    outputs.switching(0.0, [0, 1, 2, 3], off=True)
    outputs.on_the_way(0.0, [0, 1, 2, 3], [])
    outputs.switched(6.1, [0, 1, 2, 3], asleep=True, last=True)
    outputs.in_pstate(6.1, range(4), 13)
    outputs.consumed(6.1, 2480.0, "p", 39.0)
    outputs.finish(10.0, simulation_seconds=0.0, scheduler_seconds=0.0)
    files = written(tmp_path / "out")
    assert "schedule.trace" not in files
    assert files["pstate_changes.csv"] == "time,machine_id,new_pstate\n0,0-3,0\n0,0-3,-2\n6.1,0-3,13\n"
    assert files["consumed_energy.csv"].splitlines()[1:] == [
        "0.000000,0.000000,p,380.000000,NA",
        f"6.100000,2480.000000,p,39.000000,{2480 / 6.1:f}",
    ]
    assert files["machine_states.csv"].splitlines()[1:] == ["0,0,0,4,0,0", "6.1,4,0,0,0,0"]
    assert ",time_switching_off," in files["schedule.csv"]
    assert "24.400000" in files["schedule.csv"]


def test_a_host_with_two_jobs_works_until_both_have_left(tmp_path: Path) -> None:
    outputs = Outputs(str(tmp_path / "out"), HOSTS[:1], version="4.2.1")
    outputs.started(1.0, "w0!a", [0])
    outputs.started(2.0, "w0!b", [0])
    outputs.stopped(3.0, "w0!a", [0])
    outputs.stopped(5.0, "w0!b", [0])
    outputs.close()
    assert written(tmp_path / "out")["machine_states.csv"].splitlines()[1:] == [
        "1,0,0,0,0,1",
        "2,0,0,0,0,1",
        "3,0,0,0,0,1",
        "5,0,0,0,1,0",
    ]


def test_a_prefix_in_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(sl.InputError, match="nowhere"):
        Outputs(str(tmp_path / "nowhere" / "out"), HOSTS, version="4.2.1")


def columns_of(path: Path) -> dict[str, list[str]]:
    with path.open() as file:
        rows = list(csv.DictReader(file))
    return {name: [row[name] for row in rows] for name in rows[0]}


def test_a_run_on_shared_nodes_has_cores_as_resources(tmp_path: Path) -> None:
    jobs = sl.Workload.of(submit=[0, 1, 2], runtime=[10, 4, 20], limit=[10, 6, 5], count=[3, 1, 4], name="three")
    run = sl.simulate(jobs, "2x2", "fcfs")
    done = export_run(run, str(tmp_path / "out"))
    assert (done.jobs, done.resources, done.of) == (3, 4, "cores")
    table = columns_of(tmp_path / "out_jobs.csv")
    # The second job takes the core that the first one leaves free; the third waits for all four, and is killed.
    assert table["job_id"] == ["2", "1", "3"]
    assert table["allocated_resources"] == ["3", "0-2", "0-3"]
    assert table["starting_time"] == ["1.000000", "0.000000", "10.000000"]
    assert table["finish_time"] == ["5.000000", "10.000000", "15.000000"]
    assert table["final_state"][2] == "COMPLETED_WALLTIME_REACHED"
    states = (tmp_path / "out_machine_states.csv").read_text().splitlines()
    assert states[1:] == ["0,0,0,0,1,3", "1,0,0,0,0,4", "5,0,0,0,1,3", "10,0,0,0,4,0", "10,0,0,0,0,4", "15,0,0,0,4,0"]


def test_a_run_on_whole_nodes_has_nodes_as_resources(tmp_path: Path) -> None:
    whole = sl.Request({"cores": 1}, exclusive=True)
    jobs = sl.Workload.of(submit=[0, 0], runtime=[10, 4], limit=[10, 4], count=[3, 1], requests=[whole], name="two")
    run = sl.simulate(jobs, "3x2", "fcfs")
    done = export_run(run, str(tmp_path / "out"))
    assert (done.resources, done.of) == (3, "nodes")
    table = columns_of(tmp_path / "out_jobs.csv")
    assert dict(zip(table["job_id"], table["allocated_resources"], strict=True)) == {"1": "0-1", "2": "2"}
    assert table["requested_number_of_resources"] == ["1", "2"]

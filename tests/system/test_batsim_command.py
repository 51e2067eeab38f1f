"""`schedlab batsim`: the command line of Batsim 4, its exit codes, log lines and files."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zmq
from tests import commands
from tests.batsim_doors import NOT_CARRIED, by_the_program
from tests.batsim_talk import Fcfs, Scripted, execute, notify, submitted, write_workload

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="AS0" routing="None">
    <host id="master_host" speed="1Gf"/>
    <host id="a0" speed="1Gf"/> <host id="a1" speed="1Gf"/> <host id="a2" speed="1Gf"/> <host id="a3" speed="1Gf"/>
  </zone>
</platform>
"""
CHAIN = """<adag name="chain">
  <job id="A" name="a" runtime="5"/> <job id="B" name="b" runtime="7" num_procs="2"/>
  <child ref="B"><parent ref="A"/></child>
</adag>
"""


@pytest.fixture
def platform(tmp_path: Path) -> Path:
    path = tmp_path / "platform.xml"
    path.write_text(PLATFORM)
    return path


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    return write_workload(tmp_path, [{"id": 1}, {"id": 2, "res": 4, "subtime": 3, "walltime": 8}, {"id": 3}])


def batsim(*words: object, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    return commands.schedlab("batsim", *words, folder=folder)


def simulated(folder: Path, *words: object, hosts: int = 4) -> tuple[subprocess.CompletedProcess[str], Scripted]:
    """With a scheduler that takes jobs as they come."""
    scheduler = Scripted(Fcfs(hosts))
    try:
        return batsim("-s", scheduler.endpoint, "-e", folder / "out", *words), scheduler
    finally:
        scheduler.dismissed.set()
        scheduler.join()


def table(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def told(log: str) -> list[dict[str, Any]]:
    """The messages in a log, as Batsim's own tests look for them."""
    return [json.loads(found[1]) for line in log.splitlines() if (found := re.search(r"Sending '(.*)'", line))]


def test_a_simulation_from_begin_to_end(platform: Path, workload: Path, tmp_path: Path) -> None:
    done, scheduler = simulated(tmp_path, "-p", platform, "-w", workload)
    assert done.returncode == 0, done.stderr
    # Both small jobs start at once; the large one waits for them and reaches its walltime.
    assert [(row["job_id"], row["starting_time"], row["final_state"]) for row in table(tmp_path / "out_jobs.csv")] == [
        ("1", "0.000000", "COMPLETED_SUCCESSFULLY"),
        ("3", "0.000000", "COMPLETED_SUCCESSFULLY"),
        ("2", "10.000000", "COMPLETED_WALLTIME_REACHED"),
    ]
    (schedule,) = table(tmp_path / "out_schedule.csv")
    assert (schedule["makespan"], schedule["nb_jobs_killed"]) == ("18.000000", "1")
    assert [row["nb_computing"] for row in table(tmp_path / "out_machine_states.csv")] == ["1", "2", "1", "0", "4", "0"]
    assert (tmp_path / "out_schedule.trace").is_file()
    assert told(done.stderr) == scheduler.heard
    assert f"Workload 'w0' corresponds to workload file '{workload}'." in done.stderr


def test_quiet_and_without_traces(platform: Path, workload: Path, tmp_path: Path) -> None:
    options = ("-q", "--disable-schedule-tracing", "--disable-machine-state-tracing")
    done, _ = simulated(tmp_path, "-p", platform, "-w", workload, *options)
    assert done.returncode == 0
    assert told(done.stderr) == []
    assert sorted(path.name for path in tmp_path.glob("out*")) == ["out_jobs.csv", "out_schedule.csv"]


def test_options_that_the_scheduler_is_told_of(platform: Path, workload: Path, tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text("fast")
    options = ("--acknowledge-dynamic-jobs", "--forward-profiles-on-submission", "--sched-cfg-file", config)
    _, scheduler = simulated(tmp_path, "-p", platform, "-w", workload, "-v", "network-only", *options)
    (begins,) = scheduler.heard[0]["events"]
    found = begins["data"]["config"]
    assert found["dynamic-jobs-acknowledged"] and found["profiles-forwarded-on-submission"]
    assert not found["dynamic-jobs-enabled"] and found["sched-config"] == "fast"
    assert scheduler.heard[1]["events"][0]["data"]["profile"] == {"type": "delay", "delay": 10}


@pytest.mark.parametrize(
    ("option", "hosts"), [(("--mmax", 3), 3), (("--mmax-workload",), 4), (("-r", "a1:storage"), 3)]
)
def test_how_many_hosts_there_are(platform: Path, tmp_path: Path, option: tuple[object, ...], hosts: int) -> None:
    _, scheduler = simulated(tmp_path, "-p", platform, "-w", write_workload(tmp_path, [{"id": 1}]), *option)
    (begins,) = scheduler.heard[0]["events"]
    assert begins["data"]["nb_compute_resources"] == hosts


def test_two_workloads_are_w0_and_w1(platform: Path, tmp_path: Path) -> None:
    files = [write_workload(tmp_path, [{"id": 1}], name=name) for name in ("a.json", "b.json")]
    done, _ = simulated(tmp_path, "-p", platform, "-w", files[0], "-w", files[1])
    assert done.returncode == 0, done.stderr
    assert [row["workload_name"] for row in table(tmp_path / "out_jobs.csv")] == ["w0", "w1"]


def test_tasks_of_a_workflow_come_when_they_are_ready(platform: Path, tmp_path: Path) -> None:
    (tmp_path / "chain.dax").write_text(CHAIN)
    done, scheduler = simulated(tmp_path, "-p", platform, "-W", tmp_path / "chain.dax")
    assert done.returncode == 0, done.stderr
    rows = table(tmp_path / "out_jobs.csv")
    assert [(row["workload_name"], row["job_id"], row["profile"]) for row in rows] == [
        ("wf0", "0", "wf0_A"),
        ("wf0", "1", "wf0_B"),
    ]
    assert [(row["starting_time"], row["finish_time"]) for row in rows] == [
        ("0.000000", "5.000000"),
        ("5.000000", "12.000000"),
    ]
    second = scheduler.heard[2]["events"][1]["data"]["job"]
    assert second == {"id": "wf0!1", "subtime": 5.0, "walltime": 17.0, "res": 2, "profile": "wf0_B"}
    assert [event["data"] for event in scheduler.heard[-2]["events"]] == [{"type": "no_more_static_job_to_submit"}]


def test_a_workflow_that_starts_later(platform: Path, tmp_path: Path) -> None:
    (tmp_path / "chain.dax").write_text(CHAIN)
    done, _ = simulated(tmp_path, "-p", platform, "--WS", tmp_path / "chain.dax", 100)
    assert done.returncode == 0, done.stderr
    assert [row["starting_time"] for row in table(tmp_path / "out_jobs.csv")] == ["100.000000", "105.000000"]


def test_without_a_scheduler_jobs_run_one_after_the_other(platform: Path, workload: Path, tmp_path: Path) -> None:
    done = batsim("-p", platform, "-w", workload, "--no-sched", "-e", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    rows = table(tmp_path / "out_jobs.csv")
    assert [(row["job_id"], row["starting_time"]) for row in rows] == [
        ("1", "0.000000"),
        ("3", "10.000000"),
        ("2", "20.000000"),
    ]


def test_versions() -> None:
    done = batsim("--version")
    assert done.returncode == 0 and done.stdout.startswith("4.2.1-schedlab-")
    refused = batsim("--simgrid-version")
    assert refused.returncode != 0 and "no SimGrid" in refused.stderr


def test_where_the_scheduler_is_can_be_asked(platform: Path, workload: Path) -> None:
    """As robin does."""
    done = batsim("-p", platform, "-w", workload, "-s", "tcp://localhost:4", "--dump-execution-context")
    assert done.returncode == 0
    assert json.loads(done.stdout) == {
        "socket_endpoint": "tcp://localhost:4",
        "redis_enabled": False,
        "redis_hostname": "127.0.0.1",
        "redis_port": 6379,
        "redis_prefix": "default",
        "export_prefix": "out",
        "external_scheduler": True,
    }


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 255, "-p"),
        (("-p", "{p}", "--frobnicate"), 255, "--frobnicate"),
        (("-p", "{p}", "-v", "loud"), 255, "loud"),
        (("-p", "{p}", "--sched-cfg", "a", "--sched-cfg-file", "b"), 255, "--sched-cfg-file"),
        (("-p", "nowhere.xml"), 1, "Platform file 'nowhere.xml' cannot be read."),
        (("-p", "{p}", "-w", "nowhere.json"), 2, "Workload file 'nowhere.json' cannot be read."),
        (("-p", "nowhere.xml", "-W", "nowhere.dax", "--events", "nowhere"), 7, "Events file 'nowhere' cannot be read."),
        (("-p", "{p}", "--WS", "{p}", "soon"), 0x40, "'soon'"),
        (("-p", "{p}", "--enable-redis"), 134, "--enable-redis"),
        (("-p", "{p}", "--sg-cfg", "network/model:SMPI"), 134, "network/model:SMPI"),
        (("-p", "{p}", "--enable-profile-reuse"), 134, "--enable-dynamic-jobs"),
        (("-p", "{p}", "--ignore-beyond-last-workflow"), 134, "--ignore-beyond-last-workflow"),
        (("-p", "{p}", "-r", "a0"), 134, "a0"),
        (("-p", "{p}", "--mmax", "9"), 134, "the platform has 4"),
        (("-p", "{p}", "-w", "{p}"), 134, "not a Batsim workload"),
        (("-p", "{p}", "-e", "no/where"), 134, "no/where"),
    ],
)
def test_what_cannot_be_is_named_and_has_batsims_exit_code(
    platform: Path, tmp_path: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    done = batsim(*(word.format(p=platform) for word in words), folder=tmp_path)
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr


def test_a_scheduler_that_asks_for_what_cannot_be(platform: Path, workload: Path, tmp_path: Path) -> None:
    """What happened until then is in the files."""
    scheduler = Scripted(lambda message: [execute("w0!1", "9")] if submitted(message) else [])
    done = batsim("-s", scheduler.endpoint, "-e", tmp_path / "out", "-p", platform, "-w", workload)
    scheduler.dismissed.set()
    scheduler.join()
    assert done.returncode == 134
    assert "job 'w0!1' cannot have host 9" in done.stderr
    assert (tmp_path / "out_jobs.csv").is_file() and not (tmp_path / "out_schedule.csv").exists()


# ---- without Python, where all jobs are delays (that both do the same: tests/property/test_batsim_program.py) ----


def test_delays_need_no_python(platform: Path, workload: Path, tmp_path: Path) -> None:
    """Until the program takes over, nothing is imported that is large."""
    scheduler = Scripted(Fcfs(4))
    words = ["-p", platform, "-w", workload, "-e", tmp_path / "out", "-s", scheduler.endpoint, "-q"]
    command = [sys.executable, "-X", "importtime", "-m", "schedlab", "batsim", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True)
    scheduler.dismiss()
    assert done.returncode == 0 and len(table(tmp_path / "out_jobs.csv")) == 3
    assert "argparse" in done.stderr
    assert not re.search("typer|numpy|msgspec|pathlib|schedlab._core", done.stderr)


STORAGE = '<host id="disk" speed="1Gf"><prop id="role" value="storage"/></host></zone>'


@pytest.mark.parametrize(
    "what", ["work", "storage", "compressed", "a mistake", "an option", "a platform in another encoding"]
)
def test_what_the_program_does_not_carry_python_does(platform: Path, tmp_path: Path, what: str) -> None:
    profiles = {"ten": {"type": "delay", "delay": 10}}
    if what == "work":
        profiles["ten"] = {"type": "parallel_homogeneous", "cpu": 1e10, "com": 0}
    workload = write_workload(tmp_path, [{"id": 1}, {"id": 1 if what == "a mistake" else 2, "res": 4}], profiles)
    options = ["--enable-dynamic-jobs"] if what == "an option" else []
    if what == "storage":
        platform.write_text(PLATFORM.replace("</zone>", STORAGE))
    if what == "compressed":
        (tmp_path / "w.json.gz").write_bytes(gzip.compress(workload.read_bytes()))
        workload = tmp_path / "w.json.gz"
    if what == "a platform in another encoding":
        platform.write_bytes(
            PLATFORM.replace("'1.0'", "'1.0' encoding='latin-1'").replace("AS0", "ä").encode("latin-1")
        )
    words = ["-p", str(platform), "-w", str(workload), "-e", str(tmp_path / "out"), *options]
    if not options:
        assert by_the_program(words, "tcp://127.0.0.1:1") == (NOT_CARRIED, "")
    if what == "a mistake":
        done = batsim(*words)
        assert done.returncode == 134 and "two jobs have the id '1'" in done.stderr
        return
    scheduler = Scripted(Registers(Fcfs(4)) if options else Fcfs(4))
    done = batsim(*words, "-s", scheduler.endpoint)
    scheduler.dismiss()
    assert done.returncode == 0, done.stderr
    assert [row["finish_time"] for row in table(tmp_path / "out_jobs.csv")] == ["10.000000", "20.000000"]


class Registers:
    """It has nothing to register."""

    def __init__(self, decide: Fcfs) -> None:
        self.decide, self.said = decide, False

    def __call__(self, message: dict[str, Any]) -> list[Any]:
        finished = [] if self.said else [notify("registration_finished")]
        self.said = True
        return [*finished, *self.decide(message)]


def test_where_it_is_started_nothing_gets_in_the_way(platform: Path, workload: Path, tmp_path: Path) -> None:
    """Files of the current folder that are called as modules, closed streams, and `--`."""
    (tmp_path / "json.py").write_text("raise SystemExit('it was imported')")
    (tmp_path / "w.json.gz").write_bytes(gzip.compress(workload.read_bytes()))
    program = Path(sys.executable).with_name("schedlab")
    for file, end in ((workload, "2>&-"), ("w.json.gz", ""), (workload, "--")):
        scheduler = Scripted(Fcfs(4))
        words = f"-p {platform} -w {file} -e out -s {scheduler.endpoint} {end}"
        done = subprocess.run(f"{program} batsim {words}", shell=True, cwd=tmp_path, capture_output=True, text=True)
        scheduler.dismiss()
        assert done.returncode == 0, done.stderr
        assert len(table(tmp_path / "out_jobs.csv")) == 3
        assert (tmp_path / "out_schedule.trace").read_text().startswith("%EventDef")


def test_a_workload_that_is_a_pipe_is_refused_at_once(platform: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "w.json")
    done = batsim("-p", platform, "-w", tmp_path / "w.json", folder=tmp_path)
    assert done.returncode == 134 and "w.json" in done.stderr


@pytest.mark.parametrize("by", ["program", "python"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_that_waits_for_its_scheduler_can_be_stopped(
    platform: Path, workload: Path, tmp_path: Path, by: str, number: signal.Signals
) -> None:
    with zmq.Context() as context, context.socket(zmq.REP) as silent:
        socket = f"tcp://127.0.0.1:{silent.bind_to_random_port('tcp://127.0.0.1')}"
        words = ["-p", platform, "-w", workload, "-e", tmp_path / "out", "-s", socket]
        command = [sys.executable, "-m", "schedlab", "batsim", *map(str, words)]
        environment = os.environ | {"SCHEDLAB_BATSIM": by}
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            while "SIMULATION_BEGINS" not in process.stderr.readline():
                assert process.poll() is None
            process.send_signal(number)
            said = process.stderr.read()
        silent.close(0)
    assert process.returncode == 128 + number and "interrupted" in said
    assert (tmp_path / "out_jobs.csv").read_text().startswith("job_id,")


def test_it_starts_without_what_makes_tables(platform: Path, workload: Path, tmp_path: Path) -> None:
    """Which would take longer to load, and more memory, than most simulations."""
    program = (
        "import sys; from schedlab.cli.batsim import run_batsim; code = run_batsim(sys.argv[1:]);"
        "print(code, *sorted({'polars', 'pyarrow', 'matplotlib', 'scipy', 'pandas'} & set(sys.modules)))"
    )
    words = ["-p", platform, "-w", workload, "-e", tmp_path / "out", "--no-sched", "-q"]
    done = subprocess.run([sys.executable, "-c", program, *map(str, words)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"

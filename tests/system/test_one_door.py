"""The same case through every door: the command line, Python, a study, a stepper, a run that was killed and resumed.

Memory, GPUs, features, partitions, a calendar, two observers and a policy that says itself what happens at limits: all
of them have to count everywhere, so jobs.parquet has the same bytes. So have all tables of a run with reasons, places,
beliefs that follow rates and jobs that an observer submits.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import commands

import schedlab as sl
from schedlab.workload.formats import write_workload

SCHEDLAB = [sys.executable, "-c", "from schedlab.cli.main import main; main()"]

CLUSTER = """
[[nodes]]
name = "thin"
count = 6
cores = 8
memory = "16 GiB"

[[nodes]]
name = "gpu"
count = 2
cores = 8
memory = "64 GiB"
gpus = 4
features = ["fast"]

[[partitions]]
name = "batch"
nodes = ["thin"]
default = true

[[partitions]]
name = "accelerated"
nodes = ["gpu"]
"""

MINE = """
import os
import signal
from pathlib import Path

import schedlab as sl


class Patient(sl.Policy):
    \"\"\"First come, first served, and jobs may run over their limits. Killed once, if a file `kill` is there.\"\"\"

    overrun = "run"
    placement = "best-fit"

    def decide(self, view, events):
        mark = Path(__file__).with_name("kill")
        if view.now > 200_000 and mark.exists():
            mark.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        for job in view.queue:
            if not view.start(job):
                break


class Slower(sl.Observer):
    \"\"\"Every fifth job runs at half the speed.\"\"\"

    def started(self, view, job, nodes):
        if job.id % 5 == 0:
            view.set_rate(job, 0.5)


class Follows(sl.Observer):
    \"\"\"After every tenth job of the log has started, another one is submitted, some of them for later.\"\"\"

    def started(self, view, job, nodes):
        if job.id % 10 == 0 and job.id <= 400 and job.wait > 0:
            view.submit(3000, 2, limit=4000, at=view.now + job.id % 3 * 100, user=1, name=f"after {job.id}")
"""
OBSERVERS = ["maintenance('thin[1-2]', start='1d', duration='12h')", "mine.py:Slower"]
SUBMITTING = [*OBSERVERS, "mine.py:Follows"]
POLICIES = ["mine.py:Patient", "easy:order=sjf", "conservative"]


def workload() -> sl.Workload:
    """400 jobs of four kinds, of which a third run longer than they said."""
    chance = np.random.default_rng(7)
    gib = 2**30
    requests = [
        sl.Request({"cores": 1, "memory": 6 * gib}),  # two of these fill the memory of a node before its cores
        sl.Request({"cores": 4, "memory": gib}, per_node_max=1, partition="batch"),
        sl.Request({"cores": 2, "gpus": 1, "memory": 8 * gib}, partition="accelerated"),
        sl.Request({"cores": 1}, features=frozenset({"fast"}), partition="accelerated"),
    ]
    limit = chance.integers(600, 20_000, 400)
    return sl.Workload.of(
        requests=requests,
        submit=np.sort(chance.integers(0, 400_000, 400)),
        limit=limit,
        runtime=np.round(limit * chance.choice([0.2, 0.9, 1.5], 400)),
        count=chance.integers(1, 4, 400),
        request=chance.integers(0, 4, 400),
        user=chance.integers(0, 5, 400),
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_workload(tmp_path / "log.parquet", workload())
    (tmp_path / "cluster.toml").write_text(CLUSTER)
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def schedlab(*arguments: str, code: int = 0) -> None:
    done = commands.schedlab(*arguments)
    assert done.returncode == code, done.stderr


@dataclass(frozen=True)
class Question:
    policy: str
    observers: list[str] = field(default_factory=lambda: OBSERVERS)
    more: bool = False  # reasons, places, and beliefs that follow rates

    @property
    def options(self) -> dict[str, Any]:
        more = {"reasons": True, "places": True, "beliefs": "rates"} if self.more else {}
        return {"observers": self.observers, **more}

    @property
    def arguments(self) -> list[str]:
        observed = [word for text in self.observers for word in ("--observe", text)]
        more = ["--reasons", "--places", "--beliefs", "rates"] if self.more else []
        return ["-c", "cluster.toml", "-p", self.policy, *observed, *more]


def by_command(asked: Question) -> Path:
    schedlab("run", "log.parquet", *asked.arguments, "--out", "command")
    return Path("command")


def by_simulate(asked: Question) -> Path:
    sl.simulate("log.parquet", "cluster.toml", asked.policy, **asked.options, out="python")
    return Path("python")


def by_objects(asked: Question) -> Path:
    """Everything read beforehand, and kept in memory until it is saved."""
    jobs, cluster = sl.read_workload("log.parquet"), sl.read_cluster("cluster.toml")
    return sl.simulate(sl.Scenario(jobs, cluster, asked.policy, **asked.options)).save("objects")


def by_study(asked: Question) -> Path:
    """Studies have no reasons and no table of all places."""
    observe = ", ".join(f'"{text}"' for text in asked.observers)
    Path("study.toml").write_text(f"""
        [workload]
        log = "log.parquet"
        [run]
        cluster = "cluster.toml"
        policy = "{asked.policy}"
        observe = [[{observe}]]
        beliefs = "{asked.options.get("beliefs", "limit")}"
    """)
    schedlab("experiment", "run", "study.toml", "--out", "study", "--quiet")
    (only,) = Path("study/runs").iterdir()
    return only


def by_stepper(asked: Question) -> Path:
    stepper = sl.Stepper("log.parquet", "cluster.toml", asked.policy, **asked.options, out="stepper")
    while stepper.advance():
        stepper.decide()
    stepper.finish()
    return Path("stepper")


def by_resume(asked: Question) -> Path:
    Path("kill").touch()  # for a policy in Python; the others end before anybody could kill them
    killed = -9 if asked.policy.startswith("mine") else 0
    options = [*asked.arguments, "--checkpoint-every", "1ms"]
    schedlab("run", "log.parquet", *options, "--out", "cut", code=killed)
    if killed:
        assert not Path("cut").exists()
        schedlab("resume", "cut")
    return Path("cut")


DOORS = (by_command, by_simulate, by_objects, by_study, by_stepper, by_resume)


@pytest.mark.parametrize("policy", POLICIES)
def test_every_door_gives_the_same_bytes(folder: Path, policy: str) -> None:
    found: dict[str, Path] = {door.__name__: door(Question(policy)) for door in DOORS}
    first = (found["by_command"] / "jobs.parquet").read_bytes()
    for door, run in found.items():
        assert (run / "jobs.parquet").read_bytes() == first, door
        assert not sl.check(run), door
    _everything_counts(sl.read_run(found["by_command"]), policy)


@pytest.mark.parametrize("policy", ["mine.py:Patient", "easy:order=sjf"])
def test_every_table_is_the_same_by_every_door(folder: Path, policy: str) -> None:
    asked = Question(policy, SUBMITTING, more=True)
    found = {door.__name__: door(asked) for door in DOORS}
    first = found["by_command"]
    tables = {path.name for path in first.glob("*.parquet")}
    assert tables >= {f"{name}.parquet" for name in ("jobs", "timeline", "rates", "reasons", "places", "submitted")}
    for door, run in found.items():
        expected = tables - {"reasons.parquet", "places.parquet"} if door == "by_study" else tables
        assert {path.name for path in run.glob("*.parquet")} == expected, door
        for name in sorted(expected):
            assert (run / name).read_bytes() == (first / name).read_bytes(), (door, name)
        assert not sl.check(run), door
    run = sl.read_run(first)
    assert len(run.table("submitted")) > 10 and run.options["beliefs"] == "rates"


def _everything_counts(run: sl.Run, policy: str) -> None:
    """Each part of the case has had an effect: without it, the schedule is another one."""
    patient = policy.startswith("mine")
    assert run.options["overrun"] == ("run" if patient else "kill")
    assert ("killed" in set(run.jobs["state"])) != patient
    assert "not_counted" not in run.workload
    for without in ({"requests": "cores"}, {"observers": OBSERVERS[:1]}, {"observers": OBSERVERS[1:]}):
        options: dict[str, Any] = {"observers": OBSERVERS} | without
        other = sl.simulate("log.parquet", "cluster.toml", policy, **options)
        assert not other.jobs["start"].equals(run.jobs["start"]), without


def test_who_kills_at_limits_is_said_once(folder: Path) -> None:
    with pytest.raises(sl.InputError, match="overrun cannot be 'kill': the policy says itself that it is 'run'"):
        sl.simulate("log.parquet", "cluster.toml", "mine.py:Patient", overrun="kill")
    done = subprocess.run(
        [*SCHEDLAB, "run", "log.parquet", "-c", "cluster.toml", "-p", "mine.py:Patient", "--overrun", "kill"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2 and "leave overrun out" in done.stderr


def test_memory_counts_by_default(tmp_path: Path) -> None:
    """Two jobs of 2 GiB on a node of 3 GiB: the second one waits for the first, whoever asks."""
    log, machine = tmp_path / "m.swf", tmp_path / "m.toml"
    kib = 2 * 2**20
    rows = [f"{job} {job - 1} -1 100 1 -1 -1 1 100 {kib} 1 1 1 -1 1 -1 -1 -1" for job in (1, 2)]
    log.write_text("\n".join(rows) + "\n")
    machine.write_text('[[nodes]]\nname = "n"\ncount = 1\ncores = 4\nmemory = "3 GiB"\n')
    assert sl.simulate(log, machine).summary["wait"]["mean"] == 49.5
    assert sl.simulate(sl.read_workload(log), sl.read_cluster(machine)).summary["wait"]["mean"] == 49.5
    left_out = sl.simulate(log, machine, requests="cores")
    assert left_out.summary["wait"]["mean"] == 0 and left_out.workload["not_counted"] == {"memory": 2}
    elsewhere = sl.simulate(log, "1x4")  # a machine of which nobody says how much memory it has
    assert elsewhere.summary["wait"]["mean"] == 0 and elsewhere.workload["not_counted"] == {"memory": 2}
    asked = sl.simulate(log, "1x4", requests="full")
    assert set(asked.jobs["state"]) == {"rejected"}

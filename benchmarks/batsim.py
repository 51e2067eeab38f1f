"""Batsim 4.2.1 beside schedlab: 20,000 and 200,000 delay jobs on 480 hosts at load 0.75, the same schedulers.

`batsim` judges, by FCFS; `batsim-schedulers` shows others, `batsim-clients` (batsim_clients.py) compares starts.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import schedlab as sl
from benchmarks import once, subject
from benchmarks.measure import Spent, middle, process
from benchmarks.report import Line
from benchmarks.settings import Settings
from benchmarks.workload import LogSpec, columns
from schedlab.bridge.batsim.process import free_port
from schedlab.cluster.simgrid.write import write_simgrid
from schedlab.workload.batsim.write import write_batsim

HOSTS, LOAD = 480, 0.75
SIZES = (20_000, 200_000)
FCFS = "fcfs_fast"
# CPU seconds of Batsim 4.2.1 (SimGrid 3.32) and of batsched, and megabytes of Batsim, as measured with these jobs on
# two shared cores of the kind that the project is developed on. A real `batsim` on the path is measured instead.
MEASURED = {
    ("fcfs_fast", 20_000): (7.8, 2.1, 144),
    ("fcfs_fast", 200_000): (68.0, 20.0, 1071),
    ("easy_bf_fast", 20_000): (8.1, 2.2, 144),
    ("easy_bf_fast", 200_000): (69.0, 22.0, 1069),
    ("easy_bf", 20_000): (8.2, 5.0, 144),
    ("easy_bf", 200_000): (78.0, 65.0, 1066),
}
TOOLS = Path(sys.prefix) / "batsim-tools"  # pybatsim, as the Makefile installs it
CLIENTS = {"PYTHONPATH": str(TOOLS)}


@dataclass(frozen=True)
class Scheduler:
    """A program that decides; `most` jobs, where more take too long."""

    name: str
    command: tuple[str | Path, ...]  # {socket} is where it listens
    most: int = 200_000
    like: str = ""  # whose decisions it makes, if it is not Batsim's own scheduler

    @property
    def rule(self) -> str:
        return self.like or self.name


@dataclass(frozen=True)
class Both:
    """What one simulation took, of the one and of the other."""

    simulator: Spent
    scheduler: Spent


def lines(settings: Settings) -> Iterator[Line]:
    """The same decisions in both, which is FCFS: who makes them is nothing to the simulator's side."""
    small = LogSpec(1000, HOSTS, 1, LOAD)
    least = together([*subject.schedlab(), "batsim"], fcfs(), *files(small, settings.folder), settings.folder)
    peaks = []
    for full in SIZES:
        spec = LogSpec(settings.jobs(full), HOSTS, 1, LOAD)
        theirs = Batsim(settings.folder, spec.jobs)
        ours = yield from beside(fcfs(), spec.jobs, *files(spec, settings.folder), theirs, settings)
        peaks.append(ours.simulator.peak_mb)
        yield from alone(spec, theirs, settings)
    grown = (peaks[1] - peaks[0]) / (settings.jobs(SIZES[1]) - settings.jobs(SIZES[0])) * 1e6
    note = f"{small.jobs:,} jobs: {least.simulator.peak_mb:.0f} MB; {peaks[0]:.0f} and {peaks[1]:.0f} MB above"
    yield Line("batsim", "memory for each job more of schedlab batsim", grown, "bytes", note=note)


def other_lines(settings: Settings) -> Iterator[Line]:
    for full in SIZES:
        spec = LogSpec(settings.jobs(full), HOSTS, 1, LOAD)
        theirs = Batsim(settings.folder, spec.jobs)
        for scheduler in others():
            if full <= scheduler.most:
                yield from beside(scheduler, spec.jobs, *files(spec, settings.folder), theirs, settings)


class Batsim:
    """The real one, where it is found; else what was measured of it."""

    def __init__(self, folder: Path, jobs: int) -> None:
        self._program, self._folder, self._jobs = shutil.which("batsim"), folder, jobs
        self._runs: dict[str, Both] = {}

    def of(self, scheduler: Scheduler, workload: Path, platform: Path) -> Both | None:
        if self._program is not None:
            self._runs[scheduler.rule] = together([self._program], scheduler, workload, platform, self._folder)
        elif (known := MEASURED.get((scheduler.rule, self._jobs))) is not None:
            self._runs[scheduler.rule] = Both(Spent(0, known[0], known[2]), Spent(0, known[1]))
        return self._runs.get(scheduler.rule)

    @property
    def quickest(self) -> tuple[str, float] | None:
        """The scheduler with which both take the least CPU time, and this."""
        if not self._runs:
            return None
        sums = {name: both.simulator.cpu + both.scheduler.cpu for name, both in self._runs.items()}
        name = min(sums, key=sums.__getitem__)
        return name, sums[name]

    @property
    def is_here(self) -> bool:
        return self._program is not None


def fcfs() -> Scheduler:
    """Batsim's quickest, if it is there; else the same rule in Python."""
    if (batsched := shutil.which("batsched")) is not None:
        return _batsched(batsched, FCFS)
    return Scheduler(
        "FCFS in Python", (sys.executable, Path(__file__).with_name("batsim_fcfs.py"), "{socket}"), like=FCFS
    )


def others() -> list[Scheduler]:
    """Those that are there."""
    found = []
    if (batsched := shutil.which("batsched")) is not None:
        found += [_batsched(batsched, name) for name in ("easy_bf_fast", "easy_bf")]
    if (TOOLS / "bin" / "pybatsim").exists():
        command = (TOOLS / "bin" / "pybatsim", "-s", "{socket}", "-t", "100000000", "easyBackfill")
        found.append(Scheduler("pybatsim easyBackfill", command, 20_000))
    found.append(Scheduler("serve-policy easy", (*subject.schedlab(), "serve-policy", "easy", "--socket", "{socket}")))
    return found


def _batsched(program: str, name: str) -> Scheduler:
    return Scheduler(name, (program, "-v", name, "-s", "{socket}", "--verbosity=silent"))


def beside(
    scheduler: Scheduler, jobs: int, workload: Path, platform: Path, theirs: Batsim, settings: Settings
) -> Generator[Line, None, Both]:
    """Ours and Batsim under one scheduler."""
    ours = together([*subject.schedlab(), "batsim"], scheduler, workload, platform, settings.folder)
    batsim = theirs.of(scheduler, workload, platform)
    what = f"{scheduler.name}, {jobs:,} jobs"
    spent = (
        f"cpu {ours.simulator.cpu:.1f} + {ours.scheduler.cpu:.1f} s, {ours.simulator.peak_mb:.0f} MB, "
        f"wall {ours.simulator.wall:.1f} s"
    )
    if batsim is None:
        yield Line("batsim", f"CPU time of schedlab batsim under {what}", ours.simulator.cpu, "s", note=spent)
        return ours
    judged = scheduler.rule == FCFS and not settings.quick
    yield from _started(scheduler, what, workload, platform, batsim, settings, judged)
    where = "in this run" if theirs.is_here else f"with {scheduler.rule}, measured before"
    yield Line(
        "batsim",
        f"schedlab batsim against Batsim, its CPU time, {what}",
        batsim.simulator.cpu / ours.simulator.cpu,
        at_least=3 if judged else None,
        note=f"{spent}; Batsim {batsim.simulator.cpu:.1f} + {batsim.scheduler.cpu:.1f} s {where}",
    )
    yield Line(
        "batsim",
        f"its memory, {what}",
        batsim.simulator.peak_mb / ours.simulator.peak_mb,
        at_least=10 if judged else None,
        note=f"{batsim.simulator.peak_mb:.0f} : {ours.simulator.peak_mb:.0f} MB",
    )
    return ours


def _started(
    scheduler: Scheduler, what: str, workload: Path, platform: Path, batsim: Both, settings: Settings, judged: bool
) -> Iterator[Line]:
    """Ours where it starts the scheduler itself: then they take turns on one core. (Batsim cannot start one.)"""
    words = [str(word) for word in scheduler.command]
    with tempfile.TemporaryDirectory(dir=settings.folder) as place:
        command = [*subject.schedlab(), "bridge", "batsim", "-w", workload, "-p", platform, "-o", Path(place, "run")]
        environment = CLIENTS if "pybatsim" in scheduler.name else {}
        spent, _ = process([*command, "-q", "--", *words], **environment)
        run = json.loads(Path(place, "run", "run.json").read_text())
    theirs = run["decider"]["cpu_seconds"]
    note = f"cpu {spent.cpu - theirs:.1f} + {theirs:.1f} s, {spent.peak_mb:.0f} MB, wall {spent.wall:.1f} s"
    if batsim.simulator.wall:
        note += f"; Batsim's wall {batsim.simulator.wall:.1f} s"
    yield Line(
        "batsim",
        f"schedlab bridge batsim against Batsim, its CPU time, {what}",
        batsim.simulator.cpu / (spent.cpu - theirs),
        at_least=3 if judged else None,
        note=note,
    )


def alone(spec: LogSpec, theirs: Batsim, settings: Settings) -> Iterator[Line]:
    """A policy of ours in the core, against Batsim with whichever scheduler is quickest."""
    if theirs.quickest is None:
        return
    name, total = theirs.quickest
    calls = middle([once.simulate(spec, "easy")[0] for _ in range(settings.repeats)])
    yield Line(
        "batsim",
        f"simulate() with EASY in the core against Batsim with {name}, CPU time of both, {spec.jobs:,} jobs",
        total / calls.cpu,
        at_least=300 if not settings.quick else None,
        note=f"{total:.1f} s : {calls.cpu:.3f} s",
    )


def together(
    simulator: Sequence[str | Path], scheduler: Scheduler, workload: Path, platform: Path, folder: Path
) -> Both:
    """One simulation, in two processes. Checks that every job has run."""
    endpoint = f"tcp://127.0.0.1:{free_port()}"
    launcher = Path(__file__).with_name("launch.py")
    environment = os.environ | (CLIENTS if "pybatsim" in scheduler.name else {})
    with tempfile.TemporaryDirectory(dir=folder) as place:
        report, out = Path(place, "scheduler.json"), Path(place, "out")
        words = [str(word).replace("{socket}", endpoint) for word in scheduler.command]
        with subprocess.Popen(
            [sys.executable, "-I", "-S", launcher, report, *words],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as deciding:
            try:
                spent, _ = process([*simulator, "-p", platform, "-w", workload, "-e", out, "-s", endpoint, "-q"])
                deciding.wait(60)
            finally:
                deciding.kill()
        _check(Path(f"{out}_jobs.csv"), workload)
        return Both(spent, Spent(**json.loads(report.read_text())))


def _check(table: Path, workload: Path) -> None:
    expected = len(json.loads(workload.read_text())["jobs"])
    with table.open(newline="") as file:
        ran = sum(row["final_state"].startswith("COMPLETED") for row in csv.DictReader(file))
    if ran != expected:
        raise RuntimeError(f"{expected} jobs in the workload, {ran} have run")


def files(spec: LogSpec, folder: Path) -> tuple[Path, Path]:
    """The workload and the platform: one core of the log is a host here, and limits are walltimes."""
    folder.mkdir(parents=True, exist_ok=True)
    workload = folder / Path(spec.file_name).with_suffix(".json").name
    platform = folder / f"{HOSTS}-hosts.xml"
    if not workload.exists():
        jobs = subject.in_memory(columns(spec))
        write_batsim(workload, jobs)
    if not platform.exists():
        write_simgrid(platform, sl.Cluster.uniform(HOSTS))
    return workload, platform

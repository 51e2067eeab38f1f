"""Memory follows what is looked at, not the log: commands on 1, 5 and 20 million jobs, and `reject` beside AccaSim."""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks import accasim
from benchmarks.measure import Spent, process
from benchmarks.report import Line
from benchmarks.settings import ROOT, Settings
from benchmarks.subject import schedlab
from benchmarks.workload import LogSpec, write_log

SIZES = (1_000_000, 5_000_000, 20_000_000)
MOST, MOST_WRITTEN = 400, 150  # MB: of any command; of `run --out`, whose jobs do not wait long
NODES, CORES, MEMORY = 1_000, 4, "8 GiB"
POLICIES = ("fcfs", "easy", "conservative", "reject")
TRACES = Path(os.environ.get("SCHEDLAB_TRACES") or ROOT.parent / "shared" / "traces")

Measured = list[Spent]  # for each size


def lines(settings: Settings) -> Iterator[Line]:
    """Hours: every policy, machine and kind of request, then what reads the runs."""
    specs = [LogSpec(settings.jobs(jobs), nodes=NODES, cores=CORES) for jobs in SIZES]
    scratch = Path(tempfile.mkdtemp(prefix="scale-", dir=_made(settings.folder)))
    try:
        yield from _runs(specs, settings, scratch)
        yield from _readers(specs, settings, scratch)
    finally:
        shutil.rmtree(scratch)
        for spec in specs:
            for one in (spec, replace(spec, memory=True)):
                (settings.folder / one.file_name).unlink(missing_ok=True)


def beside_accasim(settings: Settings) -> Iterator[Line]:
    """Both read every job and reject it: what a simulator keeps of a job that is gone."""
    python = accasim.environment()
    for log, jobs in _logs(settings):
        theirs = accasim.rejected(python, log, settings.folder)
        for out in (True, False):
            ours = _run(log, jobs, "reject", "120x4", settings.folder, out=out)
            what = (
                f"schedlab run --policy reject{' --out' if out else ''} against AccaSim's, {jobs:,} jobs of {log.stem}"
            )
            note = f"wall {theirs.wall:.1f} s : {ours.wall:.2f} s, cpu {theirs.cpu:.1f} s : {ours.cpu:.2f} s"
            yield Line("scale-accasim", what, theirs.on(settings.clock) / ours.on(settings.clock), note=note)
            memory = f"memory of it; AccaSim's {theirs.peak_mb:.0f} MB"
            most = MOST_WRITTEN if out else MOST
            yield Line("scale-accasim", memory, ours.peak_mb, "MB", at_most=most)


def _logs(settings: Settings) -> Iterator[tuple[Path, int]]:
    """Seth and RICC, where the archive's logs are there, and 5.7 million jobs like Seth's."""
    for name, jobs in (("HPC2N-2002-2.2-cln", 202_871), ("RICC-2010-2", 447_784)):
        if (TRACES / f"{name}.swf.gz").is_file():
            plain = _made(settings.folder) / f"{name}.swf"  # AccaSim reads no compressed ones
            with gzip.open(TRACES / f"{name}.swf.gz") as packed, plain.open("wb") as file:
                shutil.copyfileobj(packed, file)
            yield plain, jobs  # RICC has ten that did not run besides
            plain.unlink()
    spec = LogSpec(settings.jobs(5_700_000))
    log = write_log(spec, settings.folder)
    yield log, spec.jobs
    log.unlink()


def _runs(specs: Sequence[LogSpec], settings: Settings, scratch: Path) -> Iterator[Line]:
    machines = {"a pool": f"pool:{NODES * CORES}", f"{NODES:,} nodes": f"{NODES}x{CORES}"}
    machines["nodes and memory"] = str(_with_memory(scratch))
    for machine, cluster in machines.items():
        asked = [replace(spec, memory=machine == "nodes and memory") for spec in specs]
        for policy in POLICIES:
            for out in (True, False):
                found = [
                    _run(write_log(spec, settings.folder), spec.jobs, policy, cluster, scratch, out=out)
                    for spec in asked
                ]
                what = f"run --policy {policy}{' --out' if out else ''}, {machine}"
                yield _line(what, specs, found, MOST_WRITTEN if out else MOST)


def _run(log: Path, jobs: int, policy: str, cluster: str, scratch: Path, *, out: bool) -> Spent:
    """Of `schedlab run`. Checks that every job is in its results; with `out` a folder, they stay."""
    folder = Path(tempfile.mkdtemp(dir=scratch))
    command = [*schedlab(), "run", log, "--cluster", cluster, "--policy", policy]
    try:
        spent, _ = process([*command, *(("--out", folder / "out") if out else ())])
        for table in folder.rglob("jobs.parquet"):
            written = pq.read_metadata(table).num_rows
            if written != jobs:
                raise RuntimeError(f"{jobs} jobs in the log, {written} in the results of schedlab")
        return spent
    finally:
        shutil.rmtree(folder)


def _readers(specs: Sequence[LogSpec], settings: Settings, scratch: Path) -> Iterator[Line]:
    """What reads runs and logs, on 1,000 nodes under EASY."""
    found: dict[str, Measured] = {}
    ratios: list[float] = []
    for spec in specs:
        log, (easy, fcfs) = write_log(spec, settings.folder), (scratch / "easy", scratch / "fcfs")
        simulate = [*schedlab(), "run", log, "--cluster", f"{NODES}x{CORES}"]
        runs = [process([*simulate, "--policy", run.name, "--out", run, "--force"])[0] for run in (easy, fcfs)]
        middle = str(spec.jobs // 2)
        commands: dict[str, Sequence[str | Path]] = {
            "check": ["check", easy],
            "check, of FCFS": ["check", fcfs],
            "export to SWF": ["export", easy, scratch / "exported.swf"],
            "compare": ["compare", easy, fcfs],
            "compare --paired": ["compare", easy, fcfs, "--paired"],
            "compare --trim 10%": ["compare", easy, fcfs, "--trim", "10%"],
            "plot --kind gantt, one day": [
                *("plot", easy, "--kind", "gantt", "--from", "2d", "--to", "3d", "-o", scratch / "gantt.png")
            ],
            "why": ["why", easy, middle],
            "inspect": ["inspect", log],
            "convert to CSV": ["convert", log, scratch / "converted.csv"],
        }
        for name, words in commands.items():
            spent, _ = process([*schedlab(), *words])
            found.setdefault(name, []).append(spent)
            for made in ("exported.swf", "gantt.png", "converted.csv"):
                (scratch / made).unlink(missing_ok=True)
        checks = (found[name][-1] for name in ("check", "check, of FCFS"))
        pairs = zip(checks, runs, strict=True)
        ratios.append(max(judged.on(settings.clock) / run.on(settings.clock) for judged, run in pairs))
        for folder in (easy, fcfs):
            shutil.rmtree(folder)
    for name, measured in found.items():
        yield _line(name, specs, measured, MOST)
    times = " : ".join(f"{ratio:.2f}" for ratio in ratios)
    yield Line("scale", "time of check against that of its run", max(ratios), at_most=2, note=times)


def _line(what: str, specs: Sequence[LogSpec], found: Measured, most: float) -> Line:
    """The memory of the largest; the note says how memory and time grow."""
    jobs = [spec.jobs for spec in specs]
    slope = (found[-1].peak_mb - found[0].peak_mb) * 2**20 / (jobs[-1] - jobs[0])
    grows = (found[-1].cpu / found[0].cpu) / (jobs[-1] / jobs[0])
    sizes, seconds = (" : ".join(f"{value:.0f}" for value in column) for column in _columns(found))
    note = f"{sizes} MB, {slope:.1f} bytes a job; cpu {seconds} s, {grows:.2f} of linear"
    return Line("scale", f"{what}, {jobs[-1]:,} jobs", found[-1].peak_mb, "MB", at_most=most, note=note)


def _columns(found: Measured) -> tuple[list[float], list[float]]:
    return [spent.peak_mb for spent in found], [spent.cpu for spent in found]


def _with_memory(folder: Path) -> Path:
    path = folder / "memory.toml"
    path.write_text(f'[[nodes]]\nname = "n"\ncount = {NODES}\ncores = {CORES}\nmemory = "{MEMORY}"\n')
    return path


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder

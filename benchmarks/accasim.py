"""AccaSim 1.1.3 beside schedlab: the same log, 120 nodes of 4 cores, first-fit on nodes, FIFO and EASY."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import schedlab as sl
from benchmarks import once, subject
from benchmarks.measure import Spent, middle, process
from benchmarks.report import Line
from benchmarks.settings import ROOT, Settings
from benchmarks.workload import LogSpec, columns, write_log

VERSION = "1.1.3"
ENVIRONMENT = ROOT / ".bench-venv"
POLICIES = {"fifo": "fcfs", "easy": "easy"}  # AccaSim's name, ours


@dataclass(frozen=True)
class Result:
    process: Spent
    simulation: Spent  # wall: the "Simulation time" of its own statistics; cpu: of its main process, if that is less
    starts: NDArray[np.float64]


def lines(settings: Settings) -> Iterator[Line]:
    spec = LogSpec(settings.jobs(200_000))
    log, python = write_log(spec, settings.folder), environment()
    in_memory, cluster = subject.in_memory(columns(spec)), sl.Cluster.uniform(spec.nodes, cores=spec.cores)
    for theirs, ours in POLICIES.items():
        result = run(python, spec, log, theirs, settings.folder)
        # One after the other, never at the same time. AccaSim's minutes are measured once, our milliseconds often.
        calls = middle([once.simulate(spec, ours)[0] for _ in range(settings.repeats)])
        command = partial(subject.command, log, f"{spec.nodes}x{spec.cores}", ours, settings.folder, spec.jobs)
        whole = middle([command() for _ in range(settings.repeats)])
        equal = int(np.sum(subject.starts(sl.simulate(in_memory, cluster, ours)) == result.starts))
        simulation, ours_alone = result.simulation.on(settings.clock), calls.on(settings.clock)
        yield Line(
            "accasim",
            f"simulate() against AccaSim's own simulation time, {ours}, {spec.jobs:,} jobs",
            simulation / ours_alone,
            at_least=600,
            note=f"{simulation:.1f} s : {ours_alone:.4f} s; {equal:,} starts equal"
            + (" (its EASY is not the textbook's)" if ours == "easy" else ""),
        )
        yield Line(
            "accasim",
            f"schedlab run against its whole process, {ours}, {spec.jobs:,} jobs",
            result.process.on(settings.clock) / whole.on(settings.clock),
            at_least=100,
            note=f"wall {result.process.wall:.1f} s : {whole.wall:.3f} s, cpu {result.process.cpu:.1f} s : "
            f"{whole.cpu:.3f} s, memory {result.process.peak_mb:.0f} MB : {whole.peak_mb:.0f} MB",
        )


def environment() -> Path:
    """The interpreter of an environment with AccaSim in it; made on first use."""
    python = ENVIRONMENT / "bin" / "python"
    if not (ENVIRONMENT / f"accasim-{VERSION}").exists():
        print(f"making {ENVIRONMENT.name} with AccaSim {VERSION} from the package index …", file=sys.stderr)
        venv.create(ENVIRONMENT, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", f"accasim=={VERSION}"], check=True)
        where = subprocess.check_output(
            [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], text=True
        )
        _mend(Path(where.strip()) / "accasim" / "utils" / "misc.py")
        (ENVIRONMENT / f"accasim-{VERSION}").touch()
    return python


def run(python: Path, spec: LogSpec, log: Path, dispatcher: str, folder: Path) -> Result:
    """One whole run of AccaSim, with the output it makes by default. Checks that it started every job."""
    results = folder / f"accasim-{dispatcher}"
    spent, printed = _process(python, log, dispatcher, folder, results, nodes=spec.nodes, cores=spec.cores)
    statistics = (results / f"stats-{log.name}").read_text()
    simulation = re.search(r"Simulation time: ([\d.]+)", statistics)
    assert simulation is not None, statistics
    wall, cpu = float(simulation[1]), float(printed.splitlines()[-1])
    return Result(spent, Spent(wall, min(wall, cpu)), _starts(results / f"sched-{log.name}", spec.jobs))


def rejected(python: Path, log: Path, folder: Path, *, nodes: int = 120, cores: int = 4) -> Spent:
    """A whole run that rejects every job."""
    results = folder / "accasim-reject"
    spent, _ = _process(python, log, "reject", folder, results, nodes=nodes, cores=cores)
    return spent


def _process(
    python: Path, log: Path, dispatcher: str, folder: Path, results: Path, *, nodes: int, cores: int
) -> tuple[Spent, str]:
    system = folder / "accasim-system.json"
    system.write_text(
        json.dumps(
            {
                "groups": {"node": {"core": cores}},
                "resources": {"node": nodes},
                "equivalence": {"processor": {"core": 1}},
                "start_time": 0,
            }
        )
    )
    shutil.rmtree(results, ignore_errors=True)
    script = Path(__file__).with_name("accasim_run.py")
    # -P: `import accasim` must not find this file. TZ: it writes local times.
    return process([python, "-P", script, log, system, dispatcher, results], TZ="UTC")


def _mend(module: Path) -> None:
    """Python 3.10 took the abstract classes out of `collections`."""
    broken, mended = "from collections import Mapping", "from collections.abc import Mapping"
    source = module.read_text()
    if broken in source:
        module.write_text(source.replace(broken, mended))


def _starts(schedule: Path, jobs: int) -> NDArray[np.float64]:
    found = np.full(jobs, np.nan)
    with schedule.open() as file:
        for line in file:
            start = datetime.fromisoformat(line.rsplit("__", 1)[1].split(";", 1)[0]).replace(tzinfo=UTC)
            found[int(line.split(";", 1)[0]) - 1] = start.timestamp()
    missing = int(np.isnan(found).sum())
    if missing:
        raise RuntimeError(f"AccaSim has no start for {missing} of {jobs} jobs")
    return found

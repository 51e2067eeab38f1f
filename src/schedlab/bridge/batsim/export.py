"""A finished run, whoever scheduled it, as the files that Batsim would have left."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.core_rows import Bars, Machine, job_bars
from schedlab.bridge.batsim.host_states import IDLE, SLEEPING, SWITCHING_ON, UNAVAILABLE
from schedlab.bridge.batsim.outputs import REJECTED, SUCCESS, JobRow, Outputs
from schedlab.bridge.batsim.resources import hosts_text
from schedlab.bridge.batsim.version import BATSIM_VERSION
from schedlab.model.disk import told
from schedlab.model.jobs import interrupted
from schedlab.model.run import Run
from schedlab.model.states import SLOWED, TIME_LIMIT
from schedlab.model.stopping import undisturbed

if TYPE_CHECKING:
    import polars as pl

WALLTIME, KILLED = "COMPLETED_WALLTIME_REACHED", "COMPLETED_KILLED"
_AS_HOSTS_ARE = {"up": IDLE, "off": SLEEPING, "booting": SWITCHING_ON}  # all others are not there


@dataclass(frozen=True, slots=True)
class Exported:
    jobs: int
    resources: int
    of: str  # what a resource is: "nodes" or "cores"
    lost: list[str]


def export_run(run: Run, prefix: str) -> Exported:
    """Write PREFIX_jobs.csv and the others. Hosts are nodes where every job has whole ones, else they are cores."""
    machine = Machine(run.cluster)
    bars = job_bars(run, machine, (-np.inf, np.inf))
    by_node = not machine.pool and _whole_nodes(machine, bars)
    if by_node:
        names, stays = list(machine.names), _numbered(machine, bars)
    else:
        names, stays = _core_names(machine), bars
    jobs = run.jobs.with_row_index("row")
    hosts = _last_hosts(stays)
    size = int(machine.sizes.max(initial=1)) if by_node else 1  # cores of a host
    left = jobs.filter(jobs["state"].cast(str).is_in(["completed", "killed", "cancelled", "rejected"]))
    with _appearing_whole(Path(prefix)) as place, closing(Outputs(place, names, version=BATSIM_VERSION)) as outputs:
        end = _play(outputs, run, jobs, machine, stays, by_node)
        for row in _rows(left.sort("end", "sequence"), hosts, size):
            outputs.left(row)
        outputs.finish(end, simulation_seconds=run.config["timing"].get("engine", 0.0), scheduler_seconds=0.0)
    return Exported(len(left), len(names), "nodes" if by_node else "cores", _lost(run, len(jobs) - len(left)))


@contextmanager
def _appearing_whole(prefix: Path) -> Iterator[str]:
    """Another prefix, whose files get their names when all is written."""
    with told("cannot be written", prefix):
        with undisturbed():
            made = TemporaryDirectory(dir=prefix.parent, prefix=f".{prefix.name}.partial-")
        with made as place:
            yield str(Path(place, prefix.name))
            for file in sorted(Path(place).iterdir(), reverse=True):
                file.replace(prefix.with_name(file.name))


def _whole_nodes(machine: Machine, bars: Bars) -> bool:
    starts, ends = np.isin(bars.low, machine.first), np.isin(bars.high, machine.first)
    return bool((starts & ends).all())


def _numbered(machine: Machine, bars: Bars) -> Bars:
    """Rows of cores as numbers of nodes."""
    low, high = (np.searchsorted(machine.first, rows) for rows in (bars.low, bars.high))
    return Bars.of(bars.job, bars.begin, bars.end, low, high)


def _core_names(machine: Machine) -> list[str]:
    if machine.pool:
        return [f"core{number}" for number in range(machine.rows)]
    sizes = machine.sizes.tolist()
    return [f"{name}.{core}" for name, size in zip(machine.names, sizes, strict=True) for core in range(size)]


def _last_hosts(stays: Bars) -> dict[int, list[int]]:
    """What each job had in its last stay."""
    last: dict[int, float] = {}
    ranges: dict[int, list[range]] = defaultdict(list)
    columns: tuple[NDArray[Any], ...] = (stays.job, stays.begin, stays.low, stays.high)
    for job, begin, low, high in zip(*(column.tolist() for column in columns), strict=True):
        if begin > last.get(job, -np.inf):
            ranges[job].clear()
        if begin >= last.get(job, -np.inf):
            last[job] = begin
            ranges[job].append(range(low, high))
    return {job: sorted(host for some in found for host in some) for job, found in ranges.items()}


def _rows(jobs: pl.DataFrame, hosts: dict[int, list[int]], size: int) -> Iterator[JobRow]:
    names = jobs["name"] if "name" in jobs.columns else jobs["job"]
    columns = (
        jobs[name].to_list() for name in ("row", "submit", "start", "end", "cores", "limit", "runtime", "reason")
    )
    states = jobs["state"].cast(str).to_list()
    for name, state, row, submit, start, end, cores, limit, runtime, reason in zip(
        names.to_list(), states, *columns, strict=True
    ):
        walltime = limit if limit is not None and 0 < limit < np.inf else -1.0
        profile = f"delay_{runtime:.15g}"
        where = hosts.get(row, [])
        requested = len(where) or -(-cores // size)
        if start is None:
            yield JobRow("w0", str(name), profile, submit, requested, walltime, REJECTED)
            continue
        final = SUCCESS if state == "completed" else WALLTIME if reason in (None, TIME_LIMIT, SLOWED) else KILLED
        yield JobRow(
            "w0", str(name), profile, submit, requested, walltime, final, start, end - start, hosts_text(where)
        )


def _play(outputs: Outputs, run: Run, jobs: pl.DataFrame, machine: Machine, stays: Bars, by_node: bool) -> float:
    """Hosts that work and rest, in the order of time: jobs leave, nodes change, jobs start."""
    names = [str(name) for name in (jobs["name"] if "name" in jobs.columns else jobs["job"]).to_list()]
    killed = (jobs["state"].cast(str) == "killed").to_list()
    taken: dict[tuple[float, float, int], list[int]] = defaultdict(list)
    columns: tuple[NDArray[Any], ...] = (stays.begin, stays.end, stays.job, stays.low, stays.high)
    for begin, end, job, low, high in zip(*(column.tolist() for column in columns), strict=True):
        taken[begin, end, job].extend(range(low, high))
    happened: list[tuple[float, int, int, bool, str, list[int]]] = []
    for order, ((begin, end, job), hosts) in enumerate(taken.items()):
        happened.append((end, 0, order, killed[job], f"w0!{names[job]}", hosts))
        happened.append((begin, 2, order, False, f"w0!{names[job]}", hosts))
    changes = run.nodes.select("time", "node", "state")
    for order, (time, node, state) in enumerate(changes.iter_rows()):
        number = machine.number[node]
        some = [number] if by_node else list(range(machine.first[number], machine.first[number + 1]))
        happened.append((time, 1, order, False, _AS_HOSTS_ARE.get(str(state), UNAVAILABLE), some))
    happened.sort(key=lambda one: one[:3])
    known: set[str] = set()  # jobs that have started
    for time, kind, _, was_killed, what, hosts in happened:
        if kind == 0:
            outputs.stopped(time, what, hosts, killed=was_killed)
        elif kind == 1:
            outputs.host_states.become(time, hosts, what)
            outputs.host_states.write(time)
        else:
            outputs.started(time, what, hosts, again=what in known)
            known.add(what)
    return happened[-1][0] if happened else 0.0


def _lost(run: Run, there: int) -> list[str]:
    told = []
    if several := interrupted(run.tables):
        told.append(f"earlier attempts of {several:,} jobs: the table of jobs has the last start and end")
    if there:
        told.append(f"{there:,} jobs that had not left when the run ended: Batsim has no row for them")
    return told

"""The workload and the machine of a point of a study."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import fields
from typing import Any

from schedlab.cluster.read import read_cluster
from schedlab.engine.scenario import cluster_of_header
from schedlab.experiment.parameters import PARAMETERS
from schedlab.experiment.study import Point
from schedlab.generate.arrivals import HANDLING, is_list, only_workflows, parse_arrivals, parse_period
from schedlab.generate.base import generate
from schedlab.generate.pattern import with_pattern
from schedlab.generate.prepare import Preparation, node_cores, parse_pressure
from schedlab.generate.store import read_model
from schedlab.generate.workflows import Arrivals, with_workflows
from schedlab.model.cluster import Cluster
from schedlab.model.units import parse_duration, parse_share
from schedlab.model.workload import JobBatch, Workload
from schedlab.workload.read import read_workload
from schedlab.workload.transform.steps import Steps

_READING = ("reader", "clean", "procs", "missing_limit", "bad_rows")
_TIMES = ("fill", "stabilisation", "experiment", "drain")
_PUT_IN = ("workflows", "handling", "period", "share", "inject")
KEPT_JOBS = 2_000_000  # in memory, from one run of a worker to the next


def workload_key(point: Point, seed: int, leave_out: Collection[str] = ()) -> str:
    """Equal for points that have the same jobs."""
    own = {
        name: value for name, value in point.items() if PARAMETERS[name].table == "workload" and name not in leave_out
    }
    # The machine has a part in it where a load is wanted, or where it says how long jobs take.
    if "cluster" in point and ({"pressure", "fill", "load"} & set(own) or _platform(point) is not None):
        own["cluster"] = point["cluster"]
    return json.dumps([own, seed], sort_keys=True)


class Inputs:
    """Makes workloads and machines; keeps the last workload, since runs that share one follow each other. Those that
    differ in what is put in share the others."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[str, Workload]] = {}

    def of(self, point: Point, seed: int) -> tuple[Workload, Cluster]:
        workload = self._last("all", workload_key(point, seed), lambda: self._made(point, seed))
        return workload, cluster_of(point, workload)

    def _made(self, point: Point, seed: int) -> Workload:
        if not {"model", "log"} & set(point):
            return only_workflows(str(point["workflows"]), str(point.get("handling", HANDLING)))
        key = workload_key(point, seed, leave_out=_PUT_IN)
        return _with_more(self._last("without", key, lambda: _jobs(point, seed)), point, seed)

    def _last(self, part: str, key: str, make: Callable[[], Workload]) -> Workload:
        known, workload = self._kept.get(part, ("", None))
        if workload is None or known != key:
            self._kept.pop(part, None)  # before another one takes its memory
            workload = _in_memory(make())
            self._kept[part] = key, workload
        return workload


def cluster_of(point: Point, workload: Workload) -> Cluster:
    return read_cluster(str(point["cluster"])) if "cluster" in point else cluster_of_header(workload)


def _jobs(point: Point, seed: int) -> Workload:
    """Without what is put in."""
    preparation = _preparation(point)
    jobs = _generated(point, seed, preparation) if "model" in point else _read(point)
    given = {step.name: point[step.name] for step in fields(Steps) if step.name in point}
    if given:
        steps: Any = Steps
        cores = read_cluster(str(point["cluster"])).cores if "load" in given and "cluster" in point else None
        jobs = steps(**given).apply(jobs, seed, cores=cores)
    return jobs if preparation is None else preparation.apply(jobs, seed)


def _with_more(jobs: Workload, point: Point, seed: int) -> Workload:
    if "inject" in point:
        return with_pattern(jobs, str(point["inject"]), seed)
    if not comes(point):
        return jobs
    return with_workflows(jobs, _arrivals(point), seed=seed, make_room="pressure" in point)


def comes(point: Point) -> bool:
    """Whether workflows come into its jobs: of the points of a grid, some may have none."""
    if "workflows" not in point or is_list(str(point["workflows"])):
        return "workflows" in point
    return bool(parse_period(point.get("period", 0)) or parse_share(point.get("share", 0)))


def _arrivals(point: Point) -> Arrivals:
    given: dict[str, Any] = {name: point[name] for name in ("handling", "period", "share") if name in point}
    return parse_arrivals(str(point["workflows"]), **given)


def _preparation(point: Point) -> Preparation | None:
    if not {"pressure", "fill"} & set(point):
        return None
    times = {name: _seconds(point[name]) for name in _TIMES if name in point}
    cluster = read_cluster(str(point["cluster"]))
    return Preparation(
        cores=cluster.cores,
        node_cores=node_cores(cluster),
        pressure=parse_pressure(point["pressure"]) if "pressure" in point else None,
        fill_cores=int(point["fill_cores"]) if "fill_cores" in point else None,
        **times,
    )


def _read(point: Point) -> Workload:
    options: dict[str, Any] = {name: point[name] for name in _READING if name in point}
    if options.get("missing_limit", "runtime") != "runtime":
        options["missing_limit"] = parse_duration(options["missing_limit"])
    if (platform := _platform(point)) is not None:
        options |= {"max_procs": platform.cores, "hosts": platform.nodes}
    return read_workload(str(point["log"]), **options)


def _platform(point: Point) -> Cluster | None:
    """Its machine, if that is a SimGrid platform and the log one that can be of Batsim."""
    if "cluster" not in point or ".json" not in str(point.get("log", "")):
        return None
    cluster = read_cluster(str(point["cluster"]))
    return None if cluster.network is None else cluster


def _generated(point: Point, seed: int, preparation: Preparation | None) -> Workload:
    needed = None if preparation is None else preparation.span
    return generate(
        read_model(str(point["model"])),
        jobs=int(point["jobs"]) if "jobs" in point else None,
        span=_seconds(point["span"]) if "span" in point else needed,
        seed=seed,
    )


def _seconds(value: Any) -> float:
    return parse_duration(value if isinstance(value, str) else float(value))


def _in_memory(workload: Workload) -> Workload:
    """The jobs as they will be asked for again and again; those of a very long log are read again instead."""
    batches: list[JobBatch] = []
    kept = 0
    for batch in workload.batches():
        batches.append(batch)
        kept += len(batch)
        if kept > KEPT_JOBS:
            return workload
    workload.source = lambda: iter(batches)
    return workload

"""What the real kube-scheduler in simulated time needs, looked at one by one; the last look is a run, several times."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

from schedlab.bridge.kubernetes.build import ROOM, Progress, schedulers_folder
from schedlab.bridge.kubernetes.decider import Kubernetes
from schedlab.bridge.kubernetes.golang.toolchain import find_fitting_go
from schedlab.bridge.kubernetes.programs import WITHOUT_CHANCE, Program, find_program
from schedlab.bridge.kubernetes.settings import read_settings
from schedlab.cluster.read import read_cluster
from schedlab.engine.simulate import simulate
from schedlab.model.errors import SchedlabError
from schedlab.model.finding import Finding, failed
from schedlab.model.request import Request
from schedlab.model.workload import Workload

REPEATS = 3
_JOBS, _NODES = 60, 4


def examine(
    *,
    build: bool,
    scheduler: str | None,
    configs: list[Path],
    progress: Progress | None,
    repeats: int = REPEATS,
) -> list[Finding]:
    """Everything at once; with `build`, a scheduler that is missing is built."""
    findings = [*_go(scheduler), *_settings(configs)]
    program, found = _program(build, scheduler, progress)
    findings += found
    if program is not None and all(finding.ok for finding in findings):
        findings.append(_repeats(program, configs, repeats))
    return findings


def _go(scheduler: str | None) -> Iterator[Finding]:
    """Only who builds needs it."""
    try:
        go = find_fitting_go()
    except SchedlabError as error:
        finding = failed("Go", error)
        yield finding if scheduler is None else Finding(True, "Go", f"{finding.detail}; not needed for {scheduler}")
        return
    yield Finding(True, "Go", f"{go.version}: {go.program}; modules from {go.proxy}")
    folder = schedulers_folder()
    there = next(place for place in (folder, *folder.parents) if place.is_dir())
    free = shutil.disk_usage(there).free
    detail = f"{folder}, {free / 1e9:.1f} GB free"
    cure = "" if free > ROOM else f"free {ROOM / 1e9:.0f} GB there, or name another folder with SCHEDLAB_CACHE"
    yield Finding(not cure, "room for builds", detail, cure)


def _program(build: bool, scheduler: str | None, progress: Progress | None) -> tuple[Program | None, list[Finding]]:
    what = "a kube-scheduler with the simulated clock"
    try:
        program = find_program(scheduler, may_build=build, progress=progress)
    except SchedlabError as error:
        return None, [failed(what, error)]
    findings = [Finding(True, what, f"{program.version or 'says no version'}: {program.path}")]
    if program.release is not None and program.release < WITHOUT_CHANCE:
        since = ".".join(map(str, WITHOUT_CHANCE))
        detail = f"before {since} equally good nodes are chosen at random: repeatable with a seed"
        findings.append(Finding(True, "chance", detail))
    return program, findings


def _settings(configs: list[Path]) -> Iterator[Finding]:
    for path in configs:
        try:
            settings = read_settings(path)
        except SchedlabError as error:
            yield failed("configuration", error)
            continue
        names = ", ".join(settings.scheduler_names())
        changed = "; ".join(settings.differences()) or "holds as it is"
        yield Finding(True, "configuration", f"{path}: {names}; {changed}")


def _repeats(program: Program, configs: list[Path], times: int) -> Finding:
    """The same jobs again and again: everything has to be the same each time."""
    what = "the same every time"
    try:
        found = [_trial(program, configs) for _ in range(times)]
    except SchedlabError as error:
        return failed(what, error)
    if any(one != found[0] for one in found[1:]):
        cure = "please report it, with the version and the configuration; a plug-in may use threads or chance"
        return Finding(False, what, f"{times} runs of {_JOBS} jobs differ", cure)
    return Finding(True, what, f"{times} runs of {_JOBS} jobs on {_NODES} nodes, all alike")


def _trial(program: Program, configs: list[Path]) -> list[tuple[object, ...]]:
    draw = random.Random(1)
    names = [str(path) for path in configs]
    decider = Kubernetes(config=names, scheduler=str(program.path))
    scheduler = decider.settings[0].scheduler_names()[0]
    workload = Workload.of(
        submit=sorted(draw.randrange(600) for _ in range(_JOBS)),
        runtime=[draw.randrange(1, 120) for _ in range(_JOBS)],
        count=[1] * _JOBS,
        request=[draw.randrange(3) for _ in range(_JOBS)],
        requests=[Request({"cores": cores}) for cores in (1, 2, 3)],
        attachments=[{"pod": {"spec": {"schedulerName": scheduler}}}] * _JOBS,
    )
    run = simulate(workload, read_cluster(f"{_NODES}x4"), decider)
    return [tuple(row) for row in run.jobs.select("job", "start", "end", "nodes").sort("job").rows()]

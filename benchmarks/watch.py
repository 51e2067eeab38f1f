"""What being ready to show a run costs while nobody looks: `schedlab run` beside plain `simulate()`.

Both get the same jobs and the same callable for progress. `idle` is what the command does without --watch, --pace and
--status-every: its handler of SIGUSR1 is installed, and its own callable looks for a question each time the engine
calls. `seen` passes `watch=` with a callable that does nothing: the engine keeps a list of who runs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from functools import partial

import schedlab as sl
from benchmarks import subject
from benchmarks.measure import Spent, call, interleaved, process
from benchmarks.report import Line
from benchmarks.settings import ROOT, Settings
from benchmarks.workload import LogSpec, columns
from schedlab.cli.watch import Monitor

POLICIES = ("fcfs", "easy")
WAYS = ("plain", "idle", "seen")


def lines(settings: Settings) -> Iterator[Line]:
    spec = LogSpec(settings.jobs(2_000_000))
    for policy in POLICIES:
        calls = [partial(_measure, spec, policy, way) for way in WAYS]
        # The fastest of many: what is to be shown is smaller than what a median hides.
        found = interleaved(3 * settings.repeats, *calls)
        plain, idle, seen = (min(one.on(settings.clock) for one in times) for times in found)
        what = f"schedlab run that nobody looks at against simulate(), {policy}, {spec.jobs:,} jobs"
        yield Line("watch", what, idle / plain, at_most=1.03, note=f"{idle:.4f} s : {plain:.4f} s")
        what = f"simulate() with watch= against without, {policy}"
        yield Line("watch", what, seen / plain, note=f"{seen:.4f} s : {plain:.4f} s")


def _measure(spec: LogSpec, policy: str, way: str) -> Spent:
    """In a process of its own (see `once`)."""
    asked = json.dumps({"spec": asdict(spec), "policy": policy, "way": way})
    _, printed = process([sys.executable, "-m", "benchmarks.watch", asked], PYTHONPATH=str(ROOT))
    return Spent(**json.loads(printed))


def _main(asked: str) -> None:
    wanted = json.loads(asked)
    spec = LogSpec(**wanted["spec"])
    cluster = sl.Cluster.uniform(spec.nodes, spec.cores)
    with Monitor(watch=False, pace=None, status_every=None, quiet=True) as monitor:
        simulate = _way(wanted["way"], monitor, cluster, wanted["policy"])
        simulate(subject.in_memory(columns(replace(spec, jobs=1000))))  # imports everything
        jobs = subject.in_memory(columns(spec))
        spent, _ = call(lambda: simulate(jobs))
    print(json.dumps(asdict(spent)))


def _way(way: str, monitor: Monitor, cluster: sl.Cluster, policy: str) -> Callable[[sl.Workload], sl.Run]:
    def progress(now: float, done: int) -> None:
        pass

    def watch(view: object) -> None:
        pass

    if way == "idle":
        return lambda jobs: monitor.simulate(sl.Scenario(jobs, cluster, policy), progress=progress)
    seen = watch if way == "seen" else None
    return lambda jobs: sl.simulate(jobs, cluster, policy, progress=progress, watch=seen)


if __name__ == "__main__":
    _main(sys.argv[1])

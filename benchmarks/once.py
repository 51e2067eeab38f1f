"""One `simulate()` in a process of its own, as a user's script would call it: `python -m benchmarks.once JSON`.

In a process that has simulated before, results go to memory that is already there; a fresh one has to get it from the
operating system, which is a fifth of the time. AccaSim starts fresh, so every measured call of ours does.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, replace

import schedlab as sl
from benchmarks import subject
from benchmarks.measure import Spent, process
from benchmarks.settings import ROOT
from benchmarks.workload import LogSpec, columns


def simulate(spec: LogSpec, policy: str, *, pool: bool = False) -> tuple[Spent, float]:
    """What the call took, and the share of the native engine in it."""
    asked = json.dumps({"spec": asdict(spec), "policy": policy, "pool": pool})
    _, printed = process([sys.executable, "-m", "benchmarks.once", asked], PYTHONPATH=str(ROOT))
    answer = json.loads(printed)
    return Spent(answer["wall"], answer["cpu"]), answer["engine"] / answer["wall"]


def _main(asked: str) -> None:
    wanted = json.loads(asked)
    spec, policy = LogSpec(**wanted["spec"]), wanted["policy"]
    cluster = sl.Cluster.of_cores(spec.total_cores) if wanted["pool"] else sl.Cluster.uniform(spec.nodes, spec.cores)
    workload = subject.in_memory(columns(spec))
    sl.simulate(subject.in_memory(columns(replace(spec, jobs=1000))), cluster, policy)  # imports everything
    spent, run = subject.simulate(workload, cluster, policy)
    print(json.dumps({"wall": spent.wall, "cpu": spent.cpu, "engine": run.config["timing"]["engine"]}))


if __name__ == "__main__":
    _main(sys.argv[1])

"""Jobs in Slurm's words: each with what it asked for, also where the engine counts the CPUs alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import schedlab as sl
from schedlab.engine.decider import Policy
from schedlab.slurm.jobs import Speaker

CLUSTER = """
[[nodes]]
name = "a"
count = 2
cores = 8
memory = "64 GB"

[[nodes]]
name = "b"
count = 2
cores = 8
memory = "64 GB"

[[partitions]]
name = "left"
nodes = ["a"]
default = true

[[partitions]]
name = "right"
nodes = ["b"]
"""
JOBS = """JobID|User|Partition|State|Submit|Start|End|Timelimit|ReqCPUS|NNodes|ReqMem
1|ann|left|COMPLETED|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T00:10:00|00:20:00|1|1|1000M
2|ann|left|COMPLETED|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T00:10:00|00:20:00|1|1|2000M
3|ann|right|COMPLETED|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T00:10:00|00:20:00|1|1|3000M
"""


class Listener(Policy):
    """Writes down the options with which jobs would be submitted to Slurm."""

    def __init__(self) -> None:
        self.heard: dict[int, tuple[str, str]] = {}

    def adapt(self, workload: Any, cluster: Any) -> Any:
        self.speaker = Speaker(workload)
        return self.speaker.in_cpus(), cluster

    def decide(self, view: Any, events: list[Any]) -> None:
        for job in list(view.queue):
            options = self.speaker.options(job)
            self.heard[job.id] = options["partition"], options.get("mem") or options["mem-per-cpu"]
            view.start(job)


def test_requests_that_differ_in_memory_alone_keep_their_memory_and_partition(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(CLUSTER)
    (tmp_path / "jobs.sacct").write_text(JOBS)
    listener = Listener()
    workload = sl.read_workload(tmp_path / "jobs.sacct", requests="full", clean="none")
    sl.simulate(workload, sl.read_cluster(tmp_path / "c.toml"), listener)
    assert listener.heard == {1: ("left", "1000M"), 2: ("left", "2000M"), 3: ("right", "3000M")}

"""A placement that learns which nodes fail: those that failed most often are used last.

The failures come from the model that ships with schedlab; a tenth of the nodes is made unreliable.
"""

from collections import Counter
from pathlib import Path

import numpy as np

import schedlab as sl
from schedlab.execution.failures import Failures


class Reputation(sl.Observer):
    """Counts the failures of each node."""

    def begin(self, view):
        view.data["failed"] = Counter()

    def node_changed(self, view, node, state):
        if state == "down":
            view.data["failed"][node] += 1


class Careful(sl.Policy):
    """EASY by way of a reservation, on the most reliable nodes that have room."""

    def __init__(self):
        self.observers = [Reputation()]

    def decide(self, view, events):
        head = next((job for job in view.queue if not self.start(view, job)), None)
        if head is not None:
            view.reserve(head)
            for job in view.queue:
                if job.cores <= view.free_cores:
                    self.start(view, job)

    def start(self, view, job):
        failed, free, rest, nodes = view.data["failed"], view.cluster.free, job.cores, []
        for node in sorted(np.flatnonzero(free).tolist(), key=lambda node: failed[node]):
            nodes.append((node, min(rest, int(free[node]))))
            rest -= nodes[-1][1]
            if rest == 0:
                return view.start(job, nodes=nodes)
        return False


if __name__ == "__main__":
    jobs = sl.read_workload(Path(__file__).parent / "demo.swf")
    groups = (
        sl.NodeGroup("shaky", 12, {"cores": 4}, prefix="s"),
        sl.NodeGroup("solid", 80, {"cores": 4}, prefix="n"),
    )
    cluster = sl.Cluster(groups, name="92x4")
    for policy in ("easy", Careful()):
        failures = Failures(groups={"shaky": {"mtbf": 200_000.0, "repair": 3600.0}}, seed=1, checkpoint=3600.0)
        run = sl.simulate(jobs, cluster, policy, observers=[failures])
        observed, wait = run.summary["observed"], run.summary["wait"]["mean"] / 3600
        lost = f"{observed['lost_core_hours']:.0f} core hours lost"
        print(f"{run.policy}: {observed['failed_jobs']:.0f} jobs hit, {lost}, mean wait {wait:.2f} h")

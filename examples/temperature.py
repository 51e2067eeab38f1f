"""A data source of your own: the temperature of every rack, and a policy that prefers cool ones.

A rack of 16 nodes warms towards a temperature that depends on how busy it is, exponentially with time constant TAU:
T' = (AMBIENT + RISE * busy share - T) / TAU.
"""

from pathlib import Path

import numpy as np

import schedlab as sl

RACK = 16  # nodes
AMBIENT, RISE, TAU = 22.0, 30.0, 1800.0  # degrees, degrees, seconds


class Thermometer(sl.Observer):
    """Publishes `view.data["temperature"]`, an array by node; measures how hot the hottest rack is on average."""

    def begin(self, view):
        self.rack = np.arange(view.cluster.nodes) // RACK
        self.size = np.bincount(self.rack)
        self.busy = np.zeros(len(self.size))
        self.temperature = np.full(len(self.size), AMBIENT)
        self.first = self.time = None
        self.hottest = 0.0  # degrees x seconds

    def before(self, view):
        if self.time is not None:
            target = AMBIENT + RISE * self.busy
            self.temperature = target + (self.temperature - target) * np.exp((self.time - view.now) / TAU)
            self.hottest += float(self.temperature.max()) * (view.now - self.time)
        self.time = view.now
        self.first = view.now if self.first is None else self.first
        view.data["temperature"] = self.temperature[self.rack]

    def after(self, view):
        busy = 1 - view.cluster.free / view.cluster.total
        self.busy = np.bincount(self.rack, busy) / self.size

    def finish(self, view):
        return {"hottest_rack_degrees": self.hottest / (self.time - self.first)}


class CoolestFirst(sl.Policy):
    """First come, first served, on the coolest nodes that have room."""

    def decide(self, view, events):
        for job in view.queue:
            if job.cores > view.free_cores:
                break
            rest, nodes = job.cores, []
            for node in np.argsort(view.data["temperature"], kind="stable").tolist():
                chunks = min(rest, int(view.cluster.free[node]))
                if chunks > 0:
                    nodes.append((node, chunks))
                    rest -= chunks
            view.start(job, nodes=nodes)


if __name__ == "__main__":
    jobs = sl.read_workload(Path(__file__).parent / "demo.swf")
    cluster = sl.Cluster.uniform(160, cores=4)
    for policy in ("fcfs", CoolestFirst()):
        run = sl.simulate(jobs, cluster, policy, observers=[Thermometer()])
        degrees = run.summary["observed"]["hottest_rack_degrees"]
        print(f"{run.policy}: the hottest rack has {degrees:.1f} degrees on average")

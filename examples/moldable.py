"""Jobs that are not rigid: moldable ones get the shape that ends first, malleable ones grow when nobody waits.

Runtimes follow Amdahl's law: with n times the cores a job takes (SERIAL + (1 - SERIAL) / n) of its time.
"""

from pathlib import Path

import schedlab as sl

SERIAL = 0.05


def flexible(jobs, malleable):
    """The same jobs, each with up to three more shapes: half, twice and four times the cores."""
    table, shapes = jobs.jobs, []
    for count, runtime, limit in table.select("count", "runtime", "limit").rows():
        ways = []
        for factor in (0.5, 2, 4):
            other = int(count * factor)
            if 0 < other != count and other <= 256:
                speed = (SERIAL + (1 - SERIAL)) / (SERIAL + (1 - SERIAL) / (other / count))
                ways.append(sl.Shape(other, runtime / speed, limit / speed))
        shapes.append(ways)
    columns = {name: table[name] for name in ("id", "submit", "runtime", "limit", "count", "user")}
    return sl.Workload.of(name=jobs.name, shapes=shapes, malleable=[malleable] * len(table), **columns)


class Mold(sl.Policy):
    """First come, first served: in the fastest shape that fits, or the thriftiest one if others wait too."""

    def decide(self, view, events):
        for job in view.queue:
            shapes = sorted(range(len(job.shapes)), key=lambda k: job.shapes[k][0], reverse=len(view.queue) < 2)
            if not any(view.start(job, shape=shape) for shape in shapes):
                break


class Grow(sl.Policy):
    """First come, first served. With nobody waiting, running jobs grow; with somebody waiting, they shrink."""

    def decide(self, view, events):
        for job in view.queue:
            if not view.start(job):
                break
        waiting = len(view.queue) > 0
        for job in view.running:
            wanted = sorted(range(len(job.shapes)), key=lambda k: job.shapes[k][0])
            place = wanted.index(job.shape) + (-1 if waiting else 1)
            if 0 <= place < len(wanted):
                view.reshape(job, wanted[place], cost=5.0)
        for job in view.queue:
            if not view.start(job):
                break


if __name__ == "__main__":
    jobs = sl.read_workload(Path(__file__).parent / "demo.swf")
    cluster = sl.Cluster.uniform(64, cores=4)
    runs = [
        sl.simulate(jobs, cluster, "fcfs"),
        sl.simulate(flexible(jobs, malleable=False), cluster, Mold()),
        sl.simulate(flexible(jobs, malleable=True), cluster, Grow()),
    ]
    for run in runs:
        turnaround = run.summary["turnaround"]["mean"] / 3600
        print(f"{run.policy}: mean turnaround {turnaround:.2f} h, {len(sl.check(run))} offences")

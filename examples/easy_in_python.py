"""EASY backfilling as a Python policy, beside the built-in one: the same schedule."""

from math import inf
from pathlib import Path

import schedlab as sl


class Easy:
    """For clusters on which any free core will do."""

    def decide(self, view, events):
        queue = view.waiting
        while queue and view.start(queue[0]):
            queue.pop(0)
        if not queue:
            return
        shadow, extra = self.reservation(view, queue[0])
        for job in queue[1:]:
            if view.now + job.estimate <= shadow:
                view.start(job)
            elif job.cores <= extra and view.start(job):
                extra -= job.cores

    def reservation(self, view, head):
        """When the head can start if all jobs run as long as they are believed to, and what is left over then."""
        free, shadow = view.free_cores, inf
        for job in view.running:  # soonest estimated end first
            if job.estimated_end > shadow:
                break
            free += job.cores
            if free >= head.cores:
                shadow = job.estimated_end
        return shadow, free - head.cores


if __name__ == "__main__":
    jobs = sl.read_workload(Path(__file__).parent / "demo.swf")
    cluster = sl.Cluster.uniform(64, cores=4)
    mine, native = sl.simulate(jobs, cluster, Easy()), sl.simulate(jobs, cluster, "easy")
    print(mine, native, sep="\n")
    same = (mine.jobs["start"] == native.jobs["start"]).all()
    print("the same schedule" if same else "another schedule")

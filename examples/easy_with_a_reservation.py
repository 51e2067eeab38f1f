"""EASY backfilling again, in six lines: the engine's own plan keeps the first waiting job from being delayed."""

from pathlib import Path

import schedlab as sl


class Easy(sl.Policy):
    """Works on any cluster. Reserve for everybody who does not fit, and it is conservative backfilling."""

    def decide(self, view, events):
        head = next((job for job in view.queue if not view.start(job)), None)
        if head is not None:
            view.reserve(head)
            for job in view.queue:
                if job.cores <= view.free_cores:
                    view.start(job, backfilled=True)  # False if it would delay the head


if __name__ == "__main__":
    jobs = sl.read_workload(Path(__file__).parent / "demo.swf")
    cluster = sl.Cluster.uniform(64, cores=4)
    mine, native = sl.simulate(jobs, cluster, Easy()), sl.simulate(jobs, cluster, "easy")
    print(mine, native, sep="\n")
    same = (mine.jobs["start"] == native.jobs["start"]).all()
    print("the same schedule" if same else "another schedule")

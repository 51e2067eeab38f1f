"""Preemption: small short jobs do not wait. They suspend the job that has longest to go, which goes on afterwards."""

from pathlib import Path

import schedlab as sl

SHORT, SMALL, COST = 1800.0, 8, 60.0  # seconds, cores, seconds that a suspended job needs to get going again


class Preempt(sl.Policy):
    """First come, first served for all others."""

    def decide(self, view, events):
        urgent = [job for job in view.queue if job.estimate <= SHORT and job.cores <= SMALL]
        for job in urgent:
            for victim in reversed(list(view.running)):  # latest estimated end first
                if view.fits(job):
                    break
                if victim.cores >= job.cores and victim.estimate > SHORT:
                    view.suspend(victim)
            view.start(job)
        if any(job.state == "waiting" for job in urgent):
            return
        for job in view.suspended:  # oldest first, before anybody new
            if not view.resume(job, cost=COST):
                return
        for job in view.queue:
            if not view.start(job):
                break


if __name__ == "__main__":
    jobs = sl.read_workload(Path(__file__).parent / "demo.swf")
    cluster = sl.Cluster.uniform(64, cores=4)
    for policy in ("fcfs", "easy", Preempt()):
        run = sl.simulate(jobs, cluster, policy)
        short = run.jobs.filter((run.jobs["limit"] <= SHORT) & (run.jobs["cores"] <= SMALL))
        wait = (short["start"] - short["submit"]).mean()
        slowdown = run.summary["bounded_slowdown"]["mean"]
        print(f"{run.policy}: urgent jobs wait {wait:.0f} s on average; mean bounded slowdown of all {slowdown:.1f}")

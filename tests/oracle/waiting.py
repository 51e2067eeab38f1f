"""Jobs that wait for jobs: since when a condition holds, and what follows for the one that waits."""

from __future__ import annotations

import math

from tests.oracle.jobs import Job

CONDITIONS = ("ended", "completed", "not completed", "started")


def since(job: Job, condition: str) -> float | None:
    """Since when the condition holds of a job: infinite if it never will, None while that is open."""
    if condition == "started" and not math.isnan(job.first_start):
        return job.first_start
    if not job.state:
        return None
    wrong = {"completed": job.state != "completed", "not completed": job.state == "completed"}
    return math.inf if wrong.get(condition) else job.end


def is_hopeless(job: Job) -> bool:
    never = [since(other, condition) == math.inf for other, condition, _ in job.waits]
    return all(never) if job.any else any(never)


def release_of(job: Job) -> float:
    """When it may be eligible, as far as it is known."""
    times = [(since(other, condition), delay) for other, condition, delay in job.waits]
    known = [time + delay for time, delay in times if time is not None]
    if job.any:
        return min(known, default=math.inf)
    return max(known) if len(known) == len(times) else math.inf

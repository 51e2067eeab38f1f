"""Jobs that the scheduler knows and that have not left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab._core import Job

if TYPE_CHECKING:
    from schedlab.bridge.batsim.course import Course

SUBMITTED, RUNNING = "SUBMITTED", "RUNNING"
SUCCESSFULLY, FAILED = "COMPLETED_SUCCESSFULLY", "COMPLETED_FAILED"
AT_WALLTIME, KILLED, REJECTED = "COMPLETED_WALLTIME_REACHED", "COMPLETED_KILLED", "REJECTED"


class Live:
    """One of them: as the engine has it, and as it is told."""

    __slots__ = (
        *("alloc", "course", "hosts", "id", "job", "joules", "metadata", "profile", "ranks", "res"),
        *("returns", "seconds", "start", "state", "subtime", "text", "walltime", "workload"),
    )

    def __init__(
        self,
        identity: str,
        text: bytes,
        workload: str,
        job: Job,
        *,
        profile: str,
        res: int,
        subtime: float,
        walltime: float,
    ) -> None:
        self.id, self.text, self.workload = identity, text, workload  # `text` is the id as JSON
        self.job = job
        self.profile, self.res = profile, res
        self.subtime, self.walltime = subtime, walltime  # walltime: infinity if it has none
        self.state = SUBMITTED
        self.start = 0.0
        self.seconds = 0.0  # of work, once it has started
        self.course: Course | None = None  # None: a delay
        self.returns = 0  # its exit code if nobody ends it
        self.hosts: list[int] = []
        self.alloc = ""  # the same as a text
        self.ranks: list[int] | None = None  # of each rank of its trace, the place of its host; None: they go round
        self.joules = -1.0  # that its hosts consumed, once it has ended, if that is added up
        self.metadata = ""

    def progress(self) -> dict[str, object]:
        """How far it has come, as JOB_KILLED tells it."""
        done = self.job.done
        if self.course is not None:
            return self.course.progress(done)
        return {"profile_name": self.profile, "progress": done / self.seconds}

    def in_parallel_task(self) -> bool:
        """Whether it computes or communicates now; a delay or a replay is something else."""
        return self.course is not None and self.course.task_at(self.job.done).demand is not None

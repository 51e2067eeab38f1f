"""Slurm's own pending reasons, as squeue shows them: asked for in runs that say why jobs wait, and in no others."""

from __future__ import annotations

import re
from math import inf

from schedlab._core import View
from schedlab.slurm.controller import Controller
from schedlab.slurm.correspondence import Correspondence, Known
from schedlab.slurm.wire.reports import JobInfo

FIRST = 1.0  # seconds after something happened at which it is looked again; then after twice as long each time,
LONGEST = 600.0  # but not after more than this
ROUNDING = 1e-6  # of times, which Slurm has in whole nanoseconds
_UNFULFILLED = re.compile(r"(?<!\w)(\d++)(?:_\w++|_\*)?(?:\+\d++)?\(unfulfilled\)")


class Pending:
    """Looks at all jobs at once, and tells the engine what has become another reason.

    slurmctld finds reasons in passes of its own, some time after something happened. It is not asked at each of them.
    """

    def __init__(self, controller: Controller, known: Correspondence) -> None:
        self._controller, self._known = controller, known
        self._said: dict[int, tuple[str, int | None]] = {}  # by the job's place in the workload
        self._since, self._pause, self._due = 0, FIRST, False
        self.next = inf  # when to look again

    def look(self, view: View, *, changed: bool, can_be_asked: bool) -> None:
        """At the end of a pass; `changed`: something else happened in it than that time went on."""
        waiting = [known for known in self._known.jobs() if known.job.state == "waiting"]
        if not waiting:
            self.next = inf
            self._said.clear()
            return
        if changed:
            self._let_go(view, waiting)
            self._due, self._pause = True, FIRST
        elif view.now >= self.next - ROUNDING:
            self._due, self._pause = True, min(2 * self._pause, LONGEST)
        if not self._due:
            return
        self.next = view.now + self._pause
        if can_be_asked:  # else soon
            self._due = False
            found, self._since = self._controller.jobs(0 if changed else self._since)
            if found is not None:
                self._tell(view, waiting, found)

    def _let_go(self, view: View, waiting: list[Known]) -> None:
        """Nobody is in the way who has left; Slurm may find that out a little later."""
        for known in waiting:
            words, who = self._said.get(known.job.sequence, ("", None))
            if who is not None and not self._is_here(who):
                self._say(view, known, words, None)

    def _tell(self, view: View, waiting: list[Known], found: list[JobInfo]) -> None:
        infos = {(info.array_job or info.job, info.array_task): info for info in found if info.state == "PENDING"}
        for known in waiting:
            # Tasks of an array that Slurm has not looked at one by one are told of together.
            info = infos.get((known.number, known.task)) or infos.get((known.number, None))
            if info is None:
                self._say(view, known, "", None)
            else:
                self._say(view, known, self._controller.words(info), self._awaited(info))
        places = {known.job.sequence for known in waiting}
        self._said = {place: said for place, said in self._said.items() if place in places}

    def _say(self, view: View, known: Known, words: str, who: int | None) -> None:
        """An empty text leaves it to the engine."""
        if self._said.get(known.job.sequence, ("", None)) != (words, who):
            view.explain(known.job, words, who)
            self._said[known.job.sequence] = words, who

    def _is_here(self, job: int) -> bool:
        return any(known.job.id == job for known in self._known.jobs())

    def _awaited(self, info: JobInfo) -> int | None:
        """The first of the jobs that it depends on and that have not done what they should."""
        match = _UNFULFILLED.search(info.dependency)
        job = self._known.job_of(int(match[1])) if match else -1
        return job if self._is_here(job) else None

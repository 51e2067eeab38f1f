"""Nodes that are set aside for a time, known in advance: for maintenance, or for somebody's jobs.

Backfilling looks ahead: a job that, by its estimate, would still be there is not started on these nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from schedlab._core import View
from schedlab.engine.calendar import Window
from schedlab.engine.observer import Observer
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.nodeset import expand
from schedlab.model.suggest import did_you_mean
from schedlab.model.units import parse_duration

Victims = Literal["requeue", "kill", "drain"]
VICTIMS = "maintenance_victims"


class Reservation(Observer):
    """`nodes` (n[001-008]) from `start` for `duration` for the jobs of some `users` (names or numbers, as in the log).

    Times are seconds from the beginning of the log, or texts such as 3d. A job of somebody else that has outrun its
    estimate when the time begins may end there.
    """

    name = "reservation"
    _victims = ""

    def __init__(
        self, nodes: str, start: float | str, duration: float | str, users: Sequence[int | str] | int | str = ()
    ) -> None:
        self._names = [name for name, _ in expand(nodes)]
        self._from = parse_duration(start)
        self._until = self._from + parse_duration(duration)
        self._users = [users] if isinstance(users, int | str) else list(users)

    def calendar(self, cluster: Cluster) -> list[Window]:
        numbers = {name: number for number, name in enumerate(cluster.node_names())}
        for name in self._names:
            if name not in numbers:
                hint = did_you_mean(name, numbers, f"the cluster's nodes are {', '.join(list(numbers)[:3])}, …")
                raise InputError(f"there is no node '{name}'", where=f"observer {self.name}", hint=hint)
        self._nodes = [numbers[name] for name in self._names]
        return [Window(self._nodes, self._from, self._until, self._users, victims=self._victims)]


class Maintenance(Reservation):
    """`nodes` are closed from `start` for `duration`. Jobs that are still there are requeued, killed, or may end."""

    name = "maintenance"

    def __init__(self, nodes: str, start: float | str, duration: float | str, victims: Victims = "requeue") -> None:
        super().__init__(nodes, start, duration)
        if victims not in get_args(Victims):
            hint = did_you_mean(victims, get_args(Victims), "requeue, kill or drain")
            raise InputError(f"maintenance: victims cannot be {victims!r}", hint=hint)
        self._victims = victims

    def begin(self, view: View) -> None:
        self._begun = False
        self._closed: list[int] = []
        view.wake_at(self._from)
        view.wake_at(self._until)

    def before(self, view: View) -> None:
        if not self._begun and self._from <= view.now < self._until:
            self._begun = True
            self._close(view)
        if self._closed and view.now >= self._until:
            for node in self._closed:
                view.open(node)
            self._closed = []

    def finish(self, view: View) -> dict[str, float]:
        return {VICTIMS: view.data.get(VICTIMS, 0)}  # of all maintenance together

    def _close(self, view: View) -> None:
        for node in self._nodes:
            for job in view.jobs_on(node) if self._victims != "drain" else ():
                view.data[VICTIMS] = view.data.get(VICTIMS, 0) + 1
                if self._victims == "kill":
                    view.kill(job, reason="maintenance")
                else:
                    view.requeue(job, reason="maintenance")
            if view.cluster.state(node) == "up":
                view.close(node, "maintenance")
                self._closed.append(node)

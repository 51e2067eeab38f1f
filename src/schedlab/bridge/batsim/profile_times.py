"""Jobs of Batsim under any policy: how long their profiles take on the nodes that they are given.

The same times as with a scheduler that speaks Batsim's protocol: the machine's speeds, links and storages count, and
jobs that share nodes or links slow one another down.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schedlab import _core
from schedlab._core import Job, View
from schedlab.bridge.batsim.contention import Contention
from schedlab.bridge.batsim.course import Course
from schedlab.bridge.batsim.execution import SharedCourses
from schedlab.bridge.batsim.platform import Platform
from schedlab.bridge.batsim.profiles import Profiles
from schedlab.engine.observer import Nodes
from schedlab.model.cluster import Cluster


@dataclass(frozen=True, slots=True)
class Placed:
    course: Course
    seconds: float


class ProfileTimes(SharedCourses):
    """`table` are the profiles of a workload, whose jobs carry the names of theirs along.

    Names of trace files are relative to `folder`; `where` is what messages call the workload.
    """

    name = "profiles"
    wants_attachments = True

    def __init__(self, table: Mapping[str, Any] | None = None, folder: str = "", where: str = "") -> None:
        self._table, self._folder, self._where = table or {}, Path(folder), where

    def native(self, owner: str, cluster: Cluster) -> _core.Execution | None:
        """The machine is known now. There is no such model in the core."""
        platform = Platform.of(cluster)
        self._placed: dict[int, Placed] = {}
        super().__init__(self._placed, Contention(platform, platform.speed))
        self._profiles = Profiles(self._table, platform, self._folder, self._where)
        ids = {host.name: number for number, host in enumerate(platform.hosts)}
        self._hosts = [ids[name] for name in cluster.node_names()]
        storages = range(len(platform.compute), len(platform.hosts))
        self._storage = {platform.hosts[number].name: number for number in storages} if len(storages) > 1 else {}
        return None

    def work(self, view: View, job: Job, nodes: Nodes) -> float | None:
        """Each chunk of a job is an executor on its node."""
        carried = job.attachments
        if "profile" not in carried:
            return None
        executors = [self._hosts[node] for node, chunks in nodes for _ in range(chunks)]
        ranks = carried.get("smpi_ranks_to_hosts_mapping")
        course = self._profiles.course(carried["profile"], executors, storage=self._storage, ranks=ranks)
        self._placed[job.id] = Placed(course, course.seconds)
        return course.seconds

    def stopped(self, view: View, job: Job, nodes: Nodes) -> None:
        super().stopped(view, job, nodes)
        self._placed.pop(job.id, None)

    def facts(self) -> dict[str, Any]:
        return {"model": "profiles"}

"""EXECUTE_JOB: a job takes hosts."""

from __future__ import annotations

from collections.abc import Mapping

from schedlab import _core
from schedlab._core import View
from schedlab.bridge.batsim.course import Course
from schedlab.bridge.batsim.live import RUNNING, SUBMITTED, Live
from schedlab.bridge.batsim.messages import ExecuteData
from schedlab.bridge.batsim.resources import hosts_text, read_hosts
from schedlab.bridge.batsim.stage import Refused, Stage


class Starts:
    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._compute = len(stage.platform.compute)
        self._whole = [(host, 1) for host in range(self._compute)]  # a host for a job

    def execute(self, view: View, data: ExecuteData) -> None:
        stage = self._stage
        live = stage.find(data.job_id)
        if live.state != SUBMITTED:
            raise Refused(f"job '{live.id}' cannot start: it is {live.state}")
        hosts, alloc = self._hosts(live, data.alloc)
        mapping = None if data.mapping is None else _executors(live, data.mapping, len(hosts))
        if mapping is not None or len(hosts) != live.res:
            self._check_size(live, hosts, mapping)
        if stage.power is not None:
            for host in hosts:
                if not stage.power.computes(host):
                    self._explain(view, live, [host])
        document = stage.documents[live.workload]
        seconds = document.seconds(live.profile)
        if seconds is None:
            live.course = self._course(live, data, hosts, mapping)
            seconds = live.course.seconds
        live.seconds, live.hosts, live.alloc = seconds, hosts, alloc
        try:
            started = self._start(view, live, hosts)
        except _core.DecisionError:
            live.hosts, live.alloc = [], ""
            self._explain(view, live, hosts)
            raise
        if not started:
            raise Refused(f"job '{live.id}' cannot start there: {view.refusal or 'it does not fit'}")
        live.state, live.start, live.returns = RUNNING, view.now, document.returns(live.profile)
        if stage.power is not None:
            stage.power.started(view.now, live)
        for listener in stage.listeners:
            listener.started(view.now, live)

    def _course(self, live: Live, data: ExecuteData, hosts: list[int], mapping: list[int] | None) -> Course:
        document, power, io = self._stage.documents[live.workload], self._stage.power, data.additional_io_job
        if io is not None and io.profile is not None:
            document.add_profile(io.profile_name, io.profile)
        return document.course(
            live.profile,
            hosts,
            mapping,
            storage=data.storage_mapping,
            pstates=None if power is None else power.states,
            ranks=live.ranks,
            io=None if io is None else (io.profile_name, self._hosts(live, io.alloc)[0]),
        )

    def _start(self, view: View, live: Live, hosts: list[int]) -> bool:
        if len(hosts) == live.job.count and hosts[-1] < self._compute and not self._stage.rules.compute_sharing:
            whole = self._whole
            return view.start(live.job, [whole[host] for host in hosts])
        return view.start(live.job, [(host, {"cores": self._slots(view, host)}) for host in hosts])

    def _explain(self, view: View, live: Live, hosts: list[int]) -> None:
        """Why a job cannot have these hosts: the engine does not know what they, and other jobs, are called."""
        for host in hosts:
            name = self._stage.platform.hosts[host].name
            if (state := view.cluster.state(host)) != "up":
                raise Refused(f"job '{live.id}' cannot have host {host} ({name}): it is {state}")
            if others := [self._stage.of_job[job.id].id for job in view.jobs_on(host) if job.id != live.job.id]:
                raise Refused(f"job '{live.id}' cannot have host {host} ({name}): job '{others[0]}' runs there")

    def _hosts(self, live: Live, text: str) -> tuple[list[int], str]:
        """Which they are, and as a text."""
        try:
            hosts, canonical = read_hosts(text)
        except ValueError as error:
            raise Refused(f"the hosts of job '{live.id}' cannot be read: {error}") from None
        if hosts[-1] >= len(self._stage.platform.hosts):
            there = len(self._stage.platform.hosts)
            raise Refused(f"job '{live.id}' cannot have host {hosts[-1]}: there are {there}, from 0 on")
        return hosts, text if canonical else hosts_text(hosts)

    def _check_size(self, live: Live, hosts: list[int], mapping: list[int] | None) -> None:
        given = len(hosts) if mapping is None else len(mapping)
        if given != live.res and not self._stage.documents[live.workload].takes_any_number(live.profile):
            what = "hosts" if mapping is None else "executors in its mapping"
            raise Refused(f"job '{live.id}' asks for {live.res} hosts and gets {given} {what}")

    def _slots(self, view: View, host: int) -> int:
        """One, unless hosts may be shared and somebody is there: the engine counts a host once, and a storage never."""
        if host >= self._compute:
            if not self._stage.rules.storage_sharing and view.jobs_on(host):
                raise Refused(f"storage {host} is in use, and may not be shared (--disable-storage-sharing)")
            return 0
        return int(view.cluster.free[host]) if self._stage.rules.compute_sharing else 1


def _executors(live: Live, mapping: Mapping[str, int | str], hosts: int) -> list[int]:
    """For each executor the place of its host in the allocation."""
    try:
        found = {int(executor): int(place) for executor, place in mapping.items()}
    except ValueError:
        raise Refused(f"the mapping of job '{live.id}' has something that is no number") from None
    if sorted(found) != list(range(len(found))):
        raise Refused(f"the mapping of job '{live.id}' has to say of each executor, from 0 on, where it is")
    for executor, place in found.items():
        if not 0 <= place < hosts:
            raise Refused(f"executor {executor} of job '{live.id}' is on host {place} of the {hosts} that it gets")
    return [found[executor] for executor in range(len(found))]

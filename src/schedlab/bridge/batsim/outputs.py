"""The files that Batsim leaves behind, as its users' tools read them: names, columns, their order, formats of numbers.

They are written while the simulation goes on: if it ends badly, what happened until then is there, as with Batsim.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from schedlab.bridge.batsim.host_states import (
    IDLE,
    SLEEPING,
    STATES,
    SWITCHING_OFF,
    SWITCHING_ON,
    UNAVAILABLE,
    HostStates,
)
from schedlab.bridge.batsim.paje import Trace
from schedlab.bridge.batsim.resources import hosts_text
from schedlab.model.errors import InputError

SUCCESS, REJECTED = "COMPLETED_SUCCESSFULLY", "REJECTED"
NULL_TIME = 1e-5  # seconds that a job has run that ended when it started
BECOMES_ON, BECOMES_OFF = -1, -2  # what pstate_changes.csv has while hosts switch

JOB_COLUMNS = (
    "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,"
    "starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,"
    "metadata"
)


@dataclass(slots=True)
class JobRow:
    """A job that has left."""

    workload: str
    job: str  # without the workload's name
    profile: str
    submitted: float
    requested: int  # hosts
    walltime: float  # -1: none
    state: str
    start: float = 0.0
    runtime: float = 0.0
    hosts: str = ""
    joules: float = -1.0  # of the hosts that it had, meanwhile; -1: nobody measures
    metadata: str = ""

    def text(self) -> str:
        known = (
            f"{self.job},{self.workload},{self.profile},{self.submitted:f},{self.requested},{self.walltime:f},"
            f"{int(self.state == SUCCESS)},{self.state}"
        )
        if self.state == REJECTED:
            return f'{known},,,,,,,{self.hosts},,"{self.metadata}"\n'
        runtime = self.runtime or NULL_TIME
        end = self.start + runtime
        turnaround = end - self.submitted
        return (
            f"{known},{self.start:f},{runtime:f},{end:f},{self.start - self.submitted:f},{turnaround:f},"
            f'{turnaround / runtime:f},{self.hosts},{self.joules:f},"{self.metadata}"\n'
        )


class Totals:
    """What schedule.csv says of all jobs."""

    def __init__(self) -> None:
        self.jobs = self.finished = self.successful = self.rejected = 0
        self.waited = self.stayed = self.slowdowns = 0.0
        self.longest_wait = self.longest_stay = self.worst_slowdown = self.makespan = 0.0

    def add(self, row: JobRow) -> None:
        self.jobs += 1
        if row.state == REJECTED:
            self.rejected += 1
            return
        self.finished += 1
        self.successful += row.state == SUCCESS
        runtime = row.runtime or NULL_TIME
        wait, end = row.start - row.submitted, row.start + runtime
        stay = end - row.submitted
        self.waited += wait
        self.stayed += stay
        self.slowdowns += stay / runtime
        self.longest_wait = max(self.longest_wait, wait)
        self.longest_stay = max(self.longest_stay, stay)
        self.worst_slowdown = max(self.worst_slowdown, stay / runtime)
        self.makespan = max(self.makespan, end)

    def values(self) -> dict[str, str]:
        def mean(total: float) -> str:
            return f"{total / self.jobs:f}" if self.jobs else "-nan"  # Batsim divides by all jobs, rejected ones too

        return {
            "nb_jobs": f"{self.jobs}",
            "nb_jobs_finished": f"{self.finished}",
            "nb_jobs_success": f"{self.successful}",
            "nb_jobs_killed": f"{self.finished - self.successful}",
            "nb_jobs_rejected": f"{self.rejected}",
            "success_rate": mean(self.successful),
            "makespan": f"{self.makespan:f}",
            "mean_waiting_time": mean(self.waited),
            "mean_turnaround_time": mean(self.stayed),
            "mean_slowdown": mean(self.slowdowns),
            "max_waiting_time": f"{self.longest_wait:f}",
            "max_turnaround_time": f"{self.longest_stay:f}",
            "max_slowdown": f"{self.worst_slowdown:f}",
        }


class Outputs:
    """The files under a prefix: `out/run` gives out/run_jobs.csv and so on. `names`: of all hosts, in order."""

    def __init__(
        self,
        prefix: str,
        names: Sequence[str],
        *,
        version: str,
        storage: int = 0,  # how many of the hosts, the last ones, are no compute hosts
        trace: bool = True,
        states: bool = True,
        energy: bool = False,
    ) -> None:
        self._prefix, self._hosts, self._version, self._energy = prefix, len(names), version, energy
        self._files = ExitStack()
        self.totals = Totals()
        self._switches = self._grouped_switches = 0
        self._entry: tuple[float, float] = (0.0, 0.0)  # the last one of consumed_energy.csv: time, joules
        self._first_joules = self._last_joules = -1.0  # at the first submission and at the last end
        try:
            self._trace = Trace(self._open("schedule.trace"), names) if trace else None
            file = self._open("machine_states.csv") if states else None
            self.host_states = HostStates(self._hosts, file, storage=storage)
            if energy:
                self._consumed = self._open("consumed_energy.csv")
                self._consumed.write("time,energy,event_type,wattmin,epower\n")
                self._pstates = self._open("pstate_changes.csv")
                self._pstates.write("time,machine_id,new_pstate\n")
            self._jobs = self._open("jobs.csv")
        except BaseException:
            self._files.close()
            raise
        self._jobs.write(JOB_COLUMNS + "\n")

    def started(self, time: float, job: str, hosts: Sequence[int], *, again: bool = False) -> None:
        """`job` with its workload's name; `again`: it was stopped before."""
        self.host_states.started(time, hosts)
        if self._trace is not None:
            self._trace.started(time, job, hosts, again=again)

    def stopped(self, time: float, job: str, hosts: Sequence[int], *, killed: bool = False) -> None:
        if killed and self._trace is not None:
            self._trace.killed(time, job, hosts)
        idle = self.host_states.stopped(time, hosts)
        if self._trace is not None:
            self._trace.idle(time, idle)

    def left(self, row: JobRow) -> None:
        """The scheduler is told that a job has ended, or has rejected it."""
        self._jobs.write(row.text())
        self.totals.add(row)

    def available(self, time: float, hosts: Iterable[int], available: bool) -> None:
        """An external event."""
        self.host_states.become(time, hosts, IDLE if available else UNAVAILABLE)

    # With energy: power states of hosts, and what they consumed.

    def in_pstate(self, time: float, hosts: Iterable[int], pstate: int) -> None:
        """In which power state hosts are from now on."""
        self._pstates.write(f"{time:g},{hosts_text(hosts)},{pstate}\n")

    def switching(self, time: float, hosts: Sequence[int], *, off: bool) -> None:
        """The scheduler wants another power state of hosts, awake ones or sleeping ones."""
        self._grouped_switches += 1
        self._switches += len(hosts)
        self.in_pstate(time, hosts, BECOMES_OFF if off else BECOMES_ON)

    def on_the_way(self, time: float, asleep: Sequence[int], awake: Sequence[int]) -> None:
        """Of these hosts, those that fall asleep and those that wake up, from now on."""
        self.host_states.become(time, asleep, SWITCHING_OFF)
        self.host_states.become(time, awake, SWITCHING_ON)
        self.host_states.write(time)

    def switched(self, time: float, hosts: Sequence[int], *, asleep: bool, last: bool) -> None:
        """Hosts have arrived in their new power state; `last`: with them all that were asked for together."""
        self.host_states.become(time, hosts, SLEEPING if asleep else IDLE)
        if last:
            self.host_states.write(time)

    def consumed(self, time: float, joules: float, event: str, idle_watts: float) -> None:
        """What all hosts have consumed when a job starts (s) or ends (e) or power states change (p)."""
        passed = time - self._entry[0]
        power = f"{(joules - self._entry[1]) / passed:f}" if passed > 0 else "NA"
        self._consumed.write(f"{time:f},{joules:f},{event},{idle_watts:f},{power}\n")
        self._entry = (time, joules)
        if event == "e":
            self._last_joules = joules

    def first_submission(self, joules: float) -> None:
        if self._first_joules < 0:
            self._first_joules = joules

    def finish(self, time: float, *, simulation_seconds: float, scheduler_seconds: float) -> None:
        """It is over: `time` by the simulation's clock; by ours, how long it took, and how long the scheduler did."""
        if self._trace is not None:
            self._trace.finish(time)
        joules = self._last_joules - self._first_joules if self._energy else 0.0
        values = {
            **self.totals.values(),
            **{f"time_{state}": f"{self.host_states.spent[state]:f}" for state in STATES},
            "batsim_version": self._version,
            "consumed_joules": f"{joules:f}",
            "nb_computing_machines": f"{self._hosts}",
            "nb_grouped_switches": f"{self._grouped_switches}",
            "nb_machine_switches": f"{self._switches}",
            "scheduling_time": f"{scheduler_seconds:f}",
            "simulation_time": f"{simulation_seconds:f}",
        }
        names = sorted(values)
        self._open("schedule.csv").write(f"{','.join(names)}\n{','.join(values[name] for name in names)}\n")
        self.close()

    def close(self) -> None:
        """What was written is in the files."""
        self._files.close()

    def _open(self, name: str) -> TextIO:
        path = Path(f"{self._prefix}_{name}")
        try:
            return self._files.enter_context(path.open("w", encoding="utf-8", newline="\n", buffering=1 << 16))
        except OSError as error:
            hint = "the folder of the prefix has to exist"
            raise InputError(f"cannot be written: {error.strerror}", where=str(path), hint=hint) from None

"""What Batsim would write while a simulation goes on: its log, and its result files."""

from __future__ import annotations

from math import isinf
from time import perf_counter

from schedlab.bridge.batsim.listener import Listener
from schedlab.bridge.batsim.live import AT_WALLTIME, KILLED, REJECTED, Live
from schedlab.bridge.batsim.log import Log
from schedlab.bridge.batsim.outputs import JobRow, Outputs

TOGETHER = 1000  # starts and ends that are written at a time: between two messages that would be twice the work


class Recorder(Listener):
    """`write_down` has to be called in the end, however that is."""

    def __init__(self, outputs: Outputs, log: Log) -> None:
        self._outputs, self._log = outputs, log
        self._moves: list[tuple[float, Live, bool]] = []  # jobs that have started, or else ended, and when
        self._submitted = self._completed = 0
        self._asked = 0.0
        self.waited = 0.0  # seconds by our clock, for the scheduler
        self.time = 0.0  # of the simulation, when something last happened

    def sent(self, message: bytes) -> None:
        self.time = float(message[len('{"now":') : message.index(b",")])
        self._log.sending(self.time, message)
        self._asked = perf_counter()

    def received(self, message: bytes) -> None:
        self.waited += perf_counter() - self._asked
        self._log.received(self.time, message)

    def submitted(self, time: float, live: Live) -> None:
        self._submitted += 1
        if self._log.tells:
            self._log.info(time, "server", f"Job {live.id} SUBMITTED. {self._submitted} jobs submitted so far")

    def started(self, time: float, live: Live) -> None:
        self._moves.append((time, live, True))

    def ended(self, time: float, live: Live) -> None:
        self._completed += 1
        if self._log.tells:
            self._tell_end(time, live)
        self._moves.append((time, live, False))
        if len(self._moves) >= TOGETHER:
            self.write_down()

    def write_down(self) -> None:
        """Which jobs have started and ended since it was last done."""
        moves, self._moves = self._moves, []
        for time, live, starts in moves:
            if starts:
                self._outputs.started(time, live.id, live.hosts)
            else:
                self._write_end(time, live)

    def _write_end(self, time: float, live: Live) -> None:
        if live.hosts:
            self._outputs.stopped(time, live.id, live.hosts, killed=live.state in (AT_WALLTIME, KILLED))
        walltime = -1.0 if isinf(live.walltime) else live.walltime
        job = live.id.partition("!")[2]
        row = JobRow(live.workload, job, live.profile, live.subtime, live.res, walltime, live.state)
        if live.state != REJECTED:
            row.start, row.runtime, row.hosts = live.start, time - live.start, live.alloc
        row.metadata, row.joules = live.metadata, live.joules
        self._outputs.left(row)

    def power_asked(self, time: float, hosts: list[int], asleep: bool) -> None:
        self.write_down()
        self._outputs.switching(time, hosts, off=asleep)

    def switching(self, time: float, off: list[int], on: list[int]) -> None:
        self.write_down()
        self._outputs.on_the_way(time, off, on)

    def switched(self, time: float, host: int, asleep: bool) -> None:
        self.write_down()
        self._outputs.switched(time, [host], asleep=asleep, last=False)

    def in_state(self, time: float, hosts: list[int], state: int, switched: bool) -> None:
        self.write_down()
        self._outputs.in_pstate(time, hosts, state)
        if switched:
            self._outputs.host_states.write(time)

    def first_submission(self, joules: float) -> None:
        self.write_down()
        self._outputs.first_submission(joules)

    def consumed(self, time: float, joules: float, event: str, watts: float) -> None:
        self.write_down()
        self._outputs.consumed(time, joules, event, watts)

    def availability(self, time: float, hosts: list[int], available: bool) -> None:
        self.write_down()
        self._outputs.available(time, hosts, available)

    def _tell_end(self, time: float, live: Live) -> None:
        if live.state == REJECTED:
            self._log.info(time, "server", f"Job '{live.id}' has been rejected")
        else:
            done = f"Job {live.id} has COMPLETED. {self._completed} jobs completed so far"
            self._log.info(time, "server", done)

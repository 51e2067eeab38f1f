"""A slurmctld that runs beside us on a virtual clock: started, asked, told, and stopped."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from schedlab.model.stopping import how_it_ended, undisturbed
from schedlab.slurm.clock import Clock, ClockLost, environment
from schedlab.slurm.errors import SlurmError
from schedlab.slurm.install.programs import Programs
from schedlab.slurm.link import Link
from schedlab.slurm.nodes import Nodes
from schedlab.slurm.time import SECOND
from schedlab.slurm.wire import client, reports
from schedlab.slurm.wire.header import Incoming, message, parse
from schedlab.slurm.wire.job import job_description, submission
from schedlab.slurm.wire.node import batch_complete
from schedlab.slurm.wire.release import Release
from schedlab.slurm.words import is_of_the_place, last_words, reason_of, words_of
from schedlab.slurm.workplace import Workplace

TENTH = SECOND // 10
NODE_PORT, CONTROLLER_PORT = 6818, 6817  # files in the folder of sockets, not ports of the machine
_COALESCE = "100000:10"  # slurmctld's main loop sleeps a tenth of a second ten times: one second is as good
_STARTING = 600  # tenths of a second of its own time after which slurmctld should listen
_SETTLING = 3 * SECOND  # its own time from there until nodes register
_LONGEST_LIMIT = 100 * 365 * 86_400.0  # seconds
_AT_ONCE = 64  # nodes that register before the answers are read
_LAST = 5 * SECOND  # its own time for the last job to be written down
_ABSENT = (  # the slurmdbd that is not there, every second or two of simulated time: nearly all of its log
    "Sending PersistInit msg: ",
    "DBD_SEND_MULT_JOB_START failure: ",
    "slurm_persist_conn_open_without_init: failed to open persistent connection to host:",
)
_STATES = {"up": "resume", "down": "down"}  # of nodes, in Slurm's words; all others are drained


@dataclass(frozen=True, slots=True)
class Outline:
    """What a controller is made of; the settings, users and accounts are in its folder already."""

    programs: Programs
    release: Release
    conf: Path
    people: Path
    uids: Mapping[str, int]
    epoch: int  # its time when it starts
    tick: float = 0.0
    cpu: float = 0.0


class Controller:
    """slurmctld, its clock, and the nodes that it believes to have."""

    def __init__(self, place: Workplace, outline: Outline, nodes: Nodes) -> None:
        self._place, self._outline, self._release, self.nodes = place, outline, outline.release, nodes
        self.folder = place.folder
        self.users = {uid: name for name, uid in outline.uids.items()}
        self.accounting_file = place.log / "jobcomp.log"
        self.logs = (place.log / "slurmctld.log", place.log / "slurmctld.out")
        self._link = Link(place.sockets, NODE_PORT, CONTROLLER_PORT)
        self.clock = Clock(place.folder / "clock")
        self._output = self.logs[1].open("wb")
        self._disturbed = True  # whether something may have come to it since it was idle
        with undisturbed():
            self._process = self._started()
        try:
            self.clock.wait_for(self._process)
            self._come_up()
        except ClockLost:
            raise self._died() from None
        except BaseException:
            self._process.kill()
            self._process.wait()
            raise

    def _started(self) -> subprocess.Popen[bytes]:
        outline, place = self._outline, self._place
        variables = environment(
            clock=place.folder / "clock",
            sockets=place.sockets,
            people=outline.people,
            unwanted=_ABSENT,
            epoch=outline.epoch,
            coalesce=_COALESCE,
            tick=round(outline.tick * SECOND),
            cpu_factor=outline.cpu,
        )
        process = subprocess.Popen(
            ["slurmctld", "-D", "-f", str(outline.conf)],
            executable=outline.programs.slurmctld,
            env={**os.environ, **outline.programs.environment(), **variables, "TZ": "UTC"},
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            cwd=place.folder,
        )
        place.adopt(process.pid)
        return process

    def _come_up(self) -> None:
        """Until slurmctld listens and knows its nodes."""
        listening = self._place.sockets / str(CONTROLLER_PORT)
        for tenths in range(1, _STARTING + 1):
            self.run(self._outline.epoch * SECOND + tenths * TENTH)
            if listening.exists():
                break
        else:
            self._check_room()
            raise SlurmError(f"slurmctld does not listen after a minute: {last_words(self.logs)}")
        self.settle()
        self.run(self.clock.now + _SETTLING)
        for name in self.nodes.names():
            self._register(name)
            self.settle()

    # ---- time ----

    @property
    def process_id(self) -> int:
        return self._process.pid

    @property
    def unanswered(self) -> int:
        return self._link.unanswered

    def run(self, until: int) -> None:
        """Let it run until that time, or until it has something to say to its nodes."""
        try:
            self.clock.run(until)
            self._serve()
        except ClockLost:
            raise self._died() from None

    def settle(self) -> None:
        """Until slurmctld has nothing to do before its next timer, and all that it says is answered."""
        if not self._disturbed:
            return  # it has been so since we last looked
        try:
            self.clock.idle()
            self._serve()
        except ClockLost:
            raise self._died() from None

    def _serve(self) -> None:
        while True:
            asked = [(parse(self._release, data), connection) for connection, data in self._link.receive()]
            # One at a time and always in the same order: which thread was quicker must not matter.
            for incoming, connection in sorted(asked, key=lambda pair: (pair[0].name, pair[0].body)):
                self._link.answer(connection, self.nodes.answer(incoming))
                self.clock.idle()
            wanted = self.nodes.to_register[:_AT_ONCE]
            del self.nodes.to_register[:_AT_ONCE]
            for name in wanted:
                self._register(name)
                self.clock.idle()
            if self._link.partial:
                self.clock.idle()
            elif not asked and not wanted:
                self._disturbed = False
                return

    # ---- what it is told ----

    def submit(
        self,
        where: str,
        user: str,
        name: str,
        options: Mapping[str, str],
        limit: float | None,
        answered: Callable[[int, str], None],
    ) -> None:
        """Submit a job; `answered` gets Slurm's number of it, or why it was refused."""
        uid = self._outline.uids[user]
        fields = job_description(options, uid=uid, gid=uid, name=name, limit_minutes=_minutes(limit), where=where)

        def reply(data: bytes) -> None:
            found = client.submitted(self._release, self._parsed(data))
            if not found.job and is_of_the_place(found.error):
                words = words_of(self._outline.programs, found.error)
                raise SlurmError(f"slurmctld cannot take jobs any more: {words}; {self._place.described()}")
            words = "" if found.job else (found.message or words_of(self._outline.programs, found.error))
            answered(found.job, words)

        self._send("REQUEST_SUBMIT_BATCH_JOB", submission(self._release, fields), reply, uid)

    def complete(self, number: int, node: str) -> None:
        """The script of a job has ended on its first node."""
        body = batch_complete(self._release, job=number, uid=0, node=node)
        self._send("REQUEST_COMPLETE_BATCH_SCRIPT", body)

    def cancel(self, number: int, task: int | None = None) -> None:
        name = str(number) if task is None else f"{number}_{task}"
        self._send("REQUEST_KILL_JOB", client.kill_job(self._release, name))

    def set_node(self, name: str, state: str) -> None:
        """A node is up again, down, or closed for new jobs."""
        wanted = _STATES.get(state, "drain")
        (self.nodes.absent.discard if wanted == "resume" else self.nodes.absent.add)(name)
        body = client.update_nodes(self._release, name, wanted, reason="" if wanted == "resume" else state)
        self._send("REQUEST_UPDATE_NODE", body)
        if wanted == "resume":
            self._register(name)

    def _register(self, name: str) -> None:
        boot = self._outline.epoch
        self._link.send(self.nodes.registration(name, self.clock.now // SECOND, boot), _ignore)
        self._disturbed = True

    def _send(self, name: str, body: bytes, reply: Callable[[bytes], None] | None = None, uid: int = 0) -> None:
        self._check_room()
        self._link.send(message(self._release, name, body, uid=uid, gid=uid), reply or _ignore)
        self._disturbed = True

    def _parsed(self, data: bytes) -> Incoming:
        if not data:
            raise SlurmError(f"slurmctld has closed a connection without an answer: {last_words(self.logs)}")
        return parse(self._release, data)

    # ---- what it is asked ----

    def _ask(self, name: str, body: bytes) -> Incoming:
        """An answer for which no time passes."""
        found: list[bytes] = []
        self._send(name, body, found.append)
        self.settle()
        if not found:
            raise SlurmError(f"slurmctld does not answer to {name}")
        return self._parsed(found[0])

    def job(self, number: int) -> reports.JobInfo:
        found = reports.jobs(self._release, self._ask("REQUEST_JOB_INFO_SINGLE", client.ask_job(number)))
        return next((info for info in found if info.job == number), found[0])

    def jobs(self, since: int = 0) -> tuple[list[reports.JobInfo] | None, int]:
        """All jobs, and since when to ask for changes next; None instead of them if none has changed since."""
        answer = self._ask("REQUEST_JOB_INFO", client.ask_jobs(since))
        known_until = reports.time_of(self._release, answer)
        return (reports.jobs(self._release, answer), known_until) if known_until else (None, since)

    def reason(self, number: int) -> str:
        """Why a job waits."""
        return self.words(self.job(number))

    def words(self, info: reports.JobInfo) -> str:
        """Why it waits, as squeue shows it."""
        return info.reason_text or reason_of(self._outline.programs, info.reason)

    def counters(self) -> dict[str, int]:
        return reports.statistics(self._release, self._ask("REQUEST_STATS_INFO", client.ask_statistics()))

    def priorities(self) -> list[reports.JobPriority]:
        return reports.priorities(self._release, self._ask("REQUEST_PRIORITY_FACTORS", client.ask_priorities()))

    def shares(self) -> list[reports.Share]:
        return reports.shares(self._release, self._ask("REQUEST_SHARE_INFO", client.ask_shares()))

    # ---- the end ----

    def run_down(self) -> None:
        """Let it finish what it has been told, and write its books."""
        until = self.clock.now + _LAST
        while self.clock.now < until:
            self.run(until)

    def stop(self) -> None:
        """Stop it, and remove all that it had."""
        with undisturbed():
            self._process.kill()  # nothing of it is needed any more, and its clock stands still
            self._process.wait()
            self.clock.close()
            self._link.close()
            self._output.close()
            self._place.close()

    def _check_room(self) -> None:
        """A slurmctld that cannot write goes on, but its books and the scripts of its jobs are not whole."""
        if self._place.is_full():
            raise SlurmError(f"too little room is left for slurmctld: {self._place.described()}")

    def _died(self) -> SlurmError:
        code = self._process.wait()
        where = f"; {self._place.described()}" if self._place.is_full() else ""
        return SlurmError(f"slurmctld {how_it_ended(code)}: {last_words(self.logs)}{where}")


def _minutes(limit: float | None) -> int | None:
    """Slurm counts minutes, and says 0 for no limit at all; None leaves it to the partition."""
    if limit is None:
        return None
    return max(ceil(limit / 60), 1) if limit < _LONGEST_LIMIT else 0


def _ignore(data: bytes) -> None:
    """Answers that say nothing new."""

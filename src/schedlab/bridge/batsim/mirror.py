"""A simulator's world as the engine has it: so that any policy can decide in it, whoever simulates.

Jobs enter when the simulator submits them and end when it says so, never before: their limits are their walltimes, and
how long they run nobody knows. What the policy does becomes the events of a reply. A message is an instant.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from math import inf

import msgspec

from schedlab._core import Job, View
from schedlab.bridge.batsim import messages as say
from schedlab.bridge.batsim import told
from schedlab.bridge.batsim.errors import BatsimError
from schedlab.bridge.batsim.resources import hosts_text, parse_hosts
from schedlab.cluster.simgrid.hosts import Hosts, node_groups, split_host_name
from schedlab.engine.observer import Nodes, Observer
from schedlab.engine.scenario import Scenario
from schedlab.engine.simulate import Simulation
from schedlab.engine.writer import Discard
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError, SchedlabError
from schedlab.model.workload import Workload

USABLE = ("idle", "computing")  # states of hosts
LARGEST_NUMBER = 2**30  # of a user; those who have a name are numbered from there on
CLOSE = 1e-6  # seconds by which a call may come too early, and the begin too late


@dataclass(slots=True)
class Known:
    """A job of the simulator's that has not left."""

    id: str
    job: Job
    hosts: list[int] = field(default_factory=list)  # of a running one


class Mirror:
    """A policy and the world that it decides in, which is made of the first event, SIMULATION_BEGINS."""

    def __init__(self, policy: str, begins: told.Begins) -> None:
        if not begins.compute_resources:
            raise BatsimError("the simulator's machine has no hosts that compute")
        self._hosts = [resource.id for resource in begins.compute_resources]
        self._nodes = {host: node for node, host in enumerate(self._hosts)}
        self._moves = _Moves()
        scenario = Scenario(
            Workload.of(submit=[], runtime=[], count=[], name="jobs of a simulator"),
            _cluster(begins.compute_resources),
            policy,
            overrun="run",
            observers=[self._moves],
        )
        self._simulation = Simulation(scenario, writer=Discard())
        self._view: View = self._simulation.core.view
        self._time = 0.0
        self._fresh: list[int] = []  # jobs of this message, by the engine's ids
        self._waiting: dict[int, Known] = {}
        self._running: dict[int, Known] = {}
        self._ids: dict[str, int] = {}
        self._names: dict[str, int] = {}  # of users, groups and queues that are texts: their numbers
        self._calls: set[float] = set()  # that were asked for and have not come
        self._dying: dict[str, list[int]] = {}  # jobs that are being killed, and their hosts,
        self._vacating: set[int] = set()  # which are all of these
        self._deferred: list[Known] = []  # to be executed when theirs are free
        self._closed = [resource.id for resource in begins.compute_resources if resource.state not in USABLE]
        self._registers = begins.config.dynamic_jobs_enabled
        self.submitted = self.started = self.rejected = 0
        self._simulation.begin()
        self._decide = self._simulation.decider()

    def close(self) -> None:
        self._simulation.leave()

    def answer(self, message: told.Message) -> bytes:
        """What has happened happens here too, the policy is asked, and what it does is the reply."""
        core = self._simulation.core
        try:
            self._lead(message)
            self._hear(message.events)
            while self._simulation.advance():
                self._decide(self._view, core.events() if self._simulation.in_python else [])
        except SchedlabError:
            raise
        except Exception as error:
            explained = self._simulation.explained(error)
            if explained is None:
                raise
            raise explained from error
        now = say.time_text(message.now)
        return say.message(now, self._decisions(now))

    # ---- what happens ----

    def _lead(self, message: told.Message) -> None:
        """Second 0 may be told a moment late, and a call that was asked for a little early: durations are added up."""
        time = message.now if message.now > CLOSE else 0.0
        if self._calls and any(event.type == "REQUESTED_CALL" for event in message.events):
            due = [call for call in self._calls if call <= time + max(CLOSE, 1e-12 * time)]
            self._calls.difference_update(due)
            time = max([time, *due])
        self._time = max(time, self._time)
        self._simulation.core.lead(self._time)

    def _hear(self, events: list[told.Event]) -> None:
        """Ends, then submissions, then hosts: as the engine has it in one instant."""
        if self._closed:
            self._turn(self._closed, up=False)
            self._closed = []
        others = []
        for event in events:
            if event.type == "JOB_COMPLETED":
                self._completed(told.read_completed(event).job_id)
            elif event.type == "JOB_KILLED":
                for job in told.read_killed(event).job_ids:
                    self._vacated(job)
            else:
                others.append(event)
        for event in others:
            if event.type == "JOB_SUBMITTED":
                self._submit(*told.read_submitted(event))
            elif event.type == "NOTIFY":
                noted = told.read_noted(event)
                if noted.type in ("event_machine_available", "event_machine_unavailable"):
                    self._turn(_hosts(noted), up=noted.type == "event_machine_available")
            elif event.type == "SIMULATION_BEGINS" and self._ids:
                raise BatsimError("another simulation begins, and the one before has not ended")

    def _submit(self, name: str, job: told.JobDescription, description: msgspec.Raw) -> None:
        if name in self._ids:
            raise BatsimError(f"the simulator submits job '{name}' a second time")
        if job.res < 1:
            raise BatsimError(f"the simulator submits job '{name}' for {job.res} hosts, expected at least 1")
        limit = inf if job.walltime is None or job.walltime < 0 else job.walltime
        user = self._number(job.user_id if job.user is None else job.user)
        group = self._number(job.group_id if job.group is None else job.group)
        submit = self._view.submit
        if self._simulation.wants_attachments:
            submit = partial(submit, attachments=told.read_attachments(description))
        entered = submit(inf, job.res, None, limit, self._time, user, group, self._number(job.queue))
        self.submitted += 1
        number = self._ids[name] = entered.id
        self._waiting[number] = Known(name, entered)
        self._fresh.append(number)

    def _number(self, label: int | str | None) -> int:
        if label is None:
            return -1
        if isinstance(label, int) and 0 <= label < LARGEST_NUMBER:
            return label
        return LARGEST_NUMBER + self._names.setdefault(str(label), len(self._names))

    def _completed(self, name: str) -> None:
        self._vacated(name)
        number = self._ids.get(name)
        if number is None:  # the policy has killed it
            return
        if number not in self._running:
            raise BatsimError(f"the simulator says that job '{name}' has ended, and nobody has started it")
        known = self._running.pop(number)
        del self._ids[name]
        self._moves.expected.add(number)
        self._view.complete(known.job)

    def _vacated(self, name: str) -> None:
        self._vacating.difference_update(self._dying.pop(name, ()))

    def _turn(self, hosts: list[int], *, up: bool) -> None:
        for host in hosts:
            node = self._nodes.get(host)
            if node is None:  # a storage, or the master
                continue
            if up:
                self._view.open(node)
            else:
                self._view.close(node, "down")

    # ---- what the policy does ----

    def _decisions(self, now: bytes) -> list[bytes]:
        said = [say.notify(now, type="registration_finished")] if self._registers else []
        self._registers = False
        deferred, self._deferred = self._deferred, []
        for known in deferred:
            self._execute(now, known, said)
        for takes, job, nodes, state in self._moves.take():
            if takes:
                self._started(now, job, nodes, said)
            else:
                self._stopped(now, job, state, said)
        said += [say.event(now, b"REJECT_JOB", _one_job(name)) for name in self._rejected()]
        for call in self._simulation.core.take_wakes():
            if call > self._time and call not in self._calls:
                self._calls.add(call)
                said.append(say.event(now, b"CALL_ME_LATER", b'{"timestamp":%b}' % say.time_text(call)))
        return said

    def _started(self, now: bytes, job: Job, nodes: Nodes, said: list[bytes]) -> None:
        known = self._waiting.pop(job.id, None)
        if known is None:
            hint = "Batsim cannot be told of jobs that a policy submits"
            raise InputError(f"the policy has started job {job.id}, which is none of the simulator's", hint=hint)
        known.hosts = [self._hosts[node] for node, _ in nodes]
        self._running[job.id] = known
        self.started += 1
        self._execute(now, known, said)

    def _execute(self, now: bytes, known: Known, said: list[bytes]) -> None:
        """Where a job was killed, the next one waits until the simulator says that it is dead."""
        if self._vacating and not self._vacating.isdisjoint(known.hosts):
            self._deferred.append(known)
            return
        hosts = hosts_text(sorted(known.hosts)).encode()
        said.append(say.event(now, b"EXECUTE_JOB", b'{"job_id":%b,"alloc":"%b"}' % (say.text(known.id), hosts)))

    def _stopped(self, now: bytes, job: Job, state: str, said: list[bytes]) -> None:
        """The policy has taken a job off its nodes."""
        known = self._running.pop(job.id)
        if state != "gone":
            done = "suspended" if state == "suspended" else "put back into the queue"
            hint = "jobs of Batsim can be started, rejected and killed, nothing else"
            raise InputError(f"the policy has {done} job '{known.id}' of the simulator", hint=hint)
        del self._ids[known.id]
        if known in self._deferred:  # for the simulator it still waits
            self._deferred.remove(known)
            said.append(say.event(now, b"REJECT_JOB", _one_job(known.id)))
            return
        self._dying[known.id] = known.hosts
        self._vacating.update(known.hosts)
        said.append(say.event(now, b"KILL_JOB", b'{"job_ids":[%b]}' % say.text(known.id)))

    def _rejected(self) -> list[str]:
        """Jobs that have left and never ran: rejected or withdrawn by the policy, or larger than the machine."""
        suspects, self._fresh = self._fresh, []
        if self._simulation.in_python and len(self._waiting) > len(self._view.queue):
            suspects = list(self._waiting)
        names = []
        for number in suspects:
            if number in self._waiting and self._waiting[number].job.state == "gone":
                names.append(self._waiting.pop(number).id)
                del self._ids[names[-1]]
        self.rejected += len(names)
        return names


class _Moves(Observer):
    """Writes down which jobs the policy puts on nodes and takes off them."""

    name = "simulator"

    def __init__(self) -> None:
        self.expected: set[int] = set()  # jobs that the simulator takes off theirs
        self._moves: list[tuple[bool, Job, Nodes, str]] = []

    def started(self, view: View, job: Job, nodes: Nodes) -> None:
        self._moves.append((True, job, nodes, job.state))

    def stopped(self, view: View, job: Job, nodes: Nodes) -> None:
        if job.id in self.expected:
            self.expected.remove(job.id)
        else:
            self._moves.append((False, job, nodes, job.state))

    def take(self) -> list[tuple[bool, Job, Nodes, str]]:
        """(takes, job, nodes, state) since this was last asked."""
        moves, self._moves = self._moves, []
        return moves


def _one_job(name: str) -> bytes:
    return b'{"job_id":%b}' % say.text(name)


def _hosts(noted: told.Noted) -> list[int]:
    try:
        return parse_hosts(noted.resources)
    except ValueError as error:
        raise BatsimError(f"the simulator's {noted.type} has hosts that cannot be read: {error}") from None


def _cluster(resources: list[told.Resource]) -> Cluster:
    """A node of one core for each host: Batsim gives hosts as a whole."""
    hosts = []
    for resource in resources:
        prefix, digits, suffix = split_host_name(resource.name)
        hosts.append(Hosts(prefix, digits, suffix, 1, 1, 0.0, resource.properties, frozenset(), 0, "", 0))
    return Cluster(tuple(group for group, _ in node_groups(hosts, set())), name="simulator")

"""The real slurmctld as a decider: the engine owns jobs, nodes and time, Slurm says who starts where and when.

What happens to jobs and nodes is told to slurmctld one thing after the other; its timers are our wake-ups; the
launches that it sends to its nodes are starts, the terminations that nobody asked for are kills and requeues.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedlab._core import View
from schedlab.engine.decider import Event, Policy
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.states import NEVER_STARTED
from schedlab.model.workload import Workload
from schedlab.slurm.errors import SlurmError
from schedlab.slurm.time import SECOND

if TYPE_CHECKING:
    from schedlab.slurm.controller import Controller
    from schedlab.slurm.correspondence import Known
    from schedlab.slurm.nodes import Launch
    from schedlab.slurm.pending import Pending
    from schedlab.slurm.wire.held import Held

PATIENCE = 86_400.0  # seconds with an idle machine after which jobs that still wait are given up
LONGEST_LOOP = 300.0  # seconds; of slurmctld's loops: another phase of them is another run
LARGEST_ARGUMENT = 1e7
# Slurm's words for jobs that it has ended; who is queued again was preempted, for of nodes that fail we tell it.
_KILLED = {"TIMEOUT": "time limit", "DEADLINE": "time limit", "PREEMPTED": "preempted", "NODE_FAIL": "node failure"}
GOLDEN = (5**0.5 - 1) / 2


class RealSlurm(Policy):
    """slurmctld, unmodified, in simulated time.

    `conf` is the site's slurm.conf; `set` changes it ("SchedulerParameters+=bf_max_job_user=10"); `accounts` is a
    `sacctmgr dump` or a TOML file of accounts, `qos` a table of `sacctmgr show qos`. `phase` is the time in seconds
    between slurmctld being ready and second 0 of the workload: it shifts the phase of its loops. `evidence` is how
    often, in seconds, counters, priorities and shares are written down (0: never). Scheduling takes no simulated time,
    unless each look at the clock costs `tick` seconds, or the CPU time really used counts `cpu` times.
    """

    overrun = "run"  # Slurm kills at limits itself
    resumable = False
    knows_calendar = False
    knows_budget = False
    own_amounts = True

    def __init__(
        self,
        conf: str | Path,
        set: str | Sequence[str] = (),
        accounts: str | Path | None = None,
        qos: str | Path | None = None,
        phase: float = 30.0,
        evidence: float = 1800.0,
        tick: float = 0.0,
        cpu: float = 0.0,
    ) -> None:
        from schedlab.slurm.setup import Setup

        edits = (set,) if isinstance(set, str) else tuple(set)
        given = {"phase": phase, "evidence": evidence, "tick": tick, "cpu": cpu}
        self._phase, self._every, self._tick, self._cpu = (_number(name, value) for name, value in given.items())
        self._given: dict[str, Any] = {"conf": str(conf), "set": list(edits), "accounts": accounts, "qos": qos, **given}
        self.name = described(**self._given)
        self.setup = Setup.read(conf, edits, accounts, qos)
        self._controller: Controller | None = None
        self._refusals: dict[str, list[int]] = {}

    def repeat(self, number: int) -> None:
        """Every repetition has another phase of slurmctld's loops; the first one has the given one.

        They are spread evenly, however many there are: phases drawn at random may fall together.
        """
        self._phase = round(self._phase + round(number * GOLDEN % 1 * LONGEST_LOOP, 3), 9)  # nanoseconds

    def adapt(self, workload: Workload, cluster: Cluster) -> tuple[Workload, Cluster]:
        from schedlab.slurm.jobs import Speaker, accounted, with_lists
        from schedlab.slurm.settings.edit import edited

        if cluster.pool:
            hint = "give the slurm.conf as the cluster too"
            raise InputError("the real Slurm needs nodes, and this machine is a pool of cores", hint=hint)
        if workload.brings is not None:
            hint = "chained submits all of them at once, and Slurm lets them wait"
            raise InputError("tasks of workflows cannot come when they are ready here", where=self.name, hint=hint)
        if workload.workflows is not None and any(kind.whole for kind in workload.workflows.kinds):
            self.setup.settings = edited(self.setup.settings, ("PriorityFlags+=ACCRUE_ALWAYS",))
        self._speaker = Speaker(workload)
        self.setup.meet(self._speaker.names(), cluster, workload)
        machine = self.setup.cluster()
        self._resources = machine.resource_names
        return accounted(workload, machine, self._speaker.noted), with_lists(machine, workload)

    def open(self, view: View, next_event: Callable[[], float]) -> None:
        from schedlab.slurm.correspondence import Correspondence
        from schedlab.slurm.evidence import Evidence

        self._controller = self.setup.start(tick=self._tick, cpu=self._cpu)
        first = next_event()  # the first job comes when the phase is over; a log may begin anywhere
        begin = first if first < inf else 0.0
        self._zero = self._controller.clock.now + round((self._phase - begin) * SECOND)  # Slurm's time of second 0
        self._known = Correspondence(self._controller, self._speaker)
        self._evidence = Evidence(self._controller, self._known.job_of, self.setup.notes, self._every)
        self._pending: Pending | None = None
        if view.gives_reasons:
            from schedlab.slurm.pending import Pending

            self._pending = Pending(self._controller, self._known)
        self._nodes = {name: number for number, name in enumerate(view.cluster.names)}
        self._next_event = next_event
        self._launches: list[Launch] = []
        self._last_change = 0.0

    def decide(self, view: View, events: list[Event]) -> None:
        assert self._controller is not None
        controller, clock = self._controller, self._controller.clock
        now = self._zero + round(view.now * SECOND)
        self._known.hear(view, events)
        while True:
            controller.settle()
            if clock.now > now:
                break  # it has gone ahead of us: scheduling has cost time
            self._act(view)
            if clock.now < now or 0 <= clock.next <= now:
                controller.run(now)
            elif controller.unanswered or not self._known.news:
                break  # it has to think, or knows everything
            else:
                self._known.tell_next()
        if any(kind != "woken" for kind, _ in events):
            self._last_change = view.now
        if len(self._known):
            self._give_up_what_is_stuck(view)
            quiet = clock.now <= now and not controller.unanswered
            if quiet:
                self._evidence.take(view)
            if self._pending is not None:
                self._pending.look(view, changed=self._last_change == view.now, can_be_asked=quiet)
            self._go_ahead(view, now)

    def facts(self) -> dict[str, Any]:
        """With the phase of this very repetition, so that it can be made alone."""
        return {
            "policy": described(**{**self._given, "phase": self._phase}),
            "phase": self._phase,
            "program": self.setup.described(),
            "set": self._given["set"],
            "differences": self.setup.differences(),
        }

    def evidence(self) -> dict[str, bytes]:
        if self._controller is None:
            return {}
        with suppress(SlurmError):  # it may be dead, which has been said
            self._finish(self._controller)
        return self._evidence.files(self._zero)

    def _finish(self, controller: Controller) -> None:
        """All jobs have left: slurmctld hears of the last ones, and writes its books."""
        while self._known.news or controller.unanswered:
            if controller.unanswered:
                controller.run(max(controller.clock.next, controller.clock.now))
            else:
                self._known.tell_next()
                controller.settle()
        controller.run_down()

    @property
    def process_id(self) -> int:
        """Of slurmctld, while it runs."""
        assert self._controller is not None
        return self._controller.process_id

    def left_out(self) -> AbstractSet[str]:
        """Options of jobs that could not be passed on."""
        return self._speaker.left_out

    def refusals(self) -> dict[str, list[int]]:
        """The jobs that Slurm did not take, or never started, by what it says of them."""
        return self._refusals

    def refused(self) -> dict[str, list[str]]:
        """The same jobs as their log writes them."""
        return {words: [self._speaker.written(job) for job in jobs] for words, jobs in self._refusals.items()}

    def close(self) -> None:
        if self._controller is not None:
            self._controller.stop()
            self._controller = None

    def _go_ahead(self, view: View, now: int) -> None:
        """Let slurmctld run until it decides something or something else happens, and be woken then."""
        assert self._controller is not None
        controller, clock = self._controller, self._controller.clock
        sample = self._evidence.next if self._evidence.next > view.now else inf
        look = self._pending.next if self._pending is not None else inf
        patience = (self._last_change if self._is_patient(view) else view.now) + PATIENCE
        until = self._zero + round(min(self._next_event(), sample, look, patience) * SECOND)
        while clock.now < until and not controller.nodes.busy and not self._known.refused:
            if not controller.unanswered and self._known.news:
                break
            # An answer of slurmctld does not stop its clock, and what it is told next has to wait for it.
            step = max(clock.next, clock.now) if controller.unanswered and clock.next >= 0 else until
            controller.run(min(step, until))
        if clock.now > now:
            view.wake_at((clock.now - self._zero) / SECOND)

    # ---- what Slurm has decided ----

    def _act(self, view: View) -> None:
        assert self._controller is not None
        while self._known.refused:
            known, words = self._known.refused.pop()
            self._refuse(view, known, words)
        nodes = self._controller.nodes
        ends = sorted(nodes.take_ends())
        launched = {launch.number for launch in nodes.launches}
        for number in ends:
            if number not in launched:
                self._end(view, number)
        # Others have made room for these.
        self._launches = sorted([*self._launches, *nodes.take_launches()], key=lambda launch: launch.number)
        self._launches = [launch for launch in self._launches if not self._start(view, launch)]
        for number in ends:
            self._end(view, number)

    def _start(self, view: View, launch: Launch) -> bool:
        """False if Slurm's answer to the submission is still under way, so that nobody knows which job this is."""
        assert self._controller is not None
        known = self._known.find(launch.array, launch.task) if launch.array else self._known.find(launch.number, None)
        if known is None:
            return not self._controller.unanswered
        info = self._controller.job(launch.number)
        self._known.launched(known, launch.number, launch.nodes[0])
        held = {one.node: one for one in info.held}
        granted = [
            (number := self._nodes[name], self._amounts(view, number, cpus, held.get(name)))
            for name, cpus in zip(launch.nodes, launch.cpus, strict=True)
        ]
        started = view.start(known.job, granted, priority=info.priority, backfilled=info.backfilled)
        if not started:
            raise SlurmError(
                f"Slurm has started job {self._speaker.written(known.job.id)} on {launch.nodes}, but "
                f"{view.refusal or 'it does not fit there'}"
            )
        self._last_change = view.now
        return True

    def _amounts(self, view: View, node: int, cpus: int, held: Held | None) -> dict[str, int | list[int]]:
        """What Slurm gives on a node: CPUs, memory where it watches over it, generic resources and which of them.

        Cores are named where each is one CPU: with several threads two jobs may have the same.
        """
        amounts: dict[str, int | list[int]] = {"cores": cpus}
        if held is None:
            return amounts
        if len(held.cores) == cpus and held.core_count == view.cluster.total[node]:
            amounts["cores"] = list(held.cores)
        given = held.gres_amounts() | ({} if held.memory is None else {"memory": held.memory})
        for name in self._resources[1:]:
            if amount := given.get(name):
                most = int(view.cluster.total_of(self._resources.index(name))[node])
                devices = held.devices(name)
                amounts[name] = devices if len(devices) == amount else min(amount, most)
        return amounts

    def _end(self, view: View, number: int) -> None:
        """Slurm has ended a job that would have gone on: at its limit, for another one, or because of a node."""
        assert self._controller is not None
        known = self._known.stopped(number)
        if known is None:
            return
        self._last_change = view.now
        state = self._controller.job(number).state
        if state == "PENDING":
            view.requeue(known.job, reason="preempted")
        else:
            self._known.forget(known)
            view.kill(known.job, reason=_KILLED.get(state, ""))

    def _refuse(self, view: View, known: Known, words: str) -> None:
        self._evidence.refused(known.job.id, view.now, words)
        self._refusals.setdefault(words, []).append(known.job.id)
        self._known.forget(known)
        if known.job.state == "waiting":
            view.reject(known.job)

    def _is_patient(self, view: View) -> bool:
        return view.now < self._last_change + PATIENCE - 1e-6  # Slurm has whole nanoseconds

    def _give_up_what_is_stuck(self, view: View) -> None:
        """Nothing will happen, and nothing has happened for a day: what still waits will not start any more."""
        assert self._controller is not None
        if self._is_patient(view) or self._next_event() < inf:
            return
        for known in self._known.jobs():
            reason = self._controller.reason(known.number)
            self._controller.cancel(known.number, known.task)
            self._refuse(view, known, f"{NEVER_STARTED}: {reason}")


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LARGEST_ARGUMENT:
        hint = f"a number of seconds from 0 to {LARGEST_ARGUMENT:.0e}" if name != "cpu" else "a factor such as 1"
        raise InputError(f"slurm-real: {name} cannot be {value!r}", hint=hint)
    return float(value)


def described(**given: Any) -> str:
    """As one would write it in a policy: what is as usual is left out."""
    usual = {name: known.default for name, known in inspect.signature(RealSlurm).parameters.items()}
    said = {name: value for name, value in given.items() if value not in ([], None) and value != usual[name]}
    plain = {name: str(value) if isinstance(value, Path) else value for name, value in said.items()}
    return f"slurm-real({', '.join(f'{name}={value!r}' for name, value in plain.items())})"

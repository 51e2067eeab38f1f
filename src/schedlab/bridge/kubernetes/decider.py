"""The real kube-scheduler as a decider: the engine owns jobs, nodes and time, it says which pod goes where and when.

What happens to jobs and nodes is put into the API server's store; the scheduler hears of it one thing after the other,
and its bindings and deletions are starts and requeues. Its timers are our wake-ups.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from schedlab._core import View
from schedlab.bridge.kubernetes.accounting import accounted
from schedlab.bridge.kubernetes.clock import GoClock
from schedlab.bridge.kubernetes.errors import KubernetesError
from schedlab.bridge.kubernetes.exact import Exact
from schedlab.bridge.kubernetes.kinds import NODES, PODS
from schedlab.bridge.kubernetes.kubeconfig import write_kubeconfig
from schedlab.bridge.kubernetes.pods import PodMaker
from schedlab.bridge.kubernetes.process import SchedulerProcess
from schedlab.bridge.kubernetes.programs import WITHOUT_CHANCE, Program, find_program, program_at
from schedlab.bridge.kubernetes.settings import Settings, check_served, gates_text, knows_gangs, read_settings
from schedlab.bridge.kubernetes.world import World
from schedlab.engine.decider import Event, Policy
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.workload import Workload

SECOND = 1_000_000_000  # nanoseconds
EPOCH = 1_767_225_600  # second 0 of a workload that does not say when it was: 2026-01-01
STARTING = 60  # seconds of its own time that a scheduler has before the first job comes
PATIENCE = 3600  # seconds without any change after which pods that still wait are given up
LARGEST = 1e7
HISTORY = 2000  # changes of a kind: its watches never break off, so that it does not ask for what has been
SERVER, CONFIG, KUBECONFIG = "{server}", "{config}", "{kubeconfig}"  # in a command


class Kubernetes(Policy):
    """kube-scheduler, its sources unchanged, in exact simulated time.

    `config` is its configuration, or several, for as many schedulers; `scheduler` the program, if it is not the one
    that `schedlab kube doctor` has built. `command` starts another one, with {server}, {kubeconfig} or {config} in it
    and KUBECONFIG in its environment; `serves` are the names by which pods ask for it. `gates` are feature gates.
    Deciding takes no simulated time, unless each look at the clock costs `tick` seconds, or
    the CPU time really used counts `cpu` times; a binding takes effect after `latency` seconds. `seed` is that of the
    scheduler's random numbers. `skip`: while no pod waits, its timers are passed over; those of a `command` are not,
    unless that is asked for.
    """

    resumable = False
    knows_calendar = False
    knows_budget = False
    overrun = "run"  # pods have no limit, unless they say one

    def __init__(
        self,
        config: str | Sequence[str] = (),
        scheduler: str | None = None,
        command: str = "",
        serves: str | Sequence[str] = (),
        gates: str = "",
        tick: float = 0.0,
        cpu: float = 0.0,
        latency: float = 0.0,
        seed: int = 1,
        skip: bool | None = None,
    ) -> None:
        given = {"tick": tick, "cpu": cpu, "latency": latency}
        self._tick, self._cpu, self._latency = (_number(name, value) for name, value in given.items())
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**62:
            raise InputError(f"kubernetes: seed cannot be {seed!r}", hint="a whole number from 0 on")
        self._seed = seed
        self._gates = gates_text(gates)
        self._words = shlex.split(command)
        self._skip = not self._words if skip is None else bool(skip)
        self.settings = self._read(config, serves)
        self.program = self._found(scheduler)
        self._exact: Exact | None = None
        self._used: list[dict[str, Any]] = []
        self._logs: dict[str, bytes] = {}

    def _read(self, config: str | Sequence[str], serves: str | Sequence[str]) -> list[Settings]:
        paths = [config] if isinstance(config, str) else list(config)
        names = serves.split(",") if isinstance(serves, str) and serves else list(serves)
        if names and (paths or not self._words):
            hint = "the profiles of a configuration say which pods its scheduler serves"
            raise InputError("kubernetes: serves is for a command without config", hint=hint)
        return [read_settings(Path(path)) for path in paths] or [Settings.of_names(names)]

    def _found(self, scheduler: str | None) -> Program:
        if self._words and scheduler:
            raise InputError("kubernetes: both scheduler and command are given", hint="leave out one of them")
        return program_at(Path(self._words[0])) if self._words else find_program(scheduler)

    def repeat(self, number: int) -> None:
        self._seed += number

    def adapt(self, workload: Workload, cluster: Cluster) -> tuple[Workload, Cluster]:
        self._nodes = cluster
        self._zero = round((EPOCH if workload.origin is None else workload.origin.timestamp()) * SECOND)
        workload, machine = accounted(workload, cluster)
        self._maker = PodMaker(workload)
        check_served(sorted(self._maker.schedulers()), self.settings)
        return workload, machine

    def open(self, view: View, next_event: Callable[[], float]) -> None:
        self._next_event = next_event
        first = next_event()
        begin = self._zero + round((first if first < inf else 0.0) * SECOND)
        self._folder = TemporaryDirectory(prefix="schedlab-kube-")
        self.world = World(self._maker, self._nodes, self._clock, gangs=knows_gangs(self._gates), history=HISTORY)
        self._exact = Exact(
            self.world.api, begin - STARTING * SECOND, cpu=self._cpu, latency=round(self._latency * SECOND)
        )
        self._changed = 0.0
        try:
            for number, settings in enumerate(self.settings):
                self._start(self._exact, number, settings)
            self._come_up(self._exact, begin)
        except BaseException:
            self.close()
            raise

    def decide(self, view: View, events: list[Event]) -> None:
        self._decide(view, events)
        self.world.wake(view)

    def _decide(self, view: View, events: list[Event]) -> None:
        exact, world = self._running, self.world
        if any(kind != "completed" for kind, _ in events):  # ends can be told while it still hears of others
            exact.catch_up()
        world.hear(view, events)
        if any(kind != "woken" for kind, _ in events):
            self._changed = view.now
        if world.decided:  # it is for this that we were woken
            world.act(view)
            self._changed = view.now
        if self._nobody_waits():
            exact.hurry()
            if world.empty:  # perhaps this is the end: what it still asks is answered
                exact.catch_up()
            return
        exact.advance(self._nanoseconds(view.now), until=self._nobody_waits)
        while self._seconds(exact.now) <= view.now:  # if not, deciding has cost time
            if world.impossible:
                raise KubernetesError(f"the scheduler wanted what cannot be: {world.impossible[0]}")
            if not world.decided:
                break
            world.act(view)
            self._changed = view.now
            if self._nobody_waits():
                exact.hurry()
                return
            exact.settle(until=self._nobody_waits)
        self._go_ahead(view)

    def _nobody_waits(self) -> bool:
        """Whether all pods have a node, so that there is nothing to decide."""
        return self._skip and not self.world.pending

    def close(self) -> None:
        if self._exact is not None:
            self._exact.close()
            self._used, self._logs = self._told(self._exact), self._written(self._exact)
            self._exact = None
            self._folder.cleanup()

    def evidence(self) -> dict[str, bytes]:
        return self._logs if self._exact is None else self._written(self._exact)

    def refusals(self) -> dict[str, list[int]]:
        return self.world.given_up

    def facts(self) -> dict[str, Any]:
        return {
            "mode": "exact",
            "program": self.program.version or self.program.path.name,
            "schedulers": self._used if self._exact is None else self._told(self._exact),
            "seed": self._seed,
            "conflicts": self.world.conflicts,
            "differences": self.differences(),
        }

    def differences(self) -> list[str]:
        """What is not as the configurations say."""
        told = [difference for one in self.settings for difference in one.differences()]
        release = self.program.release
        if release is not None and release < WITHOUT_CHANCE and not self._words:
            told.append(
                f"{self.program.version} chooses among equally good nodes at random: here with seed {self._seed}"
            )
        return told

    # Starting.

    def _start(self, exact: Exact, number: int, settings: Settings) -> None:
        folder = Path(self._folder.name)
        name = settings.scheduler_names()[0]
        clock = GoClock(exact.now, round(self._tick * SECOND), self._seed)
        scheduler = SchedulerProcess(name, folder, clock, exact.poll, exact.handlers)
        kubeconfig, config = folder / f"kubeconfig-{number}", folder / f"config-{number}.yaml"
        write_kubeconfig(kubeconfig, "127.0.0.1", scheduler.link.port)
        config.write_text(settings.text(kubeconfig), encoding="utf-8")
        exact.add(scheduler)
        places = {SERVER: f"http://127.0.0.1:{scheduler.link.port}", CONFIG: str(config), KUBECONFIG: str(kubeconfig)}
        scheduler.start(self._command(places), {"KUBECONFIG": str(kubeconfig)}, folder)

    def _command(self, places: dict[str, str]) -> list[str]:
        usual = ["--config", CONFIG, "--secure-port=0", f"--feature-gates={self._gates}"]
        words = self._words or [str(self.program.path), *usual]
        for name, value in places.items():
            words = [word.replace(name, value) for word in words]
        return words

    def _come_up(self, exact: Exact, begin: int) -> None:
        """Until it is `begin`; by then every scheduler has to watch pods."""
        exact.settle()
        while (due := exact.next) is not None and due < begin:
            exact.advance(due)
        exact.advance(begin)
        for scheduler in exact.schedulers:
            kinds = {watch.kind for watch in exact.watches_of(scheduler)}
            if PODS not in kinds:
                missing = "pods" if NODES in kinds else "pods or nodes"
                raise KubernetesError(
                    f"the scheduler {scheduler.name} does not watch {missing} {STARTING} s after its start; "
                    f"{scheduler.last_words()}"
                )

    # Time.

    @property
    def _running(self) -> Exact:
        assert self._exact is not None
        return self._exact

    def _clock(self) -> float:
        """Seconds since 1970, for dates of objects."""
        return (self._zero - STARTING * SECOND if self._exact is None else self._exact.now) / SECOND

    def _nanoseconds(self, time: float) -> int:
        return self._zero + round(time * SECOND)

    def _seconds(self, time: int) -> float:
        return (time - self._zero) / SECOND

    def _go_ahead(self, view: View) -> None:
        """Let the scheduler's timers fire until it decides something or something else happens."""
        exact, world = self._running, self.world
        if world.pending or not self._skip:
            upcoming = self._next_event()
            until = self._nanoseconds(min(upcoming, self._changed + PATIENCE))
            while not world.decided and (due := exact.next) is not None and due < until:
                exact.advance(due)
            if not world.decided and upcoming == inf:
                world.give_up(view)
        if world.decided:
            view.wake_at(max(self._seconds(exact.now), view.now))

    # What is told at the end.

    def _told(self, exact: Exact) -> list[dict[str, Any]]:
        return [
            {
                "names": settings.scheduler_names(),
                "config": settings.where,
                "cpu_seconds": round(scheduler.cpu_seconds(), 3),
                "peak_memory": scheduler.peak_memory(),
                "requests": scheduler.link.requests,
            }
            for settings, scheduler in zip(self.settings, exact.schedulers, strict=False)
        ]

    def _written(self, exact: Exact) -> dict[str, bytes]:
        return {one.log.name: one.log.read_bytes() for one in exact.schedulers if one.log.is_file()}


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LARGEST:
        hint = f"a number of seconds from 0 to {LARGEST:.0e}" if name != "cpu" else "a factor such as 1"
        raise InputError(f"kubernetes: {name} cannot be {value!r}", hint=hint)
    return float(value)

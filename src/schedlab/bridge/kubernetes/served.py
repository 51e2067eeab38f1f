"""Any scheduler that speaks the Kubernetes API, as it is, on its own clock.

Two ways to bring its time and the simulation's together. By default (*oracle mode*) the simulation goes on when nothing
was heard for a quiet window: a scheduler that thinks longer than that is overtaken by events, so the schedule is an
approximation, and how far it depends on the window has to be looked at. With a `pace` the simulation's time passes as
the clock on the wall does, so many times as fast.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable, Coroutine, Sequence
from math import inf
from pathlib import Path
from typing import Any, TypeVar

from schedlab._core import View
from schedlab.bridge.kubernetes.accounting import accounted
from schedlab.bridge.kubernetes.command import Command
from schedlab.bridge.kubernetes.errors import KubernetesError
from schedlab.bridge.kubernetes.kinds import NODES, PODS
from schedlab.bridge.kubernetes.kubeconfig import address, write_kubeconfig
from schedlab.bridge.kubernetes.pods import PodMaker, PodSettings
from schedlab.bridge.kubernetes.store import QUOTA
from schedlab.bridge.kubernetes.transport import Server, new_loop
from schedlab.bridge.kubernetes.world import World
from schedlab.engine.decider import Event, Policy
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.workload import Workload

EPOCH = 1_767_225_600.0  # second 0 of a workload that does not say when it was: 2026-01-01
QUIET = 0.05  # seconds
PATIENCE = 30.0  # seconds in which a scheduler has to say something about pods, if nothing else will happen
READY = 1.0  # seconds without a request after which a scheduler has read everything
LOOPBACK = "127.0.0.1"

T = TypeVar("T")


class Served(Policy):
    """The cluster as an API server. `command` starts a scheduler; without one, whoever connects decides.

    `quiet` is the window in seconds. `pace`, if it is not 0: so many simulated seconds pass in a real one. `patience`
    is how long, in real seconds, pods may wait that nothing else can help; then they are given up. `announce` is called
    with the path of the kubeconfig when the server listens. `names`: further ones by which clients call this machine.
    """

    name = "kubernetes-served"
    resumable = False
    knows_calendar = False
    knows_budget = False
    overrun = "run"  # pods have no limit, unless they say one

    def __init__(
        self,
        quiet: float = QUIET,
        command: Sequence[str] = (),
        *,
        pace: float = 0.0,
        patience: float = PATIENCE,
        host: str = LOOPBACK,
        port: int = 0,
        names: Sequence[str] = (),
        kubeconfig: Path | None = None,
        settings: PodSettings | None = None,
        announce: Callable[[Path], None] | None = None,
    ) -> None:
        for name, value in (("quiet", quiet), ("pace", pace), ("patience", patience)):
            if not 0 <= value < inf:
                raise InputError(f"{name} cannot be {value!r}", hint="a number of seconds, at least 0")
        self._quiet, self._pace, self._patience = quiet, pace, patience
        self._words, self._host, self._port, self._names = tuple(command), host, port, tuple(names)
        self._kubeconfig, self._settings, self._announce = kubeconfig, settings, announce
        self._loop: asyncio.AbstractEventLoop | None = None
        self._command: Command | None = None
        self._now = 0.0  # simulated
        self._began = 0.0  # real time of second 0, with a pace
        self._used: dict[str, float] = {}
        self._log = b""
        self._server: Server | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def adapt(self, workload: Workload, cluster: Cluster) -> tuple[Workload, Cluster]:
        self._nodes = cluster
        self._origin = workload.origin.timestamp() if workload.origin is not None else EPOCH
        workload, machine = accounted(workload, cluster)
        self._maker = PodMaker(workload, self._settings)
        return workload, machine

    def open(self, view: View, next_event: Callable[[], float]) -> None:
        self._next_event = next_event
        self._loop = new_loop()
        self.world = World(self._maker, self._nodes, self._clock, shows_running=True, quota=QUOTA)
        self._server = Server(self.world.api, names=self._names)
        self._folder = tempfile.TemporaryDirectory(prefix="schedlab-kube-")
        port = self._do(self._server.start(self._host, self._port))
        path = self._kubeconfig or Path(self._folder.name) / "kubeconfig"
        write_kubeconfig(path, self._host, port)
        if self._announce is not None:
            self._announce(path)
        if self._words:
            log = Path(self._folder.name) / "scheduler.log"
            self._command = Command(self._words, path, address(self._host, port), log)
        self._do(self._scheduler_is_there())
        self._began = time.monotonic()

    def decide(self, view: View, events: list[Event]) -> None:
        self._now = view.now
        self.world.hear(view, events)
        self._do(self._at_pace(view) if self._pace else self._until_quiet(view))
        self.world.wake(view)

    def close(self) -> None:
        if self._loop is None:
            return
        if self._command is not None:
            self._used, self._log = self._command.used(), self._command.log()
            self._command.stop()
            self._command = None
        if self._server is not None:
            self._do(self._server.stop())
        self._loop.close()
        self._loop = None
        if self._folder is not None:
            self._folder.cleanup()

    def refusals(self) -> dict[str, list[int]]:
        return self.world.given_up

    def evidence(self) -> dict[str, bytes]:
        log = self._log if self._command is None else self._command.log()
        return {"scheduler.log": log} if log else {}

    def facts(self) -> dict[str, Any]:
        used = self._used if self._command is None else self._command.used()
        how = f"{self._pace:g} simulated seconds in a second" if self._pace else f"{self._quiet:g} s without a request"
        return {
            "mode": "in real time" if self._pace else "oracle: approximate",
            "time": how,
            "quiet": self._quiet,
            "pace": self._pace,
            "requests": 0 if self._server is None else self._server.requests,
            "conflicts": self.world.conflicts,
            **used,
        }

    # Time.

    def _clock(self) -> float:
        return self._origin + self._simulated()

    def _simulated(self) -> float:
        if not self._pace or self._loop is None or not self._began:
            return self._now
        return max(self._now, (time.monotonic() - self._began) * self._pace)

    def _do(self, what: Coroutine[Any, Any, T]) -> T:
        """The server answers while this is waited for, and at no other time: everything happens in one thread."""
        assert self._loop is not None
        return self._loop.run_until_complete(what)

    async def _scheduler_is_there(self) -> None:
        """Somebody watches pods and nodes, and has asked for nothing more for a while."""
        assert self._loop is not None and self._server is not None
        began = time.monotonic()
        watched = [self.world.store.collection(kind).watches for kind in (PODS, NODES)]
        while not all(watched) or time.monotonic() - self._server.heard < READY:
            self._check()
            if self._words and not all(watched) and time.monotonic() - began > self._patience:
                said = self._command.last_words() if self._command is not None else ""
                raise KubernetesError(f"the scheduler has not asked for pods in {self._patience:g} s; {said}")
            await asyncio.sleep(0.02)

    async def _until_quiet(self, view: View) -> None:
        assert self._loop is not None and self._server is not None
        world = self.world
        if not world.pending and not world.decided:
            return  # nobody waits: there is nothing to decide
        told = time.monotonic()
        while True:
            await asyncio.sleep(min(self._quiet, 0.005))
            self._check()
            if world.decided:
                world.act(view)
                told = time.monotonic()
            quiet_for = time.monotonic() - max(told, self._server.heard)
            if quiet_for < self._quiet or not world.pending:
                if not world.pending and not world.decided:
                    return
                continue
            if self._next_event() < inf:
                return
            # Nothing else will ever happen: it is waiting for a timer of its own, or for nothing.
            if quiet_for > self._patience:
                self.world.give_up(view)
                return

    async def _at_pace(self, view: View) -> None:
        """Until the next thing happens; what is decided before happens when it is decided."""
        assert self._loop is not None and self._server is not None
        world = self.world
        due = time.monotonic()
        world.act(view)  # what we have been woken for
        while True:
            if world.decided:
                view.wake_at(max(self._simulated(), view.now))
                return
            upcoming = self._next_event()
            if upcoming <= self._simulated() or (upcoming == inf and not world.pending):
                return
            self._check()
            if upcoming == inf and time.monotonic() - max(due, self._server.heard) > self._patience:
                self.world.give_up(view)
                return
            await asyncio.sleep(0.005)

    def _check(self) -> None:
        if self._command is not None:
            self._command.check()
        if self.world.impossible:
            raise KubernetesError(f"a scheduler wanted what cannot be: {self.world.impossible[0]}")

"""Idle nodes sleep: switched off after a while without jobs, booted when jobs wait for them."""

from __future__ import annotations

from heapq import heappop, heappush

from schedlab._core import Job, View
from schedlab.engine.observer import Nodes, Observer
from schedlab.model.arguments import check_arguments
from schedlab.model.errors import InputError
from schedlab.model.workload import LONGEST


class Sleep(Observer):
    """Nodes idle for `after` seconds are switched off, `keep` of them excepted; booting takes `boot` seconds.

    Nothing is switched off while jobs wait. Whenever the first waiting job needs more cores than are free or booting,
    as many nodes as it needs are booted, those with the lowest numbers first.
    """

    name = "sleep"

    def __init__(self, after: float = 600.0, boot: float = 120.0, keep: int = 0) -> None:
        check_arguments("float", after=after, boot=boot)
        check_arguments("int", keep=keep)
        if not 0 < after <= LONGEST or not 0 < boot <= LONGEST or not keep >= 0:
            hint = f"after={after:g}, boot={boot:g}, keep={keep}; times are at most {LONGEST:g} s"
            raise InputError("sleep: after and boot have to be above 0, keep 0 or more", hint=hint)
        self._wait, self._boot, self._keep = after, boot, keep

    def begin(self, view: View) -> None:
        self._jobs = [0] * view.cluster.nodes
        self._idle: dict[int, float] = {}  # node: since when
        self._due: list[tuple[float, int]] = []  # (time, node): it may sleep then, if it is still idle
        self._booting: dict[int, float] = {}  # node: when it is there
        self._off: set[int] = set()
        self._boots = 0
        self._first = True

    def before(self, view: View) -> None:
        if self._first:
            self._first = False
            for node in range(view.cluster.nodes):
                self._has_become_idle(view, node)
        for node in [node for node, ready in self._booting.items() if ready <= view.now]:
            del self._booting[node]
            view.open(node)

    def started(self, view: View, job: Job, nodes: Nodes) -> None:
        for node, _ in nodes:
            self._jobs[node] += 1
            self._idle.pop(node, None)

    def stopped(self, view: View, job: Job, nodes: Nodes) -> None:
        for node, _ in nodes:
            self._jobs[node] -= 1
            if self._jobs[node] == 0:
                self._has_become_idle(view, node)

    def node_changed(self, view: View, node: int, state: str) -> None:
        if state != "up":
            self._idle.pop(node, None)
        elif self._jobs[node] == 0:
            self._has_become_idle(view, node)

    def after(self, view: View) -> None:
        self._boot_for_the_first(view)
        while self._due and self._due[0][0] <= view.now:
            _, node = heappop(self._due)
            since = self._idle.get(node)
            if since is None or since + self._wait > view.now or len(self._idle) <= self._keep:
                continue
            if len(view.queue) > 0:  # somebody may be about to use it
                self._has_become_idle(view, node)
                continue
            del self._idle[node]
            self._off.add(node)
            view.close(node, "off")

    def finish(self, view: View) -> dict[str, float]:
        return {"boots": self._boots}

    def _has_become_idle(self, view: View, node: int) -> None:
        self._idle[node] = view.now
        heappush(self._due, (view.now + self._wait, node))
        view.wake_at(view.now + self._wait)

    def _coming(self, view: View) -> int:
        return int(sum(view.cluster.total[node] for node in self._booting))

    def _boot_for_the_first(self, view: View) -> None:
        head = view.queue.head
        if head is None or not self._off:
            return
        missing = head.cores - view.free_cores - self._coming(view)
        for node in sorted(self._off):
            if missing <= 0:
                break
            missing -= int(view.cluster.total[node])
            self._off.remove(node)
            self._booting[node] = view.now + self._boot
            self._boots += 1
            view.close(node, "booting")
            view.wake_at(view.now + self._boot)

"""Engine and API server side by side: jobs are pods, nodes are nodes, and what schedulers decide are decisions.

What the engine tells is put into the store (`hear`); what schedulers did to pods waits until the engine can take it
(`act`). Neither knows of time or sockets: whoever drives a scheduler, in exact or in real time, calls both.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from schedlab._core import DecisionError, Job, View
from schedlab.bridge.kubernetes.api import Api, Listener
from schedlab.bridge.kubernetes.errors import KubernetesError
from schedlab.bridge.kubernetes.kinds import NODES, PODS, WORKLOADS
from schedlab.bridge.kubernetes.lifecycle import finish
from schedlab.bridge.kubernetes.messages import Request
from schedlab.bridge.kubernetes.nodes import node_objects, ready
from schedlab.bridge.kubernetes.pods import CONTAINER, IMAGE, PodMaker, container_status, gang_of, lived, pods_of
from schedlab.bridge.kubernetes.selectors import Object
from schedlab.bridge.kubernetes.status import StatusError
from schedlab.bridge.kubernetes.store import HISTORY, Store
from schedlab.bridge.kubernetes.taints import TAINTS
from schedlab.engine.decider import Event
from schedlab.model.cluster import Cluster
from schedlab.model.states import NEVER_STARTED, PREEMPTED

CONFLICT = 409
MOST_RETURNS = 100  # of a job, in one moment
KEPT_PODS = 1000  # that have ended; older ones are taken out of the store
_CORDONED = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
_LOST = [{"key": "node.kubernetes.io/not-ready", "effect": effect} for effect in ("NoSchedule", "NoExecute")]


@dataclass(slots=True)
class Known:
    """A job whose pods are in the store."""

    job: Job
    attempt: int = 1
    chunks: dict[str, int] = field(default_factory=dict)  # of each pod, by its name
    nodes: dict[str, int] = field(default_factory=dict)  # of pods that have one: its number
    runs: bool = False
    came: float = 0.0  # when it was submitted
    returned: int = 0  # how often at this very time

    @property
    def whole(self) -> bool:
        return len(self.nodes) == len(self.chunks)


class World(Listener):
    """One simulated cluster. `clock` says its time in seconds since 1970.

    `shows_running`: pods tell when they run, which schedulers do not look at and people do. `gangs`: those of a job of
    several pods refer to a Workload, for schedulers that know gangs. `history` is how many changes of a kind can be
    asked for again, `quota` what clients may store. `pending` is how many pods have no node; `conflicts` counts
    bindings that came too late, `impossible` has those that could never be; `given_up` are the ids of jobs that never
    started, by the reason.
    """

    own = frozenset({NODES})

    def __init__(
        self,
        maker: PodMaker,
        cluster: Cluster,
        clock: Callable[[], float],
        *,
        shows_running: bool = False,
        gangs: bool = False,
        history: int = HISTORY,
        quota: int | None = None,
    ) -> None:
        self._maker, self._shows_running, self._gangs = maker, shows_running, gangs
        self.store = Store(clock, history, quota)
        self.api = Api(self.store, self)
        nodes = node_objects(cluster, self.store.timestamp())
        self._node_names = [node["metadata"]["name"] for node in nodes]
        self._numbers = {name: number for number, name in enumerate(self._node_names)}
        for node in nodes:
            self.store.create(NODES, node)
        self._jobs: dict[int, Known] = {}  # by their place in the workload
        self._owners: dict[str, Known] = {}  # by the names of their pods
        self._todo: deque[tuple[str, Known, str]] = deque()  # what happened, to whom, to which pod
        self._ended: deque[str] = deque()
        self._tainted: dict[int, list[Object]] = {}  # by observers: of each node, by its number
        self._now = 0.0  # simulated
        self._driven: list[float] = []  # when pods are to be driven away
        self.api.evictions.clock = lambda: self._now
        self.api.evictions.wake = self._driven.append
        self.api.evictions.ours = frozenset({_LOST[0]["key"]})  # the engine says what becomes of jobs on lost nodes
        self.pending = 0
        self.conflicts = 0
        self.impossible: list[str] = []
        self.given_up: dict[str, list[int]] = {}

    @property
    def decided(self) -> bool:
        """Whether there is something to `act` on."""
        return bool(self._todo)

    @property
    def empty(self) -> bool:
        """Whether there are no jobs."""
        return not self._jobs

    def jobs(self) -> list[Known]:
        return list(self._jobs.values())

    def give_up(self, view: View) -> None:
        """Nothing will happen any more: jobs that have no nodes leave, and what a scheduler said of them is why."""
        for known in self.jobs():
            if not known.runs:
                self.given_up.setdefault(f"{NEVER_STARTED}: {self._why(known)}", []).append(known.job.id)
                view.reject(known.job)
                self._leave(known.job.sequence, "")

    def _why(self, known: Known) -> str:
        for name in known.chunks:
            pod = self.store.find(PODS, self._maker.settings.namespace, name) or {}
            for condition in (pod.get("status") or {}).get("conditions") or []:
                if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
                    return str(condition.get("message") or condition.get("reason") or "no reason is told")
        wanted = self._maker.pods(known.job.sequence)[0]["spec"]["schedulerName"]
        return f"no scheduler said anything of it; is there one that serves {wanted!r}?"

    # From the engine to the store.

    def hear(self, view: View, events: Sequence[Event]) -> None:
        """Nodes come first, then ends, then submissions: what is freed is free for whoever comes."""
        self._now = view.now
        self.api.evictions.drive()
        told: dict[str, list[Any]] = {}
        for kind, what in events:
            told.setdefault(kind, []).append(what)
        for number in dict.fromkeys(node for kind in ("closed", "opened") for node in told.get(kind, ())):
            self.set_node(number, view.cluster.state(number))
        for number, taints in view.data.get(TAINTS, {}).items():
            if taints != self._tainted.get(number, []):
                self._taint(number, taints)
        for job in told.get("completed", ()):
            self._leave(job.sequence, "Succeeded")
        for job in (*told.get("cancelled", ()), *told.get("held", ())):
            self._leave(job.sequence, "")
        for job in told.get("requeued", ()):
            self._again(self._jobs[job.sequence])
        for job in told.get("submitted", ()):
            if job.sequence not in self._jobs:
                self._submit(Known(job))

    def wake(self, view: View) -> None:
        """Let us look when the next pod has stood the taints of its node for as long as it tolerates them."""
        if self._driven:
            view.wake_at(min(self._driven))
            self._driven.clear()

    def _submit(self, known: Known) -> None:
        self._jobs[known.job.sequence] = known
        job = self._maker.job(known.job.sequence)
        left = job.count
        pods = pods_of(job, self._maker.settings)
        if known.attempt > 1:  # a pod that has gone never comes back: its job has another one
            for pod in pods:
                pod["metadata"]["name"] += f"-r{known.attempt}"
        if self._gangs and len(pods) > 1:
            self.store.create(WORKLOADS, gang_of(pods))
        for pod in pods:
            name = pod["metadata"]["name"]
            known.chunks[name] = min(job.together, left)
            left -= known.chunks[name]
            self._owners[name] = known
            self.pending += 1
            self.store.create(PODS, pod)

    def _leave(self, sequence: int, phase: str) -> None:
        """Its pods end, or are taken away."""
        known = self._jobs.pop(sequence, None)
        if known is None:
            return
        if self._gangs and len(known.chunks) > 1:
            self.store.delete(WORKLOADS, self._maker.settings.namespace, next(iter(known.chunks)))
        for name in known.chunks:
            self._forget(known, name)
            found = self.store.find(PODS, self._maker.settings.namespace, name)
            if found is None:
                continue
            if phase:
                self._end(found, phase)
            else:
                self._delete(name)

    def _forget(self, known: Known, name: str) -> None:
        self._owners.pop(name, None)
        if name not in known.nodes:
            self.pending -= 1

    def _end(self, pod: Object, phase: str) -> None:
        name = pod["metadata"]["name"]
        status = {**pod["status"], "phase": phase, "containerStatuses": [_container(phase, self.store.timestamp())]}
        self.store.replace(PODS, {**pod, "status": status})
        self._ended.append(name)
        if len(self._ended) > KEPT_PODS:
            self._delete(self._ended.popleft())

    def _delete(self, name: str) -> None:
        namespace = self._maker.settings.namespace
        if self.store.find(PODS, namespace, name) is not None:
            finish(self.store, PODS, namespace, name)

    def _again(self, known: Known) -> None:
        """It is back in the queue: other pods take the place of its own."""
        returned = known.returned + 1 if known.came == self._now else 0
        if returned > MOST_RETURNS:
            raise KubernetesError(
                f"the pods of job {known.job.id} were bound and taken away {MOST_RETURNS} times at {self._now:g} s: a "
                "scheduler that binds to nodes whose taints with NoExecute pods do not tolerate goes on for ever"
            )
        self._leave(known.job.sequence, "")
        self._submit(Known(known.job, known.attempt + 1, came=self._now, returned=returned))

    def set_node(self, number: int, state: str) -> None:
        """As kubelets and the node controller would say it: lost nodes are tainted, others take no new pods."""
        node = self.store.find(NODES, "", self._node_names[number])
        assert node is not None
        ours = {_CORDONED["key"], _LOST[0]["key"]}
        taints = [one for one in node["spec"].get("taints") or [] if one["key"] not in ours]
        lost = state in ("down", "off", "booting")
        taints += _LOST if lost else [] if state == "up" else [_CORDONED]
        spec = {**node["spec"], "taints": taints, "unschedulable": state in ("maintenance", "drained")}
        told = ready("False" if lost else "True", "Kubelet", state, self.store.timestamp())
        self.store.replace(NODES, {**node, "spec": spec, "status": {**node["status"], "conditions": [told]}})

    def _taint(self, number: int, taints: list[Object]) -> None:
        """What observers want of a node has changed."""
        before, self._tainted[number] = self._tainted.get(number, []), taints
        node = self.store.get(NODES, "", self._node_names[number]).object
        kept = [one for one in node["spec"].get("taints") or [] if one not in before]
        self.store.replace(NODES, {**node, "spec": {**node["spec"], "taints": [*kept, *taints]}})

    # From schedulers to the engine.

    def act(self, view: View) -> None:
        """Do what was decided since the last time."""
        while self._todo:
            what, known, pod = self._todo.popleft()
            if self._jobs.get(known.job.sequence) is not known:
                continue  # it has left in the meantime
            if what == "bound" and known.whole and not known.runs and self._has_its_pods(known):
                self._start(view, known)
            elif what == "gone":
                self._gone(view, known, pod)

    def _has_its_pods(self, known: Known) -> bool:
        """None of them has been deleted since it was bound, of which we hear next."""
        pods = (self.store.find(PODS, self._maker.settings.namespace, name) for name in known.chunks)
        return all(pod is not None and "deletionTimestamp" not in pod["metadata"] for pod in pods)

    def _start(self, view: View, known: Known) -> None:
        places: dict[int, int] = {}
        for name, chunks in known.chunks.items():
            number = known.nodes[name]
            places[number] = places.get(number, 0) + chunks
        where = ", ".join(self._node_names[number] for number in places)
        try:
            started = view.start(known.job, sorted(places.items()))
        except DecisionError as error:
            raise KubernetesError(f"a scheduler bound the pods of job {known.job.id} to {where}: {error}") from None
        if not started:
            self.impossible.append(f"job {known.job.id} was bound to {where} at {view.now:g} s, where it may not start")
            return
        known.runs = True
        if self._shows_running:
            for name in known.chunks:
                pod = self.store.get(PODS, self._maker.settings.namespace, name).object
                now = self.store.timestamp()
                told = lived(pod, "Running", [_container("Running", now)], now)
                self.store.replace(PODS, {**pod, "status": told})

    def _gone(self, view: View, known: Known, pod: str) -> None:
        """A scheduler, or somebody else, took a pod away: its job begins anew, all of it; one without nodes leaves."""
        if known.runs:
            view.requeue(known.job, reason=PREEMPTED)
        elif not known.nodes:
            view.withdraw(known.job)
            self._leave(known.job.sequence, "")
            return
        self._again(known)

    # What the API tells.

    def bound(self, pod: Object) -> None:
        name = pod["metadata"]["name"]
        if (known := self._owners.get(name)) is not None:
            known.nodes[name] = self._numbers[pod["spec"]["nodeName"]]
            self.pending -= 1
            self._todo.append(("bound", known, name))

    def deleting(self, pod: Object) -> None:
        """It goes at once: nothing in it has to be stopped first."""
        name = pod["metadata"]["name"]
        if (known := self._owners.get(name)) is not None:
            self._todo.append(("gone", known, name))
        else:
            self._delete(name)

    def deleted(self, pod: Object) -> None:
        name = pod["metadata"]["name"]
        if (known := self._owners.get(name)) is not None:
            self._todo.append(("gone", known, name))

    def refused(self, request: Request, error: StatusError) -> None:
        if error.code == CONFLICT:  # somebody else was faster, which schedulers have to live with
            self.conflicts += 1
        else:
            self.impossible.append(f"{request.path}: {error.message}")


def _container(phase: str, now: str) -> Object:
    """What a kubelet says of the only container."""
    running: Object = {"running": {"startedAt": now}}
    ended: Object = {"terminated": {"exitCode": 0, "reason": "Completed", "finishedAt": now}}
    state = running if phase == "Running" else ended
    return container_status(CONTAINER, IMAGE, phase, state)

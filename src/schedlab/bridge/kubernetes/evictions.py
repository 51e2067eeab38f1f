"""Who leaves a node because of its taints, and when; and what is told of pods that have to go before their time."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from schedlab.bridge.kubernetes.kinds import NODES, PODS, Kind
from schedlab.bridge.kubernetes.selectors import Object
from schedlab.bridge.kubernetes.store import DELETED, Change, Key, Store, key_of

_AT_ONCE = 0.001  # seconds: times of the simulation become sums of others


class Tolerations:
    """Those of a pod, by what they concern, so that each taint is looked up and not compared with all of them."""

    def __init__(self, spec: Object) -> None:
        self._known: dict[tuple[str, str | None, str], tuple[int, float]] = {}  # key, value or any, effect
        for number, one in enumerate(spec.get("tolerations") or ()):
            exists = one.get("operator") == "Exists"
            if not exists and not one.get("key"):
                continue
            about = (one.get("key") or "", None if exists else one.get("value") or "", one.get("effect") or "")
            seconds = one.get("tolerationSeconds")
            self._known.setdefault(about, (number, inf if seconds is None else float(max(seconds, 0))))

    def seconds(self, taint: Object) -> float:
        """For how long the pod stands a taint, as Kubernetes says it: by the first toleration that concerns it."""
        effects = (taint["effect"], "")
        values = ((taint["key"], None), ("", None), (taint["key"], taint.get("value") or ""))
        found = [one for effect in effects for value in values if (one := self._known.get((*value, effect)))]
        if not found:
            return 0.0
        return min(found)[1] if taint["effect"] == "NoExecute" else inf


class Evictions:
    """Pods leave nodes with taints that they do not tolerate (NoExecute), as pkg/controller/tainteviction of
    k8s.io/kubernetes has it. `remove` deletes one; `wake` asks for `drive` to be called at a time of the clock. Taints
    whose keys are `ours` drive nobody away: somebody else looks after these pods."""

    def __init__(self, store: Store, remove: Callable[[Kind, str, str, Object], object]) -> None:
        self._store, self._remove = store, remove
        self.clock = store.clock
        self.speed = 1.0  # how many seconds of a toleration pass in one of the clock
        self.ours: frozenset[str] = frozenset()
        self.wake: Callable[[float], object] = lambda due: None
        self._since: dict[Key, float] = {}  # when a pod has met the taints that it tolerates for a time
        self._due: dict[Key, float] = {}
        self._next = inf  # when `drive` is going to be called
        store.listen(NODES, self._node)
        store.listen(PODS, self._pod)

    def drive(self) -> None:
        """Who has tolerated the taints of its node for long enough goes."""
        now, self._next = self.clock(), inf
        for key in [key for key, due in self._due.items() if due <= now + _AT_ONCE]:
            if self._due.pop(key, None) is not None:
                self._leave(key)
        self._ask(min(self._due.values(), default=inf))

    def _ask(self, due: float) -> None:
        if due < self._next:
            self._next = due
            self.wake(due)

    def _node(self, change: Change) -> None:
        before = self._driving(change.old.object) if change.old is not None else []
        after = self._driving(change.new.object) if change.what != DELETED else []
        if before == after:
            return
        name = change.new.object["metadata"]["name"]
        pods = self._store.collection(PODS).objects
        for key in [key for key, one in pods.items() if one.object["spec"].get("nodeName") == name]:
            self._look(key, after)

    def _pod(self, change: Change) -> None:
        found = change.new.object
        key = key_of(found)
        if change.what == DELETED:
            self._due.pop(key, None)
            self._since.pop(key, None)
        elif node := found["spec"].get("nodeName"):
            old = change.old.object["spec"] if change.old is not None else {}
            same = old.get("nodeName") == node and old.get("tolerations") == found["spec"].get("tolerations")
            where = None if same else self._store.find(NODES, "", node)
            if where is not None and (taints := self._driving(where)):
                self._look(key, taints)

    def _look(self, key: Key, taints: list[Object]) -> None:
        found = self._store.find(PODS, *key)
        if found is None or "deletionTimestamp" in found["metadata"]:
            return
        stands = min(map(Tolerations(found["spec"]).seconds, taints), default=inf)
        self._due.pop(key, None)
        if stands == inf:
            self._since.pop(key, None)
        elif stands == 0:
            self._leave(key)
        else:
            self._due[key] = due = self._since.setdefault(key, self.clock()) + stands / self.speed
            self._ask(due)

    def _leave(self, key: Key) -> None:
        found = self._store.find(PODS, *key)
        if found is not None and "deletionTimestamp" not in found["metadata"]:
            why = "Taint manager: deleting due to NoExecute taint"
            self._store.replace(PODS, disrupted(found, "DeletionByTaintManager", why, self._store.timestamp()))
            self._remove(PODS, *key, {})

    def _driving(self, node: Object) -> list[Object]:
        taints = (node.get("spec") or {}).get("taints") or ()
        return [one for one in taints if one["effect"] == "NoExecute" and one["key"] not in self.ours]


def disrupted(pod: Object, reason: str, message: str, now: str) -> Object:
    """A pod that is told why it has to go before its time."""
    status = pod.get("status") or {}
    others = [one for one in status.get("conditions") or [] if one.get("type") != "DisruptionTarget"]
    told = {"type": "DisruptionTarget", "status": "True", "reason": reason, "message": message}
    return {**pod, "status": {**status, "conditions": [*others, {**told, "lastTransitionTime": now}]}}

"""The nodes of a cluster that stands by itself, in real time: pods that are bound run, until their time is over."""

from __future__ import annotations

import asyncio
from typing import Any

from schedlab.bridge.kubernetes.api import Listener
from schedlab.bridge.kubernetes.kinds import NODES, PODS
from schedlab.bridge.kubernetes.lifecycle import finish
from schedlab.bridge.kubernetes.pods import container_status, lived
from schedlab.bridge.kubernetes.selectors import Object
from schedlab.bridge.kubernetes.store import Store
from schedlab.files.quantity import parse_quantity

DURATION = "schedlab.io/duration"  # annotation of a pod: how many seconds it runs


class Kubelets(Listener):
    """Of all nodes. `speed`: how many seconds of pods pass in one; `startup`: seconds from binding to running."""

    def __init__(self, store: Store, speed: float = 1.0, startup: float = 0.0) -> None:
        self._store, self._speed, self._startup = store, speed, startup

    def created(self, pod: Object) -> None:
        """Who names a node himself needs no scheduler."""
        if self._store.find(NODES, "", pod["spec"].get("nodeName") or "") is not None:
            self.bound(pod)

    def bound(self, pod: Object) -> None:
        self._later(self._startup, self._run, pod["metadata"])

    def deleting(self, pod: Object) -> None:
        self._later(0.0, self._remove, pod["metadata"])

    def _later(self, seconds: float, what: Any, metadata: Object) -> None:
        asyncio.get_running_loop().call_later(seconds / self._speed, what, metadata)

    def _find(self, metadata: Object) -> Object | None:
        """The very same pod, if it is still there."""
        found = self._store.find(PODS, metadata["namespace"], metadata["name"])
        return found if found is not None and found["metadata"]["uid"] == metadata["uid"] else None

    def _run(self, metadata: Object) -> None:
        pod = self._find(metadata)
        if pod is None or "deletionTimestamp" in pod["metadata"]:
            return
        self._tell(pod, "Running", {"running": {"startedAt": self._store.timestamp()}})
        seconds = duration_of(pod)
        if seconds is not None:
            self._later(seconds, self._end, metadata)

    def _end(self, metadata: Object) -> None:
        if (pod := self._find(metadata)) is not None:
            ended = {"exitCode": 0, "reason": "Completed", "finishedAt": self._store.timestamp()}
            self._tell(pod, "Succeeded", {"terminated": ended})

    def _remove(self, metadata: Object) -> None:
        if self._find(metadata) is not None:
            finish(self._store, PODS, metadata["namespace"], metadata["name"])

    def _tell(self, pod: Object, phase: str, state: Object) -> None:
        containers = [
            container_status(one["name"], one.get("image", ""), phase, state) for one in pod["spec"]["containers"]
        ]
        self._store.replace(PODS, {**pod, "status": lived(pod, phase, containers, self._store.timestamp())})


def duration_of(pod: Object) -> float | None:
    """How long a pod runs: as its annotation says, or as it sleeps; None: until somebody deletes it."""
    said = (pod["metadata"].get("annotations") or {}).get(DURATION)
    container = pod["spec"]["containers"][0]
    words = [*(container.get("command") or []), *(container.get("args") or [])]
    if said is None and len(words) == 2 and words[0] == "sleep":
        said = str(words[1]).removesuffix("s")
    quantity = parse_quantity(said)
    return float(quantity) if quantity is not None and quantity >= 0 else None

"""Jobs on a real Kubernetes cluster, in real time: pods are created when jobs are submitted, and sleep as jobs run.

Clusters are spoken to with Kubernetes' own client, which knows all their ways to say who one is.
"""

from __future__ import annotations

import csv
import heapq
import io
import queue
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from schedlab.bridge.kubernetes.errors import KubernetesError
from schedlab.bridge.kubernetes.happened import Life
from schedlab.bridge.kubernetes.pods import PodMaker
from schedlab.bridge.kubernetes.selectors import Object
from schedlab.model.errors import InputError
from schedlab.model.workload import Workload

RUN = "schedlab.io/run"  # label of pods: which run they are of
DURATION = "schedlab.io/duration"
COLUMNS = (
    *("job_id", "pod", "node", "profile", "submission_time", "scheduled", "pulling", "pulled", "created"),
    *("starting_time", "finish_time", "execution_time", "delay"),
)
KUBELETS_WORDS = {"Pulling": "pulling", "Pulled": "pulled", "Created": "created"}
MOST_LOST = 5
Said = Callable[[str], None]


@dataclass(slots=True)
class Pod:
    """What was seen of a pod, in seconds since the first submission."""

    name: str
    job: str
    sequence: int
    chunks: int
    delay: float  # how long it is to sleep
    submitted: float
    node: str = ""
    times: dict[str, float] = field(default_factory=dict)  # scheduled, started, ended


class RealCluster:
    """One that is spoken to, and its nodes as they were when that began."""

    def __init__(self, kubeconfig: Path) -> None:
        self.core = _client(kubeconfig)
        # As `kubectl get nodes -o json` has them.
        self.nodes: bytes = self.ask(self.core.list_node, _preload_content=False).data

    def ask(self, what: Callable[..., Any], *words: Any, **options: Any) -> Any:
        from kubernetes.client.exceptions import ApiException
        from urllib3.exceptions import HTTPError

        try:
            return what(*words, **options)
        except ApiException as error:
            said = f"{error.status} {error.reason}: {str(error.body or '').strip()[:300]}"
            raise KubernetesError(f"the cluster refuses it: {said}") from None
        except HTTPError as error:
            raise KubernetesError(f"the cluster cannot be reached: {error}") from None


class Submission:
    """One workload on one cluster. `speed`: jobs come, and run, so many times as fast."""

    def __init__(
        self, cluster: RealCluster, maker: PodMaker, workload: Workload, image: str, speed: float = 1.0
    ) -> None:
        self._core, self._ask = cluster.core, cluster.ask
        self._node_names = [node["metadata"]["name"] for node in msgspec.json.decode(cluster.nodes)["items"]]
        self._maker, self._image, self._speed = maker, image, speed
        self._namespace = maker.settings.namespace
        self._run = f"run-{time.time_ns() // 1000:x}"
        self._durations = [float(one) for batch in workload.batches() for one in batch.runtime]
        self._submits = [float(one) for batch in workload.batches() for one in batch.submit]
        self.pods: dict[str, Pod] = {}
        self._events: queue.Queue[Any] = queue.Queue()
        self._over = threading.Event()
        self._lost = 0  # watches that broke, one after the other
        self._second_zero = 0.0  # by the clock on the wall

    def __len__(self) -> int:
        return len(self._submits)

    def run(self, say: Said, until: float = float("inf")) -> None:
        """Until all pods have ended, or so many seconds have passed; then the pods are deleted."""
        watcher = threading.Thread(target=self._watch, daemon=True)
        watcher.start()
        begin, self._second_zero = time.monotonic(), time.time()
        first = min(self._submits, default=0.0)
        due = [((at - first) / self._speed, sequence) for sequence, at in enumerate(self._submits)]
        heapq.heapify(due)
        try:
            while due or any("ended" not in pod.times for pod in self.pods.values()):
                now = time.monotonic() - begin
                if now > until:
                    say(f"given up after {now:.0f} s")
                    return
                while due and due[0][0] <= now:
                    self._create(heapq.heappop(due)[1], begin)
                self._hear(begin, min(due[0][0] - now, 0.2) if due else 0.2)
            self._ask_kubelets()
        finally:
            self._over.set()
            self._clean_up()

    def lives(self) -> dict[int, Life]:
        """Of jobs, from those of their pods: a gang runs from its last start to its last end."""
        numbers = {name: number for number, name in enumerate(self._node_names)}
        gangs: dict[int, list[Pod]] = {}
        for pod in self.pods.values():
            gangs.setdefault(pod.sequence, []).append(pod)
        found: dict[int, Life] = {}
        for sequence, pods in gangs.items():
            life = Life(min(pod.submitted for pod in pods))
            if all("started" in pod.times and "ended" in pod.times for pod in pods):
                places: dict[int, int] = {}
                for pod in pods:
                    places[numbers[pod.node]] = places.get(numbers[pod.node], 0) + pod.chunks
                life.nodes = tuple(sorted(places.items()))
                life.started = max(pod.times["started"] for pod in pods)
                life.ended = max(pod.times["ended"] for pod in pods)
            found[sequence] = life
        return found

    def table(self) -> bytes:
        """What was seen of each pod, as CSV."""
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(COLUMNS)
        for pod in self.pods.values():
            seen = pod.times
            ran = round(seen["ended"] - seen["started"], 3) if {"started", "ended"} <= seen.keys() else ""
            told = [seen.get("scheduled", ""), *(seen.get(name, "") for name in ("pulling", "pulled", "created"))]
            times = [seen.get("started", ""), seen.get("ended", ""), ran, pod.delay]
            writer.writerow([pod.job, pod.name, pod.node, "", pod.submitted, *told, *times])
        return text.getvalue().encode()

    def _create(self, sequence: int, begin: float) -> None:
        job = self._maker.job(sequence)
        seconds = self._durations[sequence] / self._speed
        left = job.count
        for pod in self._maker.pods(sequence):
            metadata = pod["metadata"]
            metadata["labels"] = {**metadata["labels"], RUN: self._run}
            metadata["annotations"] = {**metadata["annotations"], DURATION: f"{seconds:g}"}
            metadata["name"] = f"{self._run}-{metadata['name']}"
            container = pod["spec"]["containers"][0]
            container |= {"image": self._image, "command": ["sleep", f"{seconds:g}"]}
            pod["spec"].pop("priority", None)  # is the cluster's to say, from the name of a class
            pod.pop("status", None)
            chunks = min(job.together, left)
            left -= chunks
            at = round(time.monotonic() - begin, 3)
            self.pods[metadata["name"]] = Pod(metadata["name"], job.name, sequence, chunks, seconds, at)
            self._ask(self._core.create_namespaced_pod, self._namespace, pod)

    def _watch(self) -> None:
        """What happens to our pods, with the time at which we hear of it."""
        while not self._over.is_set():
            try:
                for line in self._lines():
                    self._events.put((time.monotonic(), msgspec.json.decode(line)))
                    if self._over.is_set():
                        return
            except Exception as error:  # told to the other thread, which knows what it means
                self._events.put((time.monotonic(), error))
                self._over.wait(1.0)

    def _lines(self) -> Iterator[bytes]:
        """The frames of a watch, as they are: the client's own reading of them refuses what it does not know."""
        answer = self._ask(
            self._core.list_namespaced_pod,
            self._namespace,
            label_selector=f"{RUN}={self._run}",
            watch=True,
            timeout_seconds=60,
            _preload_content=False,
        )
        begun = b""
        for piece in answer.stream(None, decode_content=False):
            *lines, begun = (begun + piece).split(b"\n")
            yield from filter(None, lines)

    def _hear(self, begin: float, seconds: float) -> None:
        deadline = time.monotonic() + max(seconds, 0.0)
        while True:
            try:
                at, found = self._events.get(timeout=max(deadline - time.monotonic(), 0.0) or 0.001)
            except queue.Empty:
                return
            if isinstance(found, Exception):
                self._lost += 1
                if self._lost > MOST_LOST:
                    raise KubernetesError(f"the pods cannot be watched: {found}")
            elif isinstance(found.get("object"), dict) and found.get("type") in ("ADDED", "MODIFIED", "DELETED"):
                self._lost = 0
                self._see(found["object"], round(at - begin, 3))

    def _see(self, found: Object, at: float) -> None:
        pod = self.pods.get(found["metadata"]["name"])
        if pod is None:
            return
        pod.node = found["spec"].get("nodeName") or pod.node
        phase = (found.get("status") or {}).get("phase")
        if pod.node:
            pod.times.setdefault("scheduled", at)
        if phase in ("Running", "Succeeded", "Failed"):
            pod.times.setdefault("started", at)
        if phase in ("Succeeded", "Failed"):
            pod.times.setdefault("ended", at)

    def _ask_kubelets(self) -> None:
        """When images were fetched and containers created is told in events, in whole seconds."""
        for event in self._ask(self._core.list_namespaced_event, self._namespace).items:
            pod = self.pods.get(event.involved_object.name or "")
            told = event.first_timestamp or event.event_time
            if pod is not None and event.reason in KUBELETS_WORDS and isinstance(told, datetime):
                at = max(told.timestamp() - self._second_zero, pod.times.get("scheduled", 0.0))
                pod.times.setdefault(KUBELETS_WORDS[event.reason], round(at, 3))

    def _clean_up(self) -> None:
        self._ask(
            self._core.delete_collection_namespaced_pod,
            self._namespace,
            label_selector=f"{RUN}={self._run}",
            grace_period_seconds=0,
        )


def _client(kubeconfig: Path) -> Any:
    try:
        from kubernetes import client, config
    except ImportError:
        hint = "install it: pip install 'schedlab[kube]'"
        raise InputError("needs Kubernetes' client for Python", where="schedlab kube submit", hint=hint) from None
    if not kubeconfig.is_file():
        raise InputError("there is no such file", where=str(kubeconfig), hint="--kubeconfig ~/.kube/config")
    try:
        made = config.new_client_from_config(str(kubeconfig))  # type: ignore[no-untyped-call]
    except Exception as error:  # the client raises whatever the reader of YAML, or the system, does
        raise InputError(f"cannot be used as a kubeconfig: {error}", where=str(kubeconfig)) from None
    return client.CoreV1Api(made)

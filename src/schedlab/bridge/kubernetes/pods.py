"""Jobs as pods.

A pod is one chunk of a job's request, or as many as have to be on one node together. A job of several pods is a gang:
it runs when all of them have a node. What a job's request cannot say (affinity, tolerations, priorities…) is in its
attachments: `{"pod": {…}}` is merged into the pod as `kubectl patch` would.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from schedlab.bridge.kubernetes.names import FEATURE, HOSTNAME, JOB, PARTITION, label_text, object_name, quantities
from schedlab.bridge.kubernetes.patches import strategic_merge
from schedlab.bridge.kubernetes.selectors import Object
from schedlab.bridge.kubernetes.status import StatusError
from schedlab.model.attachments import Attachments
from schedlab.model.errors import InputError
from schedlab.model.request import Request
from schedlab.model.workload import JobBatch, Workload

DEFAULT_SCHEDULER = "default-scheduler"
IMAGE = "schedlab.io/job"
CONTAINER = "job"
POD = "pod"  # the attachment
GANG = "all"  # the only group of a gang's pods
SEQUENCE = "schedlab.io/sequence"  # annotation of a pod: the place of its job in the workload


@dataclass(frozen=True, slots=True)
class PodSettings:
    """What pods have that jobs do not say."""

    namespace: str = "default"
    scheduler: str = DEFAULT_SCHEDULER
    image: str = IMAGE
    priorities: Mapping[str, int] = field(default_factory=dict)  # of jobs, by the name of their queue


@dataclass(frozen=True, slots=True)
class PodJob:
    """A job, as far as pods are concerned."""

    sequence: int
    name: str
    count: int
    request: Request
    queue: str = ""
    attachments: Attachments = field(default_factory=dict)

    @property
    def together(self) -> int:
        """How many chunks make a pod."""
        return max(self.request.per_node_min, 1)

    @property
    def pods(self) -> int:
        return -(-self.count // self.together)


class PodMaker:
    """The jobs of a workload by their place in it (`sequence`), and the pods that they are."""

    def __init__(self, workload: Workload, settings: PodSettings | None = None) -> None:
        self._workload, self.settings = workload, settings or PodSettings()
        self._batches: list[JobBatch] = list(workload.batches())
        self._begins = np.cumsum([0, *(len(batch) for batch in self._batches)])

    def __len__(self) -> int:
        return int(self._begins[-1])

    def __iter__(self) -> Iterator[PodJob]:
        return (self.job(sequence) for sequence in range(len(self)))

    def job(self, sequence: int) -> PodJob:
        place = int(np.searchsorted(self._begins, sequence, "right")) - 1
        batch, row = self._batches[place], sequence - int(self._begins[place])
        number = int(batch.queue[row])
        names = self._workload.labels.get("queue", [])
        return PodJob(
            sequence,
            batch.names[row] if batch.names else str(int(batch.id[row])),
            int(batch.count[row]),
            self._workload.requests[int(batch.request[row])],
            names[number] if 0 <= number < len(names) else str(number) if number >= 0 else "",
            (batch.attachments[row] if batch.attachments else None) or {},
        )

    def pods(self, sequence: int) -> list[Object]:
        """The pods of a job, in their order."""
        return pods_of(self.job(sequence), self.settings)

    def schedulers(self) -> set[str]:
        """The names of all schedulers that pods want."""
        return {self._scheduler(job) for job in self}

    def _scheduler(self, job: PodJob) -> str:
        if POD not in job.attachments:
            return self.settings.scheduler
        return str(pods_of(job, self.settings)[0]["spec"]["schedulerName"])


def pods_of(job: PodJob, settings: PodSettings) -> list[Object]:
    total, together = job.count, job.together
    sizes = [together] * (total // together) + ([total % together] if total % together else [])
    return [_pod(job, settings, number, len(sizes), chunks) for number, chunks in enumerate(sizes)]


def _pod(job: PodJob, settings: PodSettings, number: int, of: int, chunks: int) -> Object:
    name = object_name(f"job-{job.name}") + (f"-{number}" if of > 1 else "")
    pod: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": settings.namespace,
            "labels": {JOB: _job_label(job)},
            "annotations": {SEQUENCE: str(job.sequence)},
        },
        "spec": {
            "schedulerName": settings.scheduler,
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 30,
            "containers": [{"name": CONTAINER, "image": settings.image, "resources": _resources(job.request, chunks)}],
            **_where(job),
            "priority": settings.priorities.get(job.queue, 0),
        },
        "status": {"phase": "Pending"},
    }
    wanted = job.attachments.get(POD)
    return pod if wanted is None else _merged(job, pod, wanted)


def _merged(job: PodJob, pod: Object, wanted: Any) -> Object:
    where = f"job {job.name}, attachment 'pod'"
    if not isinstance(wanted, dict):
        raise InputError("is not a table", where=where, hint='{"spec": {"priority": 10}}')
    try:
        merged = strategic_merge(pod, wanted)
    except StatusError as error:
        raise InputError(error.message, where=where) from None
    fixed = {name: pod["metadata"][name] for name in ("name", "namespace")}
    merged["metadata"] = {**merged["metadata"], **fixed}
    return merged


def gang_of(pods: list[Object]) -> Object:
    """A Workload by which a scheduler knows that all these pods start or none; they are made to refer to it."""
    metadata = pods[0]["metadata"]
    for pod in pods:
        pod["spec"]["workloadRef"] = {"name": metadata["name"], "podGroup": GANG}
    return {
        "apiVersion": "scheduling.k8s.io/v1alpha1",
        "kind": "Workload",
        "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
        "spec": {"podGroups": [{"name": GANG, "policy": {"gang": {"minCount": len(pods)}}}]},
    }


def container_status(name: str, image: str, phase: str, state: Object) -> Object:
    """What a kubelet says of a container."""
    found = {"name": name, "image": image, "imageID": "", "restartCount": 0}
    return {**found, "ready": phase == "Running", "started": phase == "Running", "state": state}


def lived(pod: Object, phase: str, containers: list[Object], now: str) -> Object:
    """The status of a pod that runs or has ended, as its kubelet says it."""
    status = pod.get("status") or {}
    ready = {"status": "True"} if phase == "Running" else {"status": "False", "reason": "PodCompleted"}
    told = {"Initialized": {"status": "True"}, "ContainersReady": ready, "Ready": ready}
    known = [one for one in status.get("conditions") or [] if one.get("type") not in told]
    known += [{"type": name, **what, "lastTransitionTime": now} for name, what in told.items()]
    began = {"startTime": now} if phase == "Running" else {}
    return {**status, "phase": phase, "conditions": known, "containerStatuses": containers, **began}


def _job_label(job: PodJob) -> str:
    return label_text(job.name) or str(job.sequence)


def _resources(request: Request, chunks: int) -> Object:
    amounts = quantities({name: amount * chunks for name, amount in request.chunk.items()})
    # Resources that only some nodes have cannot be promised twice: their limit has to be what is asked for.
    limits = {name: amount for name, amount in amounts.items() if name not in ("cpu", "memory")}
    return {"requests": amounts, "limits": limits} if limits else {"requests": amounts}


def _where(job: PodJob) -> Object:
    """On which nodes the pods may be, as node selectors and affinities."""
    request = job.request
    found: Object = {}
    labels = {FEATURE + label_text(feature): "true" for feature in sorted(request.features)}
    if request.partition is not None:
        labels[PARTITION + label_text(request.partition)] = "true"
    if labels:
        found["nodeSelector"] = labels
    apart: list[Object] = []
    own = [{"key": JOB, "operator": "In", "values": [_job_label(job)]}]
    others = [{"key": JOB, "operator": "Exists"}, {"key": JOB, "operator": "NotIn", "values": [_job_label(job)]}]
    if job.pods > 1 and request.per_node_max and request.per_node_max < 2 * job.together:
        apart.append({"labelSelector": {"matchExpressions": own}, "topologyKey": HOSTNAME})
    if request.exclusive:
        apart.append({"labelSelector": {"matchExpressions": others}, "topologyKey": HOSTNAME})
    if apart:
        found["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": apart}}
    return found

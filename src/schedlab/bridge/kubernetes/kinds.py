"""The kinds of objects that the API server keeps: what schedulers list, and what kubectl shows with it."""

from __future__ import annotations

from dataclasses import dataclass

NAMES = ("metadata.name", "metadata.namespace")  # fields that every kind can be selected by
VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True, eq=False, slots=True)
class Kind:
    """A kind of objects, by the path under which it is served."""

    group_version: str  # "v1", "apps/v1"
    plural: str
    name: str  # "Pod"
    namespaced: bool = True
    short: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()  # what else a field selector may name
    subresources: tuple[str, ...] = ()
    stored_as: tuple[str, str] = ("", "")  # another kind, of which this is another form
    generations: bool = False  # whether changes of the specification are counted, in metadata.generation

    @property
    def group(self) -> str:
        return self.group_version.rpartition("/")[0]

    @property
    def version(self) -> str:
        return self.group_version.rpartition("/")[2]

    @property
    def qualified(self) -> str:
        """As messages of the API name it: `pods`, `replicasets.apps`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


_POD_FIELDS = (
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.nominatedNodeName",
)
_EVENT_FIELDS = (
    *(f"involvedObject.{name}" for name in ("kind", "namespace", "name", "uid", "apiVersion", "fieldPath")),
    "involvedObject.resourceVersion",
    "reason",
    "reportingComponent",
    "source",
    "type",
)
_STATUS = ("status",)

PODS = Kind(
    "v1",
    "pods",
    "Pod",
    short=("po",),
    fields=_POD_FIELDS,
    subresources=("binding", "eviction", "status"),
    generations=True,
)
NODES = Kind("v1", "nodes", "Node", False, ("no",), ("spec.unschedulable",), _STATUS)
NAMESPACES = Kind("v1", "namespaces", "Namespace", False, ("ns",), ("status.phase",), _STATUS)
EVENTS = Kind("v1", "events", "Event", short=("ev",), fields=_EVENT_FIELDS)
# The same events under their newer name, with other names for some of their fields (`event_forms`).
NEW_EVENTS = Kind("events.k8s.io/v1", "events", "Event", short=("ev",), stored_as=("v1", "events"))
WORKLOADS = Kind("scheduling.k8s.io/v1alpha1", "workloads", "Workload")  # gangs, since 1.35
PRIORITY_CLASSES = Kind("scheduling.k8s.io/v1", "priorityclasses", "PriorityClass", False, ("pc",), generations=True)
QUOTAS = Kind("v1", "resourcequotas", "ResourceQuota", short=("quota",), subresources=_STATUS)
BUDGETS = Kind(
    "policy/v1", "poddisruptionbudgets", "PodDisruptionBudget", short=("pdb",), subresources=_STATUS, generations=True
)
# Controllers, of which none runs here, make pods or other objects of these.
CONTROLLED = tuple(
    Kind(group_version, plural, name, short=short, subresources=_STATUS, generations=True)
    for group_version, plural, name, short in (
        ("v1", "replicationcontrollers", "ReplicationController", ("rc",)),
        ("apps/v1", "daemonsets", "DaemonSet", ("ds",)),
        ("apps/v1", "deployments", "Deployment", ("deploy",)),
        ("apps/v1", "replicasets", "ReplicaSet", ("rs",)),
        ("apps/v1", "statefulsets", "StatefulSet", ("sts",)),
        ("batch/v1", "jobs", "Job", ()),
    )
)

KINDS: tuple[Kind, ...] = (
    PODS,
    NODES,
    NAMESPACES,
    EVENTS,
    Kind("v1", "configmaps", "ConfigMap", short=("cm",)),
    Kind("v1", "persistentvolumeclaims", "PersistentVolumeClaim", short=("pvc",), subresources=_STATUS),
    CONTROLLED[0],
    Kind("v1", "persistentvolumes", "PersistentVolume", False, ("pv",), subresources=_STATUS),
    QUOTAS,
    Kind("v1", "services", "Service", short=("svc",), subresources=_STATUS),
    *CONTROLLED[1:],
    Kind("coordination.k8s.io/v1", "leases", "Lease"),
    NEW_EVENTS,
    BUDGETS,
    Kind("resource.k8s.io/v1", "deviceclasses", "DeviceClass", False, generations=True),
    Kind("resource.k8s.io/v1", "resourceclaims", "ResourceClaim", subresources=_STATUS),
    Kind("resource.k8s.io/v1", "resourceclaimtemplates", "ResourceClaimTemplate"),
    Kind("resource.k8s.io/v1", "resourceslices", "ResourceSlice", False, generations=True),
    PRIORITY_CLASSES,
    WORKLOADS,
    Kind("storage.k8s.io/v1", "csidrivers", "CSIDriver", False),
    Kind("storage.k8s.io/v1", "csinodes", "CSINode", False),
    Kind("storage.k8s.io/v1", "csistoragecapacities", "CSIStorageCapacity"),
    Kind("storage.k8s.io/v1", "storageclasses", "StorageClass", False, ("sc",)),
    Kind("storage.k8s.io/v1", "volumeattachments", "VolumeAttachment", False, subresources=_STATUS),
)

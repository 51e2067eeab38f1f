"""What happens to an object that a client sends before it is stored: checks, and the values that are usual."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from schedlab.bridge.kubernetes.kinds import NAMESPACES, PODS, PRIORITY_CLASSES, Kind
from schedlab.bridge.kubernetes.labels import LONGEST_NAME, key_mistake, value_mistake
from schedlab.bridge.kubernetes.lifecycle import check_namespace
from schedlab.bridge.kubernetes.selectors import Object
from schedlab.bridge.kubernetes.shapes import check_types
from schedlab.bridge.kubernetes.status import StatusError, invalid, not_found, shortened
from schedlab.bridge.kubernetes.store import Store
from schedlab.files.quantity import parse_quantity

_NAME = re.compile(r"[a-z0-9]([a-z0-9.:-]*[a-z0-9])?")
_LONGEST_PREFIX = 58  # maxGeneratedNameLength in pkg/storage/names of k8s.io/apiserver
_LARGEST_ANNOTATIONS = 262_144  # TotalAnnotationSizeLimitB in pkg/api/validation of k8s.io/apimachinery
# Classes that every cluster has.
SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


def admit(store: Store, kind: Kind, namespace: str, found: Any) -> Object:
    """A new object as it is to be stored."""
    named = addressed(kind, namespace, found)
    metadata = named["metadata"]
    name = metadata.get("name")
    check_types(kind, named)
    if not name and (prefix := metadata.get("generateName")):
        # What is generated is the next version, so that repeated runs have the same names.
        name = f"{prefix[:_LONGEST_PREFIX]}{store.version + 1:05x}"
        named = {**named, "metadata": {**metadata, "name": name}}
    if not name:
        raise invalid(kind.name, "", [("metadata.name", "Required value: name or generateName is required")])
    if len(name) > LONGEST_NAME or not _NAME.fullmatch(name):
        expected = "a lowercase RFC 1123 subdomain must consist of lower case letters, digits, '-' or '.'"
        why = f"Invalid value: {shortened(name)!r}: {expected}"
        raise invalid(kind.name, shortened(name), [("metadata.name", why)])
    if kind.namespaced and store.find(NAMESPACES, "", namespace) is None:
        raise not_found("namespaces", shortened(namespace))
    if kind.namespaced:
        check_namespace(store, kind, namespace, name)
    check_shape(kind, named)
    for mark in ("deletionTimestamp", "deletionGracePeriodSeconds"):
        named["metadata"].pop(mark, None)
    if kind.generations:
        named["metadata"]["generation"] = 1
    if kind is NAMESPACES:
        return _admit_namespace(named)
    return admit_pod(store, named) if kind is PODS else named


def _admit_namespace(found: Object) -> Object:
    metadata = found["metadata"]
    labels = {**(metadata.get("labels") or {}), "kubernetes.io/metadata.name": metadata["name"]}
    spec = {**(found.get("spec") or {}), "finalizers": ["kubernetes"]}
    return {**found, "metadata": {**metadata, "labels": labels}, "spec": spec, "status": {"phase": "Active"}}


def addressed(kind: Kind, namespace: str, found: Any) -> Object:
    """An object of this kind for this namespace; says so if it is another's."""
    if not isinstance(found, dict):
        raise StatusError(400, f"the body of the request is not an object of kind {kind.name}")
    for field, expected in (("kind", kind.name), ("apiVersion", kind.group_version)):
        if found.get(field, expected) not in (expected, ""):
            said = shortened(str(found[field]))
            raise StatusError(400, f"the {field} of the object is {said!r}, this is the place of {expected}")
    metadata = found.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise StatusError(400, "the metadata of the object is not an object")
    metadata = dict(metadata)
    if not kind.namespaced:
        metadata.pop("namespace", None)
    elif metadata.setdefault("namespace", namespace) != namespace:
        message = "the namespace of the provided object does not match the namespace sent on the request"
        raise StatusError(400, message)
    typed = {"kind": kind.name, "apiVersion": kind.group_version}
    return {**typed, **found, **typed, "metadata": metadata}


def check_shape(kind: Kind, found: Object) -> None:
    """What has the right types, and is wrong nevertheless."""
    metadata = found["metadata"]
    causes = [*_wrong_labels(metadata.get("labels") or {}), *_wrong_metadata(metadata)]
    if kind is PODS:
        causes += _mistakes(found.get("spec"))
    if causes:
        raise invalid(kind.name, shortened(str(metadata.get("name", ""))), causes)


def _wrong_labels(labels: dict[str, str]) -> Iterator[tuple[str, str]]:
    for key, value in labels.items():
        if mistake := key_mistake(key):
            yield "metadata.labels", f"Invalid value: {shortened(key)!r}: {mistake}"
        if mistake := value_mistake(value):
            yield "metadata.labels", f"Invalid value: {shortened(value)!r}: {mistake}"


def _wrong_metadata(metadata: Object) -> Iterator[tuple[str, str]]:
    size = sum(len(key) + len(value) for key, value in (metadata.get("annotations") or {}).items())
    if size > _LARGEST_ANNOTATIONS:
        yield "metadata.annotations", f"Too long: may not be more than {_LARGEST_ANNOTATIONS} bytes"
    for one in metadata.get("finalizers") or ():
        if mistake := key_mistake(one):
            yield "metadata.finalizers", f"Invalid value: {shortened(one)!r}: {mistake}"
    if sum(bool(one.get("controller")) for one in metadata.get("ownerReferences") or ()) > 1:
        yield "metadata.ownerReferences", "Invalid value: Only one reference can have Controller set to true"


def admit_pod(store: Store, pod: Object) -> Object:
    """A pod with the values that are usual, as kube-apiserver and its admission add them."""
    spec = pod["spec"]
    usual = {
        "schedulerName": "default-scheduler",
        "restartPolicy": "Always",
        "dnsPolicy": "ClusterFirst",
        "terminationGracePeriodSeconds": 30,
        "preemptionPolicy": "PreemptLowerPriority",
    }
    dressed = {**usual, **spec, **_priority(store, spec)}
    dressed["containers"] = [_requests_from_limits(container) for container in spec["containers"]]
    dressed["tolerations"] = _tolerations(spec.get("tolerations") or [])
    return {**pod, "spec": dressed, "status": {"phase": "Pending", **(pod.get("status") or {})}}


def _mistakes(spec: Object | None) -> Iterator[tuple[str, str]]:
    if spec is None:
        yield "spec", "Required value"
        return
    for field in ("containers", "initContainers"):
        for number, container in enumerate(spec.get(field) or ()):
            where = f"spec.{field}[{number}]"
            if not container.get("name"):
                yield f"{where}.name", "Required value"
            yield from _wrong_resources(f"{where}.resources", container.get("resources") or {})
    if not spec.get("containers"):
        yield "spec.containers", "Required value"


def _wrong_resources(where: str, resources: Object) -> Iterator[tuple[str, str]]:
    for part in ("requests", "limits"):
        for name, amount in (resources.get(part) or {}).items():
            quantity = parse_quantity(amount)
            if quantity is not None and quantity >= 0:
                continue
            said = shortened(str(amount)) if isinstance(amount, (str, int, float)) else "an object"
            why = "quantities must match the regular expression of numbers and suffixes"
            if quantity is not None:
                why = "must be greater than or equal to 0"
            yield f"{where}.{part}[{shortened(name)}]", f"Invalid value: {said!r}: {why}"


def _priority(store: Store, spec: Object) -> Object:
    """The number behind the name of a priority class; without a name, that of the class that is the default."""
    name = spec.get("priorityClassName")
    if not name:
        for _, version in store.list(PRIORITY_CLASSES):
            if version.object.get("globalDefault"):
                found = version.object
                return {"priorityClassName": found["metadata"]["name"], "priority": found.get("value", 0)}
        return {"priority": spec.get("priority", 0)}
    if name in SYSTEM_PRIORITIES:
        return {"priority": SYSTEM_PRIORITIES[name]}
    named = store.find(PRIORITY_CLASSES, "", name)
    if named is None:
        message = f"pods is forbidden: no PriorityClass with name {name} was found"
        raise StatusError(403, message, reason="Forbidden", details={"kind": "pods"})
    policy = {"preemptionPolicy": named["preemptionPolicy"]} if "preemptionPolicy" in named else {}
    return {"priority": named.get("value", 0), **policy}


def _requests_from_limits(container: Object) -> Object:
    """A container that has a limit and no request for a resource requests the limit."""
    resources = container.get("resources")
    if not resources or not resources.get("limits"):
        return container
    return {
        **container,
        "resources": {**resources, "requests": {**resources["limits"], **(resources.get("requests") or {})}},
    }


def _tolerations(given: list[Any]) -> list[Any]:
    """With those for nodes that are lost for less than five minutes, which every pod gets."""
    known = {str(one.get("key")) if "key" in one else None for one in given}
    added = [
        {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for key in ("not-ready", "unreachable")
        if f"node.kubernetes.io/{key}" not in known and None not in known
    ]
    return [*given, *added]

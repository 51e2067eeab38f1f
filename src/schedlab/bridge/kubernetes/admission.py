"""What happens to an object that a client sends before it is stored: checks, and the values that are usual."""

from __future__ import annotations

import re
from typing import Any

from schedlab.bridge.kubernetes.kinds import NAMESPACES, PODS, PRIORITY_CLASSES, Kind
from schedlab.bridge.kubernetes.selectors import Object
from schedlab.bridge.kubernetes.status import StatusError, invalid, not_found
from schedlab.bridge.kubernetes.store import Store
from schedlab.files.quantity import parse_quantity

_NAME = re.compile(r"[a-z0-9]([a-z0-9.:-]*[a-z0-9])?")
_LONGEST_NAME = 253
# Classes that every cluster has.
SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


def admit(store: Store, kind: Kind, namespace: str, found: Any) -> Object:
    """A new object as it is to be stored."""
    named = addressed(kind, namespace, found)
    metadata = named["metadata"]
    name = metadata.get("name")
    if not name and isinstance(prefix := metadata.get("generateName"), str) and prefix:
        # What is generated is the next version, so that repeated runs have the same names.
        name = f"{prefix}{store.version + 1:05x}"
        named = {**named, "metadata": {**metadata, "name": name}}
    if not name:
        raise invalid(kind.name, "", [("metadata.name", "Required value: name or generateName is required")])
    if not isinstance(name, str) or len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
        expected = "a lowercase RFC 1123 subdomain must consist of lower case letters, digits, '-' or '.'"
        why = f"Invalid value: {name!r}: {expected}"
        raise invalid(kind.name, str(name), [("metadata.name", why)])
    if kind.namespaced and store.find(NAMESPACES, "", namespace) is None:
        raise not_found("namespaces", namespace)
    check_shape(kind, named)
    return admit_pod(store, named) if kind is PODS else named


def addressed(kind: Kind, namespace: str, found: Any) -> Object:
    """An object of this kind for this namespace; says so if it is another's."""
    if not isinstance(found, dict):
        raise StatusError(400, f"the body of the request is not an object of kind {kind.name}")
    for field, expected in (("kind", kind.name), ("apiVersion", kind.group_version)):
        if found.get(field, expected) not in (expected, ""):
            raise StatusError(400, f"the {field} of the object is {found[field]!r}, this is the place of {expected}")
    metadata = found.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise StatusError(400, "the metadata of the object is not an object")
    for field in ("labels", "annotations"):
        values = metadata.get(field) or {}
        if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
            raise StatusError(400, f"the {field} of the object are not an object of texts")
    metadata = dict(metadata)
    if not kind.namespaced:
        metadata.pop("namespace", None)
    elif metadata.setdefault("namespace", namespace) != namespace:
        message = "the namespace of the provided object does not match the namespace sent on the request"
        raise StatusError(400, message)
    typed = {"kind": kind.name, "apiVersion": kind.group_version}
    return {**typed, **found, **typed, "metadata": metadata}


def check_shape(kind: Kind, found: Object) -> None:
    """What everything else relies on: a specification and a status are objects, with lists of objects in them."""
    causes: list[tuple[str, str]] = []
    for part, lists in (("spec", ("taints", "tolerations")), ("status", ("conditions", "containerStatuses"))):
        value = found.get(part)
        if value is None:
            continue
        if not isinstance(value, dict):
            causes.append((part, "Invalid value: expected an object"))
            continue
        for name in lists:
            items = value.get(name) or []
            if not isinstance(items, list) or not all(isinstance(one, dict) for one in items):
                causes.append((f"{part}.{name}", "Invalid value: expected a list of objects"))
    if kind is PODS and not causes:
        causes = _mistakes(found.get("spec"))
    if causes:
        raise invalid(kind.name, str(found["metadata"].get("name", "")), causes)


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


def _mistakes(spec: Any) -> list[tuple[str, str]]:
    if not isinstance(spec, dict):
        return [("spec", "Required value")]
    causes: list[tuple[str, str]] = []
    for field in ("containers", "initContainers"):
        containers = spec.get(field) or []
        if not isinstance(containers, list) or not all(isinstance(one, dict) for one in containers):
            return [(f"spec.{field}", "Invalid value: expected a list of containers")]
        for number, container in enumerate(containers):
            where = f"spec.{field}[{number}]"
            if not isinstance(container.get("name"), str):
                causes.append((f"{where}.name", "Required value"))
            causes += _wrong_resources(f"{where}.resources", container.get("resources"))
    if not spec.get("containers"):
        causes.append(("spec.containers", "Required value"))
    return causes


def _wrong_resources(where: str, resources: Any) -> list[tuple[str, str]]:
    if resources is None:
        return []
    if not isinstance(resources, dict):
        return [(where, "Invalid value: expected requests and limits")]
    causes = []
    for part in ("requests", "limits"):
        amounts = resources.get(part) or {}
        if not isinstance(amounts, dict):
            causes.append((f"{where}.{part}", "Invalid value: expected names and quantities"))
            continue
        for name, amount in amounts.items():
            quantity = parse_quantity(amount)
            if quantity is None:
                why = f"Invalid value: {amount!r}: quantities must match the regular expression of numbers and suffixes"
                causes.append((f"{where}.{part}[{name}]", why))
            elif quantity < 0:
                causes.append(
                    (f"{where}.{part}[{name}]", f"Invalid value: {amount!r}: must be greater than or equal to 0")
                )
    return causes


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

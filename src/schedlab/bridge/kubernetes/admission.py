"""What happens to an object that a client sends before it is stored: checks, and the values that are usual."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from schedlab.bridge.kubernetes.allowances import mistakes
from schedlab.bridge.kubernetes.kinds import BUDGETS, NAMESPACES, PODS, PRIORITY_CLASSES, QUOTAS, Kind
from schedlab.bridge.kubernetes.labels import LONGEST_NAME, key_mistake, value_mistake
from schedlab.bridge.kubernetes.lifecycle import check_namespace
from schedlab.bridge.kubernetes.patches import same
from schedlab.bridge.kubernetes.selectors import Object
from schedlab.bridge.kubernetes.shapes import check_types
from schedlab.bridge.kubernetes.status import StatusError, invalid, not_found, shortened
from schedlab.bridge.kubernetes.store import Store
from schedlab.files.quantity import parse_quantity

sorted_json = msgspec.json.Encoder(order="sorted").encode
_NAME = re.compile(r"[a-z0-9]([a-z0-9.:-]*[a-z0-9])?")
_LONGEST_PREFIX = 58  # maxGeneratedNameLength in pkg/storage/names of k8s.io/apiserver
_LARGEST_ANNOTATIONS = 262_144  # TotalAnnotationSizeLimitB in pkg/api/validation of k8s.io/apimachinery
# Classes that every cluster has.
SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
_HIGHEST_PRIORITY = 1_000_000_000  # HighestUserDefinablePriority in pkg/apis/scheduling of k8s.io/kubernetes
_UPDATABLE = (
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
    "additions to existing tolerations),`spec.schedulingGates` (only removals)"
)


def admit(store: Store, kind: Kind, namespace: str, found: Any) -> Object:
    """A new object as it is to be stored."""
    named = addressed(kind, namespace, found)
    metadata = named["metadata"]
    name = metadata.get("name")
    check_types(kind, named)
    if not name and (prefix := metadata.get("generateName")):
        if len(prefix) > LONGEST_NAME:
            raise invalid(
                kind.name, "", [("metadata.generateName", f"Too long: may not be more than {LONGEST_NAME} bytes")]
            )
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
    if kind is PRIORITY_CLASSES:
        check_default(store, named)
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
    metadata.pop("managedFields", None)  # nobody keeps them here
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
    elif kind in (QUOTAS, BUDGETS):
        causes += mistakes(kind, found.get("spec") or {})
    elif kind is PRIORITY_CLASSES:
        causes += _wrong_class(found)
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


def _wrong_class(found: Object) -> Iterator[tuple[str, str]]:
    name, value = str(found["metadata"].get("name", "")), found.get("value", 0)
    if name.startswith("system-") and value != SYSTEM_PRIORITIES.get(name):
        yield "metadata.name", "Forbidden: priority class names with 'system-' prefix are reserved for system use only"
    elif value > _HIGHEST_PRIORITY and name not in SYSTEM_PRIORITIES:
        yield "value", f"Forbidden: maximum allowed value of a user defined priority is {_HIGHEST_PRIORITY}"


def check_default(store: Store, found: Object) -> None:
    """One priority class at most is the default."""
    name = found["metadata"]["name"]
    other = default_class(store) if found.get("globalDefault") else None
    if other is not None and other["metadata"]["name"] != name:
        why = f"PriorityClass {other['metadata']['name']} is already marked as default. Only one default can exist"
        details = {"name": name, "kind": PRIORITY_CLASSES.plural}
        raise StatusError(403, f'{PRIORITY_CLASSES.qualified} "{name}" is forbidden: {why}', details=details)


def default_class(store: Store) -> Object | None:
    classes = store.collection(PRIORITY_CLASSES).objects.values()
    return next((one.object for one in classes if one.object.get("globalDefault")), None)


def check_update(store: Store, kind: Kind, old: Object, new: Object) -> None:
    """What may not be changed of an object that is there."""
    name = old["metadata"]["name"]
    if kind is PODS:
        _check_pod_update(name, old["spec"], new["spec"])
    elif kind is PRIORITY_CLASSES:
        changed = [one for one in ("value", "preemptionPolicy") if new.get(one) != old.get(one)]
        if changed:
            raise invalid(kind.name, name, [(one, "Forbidden: may not be changed in an update.") for one in changed])
        check_default(store, new)


def _check_pod_update(name: str, old: Object, new: Object) -> None:
    causes: list[tuple[str, str]] = []
    if new.get("nodeName") != old.get("nodeName"):
        causes.append(("spec.nodeName", "Forbidden: pods are assigned to nodes by a binding"))
    elif not same(_fixed(old, old), _fixed(new, old)):
        causes.append(("spec", f"Forbidden: pod updates may not change fields other than {_UPDATABLE}"))
    if _each(old, "tolerations") - _each(new, "tolerations"):
        why = "Forbidden: existing toleration can not be modified except its tolerationSeconds"
        causes.append(("spec.tolerations", why))
    if _each(new, "schedulingGates") - _each(old, "schedulingGates"):
        causes.append(("spec.schedulingGates", "Forbidden: only deletion is allowed"))
    if causes:
        raise invalid("Pod", name, causes)


def _fixed(spec: Object, old: Object) -> Object:
    """What of a pod stays as it is; while it is gated, it may still be kept from further nodes."""
    free = {"activeDeadlineSeconds", "tolerations", "schedulingGates"}
    if old.get("schedulingGates"):
        free |= {"affinity"}
        selector = spec.get("nodeSelector") or {}
        if (old.get("nodeSelector") or {}).items() <= selector.items():
            free |= {"nodeSelector"}
    kept = {key: value for key, value in spec.items() if key not in free}
    for field in ("containers", "initContainers"):
        if field in spec:
            kept[field] = [{**one, "image": ""} for one in spec[field] or ()]
    return kept


def _each(spec: Object, field: str) -> set[bytes]:
    """The elements of a list, by which they can be told apart; how long a taint is tolerated may change."""
    elements = spec.get(field) or ()
    if not isinstance(elements, (list, tuple)):
        return {sorted_json(elements)}
    return {sorted_json({**one, "tolerationSeconds": 0} if isinstance(one, dict) else one) for one in elements}


def updated_pod(old: Object, new: Object) -> Object:
    """A pod that is changed, with the values that are usual; its priority is that which it has."""
    spec = new["spec"]
    kept = {name: old["spec"][name] for name in ("priority", "preemptionPolicy") if name in old["spec"]}
    return {**new, "spec": _dressed({**kept, **spec})}


def admit_pod(store: Store, pod: Object) -> Object:
    """A pod with the values that are usual, as kube-apiserver and its admission add them."""
    spec = pod["spec"]
    dressed = _dressed({**spec, **_priority(store, spec)})
    return {**pod, "spec": dressed, "status": {"phase": "Pending", **(pod.get("status") or {})}}


def _dressed(spec: Object) -> Object:
    usual = {
        "schedulerName": "default-scheduler",
        "restartPolicy": "Always",
        "dnsPolicy": "ClusterFirst",
        "terminationGracePeriodSeconds": 30,
        "preemptionPolicy": "PreemptLowerPriority",
    }
    dressed = {**usual, **spec}
    dressed["containers"] = [_requests_from_limits(container) for container in spec["containers"]]
    dressed["tolerations"] = _tolerations(spec.get("tolerations") or [])
    return dressed


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
    named = store.find(PRIORITY_CLASSES, "", name) if name else default_class(store)
    if named is None and not name:
        return {"priority": spec.get("priority") or 0}
    if named is None and name not in SYSTEM_PRIORITIES:
        raise _forbidden(f"no PriorityClass with name {shortened(str(name))} was found")
    if named is None:
        computed: Object = {"priority": SYSTEM_PRIORITIES[str(name)]}
    else:
        computed = {"priorityClassName": named["metadata"]["name"], "priority": named.get("value", 0)}
        if named.get("preemptionPolicy"):
            computed["preemptionPolicy"] = named["preemptionPolicy"]
    called = {"priority": "integer value of priority", "preemptionPolicy": "string value of PreemptionPolicy"}
    for field, words in called.items():
        said, is_so = spec.get(field), computed.get(field)
        if said is not None and is_so is not None and said != is_so:
            why = f"priority admission controller computed {is_so} from the given PriorityClass name"
            raise _forbidden(f"the {words} ({said}) must not be provided in pod spec; {why}")
    return computed


def _forbidden(why: str) -> StatusError:
    return StatusError(403, f"pods is forbidden: {why}", details={"kind": "pods"})


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

"""Clusters as nodes of Kubernetes.

A node has a capacity, and of that an allocatable part: the scheduler counts what is allocatable, and so does the
engine. What a cluster's file says beyond resources is in the properties of its node groups:

| property | |
|---|---|
| `core`, `memory` | capacities, as Batkube's SimGrid platforms say them: `6`, `750Mi` |
| `allocatable.cpu`, `allocatable.memory`, … | what of the capacity pods may use |
| `capacity.cpu`, `capacity.memory`, … | the other way round: the resources are what is allocatable |
| `pods` | how many pods fit on a node; 110 if it is not said |
| `labels` | `zone=a,disk=ssd` |
| `taints` | `dedicated=batch:NoSchedule,old:NoExecute` |
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from schedlab.bridge.kubernetes.names import (
    FEATURE,
    GROUP,
    HOSTNAME,
    PARTITION,
    SWITCH,
    label_text,
    object_name,
    quantities,
    resource_name,
)
from schedlab.bridge.kubernetes.selectors import Object
from schedlab.cluster.kubernetes import own_resource
from schedlab.files.quantity import cpu_text, memory_text, millis, parse_quantity, whole
from schedlab.model.cluster import Cluster, NodeGroup
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.nodeset import expand

PODS_OF_A_NODE = 110
BEGINNING = "2026-01-01T00:00:00Z"
# Clients want all of it.
NODE_INFO = {
    **dict.fromkeys(("bootID", "kernelVersion", "kubeProxyVersion", "machineID", "systemUUID"), ""),
    "architecture": "amd64",
    "containerRuntimeVersion": "simulated://1",
    "kubeletVersion": "v1.35.0",
    "operatingSystem": "linux",
    "osImage": "simulated",
}
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_TAINT = re.compile(r"([A-Za-z0-9./_-]+)(?:=([A-Za-z0-9._-]*))?:([A-Za-z]+)")


@dataclass(frozen=True, slots=True)
class NodeForm:
    """What the nodes of a group have in common. `counted` is what the engine counts: the allocatable amounts."""

    capacity: dict[str, str]
    allocatable: dict[str, str]
    counted: dict[str, int]
    labels: dict[str, str] = field(default_factory=dict)
    taints: tuple[Object, ...] = ()


def node_forms(cluster: Cluster) -> list[NodeForm]:
    """One for each group; all mistakes at once."""
    if cluster.pool:
        hint = "give nodes: NxC, or a file that names them"
        raise InputError("a machine without nodes cannot be a Kubernetes cluster", where=cluster.name, hint=hint)
    forms: list[NodeForm] = []
    mistakes: list[InputError] = []
    for group in cluster.groups:
        try:
            forms.append(_form(cluster, group))
        except InputErrors as error:
            mistakes += error.errors
    if mistakes:
        raise InputErrors(mistakes)
    return forms


def counted(cluster: Cluster) -> Cluster:
    """The same machine as the engine is to account for it: what is allocatable, shares of cores included."""
    groups = [
        replace(group, resources=form.counted) for group, form in zip(cluster.groups, node_forms(cluster), strict=True)
    ]
    return replace(cluster, groups=tuple(groups))


def node_objects(cluster: Cluster, now: str = BEGINNING) -> list[Object]:
    """The nodes in cluster order, all of them ready. `now` as a time stamp."""
    switches = {node: switch.name for switch in cluster.switches if switch.nodes for node, _ in expand(switch.nodes)}
    found = []
    for group, form in zip(cluster.groups, node_forms(cluster), strict=True):
        for name in group.node_names():
            known = {SWITCH: label_text(switches[name])} if name in switches else {}
            found.append(node_object(name, form, known, now))
    return found


def ready(status: str, reason: str, message: str, now: str) -> Object:
    """What a kubelet says of its node."""
    times = {"lastHeartbeatTime": now, "lastTransitionTime": now}
    return {"type": "Ready", "status": status, "reason": reason, "message": message, **times}


def node_object(name: str, form: NodeForm, labels: dict[str, str], now: str) -> Object:
    called = object_name(name)
    spec: Object = {"taints": list(form.taints)} if form.taints else {}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": called, "labels": {**form.labels, **labels, HOSTNAME: called}},
        "spec": spec,
        "status": {
            "capacity": form.capacity,
            "allocatable": form.allocatable,
            "conditions": [ready("True", "KubeletReady", "simulated", now)],
            "addresses": [{"type": "Hostname", "address": called}],
            "nodeInfo": NODE_INFO,
        },
    }


def _form(cluster: Cluster, group: NodeGroup) -> NodeForm:
    where = f"{cluster.name}, node group {group.name}"
    mistakes: list[InputError] = []
    said = group.properties
    capacity = quantities(group.resources)
    for key, name in (("core", "cpu"), ("memory", "memory")):
        if key in said:
            capacity[name] = _amount(said[key], key, where, mistakes)
    pods = said.get("pods", str(PODS_OF_A_NODE))
    capacity["pods"] = _amount(pods, "pods", where, mistakes)
    allocatable = dict(capacity)
    for key, text in said.items():
        side, _, name = key.partition(".")
        if side in ("allocatable", "capacity") and name:
            name = {"core": "cpu", "cores": "cpu"}.get(name, name)
            name = name if name in capacity else resource_name(name)
            if name not in capacity:
                mistakes.append(InputError(f"{key}: the nodes have no {name}", where=where))
            (allocatable if side == "allocatable" else capacity)[name] = _amount(text, key, where, mistakes)
    # A cluster may say both: `cores` is the capacity then, and the exact share what pods may use.
    if "cpu_milli" in group.resources and "cores" in group.resources and not {"core", "capacity.cpu"} & said.keys():
        capacity["cpu"] = cpu_text(max(group.resources["cores"] * 1000, group.resources["cpu_milli"]))
    taints = _taints(said.get("taints", ""), where, mistakes)
    labels = _labels(said.get("labels", ""), where, mistakes) | _own_labels(cluster, group)
    if mistakes:
        raise InputErrors(mistakes)
    return NodeForm(capacity, allocatable, _counted(allocatable), labels, taints)


def _counted(allocatable: dict[str, str]) -> dict[str, int]:
    """Cores twice, whole ones and thousandths, so that jobs of either kind fit."""
    found: dict[str, int] = {}
    for name, text in allocatable.items():
        quantity = parse_quantity(text)
        assert quantity is not None
        if name == "cpu":
            found |= {"cores": int(quantity), "cpu_milli": millis(quantity)}
        elif name != "pods":
            found[own_resource(name)] = whole(quantity)
    return {"cores": found.pop("cores", 0), **found}


def _own_labels(cluster: Cluster, group: NodeGroup) -> dict[str, str]:
    found = {GROUP: label_text(group.name), "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    found |= {FEATURE + label_text(feature): "true" for feature in sorted(group.features)}
    return found | {PARTITION + label_text(one.name): "true" for one in cluster.partitions if group.name in one.groups}


def _amount(text: str, key: str, where: str, mistakes: list[InputError]) -> str:
    quantity = parse_quantity(text.strip())
    if quantity is None or quantity < 0:
        hint = "a number, perhaps with a unit: 6, 5900m, 750Mi"
        mistakes.append(InputError(f"{key} is {text!r}, which is not a quantity", where=where, hint=hint))
        return "0"
    if key.endswith(("core", "cores", "cpu")):
        return cpu_text(millis(quantity))
    return memory_text(whole(quantity)) if key.endswith("memory") else str(whole(quantity))


def _labels(text: str, where: str, mistakes: list[InputError]) -> dict[str, str]:
    found = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, sign, value = part.partition("=")
        if not sign or label_text(value) != value:
            mistakes.append(InputError(f"labels: {part!r} is not a label", where=where, hint="write zone=a,disk=ssd"))
        found[key.strip()] = value
    return found


def _taints(text: str, where: str, mistakes: list[InputError]) -> tuple[Object, ...]:
    found: list[Object] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        try:
            found.append(read_taint(part, where))
        except InputError as error:
            mistakes.append(error)
    return tuple(found)


def read_taint(text: str, where: str) -> Object:
    """`key=value:EFFECT`"""
    match = _TAINT.fullmatch(text)
    if match is None or match[3] not in EFFECTS:
        hint = f"write key=value:EFFECT with one of {', '.join(EFFECTS)}"
        raise InputError(f"taints: {text!r} is not a taint", where=where, hint=hint)
    taint = {"key": match[1], "effect": match[3]}
    return {**taint, "value": match[2]} if match[2] else taint

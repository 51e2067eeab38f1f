"""Nodes of a Kubernetes cluster, as `kubectl get nodes -o yaml` (or `-o json`) writes them.

Resources are what is allocatable: `cores`, `memory`, `gpus`, others under their own names. `cpu_milli`, thousandths of
cores, is said where cores are not whole. Labels, taints and capacities are properties of node groups.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from schedlab.files.bytestream import ByteStream
from schedlab.files.quantity import millis, parse_quantity, whole
from schedlab.model.cluster import Cluster, NodeGroup
from schedlab.model.errors import InputError
from schedlab.model.mistakes import raise_first

RESOURCES = {"gpus": "nvidia.com/gpu", "gpu_milli": "alibabacloud.com/gpu-milli"}  # what they are called there
OURS = "schedlab.io/"  # before the names of others that only schedlab knows
_OWN = {name: own for own, name in RESOURCES.items()}
# Labels that differ from node to node, or are known without being said.
_UNSAID = ("kubernetes.io/hostname", "kubernetes.io/os", "kubernetes.io/arch", "beta.kubernetes.io/")
_COUNTED_APART = ("cpu", "memory", "pods")
_NUMBERED = re.compile(r"(.*?[^0-9])([0-9]{1,12})([^0-9]*)")
DEEPEST = 100  # levels
_EXPECTED = "write it with: kubectl get nodes -o yaml"
_KIND = re.compile(r'"?kind"?\s*:\s*"?(Node|NodeList|List)\b')


def looks_like(start: str, name: str) -> bool:
    """The kind stands at the end of such lists, the items at their beginning."""
    return bool(_KIND.search(start)) or ("apiVersion" in start and "nodeInfo" in start)


def read_kubernetes(path: Path) -> Cluster:
    """Neighbours that are alike and numbered make a group."""
    return cluster_of(_document(path), path.name.partition(".")[0], str(path))


def cluster_of(document: Any, name: str, where: str) -> Cluster:
    """The same of what a file, or an API server, says."""
    items = document.get("items", [document]) if isinstance(document, dict) else None
    if not isinstance(items, list) or not all(
        isinstance(one, dict) and one.get("kind", "Node") == "Node" for one in items
    ):
        raise InputError("is not a list of nodes", where=where, hint=_EXPECTED)
    groups: list[NodeGroup] = []
    errors: list[InputError] = []
    for number, item in enumerate(items):
        try:
            node = _node(item)
        except ValueError as error:
            errors.append(InputError(str(error), where=f"{where}, node {number + 1}"))
            continue
        if groups and _continues(groups[-1], node):
            groups[-1] = replace(groups[-1], count=groups[-1].count + 1)
        else:
            groups.append(node)
    raise_first(errors, where)
    if not groups:
        raise InputError("lists no nodes", where=where, hint=_EXPECTED)
    return Cluster(tuple(groups), name=name)


def own_resource(name: str) -> str:
    """What schedlab calls a resource: gpus for `nvidia.com/gpu`."""
    return _OWN.get(name) or name.removeprefix(OURS)


def _document(path: Path) -> Any:
    import yaml

    text = b"".join(ByteStream(path)).decode("utf-8-sig", errors="replace")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    depth = 0
    try:
        for event in yaml.parse(text, loader):  # where it goes deeper, to make objects of it would end the process
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST:
                raise ValueError(f"more than {DEEPEST} levels of lists and mappings")
        return yaml.load(text, loader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        place = getattr(error, "problem_mark", None)
        line = f", line {place.line + 1}" if place is not None else ""
        said = getattr(error, "problem", None) or str(error).partition("\n")[0]
        raise InputError(f"is not YAML: {said}", where=f"{path}{line}", hint=_EXPECTED) from None


def _node(item: dict[str, Any]) -> NodeGroup:
    metadata, status, spec = (_table(item, key) for key in ("metadata", "status", "spec"))
    name = metadata.get("name")
    if not isinstance(name, str) or not name:
        raise ValueError("has no name")
    allocatable, capacity = _table(status, "allocatable"), _table(status, "capacity")
    allocatable = allocatable or capacity
    amounts = {key: _amount(name, key, value) for key, value in allocatable.items()}
    if "cpu" not in amounts:
        raise ValueError(f"{name} has no allocatable cpu")
    resources = {"cores": int(amounts["cpu"])}
    if amounts["cpu"] != int(amounts["cpu"]):
        resources["cpu_milli"] = millis(amounts["cpu"])
    if "memory" in amounts:
        resources["memory"] = whole(amounts["memory"])
    for key, value in amounts.items():
        if key not in _COUNTED_APART and value and not key.startswith(("hugepages-", "ephemeral-storage")):
            resources[own_resource(key)] = whole(value)
    properties = {"pods": str(allocatable["pods"])} if "pods" in allocatable else {}
    for key in ("cpu", "memory"):
        if key in capacity and capacity[key] != allocatable.get(key):
            properties[f"capacity.{key}"] = str(capacity[key])
    properties |= _told(_table(metadata, "labels"), spec.get("taints") or [])
    match = _NUMBERED.fullmatch(name)
    if match is None:
        return NodeGroup(name, 1, resources, prefix=name, numbered=False, properties=properties)
    numbers = {"prefix": match[1], "first": int(match[2]), "width": len(match[2]), "suffix": match[3]}
    return NodeGroup(name, 1, resources, properties=properties, **numbers)  # type: ignore[arg-type]


def _table(item: dict[str, Any], key: str) -> dict[str, Any]:
    found = item.get(key) or {}
    if not isinstance(found, dict):
        raise ValueError(f"{key} is not a table")
    return found


def _amount(name: str, key: str, value: Any) -> Any:
    quantity = parse_quantity(value)
    if quantity is None or quantity < 0:
        raise ValueError(f"{name}: {key} is {value!r:.40}, which is not a quantity")
    return quantity


def _told(labels: dict[str, Any], taints: Any) -> dict[str, str]:
    own = {key: value for key, value in labels.items() if not key.startswith(_UNSAID)}
    found = {"labels": ",".join(f"{key}={value}" for key, value in sorted(own.items()))} if own else {}
    if isinstance(taints, list):
        written = [
            f"{one['key']}={one['value']}:{one['effect']}" if one.get("value") else f"{one['key']}:{one['effect']}"
            for one in taints
            if isinstance(one, dict) and {"key", "effect"} <= one.keys()
        ]
        if written:
            found["taints"] = ",".join(written)
    return found


def _continues(group: NodeGroup, node: NodeGroup) -> bool:
    def alike(one: NodeGroup) -> tuple[Any, ...]:
        return one.prefix, one.suffix, one.width, one.resources, one.properties, one.numbered

    return node.numbered and group.first + group.count == node.first and alike(group) == alike(node)

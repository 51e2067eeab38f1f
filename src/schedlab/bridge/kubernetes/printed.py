"""Tables for people: what `kubectl get` prints of pods, nodes and events; of other kinds it prints names and ages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from schedlab.bridge.kubernetes.kinds import EVENTS, NEW_EVENTS, NODES, PODS, Kind
from schedlab.bridge.kubernetes.selectors import Object

_WIDE = 1  # the priority of columns that only `-o wide` shows
Column = tuple[str, str, int]

_NAME: Column = ("Name", "string", 0)
_AGE: Column = ("Age", "string", 0)
_POD_COLUMNS: tuple[Column, ...] = (
    _NAME,
    ("Ready", "string", 0),
    ("Status", "string", 0),
    ("Restarts", "string", 0),
    _AGE,
    ("IP", "string", _WIDE),
    ("Node", "string", _WIDE),
    ("Nominated Node", "string", _WIDE),
    ("Readiness Gates", "string", _WIDE),
)
_NODE_COLUMNS: tuple[Column, ...] = (
    _NAME,
    ("Status", "string", 0),
    ("Roles", "string", 0),
    _AGE,
    ("Version", "string", 0),
    ("Internal-IP", "string", _WIDE),
    ("External-IP", "string", _WIDE),
    ("OS-Image", "string", _WIDE),
    ("Kernel-Version", "string", _WIDE),
    ("Container-Runtime", "string", _WIDE),
)
_EVENT_COLUMNS: tuple[Column, ...] = (
    ("Last Seen", "string", 0),
    ("Type", "string", 0),
    ("Reason", "string", 0),
    ("Object", "string", 0),
    ("Subobject", "string", _WIDE),
    ("Source", "string", _WIDE),
    ("Message", "string", 0),
    ("First Seen", "string", _WIDE),
    ("Count", "string", _WIDE),
    ("Name", "string", _WIDE),
)


def table(kind: Kind, found: Sequence[Object], metadata: Object, now: float, whole: bool) -> Object:
    """Objects as rows, in the form that `kubectl` asks for; `whole`: each with the object, not only its metadata."""
    columns, cells = _PRINTED.get(kind, ((_NAME, ("Created At", "date", 0)), _other))
    rows = []
    for one in found:
        about = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": one["metadata"]}
        rows.append({"cells": cells(one, now), "object": one if whole else about})
    definitions = [
        {
            "name": name,
            "type": typed,
            "format": "name" if name == "Name" else "",
            "description": "",
            "priority": priority,
        }
        for name, typed, priority in columns
    ]
    head = {"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata}
    return {**head, "columnDefinitions": definitions, "rows": rows}


def _pod(pod: Object, now: float) -> list[Any]:
    metadata, spec, status = pod["metadata"], pod.get("spec") or {}, pod.get("status") or {}
    containers = status.get("containerStatuses") or []
    ready = sum(bool(one.get("ready")) for one in containers)
    return [
        metadata["name"],
        f"{ready}/{len(spec.get('containers') or [])}",
        _pod_state(metadata, status, containers),
        str(sum(one.get("restartCount") or 0 for one in containers)),
        age(metadata.get("creationTimestamp"), now),
        status.get("podIP") or "<none>",
        spec.get("nodeName") or "<none>",
        status.get("nominatedNodeName") or "<none>",
        "<none>",
    ]


def _pod_state(metadata: Object, status: Object, containers: list[Object]) -> str:
    if metadata.get("deletionTimestamp"):
        return "Terminating"
    for one in containers:
        waiting = (one.get("state") or {}).get("waiting") or {}
        if waiting.get("reason"):
            return str(waiting["reason"])
    phase = status.get("phase") or "Unknown"
    usual = {"Succeeded": "Completed", "Failed": "Error"}
    return str(status.get("reason") or usual.get(phase, phase))


def _node(node: Object, now: float) -> list[Any]:
    metadata, spec, status = node["metadata"], node.get("spec") or {}, node.get("status") or {}
    ready: Object = next((one for one in status.get("conditions") or [] if one.get("type") == "Ready"), {})
    state = {"True": "Ready", "False": "NotReady"}.get(ready.get("status", ""), "Unknown")
    prefix = "node-role.kubernetes.io/"
    roles = sorted(label.removeprefix(prefix) for label in metadata.get("labels") or {} if label.startswith(prefix))
    about = status.get("nodeInfo") or {}
    addresses = {one.get("type"): one.get("address") for one in status.get("addresses") or []}
    return [
        metadata["name"],
        state + (",SchedulingDisabled" if spec.get("unschedulable") else ""),
        ",".join(roles) or "<none>",
        age(metadata.get("creationTimestamp"), now),
        about.get("kubeletVersion") or "",
        addresses.get("InternalIP") or "<none>",
        addresses.get("ExternalIP") or "<none>",
        about.get("osImage") or "<unknown>",
        about.get("kernelVersion") or "<unknown>",
        about.get("containerRuntimeVersion") or "<unknown>",
    ]


def _event(event: Object, now: float) -> list[Any]:
    about = event.get("involvedObject") or {}
    series = event.get("series") or {}
    first = event.get("firstTimestamp") or event.get("eventTime") or event["metadata"].get("creationTimestamp")
    last = series.get("lastObservedTime") or event.get("lastTimestamp") or first
    source = event.get("source") or {}
    return [
        age(last, now),
        event.get("type") or "",
        event.get("reason") or "",
        f"{str(about.get('kind') or '').lower()}/{about.get('name') or ''}",
        about.get("fieldPath") or "",
        source.get("component") or event.get("reportingComponent") or "",
        str(event.get("message") or "").strip(),
        age(first, now),
        str(series.get("count") or event.get("count") or 1),
        event["metadata"]["name"],
    ]


def _other(found: Object, _: float) -> list[Any]:
    return [found["metadata"]["name"], found["metadata"].get("creationTimestamp")]


_PRINTED: dict[Kind, tuple[tuple[Column, ...], Callable[[Object, float], list[Any]]]] = {
    PODS: (_POD_COLUMNS, _pod),
    NODES: (_NODE_COLUMNS, _node),
    EVENTS: (_EVENT_COLUMNS, _event),
    NEW_EVENTS: (_EVENT_COLUMNS, _event),
}


def age(since: Any, now: float) -> str:
    """How long ago a time was, in the two largest units that tell something: 45s, 3m20s, 5h, 2d3h."""
    try:
        seconds = int(now - datetime.fromisoformat(str(since)).timestamp())
    except ValueError:
        return "<unknown>"
    if seconds < 0:
        return "0s" if seconds >= -1 else "<invalid>"
    if seconds < 120:
        return f"{seconds}s"
    # From how many seconds on: the unit, the smaller one, and from when on the smaller one is not told.
    for least, unit, smaller, silent in ((172_800, "d", "h", 691_200), (7_200, "h", "m", 28_800), (0, "m", "s", 600)):
        if seconds >= least:
            sizes = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
            whole, rest = divmod(seconds, sizes[unit])
            rest //= sizes[smaller]
            return f"{whole}{unit}" + (f"{rest}{smaller}" if rest and seconds < silent else "")
    raise AssertionError("the last of them fits everything")

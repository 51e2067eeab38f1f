"""What schedlab's nouns are called in Kubernetes: labels, resources, names of objects."""

from __future__ import annotations

import re
from collections.abc import Mapping

from schedlab.cluster.kubernetes import OURS, RESOURCES
from schedlab.files.quantity import cpu_text, memory_text

JOB = "schedlab.io/job"  # label of a pod: the job that it is a part of
GROUP = "schedlab.io/group"  # label of a node: its group
FEATURE = "feature.schedlab.io/"  # labels of nodes, each "true"
PARTITION = "partition.schedlab.io/"
SWITCH = "topology.schedlab.io/switch"
HOSTNAME = "kubernetes.io/hostname"

_NOT_IN_LABELS = re.compile(r"[^A-Za-z0-9_.-]+")
_NOT_IN_NAMES = re.compile(r"[^a-z0-9.-]+")


def resource_name(own: str) -> str:
    """Of a resource beside cores and memory: `nvidia.com/gpu` for gpus; others have a name of ours."""
    return RESOURCES.get(own) or (own if "/" in own else f"{OURS}{label_text(own)}")


def quantities(amounts: Mapping[str, int]) -> dict[str, str]:
    """Amounts as the engine counts them, as quantities. Exact shares of a core come before whole ones."""
    found: dict[str, str] = {}
    millicores = amounts.get("cpu_milli", amounts.get("cores", 0) * 1000)
    if millicores or "cores" in amounts:
        found["cpu"] = cpu_text(millicores)
    for name, amount in amounts.items():
        if name == "memory":
            found["memory"] = memory_text(amount)
        elif name not in ("cores", "cpu_milli") and amount:
            found[resource_name(name)] = str(amount)
    return found


def label_text(text: str) -> str:
    """Text that may be the value of a label, or the last part of its key."""
    return _NOT_IN_LABELS.sub("-", text)[:63].strip("-_.")


def object_name(text: str) -> str:
    """Text that may be the name of a pod or a node."""
    return _NOT_IN_NAMES.sub("-", text.lower())[:200].strip("-.") or "x"

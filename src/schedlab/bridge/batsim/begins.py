"""The first message: the machine, the rules, the workloads and their profiles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from schedlab.bridge.batsim.document import Document
from schedlab.bridge.batsim.platform import COMPUTE_NODE, Host, Platform
from schedlab.bridge.batsim.rules import Rules


def simulation_begins(platform: Platform, rules: Rules, documents: Iterable[Document]) -> bytes:
    """The data of SIMULATION_BEGINS."""
    known = list(documents)
    return msgspec.json.encode(
        {
            "nb_resources": len(platform.hosts),
            "nb_compute_resources": len(platform.compute),
            "nb_storage_resources": len(platform.storage),
            "allow_compute_sharing": rules.compute_sharing,
            "allow_storage_sharing": rules.storage_sharing,
            "config": rules.told(),
            "compute_resources": _hosts(platform.compute, 0),
            "storage_resources": _hosts(platform.storage, len(platform.compute)),
            "workloads": {document.name: document.file for document in known},
            "profiles": {document.name: document.told() for document in known},
        }
    )


def _hosts(hosts: Sequence[Host], first: int) -> list[dict[str, Any]]:
    return [
        {
            "id": number,
            "name": host.name,
            "state": "idle",
            "properties": {"role": "" if host.role == COMPUTE_NODE else host.role, **host.properties},
            "zone_properties": dict(host.zone_properties),
        }
        for number, host in enumerate(hosts, first)
    ]

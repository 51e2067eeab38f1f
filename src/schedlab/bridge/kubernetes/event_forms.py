"""Events have two forms, v1 and events.k8s.io/v1, of the same objects: fields have other names in the newer one."""

from __future__ import annotations

from schedlab.bridge.kubernetes.kinds import EVENTS, NEW_EVENTS
from schedlab.bridge.kubernetes.selectors import Object

# In v1 -> in events.k8s.io/v1.
_NAMES = {
    "involvedObject": "regarding",
    "message": "note",
    "reportingComponent": "reportingController",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
}
_OLD_NAMES = {new: old for old, new in _NAMES.items()}


def to_new(event: Object) -> Object:
    """An event of v1 in the form of events.k8s.io/v1."""
    renamed = {_NAMES.get(name, name): value for name, value in event.items()}
    return {**renamed, "apiVersion": NEW_EVENTS.group_version}


def from_new(event: Object) -> Object:
    """An event of events.k8s.io/v1, or a patch for one, in the form of v1."""
    renamed = {_OLD_NAMES.get(name, name): value for name, value in event.items()}
    return {**renamed, "apiVersion": EVENTS.group_version} if "apiVersion" in renamed else renamed

"""The types of the fields that are read here, of each kind: an object in which they are others is refused.

Everything else of an object is kept as it comes.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from schedlab.bridge.kubernetes.kinds import (
    BUDGETS,
    EVENTS,
    NAMESPACES,
    NEW_EVENTS,
    NODES,
    PODS,
    PRIORITY_CLASSES,
    QUOTAS,
    Kind,
)
from schedlab.bridge.kubernetes.status import StatusError

Texts = dict[str, str]
Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class Struct(msgspec.Struct, rename="camel"):
    """A part of an object."""


class OwnerReference(Struct):
    uid: str
    name: str
    kind: str
    api_version: str
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class Metadata(Struct):
    name: str | None = None
    generate_name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    resource_version: str | None = None
    labels: Texts | None = None
    annotations: Texts | None = None
    finalizers: list[str] | None = None
    owner_references: list[OwnerReference] | None = None
    generation: Int64 | None = None


class Typed(Struct):
    metadata: Metadata


class Toleration(Struct):
    key: str | None = None
    operator: str | None = None
    value: str | None = None
    effect: str | None = None
    toleration_seconds: Int64 | None = None


class Taint(Struct):
    key: str
    effect: str
    value: str | None = None


class Resources(Struct):
    requests: dict[str, Any] | None = None
    limits: dict[str, Any] | None = None


class Container(Struct):
    name: str | None = None
    image: str | None = None
    command: list[str] | None = None
    args: list[str] | None = None
    resources: Resources | None = None


class PodSpec(Struct):
    containers: list[Container] | None = None
    init_containers: list[Container] | None = None
    node_name: str | None = None
    node_selector: Texts | None = None
    scheduler_name: str | None = None
    priority: Int64 | None = None
    priority_class_name: str | None = None
    preemption_policy: str | None = None
    termination_grace_period_seconds: Int64 | None = None
    tolerations: list[Toleration] | None = None


class Condition(Struct):
    type: str
    status: str | None = None
    reason: str | None = None
    message: str | None = None


class ContainerStatus(Struct):
    name: str
    ready: bool = False
    restart_count: Int64 = 0
    state: dict[str, dict[str, Any] | None] | None = None


class PodStatus(Struct):
    phase: str | None = None
    reason: str | None = None
    nominated_node_name: str | None = None
    conditions: list[Condition] | None = None
    container_statuses: list[ContainerStatus] | None = None


class Pod(Typed):
    spec: PodSpec | None = None
    status: PodStatus | None = None


class Address(Struct):
    type: str
    address: str


class NodeSpec(Struct):
    taints: list[Taint] | None = None
    unschedulable: bool | None = None


class NodeStatus(Struct):
    conditions: list[Condition] | None = None
    addresses: list[Address] | None = None
    node_info: dict[str, Any] | None = None
    capacity: dict[str, Any] | None = None
    allocatable: dict[str, Any] | None = None


class Node(Typed):
    spec: NodeSpec | None = None
    status: NodeStatus | None = None


class Event(Typed):
    involved_object: dict[str, Any] | None = None
    series: dict[str, Any] | None = None
    source: dict[str, Any] | None = None


class PriorityClass(Typed):
    value: Int64 = 0
    global_default: bool | None = None
    preemption_policy: str | None = None


class NamespaceStatus(Struct):
    phase: str | None = None


class Namespace(Typed):
    spec: dict[str, Any] | None = None
    status: NamespaceStatus | None = None


class Expression(Struct):
    key: str
    operator: str
    values: list[str] | None = None


class LabelSelector(Struct):
    match_labels: Texts | None = None
    match_expressions: list[Expression] | None = None


class BudgetSpec(Struct):
    min_available: Int64 | str | None = None
    max_unavailable: Int64 | str | None = None
    selector: LabelSelector | None = None
    unhealthy_pod_eviction_policy: str | None = None


class BudgetStatus(Struct):
    disruptions_allowed: Int64 = 0
    conditions: list[Condition] | None = None


class Budget(Typed):
    spec: BudgetSpec | None = None
    status: BudgetStatus | None = None


class QuotaSpec(Struct):
    hard: dict[str, Any] | None = None
    scopes: list[str] | None = None
    scope_selector: dict[str, Any] | None = None


class Quota(Typed):
    spec: QuotaSpec | None = None
    status: dict[str, Any] | None = None


class Other(Typed):
    """What every kind may have."""

    status: dict[str, Any] | None = None


_SHAPES: dict[Kind, type[Typed]] = {
    PODS: Pod,
    NODES: Node,
    EVENTS: Event,
    NEW_EVENTS: Typed,
    NAMESPACES: Namespace,
    PRIORITY_CLASSES: PriorityClass,
    BUDGETS: Budget,
    QUOTAS: Quota,
}


def check_types(kind: Kind, found: Any) -> None:
    try:
        msgspec.convert(found, _SHAPES.get(kind, Other))
    except msgspec.ValidationError as error:
        message = f'{kind.name} in version "{kind.version}" cannot be handled as a {kind.name}: {error}'
        raise StatusError(400, message) from None

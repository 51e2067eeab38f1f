"""The network of a machine as SimGrid describes it: zones inside zones, with links, and routes along them."""

from __future__ import annotations

from typing import Any

import msgspec

from schedlab.model.cluster import NodeGroup, group_dict, group_of


class Link(msgspec.Struct, frozen=True, omit_defaults=True):
    name: str
    bandwidth: float  # bytes a second
    latency: float = 0.0  # seconds
    sharing: str = "shared"  # or "splitduplex": twice, as NAME_UP and NAME_DOWN; "fatpipe": each has all of it


class Route(msgspec.Struct, frozen=True, omit_defaults=True):
    """The links from one host or router to another; between zones, from a gateway of one to a gateway of the other."""

    source: str
    target: str
    links: tuple[str, ...]  # of one that is split: NAME_UP or NAME_DOWN
    gateways: tuple[str, str] | None = None
    symmetrical: bool = True  # the way back is the same, reversed


class Attachment(msgspec.Struct, frozen=True, omit_defaults=True):
    """How each node of a group is connected with the centre of its zone: by a link of its own."""

    group: str
    bandwidth: float
    latency: float = 0.0
    split: bool = True  # one link for each direction
    limiter: float = 0.0  # bandwidth of a link for both directions together; 0: none
    loopback: tuple[float, float] | None = None  # bandwidth and latency of what a node sends to itself


class HostLink(msgspec.Struct, frozen=True, omit_defaults=True):
    """The same of one node, with links that the zone has."""

    node: str
    up: str
    down: str


class Zone(msgspec.Struct, frozen=True, omit_defaults=True):
    name: str
    routing: str = "Full"
    properties: dict[str, str] = {}
    groups: tuple[str, ...] = ()  # the node groups that are in it, not deeper
    routers: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    routes: tuple[Route, ...] = ()
    backbone: str = ""  # a link between the nodes of a star
    attachments: tuple[Attachment, ...] = ()
    host_links: tuple[HostLink, ...] = ()
    coordinates: dict[str, tuple[float, float, float]] = {}  # of nodes, in ms; where they are not 0
    zones: tuple[Zone, ...] = ()


class Network(msgspec.Struct, frozen=True):
    """The outermost zone, and hosts that are in it but take no jobs (property `role`: master, storage)."""

    zone: Zone
    others: tuple[NodeGroup, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        zone: dict[str, Any] = msgspec.to_builtins(self.zone)
        return {"zone": zone, "others": [group_dict(group) for group in self.others]}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Network:
        return cls(msgspec.convert(data["zone"], Zone), tuple(group_of(group) for group in data["others"]))

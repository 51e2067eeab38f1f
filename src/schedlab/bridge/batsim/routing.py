"""The links between two hosts of a platform, found as SimGrid finds them: zone by zone, through gateways."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from schedlab.model.cluster import NodeGroup
from schedlab.model.errors import InputError
from schedlab.model.network import Link, Network, Route, Zone

# What a host of a zone with routes sends to itself by, where the platform does not say (SimGrid's defaults).
LOOPBACK = Link("__loopback__", 10e9, 0.0, "fatpipe")


@dataclass(frozen=True, slots=True)
class Path:
    links: tuple[str, ...] = ()  # one that is passed twice is there twice
    latency: float = 0.0


@dataclass(slots=True)
class Spokes:
    """The links of a node of a star: to its centre, from there, and to itself."""

    up: tuple[str, ...] = ()
    down: tuple[str, ...] = ()
    loopback: tuple[str, ...] | None = None


@dataclass(slots=True)
class _Leg:
    """A way through one zone; the gateways are where it begins and ends, if it is one between zones."""

    links: tuple[str, ...] = ()
    latency: float = 0.0
    gateways: tuple[str, str] | None = None


@dataclass(slots=True, eq=False)
class Place:
    """A zone: what is in it, and how to get from one of these to another."""

    zone: Zone
    parent: Place | None
    spokes: dict[str, Spokes] = field(default_factory=dict)
    legs: dict[tuple[str, str], _Leg] = field(default_factory=dict)

    @property
    def star(self) -> bool:
        return self.zone.routing in ("Cluster", "Vivaldi")

    def path(self) -> list[Place]:
        """From the outermost zone to this one."""
        return [*(self.parent.path() if self.parent else []), self]


class Routing:
    """`link(name)` are all links; `route(a, b)` is the way from one host (or router) to another."""

    def __init__(self, network: Network, groups: Mapping[str, NodeGroup]) -> None:
        self.links: dict[str, Link] = {LOOPBACK.name: LOOPBACK}
        self.places: dict[str, Place] = {}  # of hosts and routers
        self._split: set[str] = set()
        self._paths: dict[tuple[str, str], Path] = {}
        self._add(network.zone, None, groups)

    def _add(self, zone: Zone, parent: Place | None, groups: Mapping[str, NodeGroup]) -> None:
        place = Place(zone, parent)
        names = [name for group in zone.groups for name in groups[group].node_names()]
        for name in (*names, *zone.routers):
            self.places[name] = place
        for link in zone.links:
            self._add_link(link)
        for inner in zone.zones:
            self._add(inner, place, groups)
        self._add_spokes(place, groups)
        for route in zone.routes:
            self._add_route(place, route)
        if zone.routing == "Full" and not zone.zones:
            for name in names:
                place.legs.setdefault((name, name), self._leg((LOOPBACK.name,)))

    def _add_link(self, link: Link) -> None:
        if link.sharing == "splitduplex":
            self._split.add(link.name)
            for direction in ("UP", "DOWN"):
                name = f"{link.name}_{direction}"
                self.links[name] = Link(name, link.bandwidth, link.latency)
        else:
            self.links[link.name] = link

    def _add_spokes(self, place: Place, groups: Mapping[str, NodeGroup]) -> None:
        """The links of the nodes of a star, those of each node of a cluster made here."""
        zone = place.zone
        backbone = (zone.backbone,) if zone.backbone else ()
        for attachment in zone.attachments:
            for node in groups[attachment.group].node_names():
                name = f"{zone.name}_link_{node}"
                self._add_link(
                    Link(
                        name, attachment.bandwidth, attachment.latency, "splitduplex" if attachment.split else "shared"
                    )
                )
                up, down = (f"{name}_UP", f"{name}_DOWN") if attachment.split else (name, name)
                limiter: tuple[str, ...] = ()
                if attachment.limiter:
                    limiter = (f"{name}_limiter",)
                    self._add_link(Link(limiter[0], attachment.limiter))
                loopback = None
                if attachment.loopback is not None:
                    loopback = (f"{name}_loopback",)
                    self._add_link(Link(loopback[0], *attachment.loopback, "fatpipe"))
                place.spokes[node] = Spokes((*limiter, up, *backbone), (*backbone, down, *limiter), loopback)
        for one in zone.host_links:
            place.spokes[one.node] = Spokes((one.up, *backbone), (*backbone, one.down))

    def _add_route(self, place: Place, route: Route) -> None:
        place.legs[route.source, route.target] = self._leg(route.links, route.gateways)
        if route.symmetrical and route.source != route.target:
            back = tuple(self._other_direction(link) for link in reversed(route.links))
            gateways = (route.gateways[1], route.gateways[0]) if route.gateways else None
            place.legs[route.target, route.source] = self._leg(back, gateways)

    def _other_direction(self, link: str) -> str:
        name, _, direction = link.rpartition("_")
        return f"{name}_{'DOWN' if direction == 'UP' else 'UP'}" if name in self._split else link

    def _leg(self, links: tuple[str, ...], gateways: tuple[str, str] | None = None) -> _Leg:
        return _Leg(links, sum(self.links[link].latency for link in links), gateways)

    def route(self, source: str, target: str) -> Path:
        found = self._paths.get((source, target))
        if found is None:
            found = self._paths[source, target] = self._find(source, target)
        return found

    def _find(self, source: str, target: str) -> Path:
        place = self.places[source]
        if place is self.places[target]:
            leg = self._through(place, source, target)
            return Path(leg.links, leg.latency)
        first, middle, last = self.crossing(source, target)
        before = Path() if first == source else self.route(source, first)
        after = Path() if last == target else self.route(last, target)
        latency = before.latency + middle.latency + after.latency
        return Path(before.links + middle.links + after.links, latency)

    def crossing(self, source: str, target: str) -> tuple[str, Path, str]:
        """Between hosts of two zones: the gateway of the one's, the way from there, the gateway of the other's.

        It is the same for all hosts of these zones.
        """
        ours, theirs = self.places[source].path(), self.places[target].path()
        pairs = zip(ours, theirs, strict=False)
        depth = next((depth for depth, (one, other) in enumerate(pairs) if one is not other), 0)
        if depth:  # else one zone is inside the other: SimGrid has no routes there
            leg = self._through(ours[depth - 1], ours[depth].zone.name, theirs[depth].zone.name)
            if leg.gateways is not None:
                return leg.gateways[0], Path(leg.links, leg.latency), leg.gateways[1]
        raise self._no_route(source, target)

    def _through(self, place: Place, source: str, target: str) -> _Leg:
        if place.star:
            return self._star(place, source, target)
        if place.zone.routing in ("Floyd", "Dijkstra", "DijkstraCache"):
            return self._shortest(place, source, target)
        return place.legs.get((source, target), _Leg())

    def _star(self, place: Place, source: str, target: str) -> _Leg:
        ours, theirs = (place.spokes.get(name, Spokes()) for name in (source, target))
        if source == target and ours.loopback is not None:
            return self._leg(ours.loopback)
        leg = self._leg(tuple(dict.fromkeys(ours.up + theirs.down)))  # a link is passed once
        leg.latency += distance(place.zone, source, target)
        return leg

    def _shortest(self, place: Place, source: str, target: str) -> _Leg:
        """The way with the fewest links."""
        if (source, target) in place.legs or source == target:
            return place.legs.get((source, target), self._leg((LOOPBACK.name,)))
        reached: set[str] = set()
        heap: list[tuple[int, int, str, tuple[_Leg, ...]]] = [(0, 0, source, ())]
        order = 0
        while heap:
            cost, _, name, way = heapq.heappop(heap)
            if name == target:
                return self._joined(way)
            if name in reached:
                continue
            reached.add(name)
            for (first, last), leg in place.legs.items():
                if first == name and last not in reached:
                    order += 1
                    heapq.heappush(heap, (cost + len(leg.links), order, last, (*way, leg)))
        raise self._no_route(source, target)

    def _joined(self, way: Sequence[_Leg]) -> _Leg:
        links, latency = way[0].links, way[0].latency
        for before, leg in pairwise(way):
            if before.gateways and leg.gateways and before.gateways[1] != leg.gateways[0]:
                between = self.route(before.gateways[1], leg.gateways[0])
                links, latency = links + between.links, latency + between.latency
            links, latency = links + leg.links, latency + leg.latency
        first, last = way[0].gateways, way[-1].gateways
        return _Leg(links, latency, (first[0], last[1]) if first and last else None)

    def _no_route(self, source: str, target: str) -> InputError:
        hint = "say it in the platform, with a <route> or a <zoneRoute>"
        return InputError(f"there is no route from '{source}' to '{target}'", hint=hint)


def distance(zone: Zone, source: str, target: str) -> float:
    """Seconds between two nodes of a Vivaldi zone, whose coordinates are in milliseconds."""
    if not zone.coordinates:
        return 0.0
    (x, y, height), (other_x, other_y, other_height) = (
        zone.coordinates.get(name, (0.0, 0.0, 0.0)) for name in (source, target)
    )
    return (math.hypot(x - other_x, y - other_y) + abs(height) + abs(other_height)) / 1000.0

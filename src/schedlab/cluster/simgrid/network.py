"""Links and routes of a SimGrid platform: zones, clusters and cabinets as `model/network.py` has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from schedlab.cluster.simgrid.units import parse_bandwidth, parse_latency
from schedlab.cluster.simgrid.write import CLUSTER_NAME
from schedlab.files.xml_tree import Element
from schedlab.model.network import Attachment, HostLink, Link, Route, Zone

SHARING = {"SHARED": "shared", "FATPIPE": "fatpipe", "SPLITDUPLEX": "splitduplex", "FULLDUPLEX": "splitduplex"}
ROUTES = ("route", "zoneRoute", "ASroute")
ROUTINGS = ("Full", "Cluster", "Floyd", "Dijkstra", "DijkstraCache", "Vivaldi", "None")
READ_ELEMENTS = {*ROUTES, "link", "router", "backbone", "host_link"}  # of zones, besides hosts and zones
READ_ATTRIBUTES = {
    *("bw", "lat", "bb_bw", "bb_lat", "bb_sharing_policy", "sharing_policy", "limiter_link", "router_id"),
    *("loopback_bw", "loopback_lat", "coordinates", "bw_in", "bw_out", "topology", "topo_parameters"),
}

Report = Callable[[Element, str], None]


class NetworkReader:
    """`groups` has the names of the node groups of each element (by `id`): a zone, cluster or cabinet."""

    def __init__(self, groups: Mapping[int, Sequence[str]], report: Report) -> None:
        self._groups, self._report = groups, report
        self._split: set[str] = set()  # links of which there is one for each direction
        self._links: set[str] = set()
        self.unknown: list[str] = []  # routings and topologies that are not followed

    def zone(self, element: Element) -> Zone:
        links = [self._link(child) for child in element.children if child.tag in ("link", "backbone")]
        peers = [self._peer(child) for child in element.children if child.tag == "peer"]
        attachments = [one for child in element.children for one in self._attached(child)]
        # Zones before routes: routes may go along links of zones that stand after them, too.
        zones = [
            self.zone(child) if child.tag in ("zone", "AS") else self._cluster(child)
            for child in element.children
            if child.tag in ("zone", "AS", "cluster")
        ]
        backbone = next((child.attributes.get("id", "") for child in element.children if child.tag == "backbone"), "")
        return Zone(
            element.attributes.get("id", ""),
            self._routing(element),
            _properties(element),
            tuple(self._groups.get(id(element), ()))
            + tuple(name for child in element.children if child.tag == "cabinet" for name in self._names(child)),
            tuple(child.attributes.get("id", "") for child in element.children if child.tag == "router"),
            tuple(link for link in links if link is not None) + tuple(link for _, *pair in peers for link in pair),
            tuple(self._route(child) for child in element.children if child.tag in ROUTES),
            backbone,
            tuple(attachments),
            tuple(self._host_link(child) for child in element.children if child.tag == "host_link")
            + tuple(HostLink(name, up.name, down.name) for name, up, down in peers),
            _coordinates(element),
            tuple(zones),
        )

    def _routing(self, element: Element) -> str:
        routing = element.attributes.get("routing", "Full")
        found = next((one for one in ROUTINGS if one.lower() == routing.lower()), "")
        if not found:
            self.unknown.append(f"routing {routing}")
        return found or "None"

    def _names(self, element: Element) -> Sequence[str]:
        return self._groups.get(id(element), ())

    def _cluster(self, element: Element) -> Zone:
        """Its nodes around a router, each with its own link; and a backbone, if it has one."""
        get = element.attributes.get
        topology = get("topology", "FLAT")
        name, properties, groups = get("id", ""), _properties(element), tuple(self._names(element))
        if topology != "FLAT":
            self.unknown.append(f"topology {topology}")
            return Zone(name, "None", properties, groups)
        router = get("router_id") or f"{get('prefix', '')}{name}_router{get('suffix', '')}"
        backbone = self._backbone(element, name)
        loopback = None
        if get("loopback_bw") or get("loopback_lat"):
            loopback = (self._bandwidth(element, "loopback_bw", "0"), self._latency(element, "loopback_lat", "0"))
        attachments: tuple[Attachment, ...] = ()
        if get("bw"):
            link = self._bandwidth(element, "bw"), self._latency(element, "lat")
            split = self._sharing(element, "sharing_policy", "SPLITDUPLEX") == "splitduplex"
            limiter = self._bandwidth(element, "limiter_link", "0")
            attachments = tuple(Attachment(group, *link, split, limiter, loopback) for group in groups)
        return Zone(
            name,
            "Cluster",
            properties,
            groups,
            routers=(router,),
            links=() if backbone is None else (backbone,),
            backbone="" if backbone is None else backbone.name,
            attachments=attachments,
        )

    def _backbone(self, element: Element, name: str) -> Link | None:
        if not (element.attributes.get("bb_bw") or element.attributes.get("bb_lat")):
            return None
        bandwidth, latency = self._bandwidth(element, "bb_bw", "0"), self._latency(element, "bb_lat", "0")
        return Link(f"{name}_backbone", bandwidth, latency, self._sharing(element, "bb_sharing_policy", "SHARED"))

    def _attached(self, element: Element) -> list[Attachment]:
        if element.tag != "cabinet":
            return []
        bandwidth, latency = self._bandwidth(element, "bw"), self._latency(element, "lat")
        return [Attachment(group, bandwidth, latency) for group in self._names(element)]

    def _peer(self, element: Element) -> tuple[str, Link, Link]:
        name = element.attributes.get("id", "")
        up = Link(f"link_{name}_UP", self._bandwidth(element, "bw_out"))
        return name, up, Link(f"link_{name}_DOWN", self._bandwidth(element, "bw_in"))

    def _link(self, element: Element) -> Link | None:
        name = element.attributes.get("id", "")
        if not name:
            self._report(element, "has no id")
            return None
        if name in self._links:
            self._report(element, "there is a link of this name already")
            return None
        self._links.add(name)
        sharing = "shared" if element.tag == "backbone" else self._sharing(element, "sharing_policy", "SHARED")
        if sharing == "splitduplex":
            self._split.add(name)
        return Link(name, self._bandwidth(element, "bandwidth"), self._latency(element, "latency", "0"), sharing)

    def _host_link(self, element: Element) -> HostLink:
        node, up, down = (element.attributes.get(key, "") for key in ("id", "up", "down"))
        for link in (up, down):
            self._known(element, link, f"there is no link '{link}'")
        return HostLink(node, up, down)

    def _route(self, element: Element) -> Route:
        get = element.attributes.get
        gateways = (get("gw_src", ""), get("gw_dst", "")) if element.tag != "route" else None
        links = [self._on_route(child) for child in element.children if child.tag == "link_ctn"]
        back = get("symmetrical", "YES").lower() != "no"
        return Route(get("src", ""), get("dst", ""), tuple(links), gateways, back)

    def _on_route(self, element: Element) -> str:
        name, direction = element.attributes.get("id", ""), element.attributes.get("direction", "NONE").upper()
        self._known(element, name, f"there is no link '{name}' above this route")
        if (name in self._split) != (direction in ("UP", "DOWN")):
            expected = 'direction="UP" or "DOWN"' if name in self._split else "no direction"
            self._report(element, f"a link that is {'' if name in self._split else 'not '}split has {expected}")
        return f"{name}_{direction}" if name in self._split else name

    def _known(self, element: Element, link: str, message: str) -> None:
        if link not in self._links:
            self._report(element, message)

    def _sharing(self, element: Element, key: str, default: str) -> str:
        text = element.attributes.get(key, default)
        if text not in SHARING:
            self._report(element, f"{key} is '{text[:40]}', expected {', '.join(SHARING)}")
        return SHARING.get(text, "shared")

    def _bandwidth(self, element: Element, key: str, default: str = "") -> float:
        return self._value(element, key, default, parse_bandwidth)

    def _latency(self, element: Element, key: str, default: str = "") -> float:
        return self._value(element, key, default, parse_latency)

    def _value(self, element: Element, key: str, default: str, parse: Callable[[str], float]) -> float:
        try:
            return parse(element.attributes.get(key) or default)
        except ValueError as error:
            self._report(element, f"{key}: {error}")
            return 0.0


def has_network(zone: Zone) -> bool:
    """Whether it says anything of a network, or of zones."""
    return bool(zone.links or zone.attachments or zone.coordinates or zone.properties) or any(
        has_network(inner) for inner in zone.zones
    )


def _properties(element: Element) -> dict[str, str]:
    found = {
        child.attributes.get("id", ""): child.attributes.get("value", "")
        for child in element.children
        if child.tag == "prop"
    }
    found.pop(CLUSTER_NAME, None)  # that is the cluster's
    return found


def _coordinates(element: Element) -> dict[str, tuple[float, float, float]]:
    """Of the hosts that are not at 0 0 0."""
    found = {}
    for child in element.children:
        texts = child.attributes.get("coordinates", "").split()
        try:
            numbers = [float(text) for text in texts]
        except ValueError:
            continue
        if child.tag in ("host", "peer", "router") and len(numbers) == 3 and any(numbers):
            found[child.attributes.get("id", "")] = (numbers[0], numbers[1], numbers[2])
    return found

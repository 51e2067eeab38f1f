"""SimGrid platforms (XML) as Batsim uses them: compute hosts are the nodes. `docs/formats/batsim.md` has the rules."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from schedlab.cluster.simgrid.hosts import Hosts, node_groups, split_host_name
from schedlab.cluster.simgrid.network import READ_ATTRIBUTES as NETWORK_ATTRIBUTES
from schedlab.cluster.simgrid.network import READ_ELEMENTS, NetworkReader, has_network
from schedlab.cluster.simgrid.units import parse_radical, parse_speeds
from schedlab.cluster.simgrid.write import CLUSTER_NAME, GROUP_NAME, write_simgrid
from schedlab.files.xml_tree import Element, read_xml
from schedlab.model.cluster import Cluster, NodeGroup
from schedlab.model.errors import InputError
from schedlab.model.mistakes import raise_first
from schedlab.model.network import Network
from schedlab.model.nodeset import MOST_NODES, split_name

__all__ = ["looks_like", "read_simgrid", "write_simgrid"]

MOST_CORES = 10**9
ROLES = ("master", "compute_node", "storage")
MASTER_NAME = re.compile(r"master_host[0-9]*")  # Batsim's default, where no host has the role
READ_ATTRIBUTES = {"id", "speed", "power", "core", "pstate", "prefix", "suffix", "radical", *NETWORK_ATTRIBUTES}


def looks_like(start: str, name: str) -> bool:
    return "<platform" in start and start.lstrip().startswith("<")


def read_simgrid(path: Path, roles: Mapping[str, str] | None = None) -> Cluster:
    """The compute hosts of a platform, in the order of the file; the master and storages are no nodes.

    `roles` are those that some hosts have besides what the file says.
    """
    root = read_xml(path)
    if root.tag != "platform":
        where = f"{path}, line {root.line}"
        raise InputError(f"is XML of <{root.tag}>, expected a SimGrid <platform>", where=where)
    platform = _Platform(path, roles or {})
    platform.walk(root)
    platform.check_names()
    left_out = platform.left_out()
    nodes = [hosts for hosts in platform.hosts if not any(hosts in some for some in left_out.values())]
    taken: set[str] = set()
    groups = node_groups(nodes, taken)
    others = [
        (replace(group, properties={**group.properties, "role": role}), origin)
        for role, some in left_out.items()
        for group, origin in node_groups(some, taken)
    ]
    network = platform.network(root, groups, others)
    platform.raise_mistakes()
    if not nodes:
        found = "only hosts that do not compute" if platform.hosts else "no <host> and no <cluster>"
        raise InputError(f"describes no compute node: {found}", where=str(path), hint="is it the right file?")
    name = platform.name or path.name.removesuffix(".gz").removesuffix(".zst").removesuffix(".xml")
    return Cluster(tuple(group for group, _ in groups), name=name, network=network, notes=platform.notes(left_out))


class _Platform:
    """What a walk over the elements of a file finds."""

    def __init__(self, path: Path, roles: Mapping[str, str]) -> None:
        self.hosts: list[Hosts] = []
        self.mistakes: list[InputError] = []
        self.name = ""
        self._path, self._roles = path, roles
        self._elements: dict[str, int] = {}  # not represented: tag -> how many
        self._attributes: set[str] = set()  # of hosts and clusters, likewise
        self._unknown: list[str] = []  # routings and topologies, likewise

    def walk(self, outer: Element) -> None:
        for element in outer.children:
            if element.tag in ("zone", "AS"):
                self.walk(element)
            elif element.tag in ("host", "peer"):
                self._host(element, origin=id(outer))
            elif element.tag in ("cluster", "cabinet"):
                self._cluster(element)
            elif element.tag == "prop":
                self._zone_property(element)
            elif element.tag == "include":
                self._mistake(element, "<include> is not followed: write the hosts of the other file here")
            elif element.tag not in READ_ELEMENTS:
                self._leave(element)

    def network(
        self, root: Element, groups: Sequence[tuple[NodeGroup, int]], others: Sequence[tuple[NodeGroup, int]]
    ) -> Network | None:
        """Links and routes, and the hosts that are no nodes; None of a cluster that was written as a platform."""
        names: dict[int, list[str]] = {}
        for group, origin in (*groups, *others):
            names.setdefault(origin, []).append(group.name)
        reader = NetworkReader(names, self._mistake)
        zone = reader.zone(root)
        self._unknown = reader.unknown
        if self.name and not has_network(zone) and all(group.properties["role"] == "master" for group, _ in others):
            return None
        return Network(zone, tuple(group for group, _ in others))

    def raise_mistakes(self) -> None:
        raise_first(self.mistakes, str(self._path))

    def _host(self, element: Element, origin: int) -> None:
        name = self._attribute(element, "id")
        if name:
            self._add(element, *split_host_name(name), count=1, origin=origin, group="")

    def _cluster(self, element: Element) -> None:
        """Each stretch of its radical; cabinets usually have an id that all of them share."""
        radical = self._attribute(element, "radical")
        try:
            stretches = parse_radical(radical) if radical else []
        except ValueError as error:
            self._mistake(element, f"radical: {error}")
            return
        prefix, suffix = (element.attributes.get(key, "") for key in ("prefix", "suffix"))
        group = element.attributes.get("id", "") if element.tag == "cluster" else ""
        for first, last in stretches:
            named = any(f"{prefix}{number}{suffix}" in self._roles for number in range(first, last + 1))
            for start in range(first, last + 1) if named else [first]:  # one by one where some have roles of their own
                count = 1 if named else last - first + 1
                self._add(element, prefix, str(start), suffix, count, id(element), group)

    def _add(
        self, element: Element, prefix: str, digits: str, suffix: str, count: int, origin: int, group: str
    ) -> None:
        properties = self._properties(element)
        said = (properties.pop("role", ""), self._roles.get(f"{prefix}{digits}{suffix}", ""))
        roles = frozenset(role.strip() for role in ",".join(said).split(",") if role.strip())
        if unknown := roles - set(ROLES):
            self._mistake(element, f"role '{min(unknown)}' is not known; expected {', '.join(ROLES)}")
        speed = self._speed(element, properties)
        group = properties.pop(GROUP_NAME, group)
        cores = self._whole(element, "core", 1, 1, MOST_CORES)
        self.hosts.append(
            Hosts(prefix, digits, suffix, count, cores, speed, properties, roles, origin, group, element.line)
        )
        self._attributes |= element.attributes.keys() - READ_ATTRIBUTES

    def _properties(self, element: Element) -> dict[str, str]:
        found = {}
        for child in element.children:
            if child.tag == "prop":
                found[self._attribute(child, "id")] = child.attributes.get("value", "")
            else:
                self._leave(child)
        return found

    def _speed(self, element: Element, properties: dict[str, str]) -> float:
        """That of the state in which the host begins; `speeds` gets all, if there are several."""
        text = element.attributes.get("speed", element.attributes.get("power"))  # power: version 3
        if text is None:
            self._mistake(element, "has no speed; expected one like speed='1Gf'")
            return 0.0
        try:
            speeds = parse_speeds(text)
        except ValueError as error:
            self._mistake(element, f"speed: {error}")
            return 0.0
        state = self._whole(element, "pstate", 0, 0, len(speeds) - 1)
        if len(speeds) > 1:
            properties["speeds"] = ",".join(part.strip() for part in text.split(","))
        if state:
            properties["pstate"] = str(state)
        return speeds[state] if state < len(speeds) else 0.0

    def _whole(self, element: Element, attribute: str, default: int, lowest: int, highest: int) -> int:
        text = element.attributes.get(attribute, str(default)).strip()
        if not re.fullmatch("[0-9]{1,18}", text) or not lowest <= int(text) <= highest:
            expected = f"a whole number from {lowest} to {highest:,}"
            self._mistake(element, f"{attribute} is '{text[:40]}', expected {expected}")
            return default
        return int(text)

    def _zone_property(self, element: Element) -> None:
        if self._attribute(element, "id") == CLUSTER_NAME:
            self.name = element.attributes.get("value", "")

    def _attribute(self, element: Element, name: str) -> str:
        value = element.attributes.get(name, "")
        if not value:
            self._mistake(element, f"has no {name}")
        return value

    def _leave(self, element: Element) -> None:
        self._elements[element.tag] = self._elements.get(element.tag, 0) + 1

    def _mistake(self, element: Element, message: str) -> None:
        name = element.attributes.get("id") or element.attributes.get("prefix", "")
        called = f"<{element.tag}>" + (f" '{name}'" if name else "")
        self.mistakes.append(InputError(message, where=f"{self._path}, line {element.line}, {called}"))

    def check_names(self) -> None:
        """Every name once, and such that it can stand in a node set."""
        if sum(hosts.count for hosts in self.hosts) > MOST_NODES:
            self.mistakes.append(InputError(f"has more than {MOST_NODES:,} hosts", where=str(self._path)))
            return
        lines: dict[str, int] = {}
        for hosts in self.hosts:
            where = f"{self._path}, line {hosts.line}"
            for name in hosts.names():
                if name in lines:
                    message = f"there is a host '{name}' on line {lines[name]} already"
                    self.mistakes.append(InputError(message, where=where))
                    break
                lines[name] = hosts.line
            try:
                split_name(name)
            except ValueError as error:
                self.mistakes.append(InputError(str(error), where=where))

    def left_out(self) -> dict[str, list[Hosts]]:
        """Hosts that do not compute, by what they are."""
        by_role = [hosts for hosts in self.hosts if hosts.roles and "compute_node" not in hosts.roles]
        masters = [hosts for hosts in by_role if "master" in hosts.roles]
        storages = [hosts for hosts in by_role if "master" not in hosts.roles]
        if not masters:
            masters = [hosts for hosts in self.hosts if not hosts.roles and MASTER_NAME.fullmatch(next(hosts.names()))]
        return {"master": masters, "storage": storages}

    def notes(self, left_out: dict[str, list[Hosts]]) -> tuple[str, ...]:
        said = []
        for role, hosts in left_out.items():
            names = [name for some in hosts for name in some.names()]
            if names:
                shown = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
                said.append(f"left out: {len(names):,} {role} host{'s' if len(names) > 1 else ''} ({shown})")
        if self._elements:
            counted = ", ".join(f"{count:,} <{tag}>" for tag, count in sorted(self._elements.items()))
            said.append(f"not represented: {counted}")
        if self._attributes:
            said.append(f"not represented: attributes of hosts and clusters ({', '.join(sorted(self._attributes))})")
        if self._unknown:
            said.append(f"communication along these costs nothing: {', '.join(dict.fromkeys(self._unknown))}")
        return tuple(said)

"""Hosts of a SimGrid platform, and the groups that identical ones with consecutive numbers form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from schedlab.files.quantity import parse_quantity, whole
from schedlab.model.cluster import NodeGroup

_AT_END = re.compile(r"(.*?)([0-9]{1,18})()", re.DOTALL)
_BEFORE_DOMAIN = re.compile(r"([^.]*?)([0-9]{1,18})([^.0-9]*(?:\..*)?)", re.DOTALL)
_NOT_IN_GROUP_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True)
class Hosts:
    """Some identical hosts: one, or a stretch of a cluster with consecutive numbers."""

    prefix: str
    digits: str  # the first number as written; empty: a single host, called prefix + suffix
    suffix: str
    count: int
    cores: int
    speed: float
    properties: dict[str, str]
    roles: frozenset[str]
    origin: int  # what it stands in: hosts of different clusters and zones stay apart
    group: str  # how the file calls the group; empty: not at all
    line: int = field(compare=False)

    def names(self) -> Iterator[str]:
        if not self.digits:
            yield f"{self.prefix}{self.suffix}"
            return
        width = padding(self.digits)
        for number in range(int(self.digits), int(self.digits) + self.count):
            yield f"{self.prefix}{number:0{width}d}{self.suffix}"

    def follows(self, earlier: Hosts, number: int) -> bool:
        """Whether these are like the earlier ones and begin with that number."""
        return (
            bool(self.digits and earlier.digits)
            and self.digits == f"{number:0{padding(earlier.digits)}d}"
            and (self.prefix, self.suffix) == (earlier.prefix, earlier.suffix)
            and (self.cores, self.speed, self.properties) == (earlier.cores, earlier.speed, earlier.properties)
            and (self.origin, self.group) == (earlier.origin, earlier.group)
        )


def split_host_name(name: str) -> tuple[str, str, str]:
    """What comes before the number, the number, and what comes after: `n-7.site.org` as ("n-", "7", ".site.org").

    The number is at the end, or else the last one before the first dot; a name without such a one is all prefix.
    """
    match = _AT_END.fullmatch(name) or _BEFORE_DOMAIN.fullmatch(name)
    return (match[1], match[2], match[3]) if match else (name, "", "")


def padding(digits: str) -> int:
    """The width to which these digits show that numbers are padded; 0: they do not."""
    return len(digits) if len(digits) > 1 and digits[0] == "0" else 0


def node_groups(hosts: Sequence[Hosts], taken: set[str]) -> list[tuple[NodeGroup, int]]:
    """Groups in the order of the file, each with what it stands in; their names join those that are taken."""
    stretches: list[tuple[Hosts, int]] = []  # the first hosts, and how many with those that follow
    for some in hosts:
        if stretches:
            first, count = stretches[-1]
            if first.digits and some.follows(first, int(first.digits) + count):
                stretches[-1] = (first, count + some.count)
                continue
        stretches.append((some, some.count))
    return [(_group(first, count, _free_name(first, count, taken)), first.origin) for first, count in stretches]


def _resources(hosts: Hosts) -> dict[str, int]:
    """Batkube says what a node has in the properties `core` and `memory`: 6, 750Mi. They count before `core="…"`."""
    cores, memory = (parse_quantity(hosts.properties.get(name, "").strip()) for name in ("core", "memory"))
    found = {"cores": int(cores) if cores is not None and cores >= 1 else hosts.cores}
    return {**found, "memory": whole(memory)} if memory is not None and memory > 0 else found


def _group(hosts: Hosts, count: int, name: str) -> NodeGroup:
    resources = _resources(hosts)
    if not hosts.digits:
        return NodeGroup(
            name,
            1,
            resources,
            prefix=hosts.prefix,
            suffix=hosts.suffix,
            numbered=False,
            speed=hosts.speed,
            properties=hosts.properties,
        )
    first = int(hosts.digits)
    longest = len(str(first + count - 1))
    # As in a cluster file: as many digits as the last number has, or 1 where that would pad.
    width = padding(hosts.digits) or (longest if len(hosts.digits) == longest else 1)
    return NodeGroup(
        name,
        count,
        resources,
        prefix=hosts.prefix,
        first=first,
        width=width,
        suffix=hosts.suffix,
        speed=hosts.speed,
        properties=hosts.properties,
    )


def _free_name(hosts: Hosts, count: int, taken: set[str]) -> str:
    """The group's own name, or that of its only host, or how its hosts' names begin; with -2, -3 … if that is taken."""
    wish = hosts.group or (next(hosts.names()) if count == 1 else hosts.prefix.rstrip("-_."))
    wish = _NOT_IN_GROUP_NAMES.sub("-", wish)[:90] or "nodes"
    name, number = wish, 1
    while name in taken:
        number += 1
        name = f"{wish}-{number}"
    taken.add(name)
    return name

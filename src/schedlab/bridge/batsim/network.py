"""What is sent along which link when executors send to one another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from schedlab.bridge.batsim.routing import Path, Place, Routing, Spokes

Pair = tuple[str, str, float]  # from, to, bytes


class Traffic:
    """Collected: bytes along each link, the longest latency, the largest latency x bytes of a pair."""

    def __init__(self, routing: Routing) -> None:
        self._routing = routing
        self.bytes: dict[str, float] = {}
        self.latency = 0.0
        self.window = 0.0

    def add(self, pairs: Iterable[Pair]) -> None:
        for source, target, amount in pairs:
            if amount > 0:
                path = self._routing.route(source, target)
                self.put(path.links, amount, amount)
                self.pair(path.latency, amount)

    def put(self, links: Iterable[str], total: float, largest: float) -> None:
        """So much along each of these, of which the largest single amount is that."""
        amounts = self.bytes
        for link in links:
            if self._routing.links[link].sharing == "fatpipe":
                amounts[link] = max(amounts.get(link, 0.0), largest)
            else:
                amounts[link] = amounts.get(link, 0.0) + total

    def pair(self, latency: float, amount: float) -> None:
        self.latency = max(self.latency, latency)
        self.window = max(self.window, latency * amount)


def everyone_to_everyone(routing: Routing, hosts: Sequence[str], amount: float) -> Traffic:
    """Each of these different hosts sends so many bytes to each other one.

    The pairs are as many as the square of the hosts. In a star, and between two of them, what a link carries follows
    from how many hosts use it.
    """
    by_place: dict[int, tuple[Place, list[str]]] = {}
    for host in hosts:
        place = routing.places[host]
        by_place.setdefault(id(place), (place, []))[1].append(host)
    traffic = Traffic(routing)
    groups = list(by_place.values())
    for place, members in groups:
        if place.star and not place.zone.coordinates:
            _inside(traffic, routing, place, members, amount)
        else:
            traffic.add((a, b, amount) for a in members for b in members if a is not b)
        for other, others in groups:
            if other is not place:
                _between(traffic, routing, members, others, amount)
    return traffic


def _inside(traffic: Traffic, routing: Routing, place: Place, members: Sequence[str], amount: float) -> None:
    """Of n hosts, each sends to n - 1 on its own link; all pairs use what is common, once each."""
    count = len(members)
    if count < 2:
        return
    spokes = [place.spokes.get(name, Spokes()) for name in members]
    users: dict[str, list[int]] = {}  # of each link: on how many ways up it is, on how many down, on both of one host
    for one in spokes:
        for link in one.up:
            users.setdefault(link, [0, 0, 0])[0] += 1
        for link in one.down:
            users.setdefault(link, [0, 0, 0])[1] += 1
        for link in {*one.up} & {*one.down}:
            users[link][2] += 1
    for link, (up, down, both) in users.items():
        twice = up * down - both  # pairs of different hosts of which both use it
        traffic.put((link,), ((up + down) * (count - 1) - twice) * amount, amount)
    for source, target in _longest(routing, members, spokes):
        traffic.pair(routing.route(source, target).latency, amount)


def _longest(routing: Routing, members: Sequence[str], spokes: Sequence[Spokes]) -> list[tuple[str, str]]:
    """Pairs among which is the one with the longest latency: of hosts that differ, or of two that do not."""
    kinds: dict[tuple[float, ...], list[str]] = {}
    for name, one in zip(members, spokes, strict=True):
        kind = tuple(routing.links[link].latency for link in (*one.up, *one.down))
        some = kinds.setdefault(kind, [])
        if len(some) < 2:
            some.append(name)
    few = [name for some in kinds.values() for name in some]
    return [(a, b) for a in few for b in few if a is not b]


def _between(traffic: Traffic, routing: Routing, ours: Sequence[str], theirs: Sequence[str], amount: float) -> None:
    """Everything from one zone to another: each host's way to the gateway, what all pairs use, and from there."""
    first, middle, last = routing.crossing(ours[0], theirs[0])
    out = [routing.route(source, first) if source != first else Path() for source in ours]
    into = [routing.route(last, target) if target != last else Path() for target in theirs]
    for path in out:
        traffic.put(path.links, amount * len(theirs), amount)
    traffic.put(middle.links, amount * len(ours) * len(theirs), amount)
    for path in into:
        traffic.put(path.links, amount * len(ours), amount)
    latency = max(path.latency for path in out) + middle.latency + max(path.latency for path in into)
    traffic.pair(latency, amount)

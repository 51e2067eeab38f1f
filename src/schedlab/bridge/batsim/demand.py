"""What one parallel task asks of hosts and links, and how long it takes if it has them for itself.

SimGrid's model of parallel tasks (L07): first the longest latency of its routes passes, in which nothing is used. Then
all its amounts shrink together, as fast as the most wanted resource allows. A host is wanted by the sum of the flops of
its executors, of which each has one core at most; a link by the sum of the bytes along it, a fat pipe by the largest
amount. And no pair of hosts sends faster than gamma / (2 x latency), the window of TCP.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf

from schedlab.model.network import Link

GAMMA = 4_194_304.0  # bytes: SimGrid's network/TCP-gamma

Speed = Callable[[int], float]  # flops a second of a core of a host


@dataclass(frozen=True, slots=True)
class Demand:
    flops: tuple[tuple[int, float], ...] = ()  # of each executor that computes: its host, and how many
    bytes: Mapping[str, float] = field(default_factory=dict)  # along each link
    latency: float = 0.0
    window: float = 0.0  # the largest latency x bytes of a pair of hosts

    def most(self, speed: Speed) -> float:
        """The share of it that can be done in a second, whatever the hosts and links have."""
        slowest = max((flops / speed(host) for host, flops in self.flops), default=0.0)
        longest = max(slowest, 2.0 * self.window / GAMMA)
        return 1.0 / longest if longest > 0 else inf

    def work(self) -> dict[int, float]:
        """The flops of each host."""
        found: dict[int, float] = {}
        for host, flops in self.flops:
            found[host] = found.get(host, 0.0) + flops
        return found

    def and_of(self, other: Demand, links: Mapping[str, Link]) -> Demand:
        """Of both as one task."""
        amounts = dict(self.bytes)
        for link, amount in other.bytes.items():
            before = amounts.get(link, 0.0)
            amounts[link] = max(before, amount) if links[link].sharing == "fatpipe" else before + amount
        latency, window = max(self.latency, other.latency), max(self.window, other.window)
        return Demand(self.flops + other.flops, amounts, latency, window)

    def alone(self, speed: Speed, cores: Callable[[int], int], links: Mapping[str, Link]) -> float:
        """Seconds, the latency not counted, if nobody else uses what it uses."""
        most = self.most(speed)
        seconds = 1.0 / most if most < inf else 0.0
        for host, flops in self.work().items():
            seconds = max(seconds, flops / (speed(host) * cores(host)))
        for link, amount in self.bytes.items():
            seconds = max(seconds, amount / links[link].bandwidth)
        return seconds

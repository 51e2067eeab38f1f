"""Power and energy: what nodes draw, and which jobs it is drawn for.

A node that is up draws `idle` watts without jobs, and `active` + `per_core` x (cores in use) with jobs. A node that is
off or down draws `off`, one that boots draws `boot`. A job is charged `per_core` for its own cores and its share, by
cores, of `active` on each of its nodes; what nodes draw without jobs is charged to nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from schedlab._core import Job, View
from schedlab.engine.observer import Nodes, Observer
from schedlab.execution.groups import by_group
from schedlab.model.errors import InputError

JOULES_PER_KWH = 3.6e6


@dataclass(frozen=True, slots=True)
class Watts:
    """What a node of a group draws."""

    idle: float = 0.0
    active: float | None = None  # with jobs, before their cores count; as `idle` if not given
    per_core: float = 0.0
    off: float = 0.0
    boot: float | None = None  # while it boots; as `idle` if not given

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and not value >= 0:
                raise InputError(f"power: {field.name} cannot be {value!r}", hint="give watts, 0 or more")

    def drawn(self, state: str, cores: float) -> float:
        if cores > 0:  # it has jobs, even if it takes no new ones
            return self.base + self.per_core * cores
        if state in ("off", "down"):
            return self.off
        return self.idle if state != "booting" or self.boot is None else self.boot

    @property
    def base(self) -> float:
        return self.idle if self.active is None else self.active


class Power(Observer):
    """Watts now in `view.data["power"]`; energy, mean and peak power in the summary; `energy` (J) of each job.

    `groups` has other numbers for some node groups: {"gpu": {"idle": 300, "per_core": 8}}.
    """

    name = "power"

    def __init__(
        self,
        idle: float = 0.0,
        active: float | None = None,
        per_core: float = 0.0,
        off: float = 0.0,
        boot: float | None = None,
        groups: Mapping[str, Mapping[str, float]] | None = None,
    ) -> None:
        self._default = Watts(idle, active, per_core, off, boot)
        self._groups = groups or {}
        self.now = 0.0  # watts
        self.timeline: list[tuple[float, float]] = []  # (time, watts) from each change on

    def begin(self, view: View) -> None:
        of_group = by_group("power", self._default, self._groups, view.cluster.group_names)
        self._watts = [of_group[group] for group in view.cluster.group.tolist()]
        self._nodes = [_Node() for _ in self._watts]
        self._held: dict[int, list[tuple[int, float]]] = {}  # sequence of a running job: (node, cores)
        self._begun: dict[int, list[float]] = {}  # and its nodes' `charged` when it began
        self._energy: dict[int, float] = {}
        self._total = self._peak = 0.0
        self._since: float | None = None  # the last change; none before the first instant
        self.now = sum(watts.drawn("up", 0) for watts in self._watts)
        view.data["power"] = self.now

    def with_job(self, job: Job, nodes: Nodes) -> float:
        """What the system would draw with this job on these nodes."""
        more = 0.0
        for node, cores in _cores(job, nodes):
            watts, there = self._watts[node], self._nodes[node]
            more += watts.drawn(there.state, there.cores + cores) - watts.drawn(there.state, there.cores)
        return self.now + more

    def least_with(self, job: Job) -> float:
        """What the system draws at least with this job and no other."""
        idle = sum(min(watts.idle, watts.off) for watts in self._watts)
        return float(idle + job.cores * min(watts.per_core for watts in self._watts))

    # What happens.

    def before(self, view: View) -> None:
        self._pass_time(view)

    def started(self, view: View, job: Job, nodes: Nodes) -> None:
        self._pass_time(view)
        held = _cores(job, nodes)
        for node, cores in held:
            self._change(view, node, cores)
        self._held[job.sequence] = held
        self._begun[job.sequence] = [self._nodes[node].charged for node, _ in held]

    def stopped(self, view: View, job: Job, nodes: Nodes) -> None:
        self._pass_time(view)
        held, begun = self._held.pop(job.sequence), self._begun.pop(job.sequence)
        for node, cores in held:
            self._change(view, node, -cores)
        spent = sum(
            cores * (self._nodes[node].charged - before) for (node, cores), before in zip(held, begun, strict=True)
        )
        self._energy[job.sequence] = self._energy.get(job.sequence, 0.0) + spent

    def node_changed(self, view: View, node: int, state: str) -> None:
        self._pass_time(view)
        self._change(view, node, 0.0, state)

    def finish(self, view: View) -> dict[str, float]:
        self._pass_time(view)
        span = view.now - self.timeline[0][0] if self.timeline else 0.0
        return {
            "energy_kwh": self._total / JOULES_PER_KWH,
            "unused_energy_kwh": (self._total - sum(self._energy.values())) / JOULES_PER_KWH,
            "mean_power_watts": self._total / span if span > 0 else self.now,
            "peak_power_watts": max([self._peak, self.now]),
        }

    def per_job(self) -> dict[str, dict[int, float]]:
        return {"energy": self._energy}

    def _pass_time(self, view: View) -> None:
        if self._since is None:
            self.timeline.append((view.now, self.now))
        elif view.now > self._since:
            self._peak = max(self._peak, self.now)
            self._total += self.now * (view.now - self._since)
        self._since = view.now

    def _change(self, view: View, node: int, cores: float, state: str | None = None) -> None:
        watts, there = self._watts[node], self._nodes[node]
        before = watts.drawn(there.state, there.cores)
        if there.cores > 0:
            there.charged += (watts.base / there.cores + watts.per_core) * (view.now - there.since)
        there.since = view.now
        there.cores += cores
        there.state = state or there.state
        self.now += watts.drawn(there.state, there.cores) - before
        view.data["power"] = self.now
        if self.timeline and self.timeline[-1][0] == view.now:
            self.timeline[-1] = (view.now, self.now)
        else:
            self.timeline.append((view.now, self.now))


@dataclass(slots=True)
class _Node:
    state: str = "up"
    cores: float = 0.0  # in use
    charged: float = 0.0  # joules that a core in use all the time would have been charged until `since`
    since: float = 0.0


def _cores(job: Job, nodes: Nodes) -> list[tuple[int, float]]:
    each = job.cores / job.count
    return [(node, chunks * each) for node, chunks in nodes]

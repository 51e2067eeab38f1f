"""Nodes fail and are repaired, and their jobs suffer.

Times to failure are exponential, or Weibull with `shape`, with mean `mtbf` for each node; repairs are exponential with
mean `repair`. Every node has a random stream of its own, fixed by the seed: what happens to it does not depend on the
schedule.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from heapq import heappop, heappush
from math import floor, gamma, inf
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from schedlab._core import Job, View
from schedlab.engine.observer import Nodes, Observer
from schedlab.execution.groups import by_group
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.suggest import did_you_mean
from schedlab.model.workload import LONGEST

Victims = Literal["requeue", "kill"]


@dataclass(frozen=True, slots=True)
class Reliability:
    """Of the nodes of a group: mean seconds between failures, Weibull shape, mean seconds of a repair."""

    mtbf: float = inf
    shape: float = 1.0  # 1 is exponential; below 1 young nodes fail more, above 1 old ones
    repair: float = 3600.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            never = field.name == "mtbf" and value == inf
            if not never and (not isinstance(value, int | float) or not 0 < value <= LONGEST):
                hint = f"give a number above 0, at most {LONGEST:g}"
                raise InputError(f"failures: {field.name} cannot be {value!r}", hint=hint)


class Outages:
    """The outages of one node, one after the other: (from, until) in seconds from the beginning."""

    def __init__(self, reliability: Reliability, stream: np.random.Generator) -> None:
        self._mean, self._stream, self._time = reliability, stream, 0.0

    def next(self) -> tuple[float, float] | None:
        model = self._mean
        if model.mtbf == inf:
            return None
        scale = model.mtbf / gamma(1 + 1 / model.shape)
        fails = self._time + scale * float(self._stream.weibull(model.shape))
        self._time = fails + float(self._stream.exponential(model.repair))
        return fails, self._time


class ListedOutages:
    """Those of a trace."""

    def __init__(self, listed: list[tuple[float, float]]) -> None:
        self._rest = sorted(listed, reverse=True)

    def next(self) -> tuple[float, float] | None:
        return self._rest.pop() if self._rest else None


class Failures(Observer):
    """Nodes fail at random or as `trace` says. Jobs that ran there are requeued or killed.

    With a checkpoint every `checkpoint` seconds of work, each taking `cost` seconds, a requeued job begins again after
    the last one, plus `restart` seconds; while it runs, checkpoints slow it down to checkpoint / (checkpoint + cost).
    Limits count seconds, those of checkpoints too: a job that such a slow-down takes to its limit is killed there, and
    the summary says how many were (`reasons`).
    `groups` has other numbers for some node groups. `trace` is a CSV file with the columns node, from, until (seconds).
    """

    name = "failures"

    def __init__(
        self,
        mtbf: float = inf,
        shape: float = 1.0,
        repair: float = 3600.0,
        groups: Mapping[str, Mapping[str, float]] | None = None,
        trace: str | Path | None = None,
        seed: int = 0,
        victims: Victims = "requeue",
        checkpoint: float | None = None,
        cost: float = 0.0,
        restart: float = 0.0,
    ) -> None:
        if victims not in get_args(Victims):
            hint = did_you_mean(victims, get_args(Victims), "requeue or kill")
            raise InputError(f"failures: victims cannot be {victims!r}", hint=hint)
        if (checkpoint is not None and not checkpoint > 0) or not cost >= 0 or not restart >= 0:
            raise InputError("failures: checkpoint has to be above 0, cost and restart 0 or more")
        if trace is not None and (mtbf < inf or groups):
            raise InputError("failures: give a trace, or the numbers of a model, not both")
        self._default, self._groups = Reliability(mtbf, shape, repair), groups or {}
        self._trace, self._seed, self._victims = trace, seed, victims
        self._checkpoint, self._cost, self._restart = checkpoint, cost, restart

    def begin(self, view: View) -> None:
        if view.cluster.pool:
            cores = int(view.cluster.total[0])
            nodes = f"{cores // 2}x2" if cores % 2 == 0 else f"{cores}x1"
            hint = f"give nodes: --cluster {nodes} has as many cores as pool:{cores}"
            raise InputError("failures: a pool has no nodes that could fail by themselves", hint=hint)
        self._outages: list[Outages] | list[ListedOutages] = (
            self._by_trace(view) if self._trace is not None else self._by_model(view)
        )
        self._next: list[tuple[float, int, float]] = []  # (fails, node, repaired)
        self._down: list[tuple[float, int]] = []  # (repaired, node)
        self._origin: float | None = None
        self._failures = self._hit = 0
        self._lost = 0.0

    def _by_model(self, view: View) -> list[Outages]:
        of_group = by_group("failures", self._default, self._groups, view.cluster.group_names)
        return [
            Outages(of_group[group], np.random.default_rng([self._seed, node]))
            for node, group in enumerate(view.cluster.group.tolist())
        ]

    def _by_trace(self, view: View) -> list[ListedOutages]:
        assert self._trace is not None
        numbers = {name: number for number, name in enumerate(view.cluster.names)}
        found: list[list[tuple[float, float]]] = [[] for _ in numbers]
        for node, begin, end in read_outages(self._trace, numbers):
            found[node].append((begin, end))
        return [ListedOutages(outages) for outages in found]

    def before(self, view: View) -> None:
        if self._origin is None:  # the model's clock begins with the first thing that happens; a trace has its own
            self._origin = 0.0 if self._trace is not None else view.now
            for node in range(len(self._outages)):
                self._plan(view, node)
        while self._down and self._down[0][0] <= view.now:
            _, node = heappop(self._down)
            view.open(node)
            self._plan(view, node)
        while self._next and self._next[0][0] <= view.now:
            _, node, repaired = heappop(self._next)
            self._fail(view, node, repaired)

    def started(self, view: View, job: Job, nodes: Nodes) -> None:
        if self._checkpoint is not None and self._cost > 0:
            view.set_rate(job, self._checkpoint / (self._checkpoint + self._cost))

    def finish(self, view: View) -> dict[str, float]:
        return {"failures": self._failures, "failed_jobs": self._hit, "lost_core_hours": self._lost / 3600}

    def _plan(self, view: View, node: int) -> None:
        """The node's next outage, if there is one."""
        assert self._origin is not None
        while (outage := self._outages[node].next()) is not None:
            fails, repaired = self._origin + outage[0], self._origin + outage[1]
            if repaired > max(fails, view.now):  # late in a long run a short one has no length
                heappush(self._next, (fails, node, repaired))
                if fails > view.now:
                    view.wake_at(fails)
                return

    def _fail(self, view: View, node: int, repaired: float) -> None:
        if view.cluster.state(node) != "up":  # nobody notices
            self._plan(view, node)
            return
        self._failures += 1
        for job in view.jobs_on(node):
            self._hit += 1
            self._strike(view, job)
        view.close(node, "down")
        heappush(self._down, (repaired, node))
        view.wake_at(repaired)

    def _strike(self, view: View, job: Job) -> None:
        done = job.done  # in all attempts, at whatever rates: the engine knows
        if self._victims == "kill":
            self._lost += done * job.cores
            view.kill(job, reason="node failure")
            return
        saved = 0.0
        if self._checkpoint is not None:  # after every so many seconds of work, whoever requeued it in between
            saved = min(floor(done / self._checkpoint + 1e-9) * self._checkpoint, done)
        self._lost += (done - saved) * job.cores
        cost = self._restart if saved > 0 else 0.0
        view.requeue(job, saved=saved, cost=cost, reason="node failure")


def read_outages(path: str | Path, nodes: Mapping[str, int]) -> Iterator[tuple[int, float, float]]:
    """(node number, from, until) of each row of a CSV file; all mistakes at once."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from None
    rows = csv.DictReader(text.splitlines())
    columns = ("node", "from", "until")
    if missing := [name for name in columns if name not in (rows.fieldnames or ())]:
        hint = "the first line names the columns: node,from,until"
        raise InputError(f"the column {missing[0]} is missing", where=f"{path}, line 1", hint=hint)
    found, errors = [], []
    for row in rows:
        where = f"{path}, line {rows.line_num}"
        name = (row["node"] or "").strip()
        if name not in nodes:
            hint = did_you_mean(name, nodes, "the cluster's names are in its file")
            errors.append(InputError(f"there is no node '{name}'", where=where, hint=hint))
            continue
        try:
            begin, end = float(row["from"]), float(row["until"])
        except (TypeError, ValueError):
            errors.append(InputError(f"{row['from']!r}, {row['until']!r} are not two times in seconds", where=where))
            continue
        if not begin < end:
            errors.append(InputError(f"until {end} is not after from {begin}", where=where))
        found.append((nodes[name], begin, end))
    if errors:
        raise InputErrors(errors)
    return iter(found)

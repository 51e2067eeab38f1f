"""Taints that nodes have for a time, for schedulers of Kubernetes; other policies do not look at them."""

from __future__ import annotations

from math import inf

from schedlab._core import View
from schedlab.bridge.kubernetes.nodes import read_taint
from schedlab.bridge.kubernetes.selectors import Object
from schedlab.engine.observer import Observer
from schedlab.model.errors import InputError
from schedlab.model.nodeset import expand
from schedlab.model.suggest import did_you_mean
from schedlab.model.units import parse_duration

TAINTS = "kubernetes_taints"  # of `view.data`: the taints of each node that has had some, by its number


class Taint(Observer):
    """`nodes` (n[001-008]) have the `taint` (dedicated=batch:NoSchedule) from `start` on, for `duration` if it is said.

    Times are seconds from the beginning of the log, or texts such as 3d. With NoExecute pods that do not tolerate it
    are driven away at once.
    """

    name = "taint"

    def __init__(self, nodes: str, taint: str, start: float | str = 0.0, duration: float | str | None = None) -> None:
        self._names = [name for name, _ in expand(nodes)]
        self._taint = read_taint(taint, "observer taint")
        self._from = parse_duration(start)
        self._until = inf if duration is None else self._from + parse_duration(duration)
        self._set = False

    def begin(self, view: View) -> None:
        numbers = {name: number for number, name in enumerate(view.cluster.names)}
        for name in self._names:
            if name not in numbers:
                hint = did_you_mean(name, numbers, f"the cluster's nodes are {', '.join(list(numbers)[:3])}, …")
                raise InputError(f"there is no node '{name}'", where="observer taint", hint=hint)
        self._nodes = [numbers[name] for name in self._names]
        self._set = False
        view.wake_at(self._from)
        if self._until < inf:
            view.wake_at(self._until)

    def before(self, view: View) -> None:
        wanted = self._from <= view.now < self._until
        if wanted == self._set:
            return
        self._set = wanted
        taints: dict[int, list[Object]] = view.data.setdefault(TAINTS, {})
        for node in self._nodes:
            others = [one for one in taints.get(node, []) if one is not self._taint]
            taints[node] = [*others, self._taint] if wanted else others

"""Speed-ups from profiles, where nobody measured pairs: applications share the memory bandwidth of a node.

The model. A node has C cores and a memory bandwidth B. An application wants `demand` d (GB/s for each core, as measured
with one process on an idle node) and spends the share f of that run on memory (`memory_bound`, 1 if not given).
With x GB/s for each core it takes, against the run with enough bandwidth,

    T(x) = (1 - f) + f · max(1, d / x)

- compact, on all cores of a node: x = min(d, B / C);
- beside another application, each on half of the cores: both get what they want if C/2 · (d + d') <= B, otherwise B is
  shared in proportion to demand, so that max(1, d / x) = max(1, (d + d') · C / (2 B)) for both;
- on the fraction p of the cores, without neighbours: max(1, d / x) = max(1, p · d · C / B).

The speed-up is T(compact) / T(beside the other). Caches, networks and clock frequencies are not in this model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.heatmap.matrix import csv_rows
from schedlab.model.errors import InputError
from schedlab.model.heatmap import Heatmap
from schedlab.model.heatmap_cells import LARGEST
from schedlab.model.mistakes import Mistakes
from schedlab.model.suggest import did_you_mean
from schedlab.model.toml_lines import shown
from schedlab.model.units import parse_duration

FRACTIONS = (0.25, 0.5)  # of a node, for which the speed-up without neighbours is derived
_MOST = 1e12  # GB/s that anybody can mean
_NODE = ("bandwidth", "cores")
_KEYS = ("name", "demand", "memory_bound", "runtime", "processes")
_HINT = "bandwidth (GB/s) and cores are those of a node, demand is GB/s for each core"


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known of an application that ran alone."""

    name: str
    demand: float  # GB/s for each core
    memory_bound: float = 1.0  # share of the time
    runtime: float = math.nan  # compact
    processes: int = 0


def derive(profiles: Sequence[Profile], *, bandwidth: float, cores: int, source: str = "") -> Heatmap:
    """The speed-ups of all pairs on nodes of so many cores, which have so many GB/s together."""
    demand = np.array([profile.demand for profile in profiles])
    bound = np.array([profile.memory_bound for profile in profiles])
    crowding = demand * cores / bandwidth  # what a node full of it wants, over what there is

    def time(of_all: NDArray[np.float64], share: NDArray[np.float64]) -> NDArray[np.float64]:
        stretched: NDArray[np.float64] = (1 - share) + share * np.maximum(1.0, of_all)
        return stretched

    compact = time(crowding, bound)
    together = time((crowding[:, None] + crowding[None, :]) / 2, bound[:, None])
    return Heatmap(
        tuple(profile.name for profile in profiles),
        (compact[:, None] / together).reshape(len(profiles), len(profiles)),
        np.array([profile.runtime for profile in profiles]),
        np.array([profile.processes for profile in profiles], np.int64),
        {fraction: compact / time(fraction * crowding, bound) for fraction in FRACTIONS},
        source,
    )


def are_in(text: str) -> bool:
    """Whether a CSV text has profiles, not a matrix."""
    return {"name", "demand"} <= set(csv_rows(text)[0])


def from_csv(text: str, where: str) -> Heatmap:
    """Columns as the keys of `[[applications]]`, and bandwidth and cores of the node, the same in all rows."""
    header, *rows = csv_rows(text)
    mistakes = Mistakes()
    for place, row in enumerate(rows):
        if len(row) != len(header):
            mistakes.at(where, 0, f"row {place + 1} has {len(row)} values for {len(header)} columns")
    mistakes.raise_all()
    tables = [{key: _typed(cell) for key, cell in zip(header, row, strict=True) if cell} for row in rows]
    node = {}
    for key in _NODE:
        found = list(dict.fromkeys(table.pop(key, None) for table in tables))
        if len(found) != 1 or found[0] is None:
            message = f"the column {key} has {len(found)} different values" if len(found) > 1 else f"there is no {key}"
            mistakes.at(where, 0, message, "all rows are about the same nodes: repeat bandwidth and cores in each")
        else:
            node[key] = found[0]
    mistakes.raise_all()
    return from_table({**node, "applications": tables}, where)


def from_table(data: Mapping[str, Any], where: str) -> Heatmap:
    """TOML or JSON: bandwidth and cores of a node, and the list applications."""
    mistakes = Mistakes()
    node = _Fields(data, (*_NODE, "applications"), "", where, mistakes)
    bandwidth, cores = node.number("bandwidth", most=_MOST), node.whole("cores")
    rows = data.get("applications")
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        node.wrong(f"applications = {shown(rows)}: expected tables with name and demand")
        rows = []
    profiles = [_profile(_Fields(row, _KEYS, f"applications[{n}].", where, mistakes)) for n, row in enumerate(rows)]
    mistakes.raise_all()
    return derive(profiles, bandwidth=bandwidth, cores=cores, source=where)


def _profile(row: _Fields) -> Profile:
    name = row.table.get("name")
    if not isinstance(name, str | int) or not str(name):
        row.wrong(f"{row.inside}name = {shown(name)}: expected a name")
    return Profile(
        str(name),
        row.number("demand", zero=True, most=_MOST),
        row.number("memory_bound", 1.0, zero=True, most=1),
        row.duration("runtime"),
        row.whole("processes", 0),
    )


@dataclass(frozen=True, slots=True)
class _Fields:
    """A table of a file, whose values are asked for; what is wrong with them goes to `mistakes`."""

    table: Mapping[str, Any]
    known: Sequence[str]
    inside: str
    where: str
    mistakes: Mistakes

    def __post_init__(self) -> None:
        for key in self.table:
            if key not in self.known:
                hint = did_you_mean(key, self.known, f"keys: {', '.join(self.known)}")
                self.wrong(f"unknown key '{self.inside}{key}'", hint)

    def wrong(self, message: str, hint: str = "") -> None:
        self.mistakes.at(self.where, 0, message, hint)

    def number(
        self,
        key: str,
        absent: float | None = None,
        *,
        zero: bool = False,
        most: float = math.inf,
        noun: str = "a number",
    ) -> float:
        """A number above 0 (`zero`: or 0); `absent` if it is not there, which is a mistake without one."""
        given = self.table.get(key)
        if key not in self.table:
            if absent is None:
                self.wrong(f"there is no {self.inside}{key}", _HINT)
            return absent or 0.0
        if isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given):
            whole = noun == "a number" or isinstance(given, int)
            if whole and (given > 0 or (zero and given == 0)) and given <= most:
                return float(given)
        limits = f"from 0 to {most:g}" if most == 1 else "of 0 or more" if zero else "above 0"
        self.wrong(f"{self.inside}{key} = {shown(given)}: expected {noun} {limits}")
        return 0.0

    def whole(self, key: str, absent: int | None = None) -> int:
        return int(self.number(key, absent, noun="a whole number", most=LARGEST))

    def duration(self, key: str) -> float:
        """Seconds, or text with units ("5m"); NaN if it is not there."""
        given = self.table.get(key)
        if not isinstance(given, str):
            return self.number(key, math.nan)
        try:
            return parse_duration(given)
        except InputError as error:
            self.wrong(f"{self.inside}{key}: {error.message}", error.hint)
            return math.nan


def _typed(cell: str) -> Any:
    """A number where a cell of a CSV file is one."""
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            pass
    return cell

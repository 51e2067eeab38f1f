"""ELiSE's load managers: run times of applications alone on whole nodes, and beside one another on halves of nodes."""

from __future__ import annotations

import math
from statistics import fmean, median
from typing import Any, NamedTuple

from schedlab.files.json_text import json_of
from schedlab.model.errors import InputError
from schedlab.model.heatmap import Heatmap
from schedlab.model.mistakes import Mistakes
from schedlab.model.toml_lines import shown


class _Load(NamedTuple):
    name: str
    processes: int
    compact: list[float]
    beside: dict[str, list[list[float]]]  # partner -> a list for each of its runs


def from_loads(data: dict[str, Any], where: str) -> Heatmap:
    """A speed-up is the median time alone over the time beside a partner, as ELiSE computes it (`together`)."""
    found = data["loads"]
    if not isinstance(found, list):
        hint = "a heatmap of ELiSE is a JSON object with the list 'loads'"
        raise InputError(f"loads = {shown(found)}: expected a list", where=where, hint=hint)
    mistakes = Mistakes()
    read = [_load(entry, place, where, mistakes) for place, entry in enumerate(found)]
    mistakes.raise_all()
    loads = [load for load in read if load is not None]
    return Heatmap.from_cells(
        [load.name for load in loads],
        [[_speedup(load, partner.name) for partner in loads] for load in loads],
        runtimes=[median(load.compact) for load in loads],
        processes=[load.processes for load in loads],
        source=where,
    )


def together(times: list[list[float]], *, itself: bool) -> float | None:
    """The time beside a partner: the median of all its runs; beside itself, the mean of the medians of the partners."""
    lists = [some for some in times if some]
    if not lists:
        return None
    return fmean(median(some) for some in lists) if itself else median([time for some in lists for time in some])


def _speedup(load: _Load, partner: str) -> float | None:
    time = together(load.beside.get(partner, []), itself=partner == load.name)
    return None if time is None else median(load.compact) / time


def _load(entry: Any, place: int, where: str, mistakes: Mistakes) -> _Load | None:
    inside = f"loads[{place}]"
    known = json_of(entry, f"{where}, {inside}") if isinstance(entry, str) else entry
    name = known.get("load_name") if isinstance(known, dict) else None
    if not isinstance(name, str) or not name:
        mistakes.at(where, 0, f"{inside}.load_name = {shown(name)}: expected the name of an application")
        return None
    compact, beside = known.get("compact_timelogs", []), known.get("coscheduled_timelogs", {})
    if not _are_times(compact) or not compact:
        expected = "expected a list of run times, seconds above 0"
        mistakes.at(where, 0, f"{inside}.compact_timelogs of {name} = {shown(compact)}: {expected}")
    if not isinstance(beside, dict):
        mistakes.at(where, 0, f"{inside}.coscheduled_timelogs of {name} = {shown(beside)}: expected lists by partner")
        return None
    for partner, times in beside.items():
        if not isinstance(times, list) or not all(_are_times(some) for some in times):
            message = f"{inside}: times of {name} beside {partner} = {shown(times)}"
            mistakes.at(where, 0, f"{message}: expected lists of run times, seconds above 0")
    return None if mistakes else _Load(name, _processes(known, name), compact, beside)


def _are_times(times: Any) -> bool:
    return isinstance(times, list) and all(
        isinstance(time, int | float) and not isinstance(time, bool) and 0 < time < math.inf for time in times
    )


def _processes(known: dict[str, Any], name: str) -> int:
    """As it says, or as the last part of its name (lu.D.64) does; 0 if neither does."""
    for text in (known.get("num_of_processes"), name.rpartition(".")[2]):
        if str(text).isdecimal() and len(str(text)) < 16 and int(str(text)) > 0:
            return int(str(text))
    return 0

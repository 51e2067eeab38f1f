"""Phases of a workload (fill, stabilisation, experiment, drain): of each job, and in the header of a file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from schedlab.model.errors import InputError
from schedlab.model.workload import Phase, Workload

LABEL = "Phase"  # `; Phase: fill 0 14400` in the header of an SWF log


def with_phases(workload: Workload, phases: Sequence[Phase]) -> Workload:
    """The same jobs with these phases, which must not overlap."""
    ordered = tuple(sorted(phases, key=lambda phase: phase.begin))
    for phase in ordered:
        if not (math.isfinite(phase.begin) and phase.begin <= phase.end < math.inf):
            raise InputError(f"phase {phase.name} goes from {phase.begin} to {phase.end}", where=workload.name)
    for before, after in pairwise(ordered):
        if after.begin < before.end:
            raise InputError(
                f"phase {after.name} begins at {after.begin:.15g}, before {before.name} ends at {before.end:.15g}",
                where=workload.name,
                hint="a phase begins when the one before it ends, or later",
            )
    return replace(workload, phases=ordered)


def phase_of(phases: Sequence[Phase], submit: NDArray[np.float64]) -> NDArray[np.intp]:
    """The place in `phases` (in order of time) for each submit time; -1 outside of them. The end is not included."""
    if not phases:
        return np.full(len(submit), -1, np.intp)
    place = np.searchsorted([phase.begin for phase in phases], submit, side="right") - 1
    ends = np.array([phase.end for phase in phases])
    return np.where((place >= 0) & (submit < ends[place]), place, -1)


def phases_to_header(phases: Sequence[Phase]) -> dict[str, str]:
    """The header label that keeps phases in a file, one line for each; nothing if there are none."""
    lines = [f"{phase.name} {_number(phase.begin)} {_number(phase.end)}" for phase in phases]
    return {LABEL: "\n".join(lines)} if lines else {}


def phases_from_header(header: Mapping[str, str], where: str = "") -> tuple[Phase, ...]:
    """The phases that `phases_to_header` wrote."""
    return tuple(_parse(line, where) for line in header.get(LABEL, "").splitlines() if line.strip())


def _parse(line: str, where: str) -> Phase:
    try:
        name, begin, end = line.rsplit(maxsplit=2)
        return Phase(name, float(begin), float(end))
    except ValueError:
        raise InputError(
            f"'{LABEL}: {line}' is not a phase", where=where, hint=f"write '{LABEL}: name begin end', in seconds"
        ) from None


def _number(seconds: float) -> str:
    return str(int(seconds)) if float(seconds).is_integer() else repr(float(seconds))

"""Nodes of different speeds: a job is as much work as its slowest node makes it."""

from __future__ import annotations

import numpy as np

from schedlab.engine.check.models import RECOMPUTE
from schedlab.engine.check.offences import Offences
from schedlab.engine.check.places import Places
from schedlab.engine.check.record import Record
from schedlab.engine.check.stays import Stays


def check_speeds(record: Record, stays: Stays, places: Places, offences: Offences) -> None:
    """Where nobody else has a say in how much work jobs are."""
    models = [model for model in record.execution if model.get("model") not in RECOMPUTE]
    if [model.get("model") for model in models] != ["speeds"]:
        return
    groups = record.cluster.groups
    speeds = np.repeat([group.speed for group in groups], [group.count for group in groups])
    slowest = np.full(len(stays), np.inf)
    np.minimum.at(slowest, places.stay, speeds[places.node])
    expected = stays.runtime * models[0]["reference"] / slowest
    close = np.abs(stays.whole - expected) <= np.maximum(1e-9, 1e-12 * expected)
    offences.add_where(
        "work",
        stays.as_row & np.isfinite(slowest) & ~close,
        stays.job,
        stays.begin,
        lambda i: f"on nodes of speed {slowest[i]:.15g} it is {expected[i]} s of work, not {stays.whole[i]}",
    )

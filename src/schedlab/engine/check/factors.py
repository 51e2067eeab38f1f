"""Factors of rates that follow from who is where: as the model that sets them says, at every time."""

from __future__ import annotations

import numpy as np

from schedlab.engine.check.models import RECOMPUTE
from schedlab.engine.check.neighbours import Steps, company_of, last_of_each_time
from schedlab.engine.check.offences import Offences
from schedlab.engine.check.pairs import check_heatmap, check_threshold
from schedlab.engine.check.parts import check_parts
from schedlab.engine.check.places import Places
from schedlab.engine.check.record import Record
from schedlab.engine.check.stays import Stays


def check_factors(record: Record, stays: Stays, places: Places, offences: Offences) -> None:
    models = [facts for facts in record.execution if facts.get("model") in RECOMPUTE]
    if not models and record.fraction is None:
        return
    if len(stays) != np.count_nonzero(record.started & ~record.pieced) + len(record.pieces):
        return  # lives that are told in two ways, which has been said
    company = company_of(stays, places)
    check_heatmap(record, offences)
    check_threshold(record, stays, company, offences)
    check_parts(record, stays, places, company, offences)
    for facts in models:
        expected = RECOMPUTE[facts["model"]](record, stays, company, facts)
        if expected is not None:
            _compare(stays, expected, _told(record, stays, facts["name"]), facts["name"], offences)


def _compare(stays: Stays, expected: Steps, told: Steps, name: str, offences: Offences) -> None:
    stay, time = np.concatenate([expected.stay, told.stay]), np.concatenate([expected.time, told.time])
    inside = (time >= stays.begin[stay]) & (time < stays.end[stay])  # it lasts
    points = last_of_each_time(stay[inside], time[inside], time[inside])
    should, does = (steps.at(points.stay, points.time, 1.0) for steps in (expected, told))
    offences.add_where(
        "rates",
        ~(np.abs(does - should) <= 1e-12 * np.abs(should)),
        stays.job[points.stay],
        points.time,
        lambda i: f"its factor by {name} is {does[i]:.15g}, those who are on its nodes make it {should[i]:.15g}",
    )


def _told(record: Record, stays: Stays, owner: str) -> Steps:
    """The factors of one owner. A job that only changed its shape goes on with the one that it had."""
    rates = record.rates
    own = rates.owner == (rates.owners.index(owner) if owner in rates.owners else -1)
    stay = rates.at[own] + len(stays) - len(record.pieces)
    time, factor = rates.time[own], rates.factor[own]
    last = np.ones(len(stays))
    last[stay] = factor  # of several the last one
    changed = np.zeros(len(stays), bool)
    changed[stay] = True
    going_on = np.flatnonzero(stays.goes_on)
    kept = np.empty(len(going_on))
    for number, each in enumerate(going_on.tolist()):
        kept[number] = last[each - 1]
        if not changed[each]:
            last[each] = kept[number]
    return last_of_each_time(
        np.concatenate([going_on, stay]),
        np.concatenate([stays.begin[going_on], time]),
        np.concatenate([kept, factor]),
    )

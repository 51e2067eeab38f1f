"""Execution models whose factors of rates follow from who is where: each computed again, from the tables alone.

A model that is added here gets `check`: a function of the run, of who shared nodes with whom, and of what the model
says of itself in run.json (`execution`), which tells its factor of each stay on nodes. Before the first time that it
names, and where it names none, a factor is 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from schedlab.engine.check.neighbours import Company, Steps
    from schedlab.engine.check.record import Record
    from schedlab.engine.check.stays import Stays

Recompute = Callable[["Record", "Stays", "Company", dict[str, Any]], "Steps | None"]


def sharing(record: Record, stays: Stays, company: Company, facts: dict[str, Any]) -> Steps:
    """`rate` while there is somebody else on one of its nodes."""
    from schedlab.engine.check.neighbours import Steps, running_sum

    place, begin, end, crowded = company.stretches(company.jobs > 1)
    stay, begin, end = company.stay[place][crowded], begin[crowded], end[crowded]
    nodes = running_sum(np.concatenate([stay, stay]), np.concatenate([begin, end]), np.repeat([1.0, -1.0], len(stay)))
    return Steps(nodes.stay, nodes.time, np.where(nodes.value > 0, facts["rate"], 1.0))


def interference(record: Record, stays: Stays, company: Company, facts: dict[str, Any]) -> Steps | None:
    from schedlab.engine.check.pairs import interference

    return interference(record, stays, company, facts)


RECOMPUTE: dict[str, Recompute] = {"sharing": sharing, "interference": interference}

"""What jobs have on nodes besides cores (GPUs, memory …), and which devices where that was said: for the map."""

from __future__ import annotations

import numpy as np

from schedlab.analysis.stays import find_stays
from schedlab.model.resources import resources_of
from schedlab.model.run import Run
from schedlab.web.block import Column, pack
from schedlab.web.jobs import rows_of


def has_more_than_cores(run: Run) -> bool:
    """Whether there is anything to show: another resource that jobs ask for, or devices."""
    told = run.summary.get("resources", {})
    asked = any(name != "cores" and found["load"] for name, found in told.items())
    return not run.cluster.pool and (asked or _devices(run) > 0)


def held_block(run: Run) -> bytes:
    """A row for each node of each stay of a job, in the order of beginning."""
    stays = find_stays(run.tables, run.cluster)
    order = np.argsort(stays.begin, kind="stable")
    columns: dict[str, Column | list[str]] = {
        "row": Column(rows_of(run, stays.sequence[order])),
        "node": Column(stays.node[order]),
        "begin": Column(stays.begin[order], delta=True),
        "end": Column(stays.end[order], relative="begin"),
    }
    for resource in resources_of(run.cluster):
        columns[f"has_{resource.name}"] = Column(stays.amount(resource, run.requests)[order])
    if _devices(run):
        told = run.places.select("sequence", "node", "from", "devices").drop_nulls()
        texts = told["devices"].cast(str).unique(maintain_order=True).to_list()
        number = {text: at for at, text in enumerate(texts)}
        keys = zip(told["sequence"], told["node"], told["from"], strict=True)
        which = {key: number[text] for key, text in zip(keys, told["devices"].cast(str), strict=True)}
        found = zip(
            stays.sequence[order].tolist(), stays.node[order].tolist(), stays.begin[order].tolist(), strict=True
        )
        columns["devices"] = Column(np.array([which.get(key, -1) for key in found], np.int64), null=-1)
        columns["texts"] = texts
    return pack(columns)


def _devices(run: Run) -> int:
    """How many stays tell which devices they had."""
    told = len(run.tables.column("sequence", "places"))
    return told - run.places["devices"].null_count() if told else 0

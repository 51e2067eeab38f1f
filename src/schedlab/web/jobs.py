"""The jobs of a run as columns for the browser, in the order of the workload."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.job_values import job_values
from schedlab.analysis.pairing import paired_by_job
from schedlab.model.errors import InputError
from schedlab.model.jobs import rows_of_jobs, without_gaps
from schedlab.model.run import Run
from schedlab.plot.gantt_colours import MOST_NAMES, OWNERS, ranked, work_of
from schedlab.plot.measures import owner_name
from schedlab.web.block import Column, pack, pack_each

MOST_LABELS = 50_000  # names of users … that a page gets; beyond, numbers


def workload_order(run: Run) -> NDArray[np.int64]:
    """Where each job of the workload is in the table, which is in the order of leaving."""
    sequence = run.tables.column("sequence")
    if not without_gaps(run.tables):
        return np.argsort(sequence, kind="stable")
    order = np.empty(len(sequence), np.int64)
    order[sequence] = np.arange(len(sequence))
    return order


def rows_of(run: Run, sequences: NDArray[Any]) -> NDArray[np.int64]:
    """Which rows jobs have that other tables name by their sequence: in a run that broke off some may be missing."""
    return rows_of_jobs(run.tables, sequences)


def jobs_block(run: Run, baseline: Run | None) -> bytes:
    """What the chart, the map and the table show of each job. `difference` is its wait less that in the baseline."""
    return pack_each(_job_columns(run, baseline))


def _job_columns(run: Run, baseline: Run | None) -> Iterator[tuple[str, Column | list[str]]]:
    """One after the other: a million jobs are 8 MB a column."""
    order, tables = workload_order(run), run.tables

    def column(name: str) -> NDArray[Any]:
        return np.asarray(tables.column(name)[order])

    yield "job", Column(column("job"), delta=True)
    yield "submit", Column(column("submit"), delta=True, base=True)
    yield "eligible", Column(column("eligible"), relative="submit", base=True)
    start = column("start")
    yield "start", Column(start, relative="eligible", base=True)
    yield "end", Column(column("end"), relative="submit" if np.isnan(start).any() else "start")
    del start
    for name in ("cores", "state", "reason", "backfilled"):
        yield name, Column(column(name))
    yield "slowdown", Column(job_values(tables, "bounded_slowdown", tau=run.summary["tau"])[order], single=True)
    for name, owners in _owners(run):
        yield name, Column(owners[order], null=-1)
    if (names := _names(run)) is not None:
        yield "name", [str(name) for name in names[order].tolist()]
    if baseline is not None and (found := _differences(run, baseline)) is not None:
        yield "difference", Column(found[order])


def story_block(run: Run) -> bytes:
    """What a job's story needs besides: what was believed of it, and its place in the order."""
    order, column = workload_order(run), run.tables.column
    return pack({name: Column(column(name)[order]) for name in ("estimate", "priority")})


def pieces_block(run: Run) -> bytes:
    """The stays of jobs that did not simply run from start to end, in the order of the table."""
    column = run.tables.column
    rows = rows_of(run, column("sequence", "pieces"))
    others = {name: Column(column(name, "pieces")) for name in ("cores", "begin", "end")}
    return pack({"row": Column(rows), **others})


def owners_facts(run: Run) -> dict[str, Any]:
    """Those with colours of their own, how many there are, and what they are called."""
    found: dict[str, Any] = {}
    work = run.tables.column("cores") * run.tables.column("runtime")
    for by, owners in _owners(run):
        in_turn = ranked(*work_of([(owners, work)]))
        labels = run.workload.get("labels", {}).get(by, ())[:MOST_LABELS]
        found[by] = {
            "first": in_turn[:MOST_NAMES],
            "names": [owner_name(run, by, number) for number in in_turn[:MOST_NAMES]],
            "number": len(in_turn),
            "labels": [str(label) for label in labels],
        }
    return found


def _owners(run: Run) -> Iterator[tuple[str, NDArray[Any]]]:
    """Those (user, group …) of which the log says anything."""
    for name in OWNERS:
        owners = _optional(run, name, -1)
        if (owners >= 0).any():
            yield name, owners


def _optional(run: Run, name: str, otherwise: int) -> NDArray[Any]:
    """A column that not all runs have."""
    try:
        return run.tables.column(name)
    except KeyError:
        return np.full(1, otherwise)


def _names(run: Run) -> NDArray[Any] | None:
    try:
        return run.tables.column("name")
    except KeyError:  # their ids are numbers
        return None


def _differences(run: Run, baseline: Run) -> NDArray[np.float64] | None:
    """In the order of the table; NaN where one of the two runs did not start the job. None for other jobs."""
    try:
        pairs = paired_by_job(run, baseline)
    except InputError:  # not the same workload
        return None
    sequence = run.tables.column("sequence")
    order, found = np.argsort(sequence), np.full(len(sequence), np.nan)
    found[order[np.searchsorted(sequence, pairs.place, sorter=order)]] = pairs.difference
    return found

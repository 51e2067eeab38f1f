"""The workflows of a log: jobs that waited for each other (`--dependencies follow`), from the tables of a run.

Each is a kind of its own, in which every job is one task.
"""

from __future__ import annotations

import numpy as np

from schedlab.analysis.job_rows import JobRows
from schedlab.analysis.workflow_kinds import Flags, Floats, KindArrays, Numbers
from schedlab.model.predecessors import CONDITIONS
from schedlab.model.run import Tables

HANDLING = "log"
STARTED = CONDITIONS.index("started")


def has_waits(tables: Tables) -> bool:
    """Whether jobs waited for others that were there."""
    return bool(tables.column("known", "predecessors").any())


class LogKinds(KindArrays):
    """`rows` are the rows of their jobs in the table of jobs, in the order in which those were submitted; what a job
    waited for comes before it."""

    def __init__(self, tables: Tables) -> None:
        known = tables.column("known", "predecessors").astype(bool)
        child = JobRows(tables.column("sequence")).of(tables.column("sequence", "predecessors")[known])
        parent = JobRows(tables.column("job")).of(tables.column("predecessor", "predecessors")[known])
        label, self.rows = _components(parent, child, tables.column("sequence"))
        self.jobs = self.tasks = np.bincount(label)
        place = np.full(len(tables.column("job")), -1, np.int64)  # of each row, among `rows`
        place[self.rows] = np.arange(len(self.rows))
        parent, child = place[parent], place[child]
        first = np.cumsum(self.jobs) - self.jobs
        self.submit: Floats = tables.column("submit")[self.rows][first]
        self.names = [(f"chain of {jobs:,} jobs", HANDLING) for jobs in self.jobs.tolist()]
        self.attempts = np.ones(len(self.jobs), np.int64)
        self.cores, self.runtime = (tables.column(name)[self.rows].astype(np.float64) for name in ("cores", "runtime"))
        self.begin, self.alone = np.zeros(len(self.rows)), np.ones(len(self.rows), bool)
        self.task_job = np.arange(len(self.rows)) - first[label]
        self.critical_path = np.zeros(len(self.jobs))
        np.maximum.at(self.critical_path, label, _earliest_ends(tables, known, parent, child, self.runtime))
        # Who can have been waited for until the end: of jobs of which one suffices, and of starts, not everybody.
        start, end = tables.column("start")[self.rows], tables.column("end")[self.rows]
        waited = end[parent] <= start[child]
        order = np.argsort(label[child[waited]], kind="stable")
        parent, child = parent[waited][order], child[waited][order]
        self.parent, self.child = self.task_job[parent], self.task_job[child]
        self.edges = np.bincount(label[child], minlength=len(self.jobs))


def _components(parent: Numbers, child: Numbers, sequence: Numbers) -> tuple[Numbers, Numbers]:
    """Which component each job is in that has others, component by component, and its row."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rows = np.unique(np.append(parent, child))
    rows = rows[np.argsort(sequence[rows], kind="stable")]
    place = np.empty(len(sequence), np.int64)
    place[rows] = np.arange(len(rows))
    ones = np.ones(len(parent), np.int8)
    edges = coo_array((ones, (place[child], place[parent])), shape=(len(rows), len(rows)))
    label = connected_components(edges, directed=False)[1].astype(np.int64)
    order = np.argsort(label, kind="stable")
    return label[order], rows[order]


def _earliest_ends(tables: Tables, known: Flags, parent: Numbers, child: Numbers, runtime: Floats) -> Floats:
    """When each job could have ended if none had waited for cores, counted from the first start of its component."""
    condition, delay, suffices = (tables.column(name, "predecessors")[known] for name in ("condition", "delay", "any"))
    ends = runtime.tolist()
    waits: dict[int, list[int]] = {}
    for at, job in enumerate(child.tolist()):
        waits.setdefault(job, []).append(at)
    for job in sorted(waits):  # those before it come first
        moments = [
            ends[parent[at]] - (runtime[parent[at]] if condition[at] == STARTED else 0.0) + delay[at]
            for at in waits[job]
        ]
        ends[job] += min(moments) if suffices[waits[job][0]] else max(moments)
    return np.array(ends, np.float64)

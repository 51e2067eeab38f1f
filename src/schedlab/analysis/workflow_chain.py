"""The chain of jobs that a finished workflow's time went by, and how long it waited on the way.

Back from the job that ended last, each time to the one before it that ended last: the one that it had to wait for.
ScSF's program takes the longest chain that begins with the job that started first, which of workflows with several
beginnings may be a short task that nobody waited for.
"""

from __future__ import annotations

import numpy as np

from schedlab.analysis.workflow_jobs import WorkflowJobs
from schedlab.analysis.workflow_kinds import Flags, Floats, Members, Numbers


def waits_between(jobs: WorkflowJobs, chosen: Flags, first_start: Floats) -> Floats:
    """Of the chosen workflows, whose jobs have all run: seconds between the jobs of the chain, from the end of one to
    the start of the next, and before it, from the first start of all."""
    kinds, kind = jobs.kinds, jobs.kind[chosen]
    own = chosen[jobs.members.owner]
    start, end = jobs.start()[own], jobs.end()[own]
    members = kinds.members(kind, kinds.jobs)
    edges = kinds.members(kind, kinds.edges)
    parent, child = (members.first[edges.owner] + side[edges.which] for side in (kinds.parent, kinds.child))
    before = _latest_before(end, parent, child)
    job = _last(members, end, len(kind))
    found = np.zeros(len(kind))
    at = np.arange(len(kind))
    while len(at):
        at = at[before[job[at]] >= 0]
        earlier = before[job[at]]
        found[at] += start[job[at]] - end[earlier]
        job[at] = earlier
    return found + start[job] - first_start[chosen]


def _latest_before(end: Floats, parent: Numbers, child: Numbers) -> Numbers:
    """Of each job: the one of those before it that ended last, the first of several; -1 if there is none."""
    latest = np.full(len(end), -np.inf)
    np.maximum.at(latest, child, end[parent])
    is_latest = end[parent] == latest[child]
    found = np.full(len(end), -1, np.int64)
    found[child[is_latest][::-1]] = parent[is_latest][::-1]
    return found


def _last(members: Members, end: Floats, number: int) -> Numbers:
    """Of each workflow: the job that ended last, the last of several."""
    latest = np.full(number, -np.inf)
    np.maximum.at(latest, members.owner, end)
    found = np.empty(number, np.int64)
    is_latest = end == latest[members.owner]
    found[members.owner[is_latest]] = np.flatnonzero(is_latest)
    return found

"""The chain of jobs that a finished workflow's time went by, and how long it waited between them.

The definition is that of ScSF's program (its WorkflowTracker): the longest chain of what happened that begins with the
first job to start. Of several equally long ones, here, each job is reached by the one before it that ended last: the
one that it had to wait for.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from schedlab.analysis.workflow_jobs import WorkflowJobs
from schedlab.analysis.workflow_kinds import Flags, Floats, Kinds, Members, Numbers


def waits_between(jobs: WorkflowJobs, chosen: Flags) -> Floats:
    """Of the chosen workflows, whose jobs have all run: seconds from the end of one job of the chain to the start of
    the next, in all."""
    kinds, kind = jobs.kinds, jobs.kind[chosen]
    own = chosen[jobs.members.owner]
    start, end = jobs.start()[own], jobs.end()[own]
    members = kinds.members(kind, kinds.jobs)
    edges = kinds.members(kind, kinds.edges)
    parent, child = (members.first[edges.owner] + side[edges.which] for side in (kinds.parent, kinds.child))
    reached = _reached(kinds, members, start, parent, child)
    follows = reached[parent]
    before = _latest_before(end, parent[follows], child[follows])
    job = _last(members, np.where(reached, end, -np.inf), len(kind))
    found = np.zeros(len(kind))
    at = np.arange(len(kind))
    while len(at):
        at = at[before[job[at]] >= 0]
        earlier = before[job[at]]
        found[at] += start[job[at]] - end[earlier]
        job[at] = earlier
    return found


def _reached(kinds: Kinds, members: Members, start: Floats, parent: Numbers, child: Numbers) -> Flags:
    """The jobs that come after the one that started first of those that wait for nobody; and that one."""
    level = kinds.level[members.which]
    roots = np.flatnonzero(level == 0)
    owner = members.owner[roots]
    if len(roots) == len(members.first):  # each has one
        return np.ones(len(members), bool)
    earliest = np.full(len(members.first), np.inf)
    np.minimum.at(earliest, owner, start[roots])
    first = np.empty(len(members.first), np.int64)
    is_first = start[roots] == earliest[owner]
    first[owner[is_first][::-1]] = roots[is_first][::-1]  # of several, the one that comes first
    found = np.zeros(len(members), bool)
    found[first] = True
    order = np.argsort(level[child], kind="stable")
    ends = np.searchsorted(level[child][order], np.arange(int(level.max(initial=0)) + 2))
    for low, high in pairwise(ends.tolist()):
        some = order[low:high]
        found[child[some][found[parent[some]]]] = True
    return found


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

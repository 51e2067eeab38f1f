"""Placements in Python, as a user would write them."""

from __future__ import annotations

from typing import Any

import numpy as np

from schedlab._core import ClusterView, Job


def last_fit(job: Job, cluster: ClusterView) -> Any:
    """Nodes in the order in which they are to be filled."""
    return np.arange(cluster.nodes)[::-1]


def last_fit_in_pairs(job: Job, cluster: ClusterView) -> Any:
    """The same for jobs of single cores, with chunks, which has to look itself for nodes that the job may have."""
    free = np.where(cluster.usable(job), cluster.free, 0)[::-1]
    before = np.cumsum(free) - free
    taken = np.clip(job.count - before, 0, free)
    pairs = [(len(free) - 1 - i, int(chunks)) for i, chunks in enumerate(taken) if chunks]
    return pairs if taken.sum() == job.count else None

"""Workloads made of other workloads: shorter, denser, for another machine, of some users. See docs/transforms.md."""

from schedlab.workload.transform.limits import round_limits, set_estimates
from schedlab.workload.transform.load import duplicate, scale_load, stretch, thin
from schedlab.workload.transform.machine import nodes_to_cores, rescale
from schedlab.workload.transform.merge import merge
from schedlab.workload.transform.select import sample_users, select
from schedlab.workload.transform.shuffle import shuffle
from schedlab.workload.transform.split import split_by, split_time
from schedlab.workload.transform.window import window

__all__ = [
    "duplicate",
    "merge",
    "nodes_to_cores",
    "rescale",
    "round_limits",
    "sample_users",
    "scale_load",
    "select",
    "set_estimates",
    "shuffle",
    "split_by",
    "split_time",
    "stretch",
    "thin",
    "window",
]

"""The plug-ins that decide how jobs are scheduled: they have to be the site's own, or the result is another."""

from __future__ import annotations

from collections.abc import Callable

from schedlab.cluster.slurm.entries import Settings, items
from schedlab.model.errors import InputError

# By key, what Debian's packages have.
_DECIDE = {
    "SchedulerType": ("sched/backfill", "sched/builtin"),
    "PriorityType": ("priority/multifactor", "priority/basic"),
    "SelectType": ("select/cons_tres", "select/cons_res", "select/linear"),
    "PreemptType": ("preempt/partition_prio", "preempt/qos", "preempt/none"),
    "TopologyPlugin": ("topology/tree", "topology/none", "topology/hypercube", "topology/3d_torus"),
    "PrioritySiteFactorPlugin": ("site_factor/none",),
    "MCSPlugin": ("mcs/none", "mcs/account", "mcs/group", "mcs/user"),
}
_NEEDS_FILE = ("topology/tree", "topology/hypercube")

# They change jobs by rules of their own; others run programs of the site.
_SUBMIT = ("all_partitions", "defaults", "partition", "require_timelimit", "throttle")


def missing_plugins(settings: Settings, has_plugin: Callable[[str], bool]) -> list[InputError]:
    """A mistake for each plug-in that decides and is not there, and for a tree of switches without its file."""
    found: list[InputError] = []
    for key, usual in _DECIDE.items():
        value = settings.general(key)
        if value is None or has_plugin(value.text):
            continue
        there = [name for name in usual if has_plugin(name)]
        hint = f"there are {', '.join(there)}; choose with --set {key}={there[0]}" if there else "install it"
        found.append(InputError(f"{key}={value.text}: this Slurm has no such plug-in", where=value.place, hint=hint))
    topology = settings.general("TopologyPlugin")
    if topology is not None and topology.text in _NEEDS_FILE and not settings.has_topology:
        message = f"TopologyPlugin={topology.text} needs a topology.conf, and there is none beside {settings.path.name}"
        hint = "put it there, or do without: --set TopologyPlugin=topology/none"
        found.append(InputError(message, where=topology.place, hint=hint))
    return found


def submit_plugins(text: str, has_plugin: Callable[[str], bool]) -> tuple[list[str], list[str]]:
    """Of JobSubmitPlugins: what is kept, and what is left out."""
    names = [item.removeprefix("job_submit/") for item in items(text)]
    kept = [name for name in names if name in _SUBMIT and has_plugin(f"job_submit/{name}")]
    return kept, [name for name in names if name not in kept]

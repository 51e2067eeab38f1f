"""The options of sbatch that are understood: what each sets in the description of a job, and how its value is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from schedlab.slurm.wire import job_values as values

# Options that are one field each: its name, and how a value is read.
FIELDS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "account": ("account", values.words),
    "array": ("array_inx", values.array),
    "batch": ("batch_features", values.words),
    "begin": ("begin_time", values.moment),
    "comment": ("comment", values.words),
    "constraint": ("features", values.words),
    "core-spec": ("core_spec", values.from_zero),
    "deadline": ("deadline", values.moment),
    "delay-boot": ("delay_boot", values.duration),
    "dependency": ("dependency", values.words),
    "exclude": ("exc_nodes", values.words),
    "exclusive": ("shared", values.sharing),
    "gpus": ("tres_per_job", values.gpus),
    "gpus-per-socket": ("tres_per_socket", values.gpus),
    "gpus-per-task": ("tres_per_task", values.gpus),
    "job-name": ("name", values.words),
    "licenses": ("licenses", values.words),
    "mcs-label": ("mcs_label", values.words),
    "mem": ("pn_min_memory", values.megabytes),
    "mem-per-cpu": ("pn_min_memory", values.per_cpu),
    "nice": ("nice", values.nice),
    "partition": ("partition", values.words),
    "prefer": ("prefer", values.words),
    "priority": ("priority", values.priority),
    "qos": ("qos", values.words),
    "reservation": ("reservation", values.words),
    "thread-spec": ("core_spec", values.threads),
    "time": ("time_limit", values.minutes),
    "time-min": ("time_min", values.minutes),
    "tmp": ("pn_min_tmp_disk", values.small_megabytes),
    "wckey": ("wckey", values.words),
}
# Options without a value, and what they set.
FLAGS: dict[str, tuple[str, int]] = {
    "contiguous": ("contiguous", 1),
    "hold": ("priority", 0),
    "no-kill": ("kill_on_node_fail", 0),
    "no-requeue": ("requeue", 0),
    "overcommit": ("overcommit", 1),
    "oversubscribe": ("shared", 1),
    "reboot": ("reboot", 1),
    "requeue": ("requeue", 1),
    "share": ("shared", 1),
}
BITS = {"spread-job": 1 << 8, "use-min-nodes": 1 << 9}
# Read together, as one depends on the other.
SHAPE: dict[str, Callable[[str], Any]] = {
    "cores-per-socket": values.count,
    "cpus-per-gpu": values.count,
    "cpus-per-task": values.count,
    "gpus-per-node": values.gpus,
    "gres": values.generic,
    "gres-flags": values.one_of(disable_binding=1 << 19, enforce_binding=1 << 4),
    "hint": values.one_of(
        compute_bound=(0, 1, 0), memory_bound=(1, 1, 0), multithread=(0, 0, 0xFFFF), nomultithread=(0, 1, 0)
    ),
    "kill-on-invalid-dep": values.one_of(yes=1 << 0, no=1 << 1),
    "mem-per-gpu": values.megabytes,
    "mincpus": values.from_zero,
    "nodelist": values.node_names,
    "nodes": values.nodes,
    "ntasks": values.tasks,
    "ntasks-per-core": values.count,
    "ntasks-per-node": values.count,
    "ntasks-per-socket": values.count,
    "sockets-per-node": values.count,
    "switches": values.switches,
    "threads-per-core": values.count,
}
# What has no effect on scheduling: accepted, and not sent.
_WITHOUT_EFFECT_WORDS = """
    acctg-freq chdir cpu-freq error export export-file get-user-env gid gpu-bind gpu-freq ignore-pbs input mail-type
    mail-user mem-bind open-mode output parsable profile propagate quiet signal test-only uid verbose wait
    wait-all-nodes wrap
"""
WITHOUT_EFFECT = frozenset(_WITHOUT_EFFECT_WORDS.split())
ALIASES = {"tasks-per-node": "ntasks-per-node"}
OPTIONS = frozenset({*FIELDS, *FLAGS, *BITS, *SHAPE, *WITHOUT_EFFECT, *ALIASES})

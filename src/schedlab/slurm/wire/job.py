"""The description of a job, as sbatch would send it for the same options.

What sbatch works out from several GPU options together is left out: slurmctld works it out again itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schedlab.files.slurm_values import shown
from schedlab.model.errors import InputError, InputErrors
from schedlab.slurm.wire import job_values as values
from schedlab.slurm.wire.job_options import ALIASES, BITS, FIELDS, FLAGS, SHAPE, WITHOUT_EFFECT
from schedlab.slurm.wire.release import Release

_NTASKS_SET, _CPUS_SET = 1 << 14, 1 << 15
_DEFAULTS = (("account", 1 << 25), ("partition", 1 << 26), ("qos", 1 << 27), ("wckey", 1 << 28))


def job_description(
    options: Mapping[str, str],
    *,
    uid: int,
    gid: int,
    name: str = "",
    limit_minutes: int | None = None,
    where: str = "",
) -> dict[str, Any]:
    """The fields of a submission that differ from the defaults. `options` are sbatch's long ones, without the dashes.

    Flags have the value "". Moments (`begin`, `deadline`) are in seconds since the epoch. All mistakes are reported at
    once, with `where` in front.
    """
    fields: dict[str, Any] = {"name": name or "job", "user_id": uid, "group_id": gid, "bitflags": 0, **_SCRIPT}
    shape: dict[str, Any] = {}
    mistakes: list[InputError] = []
    for written, value in options.items():
        option = ALIASES.get(written, written)
        try:
            if option in SHAPE:
                shape[option] = SHAPE[option](value)
            elif option in FIELDS:
                field, read = FIELDS[option]
                fields[field] = read(value)
            elif option in FLAGS or option in BITS:
                _no_value(value)
                fields["bitflags"] |= BITS.get(option, 0)
                fields.update([FLAGS[option]] if option in FLAGS else [])
            elif option not in WITHOUT_EFFECT:
                mistakes.append(InputError(f"--{written}: this option of sbatch is not understood", where=where))
        except ValueError as error:
            mistakes.append(InputError(f"--{written}: {shown(value)} is not {error}", where=where))
    memories = [f"--{option}" for option in ("mem", "mem-per-cpu", "mem-per-gpu") if option in options]
    if len(memories) > 1:
        mistakes.append(InputError(f"{' and '.join(memories)}: only one of them can be given", where=where))
    if limit_minutes is not None:
        fields["time_limit"] = limit_minutes or values.INFINITE
    if "hold" in options:
        fields["priority"] = 0
    if not mistakes:
        try:
            _nodes_and_tasks(shape, fields)
        except ValueError as error:
            mistakes.append(InputError(str(error), where=where))
    if mistakes:
        raise mistakes[0] if len(mistakes) == 1 else InputErrors(mistakes)
    _resources(shape, fields)
    for field, bit in _DEFAULTS:
        if field not in fields:
            fields["bitflags"] |= bit
    return fields


def submission(release: Release, description: Mapping[str, Any]) -> bytes:
    """The body of REQUEST_SUBMIT_BATCH_JOB."""
    return release.layouts.job_description.pack(description)


# slurmctld wants a script and an environment. Neither is ever used.
_SCRIPT = {
    "alloc_node": "localhost",
    "alloc_sid": 1,
    "environment": ["PATH=/usr/bin:/bin"],
    "script": "#!/bin/sh\n",
    "std_in": "/dev/null",
    "std_out": "/dev/null",
    "work_dir": "/",
}


def _no_value(value: str) -> None:
    if value:
        raise ValueError("expected: this option has no value")


def _nodes_and_tasks(shape: Mapping[str, Any], fields: dict[str, Any]) -> None:
    """How many nodes, tasks and CPUs, from what is said of them and of a node."""
    least, most = shape.get("nodes", (1, 0))
    nodes_set = "nodes" in shape
    tasks: int | None = shape.get("ntasks")
    listed: list[str] = shape.get("nodelist", [])
    if listed:
        least = max(len(listed), least) if nodes_set else len(listed)
        nodes_set = True
    if most and least > most:
        raise ValueError(f"--nodelist names {least} nodes, --nodes says {most} at most")
    fixed = most in (0, least)
    if tasks is None and fixed and "ntasks-per-node" in shape:
        tasks = least * shape["ntasks-per-node"]

    _hardware(shape, fields)
    count = tasks or 1
    if nodes_set and fixed and tasks is None:
        count = max(least, 1)
        for part in ("sockets_per_node", "cores_per_socket", "threads_per_core"):
            if part in fields:
                count = tasks = count * fields[part]
    elif nodes_set and tasks is not None:
        most = min(most, tasks)
        if tasks < least:
            least = most = tasks
            listed = listed[:least]

    if tasks is not None:
        fields["num_tasks"] = tasks
        fields["bitflags"] |= _NTASKS_SET
    if nodes_set:
        fields["min_nodes"] = least
        if most:
            fields["max_nodes"] = most
    if listed:
        fields["req_nodes"] = values.listed(listed)
    of_task = shape.get("cpus-per-task")
    if of_task is not None:
        fields["cpus_per_task"] = of_task
        fields["bitflags"] |= _CPUS_SET
    mincpus = max(shape.get("mincpus", -1), of_task or -1)
    if mincpus >= 0:
        fields["pn_min_cpus"] = mincpus
    if fields.get("overcommit"):
        count = max(least, 1)
    elif of_task is not None:
        count *= of_task
    elif nodes_set and least == 0:
        count = 0
    if max(count, tasks or 0) > values.MOST_TASKS:
        raise ValueError("--ntasks, --nodes and --cpus-per-task: more than 2^31 CPUs together")
    fields["min_cpus"] = count


def _hardware(shape: Mapping[str, Any], fields: dict[str, Any]) -> None:
    """Sockets, cores and threads. A hint counts only where nothing is said of cores and threads."""
    for option in (
        "sockets-per-node",
        "cores-per-socket",
        "threads-per-core",
        "ntasks-per-node",
        "ntasks-per-socket",
        "ntasks-per-core",
    ):
        if option in shape:
            fields[option.replace("-", "_")] = shape[option]
    if "hint" in shape and not {"ntasks-per-core", "threads-per-core"} & shape.keys():
        parts = zip(("cores_per_socket", "threads_per_core", "ntasks_per_core"), shape["hint"], strict=True)
        fields.update((field, amount) for field, amount in parts if amount)


def _resources(shape: Mapping[str, Any], fields: dict[str, Any]) -> None:
    """Generic resources, and switches."""
    per_node = [shape[option] for option in ("gpus-per-node", "gres") if shape.get(option)]
    if per_node:
        fields["tres_per_node"] = ",".join(per_node)
    for option, field in (("cpus-per-gpu", "cpus_per_tres"), ("mem-per-gpu", "mem_per_tres")):
        if option in shape:
            fields[field] = f"gres:gpu:{shape[option]}"
    fields["bitflags"] |= shape.get("gres-flags", 0) | shape.get("kill-on-invalid-dep", 0)
    if "switches" in shape:
        most, wait = shape["switches"]
        fields["req_switch"] = most
        if wait is not None:
            fields["wait4switch"] = wait

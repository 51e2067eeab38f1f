"""What a node says to slurmctld, and what it hears from it."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from schedlab.cluster.slurm.hosts import host_names
from schedlab.slurm.wire.buffer import NO_VALUE_32, Reader, WireError
from schedlab.slurm.wire.header import Incoming, Returned, message
from schedlab.slurm.wire.layout import Layout
from schedlab.slurm.wire.release import Release

ALREADY_COMPLETE = 4002  # the answer to the end of a job that has nothing running: Slurm is done with the node at once

_HAS_FILE, _HAS_TYPE, _LOADED = 1 << 1, 1 << 2, 1 << 4
_SUSPEND = 0
_MOST_NODES = 1_000_000  # of one job


@dataclass(frozen=True, slots=True)
class NodeGres:
    """Generic resources of a node; one for each type."""

    name: str
    count: int
    type: str = ""
    cores: str = ""  # that are near, such as 0-7
    has_file: bool = False  # single devices are told apart


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What a node finds out about itself."""

    name: str
    sockets: int
    cores: int  # of a socket
    threads: int  # of a core
    memory: int  # MB
    cpus: int = 0  # if there are not as many as threads
    boards: int = 1
    tmp_disk: int = 0  # MB
    cpu_spec_list: str = ""  # CPUs that are kept for the system, such as 0-1
    gres: tuple[NodeGres, ...] = ()


def registration(
    release: Release, node: NodeFacts, *, now: int, boot_time: int, jobs: Sequence[int] = (), host: str = ""
) -> bytes:
    """The body of MESSAGE_NODE_REGISTRATION_STATUS. `jobs` are those whose scripts run on the node."""
    cpus = node.cpus or node.sockets * node.cores * node.threads
    batch = 0xFFFFFFFB  # the number of the step that is a script
    steps = b"".join(struct.pack(">III", job, batch, NO_VALUE_32) for job in jobs)
    gres = b"".join(_gres(release, one, cpus) for one in node.gres)
    gres = struct.pack(">HH", release.protocol, len(node.gres)) + gres
    return release.layouts.registration.pack(
        {
            "timestamp": now,
            "slurmd_start_time": boot_time,
            "hostname": host or node.name,
            "node_name": node.name,
            "cpus": cpus,
            "boards": node.boards,
            "sockets": node.sockets,
            "cores": node.cores,
            "threads": node.threads,
            "real_memory": node.memory,
            "tmp_disk": node.tmp_disk,
            "cpu_spec_list": node.cpu_spec_list or None,
            "up_time": now - boot_time,
            "free_mem": node.memory,
            "jobs": struct.pack(">I", len(jobs)) + steps,
            "gres": struct.pack(">II", len(gres), len(gres)) + gres,
        }
    )


def _gres(release: Release, one: NodeGres, cpus: int) -> bytes:
    return release.layouts.gres_of_node.pack(
        {
            "count": one.count,
            "cpu_count": cpus,
            "flags": _LOADED | (_HAS_TYPE if one.type else 0) | (_HAS_FILE if one.has_file else 0),
            "plugin_id": _plugin_number(one.name),
            "cpus": one.cores or None,
            "name": one.name,
            "type_name": one.type or None,
        }
    )


def _plugin_number(name: str) -> int:
    """Slurm's hash of a resource's name."""
    return sum(byte << 8 * (place % 4) for place, byte in enumerate(name.encode())) & 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Launch:
    """A job starts: its script is to be run on the first of its nodes."""

    job: int
    array_job: int  # 0 if it is not of an array
    array_task: int | None
    het_job: int  # 0 if it is not a part of a heterogeneous one
    uid: int
    partition: str
    nodes: str  # as a list, such as n[1-3]
    cpus: tuple[int, ...]  # on each of them
    restarts: int


@dataclass(frozen=True, slots=True)
class Termination:
    """A job is to end on this node, or is over."""

    job: int
    uid: int
    state: int  # with flags
    exit_code: int
    nodes: str


@dataclass(frozen=True, slots=True)
class Suspension:
    """A job is to be suspended or resumed."""

    job: int
    resume: bool


@dataclass(frozen=True, slots=True)
class Signal:
    """Tasks of a job are to get a signal."""

    job: int
    signal: int


@dataclass(frozen=True, slots=True)
class Prolog:
    """The prolog of a job is to be run before its script comes; wants `prolog_complete` afterwards."""

    job: int
    uid: int
    nodes: str


Order = Launch | Termination | Suspension | Signal | Prolog


def order(release: Release, incoming: Incoming) -> Order | None:
    """What a message wants of the jobs on a node; None if it is about the node itself."""
    layouts = release.layouts
    match incoming.name:
        case "REQUEST_BATCH_JOB_LAUNCH":
            return _launch(_body(incoming, release), layouts.launch)
        case "REQUEST_TERMINATE_JOB" | "REQUEST_KILL_TIMELIMIT" | "REQUEST_KILL_PREEMPTED" | "REQUEST_ABORT_JOB":
            found = layouts.termination.read(_body(incoming, release))
            return Termination(
                found["job_id"], found["uid"], found["job_state"], found["exit_code"], found["nodes"] or ""
            )
        case "REQUEST_SUSPEND_INT":
            found = layouts.suspension.read(_body(incoming, release))
            return Suspension(found["job_id"], found["operation"] != _SUSPEND)
        case "REQUEST_SIGNAL_TASKS" | "REQUEST_TERMINATE_TASKS":
            found = layouts.signal.read(_body(incoming, release))
            return Signal(found["job_id"], found["signal"])
        case "REQUEST_LAUNCH_PROLOG":
            found = layouts.prolog.read(_body(incoming, release))
            return Prolog(found["job_id"], found["uid"], found["nodes"] or "")
    return None


def _launch(reader: Reader, layout: Layout) -> Launch:
    found = layout.read(reader)
    amounts, repeats = found["cpus"]
    if sum(repeats) > _MOST_NODES:
        raise WireError(f"{layout.name}, cpus: {sum(repeats)} nodes")
    task = found["array_task_id"]
    return Launch(
        job=found["job_id"],
        array_job=found["array_job_id"],
        array_task=None if task == NO_VALUE_32 else task,
        het_job=0 if found["het_job_id"] == NO_VALUE_32 else found["het_job_id"],
        uid=found["uid"],
        partition=found["partition"] or "",
        nodes=found["nodes"] or "",
        cpus=tuple(amount for amount, times in zip(amounts, repeats, strict=True) for _ in range(times)),
        restarts=found["restart_count"],
    )


def _body(incoming: Incoming, release: Release) -> Reader:
    if incoming.protocol != release.protocol:
        raise WireError(f"{incoming.name} in the protocol {incoming.protocol >> 8}: the node has not registered")
    return Reader(incoming.body)


def answer(release: Release, incoming: Incoming, *, code: int = 0, uid: int = 0) -> bytes:
    """The answer of the node and of all those that the message was for: alive to a ping, else a return code."""
    if incoming.name == "REQUEST_PING":
        name, body = "RESPONSE_PING_SLURMD", release.layouts.ping_of_node.pack({"free_mem": 1000})
    else:
        name, body = "RESPONSE_SLURM_RC", release.layouts.return_code.pack({"return_code": code})
    return message(
        release, name, body, uid=uid, returned=[Returned(node, name, body) for node in other_nodes(incoming)]
    )


def other_nodes(incoming: Incoming) -> list[str]:
    """The nodes that a message is for besides the one that got it."""
    try:
        return host_names(incoming.forward_to) if incoming.forward_to else []
    except ValueError as error:
        raise WireError(f"{incoming.name} is to be forwarded to {incoming.forward_to[:60]!r}: {error}") from None


def batch_complete(release: Release, *, job: int, uid: int, node: str, status: int = 0, error: int = 0) -> bytes:
    """The body of REQUEST_COMPLETE_BATCH_SCRIPT. `status` is as wait() has it: the exit code times 256, or a signal."""
    values = {"job_id": job, "job_rc": status, "slurm_rc": error, "user_id": uid, "node_name": node}
    return release.layouts.batch_complete.pack(values)


def prolog_complete(release: Release, *, job: int, node: str, code: int = 0) -> bytes:
    """The body of REQUEST_COMPLETE_PROLOG."""
    return release.layouts.prolog_complete.pack({"job_id": job, "node_name": node, "prolog_rc": code})


def epilog_complete(release: Release, *, job: int, node: str, code: int = 0) -> bytes:
    """The body of MESSAGE_EPILOG_COMPLETE: needed where the end of a job was answered with 0, not ALREADY_COMPLETE."""
    return release.layouts.epilog_complete.pack({"job_id": job, "return_code": code, "node_name": node})

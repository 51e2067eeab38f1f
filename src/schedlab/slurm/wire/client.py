"""Requests of users and administrators, and what slurmctld answers to those that change something."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass

from schedlab.slurm.wire.buffer import NO_VALUE_32, Reader, WireError
from schedlab.slurm.wire.header import Incoming
from schedlab.slurm.wire.release import Release

SIGKILL = 9
NODE_STATES = {"down": 1, "undrain": 1 << 6, "resume": 1 << 8, "drain": 1 << 9}

_SLURMCTLD_ONLY = 2
_SHOW_ALL_HERE = 0x0011  # hidden partitions too, no federation
_SHOW_DETAIL = 0x0002  # what jobs hold on each node
_GET = 1


@dataclass(frozen=True, slots=True)
class Submitted:
    """The answer to a submission. `error` is 0 or Slurm's number of the reason; a job may be accepted with one."""

    job: int  # 0: refused
    error: int
    message: str


def submitted(release: Release, incoming: Incoming) -> Submitted:
    """The answer to REQUEST_SUBMIT_BATCH_JOB."""
    if incoming.name != "RESPONSE_SUBMIT_BATCH_JOB":
        return Submitted(0, return_code(release, incoming), "")
    found = release.layouts.submitted.read(Reader(incoming.body))
    return Submitted(found["job_id"], found["error"], found["message"] or "")


def return_code(release: Release, incoming: Incoming) -> int:
    """0 or the reason why slurmctld did not do it."""
    layouts = {
        "RESPONSE_SLURM_RC": release.layouts.return_code,
        "RESPONSE_SLURM_RC_MSG": release.layouts.return_message,
    }
    if incoming.name not in layouts:
        raise WireError(f"a return code expected, {incoming.name} received")
    code: int = layouts[incoming.name].read(Reader(incoming.body))["return_code"]
    return code


def expect(release: Release, incoming: Incoming, name: str) -> Reader:
    """The body of an answer that has to be the message `name`."""
    if incoming.name == name:
        return Reader(incoming.body)
    if incoming.name.startswith("RESPONSE_SLURM_RC"):
        raise WireError(f"{name} expected, slurmctld answers with code {return_code(release, incoming)}")
    raise WireError(f"{name} expected, {incoming.name} received")


def kill_job(release: Release, job: int | str, signal: int = SIGKILL) -> bytes:
    """The body of REQUEST_KILL_JOB, as scancel sends it. `job` may be `17_3`, a task of an array."""
    return release.layouts.kill.pack({"job_id": NO_VALUE_32, "job": str(job), "signal": signal})


def update_nodes(release: Release, nodes: str, state: str, *, reason: str = "", uid: int = 0) -> bytes:
    """The body of REQUEST_UPDATE_NODE: one of NODE_STATES for the nodes of a list such as n[1-3]."""
    return release.layouts.node_update.pack(
        {"node_names": nodes, "node_state": NODE_STATES[state], "reason": reason or None, "reason_uid": uid}
    )


def shut_down(release: Release) -> bytes:
    """The body of REQUEST_SHUTDOWN, for slurmctld alone."""
    return release.layouts.shutdown.pack({"options": _SLURMCTLD_ONLY})


def ask_job(job: int) -> bytes:
    """The body of REQUEST_JOB_INFO_SINGLE."""
    return struct.pack(">IH", job, _SHOW_ALL_HERE | _SHOW_DETAIL)


def ask_jobs(since: int = 0) -> bytes:
    """The body of REQUEST_JOB_INFO, for all jobs; the answer is short if none has changed since an earlier one."""
    return struct.pack(">qHI", since, _SHOW_ALL_HERE, NO_VALUE_32)


def ask_priorities(jobs: Iterable[int] = ()) -> bytes:
    """The body of REQUEST_PRIORITY_FACTORS; without jobs for all that are pending."""
    listed = list(jobs)
    chosen = struct.pack(f">I{len(listed)}I", len(listed), *listed) if listed else struct.pack(">I", NO_VALUE_32)
    return chosen + struct.pack(">II", NO_VALUE_32, 0)  # of all users, in all partitions


def ask_shares() -> bytes:
    """The body of REQUEST_SHARE_INFO, for all accounts and users."""
    return struct.pack(">II", NO_VALUE_32, NO_VALUE_32)


def ask_statistics() -> bytes:
    """The body of REQUEST_STATS_INFO; the counters go on."""
    return struct.pack(">H", _GET)

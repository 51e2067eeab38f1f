"""What slurmctld answers to questions: jobs, priorities and their factors, shares, counters."""

from __future__ import annotations

import math
from dataclasses import dataclass

from schedlab.slurm.wire.buffer import NO_VALUE_32, Reader, WireError
from schedlab.slurm.wire.client import expect, return_code
from schedlab.slurm.wire.header import Incoming
from schedlab.slurm.wire.held import Held, held_by
from schedlab.slurm.wire.job_values import NICE_ZERO
from schedlab.slurm.wire.release import Release

JOB_STATES = (
    "PENDING",
    "RUNNING",
    "SUSPENDED",
    "COMPLETED",
    "CANCELLED",
    "FAILED",
    "TIMEOUT",
    "NODE_FAIL",
    "PREEMPTED",
    "BOOT_FAIL",
    "DEADLINE",
    "OUT_OF_MEMORY",
)
_STATE_BITS = 0xFF
_COMPLETING = 1 << 15
_BY_BACKFILL = 1 << 32
_NO_CHANGE = 1900  # Slurm's code for: nothing new since you last asked
_PARENT = 0x7FFFFFFF  # shares: those of the parent


@dataclass(frozen=True, slots=True)
class JobInfo:
    """A job as `scontrol show job` tells of it. Times are seconds since the epoch, 0 where there is none."""

    job: int
    array_job: int
    array_task: int | None
    uid: int
    name: str
    account: str
    partition: str
    qos: str
    state: str  # of JOB_STATES
    completing: bool
    reason: int  # why it waits or failed, as Slurm numbers them
    reason_text: str
    dependency: str  # what it still waits for: afterok:17(unfulfilled)
    priority: int
    submit_time: int
    eligible_time: int
    start_time: int  # of a pending job: planned
    end_time: int
    limit_minutes: int
    nodes: str
    planned_nodes: str
    cpus: int
    restarts: int
    exit_code: int
    backfilled: bool  # the backfill scheduler was the last to look at it: it has started it, if it runs
    held: tuple[Held, ...]  # of a job that runs, if it was asked for alone


def jobs(release: Release, incoming: Incoming) -> list[JobInfo]:
    """The answer to REQUEST_JOB_INFO_SINGLE (all tasks of an array that are split off) or REQUEST_JOB_INFO."""
    reader = expect(release, incoming, "RESPONSE_JOB_INFO")
    count = reader.u32()
    reader.take(16)  # the last change, the last pass of the backfill scheduler
    return [
        JobInfo(
            job=found["job_id"],
            array_job=found["array_job_id"],
            array_task=None if found["array_task_id"] == NO_VALUE_32 else found["array_task_id"],
            uid=found["user_id"],
            name=found["name"] or "",
            account=found["account"] or "",
            partition=found["partition"] or "",
            qos=found["qos"] or "",
            state=_state(found["job_state"]),
            completing=bool(found["job_state"] & _COMPLETING),
            reason=found["state_reason"],
            reason_text=found["state_desc"] or "",
            dependency=found["dependency"] or "",
            priority=found["priority"],
            submit_time=found["submit_time"],
            eligible_time=found["eligible_time"],
            start_time=found["start_time"],
            end_time=found["end_time"],
            limit_minutes=found["time_limit"],
            nodes=found["nodes"] or "",
            planned_nodes=found["sched_nodes"] or "",
            cpus=found["num_cpus"],
            restarts=found["restart_cnt"],
            exit_code=found["exit_code"],
            backfilled=bool(found["bitflags"] & _BY_BACKFILL),
            held=held_by(found["job_resrcs"], found["gres_detail_str"]),
        )
        for found in release.layouts.job_info.records(reader, count)
    ]


def time_of(release: Release, incoming: Incoming) -> int:
    """Up to when an answer of jobs knows everything, as Slurm says; 0 if it is that nothing has changed since."""
    if incoming.name != "RESPONSE_JOB_INFO" and return_code(release, incoming) == _NO_CHANGE:
        return 0
    reader = expect(release, incoming, "RESPONSE_JOB_INFO")
    reader.u32()
    return reader.time()


def _state(bits: int) -> str:
    number = bits & _STATE_BITS
    return JOB_STATES[number] if number < len(JOB_STATES) else f"state {number}"


@dataclass(frozen=True, slots=True)
class JobPriority:
    """The priority of a pending job in a partition and its weighted factors, as sprio prints them."""

    job: int
    uid: int
    partition: str
    priority: int
    age: float
    assoc: float
    fairshare: float
    job_size: float
    partition_factor: float
    qos: float
    site: int
    nice: int
    tres: dict[str, float]  # those that are not 0


def priorities(release: Release, incoming: Incoming) -> list[JobPriority]:
    """The answer to REQUEST_PRIORITY_FACTORS."""
    reader = expect(release, incoming, "RESPONSE_PRIORITY_FACTORS")
    count = reader.u32()
    if count == NO_VALUE_32:
        return []
    found = []
    for values in release.layouts.priority.records(reader, count):
        names = zip(values["tres_names"], values["tres"], strict=False)
        tres = {name: amount for name, amount in names if amount}
        fixed = values["direct"] > 0  # by an administrator: there are no factors
        site, nice = (0, 0) if fixed else (values["site"] - NICE_ZERO, values["nice"] - NICE_ZERO)
        factors = [values[key] for key in ("age", "assoc", "fairshare", "job_size", "partition_factor", "qos")]
        total = values["direct"] if fixed else max(sum(factors) + site - nice + sum(tres.values()), 1)
        if not math.isfinite(total):
            raise WireError(f"{release.layouts.priority.name}: job {values['job_id']} has the priority {total}")
        age, assoc, fairshare, job_size, partition, qos = factors
        found.append(
            JobPriority(
                job=values["job_id"],
                uid=values["user_id"],
                partition=values["partition"] or "",
                priority=int(total),
                age=age,
                assoc=assoc,
                fairshare=fairshare,
                job_size=job_size,
                partition_factor=partition,
                qos=qos,
                site=site,
                nice=nice,
                tres=tres,
            )
        )
    return found


@dataclass(frozen=True, slots=True)
class Share:
    """An account or a user, as a line of `sshare -l` shows it."""

    assoc: int
    account: str
    user: str  # "" if it is an account
    partition: str
    raw_shares: int | None  # None: it has those of its parent, or is the root
    norm_shares: float
    raw_usage: int
    norm_usage: float | None  # None: the root
    effective_usage: float
    fairshare: float | None  # the factor in priorities; None: an account
    level_fs: float | None  # None: as for shares


def shares(release: Release, incoming: Incoming) -> list[Share]:
    """The answer to REQUEST_SHARE_INFO, from the root on."""
    reader = expect(release, incoming, "RESPONSE_SHARE_INFO")
    for _ in range(reader.count(4)):  # names of what usage counts
        reader.text()
    count = reader.u32()
    if count == NO_VALUE_32:
        return []
    return [
        Share(
            assoc=found["assoc_id"],
            account=(found["parent"] if found["user"] else found["name"]) or "",
            user=(found["name"] or "") if found["user"] else "",
            partition=found["partition"] or "",
            raw_shares=None if found["shares_raw"] in (_PARENT, NO_VALUE_32) else found["shares_raw"],
            norm_shares=found["shares_norm"],
            raw_usage=found["usage_raw"],
            norm_usage=_given(found["usage_norm"]),
            effective_usage=found["usage_efctv"],
            fairshare=found["fs_factor"] if found["user"] else None,
            level_fs=None if found["shares_raw"] == _PARENT else _given(found["level_fs"]),
        )
        for found in release.layouts.share.records(reader, count)
    ]


def _given(value: float) -> float | None:
    return None if value == NO_VALUE_32 else value


def statistics(release: Release, incoming: Incoming) -> dict[str, int]:
    """The answer to REQUEST_STATS_INFO: sdiag's counters by Slurm's own names of them, times in microseconds."""
    reader: Reader = expect(release, incoming, "RESPONSE_STATS_INFO")
    return release.layouts.statistics.read(reader) if reader.u32() else {}

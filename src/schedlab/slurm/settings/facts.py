"""What slurmctld will do by its settings that whoever drives it has to know."""

from __future__ import annotations

import re
from dataclasses import dataclass

from schedlab.slurm.settings.entries import Settings, items


@dataclass(frozen=True, slots=True)
class Facts:
    """With Slurm 22.05's own values where the site says nothing; times in seconds."""

    cluster_name: str
    first_job_id: int
    max_job_id: int
    max_job_count: int
    max_array_size: int
    min_job_age: int
    kill_wait: int
    complete_wait: int
    batch_start_timeout: int
    message_timeout: int
    backfill_interval: int
    sched_interval: int
    job_requeue: bool
    scheduler_type: str
    select_type: str
    priority_type: str
    preempt_type: str
    preempt_mode: str
    tres: tuple[str, ...]  # of AccountingStorageTRES, beyond those that are always there
    enforce: tuple[str, ...]


def facts_of(settings: Settings) -> Facts:
    """Of settings in the words of 22.05."""

    def number(key: str, default: int) -> int:
        text = settings.text(key)
        return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else default

    parameters = dict(
        item.casefold().split("=", 1) for item in items(settings.text("SchedulerParameters")) if "=" in item
    )

    def parameter(name: str, default: int) -> int:
        text = parameters.get(name, "")
        return int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else default

    return Facts(
        cluster_name=settings.text("ClusterName").casefold(),
        first_job_id=number("FirstJobId", 1),
        max_job_id=number("MaxJobId", 0x03FF0000),
        max_job_count=number("MaxJobCount", 10_000),
        max_array_size=number("MaxArraySize", 1001),
        min_job_age=max(number("MinJobAge", 300), 2),
        kill_wait=number("KillWait", 30),
        complete_wait=number("CompleteWait", 0),
        batch_start_timeout=number("BatchStartTimeout", 10),
        message_timeout=number("MessageTimeout", 10),
        backfill_interval=parameter("bf_interval", 30),
        sched_interval=parameter("sched_interval", 60),
        job_requeue=number("JobRequeue", 1) > 0,
        scheduler_type=settings.text("SchedulerType", "sched/backfill"),
        select_type=settings.text("SelectType", "select/linear"),
        priority_type=settings.text("PriorityType", "priority/basic"),
        preempt_type=settings.text("PreemptType", "preempt/none"),
        preempt_mode=settings.text("PreemptMode", "OFF"),
        tres=tuple(dict.fromkeys(item.casefold() for item in items(settings.text("AccountingStorageTRES")))),
        enforce=tuple(item.casefold() for item in items(settings.text("AccountingStorageEnforce"))),
    )

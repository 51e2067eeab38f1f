"""Some of the jobs: of some users, queues, sizes; or of a sample of the users."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.model.errors import InputError
from schedlab.model.random import random_stream
from schedlab.model.suggest import did_you_mean
from schedlab.model.workload import JobBatch, Workload
from schedlab.workload.transform.derive import keep_jobs

Names = Collection[str | int] | None
Range = tuple[float, float] | None  # both ends are inside
Choice = Callable[[JobBatch], NDArray[np.bool_]]


def select(
    workload: Workload,
    *,
    users: Names = None,
    groups: Names = None,
    queues: Names = None,
    partitions: Names = None,
    sizes: Range = None,
    runtimes: Range = None,
) -> Workload:
    """The jobs that fit everything that is said. Users and the others by name, or by number where there are no names.

    `sizes` are cores (chunks, where a chunk has none), `runtimes` seconds.
    """
    choices: list[Choice] = []
    said: list[str] = []
    for column, names in (("user", users), ("group", groups), ("queue", queues), ("partition", partitions)):
        if names is not None:
            choices.append(_one_of(column, [_number(workload, column, name) for name in names]))
            said.append(f"{column} {', '.join(map(str, names))}")
    if sizes is not None:
        choices.append(_within(workload.cores, *sizes))
        said.append(f"size {_said(sizes)}")
    if runtimes is not None:
        choices.append(_within(lambda batch: batch.runtime, *runtimes))
        said.append(f"run time {_said(runtimes)} seconds")
    if not choices:
        return workload

    def all_of(batch: JobBatch) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = np.logical_and.reduce([choice(batch) for choice in choices])
        return found

    return keep_jobs(workload, f"only the jobs with {'; '.join(said)}", "not selected", lambda: all_of)


def sample_users(workload: Workload, share: float, seed: int = 0) -> Workload:
    """All jobs of some users: each user stays with probability `share`. Jobs without a user count as one user's.

    Sessions and dependencies stay whole. The load becomes `share` of what it was on average only: a few users do most.
    """
    if not 0 <= share <= 1:
        raise InputError(f"the share cannot be {share:g}", hint="a number from 0 to 1")
    drawn: dict[int, bool] = {}

    def stays(user: int) -> bool:
        if user not in drawn:
            drawn[user] = bool(random_stream(seed, "transform", "users", str(user)).random() < share)
        return drawn[user]

    def choice(batch: JobBatch) -> NDArray[np.bool_]:
        users, place = np.unique(batch.user, return_inverse=True)
        return np.array([stays(user) for user in users.tolist()], np.bool_)[place]

    note = f"the users kept with probability {share:g} each (seed {seed})"
    return keep_jobs(workload, note, "user not in the sample", lambda: choice)


def _one_of(column: str, numbers: list[int]) -> Choice:
    return lambda batch: np.isin(getattr(batch, column), numbers)


def _within(value: Callable[[JobBatch], NDArray[Any]], low: float, high: float) -> Choice:
    return lambda batch: (value(batch) >= low) & (value(batch) <= high)


def _said(limits: tuple[float, float]) -> str:
    return f"from {limits[0]:.15g}" + ("" if limits[1] == np.inf else f" to {limits[1]:.15g}")


def _number(workload: Workload, column: str, name: str | int) -> int:
    labels = workload.labels.get(column, [])
    if isinstance(name, str) and name in labels:
        return labels.index(name)
    try:
        return int(name)
    except ValueError:
        hint = did_you_mean(str(name), labels) if labels else f"the log has numbers for each {column}, not names"
        raise InputError(f"there is no {column} '{name}'", where=workload.name, hint=hint) from None

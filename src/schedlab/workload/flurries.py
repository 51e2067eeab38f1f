"""Flurries: bursts of very many jobs by one user, which the Parallel Workloads Archive advises to leave out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from schedlab.model.errors import InputError
from schedlab.model.workload import JobBatch, Workload
from schedlab.workload.transform.derive import keep_jobs

WEEK = 604_800.0
DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Flurry:
    """The jobs of one user from `begin` to `end` (submit times, both inside)."""

    user: int
    name: str
    begin: float
    end: float
    jobs: int
    share: float  # of all jobs in that time
    typical: float  # jobs that all the other users submit in a usual week


def find_flurries(
    workload: Workload, *, least: int = 300, share: float = 0.5, factor: float = 2.0, span: float = WEEK
) -> list[Flurry]:
    """The flurries of a workload, the largest first.

    For each job of a user, look at the week (`span`) that ends with it. The user floods that week if he has submitted
    in it at least `least` jobs, more than `share` of all jobs, and at least `factor` times as many as all the other
    users together submit in a typical week: the median over the weeks of the log, counted from its first submittal,
    that have jobs. Flooded weeks of a user that overlap make one flurry. It begins with the first and ends with
    the last of their jobs that has, within a day before or after it, at least 1/7 of the jobs that flood a week: what
    the user did before and after at a usual pace does not belong to it.

    Keeps the time and the user of each job in memory, 12 bytes a job. Jobs without a user are in no flurry.
    """
    _check(least, share, factor, span)
    submit, user = _times_and_users(workload)
    if not len(submit):
        return []
    weeks = _weeks(submit, submit[0], span)
    total = np.bincount(weeks)
    labels = workload.labels.get("user", [])
    found = []
    for number in np.unique(user[user >= 0]).tolist():
        times = submit[user == number]
        if len(times) < least:
            continue
        own = np.bincount(_weeks(times, submit[0], span), minlength=len(total))
        typical = float(np.median((total - own)[total > 0]))
        name = labels[number] if number < len(labels) else str(number)
        for first, last in _bursts(times, submit, max(float(least), factor * typical), share, span):
            begin, end, jobs = float(times[first]), float(times[last]), last - first + 1
            around = int(np.searchsorted(submit, end, "right") - np.searchsorted(submit, begin, "left"))
            found.append(Flurry(number, name, begin, end, jobs, jobs / around, typical))
    return sorted(found, key=lambda flurry: (-flurry.jobs, flurry.begin, flurry.user))


def remove_flurries(workload: Workload, flurries: Sequence[Flurry] | None = None) -> Workload:
    """The workload without these flurries, or without those that `find_flurries` finds: all jobs of the user from the
    beginning of the flurry to its end, as the archive cleans its logs."""
    flurries = find_flurries(workload) if flurries is None else flurries
    if not flurries:
        return workload

    def choice(batch: JobBatch) -> NDArray[np.bool_]:
        stays = np.ones(len(batch), np.bool_)
        for flurry in flurries:
            low, high = np.searchsorted(batch.submit, [flurry.begin, np.nextafter(flurry.end, np.inf)])
            stays[low:high] &= batch.user[low:high] != flurry.user
        return stays

    said = "; ".join(
        f"user {flurry.name} from {flurry.begin:.15g} to {flurry.end:.15g} s ({flurry.jobs} jobs)"
        for flurry in flurries
    )
    return keep_jobs(workload, f"without the flurries of {said}", "in a flurry", lambda: choice)


def flurry_rows(flurries: Sequence[Flurry], origin: datetime | None = None) -> list[tuple[str, ...]]:
    """A table to print: user, begin, days, jobs, share of all jobs then, jobs of the others in a usual week."""
    return [
        (
            flurry.name,
            f"{origin + timedelta(seconds=flurry.begin):%Y-%m-%d}" if origin else f"day {flurry.begin / DAY:,.1f}",
            f"{(flurry.end - flurry.begin) / DAY:,.1f}",
            f"{flurry.jobs:,}",
            f"{flurry.share:.0%}",
            f"{flurry.typical:,.0f}",
        )
        for flurry in flurries
    ]


FLURRY_COLUMNS = ("user", "begin", "days", "jobs", "share of all", "others in a week")


def _bursts(
    times: NDArray[np.float64], submit: NDArray[np.float64], needed: float, share: float, span: float
) -> list[tuple[int, int]]:
    """First and last job of each flurry of a user, as places in `times`."""
    opening = np.searchsorted(times, times - span, side="right")
    mine = np.arange(1, len(times) + 1) - opening
    everyone = np.searchsorted(submit, times, "right") - np.searchsorted(submit, times - span, "right")
    flooded = np.flatnonzero((mine >= needed) & (mine > share * everyone))
    day = span / 7
    near = np.searchsorted(times, times + day, "right") - np.searchsorted(times, times - day, "left")
    dense = near >= needed / 7
    runs: list[tuple[int, int]] = []
    for last in flooded.tolist():
        first = int(opening[last])
        if runs and first <= runs[-1][1]:
            runs[-1] = (runs[-1][0], last)
        else:
            runs.append((first, last))
    trimmed = (first + np.flatnonzero(dense[first : last + 1]) for first, last in runs)
    return [(int(places[0]), int(places[-1])) for places in trimmed]


def _times_and_users(workload: Workload) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    batches = [(batch.submit, batch.user) for batch in workload.batches()]
    if not batches:
        return np.empty(0), np.empty(0, np.int32)
    return np.concatenate([submit for submit, _ in batches]), np.concatenate([user for _, user in batches])


def _weeks(times: NDArray[np.float64], first: float, span: float) -> NDArray[np.int64]:
    return ((times - first) // span).astype(np.int64)


def _check(least: int, share: float, factor: float, span: float) -> None:
    if least < 1 or not 0 < share < 1 or not 0 < factor < np.inf or not 0 < span < np.inf:
        raise InputError(
            f"no flurries can be found with least={least}, share={share:g}, factor={factor:g}, span={span:g}",
            hint="least is 1 or more, share between 0 and 1, factor and span are above 0",
        )

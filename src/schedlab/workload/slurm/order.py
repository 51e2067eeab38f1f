"""Options of `sbatch` that say how many jobs there are, when they begin and after which others."""

from __future__ import annotations

import re

from schedlab.files.slurm_values import seconds, whole
from schedlab.workload.slurm.dependency import Dependency, parse_dependency
from schedlab.workload.slurm.sbatch import OptionError

MOST_TASKS = 100_000  # of one array

_INDICES = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9})(?::([0-9]{1,9}))?)?")
_NOW = re.compile(r"now(?:\+([0-9]{1,9})(second|minute|hour|day|week)?s?)?", re.IGNORECASE)
_UNITS = {"second": 1.0, "minute": 60.0, "hour": 3_600.0, "day": 86_400.0, "week": 604_800.0}
_NAMED = r"(?:jobid_)?[0-9]{1,18}(?:_[0-9*]+)?(?:\+[0-9]+)?"
_DEPENDENCY = re.compile(rf"([a-z]+)(?::{_NAMED})*|{_NAMED}()(?::{_NAMED})*", re.IGNORECASE)
_FOLLOWED = ("after", "afterany", "afterok", "afternotok", "aftercorr", "singleton", "")


def array_size(text: str, assumed: list[str]) -> int:
    """How many tasks an array such as `0-15:4,20%2` has."""
    if "%" in text:
        assumed.append("array: how many of its tasks may run together is not used")
    return sum(map(len, array_tasks(text)))


def array_tasks(text: str) -> list[range]:
    """The numbers of the tasks of an array, in their order."""
    indices, percent, together = text.partition("%")
    error = OptionError("array", text, f"indices such as 0-15 or 1,3,5-7, at most {MOST_TASKS:,} of them")
    found: list[range] = []
    for part in indices.split(","):
        match = _INDICES.fullmatch(part)
        if match is None:
            raise error
        first = int(match[1])
        last, step = int(match[2] or first), int(match[3] or 1)
        if last < first or not step:
            raise error
        found.append(range(first, last + 1, step))
    try:
        if sum(map(len, found)) > MOST_TASKS or (percent and not whole(together, least=1)):
            raise error
    except ValueError:
        raise error from None
    return found


def begin_after(text: str, assumed: list[str]) -> float:
    """How long after its submission a job may begin: of `now+1hour`, not of a date."""
    match = _NOW.fullmatch(text)
    if match is None:
        assumed.append("option --begin: a date is not used")
        return 0.0
    delay = int(match[1] or 0) * _UNITS[(match[2] or "second").casefold()]
    if delay:
        assumed.append("option --begin: counts as submitted then")
    return delay


def dependency(text: str, assumed: list[str]) -> Dependency:
    """The jobs to wait for, and the kinds that only Slurm knows."""
    for part in re.split("[,?]", text):
        match = _DEPENDENCY.fullmatch(part)
        if match is None:
            raise OptionError("dependency", text, "kinds with jobs, such as afterok:1001")
        kind = (match[1] or "").casefold()
        if kind not in _FOLLOWED:
            assumed.append(f"dependency: {kind if len(kind) < 20 else 'unknown kind'} is not used")
    return parse_dependency(text)


def time_limit(text: str) -> float | None:
    """Seconds; None if there is no limit, which 0 says too."""
    try:
        limit = seconds(text)
    except ValueError as error:
        raise OptionError("time", text, str(error)) from None
    return limit if 0 < limit <= 1e12 else None

"""Dependencies in the words of `sbatch`, such as `afterok:12:13,after:14+5`. What they mean: docs/formats/slurm.md."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from schedlab.model.predecessors import COMPLETED, ENDED, NOT_COMPLETED, STARTED, Predecessor, Predecessors
from schedlab.workload.stream import Before

WHOLE_ARRAY_FAILS = "dependency: afternotok of a whole array, waits for the end of its tasks"
ARRAY_OR = "dependency: a whole array among alternatives, any of its tasks suffices"
FAILED_THERE = "dependency: afternotok that was met in the log, waits for the end"

_CONDITIONS = {
    "after": STARTED,
    "afterany": ENDED,
    "afterok": COMPLETED,
    "aftercorr": COMPLETED,
    "afternotok": NOT_COMPLETED,
}
# In a command line, options end where the script's name begins; only what looks like a dependency counts.
DEPENDENCY_OPTION = r"(?:^|\s)(?:--depend[a-z]*|-d)[=\s]*['\"]?(?P<text>(?:after|singleton|expand)[^\s'\"]*)"
_OPTION = re.compile(DEPENDENCY_OPTION)
_KINDS = ("afterany", "afterok", "afternotok", "after")  # of each of CONDITIONS
_JOB = re.compile(
    r"(?:jobid_)?(?P<job>[0-9]{1,18})(?:_(?P<task>[0-9]{1,7}|\*))?(?:\+(?P<plus>[0-9]{1,9}))?", re.ASCII | re.IGNORECASE
)


class Wait(NamedTuple):
    """One job that is named in a dependency."""

    kind: str
    job: int
    task: int | None = None  # of an array; None: all of it
    minutes: int = 0


class Dependency(NamedTuple):
    """What a job waits for: what of it Slurm can be `told`, and how many conditions nobody can be told of (`lost`)."""

    waits: tuple[Wait, ...] = ()
    any: bool = False  # one suffices
    singleton: bool = False
    told: str = ""
    lost: int = 0


def parse_dependency(text: str) -> Dependency:
    """What `afterok:12:13_4,after:14+5` waits for; a number alone is the end of that job."""
    text = re.sub(r"\([^()]*+\)", "", text)  # squeue says how far it is: afterok:12(unfulfilled)
    separator = "?" if "?" in text else ","
    waits, told, lost, singleton = [], [], 0, False
    for condition in filter(None, text.split(separator)):
        kind, *named = condition.split(":")
        if _JOB.fullmatch(kind):
            kind, named = "afterany", [kind, *named]
        kind = kind.casefold()
        singleton |= kind == "singleton"
        found = [(job, match) for job in named if kind in _CONDITIONS and (match := _JOB.fullmatch(job))]
        lost += max(len(named), 1) - len(found)
        if found:
            told.append(":".join([kind, *(job for job, _ in found)]))
            waits += [_wait(kind, match) for _, match in found]
    return Dependency(tuple(waits), separator == "?", singleton, separator.join(told), lost)


def dependency_of_line(text: str) -> Dependency:
    """The dependency that a command line such as `sbatch -d afterok:12 run.sh` asks for."""
    found = _OPTION.search(text)
    return parse_dependency(found["text"]) if found else Dependency()


def _wait(kind: str, match: re.Match[str]) -> Wait:
    job, task, plus = int(match["job"]), match["task"], int(match["plus"] or 0)
    if kind == "after":
        return Wait(kind, job, None if task in (None, "*") else int(task), plus)
    return Wait(kind, job + plus, None if task in (None, "*") else int(task))  # 12+1: of a heterogeneous job


def predecessors(
    dependency: Dependency,
    ids_of: Callable[[int, int | None], Sequence[int]],
    note: Callable[[str], None] = lambda what: None,
    *,
    task: int | None = None,
    ran: bool = False,
    absent: str = "",
) -> Before | None:
    """The jobs to wait for, each by its id; None if there are none.

    `ids_of` has the ids of a task or a whole job, none if there is no such job, which is noted as `absent`. `task` is
    the job's own number in its array, for `aftercorr`. `ran`: it is known that the dependency was met in the log; as
    nothing fails in a simulation but at its limit, afternotok is met there at the end.
    """
    found: list[Predecessor] = []
    for wait in dependency.waits:
        own = task if wait.kind == "aftercorr" and wait.task is None else wait.task
        ids = ids_of(wait.job, own) or (ids_of(wait.job, None) if wait.kind == "aftercorr" and task is None else ())
        condition = _CONDITIONS[wait.kind]
        if not ids:
            note(absent)
        if len(ids) > 1 and dependency.any:
            note(ARRAY_OR)
        if condition == NOT_COMPLETED and (ran or len(ids) > 1):
            note(FAILED_THERE if ran else WHOLE_ARRAY_FAILS)
            condition = ENDED
        found += [Predecessor(job, condition, 60.0 * wait.minutes) for job in ids]
    return Before(tuple(found), dependency.any) if found else None


def dependency_texts(before: Predecessors) -> list[str]:
    """For each job what `--dependency` says; "" if it waits for nobody."""
    return [
        ("?" if suffices else ",").join(map(_condition, some))
        for some, suffices in zip(before.lists(), before.any.tolist(), strict=True)
    ]


def _condition(predecessor: Predecessor) -> str:
    minutes = predecessor.delay / 60
    later = f"+{minutes:.0f}" if predecessor.condition == STARTED and minutes and minutes.is_integer() else ""
    return f"{_KINDS[int(predecessor.condition)]}:{predecessor.job}{later}"

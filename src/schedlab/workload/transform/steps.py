"""Several transformations in a stated order, as the options of a command or the keys of a study file name them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime

from schedlab.model.errors import InputError
from schedlab.model.units import parse_duration, parse_share
from schedlab.model.workload import Workload
from schedlab.workload.flurries import remove_flurries
from schedlab.workload.transform.limits import round_limits, set_estimates
from schedlab.workload.transform.load import duplicate, scale_load, stretch, thin
from schedlab.workload.transform.machine import nodes_to_cores, processors, rescale
from schedlab.workload.transform.select import sample_users, select
from schedlab.workload.transform.shuffle import shuffle
from schedlab.workload.transform.window import window


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """What is to be done to a workload, in this order; None and false: not that."""

    remove_flurries: bool = False
    window: str | None = None  # 30d..60d, 2012-03-01..
    users: str | None = None  # names or numbers, separated by commas
    groups: str | None = None
    queues: str | None = None
    partitions: str | None = None
    sizes: str | None = None  # 1..64
    runtimes: str | None = None  # 1m..
    sample_users: str | float | None = None
    thin: str | float | None = None
    duplicate: str | float | None = None
    stretch: float | None = None
    shuffle: bool = False
    cores_per_node: int | None = None
    machine: int | None = None
    machine_from: int | None = None
    load: float | None = None  # when the sizes are what they will be
    estimates: str | None = None  # exact, a factor, f-model:5
    round_limits: str | float | None = None

    def apply(self, jobs: Workload, seed: int = 1, mark: str = "", cores: int | None = None) -> Workload:
        """Errors name the step after `mark` (`--` for options). `cores`: of the machine that a load is for, where it is
        not that of the log."""
        if self.load is not None and self.stretch is not None:
            hint = "leave out one of them"
            raise InputError("load and stretch both say how far apart jobs come", where=f"{mark}load", hint=hint)
        if self.remove_flurries:
            jobs = remove_flurries(jobs)
        if self.window is not None:
            jobs = window(jobs, *parse_window(self.window, f"{mark}window"))
        jobs = select(
            jobs,
            users=_words(self.users),
            groups=_words(self.groups),
            queues=_words(self.queues),
            partitions=_words(self.partitions),
            sizes=None if self.sizes is None else parse_range(self.sizes, f"{mark}sizes"),
            runtimes=None if self.runtimes is None else parse_range(self.runtimes, f"{mark}runtimes"),
        )
        if self.sample_users is not None:
            jobs = sample_users(jobs, parse_share(self.sample_users, where=f"{mark}sample-users"), seed)
        if self.thin is not None:
            jobs = thin(jobs, parse_share(self.thin, where=f"{mark}thin"), seed)
        if self.duplicate is not None:
            jobs = duplicate(jobs, parse_share(self.duplicate, where=f"{mark}duplicate"), seed)
        if self.stretch is not None:
            jobs = stretch(jobs, self.stretch)
        if self.shuffle:
            jobs = shuffle(jobs, seed)
        if self.cores_per_node is not None:
            jobs = nodes_to_cores(jobs, self.cores_per_node)
        if self.machine is not None:
            jobs = rescale(jobs, self.machine, self.machine_from)
        if self.load is not None:
            jobs = scale_load(jobs, self.load, cores or self._machine_of(jobs, f"{mark}load"))
        if self.estimates is not None:
            factor, spread = parse_estimates(self.estimates, f"{mark}estimates")
            jobs = set_estimates(jobs, factor=factor, spread=spread, seed=seed)
        if self.round_limits is not None:
            jobs = round_limits(jobs, parse_duration(self.round_limits, where=f"{mark}round-limits"))
        return jobs

    def _machine_of(self, jobs: Workload, where: str) -> int:
        found = self.machine or self.machine_from or processors(jobs)
        if not found:
            hint = "say it: --from PROCESSORS, or a cluster"
            raise InputError("the log does not say how large its machine is", where=where, hint=hint)
        return found


def parse_window(text: str, where: str) -> tuple[float | datetime | None, float | datetime | None]:
    """`30d..60d`, `2012-03-01..2012-04-01`, `90d..`, `..2012-03-01T12:00`."""
    first, last = _ends(text, where)
    return _moment(first, where), _moment(last, where)


def parse_range(text: str, option: str) -> tuple[float, float]:
    """`1..64` or `1-64` cores; `1m..`, `..2h` for run times; `8` is 8 and nothing else."""
    first, last = _ends(text.replace("-", "..", 1), option)
    amount = parse_duration if option.endswith("runtimes") else _count
    low = amount(first, where=option) if first else 0.0
    return low, amount(last, where=option) if last else math.inf


def parse_estimates(text: str, where: str) -> tuple[float, bool]:
    """The factor, and whether it is the upper end of a random one."""
    if text == "exact":
        return 1.0, False
    number = text.removeprefix("f-model:")
    try:
        return float(number), number != text
    except ValueError:
        hint = "exact, a factor such as 2, or f-model:5"
        raise InputError(f"'{text}' is no way to estimate", where=where, hint=hint) from None


def _ends(text: str, option: str) -> tuple[str, str]:
    first, dots, last = (part.strip() for part in text.partition(".."))
    if not first and not last:
        raise InputError(f"'{text}' is no range", where=option, hint="write FROM..TO, FROM.. or ..TO")
    return (first, last) if dots else (first, first)


def _moment(text: str, where: str) -> float | datetime | None:
    if not text:
        return None
    if not re.match(r"\d{4}-\d\d", text):
        return parse_duration(text, where=where)
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"'{text}' is not a date", where=where, hint="write 2012-03-01, or with T12:00") from None
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def _count(text: str, *, where: str) -> float:
    if not text.isdigit():
        raise InputError(f"'{text}' is not a number of cores", where=where, hint="write 1..64")
    return float(text)


def _words(text: str | None) -> list[str] | None:
    return None if text is None else [word.strip() for word in text.split(",") if word.strip()]

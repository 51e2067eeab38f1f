"""A description as rows of text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from schedlab.model.resources import amount
from schedlab.workload.losses import counted
from schedlab.workload.notes import noted
from schedlab.workload.tally import Spread

if TYPE_CHECKING:
    from schedlab.workload.describe import Description

Row = tuple[str, str, str]


def rows(found: Description) -> list[Row]:
    return [
        *_log(found),
        *_time(found),
        *_load(found),
        *_jobs(found),
        *_estimates(found),
        *_who(found),
        *_fields(found),
    ]


def duration(seconds: float) -> str:
    """Three digits in the unit a person would choose."""
    for unit, size in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if abs(seconds) >= 2 * size:
            return f"{seconds / size:.3g} {unit}" if abs(seconds) < 1000 * size else f"{seconds / size:,.0f} {unit}"
    return f"{seconds:.3g} s"


def _log(found: Description) -> Iterator[Row]:
    yield "log", "name", found.name
    for label in ("Installation", "Computer"):
        if label in found.header:
            yield "log", label.lower(), found.header[label].splitlines()[0]
    yield "log", "records", f"{found.records:,}"
    yield "log", "jobs", f"{found.jobs:,}" + (f" ({_percent(found.jobs / found.records)})" if found.records else "")
    for reason, number in found.dropped.items():
        yield "log", "dropped", f"{number:,} {reason}"
    for sample in found.bad_rows:
        yield "log", "bad row", sample
    for note in noted(found.filled | found.for_slurm, found.jobs):
        yield "log", "noted", note
    for what, number in found.unkept.items():
        yield "log", "not kept", f"{what} of {counted(number)}"
    yield "log", "out of order", f"{found.out_of_order:,} records" if found.out_of_order else "none"


def _time(found: Description) -> Iterator[Row]:
    yield "time", "first submit", _moment(found.first_submit, found.first_date)
    yield "time", "last submit", _moment(found.last_submit, found.last_date)
    yield "time", "span", duration(found.span)
    if found.interarrivals:
        yield "time", "between submits", _spread(found.interarrivals, duration)


def _load(found: Description) -> Iterator[Row]:
    yield "load", "machine", f"{found.processors:,} processors ({found.processors_from})"
    yield "load", "work", f"{found.work / 3600:,.0f} processor hours"
    load = "unknown: say how large the machine is" if found.offered_load is None else f"{found.offered_load:.3f}"
    yield "load", "offered load", load
    for name, asked in found.resources.items():
        hours = f"{amount(name, asked.work / 3600)} hours" if name == "memory" else f"{asked.work / 3600:,.0f} hours"
        if asked.total is not None:
            machine = f"; machine {amount(name, asked.total)}" if asked.total else "; the machine has none"
            load = f"; offered load {asked.offered_load:.3g}" if asked.offered_load is not None else ""
            hours += machine + load
        yield "load", name, hours


def _jobs(found: Description) -> Iterator[Row]:
    yield "jobs", "processors", _spread(found.sizes, _number)
    for name, asked in found.resources.items():
        share = _percent(asked.jobs / max(found.jobs, 1))
        yield "jobs", name, f"asked for by {share}; {_spread(asked.amounts, _amounts_of(name))}"
    yield "jobs", "serial", _percent(found.serial)
    yield "jobs", "power of two", _percent(found.power_of_two)
    yield "jobs", "run time", _spread(found.runtimes, duration)
    yield "jobs", "recorded wait", _spread(found.waits, duration) if found.waits else "unknown"
    if found.cancelled:
        yield "jobs", "cancelled", f"{found.cancelled:,} while waiting"
    if found.dependent:
        yield "jobs", "dependent", f"{found.dependent:,} have a preceding job"


def _estimates(found: Description) -> Iterator[Row]:
    if not found.limits or not found.accuracy:
        yield "estimates", "requested time", "unknown"
        return
    yield "estimates", "requested time", _spread(found.limits, duration)
    yield "estimates", "run / requested", _spread(found.accuracy, "{:.3g}".format)
    yield "estimates", "exact", _percent(found.at_limit)
    yield "estimates", "ran longer", _percent(found.over_limit)


def _who(found: Description) -> Iterator[Row]:
    for name in ("users", "groups", "queues", "partitions", "executables"):
        number = getattr(found, name)
        busiest = f", the busiest has {_percent(found.busiest_user)} of the jobs" if name == "users" and number else ""
        yield "who and where", name, f"{number:,}{busiest}" if number else "unknown"


def _fields(found: Description) -> Iterator[Row]:
    for name, share in found.unknown.items():
        yield "unknown fields", name, f"{_percent(share)} of the records"


def _spread(spread: Spread, text: Callable[[float], str]) -> str:
    places = {"min": spread.min, **spread.quantiles, "max": spread.max}
    return f"mean {text(spread.mean)}; " + ", ".join(f"{name} {text(value)}" for name, value in places.items())


def _amounts_of(resource: str) -> Callable[[float], str]:
    return lambda value: amount(resource, value)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _moment(seconds: float, date: datetime | None) -> str:
    return f"{seconds:.12g} s" + (f" = {date:%Y-%m-%d %H:%M:%S} UTC" if date else "")


def _percent(share: float) -> str:
    if 0 < share < 0.001:
        return "< 0.1 %"
    if 0.999 < share < 1:
        return "> 99.9 %"
    return f"{100 * share:.3g} %"

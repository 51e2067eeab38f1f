"""Jobs that mind who sits beside them, by their applications: how fast each was, and who should not have met."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.check.neighbours import Company, Steps, distinct
from schedlab.engine.check.offences import Offences
from schedlab.engine.check.record import Record
from schedlab.engine.check.stays import Stays


def interference(record: Record, stays: Stays, company: Company, facts: dict[str, Any]) -> Steps | None:
    """The least over its nodes of what the others there let it have; None where a function of the user's says it."""
    if facts["compose"] not in ("min", "product"):
        return None
    speedups = _speedups(facts)
    most = np.append(speedups[:-1, :-1].max(axis=1), 1.0) if facts["cap"] else np.full(len(speedups), np.inf)
    alone = np.append(np.array(facts["on_its_own"], np.float64), 1.0)
    place, part, beside = _beside_others(stays, company, speedups, facts["compose"])
    least = _least(stays, company.stay[place], company.begin[part], company.end[part], beside)
    own = stays.application[least.stay]
    spread = np.array([request.spread for request in record.requests], bool)[stays.request[least.stay]]
    without = np.where(spread, alone[own], 1.0)
    value = np.where(np.isinf(least.value), without, np.minimum(least.value, most[own]))
    return Steps(least.stay, least.time, value)


def check_heatmap(record: Record, offences: Offences) -> None:
    """The numbers that were used are those of the heatmap, and where it has none, as the rules say."""
    for facts in record.execution:
        if facts.get("model") != "interference":
            continue
        cells, used = facts["heatmap"]["speedups"], np.array(facts["filled"], np.float64)
        filled = [_filled(row, facts["missing"]) for row in cells]
        own = facts["heatmap"]["alone"].get(repr(float(record.fraction or 1)), [None] * len(cells))
        best = used.max(axis=1) if facts["alone"] == "maximum" else np.full(len(used), float(facts["alone"]))
        alone = [float(best[i]) if value is None else value for i, value in enumerate(own)]
        for name, does, should in (("filled", used, filled), ("on_its_own", facts["on_its_own"], alone)):
            if not np.allclose(does, should, rtol=1e-12, atol=0):
                offences.add("heatmap", f"`{name}` of {facts['name']} does not follow from the heatmap and its rules")


def _filled(row: list[float | None], missing: str | float) -> list[float]:
    known = [value for value in row if value is not None]
    mean = sum(known) / len(known) if known else 1.0
    return [value if value is not None else float(mean if isinstance(missing, str) else missing) for value in row]


def check_threshold(record: Record, stays: Stays, company: Company, offences: Offences) -> None:
    """No job was beside one that made either slower than the policy allows."""
    facts = next((facts for facts in record.execution if facts.get("model") == "interference"), None)
    if not record.threshold or facts is None:
        return
    speedups = _speedups(facts)
    place, part, value = _beside_others(stays, company, np.minimum(speedups, speedups.T), "min")
    wrong = value < record.threshold
    place, first = np.unique(place[wrong], return_index=True)
    time, value = company.begin[part[wrong][first]], value[wrong][first]
    offences.add_where(
        "threshold",
        np.ones(len(place), bool),
        stays.job[company.stay[place]],
        time,
        lambda i: f"it and a job beside it have a speed-up of {value[i]:.15g}, the policy allows {record.threshold:g}",
    )


def _speedups(facts: dict[str, Any]) -> NDArray[np.float64]:
    """With a last row and column (-1) for jobs without an application, which nobody slows down."""
    return np.pad(np.array(facts["filled"], np.float64), (0, 1), constant_values=1.0)


def _beside_others(
    stays: Stays, company: Company, speedups: NDArray[np.float64], compose: str
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Places, the parts of them in which there are others, and what these do there to the job together."""
    place, part = company.everybody()
    place, part = (each[company.jobs[part] > 1] for each in (place, part))
    order = np.argsort(part, kind="stable")
    place, part = place[order], part[order]
    own = stays.application[company.stay[place]]
    value = np.empty(len(place))
    for together in _groups(company.jobs[part]):
        there = own[together]
        for seat in range(there.shape[1]):
            of_pairs = speedups[there[:, [seat]], there]
            of_pairs[:, seat] = np.inf if compose == "min" else 1.0
            value[together[:, seat]] = of_pairs.min(axis=1) if compose == "min" else of_pairs.prod(axis=1)
    return place, part, value


def _groups(sizes: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Entries of which so many as each says belong together, and follow each other: those of one size, a row each."""
    for size in np.unique(sizes).tolist():
        yield np.flatnonzero(sizes == size).reshape(-1, size)


def _least(
    stays: Stays,
    stay: NDArray[np.int64],
    begin: NDArray[np.float64],
    end: NDArray[np.float64],
    value: NDArray[np.float64],
) -> Steps:
    """Of values that hold for some time each: the least at every time of every stay; infinite where there is none.

    A stretch of time is covered by two of some power of two of steps, and those of each power by two of the next.
    """
    times = distinct(np.concatenate([stays.begin, stays.end]))
    everyone = np.arange(len(stays))
    since, until = (stay * len(times) + np.searchsorted(times, side) for side in (begin, end))
    whole = (everyone * len(times) + np.searchsorted(times, side) for side in (stays.begin, stays.end))
    edges = distinct(np.concatenate([since, until, *whole]))
    first, last = np.searchsorted(edges, since), np.searchsorted(edges, until)
    power = np.frexp((last - first).astype(np.float64))[1] - 1
    least = np.full(len(edges), np.inf)
    for each in range(int(power.max(initial=0)), -1, -1):
        span, here = 1 << each, power == each
        wider = least.copy()
        np.minimum(least[span:], wider[:-span], out=least[span:])
        np.minimum.at(least, first[here], value[here])
        np.minimum.at(least, last[here] - span, value[here])
    return Steps(edges // len(times), times[edges % len(times)], least)

"""What report.py says in sentences: every number in them is counted from the runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl
from report_data import Point, Set, mean_of

from schedlab.model.units import parse_duration

NEAR = 0.1  # a ratio between 1 / 1.1 and 1.1 is "about equal"
Values = Callable[[Point], float | None]


def place(study: Set, point: Point) -> str:
    return f"{point[0]} {where(study, point)}".strip()


def where(study: Set, point: Point) -> str:
    if study.varies == "share":
        return f"at {percent(point[1])}"
    return f"every {point[1]}" if study.varies else ""


def percent(share: str) -> str:
    return f"{100 * float(share):g} %"


def findings(study: Set) -> list[str]:
    """Sentences about run times, turnarounds, waste and other jobs; those that nothing is known for are left out."""
    sentences = [_slower(study), _equal(study), _turnaround(study), _waste(study), _others(study), _unfinished(study)]
    return [sentence for sentence in sentences if sentence]


def in_short(study: Set) -> str:
    """The findings of set 2 in medians over its points, without places."""
    slower, equal = ratios(study, "runtime", "chained", "pilot"), ratios(study, "runtime", "aware", "pilot")
    used = {method: means(study, "less_idle", method) for method in ("pilot", "aware")}
    waits = ratios(study, "others_wait", "pilot", "aware")
    if not (slower and equal and waits):
        return "No point has finished workflows under all three methods."
    return (
        f"In the median over the {len(slower)} points of set 2, chained workflows run {times(middle(slower))} times as "
        f"long as pilots, and aware ones {times(middle(equal))} times. Tasks and jobs use "
        f"{share_of(middle(used['pilot']))} of the machine with pilots and {share_of(middle(used['aware']))} with "
        f"aware ones. Other jobs wait {times(middle(waits))} times as long beside pilots as beside aware workflows."
    )


def known(study: Set, values: Values, points: Sequence[Point] | None = None) -> dict[Point, float]:
    there = study.with_workflows if points is None else points
    return {point: value for point in there if (value := values(point)) is not None}


def ratios(study: Set, metric: str, one: str, other: str) -> dict[Point, float]:
    def value(point: Point) -> float | None:
        found = study.ratio(metric, point, one, other)
        return found and found.estimate

    return known(study, value)


def means(study: Set, metric: str, method: str) -> dict[Point, float]:
    def value(point: Point) -> float | None:
        found = study.mean(metric, point, method)
        return None if found is None else found.estimate

    return known(study, value)


def reach(study: Set, values: dict[Point, float], form: Callable[[float], str]) -> str:
    """`1.2 (longwide at 50 %) to 19 (sipht at 1 %)`."""
    low, high = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
    if form(values[low]) == form(values[high]):
        return form(values[low])
    return f"{form(values[low])} ({place(study, low)}) to {form(values[high])} ({place(study, high)})"


def times(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


def share_of(value: float) -> str:
    return f"{100 * value:.1f} %"


def hours(value: float) -> str:
    return f"{value / 3600:.1f} h"


def middle(values: dict[Point, float]) -> float:
    return float(pl.Series(list(values.values())).median())  # type: ignore[arg-type]


def _slower(study: Set) -> str:
    found = ratios(study, "runtime", "chained", "pilot")
    if not found:
        return ""
    longer = sum(value > 1 + NEAR for value in found.values())
    return (
        f"**Chained workflows run {reach(study, found, times)} times as long as pilots**, {times(middle(found))} times "
        f"in the median; more than {100 * NEAR:.0f} % longer at {longer} of {len(found)} points."
    )


def _equal(study: Set) -> str:
    found, chained = ratios(study, "runtime", "aware", "pilot"), ratios(study, "runtime", "chained", "aware")
    if not found:
        return ""
    apart = {point: value for point, value in found.items() if not 1 / (1 + NEAR) <= value <= 1 + NEAR}
    near = len(found) - len(apart)
    said = [
        f"**Aware ones are within {100 * NEAR:.0f} % of pilots at {near} of {len(found)} points**, "
        f"{100 * (middle(found) - 1):+.1f} % in the median."
    ]
    if apart:
        others = ", ".join(f"{place(study, point)} ({times(value)} times)" for point, value in apart.items())
        said.append(f"The others: {others}.")
    said.append(f"Over chained ones their speed-up is {reach(study, chained, times)}.")
    return " ".join(said)


def _turnaround(study: Set) -> str:
    pilot, chained = (ratios(study, "turnaround", other, "aware") for other in ("pilot", "chained"))
    if not pilot:
        return ""
    shortest = sum(pilot[point] >= 1 and chained.get(point, 0) >= 1 for point in pilot)
    return (
        f"**Turnarounds** of pilots are {reach(study, pilot, times)} times those of aware workflows, those of chained "
        f"ones {reach(study, chained, times)} times. Aware is the shortest of the three at {shortest} of {len(pilot)} "
        "points."
    )


def _waste(study: Set) -> str:
    wasted = {}
    for method in ("pilot", "chained", "aware"):
        held, used = means(study, "utilisation", method), means(study, "less_idle", method)
        wasted[method] = {point: held[point] - value for point, value in used.items()}
    used = means(study, "less_idle", "pilot"), means(study, "less_idle", "aware")
    nodes = means(study, "idle_share", "aware")
    if not wasted["pilot"]:
        return ""
    most = max(max(wasted[method].values(), default=0.0) for method in ("chained", "aware"))
    gain = {point: used[1][point] - value for point, value in used[0].items() if point in used[1]}
    more = sum(value > 0 for value in gain.values())
    best = max(gain, key=gain.__getitem__)
    return (
        f"**Pilots waste** {reach(study, wasted['pilot'], share_of)} of the machine on cores that no task uses; "
        f"chained and aware workflows at most {share_of(most)}. Utilisation less idle is more under aware than under "
        f"pilot at {more} of {len(gain)} points, by up to {100 * gain[best]:.1f} percentage points "
        f"({place(study, best)}). What aware workflows hold and do not use is of nodes that small tasks do not fill, "
        f"{reach(study, nodes, share_of)} of what they hold."
    )


def _others(study: Set) -> str:
    pilot, chained = (ratios(study, "others_wait", method, "aware") for method in ("pilot", "chained"))
    if not pilot:
        return ""
    longest = {point: means(study, "others_wait", "pilot")[point] for point in pilot}
    last = max(longest, key=longest.__getitem__)
    aware = means(study, "others_wait", "aware")[last]
    said = (
        f"**Other jobs** wait {reach(study, pilot, times)} times as long beside pilots as beside aware workflows, and "
        f"{reach(study, chained, times)} times as long beside chained ones. At the worst it is {hours(longest[last])} "
        f"beside pilots and {hours(aware)} beside aware ones ({place(study, last)})."
    )
    plain = _plain_wait(study)
    return said if plain is None else f"{said} Without workflows they wait {hours(plain)}."


def _plain_wait(study: Set) -> float | None:
    """The median wait where no workflows come (a period of 0)."""
    if study.varies != "period":
        return None
    none = [x for x in study.runs["x"].unique() if parse_duration(x) == 0]
    found = mean_of(study.runs.filter(pl.col("x").is_in(none)), "all_wait")
    return found and found.estimate


def _unfinished(study: Set) -> str:
    """How many finish, and of which kinds none do."""
    counts = (
        study.runs.filter(pl.col("number") > 0)
        .group_by("workflow", "x", "method")
        .agg(pl.col("number", "finished").sum())
    )
    if not len(counts):
        return ""
    share = {
        method: {(row["workflow"], row["x"]): row["finished"] / row["number"] for row in own.iter_rows(named=True)}
        for (method,), own in counts.group_by("method")
    }
    none = [place(study, point) for point in study.with_workflows if all(one.get(point) == 0 for one in share.values())]
    ends = []
    for method in ("pilot", "chained", "aware"):
        some = {point: value for point, value in share.get(method, {}).items() if place(study, point) not in none}
        if some:
            low = min(some, key=some.__getitem__)
            ends.append(f"{method} {share_of(some[low])} ({place(study, low)})")
    said = f"**Finished** at the end of the run are, where fewest do: {', '.join(ends)}."
    return f"{said} None of {', '.join(none)} ever does." if none else said

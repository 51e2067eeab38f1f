"""Time in figures: dates where the run has an origin, otherwise days or hours; durations; steps of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.model.run import Run
from schedlab.plot.style import figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0

Floats = NDArray[np.float64]
Span = tuple[float, float]  # seconds of the run

_STEPS = [n * MINUTE for n in (1, 2, 5, 10, 15, 30)] + [n * HOUR for n in (1, 2, 3, 6, 12)]
_STEPS += [n * DAY for n in (1, 2, 7, 14, 28)]
SECONDS = {"days": DAY, "hours": HOUR, "minutes": MINUTE, "seconds": 1.0}

# Durations on a scale that begins at 0 and grows by factors: up to a minute it is linear, then logarithmic.
LINEAR_UP_TO = MINUTE
_DURATIONS = {
    0.0: "0",
    MINUTE: "1 min",
    10 * MINUTE: "10 min",
    HOUR: "1 h",
    6 * HOUR: "6 h",
    DAY: "1 d",
    7 * DAY: "7 d",
    30 * DAY: "30 d",
    365 * DAY: "1 year",
}

# The last tick may be one of these, where the axis goes far beyond the last of the others.
_LAST = [n * MINUTE for n in (2, 5, 20, 30)] + [n * HOUR for n in (2, 3, 4, 12)]
_LAST += [n * DAY for n in (2, 3, 4, 14, 20, 60, 90, 180)]
_FAR = 0.085  # of the axis
_ROOM = 0.42  # inches for a label

# Steps of dates where matplotlib's are too few: it warns where even the largest gives too many ticks.
_DATES = {"MONTHLY": [1, 2, 3, 4, 6, 12], "HOURLY": [1, 2, 3, 4, 6, 12, 24]}
_DATES |= {unit: [1, 2, 5, 10, 15, 20, 30, 60] for unit in ("MINUTELY", "SECONDLY")}


@dataclass(frozen=True, slots=True)
class Clock:
    """Seconds of a run as places on the axis of time."""

    origin: datetime | None
    unit: str = "days"

    @classmethod
    def of(cls, runs: Sequence[Run], span: Span) -> Clock:
        """Dates, if all the runs begin on the same one."""
        origins = {run.workload.get("origin") for run in runs}
        text = origins.pop() if len(origins) == 1 else None
        length = span[1] - span[0]
        return cls(datetime.fromisoformat(text) if text else None, unit_of(length))

    def places(self, seconds: Any) -> Any:
        if self.origin is None:
            return seconds / SECONDS[self.unit]
        return seconds / DAY + self.origin.timestamp() / DAY  # as matplotlib counts dates

    def finish(self, axes: Axes, span: Span) -> None:
        """Limits, ticks and the name of the axis."""
        axes.set_xlim(*(self.places(second) for second in span))
        if self.origin is None:
            axes.set_xlabel(f"time ({self.unit})")
            return
        from matplotlib import dates

        make: Any = dates.AutoDateLocator, dates.ConciseDateFormatter  # matplotlib's dates have no types
        wide = axes.get_window_extent().width / figure_of(axes).dpi > 2.5
        most = 8 if wide else 6 if span[1] - span[0] >= 3 * MINUTE else 4  # seconds are long words
        locator = make[0](minticks=3, maxticks=most)
        locator.intervald.update({getattr(dates, unit): steps for unit, steps in _DATES.items()})
        formatter = make[1](
            locator,
            formats=["%Y", "%b", "%-d", "%H:%M", "%H:%M", "%H:%M:%S.%f"],  # zeros at the end are left out
            zero_formats=["", "%Y", "%b", "%-d %b", "%H:%M", "%H:%M"],
            show_offset=False,
        )
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(formatter)
        axes.set_xlabel(self._period(self.origin, span))

    def _period(self, origin: datetime, span: Span) -> str:
        """What the ticks leave out: the year, month or day in which everything lies."""
        first, last = origin + timedelta(seconds=span[0]), origin + timedelta(seconds=span[1] - 1)
        for form in ("%-d %B %Y", "%B %Y", "%Y"):
            if f"{first:{form}}" == f"{last:{form}}":
                return f"{first:{form}} (UTC)"
        return "date (UTC)"


def unit_of(length: float) -> str:
    """The unit in which a time of `length` seconds has a few ticks."""
    return next((unit for unit, seconds in SECONDS.items() if length >= 2 * seconds), "seconds")


def span_of(runs: Sequence[Run]) -> Span:
    """From the first submission to the last end; a second where nothing happens."""
    begins, ends = [], []
    for run in runs:
        for batch in run.tables.batches(("submit", "end"), "jobs"):
            if len(batch["end"]):
                begins.append(float(batch["submit"].min()))
                ends.append(float(batch["end"].max()))
    begin = min(begins, default=0.0)
    return begin, max([*ends, begin + 1.0])


def timeline(run: Run, name: str) -> tuple[Floats, Floats]:
    """The times at which something changed, and the values of a column of the timeline from then on."""
    pieces = list(run.tables.batches(("time", name), "timeline"))
    if not pieces:
        return np.zeros(1), np.zeros(1)
    times, values = (np.concatenate([piece[key] for piece in pieces]) for key in ("time", name))
    return times, values.astype(np.float64)


def step_for(span: Span, most: int) -> float:
    """A round length of time, of which at most so many make the span."""
    length = span[1] - span[0]
    return next((step for step in _STEPS if length / step <= most), length / most)


def edges_of(span: Span, step: float) -> Floats:
    """The ends of steps through the span; the last step may be shorter."""
    inner = np.arange(span[0], span[1], step)
    return np.append(inner, span[1]) if span[1] > inner[-1] else inner


def means(times: Floats, values: Floats, edges: Floats) -> Floats:
    """The mean in each step of time, of values that hold until the next change."""
    area = np.concatenate([[0.0], np.cumsum(values[:-1] * np.diff(times))])
    return np.asarray(np.diff(np.interp(edges, times, area)) / np.diff(edges))


def spread(where: Floats, values: Floats, edges: Floats, shares: Sequence[float]) -> tuple[Floats, Floats]:
    """Quantiles of the values in each step that has any: the middles of these steps, and a row for each share."""
    order = np.argsort(where, kind="stable")
    cuts = np.searchsorted(where[order], edges)
    steps = [step for step in range(len(edges) - 1) if cuts[step] < cuts[step + 1]]
    found = [np.quantile(values[order[cuts[step] : cuts[step + 1]]], shares) for step in steps]
    middles = (edges[:-1] + edges[1:]) / 2
    return middles[steps], np.array(found).reshape(-1, len(shares)).T


def spoken(seconds: float) -> str:
    """`6 h`, `1.5 d`, `40 s`: a duration in a few characters."""
    for unit, length in (("d", DAY), ("h", HOUR), ("min", MINUTE)):
        if seconds >= length:
            amount = seconds / length
            return f"{amount:.0f} {unit}" if amount >= 9.95 or amount == round(amount) else f"{amount:.1f} {unit}"
    return f"{seconds:.0f} s"


def brief(seconds: float) -> str:
    """As short as a cell is narrow: `35m`, `1.2h`, `2d`."""
    return spoken(seconds).replace(" ", "").replace("min", "m")


def scale_durations(axes: Axes, longest: float) -> None:
    """An x axis of seconds, from 0 to `longest`, on which minutes, hours and days all have room."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullLocator

    axes.set_xscale("asinh", linear_width=LINEAR_UP_TO)
    ticks = duration_ticks(longest)
    before = max(ticks)
    far = [tick for tick in _LAST if before < tick <= longest and _apart(before, tick, longest) >= _FAR]
    if far:
        figure = axes.get_figure()
        inches = (figure.get_figwidth() if isinstance(figure, Figure) else 1.0) * axes.get_position().width
        if _apart(before, far[-1], longest) * inches < _ROOM:
            del ticks[before]
        ticks[far[-1]] = spoken(far[-1])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(list(ticks), list(ticks.values()))
    margin = 0.012 * np.arcsinh(longest / LINEAR_UP_TO)  # so that what is at 0 can be seen
    axes.set_xlim(-LINEAR_UP_TO * float(np.sinh(margin)), longest)


def _apart(one: float, other: float, longest: float) -> float:
    """The distance of two durations, as a share of the axis."""
    places = np.arcsinh(np.array([one, other, longest]) / LINEAR_UP_TO)
    return float((places[1] - places[0]) / places[2])


def duration_ticks(longest: float, shortest: float = 0.0) -> dict[float, str]:
    """Round durations between the two, and how they are written; four even ones if there are hardly any."""
    crowded = MINUTE if longest > DAY and shortest == 0 else None  # too near to 0 where days have to fit
    ticks = {
        seconds: text for seconds, text in _DURATIONS.items() if shortest <= seconds <= longest and seconds != crowded
    }
    if len(ticks) > 2:
        return ticks
    return {seconds: spoken(seconds) for seconds in np.linspace(shortest, longest, 4).tolist()}

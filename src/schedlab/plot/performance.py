"""What scheduling costs: time of a decision over simulated time and by the length of the queue, and memory."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.model.errors import InputError
from schedlab.plot.style import (
    Width,
    figure_headline,
    headline,
    legend,
    new_figure,
    plain,
    save,
    series,
)
from schedlab.plot.times import Clock, Floats, Span, edges_of, spread, step_for, unit_of

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLUMNS = ("time", "queued", "decide_seconds")
_SHORTEST = 1e-8  # seconds: what no clock can tell from 0
_STEPS = {"column": 60, "page": 100}


def plot_performance(
    tables: Mapping[str, pl.DataFrame],
    path: str | Path | None = None,
    *,
    width: Width = "page",
    origin: datetime | None = None,
    title: str = "",
) -> Figure:
    """Medians of the time that a decision took, for each name a line; of a single table also 5 % to 95 % as a band.

    The tables have columns time (simulated seconds), queued, decide_seconds and, if it was measured, memory_mb.
    """
    _check(tables)
    times = [table["time"].to_numpy() for table in tables.values()]
    span = min(float(time.min()) for time in times), max(float(time.max()) + 1 for time in times)
    remembered = all("memory_mb" in t.columns and t["memory_mb"].null_count() < len(t) for t in tables.values())
    figure, (over_time, by_queue, memory) = _layout(width, remembered)
    clock = Clock(origin, unit_of(span[1] - span[0]))
    edges = edges_of(span, step_for(span, _STEPS[width]))
    longest = max(int(table["queued"].to_numpy().max()) for table in tables.values())
    lengths = edges_of((-0.5, longest + 0.5), max(1, -(-longest // _STEPS[width])))
    for number, table in enumerate(tables.values()):
        time, queued = (table[name].to_numpy().astype(np.float64) for name in ("time", "queued"))
        seconds = np.maximum(table["decide_seconds"].to_numpy(), _SHORTEST)
        band = len(tables) == 1
        _draw(over_time, *spread(clock.places(time), seconds, clock.places(edges), _SHARES), series(number), band)
        _draw(by_queue, *spread(queued, seconds, lengths, _SHARES), series(number), band)
        if memory is not None:
            known = table.drop_nulls("memory_mb")
            memory.plot(clock.places(known["time"].to_numpy()), known["memory_mb"].to_numpy(), **series(number))
    _finish(over_time, by_queue, memory, clock, span, longest)
    figure_headline(figure, title)
    if len(tables) > 1:
        legend(figure, over_time.get_lines(), list(tables), width)
    save(figure, path)
    return figure


_SHARES = (0.05, 0.5, 0.95)


def _check(tables: Mapping[str, pl.DataFrame]) -> None:
    if not tables:
        raise InputError("there is no table of performance to draw")
    for name, table in tables.items():
        if missing := [column for column in _COLUMNS if column not in table.columns]:
            hint = f"expected {', '.join(_COLUMNS)} and, if known, memory_mb"
            raise InputError(f"the table of {name} has no column '{missing[0]}'", hint=hint)
        if not len(table):
            raise InputError(f"the table of {name} has no rows")


def _layout(width: Width, remembered: bool) -> tuple[Figure, tuple[Axes, Axes, Axes | None]]:
    """Time above, queue and memory below; in a column, one below the other."""
    if width == "column":
        figure = new_figure(width, 4.9 if remembered else 3.4)
        found = figure.subplots(3 if remembered else 2, 1, squeeze=False)[:, 0]
        return figure, (found[0], found[1], found[2] if remembered else None)
    figure = new_figure(width, 3.6)
    grid = figure.add_gridspec(2, 2)
    over_time = figure.add_subplot(grid[0, :])
    by_queue = figure.add_subplot(grid[1, 0] if remembered else grid[1, :])
    return figure, (over_time, by_queue, figure.add_subplot(grid[1, 1]) if remembered else None)


def _draw(axes: Axes, places: Floats, found: Floats, style: dict[str, Any], band: bool) -> None:
    low, median, high = found
    axes.plot(places, median, **style)
    if band:
        axes.fill_between(places, low, high, color=style["color"], alpha=0.2, linewidth=0)


def _finish(over_time: Axes, by_queue: Axes, memory: Axes | None, clock: Clock, span: Span, longest: int) -> None:
    from matplotlib.ticker import EngFormatter, LogLocator

    shown = np.concatenate([axes.dataLim.intervaly for axes in (over_time, by_queue)])
    decades = 10 ** np.floor(np.log10(shown.min())), 10 ** np.ceil(np.log10(shown.max()))
    for axes in (over_time, by_queue):
        axes.set_yscale("log")
        axes.set_ylim(decades[0], max(decades[1], 10 * decades[0]))
        axes.yaxis.set_major_locator(LogLocator(numticks=6))
        axes.yaxis.set_major_formatter(EngFormatter("s"))
        axes.minorticks_off()
        axes.set_ylabel("time of a decision")
    clock.finish(over_time, span)
    by_queue.set_xlim(0, max(longest, 1))
    by_queue.set_xlabel("jobs waiting")
    by_queue.xaxis.set_major_formatter("{x:,.0f}")
    headline(over_time, "Over simulated time")
    headline(by_queue, "By length of the queue")
    plain(over_time)
    plain(by_queue)
    if memory is not None:
        clock.finish(memory, span)
        memory.set_ylim(0)
        memory.set_ylabel("memory (MB)")
        memory.yaxis.set_major_formatter("{x:,.0f}")
        headline(memory, "Memory of the process")
        plain(memory)

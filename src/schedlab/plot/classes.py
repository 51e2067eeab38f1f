"""Who waits: the mean or median by size and run time of the jobs, run beside run on one scale."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from schedlab.analysis.classes import RUNTIMES, SIZES
from schedlab.model.errors import InputError
from schedlab.model.run import Run
from schedlab.plot.heatmap import draw_cells, name_cells, short
from schedlab.plot.measures import labels_of, measure_of, measured_jobs
from schedlab.plot.style import INCHES, Width, colour_bar, figure_headline, panels, save, shades
from schedlab.plot.times import LINEAR_UP_TO, Floats, Span, brief, duration_ticks, spoken

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Statistic = Literal["mean", "median"]
_SIZE_NAMES = [*(f"{size // 1024}k" if size >= 1024 else str(size) for size in SIZES), "more"]
_RUNTIME_NAMES = [*map(spoken, RUNTIMES), "more"]
_ACROSS = {"column": 2, "page": 3}


def plot_classes(
    runs: Sequence[Run],
    path: str | Path | None = None,
    *,
    metric: str = "wait",
    statistic: Statistic = "mean",
    width: Width = "page",
    span: Span | None = None,
    labels: Sequence[str] | None = None,
    title: str = "",
) -> Figure:
    """A grid for each run, of sizes (cores, at most) and run times (less than); grey where there is no job."""
    if statistic not in ("mean", "median"):
        raise InputError(f"there is no statistic '{statistic}'", hint="mean or median")
    measure, names = measure_of(metric), labels_of(runs, labels)
    grids = [_grid(run, metric, statistic, span) for run in runs]
    used = np.isfinite(np.stack(grids))
    down, across = _between(used.any(axis=(0, 2))), _between(used.any(axis=(0, 1)))
    below = 0.45 if width == "column" else 0.0  # for the scale
    high = max(0.17 * len(down), 0.8)
    figure, every = panels(names, width, high, _ACROSS[width])
    figure.set_figheight(figure.get_figheight() + below)
    figure_headline(figure, title)
    scale = _scale(np.stack(grids), measure.duration)
    room = INCHES[width] - (0.75 if width == "column" else 1.45)
    cell = room / min(_ACROSS[width], len(runs)) / len(across), 0.97 * high / len(down)
    for axes, grid in zip(every, grids, strict=True):
        draw_cells(axes, grid[np.ix_(down, across)], scale, cell, brief if measure.duration else short)
        axes.tick_params(labelleft=False)
        name_cells(axes, [_SIZE_NAMES[at] for at in across], [_RUNTIME_NAMES[at] for at in down], cell[0])
    for axes in every[:: _ACROSS[width]]:
        axes.tick_params(labelleft=True)
        axes.set_ylabel("run time\n(less than)")
    for axes in every[-_ACROSS[width] :]:
        axes.set_xlabel("cores (at most)")
    bar = colour_bar(scale, every, f"{statistic} {measure.label}", below=width == "column")
    if measure.duration:
        ticks = duration_ticks(scale.norm.vmax)
        bar.set_ticks(list(ticks), labels=list(ticks.values()))
    save(figure, path)
    return figure


def _grid(run: Run, metric: str, statistic: str, span: Span | None) -> Floats:
    """Rows are classes of run time, columns classes of size."""
    chosen, values = measured_jobs(run, metric, span)
    start, end, cores = (run.tables.column(name)[chosen] for name in ("start", "end", "cores"))
    row = np.searchsorted(RUNTIMES, end - start, side="right")
    column = np.searchsorted(SIZES, cores, side="left")
    grid = np.full((len(RUNTIMES) + 1, len(SIZES) + 1), np.nan)
    middle: Any = np.mean if statistic == "mean" else np.median
    place = row * grid.shape[1] + column
    order = np.argsort(place, kind="stable")
    for part in np.split(order, np.flatnonzero(np.diff(place[order])) + 1):
        if len(part):
            grid.flat[place[part[0]]] = middle(values[part])
    return grid


def _between(used: Any) -> Any:
    """From the first class with jobs to the last."""
    found = np.flatnonzero(used)
    return np.arange(found[0], found[-1] + 1) if len(found) else np.arange(1)


def _scale(grids: Floats, duration: bool) -> Any:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import AsinhNorm, LogNorm

    largest = float(np.nanmax(grids, initial=0.0))
    if duration:
        return ScalarMappable(AsinhNorm(LINEAR_UP_TO, 0.0, max(largest, LINEAR_UP_TO)), shades())
    return ScalarMappable(LogNorm(1.0, max(largest, 10.0)), shades())

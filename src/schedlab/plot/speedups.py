"""How fast applications run beside one another: a cell for each pair, in colours that meet at 1."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.model.heatmap import Heatmap
from schedlab.plot.heatmap import draw_cells, name_cells
from schedlab.plot.style import (
    CHARACTER,
    FAINT,
    INCHES,
    SMALL,
    Width,
    colour_bar,
    figure_of,
    headline,
    legend,
    new_figure,
    save_axes,
)
from schedlab.plot.times import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STRIPES = "#b4b8be"
_SMALLEST = 3.5  # points; columns have the order of the rows, so smaller names of columns are left out
_LEAST = 1.05  # the range of colours is at least 1 / 1.05 to 1.05: measurements differ by as much


def plot_speedups(
    heatmap: Heatmap,
    path: str | Path | None = None,
    *,
    axes: Axes | None = None,
    width: Width = "page",
    title: str = "",
) -> Axes:
    """Rows are applications, columns who is beside them: red is slower than alone on whole nodes, blue faster, hatched
    not measured. Twice as fast is as far from white as half as fast. A number is written where it fits."""
    size, own = len(heatmap), axes is None
    longest = max(map(len, heatmap.names)) * CHARACTER
    cell = (INCHES[width] - longest - 1.0) / size
    tall = max(min(max(cell, 0.12), 0.3), 1.2 / size)
    upright = longest if longest > cell else 0.15
    axes = axes or new_figure(width, 0.55 + upright + tall * size).subplots()
    scale = _scale(heatmap.speedups)
    draw_cells(axes, heatmap.speedups, scale, (cell, tall), _written)
    name_cells(axes, heatmap.names, heatmap.names, cell)
    letters = 72 * cell / 1.2  # points, so that upright names stand side by side
    axes.tick_params(axis="x", labelsize=min(SMALL, letters), labelbottom=letters >= _SMALLEST)
    axes.set_ylabel("speed-up of")
    axes.set_xlabel("beside" if letters >= _SMALLEST else "beside (in the order of the rows)")
    bar = colour_bar(scale, axes, "speed-up")
    ticks = _ticks(scale.norm.vmin, scale.norm.vmax, most=min(0.6 * tall * size, 2.2) / 0.15)
    bar.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    headline(axes, title)
    if np.isnan(heatmap.speedups).any():
        _hatch(axes, width, own=own)
    save_axes(axes, path)
    return axes


def _written(speedup: float) -> str:
    return f"{speedup:.2f}"


def _scale(cells: Floats) -> Any:
    """Logarithmic, with 1 in the middle, as far as the speed-up that is furthest from it."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LogNorm

    known = cells[np.isfinite(cells)]
    furthest = max(_LEAST, math.exp(float(np.abs(np.log(known)).max(initial=0.0))))
    return ScalarMappable(LogNorm(1 / furthest, furthest), colormaps["RdBu"])


def _ticks(low: float, high: float, most: float) -> list[float]:
    """Round numbers that can be told apart on a logarithmic scale that has room for so many, and 1."""
    from matplotlib.ticker import MaxNLocator

    found = [1.0]
    apart = math.log(high / low) / most
    for tick in sorted(MaxNLocator(12, steps=[1, 2, 5, 10]).tick_values(low, high), key=lambda tick: abs(tick - 1)):
        if low <= tick <= high and all(abs(math.log(tick / other)) > apart for other in found):
            found.append(round(float(tick), 6))
    return sorted(found)


def _hatch(axes: Axes, width: Width, *, own: bool) -> None:
    """Stripes where there is no cell, and what they mean."""
    from matplotlib.patches import Patch

    stripes: Any = {"facecolor": FAINT, "edgecolor": _STRIPES, "hatch": "/////", "hatch_linewidth": 0.4, "linewidth": 0}
    axes.patch.set(**stripes)
    if own:
        legend(figure_of(axes), [Patch(**stripes)], ["not measured"], width)

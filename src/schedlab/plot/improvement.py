"""What makespans gain by jobs side by side, against what may be the reason: a point for each run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedlab.analysis.compare import metric_called
from schedlab.analysis.correlation import correlation
from schedlab.model.errors import InputError
from schedlab.plot.style import COLOURS, GREY, SMALL, Width, figure_headline, legend, new_figure, plain, save

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

REASONS = ("speedup.mean", "utilisation_until_empty", "slowed_share")
_MARKERS = "osD^vph"
_ACROSS = {"column": 1, "page": 3}


def plot_improvement(
    table: pl.DataFrame,
    path: str | Path | None = None,
    *,
    metric: str = "improvement.faster",
    reasons: Sequence[str] = REASONS,
    width: Width = "page",
    labels: Sequence[str] | None = None,
    title: str = "",
) -> Figure:
    """A panel for each of the `reasons`, a colour for each text in the column `group`, and how both go together: r is
    the correlation (Pearson) over the runs of the group. Rows without a value, and groups that are never better or
    worse (the baseline), are left out."""
    for name in (metric, *reasons):
        if name not in table.columns:
            hint = "it is measured in runs with a heatmap; the improvement in studies with a baseline"
            raise InputError(f"no run has the metric '{name}'", hint=hint)
    groups = table.drop_nulls([metric, *reasons]).partition_by("group", maintain_order=True)
    parts = [part for part in groups if part[metric].n_unique() > 1 or part[metric][0] != 0]
    if not parts:
        raise InputError("there is no run to draw beside the baseline")
    names = list(labels or [str(part["group"][0]) for part in parts])
    if len(names) != len(parts):
        raise InputError(f"labels: {len(names)}, groups to draw: {len(parts)}", hint="give one label for each group")
    across = min(_ACROSS[width], len(reasons))
    down = -(-len(reasons) // across)
    figure = new_figure(width, 0.4 + 2.1 * down)
    every = list(figure.subplots(down, across, sharey=True, squeeze=False).flat)
    for axes in every[len(reasons) :]:
        axes.remove()
    for axes, reason in zip(every, reasons, strict=False):
        _draw(axes, parts, reason, metric)
    for axes in every[::across]:
        axes.set_ylabel(f"{_called(metric)} (%)")
    figure_headline(figure, title)
    if len(parts) > 1:
        legend(figure, every[0].get_lines()[: len(parts)], names, width)
    save(figure, path)
    return figure


def _draw(axes: Axes, parts: Sequence[pl.DataFrame], reason: str, metric: str) -> None:
    share = _unit(reason) == "share"
    told = []
    for number, part in enumerate(parts):
        across, up = part[reason].to_numpy() * (100 if share else 1), 100 * part[metric].to_numpy()
        look: Any = {"marker": _MARKERS[number % 7], "color": COLOURS[number % 7]}
        axes.plot(across, up, linestyle="none", markersize=2.6, alpha=0.75, markeredgewidth=0, **look)
        r = correlation(across, up)
        told.append("–" if r is None else f"{r:+.2f}")
    axes.set_xlabel(f"{_called(reason)}{' (%)' if share else ''}")
    axes.set_title(f"r = {', '.join(told)}", loc="right", fontsize=SMALL, color=GREY)
    plain(axes, "both")


def _called(key: str) -> str:
    found = metric_called(key)
    return key if found is None else found.label


def _unit(key: str) -> str:
    found = metric_called(key)
    return "number" if found is None else found.unit

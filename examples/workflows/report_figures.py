"""The figures of report.py: a panel for each workflow, a line for each way to submit it, over its share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path

import polars as pl
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator
from PIL import Image
from report_data import METHODS, Point, Set

from schedlab.analysis.interval import Interval
from schedlab.plot.sweep import plot_sweep

DPI = 150
AXIS = "share of core-hours"
SPEEDUP = "speed-up over chained (logarithmic)"
RANGE = "range of the repetitions"
Values = Callable[[Point, str], Interval | None]
TOLD = 0.005  # of the machine: idle cores below that are not drawn


def draw_all(study: Set, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)

    def means(metric: str) -> Values:
        return lambda point, method: study.mean(metric, point, method)

    def medians(metric: str) -> Values:
        return lambda point, method: study.median(metric, point, method)

    def over_chained(point: Point, method: str) -> Interval | None:
        return study.ratio("runtime", point, "chained", method)

    draw(study, folder / "scsf-runtime.png", means("runtime"), "median run time of workflows", "s")
    draw(study, folder / "scsf-speedup.png", over_chained, SPEEDUP)
    draw(study, folder / "scsf-turnaround.png", means("turnaround"), "median turnaround of workflows", "s")
    draw(study, folder / "scsf-seconds.png", medians("seconds"), "seconds of a run", spread=RANGE)
    draw(study, folder / "scsf-speed.png", medians("days"), "simulated days in a second", spread=RANGE)
    utilisation = study_table(study, means("less_idle")).with_columns(pl.col("line") + ", less idle")
    held = study_table(study, means("utilisation")).with_columns(pl.col("line") + ", idle cores included")
    save(pl.concat([utilisation, _told(held, utilisation)]), folder / "scsf-utilisation.png", "utilisation", "%")


def draw(study: Set, path: Path, values: Values, label: str, unit: str = "", spread: str = "") -> None:
    save(study_table(study, values), path, label, unit, spread)


def study_table(study: Set, values: Values) -> pl.DataFrame:
    """As `plot_sweep` wants it."""
    rows = [
        (100 * float(point[1]), method, point[0], found.estimate, found.low, found.high)
        for method in METHODS
        for point in study.with_workflows
        if (found := values(point, method)) is not None
    ]
    kinds = dict.fromkeys(("value", "low", "high"), pl.Float64)
    schema = {"x": pl.Float64, "line": pl.String, "panel": pl.String, **kinds}
    n = study.runs["repetition"].n_unique()
    return pl.DataFrame(rows, schema, orient="row").with_columns(n=pl.lit(n))


def save(table: pl.DataFrame, path: Path, label: str, unit: str, spread: str = "") -> None:
    figure = plot_sweep(table, x=AXIS, x_unit="%", label=label, unit=unit, spread=spread)
    if label == SPEEDUP:
        _logarithmic(figure.axes, table)
    drawn = BytesIO()
    figure.savefig(drawn, dpi=DPI)
    # A palette makes a third of the bytes; this method keeps colours that are rare.
    small = Image.open(drawn).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


def _told(held: pl.DataFrame, used: pl.DataFrame) -> pl.DataFrame:
    """The lines of methods that leave cores idle at some point."""
    both = held.with_columns(idle=held["value"] - used["value"])
    return both.filter(pl.col("idle").max().over("line") > TOLD).drop("idle")


def _logarithmic(every: Sequence[Axes], table: pl.DataFrame) -> None:
    """So that half as fast is as far from 1 as twice as fast."""
    low, high = min(table["value"].to_list()), max(table["value"].to_list())
    for axes in every:
        axes.set_yscale("log")
        axes.set_ylim(low / 1.2, high * 1.2)
        axes.yaxis.set_major_locator(FixedLocator([0.2, 0.5, 1, 2, 5, 10, 20, 50]))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(lambda value, _place: f"{value:g}")

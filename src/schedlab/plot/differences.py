"""How far starts are from those of another schedule: as a histogram, and over time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.analysis.job_by_job import baseline_of
from schedlab.analysis.pairing import paired_by_job
from schedlab.model.errors import InputError
from schedlab.model.run import Run
from schedlab.plot.measures import labels_of
from schedlab.plot.style import (
    GREY,
    Width,
    figure_headline,
    headline,
    legend,
    new_figure,
    plain,
    save,
    series,
    wrapped,
)
from schedlab.plot.times import LINEAR_UP_TO, Clock, Floats, Span, duration_ticks, edges_of, span_of, spoken, step_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BINS = 61  # an odd number: the one in the middle is around 0
_LETTERS = {"column": 34, "page": 80}  # of the title, in a line
_STEPS = {"column": 40, "page": 84}


def plot_differences(
    runs: Sequence[Run],
    path: str | Path | None = None,
    *,
    width: Width = "page",
    span: Span | None = None,
    labels: Sequence[str] | None = None,
    title: str = "",
) -> Figure:
    """Each job's start less its start in the baseline: the recorded schedule if there is one, else the first run."""
    names = labels_of(runs, labels)
    if len(runs) < 2:
        hint = "draw the runs under recorded and easy, for example"
        raise InputError("differences of starts need two runs of the same jobs", hint=hint)
    base = baseline_of(runs)
    shown = span or span_of(runs)
    found = [
        (name, *_differences(run, runs[base], shown))
        for at, (run, name) in enumerate(zip(runs, names, strict=True))
        if at != base
    ]
    figure = new_figure(width, 2.4 if width == "page" else 4.2)
    across = (1, 2) if width == "page" else (2, 1)
    jobs, over_time = figure.subplots(*across)
    _histogram(jobs, found)
    _over_time(over_time, found, Clock.of(runs, shown), shown, width)
    headline(jobs, "Jobs by difference of start")
    headline(over_time, "Over time")
    figure_headline(figure, title or wrapped(f"Starts compared with {names[base]}", _LETTERS[width]))
    if len(found) > 1:
        handles, named = jobs.get_legend_handles_labels()
        legend(figure, handles, named, width)
    save(figure, path)
    return figure


def _differences(run: Run, baseline: Run, span: Span) -> tuple[Floats, Floats]:
    """When the jobs started in the baseline, and how much later (below 0: earlier) in the run."""
    pairs = paired_by_job(run, baseline, "start")
    within = (pairs.other >= span[0]) & (pairs.other < span[1])
    return pairs.other[within], pairs.difference[within]


def _histogram(axes: Axes, found: Sequence[tuple[str, Floats, Floats]]) -> None:
    longest = max((float(np.abs(difference).max(initial=60.0)) for _, _, difference in found))
    reach = float(np.arcsinh(longest / LINEAR_UP_TO))
    edges = LINEAR_UP_TO * np.sinh(np.linspace(-reach, reach, _BINS + 1))
    for number, (name, _, difference) in enumerate(found):
        counts, _ = np.histogram(difference, np.clip(edges, -longest, longest))
        share = 100 * counts / max(len(difference), 1)
        line = series(number)
        axes.stairs(share, edges, color=line["color"], linestyle=line.get("linestyle", "-"), label=name, linewidth=1.2)
    axes.axvline(0.0, color=GREY, linewidth=0.7, zorder=0)
    axes.set_xscale("asinh", linear_width=LINEAR_UP_TO)
    _signed_ticks(axes.xaxis, longest, 0.3)
    axes.set_xlim(-longest, longest)
    axes.set_ylim(0)
    axes.yaxis.set_major_formatter("{x:g} %")
    axes.set_xlabel("earlier  ←  start  →  later")
    plain(axes)


def _over_time(axes: Axes, found: Sequence[tuple[str, Floats, Floats]], clock: Clock, span: Span, width: Width) -> None:
    """The mean of the jobs that started in each step of the baseline's time."""
    step = step_for(span, _STEPS[width])
    edges = edges_of(span, step)
    middle = clock.places((edges[:-1] + edges[1:]) / 2)
    highest = 60.0
    for number, (name, when, difference) in enumerate(found):
        place = np.clip(np.searchsorted(edges, when, side="right") - 1, 0, len(middle) - 1)
        jobs = np.bincount(place, minlength=len(middle))
        sums = np.bincount(place, difference, minlength=len(middle))
        mean = np.divide(sums, jobs, out=np.full(len(middle), np.nan), where=jobs > 0)
        axes.plot(middle, mean, label=name, **series(number))
        highest = max(highest, float(np.nanmax(np.abs(mean), initial=0.0)))
    axes.axhline(0.0, color=GREY, linewidth=0.7, zorder=0)
    axes.set_yscale("asinh", linear_width=LINEAR_UP_TO)
    _signed_ticks(axes.yaxis, highest, 0.2)
    axes.set_ylim(-1.1 * highest, 1.1 * highest)
    axes.set_ylabel(f"mean difference\n(jobs of {spoken(step)})")
    clock.finish(axes, span)
    plain(axes)


def _signed_ticks(axis: Any, longest: float, apart: float) -> None:
    """Round durations on both sides of 0; two have at least a share `apart` of a side between them."""
    from matplotlib.ticker import NullLocator

    found: list[tuple[float, str]] = []
    ticks = duration_ticks(longest)
    before = (1 + apart) * np.arcsinh(longest / LINEAR_UP_TO)
    room = apart * np.arcsinh(longest / LINEAR_UP_TO)
    for seconds in sorted(ticks, reverse=True):
        place = float(np.arcsinh(seconds / LINEAR_UP_TO))
        if room <= place <= before - room:
            found.append((seconds, ticks[seconds]))
            before = place
    signed = [*((-tick, f"−{text}") for tick, text in found), (0.0, "0"), *((tick, f"+{text}") for tick, text in found)]
    axis.set_minor_locator(NullLocator())
    axis.set_ticks([tick for tick, _ in signed], [text for _, text in signed])

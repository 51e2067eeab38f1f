"""The kinds of figures that can be drawn of runs, and what each of them can be told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.model.errors import InputError
from schedlab.model.run import Run
from schedlab.model.suggest import did_you_mean
from schedlab.model.workload import Phase
from schedlab.plot.applications import plot_applications
from schedlab.plot.baseline import plot_baseline
from schedlab.plot.classes import plot_classes
from schedlab.plot.comparison import plot_comparison
from schedlab.plot.curves import plot_curves
from schedlab.plot.dag import plot_dag
from schedlab.plot.differences import plot_differences
from schedlab.plot.distributions import plot_box, plot_ecdf, plot_violin
from schedlab.plot.gantt import plot_gantt
from schedlab.plot.gantt_colours import colouring
from schedlab.plot.improvement import plot_improvement
from schedlab.plot.measures import labels_of
from schedlab.plot.over_time import plot_queue, plot_utilisation
from schedlab.plot.performance import plot_performance
from schedlab.plot.speedups import plot_speedups
from schedlab.plot.style import Width, figure_headline, legend, panels, save
from schedlab.plot.sweep import plot_sweep
from schedlab.plot.times import Clock, Span, span_of
from schedlab.plot.users import plot_users
from schedlab.plot.workflows import plot_workflows

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Kind:
    """A figure; `options` are those it takes besides `width` and `title`."""

    name: str
    description: str
    draw: Callable[..., Any]  # (runs, path, **options)
    options: tuple[str, ...] = ()
    repetitions: bool = False  # runs with the same label are drawn together: the folder of a study can be drawn
    of_study: bool = False  # drawn of the table that a study makes of its runs, not of runs
    of_heatmap: bool = False  # drawn of a heatmap


def draw(kind: str, runs: Sequence[Run], path: str | Path | None = None, **options: Any) -> Axes | Figure:
    """The figure of that kind. Options that are None count as not given."""
    given = {name: value for name, value in options.items() if value is not None}
    drawn: Axes | Figure = kind_of(kind).draw(runs, path, **given)
    return drawn


def kind_of(name: str) -> Kind:
    if name not in KINDS:
        hint = did_you_mean(name, KINDS, f"kinds: {', '.join(KINDS)}")
        raise InputError(f"there is no kind of figure '{name}'", hint=hint)
    return KINDS[name]


def _gantt(runs: Sequence[Run], path: str | Path | None, **options: Any) -> Axes | Figure:
    shades: dict[str, str] = {}
    for run in runs if len(runs) > 1 else ():
        for name, shade in colouring(run, options.get("colour", "job"), np.empty(0, np.int64)).names.items():
            if shades.setdefault(name, shade) != shade:
                hint = "draw them one by one, or colour by something else"
                raise InputError(f"'{name}' would have another colour in each of the runs", hint=hint)
    return _one_below_the_other(plot_gantt, 1.9, runs, path, options)


def _curves(runs: Sequence[Run], path: str | Path | None, **options: Any) -> Axes | Figure:
    return _one_below_the_other(plot_curves, 1.5, runs, path, options)


def _one_below_the_other(
    plot: Callable[..., Axes], height: float, runs: Sequence[Run], path: str | Path | None, options: Mapping[str, Any]
) -> Axes | Figure:
    """Of one run the figure as it is; of several a panel for each, over the same time."""
    labels = labels_of(runs, options.get("labels"))
    told = {name: value for name, value in options.items() if name not in ("labels", "title")}
    if len(runs) == 1:
        return plot(runs[0], path, title=options.get("title") or labels[0], **told)
    width: Width = options.get("width", "page")
    figure, every = panels(labels, width, height, across=1)
    figure_headline(figure, options.get("title", ""))
    told["span"] = options.get("span") or span_of(runs)
    named: dict[str, Any] = {}
    for run, axes in zip(runs, every, strict=True):
        plot(run, axes=axes, title=axes.get_title(loc="left"), **told)
        if axes.legend_ is not None:
            named |= dict(zip((t.get_text() for t in axes.legend_.texts), axes.legend_.legend_handles, strict=True))
            axes.legend_.remove()
    for axes in every[:-1]:
        axes.set_xlabel("")
    if named:
        legend(figure, list(named.values()), list(named), width)
    save(figure, path)
    return figure


def _baseline(runs: Sequence[Run], path: str | Path | None, **options: Any) -> Figure:
    if len(runs) != 1:
        raise InputError(f"a figure of kind 'baseline' shows one run, not {len(runs)}", hint="name one run")
    phases = [Phase(**phase) for phase in runs[0].workload.get("phases", ())]
    if not phases:
        hint = "fill() and --phase are about workloads that have some (docs/load-and-fill.md)"
        raise InputError("its workload has no phases", where=str(runs[0].path or runs[0]), hint=hint)
    return plot_baseline(runs[0], phases, path, **options)


def _performance(
    runs: Sequence[Run],
    path: str | Path | None,
    *,
    span: Span | None = None,
    labels: Sequence[str] | None = None,
    **options: Any,
) -> Figure:
    names = labels_of(runs, labels)
    if len(set(names)) < len(names):
        raise InputError("two runs have the same label", hint="give each run a label of its own")
    tables = dict(zip(names, (_measured(run, span) for run in runs), strict=True))
    if len(runs) == 1:
        options.setdefault("title", names[0])
    return plot_performance(tables, path, origin=Clock.of(runs, span or span_of(runs)).origin, **options)


def _measured(run: Run, span: Span | None) -> pl.DataFrame:
    """What decisions cost, in that time."""
    table = run.performance
    if not len(table):
        hint = "schedlab run --performance records it"
        raise InputError("has no record of what decisions cost", where=str(run.path or run), hint=hint)
    return table if span is None else table.filter((table["time"] >= span[0]) & (table["time"] < span[1]))


_OVER_TIME, _OF_JOBS = ("span", "labels"), ("metric", "span", "labels")
_OF_RESOURCE, _SPREAD = ("resource", *_OVER_TIME), (*_OF_JOBS, "resource")
_KINDS = (
    Kind("gantt", "who had which nodes, over time", _gantt, ("colour", *_OVER_TIME)),
    Kind("utilisation", "the share of cores (or a resource) in use, over time", plot_utilisation, _OF_RESOURCE),
    Kind("queue", "the number of waiting jobs, or what they ask for, over time", plot_queue, _OF_RESOURCE),
    Kind("curves", "jobs submitted, started and ended so far", _curves, _OVER_TIME),
    Kind("box", "quartiles, 5 % to 95 %, and mean of a metric or the queue", plot_box, _SPREAD),
    Kind("violin", "the density of a metric or the queue", plot_violin, _SPREAD),
    Kind("ecdf", "the share of jobs (queue: of time) at or below each value of a metric", plot_ecdf, _SPREAD),
    Kind("classes", "a metric by size and run time of the jobs", plot_classes, (*_OF_JOBS, "statistic")),
    Kind("users", "a box for each user and policy, over its runs, of a metric's mean", plot_users, _OF_JOBS, True),
    Kind(
        "sweep",
        "a metric of a study over a parameter, a line for each policy, with intervals",
        plot_sweep,
        ("x", "metric", "labels"),
        of_study=True,
    ),
    Kind(
        "workflows",
        "workflows by handling and kind: medians of turnaround, run time, stretch …; of a study over a parameter",
        plot_workflows,
        ("metric", "x", "labels"),
    ),
    Kind(
        "dag",
        "when the tasks of one workflow ran, and who waited for whom; or the graph in a workflow's file",
        plot_dag,
        ("workflow",),
    ),
    Kind("applications", "the speed-ups of jobs side by side, by application", plot_applications, _OVER_TIME),
    Kind(
        "improvement",
        "makespans of a study with a heatmap against its baseline, by speed-up, utilisation and jobs slowed down",
        plot_improvement,
        ("metric", "labels"),
        of_study=True,
    ),
    Kind("comparison", "waits, queue and machine of several runs in one picture", plot_comparison, ("labels",)),
    Kind("differences", "how far starts are from the recorded (or the first) ones", plot_differences, _OVER_TIME),
    Kind("performance", "how long decisions took, over time and by the queue, and memory", _performance, _OVER_TIME),
    Kind(
        "speedups",
        "how fast applications run beside one another, of a heatmap's file instead of runs",
        plot_speedups,
        of_heatmap=True,
    ),
    Kind("baseline", "machine and waits over the phases of an experiment", _baseline),
)
KINDS = {kind.name: kind for kind in _KINDS}

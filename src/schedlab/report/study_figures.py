"""The figures of a study: metrics over a parameter, bars, a map of two parameters, spreads of waits, who waits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from schedlab.analysis.verdict import metric_name
from schedlab.experiment.results import Context
from schedlab.experiment.sweep import axis_of, sweep_table, swept
from schedlab.plot.bars import plot_bars
from schedlab.plot.classes import plot_classes
from schedlab.plot.distributions import plot_box, plot_ecdf
from schedlab.plot.heatmap import plot_heatmap
from schedlab.plot.style import Width, figure_of
from schedlab.plot.sweep import plot_sweep
from schedlab.report.findings import Findings
from schedlab.report.page import Picture, picture
from schedlab.report.study_jobs import pooled

if TYPE_CHECKING:
    from schedlab.model.run import Run

MOST_CELLS = 600
MOST_SWEEPS, MOST_PANELS, MOST_LINES = 2, 6, 14
LONGEST_LABEL = 32  # letters; figures with longer ones need the whole width


@dataclass(frozen=True, slots=True)
class Part:
    """Figures that belong together, and what is said above them."""

    title: str = ""
    note: str = ""
    narrow: bool = False  # two fit beside each other
    pictures: list[Picture] = field(default_factory=list)


def figures(found: Findings) -> list[Part]:
    parts = (_jobs_differ, _sweeps, _bars, _map, _of_jobs)
    return [part for make in parts for part in make(found)] if found.contexts else []


def _sweeps(found: Findings) -> Iterator[Part]:
    """Every metric over each parameter that takes three numbers or more; a panel for whatever else varies."""
    drawn = False
    for name in swept(found.results)[:MOST_SWEEPS]:
        axis = axis_of(found.results, name)
        tables = {metric: sweep_table(found.results, axis, metric) for metric in found.metrics}
        several = tables[found.first]["panel"].n_unique() > 1
        if tables[found.first]["panel"].n_unique() > MOST_PANELS or tables[found.first]["line"].n_unique() > MOST_LINES:
            continue
        width: Width = "page" if several else "column"
        pictures = [
            picture(
                plot_sweep(table, width=width, **axis.titles(found.results, metric)),
                name=f"{metric_name(metric)} over {name}",
            )
            for metric, table in tables.items()
            if table.drop_nulls(["x", "value"])["x"].n_unique() > 1
        ]
        if not pictures:
            continue
        repeated = any(row["low"] is not None for row in found.merged.values())
        note = "Means over the repetitions, with 95 % confidence intervals." if repeated else ""
        yield Part(f"Over {name}", note, not several, pictures)
        drawn = True
    if drawn:
        yield Part("Group by group")


def _jobs_differ(found: Findings) -> Iterator[Part]:
    if not all(context.same_started for context in found.contexts):
        yield Part(note="Every group is drawn with the jobs that it started, and these are not the same.")


def _bars(found: Findings) -> Iterator[Part]:
    import polars as pl
    from matplotlib.ticker import MaxNLocator

    drawn = found.drawn
    width: Width = "column" if max(map(len, drawn.labels.values())) <= LONGEST_LABEL else "page"
    pictures = []
    schema = {"label": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    for metric in found.metrics:
        scale = found.scales[metric]
        rows = []
        for group, label in drawn.labels.items():
            row = found.merged[group, metric]
            numbers = (None if row[key] is None else row[key] / scale.size for key in ("mean", "low", "high"))
            rows.append((label, *numbers))
        name = metric_name(metric)
        axes = plot_bars(pl.DataFrame(rows, schema, orient="row"), label=name, unit=scale.unit, width=width)
        if axes.get_xscale() == "linear":
            axes.xaxis.set_major_locator(MaxNLocator(5))
        pictures.append(picture(figure_of(axes), name=f"{name} of each group"))
    note = f"Shown: {drawn.note}." if drawn.note else ""
    yield Part(note=note, narrow=width == "column", pictures=pictures)


def _map(found: Findings) -> Iterator[Part]:
    """The first metric over two of the parameters; the others as they are in the best group."""
    import polars as pl

    varied = [name for name in found.results.varied if len({point.get(name) for point in found.points.values()}) > 1]
    if len(varied) < 2:
        return
    down, across = sorted(varied, key=lambda name: (_is_number(found, name), len(found.parameter(name))))[-2:]
    rest = [name for name in varied if name not in (across, down)]
    best = found.points[found.ranked(found.shown)[0]]

    def called(name: str, value: Any) -> Any:
        return found.results.short(name, value) if isinstance(value, str) else value

    rows = [
        (called(across, point.get(across)), called(down, point.get(down)), found.mean(group, found.first))
        for group, point in found.points.items()
        if all(point.get(name) == best.get(name) for name in rest)
    ]
    if None in {value for row in rows for value in row[:2]} or not 4 <= len(rows) <= MOST_CELLS:
        return
    name, scale = metric_name(found.first), found.scales[found.first]
    axes_of = [_axis([row[at] for row in rows]) for at in (0, 1)]
    means = [None if mean is None else mean / scale.size for *_, mean in rows]
    table = pl.DataFrame({across: axes_of[0], down: axes_of[1], name: means})
    axes = plot_heatmap(table, x=across, y=down, value=name, unit=scale.unit)
    fixed = ", ".join(f"{name} {called(name, best.get(name))}" for name in rest)
    caption = f"{name} by {down} and {across}" + (f", at {fixed}" if fixed else "")
    yield Part(pictures=[picture(figure_of(axes), caption)])


def _of_jobs(found: Findings) -> Iterator[Part]:
    """What the tables of jobs tell, where the study keeps them."""
    context, drawn = found.shown, found.drawn_here
    labels = list(drawn.labels.values())
    pools = {group: pooled(found.results, group) for group in drawn.labels}
    runs = [pool.run for pool in pools.values() if pool is not None]
    if len(runs) < len(labels):
        if found.results.study.get("keep") == "tables":
            yield Part(note="Figures of jobs are left out: tables of some runs are missing or damaged.")
        else:
            yield Part(note="The study keeps summaries only, so there are no figures of jobs.")
        return
    used = next(pool.note for pool in pools.values() if pool is not None)
    where = f" at {context.name}" if context.name else ""
    settings = f" at {found.where}" if context.name else ""
    chosen_groups = f" Shown are {drawn.note}." if drawn.note else ""
    chosen = _two(found, context, dict(zip(drawn.labels, runs, strict=True)))
    box = "Waits: quartiles and median, whiskers from 5 % to 95 % of the jobs, a diamond at the mean"
    pictures = [
        picture(figure_of(plot_ecdf(runs, labels=labels)), "The share of jobs that waited at most so long"),
        picture(figure_of(plot_box(runs, labels=labels)), box),
        picture(
            plot_classes(list(chosen.values()), labels=list(chosen)),
            f"Who waits{where}: the mean wait by size and run time of the jobs",
        ),
    ]
    yield Part(note=f"Jobs{settings}: {used}{chosen_groups}", pictures=pictures)


def _two(found: Findings, context: Context, runs: dict[str, Run]) -> dict[str, Run]:
    """The baseline and the best of the others, or the best and the second."""
    first = [context.baseline] if context.baseline else []
    ranked = [group for group in found.ranked(context) if group != context.baseline]
    chosen = [*first, *ranked][:2]
    return {context.labels[group]: runs[group] for group in chosen}


def _axis(values: list[Any]) -> list[Any]:
    """Numbers as numbers, which come in their order; else words."""
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    return [float(value) for value in values] if numbers else [str(value) for value in values]


def _is_number(found: Findings, name: str) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in found.parameter(name))

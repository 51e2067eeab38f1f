"""What users get: of each user a box for each policy, over the means of the user's jobs in the runs of that policy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from schedlab.model.run import Run
from schedlab.plot.distributions import draw_box, tint
from schedlab.plot.measures import labels_of, measure_of, measured_jobs, owner_name
from schedlab.plot.style import COLOURS, LIGHT, SMALL, Width, explain, headline, new_figure, plain, save_axes, wrapped
from schedlab.plot.times import SECONDS, Floats, Span, unit_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_USERS = 12
_LETTERS = {"column": 18, "page": 34}  # of a name, in a line
_ROW, _GAP = 0.2, 0.1  # inches for a box, and between users
_FILLED = 0.84  # of the room between two users that their boxes take
_BOX, _POINTS = 0.72, 0.5  # of a row: the height of the box, and over which points are scattered

Means = dict[str, dict[str, list[float]]]  # user -> label -> the means of the runs


def plot_users(
    runs: Sequence[Run],
    path: str | Path | None = None,
    *,
    metric: str = "wait",
    axes: Axes | None = None,
    width: Width = "page",
    span: Span | None = None,
    labels: Sequence[str] | None = None,
    title: str = "",
) -> Axes:
    """Boxes from quartile to quartile with whiskers to the extremes, a point for each run, a diamond at their mean.

    Runs with the same label, which is the policy if none is given, are repetitions of each other and share a box.
    """
    measure = measure_of(metric)
    names = [run.policy for run in runs] if runs and labels is None else labels_of(runs, labels)
    groups = list(dict.fromkeys(names))
    means, all_users = user_means(runs, names, metric, span)
    own = axes is None
    axes = axes or _new_axes(list(means), len(groups), width)
    largest = max(
        (value for of_user in means.values() for of_group in of_user.values() for value in of_group), default=1
    )
    unit = unit_of(largest) if measure.duration else ""
    scale = SECONDS[unit] if unit else 1.0
    height = _FILLED / len(groups)
    for row, of_user in enumerate(means.values()):
        for number, group in enumerate(groups):
            place = row + height * (number - (len(groups) - 1) / 2)
            _draw(axes, place, height, np.array(of_user.get(group, [])) / scale, COLOURS[number % 7])
    axes.set_yticks(range(len(means)), [wrapped(name, _LETTERS[width]) for name in means])
    axes.set_ylim(max(len(means), 1) - 0.5, -0.5)  # the first on top
    axes.set_xlim(0, 1.04 * largest / scale or 1.0)
    axes.set_ylabel("most core time on top" if all_users == len(means) else f"{len(means)} of {all_users:,} users")
    axes.set_xlabel(f"mean {measure.label} in each run{f' ({unit})' if unit else ''}")
    plain(axes, "x")
    axes.hlines(np.arange(1, len(means)) - 0.5, *axes.get_xlim(), color=LIGHT, linewidth=0.6, zorder=0)
    headline(axes, title or (groups[0] if len(groups) == 1 else ""))
    if len(groups) > 1:
        explain(axes, [_patch(COLOURS[number % 7]) for number in range(len(groups))], groups, width, own=own)
    save_axes(axes, path)
    return axes


def user_means(runs: Sequence[Run], labels: Sequence[str], metric: str, span: Span | None = None) -> tuple[Means, int]:
    """The means of the users with the most core time, most first, in the order of the runs; the number of all users."""
    means: Means = defaultdict(lambda: defaultdict(list))
    work: dict[str, float] = defaultdict(float)
    for run, label in zip(runs, labels, strict=True):
        chosen, values = measured_jobs(run, metric, span)
        user, start, end, cores = (run.tables.column(name)[chosen] for name in ("user", "start", "end", "cores"))
        numbers, place = np.unique(user, return_inverse=True)
        mean = np.bincount(place, values) / np.bincount(place)
        used = np.bincount(place, cores * (end - start))
        for at, number in enumerate(numbers.tolist()):
            name = owner_name(run, "user", number)
            means[name][label].append(float(mean[at]))
            work[name] += float(used[at])
    ranked = sorted(means, key=lambda name: -work[name])
    return {name: means[name] for name in ranked[:MOST_USERS]}, len(ranked)


def _new_axes(names: Sequence[str], groups: int, width: Width) -> Axes:
    lines = max((wrapped(name, _LETTERS[width]).count("\n") + 1 for name in names), default=1)
    row = max(_GAP + _ROW * groups, 1.3 * lines * SMALL / 72)
    return new_figure(width, 0.62 + row * max(len(names), 1)).subplots()


def _draw(axes: Axes, place: float, height: float, values: Floats, colour: str) -> None:
    """One box and its points; the n-th run has its point at the same height in every box."""
    if not len(values):
        return
    quartiles = np.quantile(values, (0, 0.25, 0.5, 0.75, 1)).tolist()
    draw_box(axes, place, _BOX * height, (*quartiles, float(values.mean())), colour)
    golden = (np.arange(len(values)) * 0.618034) % 1 - 0.5  # spread evenly, neighbours apart
    axes.plot(
        values,
        place + _POINTS * height * golden,
        linestyle="none",
        marker="o",
        markersize=2.2,
        color=colour,
        markeredgecolor="white",
        markeredgewidth=0.25,
    )


def _patch(colour: str) -> object:
    from matplotlib.patches import Patch

    return Patch(facecolor=tint(colour), edgecolor=colour, linewidth=0.8)

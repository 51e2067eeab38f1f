"""What one job waited for, over time, above the cores in use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from schedlab.model.story import Story
from schedlab.model.story_words import label, labels_of
from schedlab.plot.style import COLOURS, GREY, LINE, SMALL, Width, figure_headline, new_figure, plain, save, wrapped
from schedlab.plot.times import Clock

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST = 16  # bars
_LETTERS = {"column": 18, "page": 34}


def plot_waiting(story: Story, path: str | Path | None = None, *, width: Width = "page", title: str = "") -> Figure:
    """A bar for each of its reasons, and the cores in use; a line shows how many may be, so that it fits by count."""
    labels = labels_of(story, _MOST)
    figure = new_figure(width, 1.9 + 0.26 * max(len(labels), 1))
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[max(len(labels), 1) * 0.26, 1.2])
    span = story.submit, max(story.waited_until, story.submit + 1)
    clock = Clock.of([story.run], span)
    for number, name in enumerate(labels):
        mine = [each for each in story.stretches if label(each) == name]
        places = [(clock.places(each.begin), clock.places(each.end) - clock.places(each.begin)) for each in mine]
        upper.broken_barh(places, (number - 0.36, 0.72), color=COLOURS[number % len(COLOURS)])
    upper.set_yticks(range(len(labels)), [wrapped(name, _LETTERS[width]) for name in labels])
    upper.set_ylim(max(len(labels), 1) - 0.5, -0.5)
    if not labels:
        nothing = "it did not wait" if story.waited_until <= story.submit else "the run does not say why"
        upper.text(0.5, 0.5, nothing, transform=upper.transAxes, ha="center", va="center", color=GREY)
    total, (time, used) = story.run.cluster.cores, story.timeline
    if len(time):
        shown = slice(
            max(int(np.searchsorted(time, span[0], side="right")) - 1, 0), int(np.searchsorted(time, span[1]))
        )
        times = np.append(np.maximum(time[shown], span[0]), span[1])
        amounts = np.append(used[shown], used[shown][-1:])
        lower.step(clock.places(times), amounts, where="post", color=GREY, linewidth=LINE)
    most = total - story.cores
    lower.axhline(most, color=COLOURS[0], linewidth=LINE, linestyle="--")
    place = {"xy": (1, most), "xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    words, up = ("there is room for it below", False) if most > total / 4 else ("only below there is room for it", True)
    lower.annotate(
        words,
        xytext=(-2, 3 if up else -3),
        ha="right",
        va="bottom" if up else "top",
        fontsize=SMALL,
        color=COLOURS[0],
        **place,
    )
    lower.set_ylim(0, total * 1.05)
    lower.set_ylabel("cores in use")
    plain(upper, "x")
    plain(lower)
    clock.finish(lower, span)
    figure_headline(figure, title or f"Job {story.job} under {story.run.policy}")
    save(figure, path)
    return figure

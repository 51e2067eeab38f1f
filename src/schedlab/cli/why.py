"""`schedlab why`: a job's story."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from schedlab.cli.options import Json

if TYPE_CHECKING:
    from rich.text import Text

    from schedlab.model.story import Story

WIDTH = 60  # of the figure, in characters
MOST_BARS = 8
STYLES = ("red", "blue", "green", "magenta", "yellow", "cyan")


def why(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run folder.", show_default=False)],
    job: Annotated[str, typer.Argument(metavar="JOB", help="The job: its id or its name.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Draw it too: a .pdf, .png or .svg.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """Tell why a job waited: for what, who passed it and by what right, and when it could first have started.

    What it waited for is known of runs that were simulated with [b]--reasons[/b]; what the tables of jobs tell, of all.

    [b]schedlab run LOG.swf --policy easy --reasons --out results[/b]

    [b]schedlab why results 1234[/b]
    """
    from schedlab.cli.output import console, print_json, say
    from schedlab.engine.store import read_run

    if out is not None:
        from schedlab.plot.style import checked_ending

        checked_ending(out)
    story = read_run(run).why(job)
    if as_json:
        print_json(_document(story))
    else:
        say(str(story))
        for line in figure(story):
            console().print(line, soft_wrap=True)
    if out is not None:
        from schedlab.plot.waiting import plot_waiting

        plot_waiting(story, out)
        if not as_json:
            say(f"\ndrawn in {out}")


def figure(story: Story) -> list[Text]:
    """A bar over time for each reason, and the cores in use."""
    from rich.text import Text

    from schedlab.cli.chart import columns
    from schedlab.model.story_words import label, labels_of
    from schedlab.model.units import format_duration

    begin, length = story.submit, story.waited_until - story.submit
    if length <= 0:
        return []
    edges = [begin + length * place / WIDTH for place in range(WIDTH + 1)]
    labels = labels_of(story, MOST_BARS)
    used = f"cores in use, of {story.run.cluster.cores:,}"
    margin = max(map(len, (*labels, used))) + 2
    lines = [Text("")]
    for number, name in enumerate(labels):
        mine = [each for each in story.stretches if label(each) == name]
        cells = "".join(
            "█" if any(each.begin < right and each.end > left for each in mine) else "·"
            for left, right in pairwise(edges)
        )
        lines.append(Text.assemble(f"{name:<{margin}}", (cells, STYLES[number % len(STYLES)]), no_wrap=True))
    bars = columns(_used(story, edges), story.run.cluster.cores, 2, "dim")
    for row, bar in enumerate(bars):
        lines.append(Text.assemble(f"{used if row else '':<{margin}}", bar, no_wrap=True))
    first, last = format_duration(begin), format_duration(begin + length)
    lines.append(Text(" " * margin + first + last.rjust(WIDTH - len(first)), "dim", no_wrap=True))
    return lines


def _used(story: Story, edges: list[float]) -> list[float]:
    """Cores in use at the middle of each part of the time."""
    import numpy as np

    time, used = story.timeline
    middles = (np.array(edges[:-1]) + np.array(edges[1:])) / 2
    at = np.searchsorted(time, middles, side="right") - 1
    return [float(used[place]) if place >= 0 else 0.0 for place in at.tolist()]


def _document(story: Story) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        **{name: getattr(story, name) for name in ("job", "submit", "eligible", "start", "end", "state", "cores")},
        "told": story.told,
        "waited": [asdict(each) for each in story.stretches],
        "passed_by": [asdict(each) for each in story.passers],
        "held_the_cores": [asdict(each) for each in story.holders],
        "could_start": story.could_start,
    }

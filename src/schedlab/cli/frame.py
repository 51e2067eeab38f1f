"""One picture of a run, for a terminal of a given size: pure functions of a snapshot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from schedlab.cli.chart import bar, columns, round_time, thin_bar
from schedlab.cli.node_map import closed, node_map
from schedlab.cli.progress import date
from schedlab.cli.status import speeds
from schedlab.engine.snapshot import Snapshot
from schedlab.model.resources import amount

WIDE = 110  # columns from which on the jobs stand beside the map
JOBS = 44  # columns that they have there
NARROW = 64  # below, the jobs that run have no room beside those that wait
GAP = 3
FEWEST = 3  # rows of a table of jobs
LABELS = 9  # columns left of a chart

Lines = list[Text]


def frame(snapshot: Snapshot, width: int, height: int) -> RenderableType:
    """Everything, in lines of `width`; at most `height` of them."""
    lines = [*_header(snapshot, width), Text()]
    left = height - len(lines)
    lines += _wide(snapshot, width, left) if width >= WIDE else _stacked(snapshot, width, left)
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return Group(*lines[:height])


def closing(snapshot: Snapshot, width: int) -> RenderableType:
    """What stays on the terminal: how the whole run went."""
    return Group(*_header(snapshot, width), *_charts(snapshot, width, 2), Text())


def brief(seconds: float) -> str:
    """`120d`, `1d 12h`, `3h 05m`, `45s`: two units at most."""
    rest = round(max(seconds, 0.0))
    for unit, next_unit, length, part in (("d", "h", 86_400, 3_600), ("h", "m", 3_600, 60), ("m", "s", 60, 1)):
        if rest >= length:
            whole, small = rest // length, rest % length // part
            return f"{whole:,}{unit} {small:02}{next_unit}" if small and whole < 100 else f"{whole:,}{unit}"
    return f"{rest}s"


# ---- the parts ----


def _header(snapshot: Snapshot, width: int) -> Lines:
    facts = snapshot.facts
    title = Text.assemble((facts.policy, "bold cyan"), (f"  {facts.log} on {facts.cluster.name}", "dim"))
    clock = Text(date(facts.origin, snapshot.now), "bold")
    done = Text(f"{snapshot.done:,} of {snapshot.jobs:,} jobs ")
    share = snapshot.done / max(snapshot.jobs, 1)
    speed = Text(f" {share:4.0%}" + "".join(f"  {one}" for one in speeds(snapshot)))
    return [
        _apart(title, clock, width),
        Text.assemble(done, thin_bar(share, max(width - len(done) - len(speed), 0), "cyan"), speed),
    ]


def _stacked(snapshot: Snapshot, width: int, height: int) -> Lines:
    """The machine, the past, then the queue beside the jobs that run."""
    tables = max(FEWEST + 2, height * 2 // 5)
    machine = _machine(snapshot, width, height // 3, max(height - tables - 3, 2))
    rows = max(min((height - len(machine) - tables - 1) // 2, 3), 1)
    blank = [Text()] if height - len(machine) - 2 * rows > tables + 4 else []
    upper = [*machine, *blank, *_charts(snapshot, width, rows), *blank]
    left = height - len(upper)
    if width < NARROW:
        return [*upper, *_queue(snapshot, width, left)]
    half = (width - GAP) // 2
    return [*upper, *_beside(_queue(snapshot, half, left), _running(snapshot, width - GAP - half, left), half)]


def _wide(snapshot: Snapshot, width: int, height: int) -> Lines:
    """The machine and the past on the left, the jobs on the right."""
    left = width - JOBS - GAP
    machine = _machine(snapshot, left, height // 3, max(height * 2 // 3, height - 12))
    rows = max(min((height - len(machine) - 2) // 2, 8), 1)
    upper = max(height // 2, height - len(snapshot.ending) - 2)
    queue = _queue(snapshot, JOBS, upper - 1)
    jobs = [*queue, Text(), *_running(snapshot, JOBS, height - len(queue) - 1)]
    return _beside([*machine, Text(), *_charts(snapshot, left, rows)], jobs, left)


def _machine(snapshot: Snapshot, width: int, usual: int, most: int) -> Lines:
    cluster = snapshot.facts.cluster
    size = f"{cluster.cores:,} cores" if cluster.pool else f"{cluster.nodes:,} nodes, {cluster.cores:,} cores"
    title = _rule(" · ".join(filter(None, [size, f"{snapshot.utilisation:.1%} busy", closed(snapshot)])), width)
    others = _others(snapshot, width)
    if cluster.pool:
        return [title, bar(snapshot.utilisation, width, "green"), *others]
    room = max(most - 1 - len(others), 2)
    return [title, *node_map(snapshot, width, min(usual - 1, room), room), *others]


def _others(snapshot: Snapshot, width: int) -> Lines:
    """A bar for each resource besides cores that jobs use."""
    names = max((len(used.name) for used in snapshot.others), default=0) + 1
    lines = []
    for used in snapshot.others:
        amounts = f" {used.share:4.0%} of {amount(used.name, used.total)}"
        filled = bar(used.share, max(width - names - len(amounts), 0), "green")
        lines.append(Text.assemble((f"{used.name:<{names}}", "dim"), filled, amounts))
    return lines


def _charts(snapshot: Snapshot, width: int, rows: int) -> Lines:
    """Busy and waiting cores over all of the past; where something sets the pace, over what was seen in a minute."""
    past, pace = snapshot.past, snapshot.facts.pace
    room = max(width - LABELS, 8)
    if past.length <= 0:
        return [_rule("", width), *(Text() for _ in range(2 * rows))]
    begin, now = float(past.time[0]), float(past.time[-1])
    seen = now - begin if pace is None else min(now - begin, 60 * pace)
    cell = round_time(seen / room)
    number = min(room, int(np.ceil((now - begin) / cell)))
    start = max(begin, now - number * cell)
    busy = past.cells(past.busy, start, cell, number)
    waiting = past.cells(past.waiting, start, cell, number)
    most = float(np.nanmax(waiting))
    peak = f" · waiting up to {most:,.0f} cores" if most >= 1 else ""
    title = f"{'the last' if start > begin else 'over'} {brief(now - start)} · a column is {brief(cell)}{peak}"
    used = columns(busy, snapshot.facts.cluster.cores, rows, "green")
    return [
        _rule(title, width),
        *_labelled("busy", f"{snapshot.utilisation:.0%}", used),
        *_labelled("waiting", f"{snapshot.queued_cores:,}", columns(waiting, most, rows, "magenta")),
    ]


def _labelled(name: str, value: str, chart: Lines) -> Lines:
    labels = (
        [name, value, *[""] * len(chart)]
        if len(chart) > 1
        else [f"{name} {value}" if len(name + value) < LABELS - 1 else name]
    )
    return [Text.assemble((f"{label:<{LABELS}}", "dim"), row) for label, row in zip(labels, chart, strict=False)]


def _queue(snapshot: Snapshot, width: int, height: int) -> Lines:
    title = f"waiting {_jobs(snapshot.queued)}, {snapshot.queued_cores:,} cores" if snapshot.queued else "nobody waits"
    rows = [
        (str(job.id), f"{job.cores:,}", brief(job.estimate), brief(snapshot.now - job.since)) for job in snapshot.queue
    ]
    return _table(title, ("job", "cores", "estimate", "waits"), rows, snapshot.queued, width, height)


def _running(snapshot: Snapshot, width: int, height: int) -> Lines:
    suspended = f", {snapshot.suspended:,} suspended" if snapshot.suspended else ""
    title = f"running {_jobs(snapshot.running or 0)}, {snapshot.busy:,} cores{suspended}"
    rows = [
        (str(job.id), f"{job.cores:,}", brief(snapshot.now - job.start), brief(job.end - snapshot.now))
        for job in snapshot.ending
    ]
    return _table(title, ("job", "cores", "runs", "ends in"), rows, snapshot.running or 0, width, height)


def _jobs(number: int) -> str:
    return "1 job" if number == 1 else f"{number:,} jobs"


def _table(
    title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], all_rows: int, width: int, height: int
) -> Lines:
    """As many rows as there is room for, and how many are left out."""
    if not rows:
        return [_rule(title, width)]
    room = max(height - 2, 1)
    shown = rows[: room if all_rows <= room else room - 1]
    sizes = [max(len(row[column]) for row in (heads, *shown)) for column in range(len(heads))]
    gap = " " * min((width - sum(sizes)) // max(len(heads) - 1, 1), 4)

    def row_text(row: Sequence[str], style: str = "") -> Text:
        return Text(gap.join(f"{cell:>{size}}" for cell, size in zip(row, sizes, strict=True)), style, no_wrap=True)

    more = [Text(f"and {all_rows - len(shown):,} more", "dim")] if all_rows > len(shown) else []
    return [_rule(title, width), row_text(heads, "dim"), *map(row_text, shown), *more]


# ---- putting lines together ----


def _rule(title: str, width: int) -> Text:
    return Text.assemble((f"{title} " if title else "", "bold"), ("─" * max(width - len(title) - 1, 0), "dim"))


def _apart(left: Text, right: Text, width: int) -> Text:
    left = left.copy()
    left.truncate(max(width - len(right) - 1, 0), overflow="ellipsis")
    return Text.assemble(left, " " * max(width - len(left) - len(right), 1), right)


def _filled(lines: Lines, height: int) -> Lines:
    return [*lines, *(Text() for _ in range(height - len(lines)))]


def _beside(left: Lines, right: Lines, width: int) -> Lines:
    height = max(len(left), len(right))
    joined = []
    for one, other in zip(_filled(left, height), _filled(right, height), strict=True):
        one = one.copy()
        one.truncate(width, overflow="ellipsis")
        joined.append(Text.assemble(one, " " * (width - one.cell_len + GAP), other))
    return joined

"""A run as a browser gets it: facts (JSON), and blocks of columns by name, each made when it is asked for.

    jobs            what is shown of each job
    story           what was believed of each job, and its place in the order
    waits, waits-N  the first job of each part, and what the jobs of a part waited for
    reasons-ROW     what one job waited for: only when it is asked for
    chart           how many rectangles there are, from when to when those of a block are, and levels of tiles
    bars-N          some of the rectangles of the Gantt chart, in the order of their beginning
    tile-LEVEL-N    the chart from afar: cells of a part of the time
    steps-LEVEL     the machine and its queue: means of steps of time
    changes-N       the same, every change
    closed          nodes that were not up
    pieces          stays of jobs that did not simply run from start to end
    held            what jobs had on nodes besides cores
    power           what nodes took of the machine's budget
    nodes           names of nodes
    distributions   quantiles of waits, slowdowns and turnarounds

A page of one file has all of them inside; a server sends them as they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np

from schedlab.analysis.core_rows import Bars, Machine, closed_bars, job_bars
from schedlab.analysis.machine import Machine as RunMachine
from schedlab.model.run import Run
from schedlab.model.states import REASONS, STATES, WAIT_REASONS
from schedlab.model.version import VERSION
from schedlab.plot.times import Span, span_of
from schedlab.web import tiles
from schedlab.web.block import Column, pack
from schedlab.web.distributions import distribution_facts, distributions_block
from schedlab.web.held import has_more_than_cores, held_block
from schedlab.web.jobs import jobs_block, owners_facts, pieces_block, story_block
from schedlab.web.over_time import OverTime
from schedlab.web.power import has_power, power_block
from schedlab.web.waits import Waits
from schedlab.workload.notes import run_notes

BARS_AT_ONCE = 65_536  # in a block
_DIGITS = 9  # of a row
# Blocks, and the beginnings of names of blocks that have numbers.
_KINDS = (
    *("jobs", "story", "nodes", "closed", "distributions", "pieces", "held", "power", "waits", "waits-", "chart"),
    *("bars-", "tile-", "steps-", "changes-"),
)


class Pack:
    """What a page can ask of a run. `baseline` is the run that its jobs are compared with."""

    def __init__(self, run: Run, baseline: Run | None = None) -> None:
        self.run = run
        self.span: Span = span_of([run])
        self._baseline = baseline
        self._over_time = OverTime(run, self.span)
        self._waits = Waits(run)
        self._drawing = Lock()
        self._drawn: Bars | None = None

    @cached_property
    def _machine(self) -> Machine:
        return Machine(self.run.cluster)

    @property
    def _bars(self) -> Bars:
        with self._drawing:  # a server asks from several threads, and it takes a while
            if self._drawn is None:
                self._drawn = job_bars(self.run, self._machine, self.span)
            return self._drawn

    @cached_property
    def _has_pieces(self) -> bool:
        return len(self.run.tables.column("sequence", "pieces")) > 0

    @cached_property
    def _closed(self) -> Bars:
        return closed_bars(self.run, self._machine, self.span)

    def facts(self) -> dict[str, Any]:
        """What the page has to know before it asks for blocks."""
        run = self.run
        return {
            "policy": run.policy,
            "workload": str(run.workload["name"]),
            "origin": run.workload.get("origin"),
            "options": {name: str(value) for name, value in run.options.items()},
            "incomplete": run.incomplete,
            "notes": run_notes(run.workload, run.cluster.name),
            "version": run.config.get("schedlab", VERSION),
            "span": self.span,
            "jobs": len(run.tables.column("job")),
            "states": run.summary["states"],
            "told": bool(run.config.get("reasons")),
            "machine": self._machine_facts(),
            "owners": owners_facts(run),
            "words": {"state": STATES, "reason": REASONS, "why": WAIT_REASONS},
            "tau": run.summary["tau"],
            "pieces": self._has_pieces,
            "closed": len(self._closed),
            "tile": {"bins": tiles.BINS, "rows": min(self._machine.rows, tiles.MOST_ROWS)},
            "over_time": self._over_time.facts(),
            "held": has_more_than_cores(run),
            "power": has_power(run),
            "distributions": distribution_facts(),
        }

    def _machine_facts(self) -> dict[str, Any]:
        cluster = self.run.cluster
        return {
            "name": cluster.name,
            "pool": cluster.pool,
            "cores": cluster.cores,
            "rows": self._machine.rows,
            "exclusive": RunMachine.of_run(self.run).exclusive,
            "groups": [
                {"name": group.name, "count": group.count, "resources": group.resources, "sockets": group.socket_sizes}
                for group in cluster.groups
            ],
        }

    def names(self) -> Iterator[str]:
        """All blocks of a page of one file."""
        return (name for kind in _KINDS for name in self._names(kind))

    def _names(self, kind: str) -> Iterator[str]:
        """The blocks of a kind. To know those of one, what the others need is not looked at."""
        optional = {"pieces": self._has_pieces, "held": has_more_than_cores, "power": has_power}
        number = {
            "waits-": lambda: max(len(self._waits.begins) - 1, 0),
            "bars-": lambda: len(self._bar_blocks()),
            "steps-": lambda: len(self._over_time.facts()["steps"]),
            "changes-": lambda: len(self._over_time.facts()["changes"]),
        }
        if kind in number:
            return (f"{kind}{at}" for at in range(number[kind]()))
        if kind == "tile-":
            return (f"tile-{level}-{at}" for level, tiles_of in enumerate(self._levels()) for at in range(tiles_of))
        there = optional.get(kind, True)
        return iter([kind] if (there(self.run) if callable(there) else there) else [])

    def block(self, name: str) -> bytes:
        """KeyError if there is none of that name."""
        kind, *numbers = name.split("-")
        if kind == "reasons":
            return self._reasons_block(*numbers)
        form = f"{kind}-" if numbers else kind
        if form not in _KINDS or name not in self._names(form):
            raise KeyError(name)
        return bytes(getattr(self, f"_{kind}_block")(*map(int, numbers)))

    def _jobs_block(self) -> bytes:
        return jobs_block(self.run, self._baseline)

    def _story_block(self) -> bytes:
        return story_block(self.run)

    def _waits_block(self, number: int | None = None) -> bytes:
        return self._waits.index() if number is None else self._waits.block(number)

    def _reasons_block(self, *numbers: str) -> bytes:
        if len(numbers) != 1 or not numbers[0].isdecimal() or not numbers[0].isascii() or len(numbers[0]) > _DIGITS:
            raise KeyError("-".join(("reasons", *numbers)))
        return self._waits.of_job(int(numbers[0]))

    def _distributions_block(self) -> bytes:
        return distributions_block(self.run)

    def _chart_block(self) -> bytes:
        bars, blocks = self._bars, self._bar_blocks()
        begins = [bars.begin_of[bars.stay[at.start]] for at in blocks]
        ends = [bars.end_of[bars.stay[at]].max() for at in blocks]
        return pack(
            {
                "number": Column(np.array([len(bars)])),
                "first": Column(np.array(begins, np.float64)),
                "last": Column(np.array(ends, np.float64)),
                "levels": Column(np.array(self._levels(), np.int64)),
            }
        )

    def _held_block(self) -> bytes:
        return held_block(self.run)

    def _power_block(self) -> bytes:
        return power_block(self.run)

    def _pieces_block(self) -> bytes:
        return pieces_block(self.run)

    def _nodes_block(self) -> bytes:
        return pack({"name": self._machine.names})

    def _closed_block(self) -> bytes:
        bars = self._closed
        return pack(
            {
                "begin": Column(bars.begin),
                "end": Column(bars.end),
                "low": Column(bars.low),
                "size": Column(bars.high - bars.low),
            }
        )

    def _bar_blocks(self) -> list[slice]:
        return [slice(at, at + BARS_AT_ONCE) for at in range(0, len(self._bars), BARS_AT_ONCE)]

    def _bars_block(self, number: int) -> bytes:
        """Times only where they are not those of the job."""
        bars, some = self._bars, self._bar_blocks()[number]
        stay = bars.stay[some]
        columns: dict[str, Column | list[str]] = {
            "row": Column(bars.job_of[stay], delta=True),
            "low": Column(bars.low[some]),
            "size": Column(bars.high[some] - bars.low[some]),
        }
        if self._has_pieces:
            columns["begin"] = Column(bars.begin_of[stay], delta=True)
            columns["end"] = Column(bars.end_of[stay], relative="begin")
        return pack(columns)

    def _levels(self) -> list[int]:
        """How many tiles each level has."""
        return [tiles.FACTOR**level for level in range(tiles.levels(len(self._bars)))]

    def _tile_block(self, level: int, number: int) -> bytes:
        edges = np.linspace(*self.span, tiles.FACTOR**level + 1)
        found = tiles.tile(self._bars, self._machine.rows, float(edges[number]), float(edges[number + 1]))
        return pack({"who": Column(found.who, null=-1), "cover": Column(found.cover)})

    def _steps_block(self, level: int) -> bytes:
        return self._over_time.means(level)

    def _changes_block(self, number: int) -> bytes:
        return self._over_time.changes(number)

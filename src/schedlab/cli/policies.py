"""`schedlab policies`: what a policy can be made of, and what installed packages add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from schedlab.cli.options import Json

if TYPE_CHECKING:
    from schedlab.policy.catalogue import Entry

HEADINGS = {
    "policy": ("Policy", "a whole scheduler: the option --policy"),
    "backfill": ("Backfill", "which waiting jobs may start: the first word of a policy"),
    "order": ("Order", "who comes first: order=… and scan=…; alone, sjf means none:order=sjf"),
    "placement": ("Placement", "which nodes a job gets: place=…"),
    "estimate": ("Estimate", "how long the scheduler believes a job will run: the option --estimate"),
    "observer": ("Observer", "who watches: the option --observe of run"),
    "metric": ("Metric", "what is computed of a run: the option --metric of compare"),
    "model": ("Model", "where generated jobs come from: the argument of generate"),
    "reader": ("Reader", "other formats of logs: the option --reader"),
    "pattern": ("Pattern", "jobs that are put into a workload: the option --inject"),
}


def policies(as_json: Json = False) -> None:
    """List every backfill, order, placement and estimate, with their parameters, and what installed packages add.

    A policy is one backfill with keys, or an order alone: [b]easy[/b], [b]easy:scan=sjf[/b],
    [b]conservative:order=saf,place=best-fit[/b], [b]ljf[/b]; or a class in a file: [b]mine.py:Name[/b].
    """
    from schedlab.cli.output import console, print_json
    from schedlab.model.plugins import BUILT_IN
    from schedlab.policy.catalogue import catalogue, registered_entries

    entries = [*catalogue(), *registered_entries()]
    foreign = any(entry.source != BUILT_IN for entry in entries)
    if as_json:
        print_json([asdict(entry) for entry in entries])
        return
    out = console()
    out.print(
        "A policy is [cyan]BACKFILL:key=value,…[/cyan] such as [cyan]easy:order=sjf,place=best-fit[/cyan]",
        soft_wrap=True,
    )
    for kind, (heading, meaning) in HEADINGS.items():
        rows = [
            (entry.name, entry.summary, _detail(entry), *([_from(entry.source)] if foreign else []))
            for entry in entries
            if entry.kind == kind
        ]
        if rows:
            _section(heading, meaning, rows)
    keys = {key.name: key for entry in entries if entry.kind == "backfill" for key in entry.parameters}
    meanings = [(f"{key.name}=", key.meaning, f"default: {key.default}") for key in keys.values()]
    _section("Keys", "what the keys of a backfill mean", meanings)


def _detail(entry: Entry) -> str:
    keys = ", ".join(key.name for key in entry.parameters) if entry.kind == "backfill" else ""
    return entry.formula or entry.code or keys


def _from(source: str) -> str:
    from schedlab.model.plugins import BUILT_IN

    return source if source == BUILT_IN else f"from {source}"


def _section(heading: str, meaning: str, rows: Sequence[tuple[str, ...]]) -> None:
    """A table: name, summary, detail, and where it comes from if something comes from a package."""
    from rich.table import Table
    from rich.text import Text

    from schedlab.cli.output import console

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column()
    table.add_column(style="dim")
    if len(rows[0]) == 4:
        table.add_column(style="green", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(cell) for cell in ("  " + row[0], *row[1:])))
    console().print(Text.assemble("\n", (heading, "bold"), f"  {meaning}"), soft_wrap=True)
    console().print(table)

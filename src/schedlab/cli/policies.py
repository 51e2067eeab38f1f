"""`schedlab policies`: what a policy can be made of."""

from __future__ import annotations

from dataclasses import asdict

from schedlab.cli.options import Json

HEADINGS = {
    "backfill": ("Backfill", "which waiting jobs may start: the first word of a policy"),
    "order": ("Order", "who comes first: order=… and scan=…; alone, sjf means none:order=sjf"),
    "placement": ("Placement", "which nodes a job gets: place=…"),
    "estimate": ("Estimate", "how long the scheduler believes a job will run: the option --estimate"),
}


def policies(as_json: Json = False) -> None:
    """List every backfill, order, placement and estimate, with their parameters.

    A policy is one backfill with keys, or an order alone: [b]easy[/b], [b]easy:scan=sjf[/b],
    [b]conservative:order=saf,place=best-fit[/b], [b]ljf[/b].
    """
    from schedlab.cli.output import console, print_json
    from schedlab.policy.catalogue import catalogue

    entries = catalogue()
    if as_json:
        print_json([asdict(entry) for entry in entries])
        return
    out = console()
    out.print(
        "A policy is [cyan]BACKFILL:key=value,…[/cyan] such as [cyan]easy:order=sjf,place=best-fit[/cyan]",
        soft_wrap=True,
    )
    for kind, (heading, meaning) in HEADINGS.items():
        chosen = [entry for entry in entries if entry.kind == kind]
        details = [
            entry.formula or (", ".join(k.name for k in entry.parameters) if kind == "backfill" else "")
            for entry in chosen
        ]
        _section(heading, meaning, [(e.name, e.summary, detail) for e, detail in zip(chosen, details, strict=True)])
    keys = {key.name: key for entry in entries if entry.kind == "backfill" for key in entry.parameters}
    rows = [(f"{key.name}=", key.meaning, f"default: {key.default}") for key in keys.values()]
    _section("Keys", "what the keys of a backfill mean", rows)


def _section(heading: str, meaning: str, rows: list[tuple[str, str, str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    from schedlab.cli.output import console

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column()
    table.add_column(style="dim")
    for row in rows:
        table.add_row(*(Text(cell) for cell in ("  " + row[0], *row[1:])))
    console().print(Text.assemble("\n", (heading, "bold"), f"  {meaning}"), soft_wrap=True)
    console().print(table)

"""The table: what was measured, what is required, whether it is met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Line:
    """One measured number. Without `at_least` and `at_most` it is shown and not judged."""

    benchmark: str
    what: str
    measured: float
    unit: str = "×"
    at_least: float | None = None
    at_most: float | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        if self.at_least is not None:
            return self.measured >= self.at_least
        if self.at_most is not None:
            return self.measured <= self.at_most
        return None

    @property
    def required(self) -> str:
        if self.at_least is not None:
            return f"≥ {self.at_least:g} {self.unit}"
        if self.at_most is not None:
            return f"≤ {self.at_most:g} {self.unit}"
        return ""

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "met": self.met}


def show(lines: Sequence[Line], title: str) -> None:
    table = Table(title=title, title_justify="left", expand=True)
    table.add_column("benchmark", no_wrap=True)
    table.add_column("what")
    table.add_column("measured", justify="right", no_wrap=True)
    table.add_column("required", justify="right", no_wrap=True)
    table.add_column("met", no_wrap=True)
    table.add_column("how", style="dim")
    last = None
    for line in lines:
        if last not in (None, line.benchmark):
            table.add_section()
        verdict = {True: "[green]yes[/]", False: "[bold red]NO[/]", None: ""}[line.met]
        name = line.benchmark if line.benchmark != last else ""
        table.add_row(name, line.what, f"{_round(line.measured)} {line.unit}", line.required, verdict, line.note)
        last = line.benchmark
    console = Console()
    Console(width=console.width if console.is_terminal else 160).print(table)


def _round(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"

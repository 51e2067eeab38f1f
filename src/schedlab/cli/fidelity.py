"""How alike two workloads are, in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from schedlab.analysis.fidelity_words import NAMES
from schedlab.cli.output import console, say

if TYPE_CHECKING:
    from schedlab.analysis.fidelity import Fidelity

STYLES = {"kept": "green", "changed": "yellow", "lost": "bold red"}


def print_fidelity(found: Fidelity) -> None:
    """The two workloads, the distances of their variables, and what is kept and lost in words."""
    one, other = found.workload.name, found.reference.name
    say(f"{one} against {other}\n", "bold")
    console().print(_sides(found))
    say("")
    console().print(_distances(found))
    say("")
    for verdict in found.verdicts():
        word = Text(f"{verdict.level:>8} ", STYLES[verdict.level])
        console().print(Text.assemble(word, (verdict.about, "cyan"), f": {verdict.text}"), soft_wrap=True)


def _sides(found: Fidelity) -> Table:
    table = _table("", found.workload.name, found.reference.name, "")
    for section, name, one, other, note in found.table():
        if section == "jobs":
            table.add_row(name, one, other, Text(note, "dim"))
    return table


def _distances(found: Fidelity) -> Table:
    """A row for each variable; mean, median and 95th percentile as `workload | reference`."""
    table = _table("", "KS", "Wasserstein", "mean", "median", "p95")
    both: dict[str, dict[str, str]] = {}
    for section, name, one, other, _ in found.table():
        both.setdefault(section, {})[name] = f"{one} | {other}"
    for key, variable in found.variables.items():
        texts = both[NAMES[key]]
        moved = next(row[4] for row in found.table() if row[0] == NAMES[key]).rpartition("Wasserstein ")[2]
        table.add_row(NAMES[key], f"{variable.ks:.4f}", moved, texts["mean"], texts["median"], texts["p95"])
    return table


def _table(*headings: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 2, 0, 0))
    for place, heading in enumerate(headings):
        table.add_column(
            Text(heading), justify="right" if place else "left", style="" if place else "cyan", no_wrap=not place
        )
    return table

"""How alike two workloads are, in the terminal."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from schedlab.analysis.fidelity_words import NAMES, headline
from schedlab.cli.output import console, say
from schedlab.cli.progress import Bar, watched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedlab.analysis.fidelity import Fidelity
    from schedlab.analysis.outcome import OutcomeComparison
    from schedlab.generate.base import Model
    from schedlab.model.cluster import Cluster
    from schedlab.model.workload import Workload

STYLES = {"kept": "green", "changed": "yellow", "lost": "bold red"}


def simulated(
    workload: Workload | Model, reference: Workload, machine: Cluster, policies: Sequence[str] | None, seeds: int
) -> list[OutcomeComparison]:
    """Both under each policy, with a progress bar; nothing for no seeds."""
    from schedlab.experiment.outcomes import POLICIES, compare_outcomes

    if not seeds:
        return []
    asked = list(policies or POLICIES)
    with Bar("simulating", len(asked) * (seeds + 1)) as bar:  # or more, where they do not tell
        tell = bar.show if watched(quiet=False) else lambda done, what: None
        return compare_outcomes(workload, reference, machine, asked, seeds=range(seeds), tell=tell)


def print_fidelity(found: Fidelity) -> None:
    """The two workloads, the distances of their variables, and what is kept and lost in words."""
    one, other = found.workload.name, found.reference.name
    say(f"{one} against {other}\n", "bold")
    for outcome in found.outcomes:
        console().print(_outcome(found, outcome.policy))
        say("")
    console().print(_sides(found))
    say("")
    console().print(_distances(found))
    say("")
    for verdict in found.verdicts():
        if verdict.about == "schedules":
            continue  # said first
        word = Text(f"{verdict.level:>8} ", STYLES[verdict.level])
        console().print(Text.assemble(word, (verdict.about, "cyan"), f": {verdict.text}"), soft_wrap=True)


def print_headline(found: Fidelity) -> None:
    """Whether schedules behave alike: the first line of all that is said."""
    styles = [STYLES[one.level] for one in found.verdicts() if one.about == "schedules"]
    for text, style in zip_longest(headline(found), styles, fillvalue="yellow"):
        console().print(Text(text, style), soft_wrap=True)


def _outcome(found: Fidelity, policy: str) -> Table:
    rows = [row for row in found.table() if row[0].startswith(f"schedules under {policy} on ")]
    table = _table(rows[0][0], found.workload.name, found.reference.name, "")
    for _, name, one, other, note in rows:
        table.add_row(name, one, other, Text(note, "dim"))
    return table


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

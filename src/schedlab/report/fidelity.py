"""How alike two workloads are, as one HTML page with its figure inside."""

from __future__ import annotations

import os
from html import escape
from itertools import groupby
from pathlib import Path

from schedlab.analysis.fidelity import Fidelity
from schedlab.analysis.fidelity_words import headline
from schedlab.model.version import VERSION
from schedlab.report.page import embedded, page, write_page


def write_fidelity(path: str | os.PathLike[str], found: Fidelity) -> None:
    """Write the page: verdicts, the figure, and all the numbers."""
    write_page(Path(path), fidelity_page(found))


def fidelity_page(found: Fidelity) -> str:
    from schedlab.plot.fidelity import plot_fidelity

    title = f"{found.workload.name} against {found.reference.name}"
    said = "\n".join(f"<p><strong>{escape(text)}</strong></p>" for text in headline(found))
    body = (
        f"{said}\n"
        f'<p class="about">How alike {found.workload.jobs:,} jobs are to {found.reference.jobs:,} of the reference. '
        f"schedlab {VERSION}.</p>\n"
        f"<h2>In words</h2>\n{_verdicts(found)}\n<h2>In pictures</h2>\n{embedded(plot_fidelity(found), name=title)}\n"
        f"<h2>In numbers</h2>\n{_notes()}\n{_numbers(found)}"
    )
    return page(title, body)


def _verdicts(found: Fidelity) -> str:
    rows = "\n".join(
        f'<tr><td class="{one.level}">{one.level}</td>'
        f'<td class="text">{escape(one.about)}</td><td class="text">{escape(one.text)}</td></tr>'
        for one in found.verdicts()
        if one.about != "schedules"
    )
    return f"<table><tbody>\n{rows}\n</tbody></table>"


def _notes() -> str:
    return (
        '<p class="about">KS: Kolmogorov–Smirnov distance, the largest difference of the cumulative shares. '
        "Wasserstein: by how much values would have to move on average. Correlations and autocorrelations are of "
        "ranks. Hours are UTC; where a log has no date, its first second counts as Monday midnight.</p>"
    )


def _numbers(found: Fidelity) -> str:
    names = (found.workload.name, found.reference.name)
    heads = "".join(f"<th>{escape(text)}</th>" for text in ("", *names))
    bodies = []
    for section, rows in groupby(found.table(), key=lambda row: row[0]):
        lines = "\n".join(
            f"<tr><td>{escape(name)}</td><td>{escape(one)}</td><td>{escape(other)}</td>"
            f'<td class="note">{escape(note)}</td></tr>'
            for _, name, one, other, note in rows
        )
        bodies.append(f'<tbody><tr><th colspan="4">{escape(section)}</th></tr>\n{lines}</tbody>')
    return f"<table><thead><tr>{heads}<th></th></tr></thead>\n" + "\n".join(bodies) + "</table>"

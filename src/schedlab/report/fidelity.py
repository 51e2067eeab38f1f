"""How alike two workloads are, as one HTML page with its figure inside."""

from __future__ import annotations

import os
from html import escape
from io import StringIO
from itertools import groupby
from pathlib import Path

from schedlab.analysis.fidelity import Fidelity
from schedlab.files.whole_file import whole_file
from schedlab.model.version import VERSION

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #202124; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: .2rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
p.about, td.note { color: #5f6368; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .15rem .9rem .15rem 0; white-space: nowrap; }
th:first-child, td:first-child, td.note, td.text, th.text { text-align: left; }
td.text { white-space: normal; }
thead th { border-bottom: 1px solid #9aa0a6; font-weight: 600; }
tbody th { padding-top: .8rem; text-align: left; }
.kept { color: #00734f; } .changed { color: #8a5a00; } .lost { color: #b3261e; font-weight: 600; }
svg { width: 100%; height: auto; }
"""


def write_fidelity(path: str | os.PathLike[str], found: Fidelity) -> None:
    """Write the page: verdicts, the figure, and all the numbers."""
    with whole_file(Path(path)) as file:
        file.write(fidelity_page(found).encode())


def fidelity_page(found: Fidelity) -> str:
    title = f"{found.workload.name} against {found.reference.name}"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>{STYLE}</style></head><body>\n'
        f"<h1>{escape(title)}</h1>\n"
        f'<p class="about">How alike {found.workload.jobs:,} jobs are to {found.reference.jobs:,} of the reference. '
        f"schedlab {VERSION}.</p>\n"
        f"<h2>In words</h2>\n{_verdicts(found)}\n<h2>In pictures</h2>\n{_figure(found)}\n"
        f"<h2>In numbers</h2>\n{_notes()}\n{_numbers(found)}\n</body></html>\n"
    )


def _verdicts(found: Fidelity) -> str:
    rows = "\n".join(
        f'<tr><td class="{one.level}">{one.level}</td>'
        f'<td class="text">{escape(one.about)}</td><td class="text">{escape(one.text)}</td></tr>'
        for one in found.verdicts()
    )
    return f"<table><tbody>\n{rows}\n</tbody></table>"


def _figure(found: Fidelity) -> str:
    """As SVG, without the lines in front that only a file of its own needs."""
    from matplotlib import rc_context

    from schedlab.plot.fidelity import plot_fidelity

    text = StringIO()
    with rc_context({"svg.hashsalt": "schedlab", "svg.fonttype": "none", "font.family": "sans-serif"}):
        plot_fidelity(found).savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]


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

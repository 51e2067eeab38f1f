"""How alike two workloads are, as one HTML page with its figure inside."""

from __future__ import annotations

import os
from itertools import groupby
from pathlib import Path

from schedlab.analysis.fidelity import Fidelity
from schedlab.analysis.fidelity_words import headline
from schedlab.model.version import VERSION
from schedlab.report.page import page, picture, write_page


def write_fidelity(path: str | os.PathLike[str], found: Fidelity) -> None:
    """Write the page: verdicts, the figure, and all the numbers."""
    from schedlab.plot.fidelity import plot_fidelity

    title = f"{found.workload.name} against {found.reference.name}"
    sections = [
        (section, [row[1:] for row in rows]) for section, rows in groupby(found.table(), key=lambda row: row[0])
    ]
    text = page(
        "fidelity.html",
        title=title,
        said=headline(found),
        jobs=f"{found.workload.jobs:,}",
        reference_jobs=f"{found.reference.jobs:,}",
        version=VERSION,
        verdicts=[one for one in found.verdicts() if one.about != "schedules"],
        picture=picture(plot_fidelity(found), name=title),
        names=(found.workload.name, found.reference.name),
        sections=sections,
    )
    write_page(Path(path), text)

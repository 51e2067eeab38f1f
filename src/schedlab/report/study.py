"""The report of a study: one HTML page with verdicts, numbers, figures, and all that is needed to run it again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from schedlab.experiment.results import Results
from schedlab.report import study_facts, study_groups, study_words
from schedlab.report.findings import Findings
from schedlab.report.page import page, write_page
from schedlab.report.study_figures import figures


def write_study_report(path: Path, results: Results) -> None:
    """Write the page. It loads nothing from elsewhere, and the same results give the same page."""
    write_page(path, study_page(results))


def study_page(results: Results) -> str:
    found = Findings(results)
    body = "\n".join(f"<h2>{title}</h2>\n{content}" for title, content in _sections(found) if content)
    return page(
        results.name,
        f"{study_words.summary(found)}\n{body}",
        style=study_groups.STYLE,
        script=study_groups.SCRIPT,
    )


def _sections(found: Findings) -> Iterator[tuple[str, str]]:
    yield "What it says", study_words.verdicts(found)
    yield "In numbers", study_groups.groups_table(found)
    yield "In pictures", figures(found)
    yield from study_facts.sections(found)

"""The report of a study: one HTML page with verdicts, numbers, figures, and all that is needed to run it again."""

from __future__ import annotations

from pathlib import Path

from schedlab.analysis.job_ends import MOST_SAID
from schedlab.experiment.deciders import differences
from schedlab.experiment.results import Results
from schedlab.report import study_facts, study_words
from schedlab.report.findings import Findings
from schedlab.report.page import page, write_page
from schedlab.report.study_figures import figures
from schedlab.report.study_groups import groups_table


def write_study_report(path: Path, results: Results) -> None:
    """Write the page. It loads nothing from elsewhere, and the same results give the same page."""
    write_page(path, study_page(results))


def study_page(results: Results) -> str:
    found = Findings(results)
    return page(
        "study.html",
        title=results.name,
        summary=study_words.summary(found),
        words=study_words.words(found),
        most_said=MOST_SAID,
        most_settings=study_words.MOST_SETTINGS,
        groups=groups_table(found),
        figures=figures(found),
        differences=differences(results),
        parameters=study_facts.parameters(found),
        failures=study_facts.failures(results),
        environment=study_facts.environment(results),
        seconds=study_facts.seconds(results),
        study_file=study_facts.study_file(results),
        versions=study_facts.versions(results),
        hashes=study_facts.hashes(results),
        folder=results.folder.name,
    )

"""What reading a log met, in short lines for people; `ReadReport` has the counts. Every command says it with these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

ODD = "a value that makes no sense, counts as unknown"  # behind the name of a field that no job needs
ABSENT = "dependencies: left out, on jobs that are not in the log"
RUN_AS_LIMIT = "limit: run time"  # in `ReadReport.filled`, whatever the format


def reading_notes(report: Mapping[str, Any]) -> list[str]:
    """What was left out, filled in or made simpler; of a report as run.json has it."""
    changed = report.get("filled", {}) | report.get("for_slurm", {})
    return [
        *(f"left out: {count:,} {what}" for what, count in report.get("dropped", {}).items()),
        *(f"noted: {what}" for what in noted(changed, report.get("kept", 0))),
    ]


def run_notes(workload: Mapping[str, Any], machine: str, requests: str = "auto") -> list[str]:
    """The same of the workload of a run, with what has no place in one and what does not count on its machine."""
    report = workload.get("report", {})
    unkept = [f"not kept: {what} of {count:,} jobs" for what, count in report.get("unkept", {}).items()]
    return [*reading_notes(report), *unkept, *not_counted(workload.get("not_counted", {}), machine, requests)]


def notes_together(runs: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """The notes of several runs: what holds for all of them once, the rest with the name of the run."""
    common = set.intersection(*(set(notes) for _, notes in runs)) if runs else set()
    return list(dict.fromkeys(note if note in common else f"{name}: {note}" for name, notes in runs for note in notes))


def noted(filled: Mapping[str, int], jobs: int) -> list[str]:
    """One sentence for each thing that was filled in, in a workload of so many jobs."""
    return [_perfect(count, jobs) if what == RUN_AS_LIMIT else f"{count:,} {what}" for what, count in filled.items()]


def not_counted(left_out: Mapping[str, int], machine: str, requests: str = "auto") -> list[str]:
    """One sentence for each thing that jobs ask for and that does not count in a run on this machine."""
    why = "requests: cores" if requests == "cores" else f"{machine} has none"
    return [f"not counted: {name} ({why}), which {_jobs(jobs)} for" for name, jobs in left_out.items()]


def _jobs(count: int) -> str:
    return "1 job asks" if count == 1 else f"{count:,} jobs ask"


def _perfect(count: int, jobs: int) -> str:
    """Policies that plan with limits know the future of these jobs, which makes them look better than they are."""
    share = f"{100 * count / jobs:.3g} %" if jobs else "some"
    return (
        f"{RUN_AS_LIMIT} for {count:,} job{'s' * (count != 1)} without a requested time: {share} of the jobs get "
        "perfect estimates; "
        "--missing-limit TIME gives them a limit"
    )

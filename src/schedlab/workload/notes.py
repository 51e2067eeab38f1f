"""What reading a log met, in sentences for people; `ReadReport` has the counts."""

from __future__ import annotations

from collections.abc import Mapping

ODD = "a value that makes no sense, counts as unknown"  # behind the name of a field that no job needs
RUN_AS_LIMIT = "limit: run time"  # in `ReadReport.filled`, whatever the format


def noted(filled: Mapping[str, int], jobs: int) -> list[str]:
    """One sentence for each thing that was filled in, in a workload of so many jobs."""
    return [_perfect(count, jobs) if what == RUN_AS_LIMIT else f"{count:,} {what}" for what, count in filled.items()]


def not_counted(left_out: Mapping[str, int], machine: str, requests: str = "auto") -> list[str]:
    """One sentence for each thing that jobs ask for and that does not count in a run on this machine."""
    why = "requests: cores" if requests == "cores" else f"{machine} has none"
    return [f"not counted: {name} ({why}), which {jobs:,} jobs ask for" for name, jobs in left_out.items()]


def _perfect(count: int, jobs: int) -> str:
    """Policies that plan with limits know the future of these jobs, which makes them look better than they are."""
    share = f"{100 * count / jobs:.3g} %" if jobs else "some"
    return (
        f"{RUN_AS_LIMIT} for {count:,} jobs without a requested time: {share} of the jobs get perfect estimates; "
        "--missing-limit TIME gives them a limit"
    )

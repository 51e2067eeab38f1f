"""What those who decided the runs of a study say of themselves: `decider` in their results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from schedlab.workload.notes import notes_together

if TYPE_CHECKING:
    from schedlab.experiment.results import Results


def changes(results: Results) -> list[str]:
    """`changed: PartitionName=cpu:MaxTime=4:00:00`, for each group whose settings were changed and are not its name."""
    told = (
        f"{group}: {', '.join(edits)}"
        for group, facts in _facts(results)
        if (edits := facts.get("set")) and not all(edit in group for edit in edits)
    )
    return list(dict.fromkeys(told))


def differences(results: Results) -> list[str]:
    """What was not as at the site and can have changed the results."""
    return notes_together([(group, facts.get("differences", ())) for group, facts in _facts(results)])


def _facts(results: Results) -> Iterator[tuple[str, dict[str, Any]]]:
    """Of each run whose decider says something, with the name of its group."""
    for result in results.results:
        if facts := result.get("decider"):
            yield results.group_of(result["point"]), facts

"""A comparison of schedules in words: the first thing to know about a model of a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedlab.workload.describe_table import duration

if TYPE_CHECKING:
    from schedlab.analysis.outcome import Numbers, OutcomeComparison

_TROUBLES = {
    "behind": "it does not keep up with the jobs: waits grow with the length of the log, and their mean is no property "
    "of a workload",
    "starving": "a few jobs starve (up to {longest}): the mean rests on them, and on the length of the log",
    "few": "half of all waiting is that of one job in a thousand: the mean rests on a few jobs",
}


def sentence(found: OutcomeComparison) -> str:
    """Whether schedules behave alike, and the numbers that say so."""
    numbers = _numbers(found)
    if found.answer == "alike":
        return f"Schedules behave alike under {found.policy}: {numbers}."
    if found.answer == "different":
        return f"Schedules do NOT behave alike under {found.policy}: {numbers}."
    if found.trouble:
        longest = max(run.longest_wait for run in (found.reference, *found.runs))
        why = _TROUBLES[found.trouble].format(longest=duration(longest))
        return f"Whether schedules behave alike cannot be told under {found.policy}: {why}. Here, {numbers}."
    return (
        f"Whether schedules behave alike under {found.policy} cannot be told from {len(found.runs)} seeds, "
        f"more are needed: {numbers}."
    )


def _numbers(found: OutcomeComparison) -> str:
    use = f"utilisation {100 * found.utilisation:.1f} % against {100 * found.reference.utilisation:.1f} %"
    if found.nobody_waits:
        return f"hardly any job waits, less than a minute on average in both; {use}"
    waits = _times(found.wait_ratios, found.wait)
    slowdowns = _times(found.slowdown_ratios, found.bounded_slowdown)
    how = f"over {len(found.runs)} seeds" if found.seeds else "one schedule of each"
    return (
        f"jobs wait {waits} as long as those of {found.reference_name}, "
        f"bounded slowdown {slowdowns} as large, {use} ({how})"
    )


def _times(values: Numbers, mean: float) -> str:
    if not np.isfinite(values).all():
        return "infinitely many times"
    spread = f" (seeds from {values.min():.2f} to {values.max():.2f})" if len(values) > 1 else ""
    return f"{mean:.2f} times{spread}"


def rows(found: OutcomeComparison) -> list[tuple[str, str, str, str, str]]:
    """Section, name, workload, reference, difference."""
    section = f"schedules under {found.policy} on {found.machine}"
    runs = found.runs
    wait = sum(run.wait for run in runs) / len(runs)
    slowdown = sum(run.bounded_slowdown for run in runs) / len(runs)
    rejected = sum(run.rejected for run in runs) / len(runs)
    rows = [
        (section, "mean wait", duration(wait), duration(found.reference.wait), _times(found.wait_ratios, found.wait)),
        (
            section,
            "mean bounded slowdown",
            f"{slowdown:.2f}",
            f"{found.reference.bounded_slowdown:.2f}",
            _times(found.slowdown_ratios, found.bounded_slowdown),
        ),
        (
            section,
            "utilisation",
            f"{100 * found.utilisation:.1f} %",
            f"{100 * found.reference.utilisation:.1f} %",
            f"{100 * (found.utilisation - found.reference.utilisation):+.1f} points",
        ),
    ]
    if rejected or found.reference.rejected:
        rows.append((section, "jobs not started", f"{rejected:,.0f}", f"{found.reference.rejected:,}", ""))
    return rows

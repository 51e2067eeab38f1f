"""Who did not simply run to the end: how many jobs were refused, killed, put back …, by reason, and who has more."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from schedlab.model.states import BY_POLICY, KILLED_BECAUSE, NEVER_SATISFIED, NEVER_STARTED

MOST_SAID = 12  # differences, or verdicts, that are said at once; who asks gets the others
_STATES = {
    "cancelled": "cancelled",
    "held": "held for ever",
    "waiting": NEVER_STARTED,
    "running": "still running at the end",
    "suspended": "still suspended at the end",
}

_DIGITS = 9  # of a sum of means: fewer jobs than this are none

Ends = Mapping[str, Mapping[str, float]]  # what became of jobs -> why (empty if there is nothing to say) -> how many


def job_ends(summary: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Of one run. Requeued jobs are counted as often as they were."""
    found: dict[str, dict[str, float]] = {}

    def count(kind: str, why: str, number: float) -> None:
        if number:
            own = found.setdefault(kind, {})
            own[why] = own.get(why, 0) + number

    states, reasons = summary.get("states", {}), summary.get("reasons", {})
    refused = list(_refused(summary))
    for words, number in refused:
        count(*end_of(words), number)
    count("refused", "", states.get("rejected", 0) - sum(number for _, number in refused))
    killed = {word: reasons.get(word, 0) for word in KILLED_BECAUSE}
    for word, number in killed.items():
        count("killed", word, number)
    count("killed", "", states.get("killed", 0) - sum(killed.values()))
    for word, number in summary.get("requeues", {}).items():
        count("requeued", word, number)
    dismissed = reasons.get(NEVER_SATISFIED, 0)
    count(_STATES["cancelled"], NEVER_SATISFIED, dismissed)
    for state, kind in _STATES.items():
        count(kind, "", states.get(state, 0) - (dismissed if state == "cancelled" else 0))
    return found


def end_of(words: str) -> tuple[str, str]:
    """What became of a rejected job, and why. A scheduler elsewhere says so of jobs that it gives up in the end."""
    before = f"{NEVER_STARTED}: "
    return (NEVER_STARTED, words.removeprefix(before)) if words.startswith(before) else ("refused", words)


def _refused(summary: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    if "rejections" in summary:
        for each in summary["rejections"]:
            plain = ", ".join(filter(None, (each["reason"], each["resource"])))
            yield each.get("words") or plain, each["jobs"]
        return
    for word, number in summary.get("reasons", {}).items():
        if word not in (*KILLED_BECAUSE, NEVER_SATISFIED):
            yield word, number


def mean_ends(runs: Sequence[Ends]) -> dict[str, dict[str, float]]:
    """Of several runs, a run."""
    found: dict[str, dict[str, float]] = {}
    for run in runs:
        for kind, reasons in run.items():
            own = found.setdefault(kind, {})
            for why, number in reasons.items():
                own[why] = own.get(why, 0) + number
    return {kind: {why: number / len(runs) for why, number in reasons.items()} for kind, reasons in found.items()}


def columns_of_ends(runs: Sequence[Ends]) -> dict[str, list[float]]:
    """What did not become of equally many jobs in all runs: `killed: time limit` -> of how many in each run.

    Refused jobs are not told apart: who refuses them may have long words for it.
    """
    counted = [_flat(run) for run in runs]
    names = dict.fromkeys(name for run in counted for name in run)
    found = {name: [run.get(name, 0) for run in counted] for name in names}
    return {name: numbers for name, numbers in found.items() if len(set(numbers)) > 1}


def _flat(run: Ends) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for kind, reasons in run.items():
        for why, number in reasons.items():
            name = f"{kind}: {why}" if why and kind in ("killed", "requeued") else kind
            found.setdefault(name, []).append(number)
    return {name: _sum(numbers) for name, numbers in found.items()}


def _sum(means: Iterable[float]) -> float:
    """What adding means leaves in the last digits is no difference."""
    return round(sum(means), _DIGITS)


@dataclass(frozen=True, slots=True)
class EndDifference:
    """A kind of end that one run, or the mean of some, has more often than another, or for other reasons."""

    kind: str
    one: float
    other: float
    reasons: tuple[tuple[str, float, float], ...]  # those in which they differ

    def sentence(self, group: str, baseline: str, jobs: float) -> str:
        """`105 more jobs are refused under new than under old (107 against 2 of 312): Requested time limit …`."""
        digits = max(decimals(pair) for pair in ((self.one, self.other), *(numbers for _, *numbers in self.reasons)))
        more = shown(abs(self.one - self.other), digits)
        counts = f"{shown(self.one, digits)} against {shown(self.other, digits)}"
        average = ", on average" if "." in counts else ""
        if self.kind == "requeued":  # a job may be so more than once
            what = "requeue" if more == "1" else "requeues"
        else:
            what = f"job is {self.kind}" if more == "1" else f"jobs are {self.kind}"
            counts += f" of {shown(jobs)}"
        if self.one == self.other:
            said = f"as many {what} under {group} as under {baseline}, not for the same reasons"
        else:
            said = f"{more} {'more' if self.one > self.other else 'fewer'} {what} under {group} than under {baseline}"
        return f"{said} ({counts}{average}){self._why(digits)}"

    def _why(self, digits: int) -> str:
        named = [(why, one, other) for why, one, other in self.reasons if why and why != BY_POLICY]
        if not named:
            return ""
        if len(self.reasons) == 1:
            return f": {named[0][0]}"
        told = (f"{why}: {shown(one, digits)} against {shown(other, digits)}" for why, one, other in named)
        return ": " + "; ".join(told)


def end_differences(one: Ends, other: Ends) -> list[EndDifference]:
    """Kinds of ends in which two runs, or means of runs, differ; most jobs first."""
    found = []
    for kind in dict.fromkeys((*one, *other)):
        mine, theirs = one.get(kind, {}), other.get(kind, {})
        reasons = {why: (mine.get(why, 0), theirs.get(why, 0)) for why in dict.fromkeys((*mine, *theirs))}
        differ = [(why, *numbers) for why, numbers in reasons.items() if numbers[0] != numbers[1]]
        if differ:
            differ.sort(key=lambda reason: -round(abs(reason[1] - reason[2]), _DIGITS))
            found.append(EndDifference(kind, _sum(mine.values()), _sum(theirs.values()), tuple(differ)))
    return sorted(found, key=lambda difference: (difference.kind != "refused", -abs(difference.one - difference.other)))


def ends_told(group: str, ends: Ends, baseline: str, other: Ends, jobs: float) -> list[str]:
    """What became of jobs under one that did not under the other, a sentence each."""
    return [difference.sentence(group, baseline, jobs) for difference in end_differences(ends, other)]


def decimals(numbers: Iterable[float]) -> int:
    """How many tell means apart that differ: 1, or more where they are closer than 0.1."""
    least = min((high - low for low, high in pairwise(sorted(set(numbers)))), default=1.0)
    return max(1, math.ceil(-math.log10(round(least, _DIGITS) or 1.0)))


def shown(value: float, digits: int = 1) -> str:
    """With decimals where it is a mean."""
    rounded = round(value, digits)
    return f"{rounded:,.0f}" if rounded == round(rounded) else f"{rounded:,.{digits}f}"

"""Who did not simply run to the end: how many jobs were refused, killed, put back …, by reason, and who has more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schedlab.model.states import BY_POLICY, KILLED_BECAUSE

NEVER = "never started"
_STATES = {
    "cancelled": "cancelled",
    "held": "held for ever",
    "waiting": NEVER,
    "running": "still running at the end",
    "suspended": "still suspended at the end",
}

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
    for state, kind in _STATES.items():
        count(kind, "", states.get(state, 0))
    return found


def end_of(words: str) -> tuple[str, str]:
    """What became of a rejected job, and why. A scheduler elsewhere says so of jobs that it gives up in the end."""
    never = words.startswith(f"{NEVER}: ")
    return (NEVER, words.removeprefix(f"{NEVER}: ")) if never else ("refused", words)


def _refused(summary: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    if "rejections" in summary:
        for each in summary["rejections"]:
            plain = ", ".join(filter(None, (each["reason"], each["resource"])))
            yield each.get("words") or plain, each["jobs"]
        return
    for word, number in summary.get("reasons", {}).items():
        if word not in KILLED_BECAUSE:
            yield word, number


def mean_ends(runs: Sequence[Ends]) -> dict[str, dict[str, float]]:
    """Of several runs, a run."""
    found: dict[str, dict[str, float]] = {}
    for run in runs:
        for kind, reasons in run.items():
            own = found.setdefault(kind, {})
            for why, number in reasons.items():
                own[why] = own.get(why, 0) + number / len(runs)
    return found


def columns_of_ends(runs: Sequence[Ends]) -> dict[str, list[float]]:
    """What did not become of equally many jobs in all runs: `killed: time limit` -> of how many in each run.

    Refused jobs are not told apart: who refuses them may have long words for it.
    """
    counted = [_flat(run) for run in runs]
    names = dict.fromkeys(name for run in counted for name in run)
    found = {name: [run.get(name, 0) for run in counted] for name in names}
    return {name: numbers for name, numbers in found.items() if len(set(numbers)) > 1}


def _flat(run: Ends) -> dict[str, float]:
    found: dict[str, float] = {}
    for kind, reasons in run.items():
        for why, number in reasons.items():
            name = f"{kind}: {why}" if why and kind in ("killed", "requeued") else kind
            found[name] = found.get(name, 0) + number
    return found


@dataclass(frozen=True, slots=True)
class EndDifference:
    """A kind of end that one run, or the mean of some, has more often than another, or for other reasons."""

    kind: str
    one: float
    other: float
    reasons: tuple[tuple[str, float, float], ...]  # those in which they differ

    def sentence(self, group: str, baseline: str, jobs: float) -> str:
        """`105 more jobs are refused under new than under old (107 against 2 of 312): Requested time limit …`."""
        more = shown(abs(self.one - self.other))
        counts = f"{shown(self.one)} against {shown(self.other)}"
        if self.kind == "requeued":  # a job may be so more than once
            what = "requeue" if more == "1" else "requeues"
        else:
            what = f"job is {self.kind}" if more == "1" else f"jobs are {self.kind}"
            counts += f" of {shown(jobs)}"
        if more == "0":
            said = f"as many {what} under {group} as under {baseline}, not for the same reasons"
        else:
            said = f"{more} {'more' if self.one > self.other else 'fewer'} {what} under {group} than under {baseline}"
        average = ", on average" if "." in more else ""
        return f"{said} ({counts}{average}){self._why()}"

    def _why(self) -> str:
        named = [(why, one, other) for why, one, other in self.reasons if why and why != BY_POLICY]
        if not named:
            return ""
        if len(self.reasons) == 1:
            return f": {named[0][0]}"
        return ": " + "; ".join(f"{why}: {shown(one)} against {shown(other)}" for why, one, other in named)


def end_differences(one: Ends, other: Ends) -> list[EndDifference]:
    """Kinds of ends in which two runs, or means of runs, differ; most jobs first."""
    found = []
    for kind in dict.fromkeys((*one, *other)):
        mine, theirs = one.get(kind, {}), other.get(kind, {})
        reasons = {why: (mine.get(why, 0), theirs.get(why, 0)) for why in dict.fromkeys((*mine, *theirs))}
        differ = [(why, *numbers) for why, numbers in reasons.items() if numbers[0] != numbers[1]]
        if differ:
            differ.sort(key=lambda reason: -abs(reason[1] - reason[2]))
            found.append(EndDifference(kind, sum(mine.values()), sum(theirs.values()), tuple(differ)))
    return sorted(found, key=lambda difference: (difference.kind != "refused", -abs(difference.one - difference.other)))


def ends_told(group: str, ends: Ends, baseline: str, other: Ends, jobs: float) -> list[str]:
    """What became of jobs under one that did not under the other, a sentence each."""
    return [difference.sentence(group, baseline, jobs) for difference in end_differences(ends, other)]


def shown(value: float) -> str:
    """With a decimal where it is a mean."""
    return f"{value:,.0f}" if abs(value - round(value)) < 0.05 else f"{value:,.1f}"

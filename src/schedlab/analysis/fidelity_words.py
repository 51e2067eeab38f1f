"""A comparison of workloads in words and rows of text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from schedlab.analysis import outcome_words
from schedlab.workload.describe_table import duration

if TYPE_CHECKING:
    from schedlab.analysis.fidelity import Fidelity, Pair, Side, Variable

Level = Literal["kept", "changed", "lost"]
Row = tuple[str, str, str, str, str]

NAMES = {
    "runtime": "run time",
    "limit": "limit",
    "accuracy": "accuracy (run time / limit)",
    "count": "size",
    "interarrival": "time between submissions",
    "area": "work (cores × run time)",
}
# Up to this Kolmogorov–Smirnov distance: a word and what it means for the reader.
DISTANCES: tuple[tuple[float, Level, str], ...] = (
    (0.01, "kept", "practically the same distribution"),
    (0.02, "kept", "very close"),
    (0.05, "changed", "close, with differences that can be seen"),
    (0.10, "changed", "clearly different"),
    (1.00, "lost", "another distribution"),
)
CORRELATION = 0.05  # difference up to which a correlation counts as kept
MEMORY = 0.1  # the same for autocorrelations
CYCLE = 0.1  # share of jobs that may come at other hours
LOAD = 0.05


@dataclass(frozen=True, slots=True)
class Verdict:
    """About one property: kept, changed or lost, and a sentence."""

    about: str
    level: Level
    text: str


NOT_SIMULATED = "Whether schedules behave alike is not known: nothing was simulated, and columns do not tell."
_ANSWERS: dict[str, Level] = {"alike": "kept", "unknown": "changed", "different": "lost"}


def headline(found: Fidelity) -> list[str]:
    """What to say first: whether schedules behave alike, a sentence for each policy."""
    return [outcome_words.sentence(one) for one in found.outcomes] or [NOT_SIMULATED]


def verdicts(found: Fidelity) -> list[Verdict]:
    return [
        *(Verdict("schedules", _ANSWERS[one.answer], outcome_words.sentence(one)) for one in found.outcomes),
        *(_distance(variable) for variable in found.variables.values()),
        *_correlations(found),
        *_memories(found),
        *_cycles(found),
        *_load(found),
    ]


def _distance(variable: Variable) -> Verdict:
    level, words = next((level, words) for most, level, words in DISTANCES if variable.ks <= most)
    return Verdict(NAMES[variable.name], level, f"KS {variable.ks:.3f}, {words}")


def _correlations(found: Fidelity) -> Iterator[Verdict]:
    for name, pair in found.correlations.items():
        yield _dependence(_couple(name), "correlation", pair, CORRELATION)


def _memories(found: Fidelity) -> Iterator[Verdict]:
    """By the first lag: whether a job is like the one before."""
    for name, lags in found.autocorrelations.items():
        yield _dependence(f"{NAMES[name]} with that of the job before", "correlation", lags[1], MEMORY)


def _couple(name: str) -> str:
    """`count–runtime` as people say it."""
    one, other = (NAMES[part].partition(" (")[0] for part in name.split("–"))
    return f"{one} with {other}"


def _dependence(about: str, what: str, pair: Pair, most: float) -> Verdict:
    have, want = pair
    if have is None or want is None:
        return Verdict(about, "changed" if have != want else "kept", f"{what} unknown: the values do not vary")
    have, want = round(have, 2) + 0.0, round(want, 2) + 0.0  # no minus before a zero
    numbers = f"{what} {have:.2f}, {want:.2f} in the reference"
    if abs(have - want) <= most:
        return Verdict(about, "kept", numbers)
    if abs(have) < abs(want) / 4 or have * want < 0:
        return Verdict(about, "lost", numbers)
    return Verdict(about, "changed", f"{numbers} ({'weaker' if abs(have) < abs(want) else 'stronger'})")


def _cycles(found: Fidelity) -> Iterator[Verdict]:
    for about, moved, what in (
        ("hours of the day", found.hours_moved, "at other hours"),
        ("days of the week", found.days_moved, "on other days"),
    ):
        level: Level = "kept" if moved <= CYCLE else "changed" if moved <= 2 * CYCLE else "lost"
        yield Verdict(about, level, f"{100 * moved:.1f} % of the jobs come {what}")


def _load(found: Fidelity) -> Iterator[Verdict]:
    have, want = found.workload.offered_load, found.reference.offered_load
    if have is None or want is None or not want:
        return
    off = have / want - 1
    level: Level = "kept" if abs(off) <= LOAD else "changed" if abs(off) <= 4 * LOAD else "lost"
    words = f"{abs(100 * off):.1f} % {'more' if off > 0 else 'less'} work a day than in the reference"
    yield Verdict("offered load", level, words)


def rows(found: Fidelity) -> list[Row]:
    """Section, name, workload, reference, difference."""
    outcomes = [row for one in found.outcomes for row in outcome_words.rows(one)]
    return [*outcomes, *_sides(found), *_values(found), *_dependences(found), *_shares(found)]


def _sides(found: Fidelity) -> Iterator[Row]:
    def row(name: str, text: str, other: str, difference: str = "") -> Row:
        return "jobs", name, text, other, difference

    one, other = found.workload, found.reference
    yield row("number", f"{one.jobs:,}", f"{other.jobs:,}")
    yield row("span", duration(one.span), duration(other.span))
    yield row("users", f"{one.users:,}", f"{other.users:,}")
    if one.users and other.users:
        yield row("jobs of a user", f"{one.jobs_per_user:,.0f}", f"{other.jobs_per_user:,.0f}", "median")
        yield row("busiest user", _percent(one.busiest_user), _percent(other.busiest_user), "of the jobs")
    yield row("offered load", _load_text(one), _load_text(other), f"of {found.processors:,} processors")


def _values(found: Fidelity) -> Iterator[Row]:
    for name, variable in found.variables.items():
        section = NAMES[name]
        distance = f"KS {variable.ks:.4f}, Wasserstein {_amount(variable.wasserstein, variable.unit)}"
        yield section, "mean", *_amounts(variable.mean, variable.unit), distance
        for quantile, pair in variable.quantiles.items():
            yield section, quantile, *_amounts(pair, variable.unit), ""


def _dependences(found: Fidelity) -> Iterator[Row]:
    for name, pair in found.correlations.items():
        yield "correlation of ranks", _couple(name), *_coefficients(pair)
    for name, lags in found.autocorrelations.items():
        for lag, pair in lags.items():
            yield f"autocorrelation of {NAMES[name]}", f"lag {lag}", *_coefficients(pair)


def _shares(found: Fidelity) -> Iterator[Row]:
    yield "cycle", "hours of the day", "", "", f"{_percent(found.hours_moved)} of the jobs at other hours"
    yield "cycle", "days of the week", "", "", f"{_percent(found.days_moved)} of the jobs on other days"


def _coefficients(pair: Pair) -> tuple[str, str, str]:
    one, other = pair
    difference = "" if one is None or other is None else f"{one - other:+.3f}"
    return _number(one), _number(other), difference


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _amounts(pair: Pair, unit: str) -> tuple[str, str]:
    return _amount(pair[0], unit), _amount(pair[1], unit)


def _amount(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    if unit == "s":
        return duration(value)
    if unit == "core-s":
        return f"{value / 3600:,.3g} core-h" if value < 3_600_000 else f"{value / 3600:,.0f} core-h"
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def _load_text(side: Side) -> str:
    return "-" if side.offered_load is None else f"{side.offered_load:.3f}"

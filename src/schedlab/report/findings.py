"""What the parts of a study's report have in common: groups, which of them are best, which are drawn."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from schedlab.analysis.compare import best
from schedlab.analysis.job_ends import columns_of_ends
from schedlab.analysis.verdict import metric_better
from schedlab.experiment.results import Context, Results
from schedlab.experiment.study import Point
from schedlab.report.scale import Scale

MOST_DRAWN = 12  # groups in a figure, besides the baseline


@dataclass(frozen=True, slots=True)
class Drawn:
    """The groups that figures show, under the names they have there."""

    labels: dict[str, str]
    note: str  # which they are, if not all


class Findings:
    """The finished runs of a study, seen from its report."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self.metrics = results.metrics
        self.contexts = results.contexts()

    @property
    def first(self) -> str:
        """The metric that decides which group is best."""
        return self.metrics[0]

    @cached_property
    def points(self) -> dict[str, Point]:
        """The parameters of every group that has a finished run, in the order of the plan."""
        return {self.results.group_of(result["point"]): result["point"] for result in self.results.results}

    @cached_property
    def merged(self) -> dict[tuple[str, str], dict[str, Any]]:
        """For each group and metric the mean over the repetitions, with its interval."""
        rows = self.results.groups(self.metrics).iter_rows(named=True)
        return {(row["group"], row["metric"]): row for row in rows}

    @cached_property
    def ends(self) -> dict[str, dict[str, float]]:
        """What did not become of equally many jobs in all groups: `killed: time limit` -> group -> how many a run."""
        groups = self.results.ends
        return {
            name: dict(zip(groups, numbers, strict=True))
            for name, numbers in columns_of_ends(list(groups.values())).items()
        }

    @cached_property
    def scales(self) -> dict[str, Scale]:
        return {
            metric: Scale.of(metric, [row["mean"] for (_, name), row in self.merged.items() if name == metric])
            for metric in self.metrics
        }

    def mean(self, group: str, metric: str) -> float | None:
        mean: float | None = self.merged[group, metric]["mean"]
        return mean

    def best(self, context: Context, metric: str) -> list[str]:
        """The groups of a context with the best mean; none if there is nothing to choose between, or jobs differ."""
        if not context.same_started:
            return []
        groups = list(context.labels)
        places = best([self.mean(group, metric) for group in groups], metric_better(metric))
        return [groups[place] for place in sorted(places)]

    @cached_property
    def winners(self) -> dict[str, set[str]]:
        """For each metric the groups that are best in their context; none where most of them are."""
        found: dict[str, set[str]] = {metric: set() for metric in self.metrics}
        for context in self.contexts:
            for metric, winners in found.items():
                groups = self.best(context, metric)
                if 2 * len(groups) <= len(context.labels):
                    winners |= set(groups)
        return found

    @cached_property
    def runs(self) -> Counter[str]:
        """How many are finished, of each group."""
        return Counter(self.results.table["group"].to_list())

    def ranked(self, context: Context) -> list[str]:
        """The groups of a context, best first by the first metric; as they come if that has no direction."""
        sign = {"lower": 1, "higher": -1, None: 0}[metric_better(self.first)]

        def key(group: str) -> tuple[bool, float]:
            mean = self.mean(group, self.first)
            return mean is None, sign * (mean or 0.0)

        return sorted(context.labels, key=key)

    @property
    def shown(self) -> Context:
        """The one whose jobs are drawn: the last, which usually is the hardest."""
        return self.contexts[-1]

    @property
    def where(self) -> str:
        """Its name; empty if there is one only."""
        if len(self.contexts) < 2:
            return self.shown.name
        return f"{self.shown.name} (the last of {len(self.contexts)} settings)"

    @cached_property
    def drawn(self) -> Drawn:
        """All groups if they are few; else those of the context that is shown."""
        if len(self.points) <= MOST_DRAWN + 1:
            return Drawn({group: group for group in self.points}, "")
        here = self.drawn_here
        return Drawn(here.labels, ": ".join(part for part in (self.where, here.note) if part))

    @cached_property
    def drawn_here(self) -> Drawn:
        """The groups of the context that is shown: the best of them and the baseline, if they are many."""
        context, note = self.shown, ""
        groups = list(context.labels)
        if len(groups) > MOST_DRAWN + 1:
            chosen = [*self.ranked(context)[:MOST_DRAWN], *filter(None, [context.baseline])]
            baseline = " and the baseline" if context.baseline else ""
            note = f"of {len(groups)} groups the {MOST_DRAWN} best in the first metric{baseline}"
            groups = list(dict.fromkeys(chosen))
        return Drawn({group: context.labels[group] for group in groups}, note)

    def parameter(self, name: str) -> list[Any]:
        """The values that a parameter takes in the plan."""
        return list(dict.fromkeys(run.point[name] for run in self.results.planned if name in run.point))

"""Which jobs the runs of a study started: a pair of runs is judged over those that both did."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyarrow import ArrowException

from schedlab.analysis.common_jobs import common_jobs, metrics_of_jobs, same_submissions
from schedlab.analysis.compare_groups import Shared
from schedlab.analysis.job_ends import Ends, job_ends, mean_ends
from schedlab.analysis.study import numbers
from schedlab.analysis.trim import Selection
from schedlab.model.errors import InputError
from schedlab.model.run import Run

if TYPE_CHECKING:
    import polars as pl


class StartedJobs:
    """Of the finished runs of a study. `run` opens one with its tables, if the study keeps them."""

    def __init__(
        self, results: Sequence[Mapping[str, Any]], run: Callable[[str], Run], counted: Selection | None
    ) -> None:
        self._results = {result["identity"]: result for result in results}
        self._run, self._counted = run, counted
        self._known: dict[tuple[str, str], Shared | None] = {}

    def alike(self, table: pl.DataFrame) -> bool:
        """Whether runs of the same repetition started the same jobs."""
        by_repetition: dict[tuple[Any, Any], set[Any]] = {}
        for run, *repetition in table.select("run", "repetition", "seed").iter_rows():
            by_repetition.setdefault(tuple(repetition), set()).add(self._missing(run))
        return all(len(missing) == 1 for missing in by_repetition.values())

    def ends(self, table: pl.DataFrame, group: str) -> tuple[Ends, float]:
        """What became of the jobs of a group's runs, and how many there were; means over the runs."""
        own = [self._results[run]["summary"] for run in table.filter(table["group"] == group)["run"]]
        return mean_ends([job_ends(summary) for summary in own]), sum(summary["jobs"] for summary in own) / len(own)

    def shared(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> Shared | None:
        """Of two rows of the study's table: None if both runs started the same jobs."""
        pair = one["run"], other["run"]
        if pair not in self._known:
            same = self._missing(pair[0]) == self._missing(pair[1])
            self._known[pair] = None if same else self._measured(*pair)
        return self._known[pair]

    def _missing(self, run: str) -> Any:
        """Which jobs it did not start; how many it did, where an older version has written the result."""
        result = self._results[run]
        return result.get("missing", result["summary"].get("started"))

    def _measured(self, one: str, other: str) -> Shared | None:
        """Over the jobs that both started; nothing where the tables are not there, or the jobs are not the same."""
        try:
            runs = [self._run(identity) for identity in (one, other)]
            jobs = common_jobs(runs, self._counted)
            if jobs is None:
                return None
            if not same_submissions(runs, jobs):
                return Shared()
            tau = runs[0].summary["tau"]
            own = [dict(numbers(metrics_of_jobs(run, jobs, tau, self._counted))) for run in runs]
        except (InputError, ArrowException, OSError):
            return Shared()
        return Shared(len(jobs), *own)

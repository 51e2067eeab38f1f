"""A finished simulation: what was asked, the summary, and the tables of jobs and of the machine over time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.request import Request
from schedlab.model.suggest import did_you_mean
from schedlab.model.tables import TABLES

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    from schedlab.model.story import Story


Where = Mapping[str, tuple[float, float]]  # of columns the least and the greatest value that are looked for
EVERYWHERE: Where = {}


class Tables(Protocol):
    """The tables of a run (`model.tables`), on disk or in memory, readable a column at a time to keep memory small."""

    def column(self, name: str, table: str = "jobs") -> NDArray[Any]:
        """One column, in the order of the file; a fresh array that the caller may overwrite.

        Unknown is NaN in times and -1 in numbers; words are positions among those of the column (`state` and `reason`
        of jobs: STATES and REASONS), and `backfilled` is NO, YES or UNSAID. Empty if the run has no such table.
        """
        ...

    def batches(self, names: Sequence[str], table: str, where: Where = EVERYWHERE) -> Iterator[dict[str, NDArray[Any]]]:
        """These columns of a table, piece by piece. Pieces that have no row of `where` may be left out."""
        ...

    def frame(self, table: str) -> pl.DataFrame:
        """The whole table, in words."""
        ...

    def of_job(self, table: str, sequence: int) -> pl.DataFrame:
        """The rows of one job, in words. Of a file only the parts are read in which they can be."""
        ...

    def arrow(self, table: str, columns: Sequence[str] | None = None, where: Where = EVERYWHERE) -> pa.Table | None:
        """The table as it is in files, or these columns of it; None if the run has no such table. The rows are those of
        `batches`."""
        ...

    def evidence(self, name: str) -> bytes: ...

    def save(self, config: dict[str, Any], path: Path, force: bool) -> None: ...


class Run:
    """One policy on one workload and one cluster, simulated."""

    def __init__(self, describe: Callable[[], dict[str, Any]], tables: Tables, path: Path | None = None) -> None:
        self._describe = describe
        self.tables = tables
        self._frames: dict[str, pl.DataFrame] = {}
        self.path = path  # its folder; None while it is in memory only

    @cached_property
    def config(self) -> dict[str, Any]:
        """The content of run.json. Made when first looked at: the summary of a run in memory takes time."""
        return self._describe()

    @property
    def policy(self) -> str:
        return str(self.config["policy"])

    @property
    def options(self) -> dict[str, Any]:
        """How it was simulated: estimate, overrun, passes, dependencies."""
        return dict(self.config["options"])

    @property
    def workload(self) -> dict[str, Any]:
        """Where the jobs came from: name, hash of the file, origin of time, what reading it met."""
        return dict(self.config["workload"])

    @property
    def summary(self) -> dict[str, Any]:
        """The metrics over the whole run (seconds, shares between 0 and 1)."""
        return dict(self.config["summary"])

    @cached_property
    def cluster(self) -> Cluster:
        return Cluster.from_dict(self.config["cluster"])

    @cached_property
    def requests(self) -> list[Request]:
        return [Request.from_dict(request) for request in self.config["requests"]]

    def table(self, name: str) -> pl.DataFrame:
        """One of its tables (docs/runs.md) by name: "jobs", "timeline", "pieces" …; empty where there was nothing to
        tell. Read once, and kept."""
        if name not in TABLES:
            hint = did_you_mean(name, TABLES, f"A run has {', '.join(TABLES)}.")
            raise InputError(f"a run has no table '{name}'", hint=hint)
        if name not in self._frames:
            self._frames[name] = self.tables.frame(name)
        return self._frames[name]

    @property
    def jobs(self) -> pl.DataFrame:
        """One row per job, in the order of the workload, with what observers said of it."""
        return self.table("jobs")

    @property
    def timeline(self) -> pl.DataFrame:
        """Jobs and cores, running and queued, from each moment at which they changed."""
        return self.table("timeline")

    @property
    def predecessors(self) -> pl.DataFrame:
        """Whom jobs had to wait for; empty where nobody had to, or dependencies were not followed."""
        return self.table("predecessors")

    @property
    def pieces(self) -> pl.DataFrame:
        """The stretches of jobs that did not simply run from start to end; empty where all did."""
        return self.table("pieces")

    @property
    def rates(self) -> pl.DataFrame:
        """When jobs began to work faster or slower, and who made them; empty where all worked at rate 1."""
        return self.table("rates")

    @property
    def nodes(self) -> pl.DataFrame:
        """When nodes failed, slept, came back; empty where all were there all the time."""
        return self.table("nodes")

    @property
    def places(self) -> pl.DataFrame:
        """What jobs had on nodes, and when: all jobs if that was asked for, else those that were granted amounts."""
        return self.table("places")

    @property
    def performance(self) -> pl.DataFrame:
        """What each decision cost: seconds, and the memory of the process; empty if it was not recorded."""
        return self.table("performance")

    @property
    def reasons(self) -> pl.DataFrame:
        """What waiting jobs waited for, and from when until when; empty if the run was not asked to say so."""
        return self.table("reasons")

    def why(self, job: int | str) -> Story:
        """The story of one job, by its id or name: what it waited for, who passed it, what held the cores.

        `print(run.why(17))` tells it. What it waited for is known if the run was simulated with `reasons=True`.
        """
        from schedlab.model.story import Story

        return Story(self, job)

    def evidence(self, name: str) -> bytes:
        """A file that the decider left behind, such as slurm/slurmctld.log."""
        return self.tables.evidence(name)

    @property
    def incomplete(self) -> str:
        """Why it ended before its time; empty if it did not."""
        return str(self.config.get("incomplete", ""))

    def save(self, path: str | Path, force: bool = False) -> Path:
        """Write the run as a folder (run.json and its tables); `force` replaces a run there."""
        target = Path(path)
        self.tables.save(self.config, target, force)
        return target

    def __repr__(self) -> str:
        summary = self.config["summary"]
        facts = [f"{summary['jobs']:,} jobs"]
        wait, utilisation = summary["wait"]["mean"], summary["utilisation"]
        if wait is not None:
            facts.append(f"mean wait {np.round(wait):,.0f} s")
        if utilisation is not None:
            facts.append(f"utilisation {utilisation:.1%}")
        place = f", in {self.path}" if self.path else ""
        return f"<Run {self.policy} on {self.config['cluster']['name']}: {', '.join(facts)}{place}>"

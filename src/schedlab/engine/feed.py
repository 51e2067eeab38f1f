"""The two ends of the core: the workload's batches in, and results joined with what the workload says of their jobs."""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab import _core
from schedlab.engine.build import Chosen, computed_ahead
from schedlab.engine.layout import Layout
from schedlab.engine.options import Detail, Options
from schedlab.engine.references import References
from schedlab.engine.requests import CountedRequests
from schedlab.model.attachments import as_columns
from schedlab.model.cluster import Cluster
from schedlab.model.eligible import eligible_groups
from schedlab.model.errors import DecisionError, InputError
from schedlab.model.predecessors import Predecessors
from schedlab.model.request import SINGLE_CORE, Request
from schedlab.model.states import REASONS
from schedlab.model.workload import JOB_COLUMNS, JobBatch, Workload

Applications = Callable[[JobBatch], NDArray[np.int32]]  # of each job, its place in the heatmap; -1 if it has none


class Feed:
    """Hands the workload's batches to the core, and new kinds of requests before the first job that uses them.

    With `keep` it remembers the batches, so that results need not repeat what they say.
    """

    def __init__(
        self,
        workload: Workload,
        cluster: Cluster,
        simulation: _core.Simulation,
        choice: Chosen,
        options: Options,
        *,
        detail: Detail,
        keep: bool,
        attachments: bool = False,
        layout: Layout | None = None,
        applications: Applications | None = None,
    ) -> None:
        self._workload, self._cluster = workload, cluster
        self.requests = CountedRequests(cluster, detail)
        # The core holds us while it runs: held back, neither would ever go.
        self._simulation: _core.Simulation | None = weakref.proxy(simulation)
        self._choice: Chosen | None = choice
        self._options = options
        self.written: dict[int, str] = {}  # ids as the log writes them, where they are not numbers
        self.named = False  # whether the log does
        self._kept: list[JobBatch] | None = [] if keep else None
        self._columns: dict[str, NDArray[Any]] = {}
        self._references: References | None = None
        self.unknown_predecessors = 0  # that jobs name and that have no say
        self._submitted = Submitted()
        self._attachments = attachments
        self._layout, self._applications = layout, applications

    def batches(self) -> Iterator[dict[str, Any]]:
        if self._options.follows:
            self._references = References.of(self._workload)
        for given in self._workload.batches():
            for request in self.requests.add(self._workload.requests[len(self.requests) :]):
                self._add(request)
            if not 0 <= given.request.min() <= given.request.max() < len(self.requests):
                found = f"from {given.request.min()} to {given.request.max()}"
                raise InputError(
                    f"the column request has numbers {found}, there are {len(self.requests)} requests",
                    where=self._workload.name,
                    hint="they are positions in the list of requests",
                )
            batch = self.requests.batch(given)
            if self._layout is not None:
                batch, new = self._layout.batch(batch, self.requests.all)
                for request in new:
                    self._add(request)
            if batch.names is not None:
                self.named = True
                self.written.update(zip(batch.id.tolist(), batch.names, strict=True))
            if self._kept is not None:
                self._kept.append(batch)
            columns = batch.columns() | self._keys(batch)
            if batch.shapes is not None:
                columns |= batch.shapes.columns()
            if self._attachments and batch.attachments is not None:
                columns |= as_columns(batch.attachments)
            if batch.ranks is not None:
                columns |= batch.ranks.columns()
            if self._applications is not None:
                columns["application"] = self._applications(batch)
            yield columns | self._before(batch)

    def _before(self, batch: JobBatch) -> dict[str, NDArray[Any]]:
        """Whom jobs have to wait for, where that is followed."""
        if self._references is None:
            return {}
        before, workflows = batch.predecessors, self._workload.workflows
        if before is not None and self._options.dependencies == "workflows":
            assert workflows is not None
            own = workflows.has(batch.id)
            before = before if own.all() else before.where(own[before.row])
        last = self._references.last(batch.id)
        return (before or Predecessors.none(len(batch))).columns() | {"last_referrer": last}

    # Jobs that are submitted during the run.

    def request_number(self, request: Request | None) -> int:
        """The number by which the core knows the request; None is one core."""
        if request is not None and not isinstance(request, Request):
            raise TypeError(f"a request is a schedlab.Request or the number of one, not {request!r:.60}")
        number, new = self.requests.number(request or SINGLE_CORE)
        if new is not None:
            self._add(new)
            assert self._simulation is not None
            self._simulation.note_request(json.dumps(new.to_dict()))
        return number

    def last_referrer(self, job: int) -> int:
        """The position of the last job of the log that waits for a job that is not of it; -1 if none does."""
        return -1 if self._references is None else self._references.last_of(job)

    def know_request(self, text: str) -> None:
        """One that the run knew at this point, before it was interrupted."""
        self.request_number(Request.from_dict(json.loads(text)))

    def know_name(self, job: int, name: str) -> None:
        self.written[job] = name

    def take_submitted(self, batch: dict[str, Any]) -> dict[str, Any]:
        """More of them have entered; with their names."""
        if self._kept is not None:
            self._submitted.add(batch)
            self._columns.clear()
        called = np.where(np.isinf(batch["called"]), np.nan, batch["called"])  # before anything happened
        return {"sequence": batch["sequence"], "id": batch["id"], "called": called, "name": self._names_of(batch["id"])}

    def _names_of(self, ids: NDArray[np.int64]) -> list[str | None]:
        """Of jobs that have entered; most have none."""
        if not self.written:
            return [None] * len(ids)
        look = self.written.get if self.named else self.written.pop  # nobody else will ask
        return [look(job, None) for job in ids.tolist()]

    def given_orders(self) -> dict[str, Any]:
        """The orders that `batches` has keys of: jobs that it does not know need them too."""
        assert self._choice is not None
        spec, choice = self._choice.spec, self._choice
        return {
            "given_order": choice.order if computed_ahead(spec.order, choice) else None,
            "given_scan": choice.scan if computed_ahead(spec.scan, choice) else None,
        }

    def _keys(self, batch: JobBatch) -> dict[str, NDArray[np.float64]]:
        """The places in the queue of these jobs, from orders in Python that need no more than their columns."""
        assert self._choice is not None
        spec = self._choice.spec
        wanted = (("order", spec.order, self._choice.order), ("scan", spec.scan, self._choice.scan))
        functions = {name: function for name, order, function in wanted if computed_ahead(order, self._choice)}
        if not functions:
            return {}
        jobs = BatchJobs(batch, self.requests.all, self._choice, self._options)
        return {name: _as_keys(function(jobs), len(batch)) for name, function in functions.items()}

    def forget(self) -> None:
        """The simulation is over: only results are joined from now on."""
        self._simulation = self._choice = None

    def complete(self, results: dict[str, Any]) -> Mapping[str, Any]:
        """The batch of results with all that is known of its jobs."""
        return _Joined(results, self)

    @property
    def kept_columns(self) -> list[str]:
        """What results are joined with: what the workload says of jobs, as far as it counts."""
        if self._kept is None:
            return []
        ignored = () if self._options.follows else ("after", "think")
        return [name for name in JOB_COLUMNS if name not in ignored]

    def column(self, name: str, sequence: NDArray[np.int64]) -> NDArray[Any]:
        """A column of the workload that was kept, of these jobs."""
        if self._kept is None or name not in self.kept_columns:
            raise KeyError(name)
        if name not in self._columns:
            parts = [getattr(batch, name) for batch in self._kept] or [np.empty(0, JOB_COLUMNS[name][0])]
            parts += self._submitted.column(name)
            self._columns[name] = parts[0] if len(parts) == 1 else np.concatenate(parts)
        if not self._submitted:
            return self._columns[name][sequence]
        return self._columns[name][self._submitted.rows(sequence, sum(map(len, self._kept)))]

    def names(self, ids: NDArray[np.int64]) -> list[str]:
        """The ids as written in the log, where they are not numbers."""
        if not self.named:
            raise KeyError("name")
        return [self.written.get(job) or str(job) for job in ids.tolist()]

    def _add(self, request: Request) -> None:
        names, groups, reason = self._cluster.resource_names, *eligible_groups(self._cluster, request)
        assert self._simulation is not None
        self._simulation.add_request(
            chunk=[request.chunk.get(name, 0) for name in names],
            per_node_min=request.per_node_min,
            per_node_max=request.per_node_max,
            exclusive=request.exclusive,
            spread=request.spread,
            groups=groups,
            reason=REASONS.index(reason),
        )


class BatchJobs:
    """Jobs that are yet to come, with the columns that an order may ask for."""

    def __init__(self, batch: JobBatch, requests: list[Request], choice: Chosen, options: Options) -> None:
        self._batch = batch
        self.id, self.submit, self.eligible, self.limit = batch.id, batch.submit, batch.submit, batch.limit
        self.count, self.request, self.user, self.group = batch.count, batch.request, batch.user, batch.group
        self.queue, self.partition = batch.queue, batch.partition
        self.cores = batch.count * np.array([request.chunk.get("cores", 0) for request in requests])[batch.request]
        if choice.estimate.kind == "exact":
            estimate = np.minimum(batch.runtime, batch.limit) if options.overrun == "kill" else batch.runtime
        else:
            estimate = choice.estimate.factor * batch.limit
        self.estimate = np.where(estimate > 0, estimate, 1.0)

    def __len__(self) -> int:
        return len(self._batch)


def _as_keys(answer: Any, jobs: int) -> NDArray[np.float64]:
    keys = np.ascontiguousarray(answer, np.float64)
    if keys.shape != (jobs,):
        raise DecisionError(f"an order has to return one key for each job, {jobs} in all, not {keys.shape}")
    return np.where(np.isnan(keys), np.inf, keys)


class Submitted:
    """What is known of jobs that are not of the workload, where results do not repeat it."""

    def __init__(self) -> None:
        self._batches: list[dict[str, Any]] = []
        self._sequences: NDArray[np.int64] = np.empty(0, np.int64)  # in order

    def __bool__(self) -> bool:
        return bool(self._batches)

    def add(self, batch: dict[str, Any]) -> None:
        self._batches.append(batch)
        self._sequences = np.concatenate([self._sequences, batch["sequence"]])

    def column(self, name: str) -> list[NDArray[Any]]:
        dtype, unknown = JOB_COLUMNS[name]
        return [np.asarray(batch.get(name, np.full(len(batch["id"]), unknown)), dtype) for batch in self._batches]

    def rows(self, sequence: NDArray[np.int64], log: int) -> NDArray[np.int64]:
        """Where jobs stand if the jobs of the log, so many, come first, then these, each in their order."""
        before = np.searchsorted(self._sequences, sequence)
        own = np.append(self._sequences, -1)[before] == sequence
        return np.where(own, log + before, sequence - before)


class _Joined(Mapping[str, Any]):
    """Results, and what the workload says of the same jobs, looked up when somebody asks."""

    def __init__(self, results: dict[str, Any], feed: Feed) -> None:
        self._results, self._feed = results, feed

    def __getitem__(self, column: str) -> Any:
        if column in self._results:
            return self._results[column]
        if column == "name":
            return self._feed.names(self["id"])
        return self._feed.column(column, self._results["sequence"])

    def __iter__(self) -> Iterator[str]:
        names = ("name",) if self._feed.named else ()
        return iter(dict.fromkeys((*self._results, *self._feed.kept_columns, *names)))

    def __len__(self) -> int:
        return len(list(iter(self)))

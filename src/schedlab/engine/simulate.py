"""Simulating one policy on one workload: from the nouns of the model to the native core and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from schedlab import _core
from schedlab.engine.build import Chosen, chosen, native_policy, new_simulation
from schedlab.engine.decider import Decider
from schedlab.engine.failure import explained_failure
from schedlab.engine.feed import Feed
from schedlab.engine.observer import Observers
from schedlab.engine.store import MemoryWriter, RunWriter
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError, InvariantError, SchedlabError
from schedlab.model.run import Run
from schedlab.model.suggest import did_you_mean
from schedlab.model.workload import Workload
from schedlab.policy.spec import PolicySpec

Overrun = Literal["kill", "run"]
Passes = Literal["instant", "event"]
Dependencies = Literal["ignore", "follow"]
Progress = Callable[[float, int], None]  # simulated time, jobs that have left
Watch = Callable[[_core.View], None]


@dataclass(frozen=True, slots=True)
class Options:
    """The rules of time (docs/semantics.md)."""

    estimate: str = "limit"
    overrun: Overrun = "kill"
    passes: Passes = "instant"
    dependencies: Dependencies = "ignore"

    def __post_init__(self) -> None:
        for name, allowed in (("overrun", Overrun), ("passes", Passes), ("dependencies", Dependencies)):
            value, choices = getattr(self, name), get_args(allowed)
            if value not in choices:
                hint = did_you_mean(str(value), choices, f"one of {', '.join(choices)}")
                raise InputError(f"{name} cannot be {value!r}", hint=hint)


def simulate(
    workload: Workload,
    cluster: Cluster,
    policy: str | PolicySpec | Decider = "easy",
    *,
    estimate: str | object = "limit",
    overrun: Overrun = "kill",
    passes: Passes = "instant",
    dependencies: Dependencies = "ignore",
    observers: Sequence[Any] = (),
    validate: bool = False,
    out: str | Path | None = None,
    force: bool = False,
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> Run:
    """Replay `workload` on `cluster` under `policy`: its text (`easy:order=sjf`), or an object that decides.

    `estimate` is a text too, or an object with `estimate(job)`. With `out` the run streams into that folder and memory
    stays small; without, it is kept in memory. `validate` checks the engine's invariants at every step (slow).
    `progress` is called a few times a second, and so is `watch`, with the view (to look at, not to decide). If a
    policy or an observer in Python fails, the error says where, and what had been simulated until then is its `run`
    (and in `out`), marked as incomplete.
    """
    choice = chosen(policy, estimate)
    options = Options(choice.estimate_text, overrun, passes, dependencies)
    simulation = Simulated(workload, cluster, choice, options, observers, validate, out, force, progress, watch)
    return simulation.run()


class Simulated:
    """A simulation that is ready to run, in one go or step by step."""

    def __init__(
        self,
        workload: Workload,
        cluster: Cluster,
        choice: Chosen,
        options: Options,
        observers: Sequence[Any] = (),
        validate: bool = False,
        out: str | Path | None = None,
        force: bool = False,
        progress: Progress | None = None,
        watch: Watch | None = None,
    ) -> None:
        self._workload, self._cluster, self._choice, self._options = workload, cluster, choice, options
        self._observers = Observers((*choice.observers, *observers))
        self._out = out
        follow = options.dependencies == "follow"
        keep = out is None and not workload.flexible
        calendar = self._observers.calendar(cluster)
        self.core = new_simulation(
            cluster, choice, options, calendar=calendar, validate=validate, repeat_workload=not keep
        )
        self._feed = Feed(workload, cluster, self.core, choice, options, keep=keep)
        self._writer = (
            MemoryWriter(cluster, dependencies=follow)
            if out is None
            else RunWriter(out, cluster, force=force, dependencies=follow)
        )
        observed = bool(self._observers)
        self.core.prepare(
            native=native_policy(choice.spec, choice, calendar=bool(calendar)),
            decide=None if choice.decider is None else choice.decider.decide,
            before=self._observers.before if observed else None,
            after=self._observers.after if observed else None,
            allows=self._observers.gate,
            batches=self._feed.batches(),
            write=self._write,
            progress=progress if watch is None else self._watched(progress, watch),
            watched=watch is not None,
        )

    def _watched(self, progress: Progress | None, watch: Watch) -> Progress:
        view = self.core.view

        def tell(now: float, ended: int) -> None:
            if progress is not None:
                progress(now, ended)
            watch(view)

        return tell

    def _write(self, table: str, batch: dict[str, Any]) -> None:
        if table == "jobs":
            self._writer.write_jobs(self._feed.complete(batch))
        else:
            getattr(self._writer, f"write_{table}")(batch)

    def run(self) -> Run:
        with self._writer:
            view = self.core.view
            try:
                self._observers.begin(view)
                seconds = self.core.run()
                return self._finished(view, seconds)
            except _core.InvariantError as error:
                raise InvariantError(str(error)) from error
            except (KeyboardInterrupt, InputError, OSError, MemoryError):
                raise
            except Exception as error:
                failure = explained_failure(error, self._choice.name, view, self.core, self._workload)
                if failure is None:
                    raise
                raise self._incomplete(failure, view) from error
            finally:
                self.core.forget()

    # Step by step: whoever holds it decides on `core.view` between the steps.

    def begin(self) -> None:
        self._observers.begin(self.core.view)

    def advance(self) -> bool:
        """Go on to the next pass; False when nothing will happen any more."""
        return self.core.advance()

    def end(self) -> Run:
        """The run; as far as it got, if it was not over."""
        view = self.core.view
        self.core.finish()
        try:
            return self._finished(view, 0.0)
        finally:
            self.core.forget()

    def _finished(self, view: _core.View, seconds: float, **more: Any) -> Run:
        observed = self._observers.finish(view)
        if (table := self._observers.per_job()) is not None:
            self._writer.write_observed(table)
        return self._writer.finish(
            {
                "policy": self._choice.name,
                "options": asdict(self._options),
                "workload": _described(self._workload),
                "requests": list(self._workload.requests),
                "timing": {"engine": seconds},
                "observed": observed,
                **more,
            }
        )

    def _incomplete(self, failure: SchedlabError, view: _core.View) -> SchedlabError:
        """Keeps what has been simulated so far; the error carries it."""
        self.core.finish()
        self._observers = Observers(())
        failure.run = self._finished(view, 0.0, incomplete=str(failure).partition("\n")[0])
        return failure


def _described(workload: Workload) -> dict[str, Any]:
    return {
        "name": workload.name,
        "sha256": workload.content_hash,
        "origin": workload.origin.isoformat() if workload.origin else None,
        "report": asdict(workload.report),
    }

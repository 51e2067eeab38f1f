"""Simulating one policy on one workload: from the nouns of the model to the native core and back."""

from __future__ import annotations

import hashlib
import json
import os
import weakref
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from schedlab import _core
from schedlab.engine.build import Chosen, native_policy, new_simulation, recall_all
from schedlab.engine.calendar import recorded
from schedlab.engine.checkpoint import Checkpoint
from schedlab.engine.decider import Decider, Event, Policy
from schedlab.engine.execution import Pairing, native_models, pairing, teach
from schedlab.engine.failure import explained_failure
from schedlab.engine.feed import Feed
from schedlab.engine.layout import Layout
from schedlab.engine.observer import Observer, Observers
from schedlab.engine.scenario import Scenario, fares_of
from schedlab.engine.writer import Writer, writer_for
from schedlab.model.arguments import check_arguments
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError, InvariantError, SchedlabError
from schedlab.model.hooks import defines, name_of
from schedlab.model.run import Run
from schedlab.model.workload import Workload
from schedlab.policy.spec import PolicySpec

Progress = Callable[[float, int], None]  # simulated time, jobs that have left
Watch = Callable[[_core.View], None]

FEW_JOBS = 1 << 19  # whose results are kept in memory in any case


def simulate(
    workload: Scenario | Workload | str | os.PathLike[str],
    cluster: Cluster | str | os.PathLike[str] | None = None,
    policy: str | PolicySpec | Decider | None = None,
    *,
    progress: Progress | None = None,
    watch: Watch | None = None,
    **options: Any,
) -> Run:
    """Replay `workload` on `cluster` under `policy`: objects, or texts: `simulate("log.swf.gz", "64x4", "easy")`.

    Or a `Scenario`, which is all of this in one. The options are its other fields: `estimate`, `overrun`, `passes`,
    `dependencies`, `beliefs`, `requests`, `observers`, `heatmap`, `repetition`, `validate`, `out`, `force`,
    `checkpoint`, `performance`, `places`, `reasons`, `until`, `reading`. With `out` the run streams into that folder
    and memory follows the jobs in the system; without, all of its tables are kept in memory, with the jobs' columns of
    the workload: 200 to 300 bytes a job. `progress` is called a few times a second, also in a slow
    pass; `watch`, with the view (to look at, not to decide), only at the ends of instants. If a policy or observer in
    Python fails, the error says where, and what had been simulated until then is its `run` (and in `out`), marked as
    incomplete. With a `checkpoint` the run can be interrupted at any time: the same call takes it up again.
    """
    check_arguments("Callable | None", progress=progress, watch=watch)
    scenario = Scenario.of(workload, cluster, policy, **options)
    return Simulation(scenario, progress=progress, watch=watch).run()


@dataclass(frozen=True, slots=True)
class Planned:
    """A waiting job, and the reservation that it has in its policy's plan."""

    job: _core.Job
    start: float | None = None  # None: it has none
    nodes: list[tuple[int, int]] = field(default_factory=list)  # (node, chunks); empty: which ones is not decided yet
    spare: int | None = None  # cores that nobody needs then, beside it; None: that is not a matter of counting


class Simulation:
    """A scenario that is ready to run, in one go or step by step."""

    def __init__(
        self,
        scenario: Scenario,
        *,
        progress: Progress | None = None,
        watch: Watch | None = None,
        within: Progress | None = None,  # in the middle of a slow pass, when nothing may be looked at
        writer: Writer | None = None,  # None: the folder that the scenario names, or memory
        brief: bool = False,  # nobody looks at more than the summary: that of many jobs needs no memory for them
    ) -> None:
        scenario = scenario.loaded()
        workload, cluster = scenario.inputs
        checkpoint, choice = scenario.checkpoint, scenario.choice()
        options = scenario.options(choice)
        if checkpoint is not None and not choice.policy.resumable:
            checkpoint.refuse(choice.name)
            checkpoint = None
        workload, cluster = choice.policy.adapt(workload, cluster)
        fraction = choice.spec.fraction
        layout = None if fraction is None else Layout(cluster, fraction)
        cluster = cluster if layout is None else layout.cluster
        self._workload, self._cluster, self._options = workload, cluster, options
        self._scenario = scenario
        self._checkpoint = checkpoint
        brought = [*(() if workload.brings is None else workload.brings()), *fares_of(workload)]
        self._observers = Observers((*choice.observers(), *scenario.make_observers(), *brought), _gates(choice.policy))
        self._saved = None if checkpoint is None else checkpoint.load(self._identity(choice))
        if self._saved is not None:
            decider, self._observers = self._saved.objects[:2]
            choice = replace(choice, decider=decider)
        self._choice = choice
        brief = brief and workload.report.kept > FEW_JOBS
        keep = scenario.out is None and writer is None and not workload.flexible and not brief
        self._calendar = calendar = self._observers.calendar(cluster, choice.policy, workload.labels.get("user", ()))
        self._budget = self._observers.budget(cluster, choice.policy)
        self._pairing = pairing(self._observers, workload, 1.0 if fraction is None else float(fraction))
        if self._pairing is None and (choice.spec.threshold or choice.spec.place.name == "best-pair"):
            hint = 'give one: --heatmap aris.json, or the observer interference("aris.json")'
            raise InputError("who sits with whom needs a heatmap", where=choice.name, hint=hint)
        models = native_models(self._observers, cluster)
        self.core = new_simulation(
            cluster,
            choice,
            options,
            calendar=calendar,
            budget=self._budget,
            validate=scenario.validate,
            repeat_workload=not keep,
        )
        weakref.finalize(self, self.core.forget)  # run or not: what it holds may point back to it, unseen by Python
        if self._pairing is not None:
            self.core.set_pairs(self._pairing.pairs)
        self._execution = teach(self.core, self._observers, models)
        self._feed = Feed(
            workload,
            cluster,
            self.core,
            choice,
            options,
            detail=scenario.requests,
            keep=keep,
            attachments=self.wants_attachments,
            layout=layout,
            applications=None if self._pairing is None else self._pairing.applications,
        )
        self._writer = writer_for(scenario, cluster, brief) if writer is None else writer
        self._watch, self._progress = watch, progress
        self._native: _core.NativePolicy | None = None  # who decides step by step, if it is built in
        self._over = False  # of one that is made step by step: whether nothing will happen any more
        observed = self._observers.watching
        self.core.prepare(
            native=native_policy(choice.spec, choice),
            decide=None if choice.decider is None else choice.decider.decide,
            recall=partial(recall_all, choice.policy),
            before=self._observers.before if observed else None,
            after=self._observers.after if observed else None,
            entered=self._observers.entered if observed and self._observers.follows_entries else None,
            woken=self._observers.woken if self._observers.wakers else None,
            wakers=self._observers.wakers,
            allows=self._observers.gate,
            batches=self._feed.batches(),
            write=_to(self._writer, self._feed),
            progress=progress if watch is None and checkpoint is None else _weakly(self._tick),
            watched=watch is not None,
            within=within or progress,
            more_may_come=_asks_for_more(weakref.proxy(self.core), self._observers, choice),
            request_number=self._feed.request_number,
            request_known=self._feed.know_request,
            name_known=self._feed.know_name,
            last_referrer=self._feed.last_referrer if options.follows else None,
            **self._feed.given_orders(),
        )
        if scenario.until is not None:
            self.core.stop_at(scenario.ends_at)
        if scenario.performance:
            self.core.measure()
        if scenario.places:
            self.core.keep_places()
        if scenario.reasons:
            self.core.give_reasons()
        if checkpoint is not None:
            self.core.keep_journal()
        if self._saved is not None:
            self.core.view.data.update(self._saved.objects[2])
            self.core.replay(self._saved.journal, self._saved.passes, self._saved.snapshot)

    @property
    def cluster(self) -> Cluster:
        """The machine, as the decider has it."""
        return self._cluster

    @property
    def wants_attachments(self) -> bool:
        """Whether somebody looks at what jobs carry along."""
        return self._observers.want_attachments or self._choice.policy.wants_attachments

    @property
    def in_python(self) -> bool:
        """Whether somebody else than the core decides."""
        return self._choice.decider is not None

    def _tick(self, now: float, ended: int) -> None:
        """A few times a second, at the end of an instant."""
        if self._progress is not None:
            self._progress(now, ended)
        if self._watch is not None:
            self._watch(self.core.view)
        if self._checkpoint is not None and self._checkpoint.due():
            self._save(self._checkpoint)

    def _save(self, checkpoint: Checkpoint) -> None:
        if self._saved is not None and self.core.passes <= self._saved.passes:
            return  # still doing what was done
        objects = (self._choice.decider, self._observers, dict(self.core.view.data))
        checkpoint.save(
            self._identity(self._choice),
            self.core.passes,
            self.core.take_journal(),
            self.core.snapshot(),
            objects,
        )

    def _identity(self, choice: Chosen) -> dict[str, Any]:
        """What determines the result: a checkpoint fits only the run that it is of."""
        return {
            "policy": [choice.name, choice.spec.text],
            "options": {**self._options.to_dict(), "requests": self._scenario.requests},
            "repetition": self._scenario.repetition,
            "reasons": self._scenario.reasons,
            "until": self._scenario.until,
            "cluster": hashlib.sha256(json.dumps(self._cluster.to_dict(), sort_keys=True).encode()).hexdigest(),
            "workload": [self._workload.name, self._workload.content_hash, self._workload.report.kept],
            "observers": [name_of(observer) for observer in self._observers],
            "named observers": [one for one in self._scenario.observers if isinstance(one, str)],
            "heatmap": self._scenario.heatmap_identity,
        }

    def run(self) -> Run:
        try:
            with self._writer:
                return self._run()
        finally:
            self._forget()

    def _run(self) -> Run:
        view = self.core.view
        try:
            if self._saved is None:
                if self._checkpoint is not None:
                    self._checkpoint.begin(self._identity(self._choice))
                self._begin()
            seconds = self.core.run()
            run = self._finished(view, seconds)
            if self._checkpoint is not None:
                self._checkpoint.completed()
            return run
        except _core.InvariantError as error:
            raise InvariantError(str(error)) from error
        except (InputError, MemoryError):
            raise
        except Exception as error:
            failure = self.explained(error)
            if failure is None:
                raise
            if failure is error:
                raise self._incomplete(failure, view)  # noqa: B904 - it is the same
            raise self._incomplete(failure, view) from error

    def explained(self, error: Exception) -> SchedlabError | None:
        """An error of whoever decides or observes, with line, time and job; None if it is nobody's but ours."""
        return explained_failure(error, self._choice, self.core.view, self.core, self._workload, self._feed.written)

    def _forget(self) -> None:
        """What is left of it is its results."""
        self._choice.policy.close()
        self.core.forget()
        self._feed.forget()

    def _begin(self) -> None:
        self._observers.begin(self.core.view)
        self._choice.policy.open(self.core.view, self.core.next_event)

    # Step by step: whoever holds it decides on `core.view` between the steps.

    def begin(self) -> None:
        try:
            self._writer.__enter__()
        except BaseException:
            self._forget()
            raise
        try:
            self._begin()
        except BaseException:
            self.leave()
            raise

    def decider(self) -> Callable[[_core.View, list[Event]], None]:
        """The policy by itself, to be asked from outside."""
        choice = self._choice
        if choice.decider is not None:
            return choice.decider.decide
        self._native = native = native_policy(choice.spec, choice)
        return lambda view, _events: native.decide(view)

    def plan(self) -> list[Planned]:
        """Who waits, in the order of a built-in policy that decides step by step, with its reservations."""
        if self._native is None:
            return [Planned(job) for job in self.core.view.queue]
        return [Planned(*each) for each in self._native.plan(self.core.view)]

    def advance(self) -> bool:
        """Go on to the next pass; False when nothing will happen any more."""
        self._over = not self.core.advance()
        return not self._over

    def end(self) -> Run:
        """The run; as far as it got, if it was not over."""
        view = self.core.view
        self.core.finish()
        early = {} if self._over else {"incomplete": f"it was ended at {view.now:.15g} s, before its time"}
        try:
            return self._finished(view, 0.0, **early)
        finally:
            self.leave()

    def leave(self) -> None:
        """Nothing more will be done: whoever decides elsewhere is stopped, what was not finished is removed."""
        self._forget()
        self._writer.__exit__(None, None, None)

    def _finished(self, view: _core.View, seconds: float, **more: Any) -> Run:
        observed, spec = self._observers.finish(view), self._choice.spec
        if (table := self._observers.per_job()) is not None:
            self._writer.write("observed", table)
        workflows = self._workload.workflows
        if workflows is not None and (came := workflows.come(self._scenario.ends_at)):
            self._writer.write("workflows", workflows.workflows(came))
            self._writer.write("tasks", workflows.tasks())
        policy = self._choice.policy
        for name, content in policy.evidence().items():
            self._writer.write_evidence(name, content)
        refusals, facts = policy.refusals(), policy.facts()
        return self._writer.finish(
            {
                "policy": self._choice.name,
                "placement": _placement(spec),
                "options": self._options.to_dict(),
                **({"decider": facts} if facts else {}),
                "workload": _described(self._workload, self._feed, self._pairing),
                "requests": self._feed.requests.all,
                **({"places": True} if self._scenario.places else {}),
                **({"own_amounts": True} if self._choice.policy.own_amounts else {}),
                **recorded(self._calendar, self._cluster),
                "timing": {"engine": seconds},
                "observed": observed,
                **({"refusals": refusals} if refusals else {}),
                **({"reasons": True} if self._scenario.reasons else {}),
                **({} if self._scenario.until is None else {"until": self._scenario.ends_at}),
                **({} if self._budget is None else {"budget": self._budget.to_dict()}),
                **({"execution": self._execution} if self._execution else {}),
                **more,
            }
        )

    def _incomplete(self, failure: SchedlabError, view: _core.View) -> SchedlabError:
        """Keeps what has been simulated so far; the error carries it."""
        self._checkpoint = None  # the last one stays: the run can be taken up again when the mistake is mended
        self.core.finish()
        self._observers = Observers(())
        failure.run = self._finished(view, 0.0, incomplete=str(failure).partition("\n")[0], failed=True)
        return failure


def _asks_for_more(core: _core.Simulation, observers: Observers, choice: Chosen) -> Callable[[], str]:
    """Nothing is left to happen: who says that more jobs may come; empty if nobody does."""

    def who() -> str:
        if found := observers.who_expects_more(core.view):
            return found
        return f"policy {choice.name}" if choice.policy.more_may_come(core.view) else ""

    return who


def _weakly(tick: Progress) -> Progress:
    """The method of an object that the core does not keep alive by it."""
    there = weakref.WeakMethod(tick)

    def call(now: float, ended: int) -> None:
        if (method := there()) is not None:
            method(now, ended)

    return call


def _gates(policy: Policy) -> list[Policy]:
    """The policy, if it has a word in who may start. (As an observer it would be asked anyway.)"""
    return [policy] if defines(policy, "allows", Policy) and not isinstance(policy, Observer) else []


def _to(writer: Writer, feed: Feed) -> Callable[[str, dict[str, Any]], None]:
    """Takes the core's results."""

    def write(table: str, batch: dict[str, Any]) -> None:
        if table == "jobs":
            writer.write(table, feed.complete(batch))
        elif table == "predecessors":
            feed.unknown_predecessors += int(np.count_nonzero(batch["known"] == 0))
            writer.write(table, batch)
        elif table == "submitted":
            writer.write(table, feed.take_submitted(batch))
        else:
            writer.write(table, batch)

    return write


def _described(workload: Workload, feed: Feed, pairing: Pairing | None) -> dict[str, Any]:
    not_counted, unknown = feed.requests.left_out, feed.unknown_predecessors
    return {
        "name": workload.name,
        "sha256": workload.content_hash,
        "origin": workload.origin.isoformat() if workload.origin else None,
        "report": workload.report.to_dict(),
        **({"not_counted": not_counted} if not_counted else {}),
        **({"unknown_predecessors": unknown} if unknown else {}),
        **({"flexible": True} if workload.flexible else {}),
        **({"labels": labels} if (labels := _labels(workload, pairing)) else {}),
        **({"phases": [asdict(phase) for phase in workload.phases]} if workload.phases else {}),
    }


def _placement(spec: PolicySpec) -> dict[str, Any]:
    return {
        "name": spec.place.name,
        "exclusive": spec.exclusive,
        **({"fraction": str(spec.fraction)} if spec.fraction is not None else {}),
        **({"threshold": spec.threshold} if spec.threshold else {}),
    }


def _labels(workload: Workload, pairing: Pairing | None) -> dict[str, list[str]]:
    """Names of the numbers in jobs.parquet. (Of programs there can be as many as jobs: they stay in the log.)"""
    found = {column: list(names) for column, names in workload.labels.items() if column != "executable"}
    return found if pairing is None else {**found, "application": pairing.names}

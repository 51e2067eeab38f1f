"""What is to be simulated, in one object: every door (Python, the command line, studies, steppers) goes through it."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, get_args

from schedlab.cluster.read import read_cluster
from schedlab.engine.adapt import as_observer
from schedlab.engine.build import Chosen, chosen
from schedlab.engine.decider import Decider
from schedlab.engine.observer import Observer
from schedlab.engine.options import Beliefs, Dependencies, Detail, Options, Overrun, Passes, refuse_other
from schedlab.files.bytestream import Progress as Reading
from schedlab.model.arguments import as_path, check_fields, check_names, shown
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.heatmap import Heatmap
from schedlab.model.plugin_text import split_outside
from schedlab.model.units import parse_duration
from schedlab.model.workload import Workload
from schedlab.policy.spec import PolicySpec
from schedlab.workload.read import read_workload
from schedlab.workload.swf.header import machine_size

if TYPE_CHECKING:
    from schedlab.engine.checkpoint import Checkpoint
    from schedlab.model.plugins import Plugin


@dataclass(frozen=True, slots=True)
class Scenario:
    """A workload on a machine under a policy, and by which rules.

    `workload` is a `Workload` or the path of a log, which is read with the options in `reading` (those of
    `read_workload`); `cluster` a `Cluster`, a text such as "64x4" or "pool:240", or a file; without one it is a pool as
    large as the log's header says. `policy` and `estimate` are texts, or objects that decide and estimate.
    `observers` are objects, classes or texts such as "failures(mtbf=2e6)". Whatever is given as a text or a class is
    made anew for each run; an object belongs to one. `heatmap`, a `Heatmap` or its file, says how fast jobs run beside
    one another: the observer `interference(heatmap)`, which has rules for what it does not say.
    """

    workload: Workload | str | os.PathLike[str]
    cluster: Cluster | str | os.PathLike[str] | None = None
    policy: str | PolicySpec | Decider = "easy"
    _: KW_ONLY
    estimate: str | object = "limit"
    overrun: Overrun | None = None  # None: as the policy says, else kill
    passes: Passes = "instant"
    dependencies: Dependencies = "ignore"
    beliefs: Beliefs = "limit"  # "rates": estimated ends of running jobs follow their rates
    requests: Detail = "auto"  # how much of what jobs ask for counts
    observers: Sequence[Any] = ()
    heatmap: Heatmap | str | os.PathLike[str] | None = None  # the observer interference(heatmap)
    repetition: int = 0  # told to a policy in which chance has a part
    validate: bool = False  # check the engine's invariants at every step (slow)
    out: str | os.PathLike[str] | None = None  # the folder of the run; None: it is kept in memory
    force: bool = False  # whether a run that is there may be replaced
    checkpoint: Checkpoint | None = None
    performance: bool = False  # record what each decision costs
    places: bool = False  # tell what each job had on each node; of those that were granted amounts it is told anyway
    reasons: bool = False  # record why jobs wait
    until: float | str | None = None  # what happens later does not: seconds, "8d", or "phases", the end of the last one
    reading: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""  # what the policy is called in results; empty: as it is written

    def __post_init__(self) -> None:
        check_fields(self)
        _refuse_other_objects(self.workload, self.cluster, self.out)
        refuse_other("requests", self.requests, get_args(Detail))
        refuse_other("overrun", self.overrun, (None, *get_args(Overrun)))
        if self.checkpoint is not None and not hasattr(self.checkpoint, "load"):
            raise InputError(f"checkpoint is {shown(self.checkpoint)}", hint="schedlab.engine.checkpoint.Checkpoint(…)")
        if self.performance and self.checkpoint is not None:  # decisions of before are done again, not made again
            hint = "leave out one of them"
            raise InputError("performance cannot be recorded in a run with checkpoints", hint=hint)
        if self.reading and isinstance(self.workload, Workload):
            hint = "give the path of the log, or read it with these options"
            raise InputError(f"{self.workload.name} has been read already: reading options have no meaning", hint=hint)

    @classmethod
    def of(
        cls,
        workload: Scenario | Workload | str | os.PathLike[str],
        cluster: Cluster | str | os.PathLike[str] | None = None,
        policy: str | PolicySpec | Decider | None = None,
        **options: Any,
    ) -> Scenario:
        """A scenario from what `simulate` takes: its fields, or a scenario and what is to be different."""
        check_names(options, [each.name for each in fields(cls)], "option")
        given = {"cluster": cluster, "policy": policy}
        options |= {name: value for name, value in given.items() if value is not None}
        return replace(workload, **options) if isinstance(workload, Scenario) else cls(workload, **options)

    def loaded(self, progress: Reading | None = None) -> Scenario:
        """The same with the workload and the machine themselves, read if they were named."""
        cluster = self.cluster
        if cluster is not None and not isinstance(cluster, Cluster):
            cluster = read_cluster(cluster)
        workload = self.workload
        if not isinstance(workload, Workload):
            options = {"in_memory": False, **self.reading, "progress": progress}
            if cluster is not None:
                machine = {"max_procs": cluster.cores, "hosts": 0 if cluster.network is None else cluster.nodes}
                workload = read_workload(workload, **{**machine, **options})
            else:
                workload = read_workload(path := workload, **options)
                cluster = cluster_of_header(workload)
                if options.get("clean") == "strict":  # which leaves out what is larger than the machine
                    workload = read_workload(path, **{"max_procs": cluster.cores, **options})
        return replace(self, workload=workload, cluster=cluster or cluster_of_header(workload), reading={})

    @property
    def inputs(self) -> tuple[Workload, Cluster]:
        """The workload and the machine of a scenario that is loaded."""
        assert isinstance(self.workload, Workload) and isinstance(self.cluster, Cluster), "call loaded() first"
        return self.workload, self.cluster

    def choice(self) -> Chosen:
        """The policy and the estimates, understood; objects in it belong to one run."""
        found = chosen(self.policy, self.estimate)
        if self.repetition:
            found.policy.repeat(self.repetition)
        return replace(found, name=self.name) if self.name else found

    def options(self, choice: Chosen) -> Options:
        """The rules of time. Who kills at limits is the policy's to say, if it does."""
        own = choice.policy.overrun
        if own is not None and self.overrun not in (None, own):
            said = f"overrun cannot be {self.overrun!r}: the policy says itself that it is {own!r}"
            raise InputError(said, where=choice.name, hint="leave overrun out")
        dependencies = self.dependencies
        if dependencies == "ignore" and isinstance(self.workload, Workload) and self.workload.workflows is not None:
            dependencies = "workflows"
        return Options(choice.estimate_text, own or self.overrun or "kill", self.passes, dependencies, self.beliefs)

    @property
    def ends_at(self) -> float:
        """Until when it is simulated, in seconds."""
        if self.until is None:
            return math.inf
        workload, _ = self.inputs
        if self.until == "phases" and workload.phases:
            return workload.phases[-1].end
        if self.until == "phases":
            raise InputError("until = phases: the workload has none", where=workload.name, hint="give a time: 8d")
        return parse_duration(self.until)

    @property
    def heatmap_identity(self) -> str | None:
        """Tells heatmaps apart: by the name of the file, or by content."""
        if self.heatmap is None or not isinstance(self.heatmap, Heatmap):
            return None if self.heatmap is None else os.fspath(self.heatmap)
        return hashlib.sha256(json.dumps(self.heatmap.to_dict()).encode()).hexdigest()

    def make_observers(self) -> list[Observer]:
        """The observers of one run, without those that the policy brings along."""
        found = [one for given in self.observers for one in _observers(given)]
        return found if self.heatmap is None else [*found, _interference(self.heatmap)]


def _refuse_other_objects(workload: object, cluster: object, out: object) -> None:
    if not isinstance(workload, Workload | str | os.PathLike):
        hint = "the name of a log, or Workload.of(submit=[0, 60], runtime=[300, 20], count=[4, 1])"
        if hasattr(workload, "columns"):
            hint = "a table's columns make one: Workload.of(submit=table['submit'], runtime=table['runtime'])"
        raise InputError(f"{shown(workload)} is not a workload", hint=hint)
    if out is not None and "\0" in str(as_path(out, "the folder of a run", "a new folder")):
        raise InputError(f"out is {shown(out)}", hint="no name of a folder has a character 0")
    if not isinstance(cluster, Cluster | str | os.PathLike | None):
        raise InputError(f"{shown(cluster)} is not a cluster", hint='"64x4", "pool:240", a file, or a Cluster')


def cluster_of_header(workload: Workload, *, or_largest_job: bool = False) -> Cluster:
    """A pool as large as the log's header says; if it does not, one that holds the largest job, or an error."""
    if found := machine_size(workload.header):
        return Cluster.of_cores(found[0])
    if or_largest_job:
        sizes = [int(workload.cores(batch).max()) for batch in workload.batches() if len(batch)]
        return Cluster.of_cores(max(sizes, default=1) or 1)
    raise InputError(
        "the header does not say how large the machine was (no MaxProcs)",
        where=workload.name,
        hint="say it: cluster 120x2 (120 nodes of 2 cores) or pool:240 (240 cores); on the command line with --cluster",
    )


def load_observers(texts: Iterable[str]) -> list[Plugin]:
    """The observers that texts name; several in one text have a plus sign between them, "none" is nobody."""
    named = [part for text in texts for part in split_observers(text)]
    if not named:
        return []
    from schedlab.model.plugins import load

    return [load("observer", part) for part in named]


def split_observers(text: str) -> list[str]:
    """`power(idle=60) + failures(mtbf=2e6)`: each of them. The plus sign has blanks on both sides, a path has none."""
    return [part.strip() for part in split_outside(text, " + ") if part.strip() not in ("", "none")]


def fares_of(workload: Workload) -> list[Observer]:
    """The execution model that a workload has of its own, if it has one."""
    if workload.fares is None:
        return []
    from schedlab.model.plugins import load

    name, arguments = workload.fares
    return [as_observer(replace(load("observer", name), arguments=dict(arguments)).make())]


def _interference(heatmap: Heatmap | str | os.PathLike[str]) -> Observer:
    """The execution model of that name, with its own rules."""
    from schedlab.model.plugins import load

    return as_observer(replace(load("observer", "interference('')"), arguments={"heatmap": heatmap}).make())


def _observers(given: Any) -> list[Observer]:
    if isinstance(given, str):
        return [as_observer(plugin.make()) for plugin in load_observers([given])]
    return [as_observer(given() if isinstance(given, type) else given)]

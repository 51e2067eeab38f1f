"""A job in Slurm's words: who submits it, the options of its sbatch, and what of it the engine accounts for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from math import inf
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from schedlab._core import Job
from schedlab.cluster.slurm.keys import RELEASE
from schedlab.files.slurm_values import gres_text, shown
from schedlab.model.cluster import Cluster, Partition
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.predecessors import Predecessors
from schedlab.model.request import Request
from schedlab.model.workload import JobBatch, Workload
from schedlab.slurm.wire.job import job_description
from schedlab.slurm.wire.job_options import OPTIONS
from schedlab.workload.notes import ABSENT
from schedlab.workload.slurm.dependency import dependency_texts
from schedlab.workload.slurm.order import time_limit

MIB = 1 << 20
NOBODY = "nobody-known"  # who submits a job of which the log does not say whose it is
# What the engine knows better than the options as written: transformed logs have other users, times and limits.
_NOT_AS_WRITTEN = frozenset(
    {
        *("uid", "account", "qos", "time", "job-name", "job-number", "jid", "begin", "array", "dependency"),
        *("sim-walltime", "cancel-in"),
    }
)
# Of workflows whose jobs queues should rank as one.
RANKED_ALONE = (
    "jobs of workflows that Slurm ranks one by one; PriorityFlags=ACCRUE_ALWAYS was set, so that they age from the "
    "beginning"
)
_NAMED = re.compile(r":(?:jobid_)?([0-9]+)")  # of a dependency


def accounted(workload: Workload, cluster: Cluster, noted: Mapping[str, int] = MappingProxyType({})) -> Workload:
    """The jobs as the engine accounts for them: what they ask for of what the machine has. `noted` is for the report.

    What they get, and whether they share nodes, is Slurm's business: `--exclusive=user` leaves nodes to others, too.
    """
    has = set(cluster.resource_names)
    requests = [
        replace(
            request,
            chunk={name: amount for name, amount in request.chunk.items() if name in has},
            partition=_partition(request),
            exclusive=False,
            sbatch=(),
        )
        for request in workload.requests
    ]
    named = ((job, options.get("partition", "")) for job, options in workload.asked.items())
    lists = {job: text for job, text in named if "," in text}
    places: dict[tuple[int, str], int] = {}  # of requests for a list of partitions

    def anywhere_of(job: int, request: int) -> int:
        if (key := (request, lists[job])) not in places:
            places[key] = len(requests)
            requests.append(replace(requests[request], partition=lists[job]))
        return places[key]

    def batches() -> Iterator[JobBatch]:
        for batch in workload.batches():
            request = batch.request
            if lists:
                asked = zip(batch.id.tolist(), request.tolist(), strict=True)
                request = np.array([anywhere_of(job, one) if job in lists else one for job, one in asked], np.int32)
            yield replace(batch, request=request, shapes=None, predecessors=_told_here(workload, batch))

    filled = dict(Counter(workload.report.filled) + Counter(noted))
    report = replace(workload.report, for_slurm={}, filled=filled)  # Slurm is told as written
    return replace(workload, source=batches, requests=requests, flexible=False, report=report)


def _told_here(workload: Workload, batch: JobBatch) -> Predecessors | None:
    """Whom jobs wait for, but for those of workflows: it is Slurm that they wait in."""
    before = batch.predecessors
    if before is None or workload.workflows is None:
        return before
    return before.where(~workload.workflows.has(batch.id)[before.row])


def _partition(request: Request) -> str | None:
    return dict(request.sbatch).get("partition", request.partition)


def with_lists(cluster: Cluster, workload: Workload) -> Cluster:
    """Every list of partitions that jobs name (`cpu,gpu`), as a partition of all their nodes."""
    asked = [options.get("partition", "") for options in workload.asked.values()]
    named = dict.fromkeys(text for text in [*map(_partition, workload.requests), *asked] if text and "," in text)
    own = {partition.name: partition.groups for partition in cluster.partitions}
    unions = {text: [group for name in text.split(",") for group in own.get(name, ())] for text in named}
    more = [Partition(text, tuple(dict.fromkeys(groups))) for text, groups in unions.items() if groups]
    return replace(cluster, partitions=(*cluster.partitions, *more))


@dataclass(slots=True)
class Names:
    """Who and what occurs in a workload: the accounts of each user in order of first use, and the QOS."""

    accounts: dict[str, list[str]] = field(default_factory=dict)
    qos: list[str] = field(default_factory=list)


class Speaker:
    """Says what jobs of a workload are called in Slurm."""

    def __init__(self, workload: Workload) -> None:
        self._workload = workload
        self._places = np.empty(0, np.int32)  # of the jobs' requests; those of the engine do not say all
        self._written: dict[int, str] = {}  # job id -> as the log writes it, where that is no number
        self.left_out: set[str] = set()  # options of sbatch that cannot be passed on
        self.noted: Counter[str] = Counter()  # jobs that Slurm is not told of as the log has them
        self._unspoken: dict[tuple[int, int], frozenset[str]] = {}  # of a request and CPUs: options that are left out
        self._waits: dict[int, str] = {}  # job id -> what it waits for, of jobs of workflows

    def names(self) -> Names:
        """One pass over the workload."""
        found = Names()
        self._check()
        places, counts, absent = [self._places], [np.empty(0, np.int64)], self._predecessors()
        for batch in self._workload.batches():
            places.append(batch.request)
            counts.append(np.maximum(self._workload.cores(batch), 1))
            self._meet_workflows(batch)
            for job in batch.id[np.isin(batch.id, list(absent))].tolist() if absent else ():
                del absent[job]
            self._written.update(zip(batch.id.tolist(), batch.names, strict=True) if batch.names else ())
            triples = np.unique(np.stack([batch.user, batch.group, batch.queue], axis=1), axis=0, return_index=True)
            for user, group, queue in triples[0][np.argsort(triples[1])].tolist():
                accounts = found.accounts.setdefault(self.user(user), [])
                if (account := self.account(group)) and account not in accounts:
                    accounts.append(account)
                if (qos := self._named("queue", queue)) and qos not in found.qos:
                    found.qos.append(qos)
        self._places = np.concatenate(places)
        self._check_requests(np.concatenate(counts))
        if absent:
            self.noted[ABSENT] = absent.total()
        return found

    def _meet_workflows(self, batch: JobBatch) -> None:
        workflows, before = self._workload.workflows, batch.predecessors
        if workflows is None:
            return
        if batch.ranks is not None:
            self.noted[RANKED_ALONE] += int(np.count_nonzero(batch.ranks.cores))
        if before is not None and (own := before.where(workflows.has(batch.id)[before.row])) is not None:
            texts = zip(batch.id.tolist(), dependency_texts(own), strict=True)
            self._waits.update((job, text) for job, text in texts if text)

    def _predecessors(self) -> Counter[int]:
        """How often jobs are waited for, but for those that are known by another number than their id."""
        texts = self._workload.dependencies.values()
        named = Counter(int(job) for text in texts for job in _NAMED.findall(text))
        for job, options in self._workload.asked.items():
            del named[int(options.get("job-number", job))]
        return named

    def _check(self) -> None:
        """What no sbatch would take is told before anything starts; options that are not spoken here are left out."""
        mistakes: list[InputError] = []
        seen: set[tuple[tuple[str, str], ...]] = set()
        for job, written in self._workload.asked.items():
            self.left_out.update(written.keys() - _NOT_AS_WRITTEN - OPTIONS)
            options = _spoken(written)
            if (key := tuple(sorted(options.items()))) not in seen:
                seen.add(key)
                where = f"{self._workload.name}, job {written.get('job-number', job)}"
                try:
                    job_description(options, uid=0, gid=0, where=where)
                except InputError as error:
                    mistakes.append(error)
        if mistakes:
            raise mistakes[0] if len(mistakes) == 1 else InputErrors(mistakes)

    def _check_requests(self, counts: NDArray[np.int64]) -> None:
        """What a log says and Slurm cannot be told is left out: nobody can mend a log. Jobs have so many CPUs."""
        own = np.array([bool(request.sbatch) for request in self._workload.requests], bool)[self._places]
        asked = Counter(zip(self._places[own].tolist(), counts[own].tolist(), strict=True))
        examples: dict[str, str] = {}
        jobs: Counter[str] = Counter()
        for (place, count), number in asked.items():
            request = self._workload.requests[place]
            if "hold" in dict(request.sbatch):
                self.noted["cancelled before they started: held until then"] += number
            if unspoken := _unspoken(request, count):
                self._unspoken[place, count] = unspoken
                jobs.update(dict.fromkeys(unspoken, number))
                examples = {name: value for name, value in request.sbatch if name in unspoken} | examples
        for name in sorted(jobs):
            what = f"option --{name}: not passed on as written, Slurm {RELEASE} does not take {shown(examples[name])}"
            self.noted[what] = jobs[name]

    def user(self, number: int) -> str:
        return self._named("user", number) or (f"user{number}" if number >= 0 else NOBODY)

    def account(self, number: int) -> str:
        return self._named("group", number) or (f"account{number}" if number >= 0 else "")

    def options(self, job: Job) -> dict[str, str]:
        """The options of its sbatch, but for times, identity, arrays and dependencies."""
        written = self._workload.asked.get(job.id)
        place = int(self._places[job.sequence])
        request = self._workload.requests[place]
        if written is None:
            cpus = max(job.cores, 1)
            options = options_of(_without(request, self._unspoken.get((place, cpus), frozenset())), cpus)
        else:
            options = _spoken(written)
        partition = request.partition or self._named("partition", job.partition)
        for name, value in (
            ("account", self.account(job.group)),
            ("qos", self._named("queue", job.queue)),
            ("partition", options.get("partition") or partition),
        ):
            if value:
                options[name] = value
        return options

    def limit(self, job: Job) -> float | None:
        """Seconds; None if its sbatch named none, so that the partition's counts."""
        written = self._workload.asked.get(job.id)
        return None if written is not None and "time" not in written else _limit(written or {}, job.limit)

    def number(self, job: Job) -> int:
        """By which others call it in their dependencies."""
        return int((self._workload.asked.get(job.id) or {}).get("job-number", job.id))

    def name(self, job: Job) -> str:
        return (self._workload.asked.get(job.id) or {}).get("job-name", "") or f"job{self.written(job.id)}"

    def array(self, job: Job) -> str:
        return (self._workload.asked.get(job.id) or {}).get("array", "")

    def dependency(self, job: Job) -> str:
        return self._workload.dependencies.get(job.id) or self._waits.get(job.id, "")

    def written(self, job: int) -> str:
        """What the log calls the job of that id."""
        return self._written.get(job, str(job))

    def written_together(self, job: Job, other: Job) -> bool:
        """Whether two jobs are tasks of one array."""
        return self._workload.asked.get(job.id) is self._workload.asked.get(other.id)

    def _named(self, column: str, number: int) -> str:
        names = self._workload.labels.get(column, [])
        return names[number] if 0 <= number < len(names) else ""


def _spoken(written: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in written.items() if name in OPTIONS and name not in _NOT_AS_WRITTEN}


def _unspoken(request: Request, cpus: int) -> frozenset[str]:
    """The options of its own that no sbatch would take, each by itself or beside those before it."""
    if _is_taken(request, cpus):
        return frozenset()
    left_out: set[str] = set()
    for place, (name, _) in enumerate(request.sbatch, 1):
        if not _is_taken(_without(replace(request, sbatch=request.sbatch[:place]), left_out), cpus):
            left_out.add(name)
    return frozenset(left_out)


def _is_taken(request: Request, cpus: int) -> bool:
    try:
        job_description(options_of(request, cpus), uid=0, gid=0)
    except InputError:
        return False
    return True


def _without(request: Request, names: AbstractSet[str]) -> Request:
    """The request without these options of its own."""
    return replace(request, sbatch=tuple(own for own in request.sbatch if own[0] not in names)) if names else request


def _limit(written: Mapping[str, str], limit: float) -> float:
    """Of a job that asked for one; none at all is infinite."""
    return inf if "time" in written and time_limit(written["time"]) is None else limit


def options_of(request: Request, cpus: int) -> dict[str, str]:
    """The options that ask for a request, for a job of so many CPUs; what it says in Slurm's words counts as said."""
    cores = max(request.chunk.get("cores", 1), 1)
    chunks = -(-cpus // cores)
    options = {"ntasks": str(chunks)}
    if cores > 1:
        options["cpus-per-task"] = str(cores)
    together = request.per_node_max
    if together:
        options["ntasks-per-node"] = str(min(together, chunks))
        options["nodes"] = str(-(-chunks // together))
    elif request.per_node_min > 1:
        options["nodes"] = f"1-{max(chunks // request.per_node_min, 1)}"
    options |= _resources(request.chunk, cores, min(together, chunks) or int(chunks == 1))
    if request.features:
        options["constraint"] = "&".join(sorted(request.features))
    if request.exclusive:
        options["exclusive"] = ""
    if "mem-per-cpu" in (own := dict(request.sbatch)):
        options.pop("mem", None)
    return options | own


def _resources(chunk: Mapping[str, int], cores: int, together: int) -> dict[str, str]:
    """Memory and GPUs: of a node where it is known how many tasks share one, else of a CPU and of a task."""
    options = {}
    if memory := chunk.get("memory", 0):
        amount = memory * together if together else -(-memory // cores)
        options["mem" if together else "mem-per-cpu"] = f"{-(-amount // MIB)}M"
    others = {name: n * max(together, 1) for name, n in chunk.items() if n and name not in ("cores", "memory")}
    gpus = {name: others.pop(name) for name in list(others) if name.partition(":")[0] in ("gpu", "gpus")}
    if gpus:
        kind = "gpus-per-node" if together else "gpus-per-task"
        options[kind] = ",".join(item.removeprefix("gpu:") for item in _generic(gpus).split(","))
    if others:
        options["gres"] = _generic(others)
    return options


def _generic(amounts: dict[str, int]) -> str:
    return gres_text(amounts) or ",".join(f"{name}:{amount}" for name, amount in amounts.items())

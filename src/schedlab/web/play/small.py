"""A small scenario: a few jobs, a machine, a policy; of a lesson, or typed into a form. All its mistakes at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schedlab.engine.options import Overrun
from schedlab.engine.scenario import Scenario
from schedlab.generate.triggers.inject import AtTimes, inject
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.heatmap import Heatmap
from schedlab.model.mistakes import printable
from schedlab.model.suggest import did_you_mean
from schedlab.model.units import parse_duration
from schedlab.model.workflow import Task, Workflow
from schedlab.model.workload import Workload
from schedlab.policy.backfills import BACKFILLS
from schedlab.policy.orders import ORDERS
from schedlab.policy.spec import parse_policy
from schedlab.workflow.handling import handled

MOST_JOBS, MOST_NODES, MOST_CORES, MOST_POLICIES = 60, 64, 256, 3
LONGEST = 1e8  # seconds
ESTIMATES = ("limit", "exact")
OVERRUNS = ("kill", "run")
_MACHINE = re.compile(r"(?:pool:)?(\d{1,9})|(\d{1,9})x(\d{1,9})")
_JOB_FIELDS = ("submit", "cores", "runtime", "estimate", "user", "application")


@dataclass(frozen=True, slots=True)
class SmallJob:
    submit: float
    cores: int
    runtime: float
    estimate: float  # what its user asked for: its limit
    user: str = ""
    application: str = ""


@dataclass(frozen=True, slots=True)
class Flow:
    """A workflow among the jobs: when it comes, and as which jobs."""

    workflow: Workflow
    handling: str
    submit: float = 0.0


@dataclass(frozen=True, slots=True)
class Small:
    """What is played. Its jobs are numbered from 1, in the order in which they are written."""

    machine: str
    policy: str
    jobs: tuple[SmallJob, ...]
    estimate: str = "limit"
    overrun: Overrun = "kill"
    heatmap: Heatmap | None = None
    flow: Flow | None = None
    name: str = ""

    @property
    def workload(self) -> Workload:
        users, programs = (_labels([getattr(job, key) for job in self.jobs]) for key in ("user", "application"))
        columns: dict[str, Any] = {
            "submit": [job.submit for job in self.jobs],
            "runtime": [job.runtime for job in self.jobs],
            "limit": [job.estimate for job in self.jobs],
            "count": [job.cores for job in self.jobs],
            "user": [users.get(job.user, -1) for job in self.jobs],
            "executable": [programs.get(job.application, -1) for job in self.jobs],
        }
        labels = {"user": list(users), "executable": list(programs)}
        workload = Workload.of(name="small", labels={key: names for key, names in labels.items() if names}, **columns)
        if self.flow is None:
            return workload
        return inject(workload, AtTimes([self.flow.submit]), handled(self.flow.workflow, self.flow.handling))

    def scenario(self, **options: Any) -> Scenario:
        return Scenario(
            self.workload,
            self.machine,
            self.policy,
            estimate=self.estimate,
            overrun=self.overrun,
            heatmap=self.heatmap,
            **options,
        )

    @property
    def command(self) -> str:
        """What plays the same in a terminal, with the jobs in a file; empty where a log cannot hold all of it."""
        if self.heatmap is not None or self.flow is not None:
            return ""
        options = [f"-c {self.machine}", f"-p {_quoted(self.policy)}"]
        options += [f"--estimate {self.estimate}"] * (self.estimate != "limit")
        options += [f"--overrun {self.overrun}"] * (self.overrun != "kill")
        return f"schedlab run jobs.swf {' '.join(options)} --reasons"


def read_small(given: Mapping[str, Any]) -> list[Small]:
    """The scenarios of a form or a link, one for each policy. Values are as they were typed."""
    reader = _Reader()
    machine = reader.part("machine", read_machine, given.get("machine", ""))
    policies = given.get("policies", ())
    if not isinstance(policies, Sequence) or isinstance(policies, str) or not 1 <= len(policies) <= MOST_POLICIES:
        reader.wrong("policy", f"there are 1 to {MOST_POLICIES} policies", "name one, such as easy")
        policies = ()
    found = [reader.part("policy", read_policy, policy) for policy in policies]
    estimate = reader.part("estimates", _one_of(ESTIMATES), given.get("estimate", "limit"))
    overrun = reader.part("overrun", _one_of(OVERRUNS), given.get("overrun", "kill"))
    jobs = read_jobs(given.get("jobs", ()), reader)
    if machine and jobs:
        cores = cores_of(machine)
        for number, job in enumerate(jobs, 1):
            if job.cores > cores:
                reader.wrong(f"job {number}, cores", f"{job.cores}, and the machine has {cores}", "ask for fewer")
    reader.raise_all()
    return [Small(machine, policy, tuple(jobs), estimate, overrun) for policy in found]


def read_jobs(given: Any, reader: _Reader) -> list[SmallJob]:
    """Rows of the form: tables by field, or lists of submit, cores, run time, estimate (, user)."""
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        reader.wrong("jobs", "there are none", "type at least one: when it comes, its cores, its run time")
        return []
    if len(given) > MOST_JOBS:
        reader.wrong("jobs", f"there are {len(given)}", f"a small scenario has at most {MOST_JOBS}")
        return []
    return [_job(row, number, reader) for number, row in enumerate(given, 1)]


def _job(row: Any, number: int, reader: _Reader) -> SmallJob:
    where = f"job {number}"
    nothing = SmallJob(0, 1, 1, 1)
    if isinstance(row, Sequence) and not isinstance(row, str) and 3 <= len(row) <= len(_JOB_FIELDS):
        row = dict(zip(_JOB_FIELDS, row, strict=False))
    if not isinstance(row, Mapping) or (unknown := [key for key in row if key not in _JOB_FIELDS]):
        what = f"there is no field '{printable(str(unknown[0]), 40)}'" if isinstance(row, Mapping) else "is not a job"
        reader.wrong(where, what, f"a job has {', '.join(_JOB_FIELDS)}")
        return nothing
    before = len(reader.mistakes)
    submit = reader.part(f"{where}, submit", _seconds, _or(row, "submit", 0))
    cores = reader.part(f"{where}, cores", _cores, _or(row, "cores", 1))
    runtime = reader.part(f"{where}, run time", _positive, row.get("runtime", ""))
    estimate = reader.part(f"{where}, estimate", _positive, _or(row, "estimate", row.get("runtime", "")))
    user, application = (
        reader.part(f"{where}, {key}", _word, str(_or(row, key, "")).strip()) for key in ("user", "application")
    )
    if len(reader.mistakes) > before:
        return nothing
    return SmallJob(submit, cores, runtime, estimate, user, application)


class _Reader:
    def __init__(self) -> None:
        self.mistakes: list[InputError] = []

    def wrong(self, where: str, message: str, hint: str = "") -> None:
        if all(str(known) != str(InputError(message, where=where, hint=hint)) for known in self.mistakes):
            self.mistakes.append(InputError(message, where=where, hint=hint))

    def part(self, where: str, read: Callable[[Any], Any], given: Any) -> Any:
        try:
            return read(given)
        except InputError as error:
            self.wrong(where, error.message, error.hint)
            return None

    def raise_all(self) -> None:
        if self.mistakes:
            raise InputErrors(self.mistakes)


def read_machine(given: Any) -> str:
    """`8`, `pool:8` (cores) or `4x2` (nodes x cores of each); never a file."""
    written = str(given).strip()
    match = _MACHINE.fullmatch(written)
    expected = "write 8 (cores), or 4x2 (4 nodes of 2 cores)"
    if match is None:
        raise InputError(f"'{printable(written, 60)}' is no machine", hint=expected)
    nodes, cores = (1, int(match[1])) if match[1] else (int(match[2]), int(match[3]))
    if not (1 <= nodes <= MOST_NODES and cores >= 1 and nodes * cores <= MOST_CORES):
        limits = f"at most {MOST_NODES} nodes and {MOST_CORES} cores"
        raise InputError(f"'{written}' is not a small machine", hint=f"1 core at least, {limits}")
    return f"pool:{cores}" if match[1] else f"{nodes}x{cores}"


def cores_of(machine: str) -> int:
    nodes, _, cores = machine.removeprefix("pool:").partition("x")
    return int(nodes) * int(cores or 1)


def read_policy(given: Any) -> str:
    """A policy of the built-in parts. What is typed into a page names no file, module or program."""
    written = str(given).strip()
    name, _, rest = written.partition(":")
    known = [each for each in (*BACKFILLS, *ORDERS) if each not in ("reject", "cosched")]
    if name.partition("(")[0].strip() not in known or name == "reject":
        hint = did_you_mean(name, known, f"one of {', '.join(list(BACKFILLS)[:5])}, or an order such as sjf")
        raise InputError(f"there is no policy '{printable(written, 60)}' here", hint=hint)
    if len(written) > 200 or re.search(r"[:\\'\"]|\.py\b", rest) or re.search(r"[/\\'\"]", name):
        raise InputError(f"'{printable(written, 60)}' names more than built-in parts", hint="use orders by name")
    spec = parse_policy(written)
    if any(part.plugin is not None for part in (spec, spec.order, spec.place) + ((spec.scan,) if spec.scan else ())):
        raise InputError(f"'{printable(written, 60)}' names more than built-in parts", hint="use orders by name")
    return spec.text


def _one_of(names: Sequence[str]) -> Callable[[Any], str]:
    def read(given: Any) -> str:
        if given not in names:
            raise InputError(f"'{printable(str(given), 40)}' is not known", hint=f"one of {', '.join(names)}")
        return str(given)

    return read


def _or(row: Mapping[str, Any], key: str, otherwise: Any) -> Any:
    """What is in the field; an empty one is not filled in."""
    value = row.get(key, "")
    return otherwise if value is None or str(value).strip() == "" else value


def _seconds(given: Any) -> float:
    if isinstance(given, bool) or not isinstance(given, str | int | float) or str(given).strip() == "":
        raise InputError("nothing is there", hint="seconds, or such as 90s, 5m, 2h")
    text = given.strip() if isinstance(given, str) else given
    if isinstance(text, str) and re.fullmatch(r"[+-]?\d+(\.\d*)?", text):
        text = float(text)
    seconds = parse_duration(printable(text, 60) if isinstance(text, str) else text)
    if seconds > LONGEST:
        raise InputError(f"{seconds:g} s is longer than a small scenario", hint=f"at most {LONGEST:g} s")
    return seconds


def _positive(given: Any) -> float:
    if (seconds := _seconds(given)) <= 0:
        raise InputError("a job that runs for no time has nothing to show", hint="1 second or more")
    return seconds


def _cores(given: Any) -> int:
    text = str(given).strip()
    if isinstance(given, bool) or not re.fullmatch(r"\d{1,6}", text) or int(text) < 1:
        raise InputError(f"'{printable(text, 40)}' is no number of cores", hint="a whole number from 1 on")
    return int(text)


def _word(given: Any) -> str:
    text = str(given)
    if len(text) > 30 or not text.isprintable():
        raise InputError(f"'{printable(text, 40)}' is too long", hint="at most 30 characters")
    return text


def _labels(words: Sequence[str]) -> dict[str, int]:
    return {word: number for number, word in enumerate(dict.fromkeys(word for word in words if word))}


def _quoted(text: str) -> str:
    return f'"{text}"' if re.search(r"[^\w:=,.\-]", text) else text


def flow_of(tasks: Sequence[Mapping[str, Any]], handling: str, submit: float, name: str) -> Flow:
    """A workflow from tasks as a lesson writes them: id, cores, runtime, limit, after."""
    made = tuple(
        Task(
            id=str(task["id"]),
            cores=int(task.get("cores", 1)),
            runtime=float(task["runtime"]),
            limit=float(task.get("limit", task["runtime"])),
            after=tuple(task.get("after", ())),
        )
        for task in tasks
    )
    return Flow(Workflow(name, made), handling, submit)

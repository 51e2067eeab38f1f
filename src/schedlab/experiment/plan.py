"""The runs of a study, and what makes each of them the run it is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

from schedlab.analysis.study import is_timed
from schedlab.experiment.inputs import workload_key
from schedlab.experiment.meter import DECIDING
from schedlab.experiment.named_files import files_of, is_text
from schedlab.experiment.study import Point, Study
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.version import VERSION

IDENTITY_LENGTH = 20  # hexadecimal digits: enough for any number of runs


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run: its parameters, which repetition it is, and the identity under which its results are kept."""

    identity: str
    point: Point
    repetition: int
    seed: int

    def to_dict(self) -> dict[str, Any]:
        return {"identity": self.identity, "point": self.point, "repetition": self.repetition, "seed": self.seed}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> PlannedRun:
        return cls(data["identity"], data["point"], data["repetition"], data["seed"])


@dataclass(frozen=True, slots=True)
class Part:
    """`1/2`: what one of several machines runs that share nothing. All of them have the same plan."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Part:
        number, slash, of = text.partition("/")
        if not (slash and number.strip().isdecimal() and of.strip().isdecimal()):
            raise InputError(f"'{text}' is not a part", where="--part", hint="write 1/2 for the first of two")
        found = cls(int(number), int(of))
        if not 1 <= found.number <= found.of:
            hint = f"parts of {found.of} are 1/{found.of} to {found.of}/{found.of}" if found.of else "write 1/2"
            raise InputError(f"there is no part {text}", where="--part", hint=hint)
        return found

    def of_plan(self, runs: list[PlannedRun]) -> list[PlannedRun]:
        """A piece of the plan. Runs on the same jobs stay together, unless there are fewer workloads than parts."""
        if self.of > len(runs):
            hint = f"make at most {len(runs)}"
            raise InputError(f"{self.of} parts are too many for {len(runs)} runs", where="--part", hint=hint)
        groups = [list(group) for _, group in groupby(runs, lambda run: workload_key(run.point, run.seed))]
        if len(groups) < self.of:
            groups = [[run] for run in runs]
        own = groups[len(groups) * (self.number - 1) // self.of : len(groups) * self.number // self.of]
        return [run for group in own for run in group]

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def plan(study: Study) -> list[PlannedRun]:
    """All runs of a study. Those that share a workload follow one another, so that it is made once."""
    points = sorted(study.points(), key=lambda point: workload_key(point, 0))  # stable: then in the order of the file
    content = lru_cache(maxsize=None, typed=True)(_content)
    runs, seeds = [], set[int]()
    for repetition in range(study.repetitions):
        seed = repetition_seed(study.seed, repetition)
        while seed in seeds:  # of some hundred thousand repetitions, two are likely to have the same
            seed = (seed + 1) % 2**32
        seeds.add(seed)
        runs += [PlannedRun(identity(point, seed, study, content), point, repetition, seed) for point in points]
    _refuse_equal(runs[: len(points)], study)
    return runs


def _refuse_equal(runs: list[PlannedRun], study: Study) -> None:
    """Results are kept by identity, so that two points of one identity would be told apart by nothing."""
    known: dict[str, Point] = {}
    errors = []
    for run in runs:
        other = known.setdefault(run.identity, run.point)
        if other is not run.point:
            one, two = (_told_apart(point, than) for point, than in ((other, run.point), (run.point, other)))
            message = f"{one} and {two} are the same run: files are known by what is in them"
            errors.append(InputError(message, where=f"study {study.name}", hint="leave out one of them"))
    if errors:
        raise errors[0] if len(errors) == 1 else InputErrors(errors)


def _told_apart(point: Point, than: Point) -> str:
    return ", ".join(f"{name} = {json.dumps(value)}" for name, value in point.items() if than.get(name) != value)


def repetition_seed(seed: int, repetition: int) -> int:
    """The same for all points of a repetition: schedulers are compared on the same jobs."""
    digest = hashlib.sha256(f"study {seed}, repetition {repetition}".encode()).digest()
    return int.from_bytes(digest[:4], "little")


def identity(point: Point, seed: int, study: Study, content: Callable[[str, Any], Any] | None = None) -> str:
    """A hash of all that determines the result: inputs by content, parameters, seed, version."""
    content = content or _content
    described = {name: content(name, value) for name, value in point.items()}
    # What any run costs is measured anyway, and asking for it changes nothing.
    metrics = [metric for metric in study.metrics if metric == DECIDING or not is_timed(metric)]
    asked: dict[str, Any] = {"metrics": [content("metrics", metric) for metric in metrics], "keep": study.keep}
    asked |= {"phase": study.phase, "trim": study.trim}
    document = {"schedlab": VERSION, "seed": seed, "point": described, "asked": asked}
    text = json.dumps(document, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:IDENTITY_LENGTH]


def _content(name: str, value: Any) -> Any:
    """A file by what is in it, wherever it lies; anything else as it is written."""
    text, files = value, files_of(name, value)
    hashes = [_hash_of(file, _mark(file)) for file in files]
    if is_text(name, value):
        for file in files:
            text = text.replace(file, Path(file).name)
        return {"text": text, "code": hashes}
    if files:
        return {"sha256": hashes[0] if len(hashes) == 1 else hashes}
    return value


@lru_cache(maxsize=256)
def _hash_of(path: str, _mark: tuple[int, int]) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _mark(path: str) -> tuple[int, int]:
    status = Path(path).stat()
    return status.st_size, status.st_mtime_ns

"""The runs of a study, and what makes each of them the run it is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from schedlab.analysis.study import is_timed
from schedlab.experiment.meter import DECIDING
from schedlab.experiment.study import QUOTED, Point, Study
from schedlab.model.errors import InputError
from schedlab.model.plugin_text import names_code
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
        """A piece of the plan: runs that share a workload stay together."""
        if self.of > len(runs):
            hint = f"make at most {len(runs)}"
            raise InputError(f"{self.of} parts are too many for {len(runs)} runs", where="--part", hint=hint)
        return runs[len(runs) * (self.number - 1) // self.of : len(runs) * self.number // self.of]

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def plan(study: Study) -> list[PlannedRun]:
    """All runs of a study. Those that share a workload follow one another, so that it is made once."""
    return list(_runs(study))


def _runs(study: Study) -> Iterator[PlannedRun]:
    points = sorted(study.points(), key=_workload_key)  # stable: otherwise in the order of the file
    for repetition in range(study.repetitions):
        seed = repetition_seed(study.seed, repetition)
        for point in points:
            yield PlannedRun(identity(point, seed, study), point, repetition, seed)


def repetition_seed(seed: int, repetition: int) -> int:
    """The same for all points of a repetition: schedulers are compared on the same jobs."""
    digest = hashlib.sha256(f"study {seed}, repetition {repetition}".encode()).digest()
    return int.from_bytes(digest[:4], "little")


def identity(point: Point, seed: int, study: Study) -> str:
    """A hash of all that determines the result: inputs by content, parameters, seed, version."""
    described = {name: _content(name, value) for name, value in point.items()}
    # What any run costs is measured anyway, and asking for it changes nothing.
    metrics = [metric for metric in study.metrics if metric == DECIDING or not is_timed(metric)]
    asked: dict[str, Any] = {"metrics": [_content("metrics", metric) for metric in metrics], "keep": study.keep}
    asked |= {"phase": study.phase, "trim": study.trim}
    document = {"schedlab": VERSION, "seed": seed, "point": described, "asked": asked}
    text = json.dumps(document, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:IDENTITY_LENGTH]


def _content(name: str, value: Any) -> Any:
    """A file by what is in it, wherever it lies; anything else as it is written."""
    if not isinstance(value, str):
        return value
    if name in ("log", "model", "cluster") and Path(value).is_file():
        return {"sha256": _hash_of(value, _mark(value))}
    if name in ("policy", "estimate", "observe", "metrics", "reader", "model") and (names_code(value) or "=" in value):
        files = _files_in(value)
        for file in files:
            value = value.replace(file, Path(file).name)
        return {"text": value, "code": [_hash_of(file, _mark(file)) for file in files]}
    return value


def files_of(name: str, value: Any) -> list[str]:
    """The files that a parameter names, and that are there."""
    if not isinstance(value, str):
        return []
    return [value] if name in ("log", "model", "cluster") and Path(value).is_file() else _files_in(value)


def _files_in(text: str) -> list[str]:
    """The files that a text names: `easy:order=mine.py:key`, `slurm-real(conf='slurm.conf')`."""
    words = text.replace("(", " ").replace(":", " ").replace("=", " ").replace(",", " ").split()
    files = [word for word in words if word.endswith(".py") and Path(word).is_file()]
    for name in QUOTED.findall(text):
        if Path(name).is_file():
            # A slurm.conf is read with what lies beside it: gres.conf, topology.conf, included files.
            beside = sorted(map(str, Path(name).parent.glob("*.conf"))) if name.endswith(".conf") else []
            files += [name, *beside]
    return files


@lru_cache(maxsize=256)
def _hash_of(path: str, _mark: tuple[int, int]) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _mark(path: str) -> tuple[int, int]:
    status = Path(path).stat()
    return status.st_size, status.st_mtime_ns


def _workload_key(point: Point) -> str:
    from schedlab.experiment.inputs import workload_key

    return workload_key(point, 0)

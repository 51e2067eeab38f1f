"""Write jobs as an event file of the Slurm simulator."""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from schedlab.files.slurm_values import gres_text, time_text
from schedlab.files.whole_file import whole_file
from schedlab.model.predecessors import STARTED
from schedlab.model.request import Request
from schedlab.model.workload import JobBatch, Workload
from schedlab.workload.losses import losses, noting
from schedlab.workload.slurm.dependency import dependency_texts
from schedlab.workload.slurm.event import SUBMISSION

# Columns whose names the format holds: option, and what to put before a number that has no name.
_NAMED = {"user": ("--uid=", "user"), "group": ("-A ", "account"), "queue": ("-q ", "qos")}
_HELD = (
    "chunks",
    "features",
    "partition",
    "exclusive",
    "sbatch",
    "user names",
    "group names",
    "queue names",
    "partition names",
)
_ODD_FEATURE = re.compile(r"[\s&,|*\[\]()]")


def write_slurm_events(path: Path, workload: Workload) -> list[str]:
    """Returns sentences about what an event file cannot hold."""
    lost: Counter[str] = Counter()
    used: set[int] = set()
    with whole_file(path) as file:
        texts: list[_RequestText] = []
        for batch in noting(workload.batches(), used):
            texts += [_request_text(request) for request in workload.requests[len(texts) :]]
            _count_losses(batch, workload.requests, texts, lost)
            file.write("".join(_lines(batch, workload, texts)).encode())
    resources = {name for request in workload.requests for name in request.chunk}
    found = losses(workload, used, holds=(*_HELD, *resources))
    return found + [f"{what} of {count:,} job{'s' * (count != 1)}" for what, count in lost.items()]


@dataclass(frozen=True, slots=True)
class _RequestText:
    """The options of a request: those that depend on the number of chunks, and the others."""

    on_nodes: bool  # a node for each chunk
    cores: int
    rest: str
    lost: tuple[str, ...]

    def options(self, count: int) -> str:
        size = f"-N {count} -n {count * self.cores}" if self.on_nodes else f"-n {count} -c {self.cores}"
        return size + self.rest


def _request_text(request: Request) -> _RequestText:
    lost: list[str] = []
    on_nodes = request.per_node_max == 1
    if request.per_node_min > 1 or request.per_node_max > 1:
        lost.append("how many chunks share a node, in requests")
    others = {name: amount for name, amount in request.chunk.items() if amount and name not in ("cores", "memory")}
    cores, memory = request.chunk.get("cores", 0), request.chunk.get("memory", 0)
    if not cores:
        cores = 1
        lost.append("that chunks have no core, in requests")
    words: list[str] = []
    own = dict(request.sbatch)
    if memory and "mem-per-cpu" not in own:
        share = 1 if on_nodes else cores
        kib = -(-memory // (1024 * share))
        if kib * 1024 * share != memory:
            lost.append("the exact memory (rounded up)")
        amount = f"{kib // 1024}M" if kib % 1024 == 0 else f"{kib}K"
        words.append(f"--mem={amount}" if on_nodes else f"--mem-per-cpu={amount}")
    if others:
        text = gres_text(others) if on_nodes else _gpus_text(others)
        words += [f"--{'gres' if on_nodes else 'gpus-per-task'}={text}"] if text else []
        if not text:
            lost.append(f"requests for {', '.join(sorted(others))}")
    features = [name for name in sorted(request.features) if not _ODD_FEATURE.search(name)]
    if features:
        words.append(f"--constraint={_quoted('&'.join(features))}")
    if len(features) < len(request.features):
        lost.append("features with odd names, requests")
    if request.partition is not None:
        words.append(f"-p {_quoted(request.partition)}")
    if request.exclusive:
        own.setdefault("exclusive", "")
    words += [f"--{name}={_quoted(value)}" if value else f"--{name}" for name, value in own.items()]
    return _RequestText(on_nodes, cores, "".join(f" {word}" for word in words), tuple(lost))


def _gpus_text(resources: dict[str, int]) -> str:
    """GPUs of a task, by type or not; "" if there are other resources."""
    items = gres_text(resources).split(",")
    return ",".join(item.removeprefix("gpu:") for item in items) if all(i.startswith("gpu:") for i in items) else ""


def _lines(batch: JobBatch, workload: Workload, texts: list[_RequestText]) -> Iterator[str]:
    names = {column: _Names(workload.labels.get(column, []), *_NAMED[column]) for column in _NAMED}
    asked: dict[tuple[int, int], str] = {}
    columns = ("id", "submit", "runtime", "limit", "count", "request", "cancel", *_NAMED)
    before = batch.predecessors
    waits = [""] * len(batch) if before is None else dependency_texts(before)
    for job, submit, runtime, limit, count, request, cancel, *who, dependency in zip(
        *(getattr(batch, name).tolist() for name in columns), waits, strict=True
    ):
        key = (request, count)
        if key not in asked:
            asked[key] = texts[request].options(count)
        line = f"-dt {_number(submit)} -e {SUBMISSION} | -J jobid_{job} -sim-walltime {_number(runtime)}"
        line += f" -t {'UNLIMITED' if math.isinf(limit) else time_text(max(math.ceil(limit), 1))} {asked[key]}"
        line += "".join(names[column].option(number) for column, number in zip(_NAMED, who, strict=True))
        line += f" -cancel-in {_number(max(cancel - submit, 0.0))}" if math.isfinite(cancel) else ""
        line += f" --dependency={dependency}" if dependency else ""
        yield f"{line} pseudo.job\n"


@dataclass(frozen=True, slots=True)
class _Names:
    labels: list[str]
    opening: str
    stand_in: str

    def option(self, number: int) -> str:
        if number < 0:
            return ""
        name = self.labels[number] if number < len(self.labels) else f"{self.stand_in}{number}"
        return f" {self.opening}{_quoted(name)}"


def _number(value: float) -> str:
    """Whole numbers without a point, others as short as they can be read back; -1 (its limit) for a job without end."""
    if math.isinf(value):
        return "-1"
    return str(int(value)) if value.is_integer() else repr(value)


def _quoted(name: str) -> str:
    """Names with blanks in quotation marks; a line stays a line."""
    return shlex.quote(re.sub(r"[\r\n]", "_", name))


def _delayed(batch: JobBatch) -> NDArray[np.bool_]:
    """Who waits for a time after others that `sbatch` cannot say: other than whole minutes after a start."""
    before, found = batch.predecessors, np.zeros(len(batch), bool)
    if before is not None:
        found[before.row[(before.delay > 0) & ~((before.condition == STARTED) & (before.delay % 60 == 0))]] = True
    return found


def _count_losses(batch: JobBatch, requests: list[Request], texts: list[_RequestText], lost: Counter[str]) -> None:
    used, counts = np.unique(batch.request, return_counts=True)
    for place, count in zip(used.tolist(), counts.tolist(), strict=True):
        for what in texts[place].lost:
            lost[what] += count
    without = np.array([request.partition is None for request in requests])[batch.request]
    found = {
        "the limits (rounded up to whole seconds)": (batch.limit != np.ceil(batch.limit)) | (batch.limit < 1),
        "partitions, which are not part of the request,": without & (batch.partition >= 0),
        "names of programs": batch.executable >= 0,
        "recorded outcomes (status)": batch.status >= 0,
        "recorded waits": np.isfinite(batch.wait),
        "delays after predecessors": _delayed(batch),
        "names": np.full(len(batch), batch.names is not None),
    }
    for what, which in found.items():
        if which.any():
            lost[what] += int(which.sum())

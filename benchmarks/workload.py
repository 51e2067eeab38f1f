"""Synthetic logs that look like those of a cluster of the "Seth" kind (HPC2N): any length, any machine, any load.

Jobs are made block by block from (seed, block number), so a log of millions of jobs needs the memory of one block, and
a longer log begins with the shorter one. Every block offers exactly the load asked for: more jobs are more of the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

Columns = dict[str, NDArray[Any]]

VERSION = 1  # part of the name of a cached log: raise it when the jobs change
BLOCK = 50_000
SIZES = np.array([1, 2, 4, 8, 16, 32, 64])
SIZE_SHARES = np.array([0.35, 0.15, 0.18, 0.15, 0.10, 0.05, 0.02])
ODD_SIZES = 0.05  # share of jobs whose size is no power of two
MEDIAN_RUNTIME, SIGMA_RUNTIME, LONGEST = 1200.0, 1.7, 3 * 86400
# What people write after `--time`: the round number above their guess.
ROUND_LIMITS = 60 * np.array(
    [
        5,
        10,
        15,
        20,
        30,
        45,
        60,
        90,
        120,
        180,
        240,
        300,
        360,
        480,
        600,
        720,
        960,
        1200,
        1440,
        2160,
        2880,
        4320,
        5760,
        7200,
    ]
)
# kB for each processor, in steps: people ask for round amounts (53 different ones in Seth's log, 54 in RICC's).
MEDIAN_MEMORY, MOST_MEMORY, STEP_MEMORY = 512 * 1024, 4 * 1024 * 1024, 64 * 1024
DAY = 86400.0
DAY_SWING = 0.5  # arrivals are 1.5 times the mean in the afternoon, 0.5 times at night
USERS = 200


@dataclass(frozen=True)
class LogSpec:
    """A log: how many jobs, on which machine, at which load. Same spec, same bytes."""

    jobs: int
    nodes: int = 120
    cores: int = 4
    load: float = 0.8
    seed: int = 1
    memory: bool = False  # each processor asks for some

    @property
    def total_cores(self) -> int:
        return self.nodes * self.cores

    @property
    def file_name(self) -> str:
        memory = "-memory" if self.memory else ""
        return f"v{VERSION}-{self.jobs}-jobs-{self.nodes}x{self.cores}-load-{self.load}-seed-{self.seed}{memory}.swf"


def blocks(spec: LogSpec) -> Iterator[Columns]:
    """The jobs in submit order as columns id, submit, runtime, limit, count, user (whole seconds), perhaps memory."""
    clock = 0.0  # in the time in which arrivals are even; the day cycle bends it afterwards
    for number, first in enumerate(range(0, spec.jobs, BLOCK)):
        made = _block(np.random.default_rng([spec.seed, number]))
        gaps = made.pop("gap")
        area = float(np.sum(made["count"] * made["runtime"]))
        even = clock + np.cumsum(gaps) * (area / (spec.load * spec.total_cores) / gaps.sum())
        clock = float(even[-1])
        made["submit"] = np.floor(_bend(even)).astype(np.int64)
        made["id"] = np.arange(first + 1, first + BLOCK + 1)
        if spec.memory:
            asked = np.random.default_rng([spec.seed, number, 1]).lognormal(np.log(MEDIAN_MEMORY), 1.0, BLOCK)
            made["memory"] = np.clip(STEP_MEMORY * np.ceil(asked / STEP_MEMORY), 1, MOST_MEMORY).astype(np.int64)
        yield {name: column[: spec.jobs - first] for name, column in made.items()}


def columns(spec: LogSpec) -> Columns:
    """The whole log in memory."""
    parts = list(blocks(spec))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def write_log(spec: LogSpec, folder: Path) -> Path:
    """The log as an SWF file in `folder`; made once."""
    path = folder / spec.file_name
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        file.write(
            f"; Version: 2.2\n; MaxNodes: {spec.nodes}\n; MaxProcs: {spec.total_cores}\n; UnixStartTime: 0\n".encode()
        )
        options = csv.WriteOptions(include_header=False, delimiter=" ")
        for block in blocks(spec):
            csv.write_csv(_swf_table(block), file, options)
    partial.rename(path)
    return path


def _block(random: np.random.Generator) -> Columns:
    sizes = random.choice(SIZES, BLOCK, p=SIZE_SHARES)
    sizes = np.where(random.random(BLOCK) < ODD_SIZES, random.integers(3, 40, BLOCK), sizes)
    runtimes = np.clip(random.lognormal(np.log(MEDIAN_RUNTIME), SIGMA_RUNTIME, BLOCK), 1, LONGEST).astype(np.int64)
    guesses = runtimes / random.uniform(0.1, 1.0, BLOCK)  # users overestimate, most of them by a lot
    limits = ROUND_LIMITS[np.minimum(np.searchsorted(ROUND_LIMITS, guesses), len(ROUND_LIMITS) - 1)]
    return {
        "count": sizes,
        "runtime": runtimes,
        "limit": limits.astype(np.int64),
        "user": random.zipf(1.5, BLOCK) % USERS + 1,
        "gap": random.exponential(size=BLOCK),
    }


def _bend(even: NDArray[np.float64]) -> NDArray[np.float64]:
    """Real time at which the even clock shows `even`, when arrivals swing around their mean in the course of a day."""
    real = np.linspace(0, DAY, 1441)
    shown = real + DAY_SWING * DAY / (2 * np.pi) * (1 - np.cos(2 * np.pi * real / DAY))
    days, rest = np.divmod(even, DAY)
    return days * DAY + np.interp(rest, shown, real)


def _swf_table(block: Columns) -> pa.Table:
    """The 18 fields of the standard workload format; -1 is "unknown"."""
    unknown, one = np.full(len(block["id"]), -1), np.ones(len(block["id"]), np.int64)
    fields = {
        "job": block["id"],
        "submit": block["submit"],
        "wait": unknown,
        "runtime": block["runtime"],
        "allocated": block["count"],
        "cpu_time": unknown,
        "used_memory": unknown,
        "requested": block["count"],
        "requested_time": block["limit"],
        "requested_memory": block.get("memory", unknown),
        "status": one,
        "user": block["user"],
        "group": block["user"] % 20,
        "executable": block["user"] % 50,
        "queue": one,
        "partition": one,
        "preceding": unknown,
        "think": unknown,
    }
    return pa.table(fields)

"""What something took: a call in this process, or a whole process with everything it starts."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Spent:
    """Seconds by the clock on the wall, seconds of processor time, and the largest memory (whole processes only)."""

    wall: float
    cpu: float
    peak_mb: float = 0.0

    def on(self, clock: str) -> float:
        return float(asdict(self)[clock])


def middle(measured: Sequence[Spent]) -> Spent:
    """The median of each number; of the memory the maximum."""
    return Spent(
        median(one.wall for one in measured), median(one.cpu for one in measured), max(one.peak_mb for one in measured)
    )


def call(function: Callable[[], T]) -> tuple[Spent, T]:
    """Time one call. Garbage of earlier calls is collected before, not during."""
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    result = function()
    return Spent(time.perf_counter() - wall, time.process_time() - cpu), result


def process(command: Sequence[str | Path], **environment: str) -> tuple[Spent, str]:
    """Time a whole process, and return what it printed. Raises with its words if it fails."""
    launcher = Path(__file__).with_name("launch.py")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "spent.json"
        done = subprocess.run(
            [sys.executable, "-I", "-S", launcher, report, *command],
            capture_output=True,
            text=True,
            env=os.environ | environment,
        )
        if done.returncode != 0:
            raise RuntimeError(
                f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
            )
        return Spent(**json.loads(report.read_text())), done.stdout


def interleaved(repeats: int, *calls: Callable[[], T]) -> list[list[T]]:
    """Each call `repeats` times, in turn, so that a slow minute of the machine hits all of them."""
    results: list[list[T]] = [[] for _ in calls]
    for _ in range(repeats):
        for kept, one in zip(results, calls, strict=True):
            kept.append(one())
    return results

"""What the fuzzers of readers share: small accidents to files, what a sound workload is, and a loop."""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import count
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from schedlab.model.workload import JOB_COLUMNS, Workload


def mutate(
    data: bytes,
    chance: random.Random,
    odd: Sequence[str],
    times: Sequence[int] = (0, 1, 1, 2, 3, 8),
    lengths: Sequence[int] = (0, 1, 3, 40, 4000),
    low: int = 0,
) -> bytes:
    """A few small accidents from byte `low` on: cut, doubled, random bytes, something `odd`."""
    for _ in range(chance.choice(times)):
        at, upto = sorted((chance.randint(low, len(data)), chance.randint(low, len(data))))
        upto = min(upto, at + chance.choice(lengths))
        piece = chance.choice(
            [b"", chance.choice(odd).encode(), chance.randbytes(chance.randint(1, 8)), data[at:upto] * 2]
        )
        data = data[:at] + piece + data[upto:]
        low = min(low, len(data))
    return data


def check_workload(
    workload: Workload,
    *,
    bad_rows: int = 5,
    durations: Sequence[str] = ("submit", "runtime", "limit"),
    longest: float = 1e12,
    largest: float = 1e9,
) -> dict[str, list[str]]:
    """Sound: sorted, unique, simulatable, all records accounted for. Returns all columns for comparison.

    At most so many bad rows are shown, `durations` go from 0 to `longest` seconds, jobs have up to `largest` chunks.
    """
    batches = list(workload.batches())
    columns = {name: np.concatenate([getattr(batch, name) for batch in batches]) for name in JOB_COLUMNS}
    for name, (dtype, _) in JOB_COLUMNS.items():
        assert columns[name].dtype == dtype, name
    report = workload.report
    assert report.kept == len(columns["id"]) > 0
    assert report.records == report.kept + sum(report.dropped.values())
    assert len(report.bad_rows) <= bad_rows
    assert len(np.unique(columns["id"])) == report.kept
    assert np.all(np.isfinite(columns["submit"]))
    assert np.all(np.lexsort((columns["id"], columns["submit"])) == np.arange(report.kept))
    for name in durations:
        assert np.all((columns[name] >= 0) & (columns[name] <= longest)), name
    for before in [batch.predecessors for batch in batches if batch.predecessors is not None]:
        assert np.all((before.delay >= 0) & (before.delay <= longest)) and before.end[-1] == len(before.job) > 0
    assert np.all((columns["count"] >= 1) & (columns["count"] <= largest))
    assert np.all(columns["cancel"] >= columns["submit"])
    assert columns["request"].max() < len(workload.requests)
    for request in workload.requests:
        assert all(0 <= amount < 2**63 for amount in request.chunk.values()), request
    return {name: list(map(repr, column)) for name, column in columns.items()}


def main(fuzz: Callable[[random.Random, Path], bool], what: str | None) -> None:
    """Cases from consecutive seeds, on all cores, each in a folder of its own choice; a failure's seed is printed."""
    arguments = argparse.ArgumentParser(description=what, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seconds", type=float, default=60)
    arguments.add_argument("--seed", type=int, default=None, help="the first case; by default another one every time")
    asked = arguments.parse_args()
    first = random.SystemRandom().randrange(10**9) if asked.seed is None else asked.seed
    cores = os.cpu_count() or 1
    with ProcessPoolExecutor(cores, get_context("fork")) as pool:
        parts = [pool.submit(_cases, fuzz, first + part, cores, asked.seconds) for part in range(cores)]
        files, good = (sum(numbers) for numbers in zip(*(part.result() for part in parts), strict=True))
    print(
        f"{files:,} files from seed {first}, {files / asked.seconds:,.0f} a second: "
        f"{good:,} could be read, {files - good:,} gave a clear error"
    )


def _cases(fuzz: Callable[[random.Random, Path], bool], first: int, step: int, seconds: float) -> tuple[int, int]:
    """How many there were, and how many of them could be read."""
    end, files, good = time.monotonic() + seconds, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in count(first, step):
            if time.monotonic() >= end:
                break
            try:
                good += fuzz(random.Random(seed), Path(folder))
            except Exception:
                print(f"seed {seed}", file=sys.stderr)
                raise
            files += 1
    return files, good

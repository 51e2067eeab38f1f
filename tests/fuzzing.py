"""What the fuzzers of readers share: small accidents to files, and a loop that runs until the time is over."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path


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


def main(fuzz: Callable[[random.Random, Path], bool], what: str | None) -> None:
    """Cases from consecutive seeds, each in a folder of its own choice; the seed of a failure is printed."""
    arguments = argparse.ArgumentParser(description=what, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seconds", type=float, default=60)
    arguments.add_argument("--seed", type=int, default=None, help="the first case; by default another one every time")
    asked = arguments.parse_args()
    seed = first = random.SystemRandom().randrange(10**9) if asked.seed is None else asked.seed
    end, good = time.monotonic() + asked.seconds, 0
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end:
            try:
                good += fuzz(random.Random(seed), Path(folder))
            except Exception:
                print(f"seed {seed}", file=sys.stderr)
                raise
            seed += 1
    print(
        f"{seed - first:,} files from seed {first}: {good:,} could be read, {seed - first - good:,} gave a clear error"
    )

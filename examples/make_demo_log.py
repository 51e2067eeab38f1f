"""Makes examples/demo.swf: two weeks of a busy cluster of 64 nodes with 4 cores, invented but not unlike real ones.

Arrivals follow the day and the week, sizes are mostly powers of two, a few users submit most of the jobs, and people
ask for far more time than they need, in round numbers. Run it to make the file anew: same seed, same bytes.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np

JOBS = 2_000
NODES, CORES = 64, 4
DAYS = 14
LOAD = 0.86  # work submitted / what the machine could do in that time
START = datetime(2026, 3, 2, tzinfo=UTC)  # a Monday
SEED = 20260302
DAY, HOUR, MINUTE = 86_400, 3_600, 60

# What people ask for, in seconds.
LIMITS = np.array([5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, 12 * HOUR, DAY, 2 * DAY])


def submit_times(random: np.random.Generator) -> np.ndarray:
    """Most work arrives in office hours; nights are quiet, weekends quieter."""
    hours = np.arange(DAYS * 24)
    office = np.exp(-(((hours % 24) - 14) ** 2) / 32)
    rate = (0.15 + office) * np.where(hours // 24 % 7 < 5, 1.0, 0.3)
    chosen = random.choice(hours, JOBS, p=rate / rate.sum())
    return np.sort(chosen * HOUR + random.integers(0, HOUR, JOBS))


def main() -> None:
    random = np.random.default_rng(SEED)
    submit = submit_times(random)
    user = np.minimum(random.zipf(1.6, JOBS), 40)

    # A user has a favourite size and a typical run time; single jobs differ from them.
    favourite = random.choice([0, 0, 1, 2, 3, 3, 4, 5, 6], 41)
    powers = np.clip(favourite[user] + random.integers(-1, 2, JOBS), 0, 7)
    cores = 2**powers
    odd = random.random(JOBS) < 0.12
    cores[odd] = random.integers(1, 49, odd.sum())

    typical = random.lognormal(np.log(0.8 * HOUR), 1.1, 41)
    runtime = typical[user] * random.lognormal(0, 1.2, JOBS)
    runtime[random.random(JOBS) < 0.1] = 20  # crashed at once
    # Scale run times until the load is right; what is longer than the longest limit is cut.
    for _ in range(20):
        runtime = np.clip(runtime * LOAD * NODES * CORES * DAYS * DAY / (cores * runtime).sum(), 5, LIMITS[-1])
    runtime = np.round(runtime)

    wanted = runtime * random.lognormal(0.9, 0.8, JOBS)
    limit = LIMITS[np.minimum(np.searchsorted(LIMITS, wanted), len(LIMITS) - 1)]
    overrun = runtime > limit  # the wish was too small: killed at the limit
    runtime = np.where(overrun, limit, runtime).astype(int)

    header = {
        "Version": "2.2",
        "Computer": "An invented cluster",
        "Note": "Synthetic: made by examples/make_demo_log.py of schedlab, not recorded anywhere",
        "MaxJobs": JOBS,
        "MaxNodes": NODES,
        "MaxProcs": NODES * CORES,
        "UnixStartTime": int(START.timestamp()),
        "TimeZoneString": "UTC",
    }
    lines = [f"; {label}: {value}" for label, value in header.items()]
    for row in range(JOBS):
        size, status = cores[row], 0 if overrun[row] else 1
        lines.append(
            f"{row + 1} {submit[row]} -1 {runtime[row]} {size} -1 -1 {size} {limit[row]} -1 {status} "
            f"{user[row]} {user[row] % 5 + 1} -1 {1 if size <= 64 else 2} -1 -1 -1"
        )
    path = Path(__file__).with_name("demo.swf")
    path.write_text("\n".join(lines) + "\n")
    print(f"{path}: {JOBS:,} jobs")


if __name__ == "__main__":
    main()

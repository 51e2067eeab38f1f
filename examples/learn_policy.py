"""A scheduler that learns from one part of a log and is tried on the rest of it, with NumPy alone.

    python examples/learn_policy.py                                 # an invented log; half a minute
    python examples/learn_policy.py LOG.swf.gz --cluster pool:128   # a log of yours
    schedlab run LOG.swf.gz --policy "easy:order=examples/learn_policy.py:Learnt(weights='learn_policy.json')"

A job's score is the sum of five features (docs/learning.md) times five weights; EASY backfilling takes the jobs in the
order of their scores. The weights are found by the cross-entropy method: draw candidates around a mean, play all of
them on the same few windows, move the mean to the best of them, again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import schedlab as sl
from schedlab.learn import SchedulingEnv

EPISODE = 256  # jobs of a window
TRAINING = 0.6  # share of the log, from its beginning
CANDIDATES, BEST = 12, 4  # of a generation
HELD_OUT = 40  # windows at most
RIVALS = {"FCFS": "easy", "SJF": "easy:order=sjf", "SAF": "easy:order=saf"}  # SAF: smallest area first
HOUR, DAY = 3600.0, 86_400.0


class Learnt:
    """An order for any backfill: the highest score goes first."""

    def __init__(self, weights="learn_policy.json", cores=None):
        found = json.loads(Path(weights).read_text()) if isinstance(weights, str) else {"weights": weights}
        self.weights, self.cores = np.array(found["weights"]), cores or found["cores"]

    def __call__(self, jobs, now):
        return -scores(SchedulingEnv.job_features(jobs, now, self.cores), self.weights)


def scores(features: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Row by row, so that a job's score does not depend on how many others there are."""
    return (features * weights).sum(axis=1)


def play(env: SchedulingEnv, start: int, weights: np.ndarray) -> float:
    """The mean bounded slowdown of one episode under these weights."""
    seen, _ = env.reset(options={"start": start})
    total, over = 0.0, False
    while not over:
        seen, reward, over, _, _ = env.step(scores(seen["jobs"][:, : len(weights)], weights))
        total -= reward
    return total


def rival(env: SchedulingEnv, start: int, policy: str) -> float:
    """The same under a native policy."""
    env.reset(options={"start": start})
    return sl.simulate(env.jobs, env.cluster, policy).summary["bounded_slowdown"]["mean"]


def train(
    env: SchedulingEnv, starts: range, generations: int, windows: int, random: np.random.Generator
) -> Iterator[np.ndarray]:
    """The mean weights before the first generation (all 0: first come, first served) and after each."""
    mean, spread = np.zeros(5), np.ones(5)
    yield mean
    for _ in range(generations):
        played = random.choice(starts, windows)
        candidates = mean + spread * random.standard_normal((CANDIDATES, 5))
        costs = [sum(play(env, start, weights) for start in played) for weights in candidates]
        best = candidates[np.argsort(costs)[:BEST]]
        mean, spread = 0.3 * mean + 0.7 * best.mean(axis=0), 0.3 * spread + 0.7 * best.std(axis=0) + 0.03
        yield mean


def split(env: SchedulingEnv) -> tuple[range, list[int]]:
    """Where windows may start to learn from, and windows that share no job with those, nor with each other."""
    end = int(TRAINING * (env.starts[-1] + EPISODE))
    unknown = range(end, env.starts[-1] + 1, EPISODE)
    if not unknown:
        raise SystemExit(f"the log is too short: {env.starts[-1] + EPISODE} jobs, windows have {EPISODE}")
    spread_out = np.unique(np.linspace(0, len(unknown) - 1, HELD_OUT).astype(int))
    return range(end - EPISODE + 1), [unknown[i] for i in spread_out]


def compare(env: SchedulingEnv, starts: list[int], weights: np.ndarray) -> dict[str, np.ndarray]:
    """The mean bounded slowdown in each of these windows, under the rivals and under the weights."""
    found = {name: np.array([rival(env, start, policy) for start in starts]) for name, policy in RIVALS.items()}
    return found | {"learnt": np.array([play(env, start, weights) for start in starts])}


def environment(log: str | None, cluster: str) -> tuple[sl.Workload, SchedulingEnv]:
    """All jobs of an episode are visible, so that the learnt order is the same here and in a native run."""
    jobs = sl.read_workload(log) if log else invented_log()
    return jobs, SchedulingEnv(jobs, cluster, action="priority", window=EPISODE, episode=EPISODE)


def invented_log(jobs: int = 20_000, cores: int = 256, load: float = 0.95) -> sl.Workload:
    """A busy machine: days and nights, bursts, jobs of up to half of it; every other job asks for a day, some crash."""
    random = np.random.default_rng(2026)
    limits = HOUR * np.array([0.25, 0.5, 1, 2, 4, 8, 12, 24, 48])
    size = 2 ** random.integers(0, 8, jobs)
    runtime = np.clip(random.lognormal(np.log(0.5 * HOUR), 1.5, jobs) * size**0.2, 10, limits[-1])
    limit = limits[np.minimum(np.searchsorted(limits, runtime * random.uniform(1, 5, jobs)), len(limits) - 1)]
    limit[random.random(jobs) < 0.5] = 24 * HOUR
    crashed = random.random(jobs) < 0.15
    runtime[crashed] = random.uniform(5, 120, crashed.sum())
    runtime = np.round(np.minimum(runtime, limit))
    submit = np.cumsum(random.gamma(0.45, 1, jobs))
    submit *= (size * runtime).sum() / (load * cores) / submit[-1]
    submit -= 0.5 * DAY / (2 * np.pi) * np.sin(2 * np.pi * submit / DAY)
    return sl.Workload.of(name="invented", submit=np.round(submit), runtime=runtime, limit=limit, count=size)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("log", nargs="?", help="a log to learn from; without one, an invented log")
    parser.add_argument("--cluster", default="64x4", help="where it runs (default 64x4)")
    parser.add_argument("--generations", type=int, default=10, help="default 10")
    parser.add_argument("--windows", type=int, default=16, help="that a candidate plays (default 16)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("learn_policy.png"), help="the figure; weights go beside it")
    asked = parser.parse_args()

    jobs, env = environment(asked.log, asked.cluster)
    known, unknown = split(env)
    print(f"learning from jobs 0 … {known[-1] + EPISODE - 1} in windows of {EPISODE}; {len(unknown)} windows for later")
    shown = [int(start) for start in np.linspace(0, known[-1], 8)]  # training windows too
    curve, begin = [], time.perf_counter()
    for weights in train(env, known, asked.generations, asked.windows, np.random.default_rng(asked.seed)):
        curve.append(float(np.mean([play(env, start, weights) for start in shown])))
        spent = time.perf_counter() - begin
        print(f"generation {len(curve) - 1:2}: {curve[-1]:6.2f} on training windows, {spent:3.0f} s", flush=True)

    held_out = compare(env, unknown, weights)
    print("mean bounded slowdown on the windows never seen:")
    for name, costs in held_out.items():
        better = int((held_out["learnt"] < costs).sum())
        print(f"  {name:7}{costs.mean():7.2f}" + (f", learnt is better in {better}" if name != "learnt" else ""))

    from learn_figure import draw

    draw(
        curve,
        {name: [rival(env, start, policy) for start in shown] for name, policy in RIVALS.items()},
        held_out,
        asked.out,
    )
    stored = asked.out.with_suffix(".json")
    stored.write_text(json.dumps({"weights": weights.tolist(), "cores": env.cluster.cores}) + "\n")
    print(f"weights {np.round(weights, 2).tolist()} in {stored}, picture in {asked.out}")
    policy = f"easy:order={Path(__file__).resolve()}:Learnt(weights='{stored}')"
    print("the whole log in one run:", sl.simulate(jobs, env.cluster, policy), sep="\n")


if __name__ == "__main__":
    main()
